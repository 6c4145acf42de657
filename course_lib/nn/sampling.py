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

    logits : (..., vocab_size), −∞ for tokens that must not come; each row has at
        least one number above −∞
    temperature : above 0, or 0; below 1 sharper, above 1 flatter, 1 for softmax

    Returns the probabilities (..., vocab_size): the softmax of logits / temperature in
    each row, also where logits are as large as 10,000. At temperature 0, the largest
    logit has probability 1: the first of them, if several are largest. logits is not
    modified.
    Source: Hinton et al. (2015), Distilling the Knowledge in a Neural Network, equation
    1.

    >>> logits = torch.tensor([0.0, 1.0])
    >>> apply_temperature(logits, 0.5)
    tensor([0.1192, 0.8808])
    >>> apply_temperature(logits, 0)
    tensor([0., 1.])
    """
    arguments.logits(logits)
    arguments.temperature(temperature)
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
    that stay what they had, divided by their sum; each token where it stood. Of equally
    probable tokens those with the smaller token ids stay, so that never more than k do.
    probabilities is not modified.
    Source: Fan et al. (2018), Hierarchical Neural Story Generation, section 5.4.

    >>> top_k_filter(torch.tensor([0.1, 0.4, 0.3, 0.2]), 2)
    tensor([0.0000, 0.5714, 0.4286, 0.0000])
    """
    arguments.probabilities(probabilities)
    arguments.whole(1, k=k)
    order = probabilities.argsort(dim=-1, descending=True, stable=True)
    stays = torch.zeros_like(probabilities, dtype=torch.bool)
    stays = stays.scatter(-1, order[..., :k], True)
    filtered = probabilities.masked_fill(~stays, 0.0)
    return filtered / filtered.sum(dim=-1, keepdim=True)


def top_p_filter(probabilities: Tensor, p: float) -> Tensor:
    """Let only the most probable tokens stay that together have probability p.

    probabilities : (..., vocab_size), each row sums to 1
    p : above 0, below 1; 1 leaves all as they are

    Returns the probabilities (..., vocab_size): 0 for all other tokens, and for those
    that stay what they had, divided by their sum; each token where it stood. Tokens
    stay in the order of their probability, of equal ones the smaller token id first,
    until their sum is p or more: the token that makes it so stays too, and at least one
    token does. Where rounding alone decides whether a sum is p, either answer is right.
    probabilities is not modified.
    Source: Holtzman et al. (2020), The Curious Case of Neural Text Degeneration,
    section 3.1 (nucleus sampling).

    >>> top_p_filter(torch.tensor([0.125, 0.5, 0.25, 0.125]), 0.6)
    tensor([0.0000, 0.6667, 0.3333, 0.0000])
    """
    arguments.probabilities(probabilities)
    arguments.real(0, 1, p=p)
    arguments.positive(p=p)
    if p == 1:  # sums of floats may reach 1 before the last token
        return probabilities.clone()
    order = probabilities.argsort(dim=-1, descending=True, stable=True)
    ordered = probabilities.gather(-1, order).double()
    before = ordered.cumsum(dim=-1) - ordered  # the sum of those that come earlier
    stays = torch.zeros_like(probabilities, dtype=torch.bool)
    stays = stays.scatter(-1, order, before < p)
    filtered = probabilities.masked_fill(~stays, 0.0)
    return filtered / filtered.sum(dim=-1, keepdim=True)


def sample(probabilities: Tensor, u: Tensor) -> Tensor:
    """Choose a token in each row, by a random number from 0 to below 1.

    probabilities : (..., vocab_size), each row sums to 1, up to rounding
    u : (...), from 0 to below 1, a number for each row

    Returns token ids (...): the first token whose probability, with those of all tokens
    before it, is more than u; if rounding leaves none, the last token with a
    probability above 0. So each token comes for a share of all u equal to its
    probability, and one of probability 0 never does. Where rounding alone decides,
    either answer is right. The arguments are not modified.
    Source: Devroye (1986), Non-Uniform Random Variate Generation, section III.2.1
    (inversion by sequential search).

    >>> probabilities = torch.tensor([[0.5, 0.0, 0.5], [0.5, 0.0, 0.5]])
    >>> sample(probabilities, torch.tensor([0.4, 0.5]))
    tensor([0, 2])
    """
    arguments.probabilities(probabilities)
    arguments.drawn_numbers("u", u, probabilities.shape[:-1])
    # The last sum is exactly 1, so that no u lies beyond it.
    sums = probabilities.double().cumsum(dim=-1)
    sums = sums / sums[..., -1:]
    return (sums <= u.double().unsqueeze(-1)).sum(dim=-1)
