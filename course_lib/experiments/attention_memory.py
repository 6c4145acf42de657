"""What attention holds in memory at once, plain and by tiles, in NumPy (lesson 14)."""

import os
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from typing import Any

import numpy as np

from course_lib.lessons.measuring import numpy_peak
from course_lib.tiling import tiled_attention

LENGTHS = (256, 512, 1024, 2048, 4096, 8192, 16384)
BLOCK = 128
D_K = 64


def full(seed: int, lengths: tuple[int, ...] = LENGTHS) -> dict[str, Any]:
    """Measure three ways over n queries and n keys, from inputs in float32.

    It is done in a process of its own, whose NumPy has one thread.

    Returns "lengths", "block" and "d_k"; for each way, "plain", "blocks of keys" and
    "tiles", the bytes held at most, the output among them, the inputs not; and for
    "plain, first call", "plain, second call" and so on, seconds of the processor. The
    first call gets its memory from the operating system, which has to clear it.
    """
    with _environment(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1"):
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            return pool.submit(measure, seed, lengths).result()


def measure(seed: int, lengths: tuple[int, ...]) -> dict[str, Any]:
    """Return what ``full`` returns, with as many threads as this process has."""
    ways = {"plain": plain_attention, "blocks of keys": in_blocks, "tiles": in_tiles}
    results: dict[str, Any] = {"lengths": [*lengths], "block": BLOCK, "d_k": D_K}
    rng = np.random.default_rng(seed)
    for n in lengths:
        q, k, v = rng.normal(size=(3, n, D_K)).astype(np.float32)
        for name, attend in ways.items():
            call = partial(attend, q, k, v)
            for which in ("first call", "second call"):
                start = time.process_time()
                call()
                seconds = round(time.process_time() - start, 5)
                results.setdefault(f"{name}, {which}", []).append(seconds)
            results.setdefault(name, []).append(numpy_peak(call))
    return results


@contextmanager
def _environment(**variables: str) -> Iterator[None]:
    """Set variables that a new process reads when it starts."""
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def plain_attention(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Compute attention with the whole table of weights, as sparing as can be.

    q : (n, d_k)
    k : (m, d_k)
    v : (m, d_v)

    Returns the output (n, d_v). One table (n, m) is made, and changed in place.

    >>> plain_attention(np.zeros((1, 2)), np.zeros((2, 2)), np.array([[1.0], [3.0]]))
    array([[2.]])
    """
    weights = q @ k.T  # (n, m)
    weights /= np.sqrt(q.shape[-1], dtype=q.dtype)
    weights -= weights.max(axis=-1, keepdims=True)
    np.exp(weights, out=weights)
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights @ v


def in_blocks(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Compute the same with all queries and blocks of 128 keys."""
    return tiled_attention(q, k, v, BLOCK)


def in_tiles(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Compute the same with blocks of 128 queries, too: tiles of 128 × 128 scores."""
    output = np.empty((len(q), v.shape[-1]), dtype=v.dtype)
    for start in range(0, len(q), BLOCK):
        rows = slice(start, start + BLOCK)
        output[rows] = tiled_attention(q[rows], k, v, BLOCK)
    return output
