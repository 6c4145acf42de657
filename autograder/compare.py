"""Find the first thing in which a result differs from what was expected.

The order is fixed: type, exact shape, finiteness, values. So broadcasting can never
hide a wrong shape and a NaN can never count as close. Words are in ``messages``.
"""

import sys
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Kind = Literal["type", "length", "keys", "shape", "precision", "not_finite", "value"]

# Relative tolerance by the least precise dtype in the comparison. A result is a sum of
# at most a few dozen terms, each with an error of a few units in the last place; a
# log-sum-exp around scores of 1e4 loses four more digits (1e4 · 2e-16 = 2e-12). The
# smallest mistake that must be seen, 1e-8 added to a denominator, stays visible.
RELATIVE = {8: 1e-9, 4: 1e-4, 2: 2e-2}
# Absolute tolerance, as a share of the largest expected number: cancellation leaves
# errors of that size in numbers near zero.
ABSOLUTE = {8: 1e-12, 4: 1e-6, 2: 2e-3}


@dataclass(frozen=True)
class Difference:
    """One difference: its kind, the place in the result, and both sides there.

    kind : which comparison failed first
    path : keys and indices that lead to the part, empty for the whole result
    actual, expected : the two sides of that part
    index : for numbers in an array, where the first wrong one stands
    wrong, total : how many numbers differ, of how many
    """

    kind: Kind
    actual: Any
    expected: Any
    path: tuple[Any, ...] = ()
    index: tuple[int, ...] = ()
    wrong: int = 0
    total: int = 0


def is_tensor(value: Any) -> bool:
    """Say whether a value is exactly a torch tensor, without importing torch."""
    torch = sys.modules.get("torch")
    return torch is not None and type(value) in (torch.Tensor, torch.nn.Parameter)


def as_array(value: Any) -> np.ndarray:
    """Give the numbers of an array, tensor or number as a NumPy array."""
    if is_tensor(value):
        value = value.detach().cpu()
        if value.is_floating_point() and value.element_size() < 4:  # bfloat16 too
            value = value.float()
        return value.numpy()
    return np.asarray(value)


def bytes_per_number(value: Any) -> int:
    """Give the bytes per floating-point number; 8 for anything that is not floating."""
    if is_tensor(value):
        return value.element_size() if value.is_floating_point() else 8
    dtype = getattr(value, "dtype", None)
    if dtype is None or dtype.kind not in "fc":
        return 8
    return min(dtype.itemsize // (2 if dtype.kind == "c" else 1), 8)


def _category(value: Any) -> str:
    """Name the type in the words that must agree on both sides."""
    if isinstance(value, bool | np.bool_):
        return "bool"
    if isinstance(value, int | float | np.integer | np.floating):
        return "number"
    if type(value) is np.ndarray:
        return f"array of {_numbers(value.dtype.kind)}"
    if is_tensor(value):
        return f"tensor of {_numbers(as_array(value).dtype.kind)}"
    return type(value).__name__


def _numbers(kind: str) -> str:
    names = {"f": "floats", "i": "integers", "u": "integers", "b": "booleans"}
    return names.get(kind, f"kind {kind}")


def difference(
    actual: Any, expected: Any, *, values: bool = True, non_finite_equal: bool = False
) -> Difference | None:
    """Give the first difference between a result and the expected one, or None.

    values : False stops after type, shape and finiteness
    non_finite_equal : True lets NaN equal NaN and inf equal inf (for replays of wrong
        answers); otherwise a number that is not finite differs from a finite one

    >>> difference(np.ones(3), np.ones((1, 3))).kind
    'shape'
    """
    if _category(actual) != _category(expected):
        return Difference("type", actual, expected)
    if isinstance(expected, list | tuple):
        if len(actual) != len(expected):
            return Difference("length", actual, expected)
        pairs = [((i,), actual[i], part) for i, part in enumerate(expected)]
    elif isinstance(expected, dict):
        if set(actual) != set(expected):
            return Difference("keys", actual, expected)
        pairs = [((key,), actual[key], part) for key, part in expected.items()]
    elif type(expected) is np.ndarray or is_tensor(expected):
        return _array_difference(actual, expected, values, non_finite_equal)
    elif isinstance(expected, int | float | np.integer | np.floating):
        return _array_difference(actual, expected, values, non_finite_equal)
    else:
        equal = not values or actual == expected
        return None if equal else Difference("value", actual, expected)
    return _first_inside(pairs, values, non_finite_equal)


def _first_inside(
    pairs: list[tuple[tuple[Any, ...], Any, Any]], values: bool, non_finite_equal: bool
) -> Difference | None:
    """Give the first difference among parts: form in all parts before any value."""
    for with_values in (False, True) if values else (False,):
        for step, actual, expected in pairs:
            found = difference(
                actual,
                expected,
                values=with_values,
                non_finite_equal=non_finite_equal,
            )
            if found:
                return Difference(
                    found.kind,
                    found.actual,
                    found.expected,
                    step + found.path,
                    found.index,
                    found.wrong,
                    found.total,
                )
    return None


def _array_difference(
    actual: Any, expected: Any, values: bool, non_finite_equal: bool
) -> Difference | None:
    """Compare two arrays, tensors or numbers of one category."""
    numbers, wanted = as_array(actual), as_array(expected)
    if numbers.shape != wanted.shape:
        return Difference("shape", actual, expected)
    if not non_finite_equal:
        broken = ~np.isfinite(numbers) & np.isfinite(wanted)
        if broken.any():
            return _at(broken, "not_finite", actual, expected)
    if not values:
        return None
    if numbers.dtype.kind in "biu" and wanted.dtype.kind in "biu":
        far = numbers != wanted
    else:
        size = min(bytes_per_number(actual), bytes_per_number(expected))
        far = ~_close(numbers.astype(float), wanted.astype(float), size)
    return _at(far, "value", actual, expected) if far.any() else None


def _close(numbers: np.ndarray, wanted: np.ndarray, size: int) -> np.ndarray:
    finite = np.abs(wanted[np.isfinite(wanted)])
    largest = max(1.0, float(finite.max())) if finite.size else 1.0
    return np.isclose(
        numbers,
        wanted,
        rtol=RELATIVE[size],
        atol=ABSOLUTE[size] * largest,
        equal_nan=True,
    )


def _at(wrong: np.ndarray, kind: Kind, actual: Any, expected: Any) -> Difference:
    index = tuple(int(i) for i in np.argwhere(wrong)[0]) if wrong.ndim else ()
    return Difference(
        kind, actual, expected, (), index, int(wrong.sum()), int(wrong.size)
    )
