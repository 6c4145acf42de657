"""Softmax and attention one block of keys at a time, without the n × m matrix.

What is still to come may be larger than all that has come so far. So a running maximum
goes along, and when it grows, what has been summed up is rescaled. The results are
those of ``softmax`` and ``attention``, not approximations.
"""

import numpy as np

from course_lib import arguments


def online_softmax(x: np.ndarray, block: int) -> np.ndarray:
    """Compute a softmax whose maximum and sum are taken block by block.

    x : (..., m), scores, finite and of any size
    block : number of scores of a row in one block, 1 or more; the last block of a row
        holds what is left

    Returns the weights (..., m), floats: those of a softmax over the last axis, for
    every block. One pass over the blocks keeps, for each row, the largest score and the
    sum of exponentials so far; the weights are computed from the last of both. Whole
    numbers of 64 bits, as Python's become, are allowed, and x stays as it is.
    Source: Milakov and Gimelshein (2018), Online normalizer calculation for softmax,
    algorithm 3, there with blocks of one.

    >>> online_softmax(np.log([[1.0, 2.0, 5.0]]), 2)
    array([[0.125, 0.25 , 0.625]])
    """
    x, block = arguments.floats("x (..., m)", x), arguments.whole("block ≥ 1", block)
    largest = np.full((*x.shape[:-1], 1), -np.inf)  # of no scores
    total = np.zeros((*x.shape[:-1], 1))
    for start in range(0, x.shape[-1], block):
        part = x[..., start : start + block]  # (..., block), or what is left
        higher = np.maximum(largest, part.max(axis=-1, keepdims=True))
        new = np.exp(part - higher).sum(axis=-1, keepdims=True)
        total = total * np.exp(largest - higher) + new  # (..., 1)
        largest = higher
    return np.exp(x - largest) / total  # (..., m)
