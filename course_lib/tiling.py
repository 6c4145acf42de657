"""Softmax and attention one block of keys at a time, without the n × m matrix.

What is still to come may be larger than all that has come so far. So a running maximum
goes along, and when it grows, what has been summed up is rescaled. The results are
those of ``softmax`` and ``attention``, not approximations.
"""

import numpy as np

from course_lib import arguments


def online_softmax(x: np.ndarray, block: int) -> np.ndarray:
    """Compute a softmax whose maximum and sum are taken block by block.

    x : (..., m), scores, some of them perhaps as far from 0 as 10,000; m is 1 or more
    block : number of scores of a row in one block, 1 or more; the last block of a row
        holds what is left

    Returns the weights (..., m): those of a softmax over the last axis, whatever the
    block size. One pass over the blocks keeps, for each row, the largest score and the
    sum of exponentials so far; the weights are computed from their final values. x is
    not modified.
    Source: Milakov and Gimelshein (2018), Online normalizer calculation for softmax,
    algorithm 3, there with blocks of one.

    >>> online_softmax(np.log([[1.0, 2.0, 5.0]]), 2)
    array([[0.125, 0.25 , 0.625]])
    """
    x, block = arguments.floats(online_softmax, x), arguments.whole("block ≥ 1", block)
    largest = np.full((*x.shape[:-1], 1), -np.inf)  # of no scores
    total = np.zeros((*x.shape[:-1], 1))
    for start in range(0, x.shape[-1], block):
        part = x[..., start : start + block]  # (..., block), or what is left
        higher = np.maximum(largest, part.max(axis=-1, keepdims=True))
        new = np.exp(part - higher).sum(axis=-1, keepdims=True)
        total = total * np.exp(largest - higher) + new  # (..., 1)
        largest = higher
    return np.exp(x - largest) / total  # (..., m)


def tiled_attention(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    block: int,
    may_attend: np.ndarray | None = None,
) -> np.ndarray:
    """Compute the output of attention one block of keys and values at a time.

    q : (..., n, d_k), one query per row
    k : (..., m, d_k), one key per row; m is 1 or more
    v : (..., m, d_v), one value per row; value j belongs to key j; ... stands for the
        same axes in q, k and v
    block : number of keys in one block, 1 or more; the last block holds what is left
    may_attend : (..., n, m), booleans, or None if every query may attend to every key;
        the axes before m may be 1 or missing, and are then broadcast

    Returns the output (..., n, d_v), the same whatever the block size: row i is the
    mean of the values, weighted for query i by the softmax of its scaled scores over
    the keys that it may attend to. A row that may attend to no key is all zeros. Only
    the scores of one block (..., n, block) exist at a time, never all n × m of them:
    the check compares results and does not notice, but the lesson measures the memory.
    Scores may be as far from 0 as 10,000. The arguments are not modified.
    Source: Dao et al. (2022), FlashAttention: Fast and Memory-Efficient Exact Attention
    with IO-Awareness, algorithm 1, which splits the queries, too, and divides in each
    step; Rabe and Staats (2021), Self-attention Does Not Need O(n²) Memory, who divide
    once.

    >>> q, k = np.array([[0.0]]), np.array([[5.0], [2.0], [-4.0]])
    >>> v = np.array([[1.0, 0.0], [2.0, 0.0], [6.0, 9.0]])
    >>> tiled_attention(q, k, v, 2)
    array([[3., 3.]])
    >>> tiled_attention(q, k, v, 2, np.array([[True, False, True]]))
    array([[3.5, 4.5]])
    """
    block = arguments.whole("block ≥ 1", block)
    q, k, v, may_attend = arguments.floats(tiled_attention, q, k, v, may_attend)
    largest = np.full((*q.shape[:-1], 1), -np.inf)  # (..., n, 1), of no scores
    total = np.zeros((*q.shape[:-1], 1))
    output = np.zeros((*q.shape[:-1], v.shape[-1]))  # (..., n, d_v)
    for start in range(0, k.shape[-2], block):
        keys = slice(start, start + block)
        scores = q @ np.swapaxes(k[..., keys, :], -1, -2) / q.shape[-1] ** 0.5
        if may_attend is not None:
            scores = np.where(may_attend[..., keys], scores, -np.inf)
        higher = np.maximum(largest, scores.max(axis=-1, keepdims=True))
        origin = np.where(higher == -np.inf, 0.0, higher)  # −∞ − (−∞) is no number
        factor, powers = np.exp(largest - origin), np.exp(scores - origin)
        total = total * factor + powers.sum(axis=-1, keepdims=True)  # (..., n, 1)
        output = output * factor + powers @ v[..., keys, :]  # (..., n, d_v)
        largest = higher
    return output / np.where(total == 0.0, 1.0, total)
