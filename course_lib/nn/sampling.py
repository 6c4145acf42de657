"""From logits to the next token: temperature, top-k, top-p, and a draw.

These are functions of lesson 12, in the order in which they are applied. Randomness
arrives as a number u, so that a draw can be repeated and judged;
``course_lib.nn.generating`` draws these numbers from a seed.
"""

import math

import torch
from torch import Tensor

from course_lib.nn import arguments


def apply_temperature(logits: Tensor, temperature: float) -> Tensor:
    """Turn logits into probabilities that are sharper or flatter than softmax's.

    logits : (..., vocab_size), −∞ for what must not come
    temperature : from 0 to infinity; below 1 sharper, above 1 flatter, 1 for softmax

    Returns the probabilities (..., vocab_size): the softmax of logits / temperature,
    exact also where the temperature is tiny. The two ends are: at temperature 0 the
    largest logit has probability 1 (the first of them, if several are largest); at
    temperature infinity all that are above −∞ have the same. logits stays as it is.
    Raises ``ValueError`` for a temperature below 0, for NaN or +∞ among the logits, and
    for a row of −∞ alone.
    Source: Hinton et al. (2015), Distilling the Knowledge in a Neural Network, equation
    1.

    >>> logits = torch.tensor([0.0, 1.0])
    >>> apply_temperature(logits, 0.5)
    tensor([0.1192, 0.8808])
    >>> apply_temperature(logits, 0), apply_temperature(logits, math.inf)
    (tensor([0., 1.]), tensor([0.5000, 0.5000]))
    """
    _check_logits(logits)
    if temperature != math.inf:
        arguments.real(0, math.inf, temperature=temperature)
    if temperature == 0:
        best = logits.argmax(dim=-1, keepdim=True)  # (..., 1), the first of equal ones
        return torch.zeros_like(logits).scatter(-1, best, 1.0)
    # 0 for the largest, so that dividing by a tiny number overflows to −∞ alone.
    below = logits - logits.max(dim=-1, keepdim=True).values
    if temperature == math.inf:
        return torch.where(below == -math.inf, below, 0.0).softmax(dim=-1)
    # A float32 may be too coarse for the temperature, never for the quotient.
    return (below.double() / temperature).softmax(dim=-1).to(logits.dtype)


def top_k_filter(probabilities: Tensor, k: int) -> Tensor:
    """Let only the k most probable tokens stay, and make their probabilities sum to 1.

    probabilities : (..., vocab_size), each row sums to 1
    k : how many stay, at least 1; all, if there are fewer than k

    Returns the probabilities (..., vocab_size): 0 for all other tokens, and for those
    that stay what they had, divided by their sum. Of equally probable tokens the
    earlier ones stay, so that never more than k do. probabilities stays as it is.
    Raises ``ValueError`` for k below 1.
    Source: Fan et al. (2018), Hierarchical Neural Story Generation, section 5.4.

    >>> top_k_filter(torch.tensor([0.1, 0.4, 0.3, 0.2]), 2)
    tensor([0.0000, 0.5714, 0.4286, 0.0000])
    """
    check_probabilities(probabilities)
    arguments.whole(1, k=k)
    order = probabilities.argsort(dim=-1, descending=True, stable=True)
    stays = torch.zeros_like(probabilities, dtype=torch.bool)
    return _renormalised(probabilities, stays.scatter(-1, order[..., :k], True))


