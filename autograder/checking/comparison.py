"""Find the first difference between a result and the expected one.

The order is fixed: type, exact shape, finiteness, values. So broadcasting can never
hide a wrong shape, and a NaN can never count as close.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from autograder.checking.values import (
    BOOLEANS,
    COMPLEX,
    CONTAINERS,
    FLOATS,
    INTEGERS,
    MAX_DEPTH,
    as_array,
    bytes_per_number,
    has_numbers,
    is_array,
    is_one_of,
    is_tensor,
    number_kind,
    unwrapped,
)

# Relative tolerance by the bytes of the least precise dtype. A result is a sum of at
# most a few dozen terms, each with an error of a few units in the last place; a
# log-sum-exp around scores of 1e4 loses four more digits (1e4 · 2e-16 = 2e-12).
RELATIVE = {8: 1e-9, 4: 1e-4, 2: 2e-2}
# Absolute tolerance, as a share of the largest expected number: cancellation leaves
# errors of that size in numbers near zero.
ABSOLUTE = {8: 1e-12, 4: 1e-6, 2: 2e-3}
# Relative tolerance for what was computed in float32 from numbers of float64: a few
# dozen roundings of 6e-8 each stay below it. Tighter than between numbers of float32,
# so that 1e-4 written where 1e-5 is right stays visible. The absolute one is a share of
# the largest expected number, also where that is far below 1, as learning rates are;
# only what is 0 but for rounding is compared with 1.
RELATIVE_SINGLE_INSIDE = 1e-5
BUT_FOR_ROUNDING = 1e-9

# What a number counts as, by its type's identity: a metaclass may redefine its hash.
CATEGORIES = {
    id(kind): category
    for category, kinds in (
        ("bool", BOOLEANS),
        ("number", INTEGERS + FLOATS),
        ("complex number", COMPLEX),
    )
    for kind in kinds
}

PLAIN = (bool, int, float, str, type(None))
DEPTH_OF_DATA = 6  # a list that holds itself twice has no end

Kind = Literal["type", "length", "keys", "shape", "precision", "not_finite", "value"]


@dataclass(frozen=True)
class Difference:
    """One difference: its kind, where it is, and both sides there.

    kind : which comparison failed first
    path : keys and indices that lead to the part, empty for the whole result
    actual, expected : the two sides of that part; for "precision", expected is the
        name of the least dtype allowed
    index : of the first wrong entry in that part (an array, or a list of numbers or
        texts)
    wrong, total : how many entries of the part are wrong, of how many
    """

    kind: Kind
    actual: Any
    expected: Any
    path: tuple[Any, ...] = ()
    index: tuple[int, ...] = ()
    wrong: int = 0
    total: int = 0


def first_difference(
    actual: Any,
    expected: Any,
    *,
    values: bool = True,
    least: int = 8,
    single_inside: bool = False,
    exact: bool = False,
) -> Difference | None:
    """Return the first difference between a result and the expected one, or None.

    values : False stops after type, shape and finiteness
    least : bytes per number of the least precise input; a result computed from
        float32 is not held to float64's digits, whatever dtype it is stored in
    single_inside : whether what was computed in float32 from numbers of float64 is
        right, too
    exact : whether rounding is a difference: what has to stay as it is was not computed

    A number that is not finite equals its like, and differs from every finite one.
    Whatever the result is, nothing is raised.

    >>> first_difference(np.ones(3), np.ones((1, 3))).kind
    'shape'
    """
    if _is_same_data(actual, expected):
        return None
    comparison = _Comparison(least, single_inside, exact)
    with np.errstate(all="ignore"):
        difference = _compare_form(actual, expected, comparison)
        if difference is None and values:
            difference = _compare_values(actual, expected, comparison)
    return difference


def _is_same_data(one: Any, other: Any, depth: int = 0) -> bool:
    """Decide quickly whether two values are the same to the bit, as arguments stay.

    A False says nothing: what is of another kind or deeper is compared in full.
    """
    if type(one) is not type(other) or depth > DEPTH_OF_DATA:
        return False
    if type(one) is dict:
        one, other = list(one.items()), list(other.items())
    if is_one_of(one, (list, tuple)):
        pairs = zip(one, other, strict=False)
        same_length = len(one) == len(other)
        return same_length and all(_is_same_data(*pair, depth + 1) for pair in pairs)
    if is_tensor(one) and has_numbers(one) and has_numbers(other):
        if one.dtype is not other.dtype:
            return False
        one, other = as_array(one), as_array(other)
    if is_array(one):
        same_form = one.dtype == other.dtype and one.shape == other.shape
        is_read = same_form and one.dtype.kind in "biufc"
        return is_read and one.tobytes() == other.tobytes()
    return is_one_of(one, PLAIN) and bool(one == other)


class _Comparison(NamedTuple):
    """How precise one comparison is, and how deep inside the value."""

    least: int
    single_inside: bool
    exact: bool = False
    depth: int = 0


def _compare_form(
    actual: Any, expected: Any, comparison: _Comparison
) -> Difference | None:
    """Compare type, length or keys, shape and finiteness, down to the last part."""
    actual, expected = unwrapped(actual), unwrapped(expected)
    ours, theirs = _category(expected), _category(actual)
    # Types are compared by identity: a metaclass may redefine their equality.
    if ours is not theirs and (type(ours) is not str or ours != theirs):
        return Difference("type", actual, expected)
    if ours == "no numbers":  # sparse or quantised: nothing here reads those
        return None if actual is expected else Difference("type", actual, expected)
    if is_one_of(expected, (list, tuple)) and len(actual) != len(expected):
        return Difference("length", actual, expected)
    if type(expected) is dict and not _equal(actual.keys(), expected.keys()):
        return Difference("keys", actual, expected)
    pairs = _paired_parts(actual, expected, comparison)
    if pairs is None:
        return _compare_shape_and_finiteness(actual, expected)
    return _compare_parts(pairs, actual, expected, comparison, _compare_form)


def _compare_values(
    actual: Any, expected: Any, comparison: _Comparison
) -> Difference | None:
    """Compare the values of two things of the same form."""
    actual, expected = unwrapped(actual), unwrapped(expected)
    pairs = _paired_parts(actual, expected, comparison)
    if pairs is not None:
        return _compare_parts(pairs, actual, expected, comparison, _compare_values)
    if is_array(expected) or (is_tensor(expected) and has_numbers(expected)):
        wrong = _unequal_entries(actual, expected, comparison)
        return _in_entries(wrong, "value", actual, expected) if wrong.any() else None
    if _is_number(expected):
        equal = _numbers_agree(actual, expected, comparison)
    else:
        equal = _equal(actual, expected)
    return None if equal else Difference("value", actual, expected)


def _is_number(value: Any) -> bool:
    """Decide whether a value is a number, and neither a boolean nor an array."""
    return CATEGORIES.get(id(type(value))) in ("number", "complex number")


def _category(value: Any) -> Any:
    """Return what must agree on both sides before anything else is compared."""
    if category := CATEGORIES.get(id(type(value))):
        return category
    if is_array(value):
        return f"array of {number_kind(value)}"
    if is_tensor(value):
        return f"tensor of {number_kind(value)}" if has_numbers(value) else "no numbers"
    return type(value)


Pairs = list[tuple[Any, Any, Any]]  # the step to a part, and both sides of it


def _paired_parts(actual: Any, expected: Any, comparison: _Comparison) -> Pairs | None:
    """Pair the parts of two containers of equal form; None if they have no parts."""
    if comparison.depth > MAX_DEPTH:  # a value that holds itself
        return None
    if is_one_of(expected, (list, tuple)):
        pairs = zip(actual, expected, strict=True)
        return [(index, *pair) for index, pair in enumerate(pairs)]
    if type(expected) is dict:
        return [(key, actual[key], part) for key, part in expected.items()]
    return None


def _compare_parts(
    pairs: Pairs, actual: Any, expected: Any, comparison: _Comparison, compare: Any
) -> Difference | None:
    """Return the first difference among parts; a plain list is one part as a whole."""
    plain = type(expected) is list and not any(map(_has_parts, expected))
    inside = comparison._replace(depth=comparison.depth + 1)
    wrong = []
    for step, part, expected_part in pairs:
        difference = compare(part, expected_part, inside)
        if difference and not (plain and difference.kind in ("value", "not_finite")):
            return replace(difference, path=(step, *difference.path))
        if difference:
            wrong.append((step, difference.kind))
    if not wrong:
        return None
    (index, kind), total = wrong[0], len(expected)
    return Difference(kind, actual, expected, (), (index,), len(wrong), total)


def _has_parts(value: Any) -> bool:
    return is_array(value) or is_tensor(value) or is_one_of(value, CONTAINERS)


def _compare_shape_and_finiteness(actual: Any, expected: Any) -> Difference | None:
    """Compare shapes; then find a number that is not finite where it should be."""
    array = is_array(expected) or is_tensor(expected)
    if array and tuple(actual.shape) != tuple(expected.shape):
        return Difference("shape", actual, expected)
    if not (array or _is_number(expected)):
        return None
    wrong = ~_finite(actual) & _finite(expected)
    return _in_entries(wrong, "not_finite", actual, expected) if wrong.any() else None


def _finite(value: Any) -> np.ndarray:
    numbers = as_array(value)
    if numbers.dtype.kind not in "fc":  # whole numbers of any size, texts, objects
        return np.ones(numbers.shape, bool)
    return np.isfinite(numbers)


def _unequal_entries(actual: Any, expected: Any, comparison: _Comparison) -> np.ndarray:
    """Return a boolean array: True where the entries of two arrays differ."""
    ours, theirs = as_array(expected), as_array(actual)
    kinds = theirs.dtype.kind + ours.dtype.kind
    if set(kinds) <= set("biu"):
        return theirs != ours
    if set(kinds) <= set("biufc"):
        return ~_close(theirs, ours, _tolerances(actual, expected, comparison))
    pairs = zip(theirs.ravel().tolist(), ours.ravel().tolist(), strict=True)
    wrong = [
        bool(_compare_form(*pair, comparison) or _compare_values(*pair, comparison))
        for pair in pairs
    ]
    return np.array(wrong, bool).reshape(ours.shape)


def _in_entries(
    wrong: np.ndarray, kind: Kind, actual: Any, expected: Any
) -> Difference:
    index = tuple(int(i) for i in np.argwhere(wrong)[0]) if wrong.ndim else ()
    return Difference(
        kind, actual, expected, (), index, int(wrong.sum()), int(wrong.size)
    )


def _numbers_agree(actual: Any, expected: Any, comparison: _Comparison) -> bool:
    """Compare two numbers: whole ones exactly, however large, others up to rounding."""
    if is_one_of(actual, INTEGERS) and is_one_of(expected, INTEGERS):
        return int(actual) == int(expected)
    kind = complex if is_one_of(expected, COMPLEX) else float
    try:
        pair = np.asarray(kind(actual)), np.asarray(kind(expected))
    except OverflowError:  # a whole number beyond every float
        return False
    return bool(_close(*pair, _tolerances(actual, expected, comparison)))


class _Tolerances(NamedTuple):
    """How far two numbers may be apart.

    absolute : as a share of the largest expected number
    smallest : what that number counts as if it is smaller
    """

    relative: float
    absolute: float
    smallest: float = 1.0


def _tolerances(actual: Any, expected: Any, comparison: _Comparison) -> _Tolerances:
    if comparison.exact:
        return _Tolerances(0.0, 0.0)
    sizes = bytes_per_number(actual), bytes_per_number(expected), comparison.least
    if min(sizes) == 8 and comparison.single_inside:
        return _Tolerances(RELATIVE_SINGLE_INSIDE, ABSOLUTE[4], smallest=0.0)
    return _Tolerances(RELATIVE[min(sizes)], ABSOLUTE[min(sizes)])


def _close(
    actual: np.ndarray, expected: np.ndarray, tolerances: _Tolerances
) -> np.ndarray:
    """Return for each pair of numbers whether they are equal up to rounding."""
    common = np.result_type(actual, expected, float)
    actual = actual.astype(common, copy=False)
    expected = expected.astype(common, copy=False)
    sizes, finite = np.abs(expected), np.isfinite(expected)
    largest = float(sizes.max(initial=0.0, where=finite))
    largest = max(largest, tolerances.smallest) if largest > BUT_FOR_ROUNDING else 1.0
    allowed = tolerances.absolute * largest + tolerances.relative * sizes
    # As np.isclose(…, equal_nan=True), in a third of its time.
    close = (np.abs(actual - expected) <= allowed) & finite
    if close.all():
        return close
    return close | (actual == expected) | ((actual != actual) & (expected != expected))


def _equal(actual: Any, expected: Any) -> bool:
    """Compare with ``==``; an error in the answer means no."""
    if actual is expected:
        return True
    try:
        return bool(actual == expected)
    except Exception:
        return False
