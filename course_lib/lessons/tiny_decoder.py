"""A decoder of one block, small enough to be trained inside lesson 04.

It is there to be trained with right and with wrong masks and targets. How the layers of
a Transformer are built and stacked is the subject of lesson 09.
"""

import numpy as np
import torch
from torch import nn

from course_lib.arguments import require_boolean


class TinyDecoder(nn.Module):
    """Predict a token at every position: one attention head, one hidden layer.

    vocab_size : number of different tokens
    n : number of positions, each with a learned vector
    d_model : length of a token's vector
    """

    def __init__(self, vocab_size: int, n: int, d_model: int = 32) -> None:
        """Make the parameters, drawn from PyTorch's generator."""
        super().__init__()
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Parameter(torch.randn(n, d_model))
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.hidden = nn.Linear(d_model, 4 * d_model)
        self.output = nn.Linear(4 * d_model, vocab_size)

    def embed(self, token_ids: torch.Tensor) -> torch.Tensor:
        """Turn token ids (batch, n) into vectors (batch, n, d_model) with positions."""
        positions = self.position_embedding[: token_ids.shape[-1]]
        return self.token_embedding(token_ids) + positions

    def attention_weights(
        self, x: torch.Tensor, may_attend: torch.Tensor
    ) -> torch.Tensor:
        """Return the weights (batch, n, n) of x (batch, n, d_model) under a mask.

        may_attend : (n, n), True = may attend, at least one in each row
        """
        q, k = self.w_q(x), self.w_k(x)
        scores = q @ k.mT / q.shape[-1] ** 0.5  # (batch, n, n)
        return scores.masked_fill(~may_attend, -torch.inf).softmax(dim=-1)

    def logits(self, x: torch.Tensor, may_attend: torch.Tensor) -> torch.Tensor:
        """Turn vectors (batch, n, d_model) into logits (batch, n, vocab_size)."""
        x = x + self.attention_weights(x, may_attend) @ self.w_v(x)
        return self.output(self.hidden(x).relu())

    def forward(
        self, token_ids: torch.Tensor, may_attend: torch.Tensor
    ) -> torch.Tensor:
        """Turn token ids (batch, n) into logits (batch, n, vocab_size)."""
        return self.logits(self.embed(token_ids), may_attend)


def mask_for_torch(may_attend: np.ndarray) -> torch.Tensor:
    """Convert a mask; refuse one that is not boolean or would train to NaN."""
    require_boolean(may_attend)
    may_attend = np.array(may_attend, order="C")  # PyTorch takes no reversed rows
    if not may_attend.any(axis=-1).all():
        raise ValueError(
            "may_attend has a row without True: let each query attend to a key"
        )
    return torch.tensor(may_attend)
