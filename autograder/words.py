"""Describe values to a learner: arrays, tensors, numbers and containers in few words.

Sentences about verdicts are in ``messages``.
"""

from typing import Any

import numpy as np

from autograder.compare import as_array, is_tensor

LARGEST_SHOWN = 12  # an array with more numbers is described, not printed
LONGEST = 90  # characters of a container's text


def value(thing: Any, digits: int = 4) -> str:
    """Show a value if it is small, else describe it.

    >>> value(np.array([[1.0, 0.5]])), value(np.zeros((2, 5, 4)))
    ('[[1, 0.5]]', 'an array of shape (2, 5, 4)')
    """
    if isinstance(thing, np.ndarray) or is_tensor(thing):
        numbers = as_array(thing)
        if 0 < numbers.size <= LARGEST_SHOWN and numbers.dtype.kind in "biuf":
            return ("tensor " if is_tensor(thing) else "") + _digits(numbers, digits)
        return form(thing)
    if isinstance(thing, bool | np.bool_):
        return str(bool(thing))
    if isinstance(thing, int | float | np.integer | np.floating):
        return number(thing, digits)
    if type(thing) in (list, tuple):
        inside = ", ".join(value(part, digits) for part in thing)
        left, right = "[]" if isinstance(thing, list) else "()"
        return _short(f"{left}{inside}{right}", thing)
    if type(thing) is dict:
        inside = ", ".join(f'"{k}": {value(v, digits)}' for k, v in thing.items())
        return _short(f"{{{inside}}}", thing)
    if isinstance(thing, str | bytes | set | frozenset) or thing is None:
        return _short(repr(thing), thing)
    return form(thing)


def number(thing: Any, digits: int = 4) -> str:
    """Show one number with few digits, and with the minus sign of the text.

    >>> number(-0.123456)
    '-0.1235'
    """
    return f"{thing:.{digits}g}" if np.isfinite(thing) else str(float(thing))


def form(thing: Any) -> str:
    """Say what kind of thing a value is, with its shape or length.

    >>> form([1, 2, 3]), form(np.ones(2, int)), form(None)
    ('a list of length 3', 'an array of shape (2,)', 'None')
    """
    if thing is None:
        return "None"
    if isinstance(thing, np.ndarray):
        special = "" if type(thing) is np.ndarray else f" ({type(thing).__name__})"
        return f"an array of shape {thing.shape}{special}"
    if is_tensor(thing):
        return f"a torch tensor of shape {tuple(thing.shape)}"
    if isinstance(thing, list | tuple | dict | set):
        name = {"list": "list", "tuple": "tuple", "dict": "dictionary", "set": "set"}
        kind = name.get(type(thing).__name__, type(thing).__name__)
        return f"a {kind} of length {len(thing)}"
    if isinstance(thing, bool | np.bool_):
        return f"the truth value {bool(thing)}"
    if isinstance(thing, int | float | np.integer | np.floating):
        return f"the number {number(thing)}"
    if isinstance(thing, str):
        return f"the text {_short(repr(thing), thing)}"
    if callable(thing):
        return f"a function ({getattr(thing, '__name__', type(thing).__name__)})"
    article = "an" if type(thing).__name__[0].lower() in "aeiou" else "a"
    return f"{article} {type(thing).__name__}"


def numbers_of(thing: Any) -> str:
    """Name the kind of numbers in an array: floats, integers, booleans or objects."""
    kind = as_array(thing).dtype.kind
    names = {"f": "floats", "i": "integers", "u": "integers", "b": "booleans"}
    return {**names, "c": "complex numbers"}.get(kind, "objects")


def arguments(names: tuple[str, ...], call: Any) -> str:
    """Show the arguments of a call by name: "x = [1, 2] and axis = 0"."""
    shown = [
        _argument(name, given)
        for name, given in zip(names, call.arguments, strict=False)
    ]
    shown += [_argument(name, given) for name, given in call.keywords.items()]
    if len(shown) < 2:
        return "".join(shown)
    return ", ".join(shown[:-1]) + " and " + shown[-1]


def _argument(name: str, given: Any) -> str:
    shown = value(given)
    return f"{name} ({shown})" if shown.startswith("a") else f"{name} = {shown}"


def _digits(numbers: np.ndarray, digits: int) -> str:
    text = np.array2string(
        numbers,
        separator=", ",
        threshold=LARGEST_SHOWN,
        max_line_width=10_000,
        formatter={"all": lambda x: number(x, digits)},
    )
    return " ".join(text.split()).replace("[ ", "[")


def _short(text: str, thing: Any) -> str:
    if len(text) <= LONGEST:
        return text
    if isinstance(thing, str):
        return text[: LONGEST - 1] + "…'"
    return form(thing)
