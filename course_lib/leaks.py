"""A tool that finds out whether a model looks into the future.

How to forbid it is in ``course_lib.masks``.
"""

from collections.abc import Callable

import numpy as np


def leak(f: Callable[[np.ndarray], np.ndarray], x: np.ndarray, t: int) -> float:
    """Measure how much the past of a function's result depends on the future.

    f : takes an array like x, gives an array with as many rows
    x : (n, d), one token per row
    t : the present; rows t + 1, … of x are the future, rows 0 … t of a result the past

    Returns a float: the largest absolute change of the past of f(x) when every number z
    of the future of x becomes 1 − 2z. It is 0 if nothing leaks. x stays as it is.
    Source: this course; the property is the one that section 3.1 of Vaswani et al.
    (2017), Attention Is All You Need, asks of a decoder.

    >>> x = np.array([[1.0], [2.0], [3.0]])
    >>> leak(lambda x: x.cumsum(axis=0), x, 0)
    0.0
    >>> leak(lambda x: x + x.sum(), x, 0)
    13.0
    """
    # In the dtype of x: rounding it otherwise would be taken for a leak.
    changed = np.concatenate([x[: t + 1], 1 - 2 * x[t + 1 :]])  # (n, d)
    past = f(changed)[: t + 1] - f(x)[: t + 1]
    return float(np.abs(past).max())
