"""Parts of a recurrent translator: the encoder, and two ways to look at what it made.

One step of each as a function is in ``course_lib.nn.recurrent`` and ``alignments``; the
whole model is in ``course_lib.nn.seq2seq``.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


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
    """Scores v · tanh(state + key): ``course_lib.nn.alignments.additive_attention``.

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
    """Scores (state w) · key: "general" of ``course_lib.nn.alignments.luong_score``.

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
