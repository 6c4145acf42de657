"""The parts of a healthy Transformer, each a function that can be replaced.

Most have the contract of an exercise: some take NumPy's arrays and PyTorch's tensors
alike, so that one function serves in the model and in the exercise's check.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

Array = Any  # NumPy's or PyTorch's


def shift_right(targets: Tensor, start_id: int) -> Tensor:
    """Return what the decoder reads: start, then the target without its last token."""
    first = torch.full_like(targets[..., :1], start_id)
    return torch.cat([first, targets[..., :-1]], dim=-1)


def initial_embedding(vocab_size: int, d_model: int) -> Tensor:
    """Draw the embedding table (vocab_size, d_model), which also gives the logits."""
    return torch.randn(vocab_size, d_model) / d_model


def add_positions(x: Array, encoding: Array) -> Array:
    """Add to each token vector of x (..., n, d_model) the row of its position."""
    n = x.shape[-2]
    if n > len(encoding):
        raise ValueError(f"{n} tokens are more than {len(encoding)} positions")
    return x + encoding[:n]


def causal_mask(n: int, m: int | None = None, offset: int = 0) -> np.ndarray:
    """Return (n, m), True where query i may attend to key j: j ≤ i + offset."""
    m = n + offset if m is None else m
    return np.arange(m) <= np.arange(n)[:, None] + offset


def padding_mask(lengths: np.ndarray | list[int], m: int) -> np.ndarray:
    """Return (batch, 1, m), True where a key is a token and no padding."""
    return np.arange(m) < np.asarray(lengths)[..., None, None]


def scaled_scores(q: Array, k: Array) -> Array:
    """Return the scores (..., n, m) of queries (..., n, d_k) and keys (..., m, d_k)."""
    return q @ k.swapaxes(-1, -2) / k.shape[-1] ** 0.5


def masked_softmax(scores: Tensor, may_attend: Tensor) -> Tensor:
    """Return weights (..., n, m); a query that may attend to no key has zeros."""
    blocked = scores.masked_fill(~may_attend, -torch.inf)
    largest = blocked.amax(dim=-1, keepdim=True).clamp(min=-1e30)
    powers = (blocked - largest).exp()
    return powers / powers.sum(dim=-1, keepdim=True).clamp(min=1e-30)


def split_heads(x: Array, n_heads: int) -> Array:
    """Turn x (..., n, d_model) into heads (..., n_heads, n, d_k)."""
    d_k = x.shape[-1] // n_heads
    return x.reshape(*x.shape[:-1], n_heads, d_k).swapaxes(-3, -2)


def layer_norm(x: Tensor, gain: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """Normalise each token vector of x (..., n, d_model): mean 0, variance 1."""
    mean = x.mean(dim=-1, keepdim=True)
    variance = x.var(dim=-1, correction=0, keepdim=True)
    return gain * (x - mean) / (variance + eps).sqrt() + bias


def cross_entropy(logits: Tensor, targets: Tensor, ignore_index: int) -> Tensor:
    """Return the mean surprise at the targets (...) that are not ``ignore_index``."""
    counts = targets != ignore_index
    log_p = logits.log_softmax(dim=-1)
    right = log_p.gather(-1, targets.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    return -right[counts].sum() / counts.sum()


def warmup_rate(step: int, d_model: int, warmup_steps: int) -> float:
    """Return the learning rate after ``step`` steps: it grows, then falls."""
    number = step + 1
    return float(d_model**-0.5 * min(number**-0.5, number * warmup_steps**-1.5))


def update(loss: Tensor, optimizer: torch.optim.Optimizer) -> None:
    """Make one step of the optimizer, down the gradient of this loss."""
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def evaluate(model: torch.nn.Module, predict: Callable[[], Tensor]) -> Tensor:
    """Return what ``predict()`` returns, outside of training."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        result = predict()
    model.train(was_training)
    return result


def newest_positions(n_cached: int, n_new: int) -> Tensor:
    """Return the positions (n_new,) of new tokens, when n_cached are in the cache."""
    return torch.arange(n_cached, n_cached + n_new)


def split_data(pairs: Sequence[Any], n_held_out: int) -> tuple[list[Any], list[Any]]:
    """Return the pairs to learn from, and ``n_held_out`` others that are held out."""
    return list(pairs[n_held_out:]), list(pairs[:n_held_out])


@dataclass(frozen=True)
class Parts:
    """All parts of a model and of its training; what is not named is healthy."""

    shift_right: Callable[..., Any] = shift_right
    initial_embedding: Callable[..., Any] = initial_embedding
    add_positions: Callable[..., Any] = add_positions
    causal_mask: Callable[..., Any] = causal_mask
    padding_mask: Callable[..., Any] = padding_mask
    scaled_scores: Callable[..., Any] = scaled_scores
    masked_softmax: Callable[..., Any] = masked_softmax
    split_heads: Callable[..., Any] = split_heads
    layer_norm: Callable[..., Any] = layer_norm
    cross_entropy: Callable[..., Any] = cross_entropy
    warmup_rate: Callable[..., Any] = warmup_rate
    update: Callable[..., Any] = update
    evaluate: Callable[..., Any] = evaluate
    newest_positions: Callable[..., Any] = newest_positions
    split_data: Callable[..., Any] = split_data
