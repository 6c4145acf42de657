"""Results that are off by what numbers of half precision are rounded by.

It is told where it shows in every call that could show it: a right result then has
only numbers that half precision has, too.
"""

from collections.abc import Iterator, Sequence
from math import log10
from typing import Any

import numpy as np

from autograder.checking.comparison import first_difference
from autograder.checking.evidence.clauses import Compared
from autograder.checking.evidence.conditions import numbers_of
from autograder.checking.values import is_one_of

HALF = 2  # bytes per number
DIGITS = (2, 4)  # of float16 and bfloat16, after a few sums
ROUNDED = 1e-6  # of the largest number: what float32 and float64 round by is less
MIN_WRONG = 6  # numbers that show it
AS_RIGHT = (1e-4, 1e-6)  # relative and absolute, as results are compared at most
DECIMALS = 4  # to which numbers are rounded by decimals
ZEROED = 0.1  # share of these that may have become 0: more are cut, not rounded


def half_precision(
    compared: Sequence[Compared], group: Sequence[Compared]
) -> tuple[str, Sequence[Compared]]:
    """Return a clause, and the calls that it holds of: more than half of a group.

    compared : all calls
    group : calls that are wrong in one way
    """
    near = [each for each in group if each.way == "value" and _is_near(each)]
    if 2 * len(near) <= len(group) or not all(map(_shows_nothing, compared)):
        return "", ()
    errors, outwards = list[float](), list[float]()
    n_numbers, n_zeroed, is_cut = 0, 0, True
    for each in near:
        for numbers, right in _leaves(each.call.result.value, each.right.value):
            if not (numbers != right).any():
                continue
            is_cut &= bool((np.round(numbers, DECIMALS) == numbers).all())
            sizes = np.abs(right)
            largest = float(sizes.max()) or 1.0
            n_numbers += int(np.count_nonzero(right))
            n_zeroed += int(((numbers == 0) & (sizes > ROUNDED * largest)).sum())
            off = (numbers - right) / largest
            is_off = np.abs(off) > ROUNDED
            errors += off[is_off].tolist()
            outwards += (off * np.sign(right))[is_off].tolist()
    n_wrong = len(errors)
    if is_cut or n_wrong < MIN_WRONG or 2 * n_wrong < n_numbers:
        return "", ()
    # An epsilon or a factor moves all numbers one way, and rounding moves them both
    # ways: up and down, and also to 0 and away from it.
    shares = [sum(way > 0 for way in ways) / n_wrong for ways in (errors, outwards)]
    digits = round(-log10(max(map(abs, errors))))
    is_rounding = n_zeroed <= ZEROED * n_wrong
    is_rounding = is_rounding and all(0.2 < share < 0.8 for share in shares)
    if not is_rounding or not DIGITS[0] <= digits <= DIGITS[1]:
        return "", ()
    return (
        f"your result is right to about {digits} digits of its largest number only, as "
        "where something is computed in half precision (float16, bfloat16)"
    ), near


def _is_near(each: Compared) -> bool:
    """Decide whether a value is right to the digits of half precision."""
    value, right = each.call.result.value, each.right.value
    return first_difference(value, right, least=HALF) is None


def _shows_nothing(each: Compared) -> bool:
    """Decide whether a call is wrong, or right with numbers that half precision has."""
    if each.way != "right" or each.call.result.kind != "value" or each.least == HALF:
        return True
    with np.errstate(over="ignore"):
        return all(
            np.allclose(right.astype(np.float16), right, *AS_RIGHT)
            for _, right in _leaves(each.right.value, each.right.value)
        )


def _leaves(actual: Any, expected: Any) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Return the finite floats of two values of one form, array by array."""
    numbers, right = numbers_of(actual), numbers_of(expected)
    if numbers is not None and right is not None:
        if right.dtype.kind == "f" and numbers.dtype.kind == "f" and right.size:
            is_finite = np.isfinite(right)
            yield numbers[is_finite].astype(float), right[is_finite].astype(float)
    elif type(expected) is dict:
        for key in expected:
            yield from _leaves(actual[key], expected[key])
    elif is_one_of(expected, (list, tuple)):
        for pair in zip(actual, expected, strict=True):
            yield from _leaves(*pair)
