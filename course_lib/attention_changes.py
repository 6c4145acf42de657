"""Attention with one change each: normalised queries and keys, a sink, a latent cache.

Each function is the attention of lesson 01 but for one thing, and says which problem
that was made for. Frequencies for longer texts are in ``positions``, attention without
softmax in ``linear_attention``.
"""

import numpy as np

from course_lib import arguments


def qk_norm_scores(
    q: np.ndarray, k: np.ndarray, q_gain: np.ndarray, k_gain: np.ndarray
) -> np.ndarray:
    """Compute scaled scores of queries and keys that are normalised before.

    q : (..., n, d_k), one query per row
    k : (..., m, d_k), one key per row; no row of q or k is all zeros
    q_gain : (d_k,), learned, one number for each component of a query
    k_gain : (d_k,), learned, one number for each component of a key

    Returns the scores (..., n, m): entry (i, j) is the dot product of query i and key
    j, divided by √d_k, as in ``scaled_scores``, but each row of q and of k is divided
    by its root mean square first and then multiplied by its gain. The arguments are not
    modified.
    Source: Henry et al. (2020), Query-Key Normalization for Transformers, who divide by
    the length of a row instead; Dehghani et al. (2023), Scaling Vision Transformers to
    22 Billion Parameters, section 2, who take a layer norm.

    >>> q, k, gain = np.array([[3.0, 3.0]]), np.array([[0.0, 5.0]]), np.ones(2)
    >>> qk_norm_scores(q, k, gain, 2 * gain)
    array([[2.]])
    """
    q, k, q_gain, k_gain = arguments.floats(qk_norm_scores, q, k, q_gain, k_gain)
    q = q / np.sqrt((q**2).mean(axis=-1, keepdims=True)) * q_gain
    k = k / np.sqrt((k**2).mean(axis=-1, keepdims=True)) * k_gain
    return q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5


def sink_attention(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    sink: np.ndarray,
    may_attend: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute attention of several heads whose queries may attend to nothing.

    q : (n_heads, n, d_k), one query per row
    k : (n_heads, m, d_k), one key per row
    v : (n_heads, m, d_v), one value per row
    sink : (n_heads,), learned, one score for each head
    may_attend : (n_heads, n, m), booleans, or None if every query may attend to every
        key; the axes before m may be 1 or missing, and are then broadcast

    Returns the output (n_heads, n, d_v) and the weights (n_heads, n, m). The weights of
    a query are what a softmax over its scaled scores and the sink's score gives to the
    keys: the sink takes part in the sum, but it has no value, and its weight is not
    returned. So the weights of a query sum to less than 1; one that may attend to no
    key has zeros. Scores and sinks may be as far from 0 as 10,000. The arguments are
    not modified.
    Source: Xiao et al. (2024), Efficient Streaming Language Models with Attention
    Sinks, section 3.3, where the sink's score is 0; it is learned in gpt-oss.

    >>> q, k, v = np.ones((1, 1, 1)), np.zeros((1, 2, 1)), np.full((1, 2, 1), 8.0)
    >>> output, weights = sink_attention(q, k, v, np.log([2.0]))
    >>> output, weights
    (array([[[4.]]]), array([[[0.25, 0.25]]]))
    """
    q, k, v, sink, may_attend = arguments.floats(
        sink_attention, q, k, v, sink, may_attend
    )
    scores = q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5
    if may_attend is not None:
        scores = np.where(may_attend, scores, -np.inf)
    sink = sink[:, np.newaxis, np.newaxis]  # (n_heads, 1, 1)
    largest = np.maximum(scores.max(axis=-1, keepdims=True), sink)
    powers = np.exp(scores - largest)
    total = powers.sum(axis=-1, keepdims=True) + np.exp(sink - largest)
    weights = powers / total
    return weights @ v, weights


def latent_attention(
    q: np.ndarray, latents: np.ndarray, w_k: np.ndarray, w_v: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Compute attention over a cache of latent vectors, without keys and values.

    q : (n_heads, n, d_k), one query per row
    latents : (m, d_c), one vector per token, the same for all heads
    w_k : (n_heads, d_c, d_k), makes a head's keys: latents @ w_k[h]
    w_v : (n_heads, d_c, d_v), makes a head's values: latents @ w_v[h]

    Returns the output (n_heads, n, d_v) and the absorbed queries (n_heads, n, d_c). An
    absorbed query is one whose dot product with the latent vector of a token equals
    that of the query with the token's key. The output is that of attention with these
    keys and values, scaled by 1 / √d_k, where every query attends to every token. The
    keys and values themselves need not be made. Scores may be as far from 0 as 10,000.
    The arguments are not modified.
    Source: DeepSeek-AI (2024), DeepSeek-V2, section 2.1.2, there with a small rotary
    part more.

    >>> q, latents = np.array([[[2.0]]]), np.array([[0.0, 0.0], [np.log(3.0), 4.0]])
    >>> w_k, w_v = np.array([[[0.5], [0.0]]]), np.array([[[0.0], [1.0]]])
    >>> output, absorbed = latent_attention(q, latents, w_k, w_v)
    >>> output.round(3), absorbed
    (array([[[3.]]]), array([[[1., 0.]]]))
    """
    q, latents, w_k, w_v = arguments.floats(latent_attention, q, latents, w_k, w_v)
    absorbed = q @ np.swapaxes(w_k, -1, -2)  # (n_heads, n, d_c)
    scores = absorbed @ latents.T / q.shape[-1] ** 0.5  # (n_heads, n, m)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return weights @ latents @ w_v, absorbed
