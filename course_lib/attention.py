"""Softmax, scores and dot-product attention: a whole layer, but without parameters.

Rows are tokens. The two scores at the end get their parameters as arguments. Masks are
in ``course_lib.masks``, several heads in ``course_lib.heads``.
"""

import numpy as np

from course_lib import arguments


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    """Turn scores into weights between 0 and 1 that sum to 1 along one axis.

    x : (...), scores, of any size; integers are allowed
    axis : the axis along which the weights sum to 1

    Returns the weights, floats in the shape of x. Scores of any finite size give
    finite weights, and x itself is not modified.
    Source: Goodfellow, Bengio and Courville (2016), Deep Learning, section 4.1.

    >>> softmax(np.array([[0.0, 0.0], [0.0, 1000.0]]))
    array([[0.5, 0.5],
           [0. , 1. ]])
    """
    x = arguments.floats(softmax, x, axis=axis)
    shifted = x - np.max(x, axis=axis, keepdims=True)
    exponentials = np.exp(shifted)
    return exponentials / np.sum(exponentials, axis=axis, keepdims=True)


def softmax_jacobian(p: np.ndarray) -> np.ndarray:
    """Return how each softmax weight moves when each score moves.

    p : (..., m), the weights that a softmax over the last axis returned

    Returns the Jacobian (..., m, m): entry [i, j] is the derivative of weight i with
    respect to score j, which is p_i (1 - p_i) for i = j and -p_i p_j elsewhere. The
    weights p are not modified.
    Source: Bishop (2006), Pattern Recognition and Machine Learning, section 4.3.4,
    equation 4.106.

    >>> softmax_jacobian(np.array([0.5, 0.5]))
    array([[ 0.25, -0.25],
           [-0.25,  0.25]])
    """
    p = arguments.floats(softmax_jacobian, p)
    diagonal = p[..., np.newaxis] * np.eye(p.shape[-1], dtype=p.dtype)
    return diagonal - p[..., :, np.newaxis] * p[..., np.newaxis, :]


