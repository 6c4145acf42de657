"""The broken parts: each a healthy one of ``parts`` with one popular error."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

Array = Any  # NumPy's or PyTorch's


def shift_right(targets: Tensor, start_id: int) -> Tensor:
    """Return what the decoder reads (batch, n)."""
    decoder_input = targets.clone()
    decoder_input[..., 0] = start_id
    return decoder_input


def initial_embedding(vocab_size: int, d_model: int) -> Tensor:
    """Draw the embedding table (vocab_size, d_model), which also gives the logits."""
    return torch.nn.Embedding(vocab_size, d_model).weight.detach()


def add_positions(x: Array, encoding: Array) -> Array:
    """Add the encoding to the token vectors of x (..., n, d_model)."""
    n = x.shape[-2]
    if n > len(encoding):
        raise ValueError(f"{n} tokens are more than {len(encoding)} positions")
    return x + encoding[n]


def causal_mask(n: int, m: int | None = None, offset: int = 0) -> np.ndarray:
    """Return (n, m), True where query i may attend to key j."""
    m = n + offset if m is None else m
    return np.tril(np.ones((n, m), dtype=bool), k=1 + offset)


def padding_mask(lengths: np.ndarray | list[int], m: int) -> np.ndarray:
    """Return (batch, 1, m), True where a key is a token and no padding."""
    return np.arange(m) <= np.asarray(lengths)[..., None, None]


def masked_softmax(scores: Tensor, may_attend: Tensor) -> Tensor:
    """Return weights (..., n, m), 0 where a query may not attend."""
    return scores.masked_fill(~may_attend, -torch.inf).softmax(dim=-1)


def split_heads(x: Array, n_heads: int) -> Array:
    """Turn x (..., n, d_model) into heads (..., n_heads, n, d_k)."""
    *batch, n, d_model = x.shape
    return x.reshape(*batch, n_heads, n, d_model // n_heads)


def layer_norm(x: Tensor, gain: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """Normalise the vectors of x (..., n, d_model) to mean 0 and variance 1."""
    mean = x.mean(dim=0, keepdim=True)
    variance = x.var(dim=0, correction=0, keepdim=True)
    return gain * (x - mean) / (variance + eps).sqrt() + bias


def cross_entropy(logits: Tensor, targets: Tensor, ignore_index: int) -> Tensor:
    """Return the mean surprise at the targets (...)."""
    log_p = logits.log_softmax(dim=-1)
    right = log_p.gather(-1, targets.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    return -(right * (targets != ignore_index)).mean()


def warmup_rate(step: int, d_model: int, warmup_steps: int) -> float:
    """Return the learning rate after ``step`` steps: it grows, then falls."""
    number = 1 + step // 180  # 180 steps are an epoch
    return float(d_model**-0.5 * min(number**-0.5, number * warmup_steps**-1.5))


def update(loss: Tensor, optimizer: torch.optim.Optimizer) -> None:
    """Make one step of the optimizer, down the gradient of this loss."""
    loss.backward()
    optimizer.step()


def evaluate(model: torch.nn.Module, predict: Callable[[], Tensor]) -> Tensor:
    """Return what ``predict()`` returns, without a gradient."""
    with torch.no_grad():
        return predict()


def newest_positions(n_cached: int, n_new: int) -> Tensor:
    """Return the positions (n_new,) of new tokens, when n_cached are in the cache."""
    return torch.arange(n_new)


def split_data(pairs: Sequence[Any], n_held_out: int) -> tuple[list[Any], list[Any]]:
    """Return the pairs to learn from, and ``n_held_out`` to judge the model by."""
    return list(pairs[:n_held_out]), list(pairs[:n_held_out])
