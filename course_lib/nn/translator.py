"""What every translator of the course can do, whatever it is made of.

Training, decoding and scoring are written against ``Translator`` and know no model. The
models are in ``course_lib.nn.transformer`` and ``course_lib.nn.recurrent``.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol, Self, TypeVar

import torch
from torch import Tensor, nn


class DecoderState(Protocol):
    """What a decoder keeps between two steps, one row per unfinished hypothesis."""

    def select(self, rows: Tensor) -> Self:
        """Return a state whose row i is row rows[i] of this one.

        rows : (new batch), row numbers in any order, repeated or left out: so
            hypotheses are copied, swapped and dropped. This state is not modified.
        """


M = TypeVar("M")
S = TypeVar("S", bound=DecoderState)


class Translator(Protocol[M, S]):
    """A model that reads a source and computes logits for each position of a target.

    Token ids are 0 … vocab_size − 1. In a batch the shorter sequences are padded with
    ``padding_id``, behind their tokens; padding never changes a result.
    """

    training: bool

    @property
    def config(self) -> Any:
        """The sizes that it was made from: a frozen dataclass of plain numbers."""

    @property
    def padding_id(self) -> int:
        """The token id of padding."""

    @property
    def max_length(self) -> int | None:
        """How many tokens a sequence may have; None if there is no limit."""

    def __call__(self, source: Tensor, target: Tensor) -> Tensor:
        """Compute the logits of all positions at once, as in training.

        source : (batch, m), token ids
        target : (batch, n), token ids as the decoder reads them: shifted right, with
            the start token first

        Returns logits (batch, n, vocab_size); row i depends on target tokens 0 … i.
        """

    def encode(self, source: Tensor) -> M:
        """Encode a source (batch, m): what a decoder needs of it."""

    def initial_state(self, memory: M) -> S:
        """Return the state before the first token of the target."""

    def step(self, token_ids: Tensor, state: S) -> tuple[Tensor, S]:
        """Read one more target token per sequence, and compute the next logits.

        token_ids : (batch), the newest tokens; at first the start token
        state : of the tokens before; it is not modified, and can be used again

        Returns two things: logits (batch, vocab_size), equal to the last row of a call
        with all tokens so far, and the state after the newest ones.
        """

    def attention_weights(self, source: Tensor, target: Tensor) -> Tensor | None:
        """Return the weights (batch, n, m) with which target tokens attend to a source.

        source, target : as for a call

        Each row sums to 1. None if the model has no attention.
        """

    def parameters(self) -> Iterator[nn.Parameter]:
        """Return the parameters, as in ``nn.Module``; likewise what follows."""

    def train(self, mode: bool = True) -> Self: ...

    def eval(self) -> Self: ...

    def state_dict(self) -> dict[str, Any]: ...

    def load_state_dict(self, state_dict: dict[str, Any]) -> Any: ...


def token_mask(token_ids: Tensor, padding_id: int) -> Tensor:
    """Return where a batch has tokens, as a mask for what attends to it.

    token_ids : (batch, m), padded
    padding_id : the token id of padding

    Returns booleans (batch, m), True at tokens.

    >>> token_mask(torch.tensor([[5, 6], [7, 0]]), 0)
    tensor([[ True,  True],
            [ True, False]])
    """
    return token_ids != padding_id


def embed_tokens(embedding: nn.Embedding, token_ids: Tensor) -> Tensor:
    """Return the rows of an embedding times the root of their length, as in the paper.

    Raises ``ValueError`` for a token id without a row. On a GPU, which cannot be asked
    without waiting for it, PyTorch ends the program.
    """
    try:
        vectors = embedding(token_ids)
    except IndexError:
        raise ValueError(
            f"token ids must be from 0 to {embedding.num_embeddings - 1}, as in the "
            "model's vocabulary"
        ) from None
    return vectors * embedding.embedding_dim**0.5


@contextmanager
def evaluating(model: Translator[Any, Any] | nn.Module) -> Iterator[None]:
    """Switch off dropout and gradients; restore the model's mode afterwards."""
    was_training = model.training
    model.eval()
    try:
        with torch.inference_mode():
            yield
    finally:
        model.train(was_training)
