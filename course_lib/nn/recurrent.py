"""The recurrent translator: gated recurrent units, with attention or without.

Its parts are in ``course_lib.nn.recurrent_parts`` and ``recurrent_decoder``. What it
has in common with the Transformer is said in ``course_lib.nn.translator``.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from course_lib.nn.decoding import real_tokens
from course_lib.nn.device import best_device


class RecurrentMemory(NamedTuple):
    """What the encoder made of a batch of sources."""

    vectors: Tensor  # (batch, m, 2 d_hidden), of both directions; 0 at filling
    summary: Tensor  # (batch, 2 d_hidden), the last state of each direction
    may_attend: Tensor  # (batch, m), False where a source is filled up

    def select(self, rows: Tensor) -> "RecurrentMemory":
        """Give a memory whose row i is row rows[i] of this one."""
        return RecurrentMemory(*(kept[rows] for kept in self))


class RecurrentEncoder(nn.Module):
    """A gated recurrent unit that reads forwards, and one that reads backwards.

    Source: Bahdanau et al. (2015), Neural Machine Translation by Jointly Learning to
    Align and Translate, section 3.2.
    """

    def __init__(
        self,
        d_in: int,
        d_hidden: int,
        device: torch.device,
        dtype: torch.dtype | None,
    ) -> None:
        """Make both units, with random parameters."""
        super().__init__()
        self.units = nn.GRU(
            d_in,
            d_hidden,
            batch_first=True,
            bidirectional=True,
            device=device,
            dtype=dtype,
        )

    def forward(self, x: Tensor, may_attend: Tensor) -> RecurrentMemory:
        """Read the tokens x (batch, m, d_in); may_attend (batch, m): True at tokens.

        Tokens stand before what fills up; a unit never sees the latter.
        """
        # A text without tokens is read as one of filling; nobody looks at its vectors.
        lengths = may_attend.sum(dim=-1).clamp(min=1).cpu()  # (batch)
        packed = pack_padded_sequence(
            x, lengths, batch_first=True, enforce_sorted=False
        )
        states, last = self.units(packed)  # last: (2, batch, d_hidden)
        vectors, _ = pad_packed_sequence(
            states, batch_first=True, total_length=x.shape[1]
        )
        return RecurrentMemory(vectors, last.transpose(0, 1).flatten(1), may_attend)


class AdditiveAttention(nn.Module):
    """Scores v · tanh(state + key): ``course_lib.nn.sequence_to_sequence.additive_attention``.

    Source: Bahdanau et al. (2015), appendix A.1.2.
    """

    def __init__(
        self,
        d_state: int,
        d_memory: int,
        d_attention: int,
        device: torch.device,
        dtype: torch.dtype | None,
    ) -> None:
        """Make the three parameters, at random."""
        super().__init__()
        kinds = {"device": device, "dtype": dtype}
        self.query = nn.Linear(d_state, d_attention, bias=False, **kinds)
        self.key = nn.Linear(d_memory, d_attention, bias=False, **kinds)
        self.score = nn.Linear(d_attention, 1, bias=False, **kinds)

    def keys(self, vectors: Tensor) -> Tensor:
        """Compute once what all steps need: (batch, m, d_memory) → (…, d_attention)."""
        return self.key(vectors)

    def forward(
        self, states: Tensor, keys: Tensor, memory: RecurrentMemory
    ) -> tuple[Tensor, Tensor]:
        """Look with states (batch, n, d_state) at what ``keys`` gave and the memory.

        Returns contexts (batch, n, d_memory) and weights (batch, n, m).
        """
        sums = self.query(states).unsqueeze(-2) + keys.unsqueeze(-3)  # (batch, n, m, d)
        return _mix(self.score(torch.tanh(sums)).squeeze(-1), memory)


class MultiplicativeAttention(nn.Module):
    """Scores (state w) · key: "general" of ``course_lib.nn.sequence_to_sequence.luong_score``.

    Source: Luong et al. (2015), Effective Approaches to Attention-based Neural Machine
    Translation, equation 8.
    """

    def __init__(
        self,
        d_state: int,
        d_memory: int,
        device: torch.device,
        dtype: torch.dtype | None,
    ) -> None:
        """Make the one parameter, at random."""
        super().__init__()
        self.query = nn.Linear(
            d_state, d_memory, bias=False, device=device, dtype=dtype
        )

    def keys(self, vectors: Tensor) -> Tensor:
        """Give the keys: the vectors (batch, m, d_memory) themselves."""
        return vectors

    def forward(
        self, states: Tensor, keys: Tensor, memory: RecurrentMemory
    ) -> tuple[Tensor, Tensor]:
        """Do as ``AdditiveAttention.forward``, with other scores."""
        return _mix(self.query(states) @ keys.transpose(-1, -2), memory)


def _mix(scores: Tensor, memory: RecurrentMemory) -> tuple[Tensor, Tensor]:
    """Turn scores (batch, n, m) into contexts and weights; no weight on filling."""
    blocked = ~memory.may_attend.unsqueeze(-2)  # (batch, 1, m)
    weights = scores.masked_fill(blocked, -torch.inf).softmax(dim=-1)
    # A source without tokens gives NaN above; zeros here, and so in the gradient.
    weights = weights.masked_fill(blocked, 0.0)
    return weights @ memory.vectors, weights


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


class RecurrentTranslator(nn.Module):
    """Reads the source in both directions, then writes token by token.

    One table embeds both languages and scores, as in the Transformer. How the decoder
    looks at the source: ``RecurrentDecoder``.
    """

    def __init__(
        self,
        sizes: RecurrentSizes,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        """Make a translator with random parameters.

        device : the GPU if there is one, else the CPU, if None

        Raises ``ValueError`` if there is no such attention.
        """
        super().__init__()
        self.sizes = sizes
        place, d_in = best_device(device), sizes.d_embedding
        self.table = nn.Embedding(sizes.vocab_size, d_in, device=place, dtype=dtype)
        self.dropout = nn.Dropout(sizes.dropout)
        self.encoder = RecurrentEncoder(d_in, sizes.d_hidden, place, dtype)
        self.decoder = RecurrentDecoder(sizes, place, dtype)
        # The table also scores: with this deviation the first guesses are nearly even.
        nn.init.normal_(self.table.weight, std=d_in**-0.5)

    @property
    def padding(self) -> int:
        """The number that fills texts up."""
        return self.sizes.padding

    @property
    def longest(self) -> None:
        """A text may have as many tokens as one likes."""

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Score all tokens at all places of a target that is shifted right.

        source : (batch, m), tokens, filled up with padding
        target : (batch, n), tokens, filled up with padding behind them

        Returns logits (batch, n, vocab_size).
        """
        return self.scores(self.decode(self.encode(source), target))

    def encode(self, source: Tensor) -> RecurrentMemory:
        """Read a source (batch, m)."""
        return self.encoder(self._embed(source), real_tokens(source, self.padding))

    def decode(self, memory: RecurrentMemory, target: Tensor) -> Tensor:
        """Give what the decoder knows at each place: (batch, n, d_embedding)."""
        read = self.decoder(self._embed(target), self.start(memory))
        return self.dropout(self.decoder.out(read))

    def scores(self, y: Tensor) -> Tensor:
        """Score all tokens: (..., d_embedding) → (..., vocab_size)."""
        return functional.linear(y, self.table.weight)

    def start(self, memory: RecurrentMemory) -> RecurrentState:
        """Give the state before the first token of the target."""
        return self.decoder.start(memory)

    def step(
        self, tokens: Tensor, state: RecurrentState
    ) -> tuple[Tensor, RecurrentState]:
        """Read one more token per text (batch), and score (batch, vocab_size) the next.

        The state before stays as it is.
        """
        read = self.decoder(self._embed(tokens.unsqueeze(-1)), state)
        y = self.dropout(self.decoder.out(read))  # (batch, 1, d_embedding)
        after = state._replace(hidden=read.states[:, -1])
        return self.scores(y).squeeze(-2), after

    def attention(self, source: Tensor, target: Tensor) -> Tensor | None:
        """Give the weights (batch, n, m) of target to source, if there are any."""
        state = self.start(self.encode(source))
        return self.decoder(self._embed(target), state).weights

    def _embed(self, tokens: Tensor) -> Tensor:
        x = self.table(tokens) * self.sizes.d_embedding**0.5  # (batch, n, d_embedding)
        return self.dropout(x)


# MERGED course_lib.nn.recurrent_parts: Parts of a recurrent translator: the encoder, and two ways to look at what it made.
#
#   One step of each as a function is in ``course_lib.nn.recurrent`` and ``alignments``; the
#   whole model is in ``course_lib.nn.seq2seq``.
#
# MERGED course_lib.nn.recurrent_decoder: The decoder of the recurrent translator, with attention or without.
#
#   The encoder and the attentions are in ``course_lib.nn.recurrent_parts``; the whole
#   model, with tokens, is in ``course_lib.nn.seq2seq``. One step of it as a function is
#   ``course_lib.nn.alignments.decoder_step``.
#
