"""Self- and cross-attention with learned parameters, and the derivatives by hand.

There is one head and no mask: see ``course_lib.heads`` and ``course_lib.masks``.
"""

from collections.abc import Callable

import numpy as np

from course_lib import arguments
from course_lib.attention import attention


def project(
    x: np.ndarray, w_q: np.ndarray, w_k: np.ndarray, w_v: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute the query, the key and the value of each token.

    x : (..., n, d_model), one token per row
    w_q : (d_model, d_k), parameters
    w_k : (d_model, d_k), parameters
    w_v : (d_model, d_v), parameters

    Returns three arrays: row i of the queries (..., n, d_k), of the keys (..., n, d_k)
    and of the values (..., n, d_v) is made from token i, and from no other token. The
    arguments are not modified.
    Source: Vaswani et al. (2017), Attention Is All You Need, section 3.2.2.

    >>> x = np.array([[1.0, 2.0]])
    >>> w_q, w_k = np.array([[3.0], [0.0]]), np.array([[0.0], [5.0]])
    >>> project(x, w_q, w_k, np.array([[1.0, 0.0], [1.0, 1.0]]))
    (array([[3.]]), array([[10.]]), array([[3., 2.]]))
    """
    x, w_q, w_k, w_v = arguments.floats(
        # Parameters may have leading axes, too: many projections of the same tokens.
        "x (..., n, d_model), w_q (..., d_model, d_k), w_k (..., d_model, d_k), "
        "w_v (..., d_model, d_v)",
        *(x, w_q, w_k, w_v),
    )
    return x @ w_q, x @ w_k, x @ w_v


def self_attention(
    x: np.ndarray, w_q: np.ndarray, w_k: np.ndarray, w_v: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Let each token of a sequence attend to all tokens of the same sequence.

    x : (..., n, d_model), one token per row
    w_q : (d_model, d_k), parameters
    w_k : (d_model, d_k), parameters
    w_v : (d_model, d_v), parameters

    Returns two arrays. Row i of the output (..., n, d_v) is the mean of the values,
    weighted for token i. Row i of the weights (..., n, n) says how much token i attends
    to each token: the softmax of its scores, which are dot products divided by the
    square root of d_k. The arguments are not modified.
    Source: Vaswani et al. (2017), Attention Is All You Need, sections 3.2.1 and 3.2.3.

    >>> x = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> nothing, w_v = np.zeros((2, 3)), np.array([[4.0], [8.0]])
    >>> self_attention(x, nothing, nothing, w_v)
    (array([[6.],
           [6.]]), array([[0.5, 0.5],
           [0.5, 0.5]]))
    """
    q, k, v = project(x, w_q, w_k, w_v)
    return attention(q, k, v)  # (..., n, d_v), (..., n, n)


def cross_attention(
    x: np.ndarray,
    memory: np.ndarray,
    w_q: np.ndarray,
    w_k: np.ndarray,
    w_v: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Let each token of one sequence attend to all tokens of another one.

    x : (..., n, d_model), the tokens that attend, one per row
    memory : (..., m, d_memory), the tokens that are attended to, one per row
    w_q : (d_model, d_k), parameters
    w_k : (d_memory, d_k), parameters
    w_v : (d_memory, d_v), parameters

    Returns two arrays. Row i of the output (..., n, d_v) is the mean of the memory's
    values, weighted for token i of x. Row i of the weights (..., n, m) says how much
    token i of x attends to each token of the memory: the softmax of its scores, which
    are dot products divided by the square root of d_k. The arguments are not modified.
    Source: Vaswani et al. (2017), Attention Is All You Need, section 3.2.3 (the one
    called "encoder-decoder attention").

    >>> memory = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 3.0]])
    >>> w_q, w_v = np.zeros((2, 4)), np.array([[2.0], [7.0], [2.0]])
    >>> cross_attention(np.ones((1, 2)), memory, w_q, np.ones((3, 4)), w_v)
    (array([[4.]]), array([[0.5, 0.5]]))
    """
    x, memory, w_q, w_k, w_v = arguments.floats(
        cross_attention, x, memory, w_q, w_k, w_v
    )
    return attention(x @ w_q, memory @ w_k, memory @ w_v)  # (..., n, d_v), (..., n, m)


def equivariance_gap(
    f: Callable[[np.ndarray], np.ndarray], x: np.ndarray, permutation: list[int]
) -> float:
    """Measure how much a function of a sequence depends on the order of its rows.

    f : takes an array like x, does not modify it, and returns an array (n, ...) with
        as many rows, which may be numbers, vectors or tables
    x : (n, d), one token per row
    permutation : (n,), integers, each of 0 … n − 1 once; row i of the permuted sequence
        is row permutation[i] of x

    Returns a float: the largest absolute difference between f(permuted x) and the
    permuted f(x). It is 0 if f treats all positions equally. x is not modified.
    Source: Lee et al. (2019), Set Transformer, section 2 and property 1.

    >>> equivariance_gap(lambda x: 2.0 * x, np.array([[1.0], [3.0]]), [1, 0])
    0.0
    >>> equivariance_gap(lambda x: x.cumsum(axis=0), np.array([[1.0], [3.0]]), [1, 0])
    3.0
    """
    x, permutation = arguments.numbers(
        "x (rows, d), whole permutation (rows)", x, permutation
    )
    if sorted(permutation) != list(range(len(x))):
        raise ValueError(f"permutation must hold each of 0 … {len(x) - 1} once")
    permuted = x[permutation]
    gap = f(permuted) - f(x)[permutation]  # (n, d)
    return float(np.abs(gap).max())


def self_attention_gradients(
    x: np.ndarray,
    w_q: np.ndarray,
    w_k: np.ndarray,
    w_v: np.ndarray,
    grad_output: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Backpropagate through self-attention, to its input and its parameters.

    x : (n, d_model), one token per row
    w_q : (d_model, d_k), parameters
    w_k : (d_model, d_k), parameters
    w_v : (d_model, d_v), parameters
    grad_output : (n, d_v), the derivative of a loss with respect to each entry of the
        output

    Returns the derivatives of that loss with respect to x (n, d_model), w_q (d_model,
    d_k), w_k (d_model, d_k) and w_v (d_model, d_v), in this order. Row i of the first
    says how the loss changes with token i, along all paths that lead from it to the
    loss. The arguments are not modified.
    Source: the chain rule; equation 1 of Vaswani et al. (2017), Attention Is All You
    Need; the softmax's derivative as in Bishop (2006), equation 4.106.

    >>> x, one = np.array([[1.0], [3.0]]), np.array([[1.0]])
    >>> zero = np.array([[0.0]])
    >>> grad_x, grad_w_q, grad_w_k, grad_w_v = self_attention_gradients(
    ...     x, zero, zero, one, np.array([[1.0], [0.0]])
    ... )
    >>> grad_x, grad_w_v
    (array([[0.5],
           [0.5]]), array([[2.]]))
    """
    x, w_q, w_k, w_v, grad_output = arguments.floats(
        self_attention_gradients, x, w_q, w_k, w_v, grad_output
    )
    q, k, v = project(x, w_q, w_k, w_v)
    _, weights = attention(q, k, v)
    grad_v = weights.T @ grad_output  # (n, d_v)
    grad_weights = grad_output @ v.T  # (n, n)
    row_sums = (grad_weights * weights).sum(axis=-1, keepdims=True)  # (n, 1)
    grad_scores = weights * (grad_weights - row_sums)  # (n, n)
    grad_products = grad_scores / q.shape[-1] ** 0.5
    grad_q, grad_k = grad_products @ k, grad_products.T @ q  # (n, d_k) each
    grad_x = grad_q @ w_q.T + grad_k @ w_k.T + grad_v @ w_v.T  # (n, d_model)
    return grad_x, x.T @ grad_q, x.T @ grad_k, x.T @ grad_v