def top_p_filter(probabilities: Tensor, p: float) -> Tensor:
    """Let only the most probable tokens stay that together have probability p.

    probabilities : (..., vocab_size), each row sums to 1
    p : above 0, at most 1

    Returns the probabilities (..., vocab_size): 0 for all other tokens, and for those
    that stay what they had, divided by their sum. Tokens stay in the order of their
    probability, the earlier one first of equal ones, until their sum is p or more: the
    token that makes it so stays too, and at least one token does. p = 1 returns all as
    they are. probabilities stays as it is. Raises ``ValueError`` for p of 0 or below,
    or above 1.
    Source: Holtzman et al. (2020), The Curious Case of Neural Text Degeneration,
    section 3.1 (nucleus sampling).

    >>> top_p_filter(torch.tensor([0.125, 0.5, 0.25, 0.125]), 0.6)
    tensor([0.0000, 0.6667, 0.3333, 0.0000])
    """
    check_probabilities(probabilities)
    arguments.real(0, 1, p=p)
    if p == 0:
        raise ValueError(
            "p must be above 0, got 0: no token would stay; for the most probable one "
            "alone, use k=1 or temperature 0"
        )
    if p == 1:  # sums of floats may reach 1 before the last token
        return probabilities.clone()
    order = probabilities.argsort(dim=-1, descending=True, stable=True)
    ordered = probabilities.gather(-1, order).double()
    before = ordered.cumsum(dim=-1) - ordered  # the sum of those that come earlier
    stays = torch.zeros_like(probabilities, dtype=torch.bool)
    return _renormalised(probabilities, stays.scatter(-1, order, before < p))


def sample(probabilities: Tensor, u: Tensor) -> Tensor:
    """Choose a token in each row, by a random number from 0 to 1.

    probabilities : (..., vocab_size), each row sums to 1
    u : (...), from 0 to below 1, a number for each row

    Returns token ids (...): the first token whose probability, with those of all tokens
    before it, is more than u. So a token comes for a share of all u that is its
    probability, and one of probability 0 never does. The arguments stay as they are.
    Raises ``ValueError`` for a u that is not from 0 to below 1.
    Source: Devroye (1986), Non-Uniform Random Variate Generation, section III.2.1
    (inversion by sequential search).

    >>> probabilities = torch.tensor([[0.5, 0.0, 0.5], [0.5, 0.0, 0.5]])
    >>> sample(probabilities, torch.tensor([0.4, 0.5]))
    tensor([0, 2])
    """
    check_probabilities(probabilities)
    if not isinstance(u, Tensor) or u.shape != probabilities.shape[:-1]:
        raise ValueError(
            f"u must be a tensor of shape {tuple(probabilities.shape[:-1])}, a number "
            f"for each row, got {getattr(u, 'shape', type(u).__name__)}"
        )
    if not ((u >= 0) & (u < 1)).all():
        raise ValueError("u must hold numbers from 0 to below 1")
    # The last sum is exactly 1, so that no u lies beyond it.
    sums = probabilities.double().cumsum(dim=-1)
    sums = sums / sums[..., -1:]
    return (sums <= u.double().unsqueeze(-1)).sum(dim=-1)


def check_probabilities(probabilities: Tensor) -> None:
    """Refuse what are no probabilities (..., vocab_size) whose rows sum to 1.

    >>> check_probabilities(torch.tensor([0.5, 0.2]))
    Traceback (most recent call last):
    ValueError: probabilities must sum to 1 in each row, got 0.7
    """
    arguments.tensors("probabilities (..., d_vocabulary)", probabilities)
    if not ((probabilities >= 0) & (probabilities <= 1.001)).all():  # NaN is neither
        raise ValueError("probabilities must hold numbers from 0 to 1")
    sums = probabilities.double().sum(dim=-1)
    tolerance = 8 * probabilities.shape[-1] * torch.finfo(probabilities.dtype).eps
    wrong = (sums - 1).abs() > min(tolerance, 0.01)
    if wrong.any():
        raise ValueError(
            f"probabilities must sum to 1 in each row, got {sums[wrong][0].item():.4g}"
        )


def _check_logits(logits: Tensor) -> None:
    arguments.tensors("logits (..., d_vocabulary)", logits)
    largest = logits.max(dim=-1).values  # NaN, if one is NaN
    if not largest.isfinite().all():
        raise ValueError(
            "logits must hold numbers below infinity, one of them above −∞ in each "
            f"row, got a row whose largest is {largest[~largest.isfinite()][0].item()}"
        )


def _renormalised(probabilities: Tensor, stays: Tensor) -> Tensor:
    filtered = probabilities.masked_fill(~stays, 0.0)
    return filtered / filtered.sum(dim=-1, keepdim=True)
