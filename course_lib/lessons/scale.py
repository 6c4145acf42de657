"""Why scores are divided by the square root of d_k, as an experiment (lesson 01)."""

from dataclasses import dataclass

import numpy as np

from course_lib import arguments
from course_lib.attention import softmax, softmax_jacobian


@dataclass(frozen=True)
class ScaleEffect:
    """What the size of random scores does to the softmax over them.

    d_k : numbers per key
    variance : of the scores (units of the scores, squared)
    largest_weight : median over queries of the largest weight, between 1/m and 1
    jacobian_norm : median over queries of the Frobenius norm of the softmax Jacobian:
        how much of a gradient can pass through the softmax
    mean_jacobian_norm : the mean of the same, which a few undecided queries dominate
    """

    d_k: int
    variance: float
    largest_weight: float
    jacobian_norm: float
    mean_jacobian_norm: float


def scale_effect(
    d_k: int, *, scaled: bool, n: int = 2000, m: int = 10, seed: int = 1
) -> ScaleEffect:
    """Draw n queries with m keys each, all numbers standard normal, and measure.

    d_k : numbers per query and key
    scaled : whether the scores are divided by the square root of d_k
    n, m : number of queries, number of keys of each
    seed : of the random numbers

    Source: Vaswani et al. (2017), Attention Is All You Need, section 3.2.1, footnote 4,
    where the variance is derived: the rest is measured here.

    >>> effect = scale_effect(64, scaled=False)
    >>> round(effect.variance), round(effect.largest_weight, 1)
    (64, 1.0)
    """
    arguments.whole("d_k ≥ 1, n ≥ 1, m ≥ 1", d_k, n, m)
    rng = np.random.default_rng(seed)
    q = rng.normal(size=(n, 1, d_k))
    k = rng.normal(size=(n, m, d_k))
    scores = (q @ np.swapaxes(k, -1, -2))[:, 0]  # (n, m)
    if scaled:
        scores = scores / np.sqrt(d_k)
    weights = softmax(scores)
    jacobians = softmax_jacobian(weights)  # (n, m, m)
    norms = np.sqrt((jacobians**2).sum(axis=(-1, -2)))
    return ScaleEffect(
        d_k,
        float(scores.var()),
        float(np.median(weights.max(axis=-1))),
        float(np.median(norms)),
        float(norms.mean()),
    )
