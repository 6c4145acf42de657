"""Ways of scoring a query against a key that have parameters of their own.

The score without parameters is ``course_lib.attention.scaled_scores``.
"""

import numpy as np


def additive_scores(
    q: np.ndarray, k: np.ndarray, w_q: np.ndarray, w_k: np.ndarray, v: np.ndarray
) -> np.ndarray:
    """Score each query against each key with a small network.

    q : (..., n, d_q), one query per row
    k : (..., m, d_k), one key per row; d_k may differ from d_q
    w_q : (d_q, d_hidden), parameters that project the queries
    w_k : (d_k, d_hidden), parameters that project the keys
    v : (d_hidden,), parameters that turn the hidden layer into one number

    Returns the scores (..., n, m): entry [i, j] is v · tanh(q_i w_q + k_j w_k). The
    arguments, all floats, stay as they are.
    Source: Bahdanau et al. (2015), Neural Machine Translation by Jointly Learning to
    Align and Translate, appendix A.1.2.

    >>> q, k = np.array([[0.0]]), np.array([[0.0, 0.0], [100.0, 100.0]])
    >>> additive_scores(q, k, np.ones((1, 3)), np.ones((2, 3)), np.array([1., 2., 3.]))
    array([[0., 6.]])
    """
    projected_q = (q @ w_q)[..., :, np.newaxis, :]  # (..., n, 1, d_hidden)
    projected_k = (k @ w_k)[..., np.newaxis, :, :]  # (..., 1, m, d_hidden)
    return np.tanh(projected_q + projected_k) @ v  # (..., n, m)


def bilinear_scores(q: np.ndarray, k: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Score each query against each key through one matrix of parameters.

    q : (..., n, d_q), one query per row
    k : (..., m, d_k), one key per row; d_k may differ from d_q
    w : (d_q, d_k), parameters: how much each part of a query asks for each of a key

    Returns the scores (..., n, m): entry [i, j] is q_i w k_j. The arguments, all
    floats, stay as they are.
    Source: Luong et al. (2015), Effective Approaches to Attention-based Neural Machine
    Translation, section 3.1 (the score called "general").

    >>> q, k = np.array([[1.0, 2.0]]), np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> bilinear_scores(q, k, np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    array([[24., 12.]])
    """
    return q @ w @ np.swapaxes(k, -1, -2)  # (..., n, m)
