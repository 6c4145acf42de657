"""Say whether numbers are equal up to rounding. Shapes and types are ``compare``'s."""

from typing import Any

import numpy as np

from autograder.arrays import COMPLEX, INTEGERS, bytes_per_number, is_one_of

# Relative tolerance by the least precise dtype in the comparison. A result is a sum of
# at most a few dozen terms, each with an error of a few units in the last place; a
# log-sum-exp around scores of 1e4 loses four more digits (1e4 · 2e-16 = 2e-12). The
# smallest mistake that must be seen, 1e-8 added to a denominator, stays visible.
RELATIVE = {8: 1e-9, 4: 1e-4, 2: 2e-2}
# Absolute tolerance, as a share of the largest expected number: cancellation leaves
# errors of that size in numbers near zero.
ABSOLUTE = {8: 1e-12, 4: 1e-6, 2: 2e-3}


def precision(actual: Any, expected: Any, least: int) -> int:
    """Give the bytes per number that a comparison of these two may rely on."""
    return min(bytes_per_number(actual), bytes_per_number(expected), least)


def close(numbers: np.ndarray, wanted: np.ndarray, size: int) -> np.ndarray:
    """Say for each of two arrays' numbers whether they are equal up to rounding."""
    common = np.result_type(numbers, wanted, float)
    numbers, wanted = numbers.astype(common), wanted.astype(common)
    finite = np.abs(wanted[np.isfinite(wanted)])
    largest = max(1.0, float(finite.max())) if finite.size else 1.0
    absolute = ABSOLUTE[size] * largest
    return np.isclose(numbers, wanted, RELATIVE[size], absolute, equal_nan=True)


def numbers_agree(actual: Any, expected: Any, least: int) -> bool:
    """Compare two numbers: whole ones exactly, however large, others closely."""
    if is_one_of(actual, INTEGERS) and is_one_of(expected, INTEGERS):
        return int(actual) == int(expected)
    kind = complex if is_one_of(expected, COMPLEX) else float
    try:
        numbers, wanted = np.asarray(kind(actual)), np.asarray(kind(expected))
    except OverflowError:  # a whole number beyond every float
        return False
    return bool(close(numbers, wanted, precision(actual, expected, least)))
