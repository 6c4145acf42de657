"""The derivatives of self-attention by hand, without a library that differentiates."""

import numpy as np

from course_lib.attention import attention
from course_lib.self_attention import project


def self_attention_gradients(
    x: np.ndarray,
    w_q: np.ndarray,
    w_k: np.ndarray,
    w_v: np.ndarray,
    d_output: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Go back through self-attention: from the output to its inputs and parameters.

    x : (n, d_model), one token per row
    w_q : (d_model, d_k), parameters
    w_k : (d_model, d_k), parameters
    w_v : (d_model, d_v), parameters
    d_output : (n, d_v), the derivative of a loss by each number of the output

    Returns the derivatives of that loss by x (n, d_model), by w_q (d_model, d_k), by
    w_k (d_model, d_k) and by w_v (d_model, d_v), in this order. Row i of the first says
    how the loss moves with token i, along all ways that lead from it to the loss. The
    arguments stay as they are.
    Source: the chain rule; equation 1 of Vaswani et al. (2017), Attention Is All You
    Need; the softmax's derivative as in Bishop (2006), equation 4.106.

    >>> x, one = np.array([[1.0], [3.0]]), np.array([[1.0]])
    >>> zero = np.array([[0.0]])
    >>> d_x, d_w_q, d_w_k, d_w_v = self_attention_gradients(
    ...     x, zero, zero, one, np.array([[1.0], [0.0]])
    ... )
    >>> d_x, d_w_v
    (array([[0.5],
           [0.5]]), array([[2.]]))
    """
    q, k, v = project(x, w_q, w_k, w_v)
    _, weights = attention(q, k, v)
    d_v = weights.T @ d_output  # (n, d_v)
    d_weights = d_output @ v.T  # (n, n)
    rows = (d_weights * weights).sum(axis=-1, keepdims=True)  # (n, 1)
    d_products = weights * (d_weights - rows) / q.shape[-1] ** 0.5  # (n, n)
    d_q, d_k = d_products @ k, d_products.T @ q  # (n, d_k) each
    d_x = d_q @ w_q.T + d_k @ w_k.T + d_v @ w_v.T  # (n, d_model)
    return d_x, x.T @ d_q, x.T @ d_k, x.T @ d_v
