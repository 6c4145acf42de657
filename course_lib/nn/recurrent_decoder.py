"""The decoder of the recurrent translator, with attention or without.

The encoder and the attentions are in ``course_lib.nn.recurrent_parts``; the whole
model, with tokens, is in ``course_lib.nn.seq2seq``. One step of it as a function is
``course_lib.nn.alignments.decoder_step``.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from course_lib.nn.recurrent_parts import (
    AdditiveAttention,
    MultiplicativeAttention,
    RecurrentMemory,
)

KINDS = ("none", "additive", "multiplicative")


@dataclass(frozen=True)
class RecurrentSizes:
    """How large a recurrent translator is, in plain numbers.

    vocab_size : number of tokens, of both languages together
    d_embedding : length of a token's vector
    d_hidden : length of a unit's state; the encoder has two of them
    attention : "none", "additive" (Bahdanau's) or "multiplicative" (Luong's)
    dropout : of the embedded tokens and of what is scored, while training
    padding : the number that fills texts up
    """

    vocab_size: int
    d_embedding: int = 128
    d_hidden: int = 128
    attention: Literal["none", "additive", "multiplicative"] = "additive"
    dropout: float = 0.0
    padding: int = 0


class RecurrentState(NamedTuple):
    """What the decoder keeps between two steps."""

    hidden: Tensor  # (batch, d_hidden)
    keys: Tensor  # (batch, m, …), what the scores need of the source
    memory: RecurrentMemory

    def select(self, rows: Tensor) -> "RecurrentState":
        """Give a state whose row i is row rows[i] of this one."""
        return RecurrentState(
            self.hidden[rows], self.keys[rows], self.memory.select(rows)
        )


class Read(NamedTuple):
    """What came of reading target tokens."""

    states: Tensor  # (batch, n, d_hidden), after each token
    contexts: Tensor  # (batch, n, 2 d_hidden), found in the source
    weights: Tensor | None  # (batch, n, m), with which it was found


class RecurrentDecoder(nn.Module):
    """Writes token by token, and looks at the source in one of three ways.

    "none": each step reads the last states of the encoder, always the same.
    "additive": each step reads what its state *before* finds in the source.
    "multiplicative": what the state *after* the step finds joins it on its way out, so
    that a whole target can be read at once.
    Sources: Cho et al. (2014), Learning Phrase Representations using RNN
    Encoder–Decoder, section 2.2; Bahdanau et al. (2015), section 3; Luong et al.
    (2015), sections 3 and 3.1, equation 5.
    """

    def __init__(
        self, sizes: RecurrentSizes, device: torch.device, dtype: torch.dtype | None
    ) -> None:
        """Make the unit, the look and what joins both, with random parameters.

        Raises ``ValueError`` if there is no such attention.
        """
        super().__init__()
        if sizes.attention not in KINDS:
            kinds = ", ".join(KINDS)
            raise ValueError(f"attention={sizes.attention!r} is none of {kinds}")
        d_in, d_hidden = sizes.d_embedding, sizes.d_hidden
        d_memory, place = 2 * d_hidden, (device, dtype)
        self.bridge = nn.Linear(d_memory, d_hidden, device=device, dtype=dtype)
        self.look: AdditiveAttention | MultiplicativeAttention | None = None
        if sizes.attention == "additive":
            self.look = AdditiveAttention(d_hidden, d_memory, d_hidden, *place)
        elif sizes.attention == "multiplicative":
            self.look = MultiplicativeAttention(d_hidden, d_memory, *place)
        d_read = d_in if sizes.attention == "multiplicative" else d_in + d_memory
        self.unit = nn.GRU(
            d_read, d_hidden, batch_first=True, device=device, dtype=dtype
        )
        self.join = nn.Linear(d_hidden + d_memory, d_in, device=device, dtype=dtype)

    def start(self, memory: RecurrentMemory) -> RecurrentState:
        """Give the state before the first token."""
        hidden = torch.tanh(self.bridge(memory.summary))
        keys = memory.vectors if self.look is None else self.look.keys(memory.vectors)
        return RecurrentState(hidden, keys, memory)

    def forward(self, x: Tensor, state: RecurrentState) -> Read:
        """Read target tokens x (batch, n, d_embedding), one after another."""
        hidden, keys, memory = state
        if isinstance(self.look, AdditiveAttention):
            return self._in_turn(x, state, self.look)
        if self.look is not None:
            states, _ = self.unit(x, hidden.unsqueeze(0))
            return Read(states, *self.look(states, keys, memory))
        contexts = memory.summary.unsqueeze(-2).expand(-1, x.shape[-2], -1)
        states, _ = self.unit(torch.cat([x, contexts], dim=-1), hidden.unsqueeze(0))
        return Read(states, contexts, None)

    def out(self, read: Read) -> Tensor:
        """Join states and contexts into what is scored: (batch, n, d_embedding)."""
        return torch.tanh(self.join(torch.cat([read.states, read.contexts], dim=-1)))

    def _in_turn(
        self, x: Tensor, state: RecurrentState, look: AdditiveAttention
    ) -> Read:
        """Do as ``forward``: each state is needed before the next look."""
        hidden, keys, memory = state
        found = []
        for token in x.unbind(dim=-2):  # (batch, d_embedding)
            context, weights = look(hidden.unsqueeze(-2), keys, memory)
            seen = torch.cat([token, context.squeeze(-2)], dim=-1)
            hidden = torch.gru_cell(seen, hidden, *self.unit.all_weights[0])
            found.append((hidden, context.squeeze(-2), weights.squeeze(-2)))
        return Read(*(torch.stack(each, dim=-2) for each in zip(*found, strict=True)))
