"""A decoder of one block, small enough to be trained inside a lesson.

It is here to be trained with right and with wrong masks and targets. How its parts are
written with care, and how several blocks are stacked, is the subject of lesson 08.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import nn

from course_lib.lessons.environment import one_thread


class TinyDecoder(nn.Module):
    """Predict a token at every place, with one head of attention and one hidden layer.

    vocab_size : number of different tokens
    n : number of places, each with a learned vector
    d_model : length of a token's vector
    """

    def __init__(self, vocab_size: int, n: int, d_model: int = 32) -> None:
        """Make the parameters, drawn from PyTorch's generator."""
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.places = nn.Parameter(torch.randn(n, d_model))
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.hidden = nn.Linear(d_model, 4 * d_model)
        self.output = nn.Linear(4 * d_model, vocab_size)

    def embed(self, tokens: torch.Tensor) -> torch.Tensor:
        """Turn tokens (batch, n) into vectors (batch, n, d_model), places included."""
        return self.tokens(tokens) + self.places[: tokens.shape[-1]]

    def attention_weights(
        self, x: torch.Tensor, may_attend: torch.Tensor
    ) -> torch.Tensor:
        """Give the weights (batch, n, n) of vectors that look where the mask lets them.

        may_attend : (n, n), True = may look, at least one in each row
        """
        q, k = self.w_q(x), self.w_k(x)
        scores = q @ k.mT / q.shape[-1] ** 0.5  # (batch, n, n)
        return scores.masked_fill(~may_attend, -torch.inf).softmax(dim=-1)

    def logits(self, x: torch.Tensor, may_attend: torch.Tensor) -> torch.Tensor:
        """Turn vectors (batch, n, d_model) into scores of tokens (batch, n, V)."""
        x = x + self.attention_weights(x, may_attend) @ self.w_v(x)
        return self.output(self.hidden(x).relu())

    def forward(self, tokens: torch.Tensor, may_attend: torch.Tensor) -> torch.Tensor:
        """Turn tokens (batch, n) into scores of tokens (batch, n, vocab_size)."""
        return self.logits(self.embed(tokens), may_attend)


def mask_for_torch(may_attend: np.ndarray) -> torch.Tensor:
    """Give a mask as a tensor; raises ``ValueError`` for what would train to NaN."""
    if may_attend.dtype != bool or not may_attend.any(axis=-1).all():
        raise ValueError(
            f"may_attend holds {may_attend.dtype}: it must hold booleans, and a True "
            "in each row"
        )
    return torch.tensor(may_attend)


@contextmanager
def quietly(seed: int) -> Iterator[None]:
    """Draw with a seed, on one thread, and leave PyTorch as it was before."""
    with one_thread(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield
