"""What every translator of the course can do, whatever it is made of.

Training, decoding and measuring are written against this and know no model. The models
are in ``course_lib.nn.transformer`` and ``course_lib.nn.seq2seq``.
"""

from collections.abc import Iterator
from typing import Any, Protocol, Self, TypeVar

from torch import Tensor, nn


class State(Protocol):
    """What a translator remembers between two steps, one row per unfinished text."""

    def select(self, rows: Tensor) -> Self:
        """Give a state whose row i is row rows[i] of this one.

        rows : (new batch), whole numbers in any order, as often as wanted. So beams are
            copied, swapped and dropped. This state stays as it is.
        """


M = TypeVar("M")
S = TypeVar("S", bound=State)


class Translator(Protocol[M, S]):
    """Reads a source and scores, for each place of a target, what may stand there.

    Tokens are whole numbers 0 … vocab_size − 1. In a batch the shorter sequences are
    filled up with ``padding``, behind their tokens; filling never plays a part.
    """

    training: bool

    @property
    def sizes(self) -> Any:
        """The sizes that it was made from: a frozen dataclass of plain numbers."""

    @property
    def padding(self) -> int:
        """The number that fills sequences up."""

    @property
    def longest(self) -> int | None:
        """How many tokens a text may have at most; None for as many as one likes."""

    def __call__(self, source: Tensor, target: Tensor) -> Tensor:
        """Score all tokens at all places at once, as in training.

        source : (batch, m), tokens
        target : (batch, n), tokens as the decoder reads them: shifted right, with the
            token that begins every text first

        Returns logits (batch, n, vocab_size); row i depends on target tokens 0 … i.
        """

    def encode(self, source: Tensor) -> M:
        """Read a source (batch, m): what of it a decoder needs."""

    def start(self, memory: M) -> S:
        """Give the state before the first token of the target."""

    def step(self, tokens: Tensor, state: S) -> tuple[Tensor, S]:
        """Read one more target token per text, and score what may come after it.

        tokens : (batch), the newest tokens; at first the one that begins every text
        state : of the tokens before; it stays as it is, and can be used again

        Returns two things: logits (batch, vocab_size), equal to the last row of a call
        with all tokens so far, and the state after the newest ones.
        """

    def attention(self, source: Tensor, target: Tensor) -> Tensor | None:
        """Give the weights (batch, n, m) with which target tokens look at the source.

        source, target : as for a call

        Each row sums to 1. None if the model has no attention.
        """

    def parameters(self) -> Iterator[nn.Parameter]:
        """As in ``nn.Module``; likewise what follows."""

    def train(self, mode: bool = True) -> Self: ...

    def eval(self) -> Self: ...

    def state_dict(self) -> dict[str, Any]: ...

    def load_state_dict(self, state_dict: dict[str, Any]) -> Any: ...


def real_tokens(tokens: Tensor, padding: int) -> Tensor:
    """Say where a batch has tokens, as a mask for what looks at it.

    tokens : (batch, m), filled up with padding
    padding : the number that fills up

    Returns booleans (batch, m), True at tokens.

    >>> import torch
    >>> real_tokens(torch.tensor([[5, 6], [7, 0]]), 0)
    tensor([[ True,  True],
            [ True, False]])
    """
    return tokens != padding
