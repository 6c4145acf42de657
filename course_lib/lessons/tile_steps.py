"""Attention by tiles, step by step: what is known of each query after each tile."""

from dataclasses import dataclass

import numpy as np

from course_lib import arguments


@dataclass(frozen=True)
class TileStep:
    """What is known after a tile.

    queries, keys : (first, end) of the tile, in rows and columns of the scores
    factor : (n,), by what each row's sum and output so far were multiplied: 1 where the
        maximum did not grow or the tile has no such row, 0 at a row's first tile
    maximum : (n,), the largest score so far, −∞ for a row without any
    total : (n,), the sum so far of e to the power of score − maximum
    output : (n, d_v), the sum so far of the same, times the values; divided by total it
        is the attention to the keys so far
    """

    queries: tuple[int, int]
    keys: tuple[int, int]
    factor: np.ndarray
    maximum: np.ndarray
    total: np.ndarray
    output: np.ndarray


def record_tiles(
    scores: np.ndarray, v: np.ndarray, block: int, query_block: int
) -> list[TileStep]:
    """Walk through a table of scores tile by tile, as FlashAttention does.

    scores : (n, m), finite
    v : (m, d_v)
    block, query_block : number of keys and of queries in a tile

    Returns a step for each tile: for each block of queries all blocks of keys. Raises
    ``ValueError`` for shapes that do not fit.
    Source: Dao (2023), FlashAttention-2, algorithm 1.

    >>> steps = record_tiles([[0.0, 0.0, 0.0]], [[3.0], [6.0], [0.0]], 2, 1)
    >>> [(float(step.total[0]), float(step.output[0, 0])) for step in steps]
    [(2.0, 9.0), (3.0, 9.0)]
    """
    arguments.whole("block ≥ 1, query_block ≥ 1", block, query_block)
    scores, v = arguments.floats("scores (n, m), v (m, d_v)", scores, v)
    n, m = scores.shape
    maximum, total = np.full(n, -np.inf), np.zeros(n)
    output, steps = np.zeros((n, v.shape[1])), []
    for i in range(0, n, query_block):
        rows = slice(i, min(i + query_block, n))
        for j in range(0, m, block):
            columns = slice(j, min(j + block, m))
            tile = scores[rows, columns]
            grown = np.maximum(maximum[rows], tile.max(axis=-1))
            factor = np.ones(n)
            factor[rows] = np.exp(maximum[rows] - grown)
            weights = np.exp(tile - grown[:, np.newaxis])
            total[rows] = total[rows] * factor[rows] + weights.sum(axis=-1)
            output[rows] *= factor[rows, np.newaxis]
            output[rows] += weights @ v[columns]
            maximum[rows] = grown
            ends = (rows.start, rows.stop), (columns.start, columns.stop)
            known = (each.copy() for each in (maximum, total, output))
            steps.append(TileStep(*ends, factor, *known))
    return steps
