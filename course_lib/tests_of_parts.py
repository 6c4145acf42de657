"""Tests of the Transformer's parts: each gets a function and says whether it is right.

A test returns nothing if the function keeps its contract, and raises ``AssertionError``
if not. What is right is computed here once more, in the plainest way, and compared on
inputs that tell errors apart: all sizes differ, numbers are drawn, and the edges that
the contract allows are among them. pytest collects none of these functions.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

Function = Callable[..., Any]


def test_attention(attention: Function) -> None:
    """Test a function that should do what ``course_lib.attention.attention`` does.

    attention : called as attention(q, k, v), with arrays of at most 4,000 numbers in
        all; returns output and weights, if it returns what it should

    Returns nothing if the function keeps the contract of `attention`, and raises
    AssertionError if it does not. Right ones differ by rounding only, less than 1e-9;
    the errors of broken ones are far larger, on some inputs that the contract allows.
    Source: Myers (1979), The Art of Software Testing, chapter 4.

    >>> from course_lib.attention import attention
    >>> test_attention(attention)
    >>> test_attention(lambda q, k, v: attention(2 * q, k, v))
    Traceback (most recent call last):
    AssertionError: the weights of 5 queries and 7 keys are wrong
    """
    rng = np.random.default_rng(15)

    def is_close(result: Any, expected: np.ndarray) -> bool:
        same_shape = np.shape(result) == expected.shape
        return same_shape and np.allclose(result, expected, rtol=1e-9, atol=1e-9)

    # Sizes that all differ, a batch, one query, scores of thousands, whole numbers.
    for leading, n, size in [((), 5, 1), ((2, 3), 5, 1), ((), 1, 1), ((), 5, 1000)]:
        q, k = (
            size * rng.normal(size=(*leading, n, 4)),
            rng.normal(size=(*leading, 7, 4)),
        )
        v = rng.integers(-9, 10, size=(*leading, 7, 6))
        scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(4)
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        expected = powers / powers.sum(axis=-1, keepdims=True)
        output, weights = attention(q, k, v)
        assert is_close(weights, expected), (
            f"the weights of {n} queries and 7 keys are wrong"
        )
        assert is_close(output, expected @ v), "the output is not the mix of the values"
