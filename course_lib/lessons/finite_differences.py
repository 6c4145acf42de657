"""Numerical gradients (lesson 02): move each number a little, and measure the loss.

Slow and always right to about six digits: good for checking derivatives, not for
training.
"""

from collections.abc import Callable, Sequence

import numpy as np

from course_lib import arguments


def numerical_gradients(
    loss: Callable[..., float], arrays: Sequence[np.ndarray], step: float = 1e-5
) -> list[np.ndarray]:
    """Measure how a loss moves with each number of its arguments.

    loss : takes as many arrays as there are, returns one number
    arrays : any shapes, floats; they are not changed
    step : how far a number is moved, to both sides

    Returns one gradient for each argument, in its shape. Its numbers are off by about
    step² times the third derivative, or by what rounding does to the loss, 1e-16
    divided by step: the default makes both small.
    Source: Goodfellow, Bengio and Courville (2016), Deep Learning, section 11.5
    ("centered difference").

    >>> (gradient,) = numerical_gradients(lambda a: float((a**2).sum()), [[3.0, -1.0]])
    >>> gradient.round(6)
    array([ 6., -2.])
    """
    step = arguments.positive("step", step)
    # Copies, to be moved.
    arrays = [np.array(arguments.floats("arrays (...)", a), float) for a in arrays]
    gradients = [np.zeros_like(array) for array in arrays]
    for array, gradient in zip(arrays, gradients, strict=True):
        for index in np.ndindex(array.shape):
            original = array[index]
            array[index] = original + step
            above = loss(*arrays)
            array[index] = original - step
            gradient[index] = (above - loss(*arrays)) / (2 * step)
            array[index] = original
    return gradients
