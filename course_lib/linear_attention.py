"""Attention without softmax: a state of fixed size in place of a cache.

A state is a matrix, the sum of the products of keys and values so far. What it holds
can fade, or be written over.
"""

import numpy as np

from course_lib import arguments


def linear_attention(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    state: np.ndarray,
    decay: float = 1.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute causal attention without softmax, token by token, from a state.

    q : (..., n, d_k), one query per row
    k : (..., n, d_k), one key per row
    v : (..., n, d_v), one value per row; n is 1 or more
    state : (..., d_k, d_v), what earlier tokens have left; zeros if there are none
    decay : above 0, at most 1; what is left of the state from one token to the next

    Returns the output (..., n, d_v) and the new state (..., d_k, d_v), after the last
    token. For each token, in their order: the state is multiplied by decay; then the
    product of the token's key as a column and its value as a row is added to it; then
    the token's query times the state is its output. So, from a state of zeros, output i
    is the sum over all j up to i of value j times the dot product of query i and key j
    times decay to the power of i − j. Nothing is scaled or divided by a sum. The
    arguments are not modified.
    Source: Katharopoulos et al. (2020), Transformers are RNNs, section 3.4, who divide
    by a sum; Sun et al. (2023), Retentive Network, section 2.1, with a decay.

    >>> q, k, v = np.ones((2, 1)), np.ones((2, 1)), np.array([[4.0], [1.0]])
    >>> output, new_state = linear_attention(q, k, v, np.zeros((1, 1)), 0.5)
    >>> output.ravel(), new_state
    (array([4., 3.]), array([[3.]]))
    """
    q, k, v, state = arguments.floats(linear_attention, q, k, v, state)
    decay = arguments.positive("decay", decay)
    outputs = []
    for i in range(q.shape[-2]):
        key, value = k[..., i, :, np.newaxis], v[..., i, np.newaxis, :]
        state = decay * state + key * value  # (..., d_k, d_v)
        outputs.append(q[..., i, np.newaxis, :] @ state)  # (..., 1, d_v)
    return np.concatenate(outputs, axis=-2), state


def delta_rule(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    state: np.ndarray,
    strengths: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute linear attention whose state is written over instead of added to.

    q : (..., n, d_k), one query per row
    k : (..., n, d_k), one key per row, each of length 1
    v : (..., n, d_v), one value per row; n is 1 or more
    state : (..., d_k, d_v), what earlier tokens have left; zeros if there are none
    strengths : (..., n), from 0 to 1, how much of what is stored each token replaces

    Returns the output (..., n, d_v) and the new state (..., d_k, d_v), after the last
    token. For each token, in their order: its key times the state is the value that is
    stored for this key; the token's own value minus that one is the error; then the
    product of the key as a column and the error as a row, times the token's strength,
    is added to the state; then the token's query times the state is its output. So,
    with strength 1, the key times the new state is the token's value. The arguments are
    not modified.
    Source: Schlag et al. (2021), Linear Transformers Are Secretly Fast Weight
    Programmers, section 4.2.

    >>> one, values, state = np.ones((2, 1)), np.array([[4.0], [1.0]]), np.zeros((1, 1))
    >>> strengths = np.array([1.0, 0.5])
    >>> output, new_state = delta_rule(one, one, values, state, strengths)
    >>> output.ravel(), new_state
    (array([4. , 2.5]), array([[2.5]]))
    """
    q, k, v, state, strengths = arguments.floats(delta_rule, q, k, v, state, strengths)
    outputs = []
    for i in range(q.shape[-2]):
        key, value = k[..., i, np.newaxis, :], v[..., i, np.newaxis, :]
        error = value - key @ state  # (..., 1, d_v)
        strength = strengths[..., i, np.newaxis, np.newaxis]
        state = state + strength * np.swapaxes(key, -1, -2) * error  # (..., d_k, d_v)
        outputs.append(q[..., i, np.newaxis, :] @ state)
    return np.concatenate(outputs, axis=-2), state
