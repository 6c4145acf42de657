"""Slopes by trying: move each number a little, and see how far the loss moves.

Slow and always right to about six digits: good for checking derivatives, not for
training.
"""

from collections.abc import Callable, Sequence

import numpy as np


def slopes(
    loss: Callable[..., float], arrays: Sequence[np.ndarray], step: float = 1e-5
) -> list[np.ndarray]:
    """Measure how a loss moves with each number of its arguments.

    loss : takes as many arrays as there are, gives one number
    arrays : any shapes, floats; they stay as they are
    step : how far a number is moved, to both sides

    Returns one array of slopes for each argument, in its shape. A wrong slope is off by
    about step² times the third derivative, or by what rounding does to the loss, 1e-16
    divided by step: the default makes both small.
    Source: Goodfellow, Bengio and Courville (2016), Deep Learning, section 11.5
    ("centered difference").

    >>> slopes(lambda a: float((a**2).sum()), [np.array([3.0, -1.0])])[0].round(6)
    array([ 6., -2.])
    """
    arrays = [np.array(array, dtype=float) for array in arrays]  # copies, to be moved
    found = [np.zeros_like(array) for array in arrays]
    for array, slope in zip(arrays, found, strict=True):
        for place in np.ndindex(array.shape):
            kept = array[place]
            array[place] = kept + step
            above = loss(*arrays)
            array[place] = kept - step
            slope[place] = (above - loss(*arrays)) / (2 * step)
            array[place] = kept
    return found
