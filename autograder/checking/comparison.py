"""Find the first thing in which a result differs from what was expected.

The order is fixed: type, exact shape, finiteness, values. So broadcasting can never
hide a wrong shape and a NaN can never count as close. What a value is stands in
``arrays``, how close is close in ``closeness``, the words in ``explain``.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from autograder.checking.values import (
    BOOLEANS,
    COMPLEX,
    CONTAINERS,
    DEEPEST,
    FLOATS,
    INTEGERS,
    as_array,
    bytes_per_number,
    has_numbers,
    is_array,
    is_one_of,
    is_tensor,
    numbers_of,
    unwrapped,
)

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


Kind = Literal["type", "length", "keys", "shape", "precision", "not_finite", "value"]
Parts = list[tuple[Any, Any, Any]]  # the step to a part, and both sides of it


@dataclass(frozen=True)
class Difference:
    """One difference: its kind, the place in the result, and both sides there.

    kind : which comparison failed first
    path : keys and indices that lead to the part, empty for the whole result
    actual, expected : the two sides of that part; for "precision", expected is the
        name of the least dtype allowed
    index : where in that part (an array, or a list of numbers or texts) the first
        wrong entry stands
    wrong, total : how many entries of the part are wrong, of how many
    """

    kind: Kind
    actual: Any
    expected: Any
    path: tuple[Any, ...] = ()
    index: tuple[int, ...] = ()
    wrong: int = 0
    total: int = 0


@dataclass(frozen=True)
class _Terms:
    """How strict one comparison is, and how deep inside a value it stands."""

    least: int
    depth: int = 0


def first_difference(
    actual: Any,
    expected: Any,
    *,
    values: bool = True,
    least: int = 8,
) -> Difference | None:
    """Give the first difference between a result and the expected one, or None.

    values : False stops after type, shape and finiteness
    least : bytes per number of the least precise input; a result computed from
        float32 is not held to float64's digits, whatever dtype it is stored in

    A number that is not finite equals its like, and differs from every finite one.
    Whatever the result is, this gives an answer and raises nothing.

    >>> first_difference(np.ones(3), np.ones((1, 3))).kind
    'shape'
    """
    terms = _Terms(least)
    with np.errstate(all="ignore"):
        found = _form(actual, expected, terms)
        if found is None and values:
            found = _value(actual, expected, terms)
    return found


def _category(value: Any) -> Any:
    """Give what must agree on both sides before anything else is compared."""
    if is_one_of(value, BOOLEANS):
        return "bool"
    if is_one_of(value, INTEGERS + FLOATS):
        return "number"
    if is_one_of(value, COMPLEX):
        return "complex number"
    if is_array(value):
        return f"array of {numbers_of(value)}"
    if is_tensor(value):
        return f"tensor of {numbers_of(value)}" if has_numbers(value) else "no numbers"
    return type(value)


def _parts(actual: Any, expected: Any, terms: _Terms) -> Parts | None:
    """Pair the parts of two containers of equal form; None if they have no parts."""
    if terms.depth > DEEPEST:  # a value that holds itself
        return None
    if is_one_of(expected, (list, tuple)):
        pairs = zip(actual, expected, strict=True)
        return [(place, *pair) for place, pair in enumerate(pairs)]
    if type(expected) is dict:
        return [(key, actual[key], part) for key, part in expected.items()]
    return None


def _form(actual: Any, expected: Any, terms: _Terms) -> Difference | None:
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
    if type(expected) is dict and not _equal(set(actual), set(expected)):
        return Difference("keys", actual, expected)
    pairs = _parts(actual, expected, terms)
    if pairs is None:
        return _broken_number(actual, expected)
    return _first_inside(pairs, actual, expected, terms, _form)


def _value(actual: Any, expected: Any, terms: _Terms) -> Difference | None:
    """Compare the values of two things of the same form."""
    actual, expected = unwrapped(actual), unwrapped(expected)
    pairs = _parts(actual, expected, terms)
    if pairs is not None:
        return _first_inside(pairs, actual, expected, terms, _value)
    if is_array(expected) or (is_tensor(expected) and has_numbers(expected)):
        far = _far(actual, expected, terms)
        return _at(far, "value", actual, expected) if far.any() else None
    if is_one_of(expected, INTEGERS + FLOATS + COMPLEX):
        equal = numbers_agree(actual, expected, terms.least)
    else:
        equal = _equal(actual, expected)
    return None if equal else Difference("value", actual, expected)


def _first_inside(
    pairs: Parts, actual: Any, expected: Any, terms: _Terms, compare: Any
) -> Difference | None:
    """Give the first difference among parts; a plain list is one part as a whole."""
    plain = type(expected) is list and not any(map(_has_parts, expected))
    inside = replace(terms, depth=terms.depth + 1)
    wrong = []
    for step, one, other in pairs:
        found = compare(one, other, inside)
        if found and not (plain and found.kind in ("value", "not_finite")):
            return replace(found, path=(step, *found.path))
        if found:
            wrong.append((step, found.kind))
    if not wrong:
        return None
    (place, kind), total = wrong[0], len(expected)
    return Difference(kind, actual, expected, (), (place,), len(wrong), total)


def _has_parts(value: Any) -> bool:
    return is_array(value) or is_tensor(value) or is_one_of(value, CONTAINERS)


def _broken_number(actual: Any, expected: Any) -> Difference | None:
    """Compare shapes; then find a number that is not finite where it should be."""
    array = is_array(expected) or is_tensor(expected)
    if array and tuple(actual.shape) != tuple(expected.shape):
        return Difference("shape", actual, expected)
    number = is_one_of(expected, INTEGERS + FLOATS + COMPLEX)
    if not (array or number):
        return None
    broken = ~_finite(actual) & _finite(expected)
    return _at(broken, "not_finite", actual, expected) if broken.any() else None


def _finite(value: Any) -> np.ndarray:
    numbers = as_array(value)
    if numbers.dtype.kind not in "fc":  # whole numbers of any size, texts, objects
        return np.ones(numbers.shape, bool)
    return np.isfinite(numbers)


def _far(actual: Any, expected: Any, terms: _Terms) -> np.ndarray:
    """Say for each entry of two arrays of one shape whether they differ."""
    numbers, wanted = as_array(actual), as_array(expected)
    kinds = numbers.dtype.kind + wanted.dtype.kind
    if set(kinds) <= set("biu"):
        return numbers != wanted
    if set(kinds) <= set("biufc"):
        return ~close(numbers, wanted, precision(actual, expected, terms.least))
    pairs = zip(numbers.ravel().tolist(), wanted.ravel().tolist(), strict=True)
    far = [bool(_form(*pair, terms) or _value(*pair, terms)) for pair in pairs]
    return np.array(far, bool).reshape(wanted.shape)


def _equal(actual: Any, expected: Any) -> bool:
    """Ask two things whether they are equal; an error in their answer means no."""
    if actual is expected:
        return True
    try:
        return bool(actual == expected)
    except Exception:
        return False


def _at(wrong: np.ndarray, kind: Kind, actual: Any, expected: Any) -> Difference:
    index = tuple(int(i) for i in np.argwhere(wrong)[0]) if wrong.ndim else ()
    return Difference(
        kind, actual, expected, (), index, int(wrong.sum()), int(wrong.size)
    )


# MERGED autograder.closeness: Say whether numbers are equal up to rounding. Shapes and types are ``compare``'s.
