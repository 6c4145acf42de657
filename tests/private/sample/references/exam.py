"""References of the exam."""

import numpy as np


def distance_scores(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Return how near each key is to each query: minus the squared distance.

    q : (..., n, d_k), one query per row
    k : (..., m, d_k), one key per row

    Returns (..., n, m): row i has the scores of query i.
    Source: Tsai et al. (2019), section 3.1, with a Gaussian kernel's exponent.

    >>> distance_scores(np.array([[0.0, 1.0]]), np.array([[0.0, 3.0], [2.0, 2.0]]))
    array([[-4., -5.]])
    """
    # marker-of-the-reference
    difference = q[..., :, None, :] - k[..., None, :, :]
    return -(difference**2).sum(axis=-1)
