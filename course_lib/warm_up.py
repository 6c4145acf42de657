"""The three small functions of lesson 00: what the later lessons take for granted."""

import math

import numpy as np

from course_lib import arguments


def softmax_by_hand(x: list[float]) -> list[float]:
    """Turn a short list of scores into positive shares that sum to 1.

    x : the scores, between -50 and 50, at least one

    Returns the list of shares, one float per score in the same order: e to the power of
    the score, divided by the sum of these powers. The list x is not modified.
    Source: Goodfellow, Bengio and Courville (2016), Deep Learning, section 4.1.

    >>> softmax_by_hand([0.0, 0.0, 0.0, 0.0])
    [0.25, 0.25, 0.25, 0.25]
    """
    x = arguments.floats("x (n)", x, between=(-50, 50))
    powers = [math.exp(score) for score in x]
    total = sum(powers)
    return [power / total for power in powers]


def normalise_rows(x: np.ndarray) -> np.ndarray:
    """Divide each row by its own sum.

    x : (..., n, m), numbers ≥ 0, at least one above 0 in each row; integers are allowed

    Returns floats (..., n, m): the same proportions in each row, each summing to 1; x
    itself is not modified.
    Source: the NumPy user guide, "Broadcasting".

    >>> normalise_rows(np.array([[1.0, 3.0, 4.0], [2.0, 2.0, 0.0]]))
    array([[0.125, 0.375, 0.5  ],
           [0.5  , 0.5  , 0.   ]])
    """
    x = arguments.floats(normalise_rows, x, between=(0, np.inf))
    return x / x.sum(axis=-1, keepdims=True)  # (..., n, m) / (..., n, 1)


def pairwise_sums(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Add each row of a to each row of b.

    a : (n, d), one vector per row
    b : (m, d), one vector per row

    Returns (n, m, d): entry [i, j] is the vector a_i + b_j. The result holds floats if
    a or b does, and neither argument is modified.
    Source: the NumPy user guide, "Broadcasting".

    >>> pairwise_sums(np.array([[1.0, 2.0]]), np.array([[10.0, 0.0], [20.0, 0.0]]))
    array([[[11.,  2.],
            [21.,  2.]]])
    """
    a, b = arguments.numbers(pairwise_sums, a, b)
    return a[:, np.newaxis, :] + b[np.newaxis, :, :]  # (n, 1, d) + (1, m, d)