def scaled_scores(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Score how well each query matches each key.

    q : (..., n, d_k), one query per row
    k : (..., m, d_k), one key per row

    Returns the scores (..., n, m): row i holds the dot products of query i with all
    keys, divided by the square root of d_k. Integers are allowed, the result holds
    floats, and q and k are not modified.
    Source: Vaswani et al. (2017), Attention Is All You Need, section 3.2.1.

    >>> q = np.array([[1.0, 1.0, 1.0, 1.0]])
    >>> k = np.array([[2.0, 0.0, 0.0, 0.0], [3.0, 3.0, 1.0, 1.0]])
    >>> scaled_scores(q, k)
    array([[1., 4.]])
    """
    q, k = arguments.floats(scaled_scores, q, k)
    d_k = q.shape[-1]
    return q @ np.swapaxes(k, -1, -2) / d_k**0.5  # (..., n, m)


def attention(
    q: np.ndarray, k: np.ndarray, v: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mix the values, for each query, by how well their keys match it.

    q : (..., n, d_k), one query per row
    k : (..., m, d_k), one key per row
    v : (..., m, d_v), one value per row; value j belongs to key j

    Returns two arrays. Row i of the output (..., n, d_v) is the mean of the values,
    weighted for query i. Row i of the weights (..., n, m) holds those weights: the
    softmax over the keys of query i's scaled scores. Integers are allowed, the
    results hold floats, and the arguments are not modified.
    Source: Vaswani et al. (2017), Attention Is All You Need, equation 1.

    >>> q = np.array([[0.0, 0.0]])
    >>> k = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> v = np.array([[10.0, 0.0, 2.0], [20.0, 0.0, 4.0]])
    >>> output, weights = attention(q, k, v)
    >>> output, weights
    (array([[15.,  0.,  3.]]), array([[0.5, 0.5]]))
    """
    q, k, v = arguments.floats(attention, q, k, v)
    weights = softmax(scaled_scores(q, k), axis=-1)  # (..., n, m)
    return weights @ v, weights  # (..., n, d_v), (..., n, m)


def attention_step_by_step(
    q1: np.ndarray, k: np.ndarray, v: np.ndarray
) -> dict[str, np.ndarray]:
    """Walk one query through attention and return the result of each step.

    q1 : (d_k,), one query
    k : (m, d_k), one key per row
    v : (m, d_v), one value per row; value j belongs to key j

    Returns a dictionary with the keys "scores" (m,): the plain dot products;
    "scaled" (m,): the scores divided by the square root of d_k; "weights" (m,): their
    softmax; "weighted_values" (m, d_v): each value times its weight; "output" (d_v,):
    the sum of the weighted values. The arguments are not modified.
    Source: Vaswani et al. (2017), Attention Is All You Need, section 3.2.1.

    >>> steps = attention_step_by_step(
    ...     np.array([0.0, 0.0]), np.array([[1.0, 2.0], [3.0, 4.0]]), np.eye(2)
    ... )
    >>> steps["weights"], steps["output"]
    (array([0.5, 0.5]), array([0.5, 0.5]))
    """
    q1, k, v = arguments.floats(attention_step_by_step, q1, k, v)
    scores = k @ q1  # (m,)
    scaled = scores / q1.shape[-1] ** 0.5  # (m,)
    weights = softmax(scaled)  # (m,)
    weighted_values = weights[:, np.newaxis] * v  # (m, d_v)
    return {
        "scores": scores,
        "scaled": scaled,
        "weights": weights,
        "weighted_values": weighted_values,
        "output": weighted_values.sum(axis=0),
    }


def similarity_attention(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Rewrite each row of x as a mix of the rows of y that resemble it.

    x : (..., n, d), one token per row: the tokens that attend
    y : (..., m, d), one token per row: the tokens that are attended to

    Returns (..., n, d): row i is the mean of the rows of y, weighted by the softmax
    over y's rows of their dot products with row i of x. Nothing is learned, and
    nothing is divided by the square root of d. Integers are allowed, the result
    holds floats, and x and y are not modified.
    Source: Luong et al. (2015), Effective Approaches to Attention-based Neural Machine
    Translation, section 3.1 (the score called "dot").

    >>> similarity_attention(np.array([[0.0, 0.0]]), np.array([[2.0, 4.0], [4.0, 0.0]]))
    array([[3., 2.]])
    """
    x, y = arguments.floats(similarity_attention, x, y)
    weights = softmax(x @ np.swapaxes(y, -1, -2), axis=-1)  # (..., n, m)
    return weights @ y  # (..., n, d)


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
    arguments, all floats, are not modified.
    Source: Bahdanau et al. (2015), Neural Machine Translation by Jointly Learning to
    Align and Translate, appendix A.1.2.

    >>> q, k = np.array([[0.0]]), np.array([[0.0, 0.0], [100.0, 100.0]])
    >>> additive_scores(q, k, np.ones((1, 3)), np.ones((2, 3)), np.array([1., 2., 3.]))
    array([[0., 6.]])
    """
    q, k, w_q, w_k, v = arguments.floats(additive_scores, q, k, w_q, w_k, v)
    projected_q = (q @ w_q)[..., :, np.newaxis, :]  # (..., n, 1, d_hidden)
    projected_k = (k @ w_k)[..., np.newaxis, :, :]  # (..., 1, m, d_hidden)
    return np.tanh(projected_q + projected_k) @ v  # (..., n, m)


def bilinear_scores(q: np.ndarray, k: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Score each query against each key through one matrix of parameters.

    q : (..., n, d_q), one query per row
    k : (..., m, d_k), one key per row; d_k may differ from d_q
    w : (d_q, d_k), parameters: how much entry a of a query asks for entry b of a key

    Returns the scores (..., n, m): entry [i, j] is q_i w k_jᵀ. The arguments, all
    floats, are not modified.
    Source: Luong et al. (2015), Effective Approaches to Attention-based Neural Machine
    Translation, section 3.1 (the score called "general").

    >>> q, k = np.array([[1.0, 2.0]]), np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> bilinear_scores(q, k, np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    array([[24., 12.]])
    """
    q, k, w = arguments.floats(bilinear_scores, q, k, w)
    return q @ w @ np.swapaxes(k, -1, -2)  # (..., n, m)
