"""Tools that find out whether what fills a batch up plays a part in the results.

Leaks from the future are found by ``course_lib.leaks``.
"""

from collections.abc import Callable

import numpy as np


def padding_gap(
    f: Callable[[np.ndarray], np.ndarray], sequences: list[list[int]], padding: int
) -> float:
    """Measure how much a model's results depend on the company a sequence is in.

    f : takes whole numbers (batch, n), gives floats (batch, n, d); it knows which
        number fills up
    sequences : one or more lists of at least one token, of any lengths; padding is in
        none of them
    padding : the number that fills the shorter ones up, behind their tokens

    Returns a float: the largest absolute difference, over all sequences and their own
    places, between f of the whole batch, filled up to the longest, and f of a batch of
    that sequence alone. What f gives for filling does not count. It is 0 if padding and
    neighbours play no part.
    Source: this course; Vaswani et al. (2017), section 5.1, train on such batches.

    >>> padding_gap(lambda tokens: tokens[..., np.newaxis] * 2.0, [[1, 2], [3]], 0)
    0.0
    >>> def mean_added(tokens):
    ...     return (tokens + tokens.mean(axis=1, keepdims=True))[..., np.newaxis]
    >>> padding_gap(mean_added, [[1, 2], [3]], 0)
    1.5
    """
    longest = max(len(sequence) for sequence in sequences)
    batch = np.full((len(sequences), longest), padding)
    for row, sequence in zip(batch, sequences, strict=True):
        row[: len(sequence)] = sequence
    together = f(batch)  # (batch, n, d)
    gap = 0.0
    for sequence, found in zip(sequences, together, strict=True):
        alone = f(np.array([sequence]))[0]
        gap = max(gap, float(np.abs(found[: len(sequence)] - alone).max()))
    return gap
