"""Softmax and its derivative. No attention here: see ``course_lib.attention``."""

import numpy as np


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    """Turn scores into weights between 0 and 1 that sum to 1 along one axis.

    x : (...), scores, of any size; integers are allowed
    axis : the axis along which the weights sum to 1

    Returns the weights, floats in the shape of x. Scores of any finite size give
    finite weights, and x itself stays as it is.
    Source: Goodfellow, Bengio and Courville (2016), Deep Learning, section 4.1.

    >>> softmax(np.array([[0.0, 0.0], [0.0, 1000.0]]))
    array([[0.5, 0.5],
           [0. , 1. ]])
    """
    shifted = x - np.max(x, axis=axis, keepdims=True)
    exponentials = np.exp(shifted)
    return exponentials / np.sum(exponentials, axis=axis, keepdims=True)


def softmax_jacobian(p: np.ndarray) -> np.ndarray:
    """Say how each softmax weight moves when each score moves.

    p : (..., n), the weights that a softmax over the last axis returned

    Returns the Jacobian (..., n, n): entry [i, j] is the derivative of weight i with
    respect to score j, which is p_i (1 - p_i) for i = j and -p_i p_j elsewhere.
    Source: Bishop (2006), Pattern Recognition and Machine Learning, equation 4.106.

    >>> softmax_jacobian(np.array([0.5, 0.5]))
    array([[ 0.25, -0.25],
           [-0.25,  0.25]])
    """
    diagonal = p[..., np.newaxis] * np.eye(p.shape[-1], dtype=p.dtype)
    return diagonal - p[..., :, np.newaxis] * p[..., np.newaxis, :]
