"""Describe values to a learner: arrays, tensors, numbers and containers in few words.

Nothing here trusts a value: a learner's object may fail to print itself. Sentences
about verdicts are in ``messages`` and ``explain``.
"""

from decimal import Decimal
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from autograder.checking.values import (
    COMPLEX,
    CONTAINERS,
    FLOATS,
    INTEGERS,
    as_array,
    has_numbers,
    is_array,
    is_one_of,
    is_tensor,
    numbers_of,
    unwrapped,
)

LARGEST_SHOWN = 12  # an array with more numbers is described, not printed
LONGEST = 90  # characters of a container's text
LONGEST_TEXT = 200  # characters of an exception's text
UNPRINTABLE = "\N{REPLACEMENT CHARACTER}"
DIGITS = (4, 6, 8, 11, 14, 17, 60)  # tried in turn until two numbers look different

PLAIN_NAMES: dict[type, str] = {
    np.ndarray: "array",
    dict: "dictionary",
    list: "list",
    tuple: "tuple",
    set: "set",
    frozenset: "frozen set",
    str: "text",
    int: "whole number",
    float: "number",
}


def value(thing: Any, digits: int = 4) -> str:
    """Show a value if it is small, else describe it.

    >>> value(np.array([[1.0, 0.5]])), value(np.zeros((2, 5, 4)))
    ('[[1, 0.5]]', 'an array of shape (2, 5, 4)')
    """
    return _value(thing, digits, 0)


def _value(thing: Any, digits: int, depth: int) -> str:
    thing = unwrapped(thing)
    if is_array(thing) or is_tensor(thing):
        return _array(thing, digits)
    if is_one_of(thing, INTEGERS + FLOATS + COMPLEX):
        return number(thing, digits)
    if is_one_of(thing, (bool, np.bool_, type(None))):
        return str(thing)
    if is_one_of(thing, (str, bytes)):
        return _text(thing)
    if not is_one_of(thing, CONTAINERS) or len(thing) > LONGEST // 2 or depth > 2:
        return form(thing)
    shown = _container(thing, digits, depth + 1)
    return shown if len(shown) <= LONGEST else form(thing)


def _container(thing: Any, digits: int, depth: int) -> str:
    if type(thing) is dict:
        pairs = [
            f"{key(name)}: {_value(part, digits, depth)}"
            for name, part in thing.items()
        ]
        return "{" + ", ".join(pairs) + "}"
    shown = [_value(part, digits, depth) for part in thing]
    if type(thing) is list:
        return "[" + ", ".join(shown) + "]"
    if type(thing) is tuple:
        return "(" + ", ".join(shown) + ("," if len(shown) == 1 else "") + ")"
    if not shown:
        return f"an empty {PLAIN_NAMES[type(thing)]}"
    return "{" + ", ".join(sorted(shown)) + "}"  # sorted: a set has no order to show


def key(name: Any) -> str:
    """Show a key of a dictionary: texts in double quotes, as in the docstrings."""
    return f'"{name}"' if type(name) is str and name.isprintable() else value(name)


def number(thing: Any, digits: int = 4) -> str:
    """Show one number: with few digits, but a whole number in full if it is not huge.

    >>> number(-0.123456), number(1048576), number(10**30)
    ('-0.1235', '1048576', '1.000e+30')
    """
    if is_one_of(thing, INTEGERS):
        small = abs(int(thing)) < 10**15
        return str(int(thing)) if small else f"{Decimal(int(thing)):.{digits}g}"
    if is_one_of(thing, (bool, np.bool_)):
        return str(thing)
    return f"{thing:.{digits}g}"


def apart(actual: Any, expected: Any) -> tuple[str, str]:
    """Show two values with as many digits as it takes to see that they differ."""
    for digits in DIGITS:
        came, wanted = value(actual, digits), value(expected, digits)
        if came != wanted:
            break
    return came, wanted


def form(thing: Any) -> str:
    """Say what kind of thing a value is, with its shape or length.

    >>> form([1, 2, 3]), form(np.ones(2, int)), form(None)
    ('a list of length 3', 'an array of shape (2,)', 'None')
    """
    thing = unwrapped(thing)
    if is_array(thing):
        return f"an array of shape {thing.shape}"
    if is_tensor(thing):
        return f"a torch tensor of shape {tuple(thing.shape)}"
    if is_one_of(thing, CONTAINERS):
        return f"a {PLAIN_NAMES[type(thing)]} of length {len(thing)}"
    if is_one_of(thing, (bool, np.bool_)):
        return f"the truth value {thing}"
    if is_one_of(thing, INTEGERS + FLOATS):
        return f"the number {number(thing)}"
    if is_one_of(thing, COMPLEX):
        return f"the complex number {number(thing)}"
    if is_one_of(thing, (str, bytes)):
        return f"the {'text' if type(thing) is str else 'bytes'} {_text(thing)}"
    return "None" if thing is None else _stranger(thing)


def _stranger(thing: Any) -> str:
    """Describe a thing of a type that no exercise deals in."""
    kind = type(thing)
    name = _a(kind.__name__ or "nameless object")
    for base, plain in PLAIN_NAMES.items():
        if issubclass(kind, base):
            return f"{name}, a special kind of {plain}"
    if is_one_of(thing, (FunctionType, BuiltinFunctionType, np.ufunc)):
        return f"the function {thing.__name__}"
    if kind is type:
        return f"the class {thing.__name__}"
    return name


def kind_of(thing: Any) -> str:
    """Name an array or tensor with the kind of its numbers, anything else by its form.

    >>> kind_of(np.ones(2, int))
    'an array of integers'
    """
    if is_array(thing):
        return f"an array of {numbers_of(thing)}"
    if is_tensor(thing):
        dense = has_numbers(thing)
        return f"a torch tensor of {numbers_of(thing)}" if dense else "a sparse tensor"
    return form(thing)


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


def one_line(text: str) -> str:
    """Put a text of any kind into one printable line of bearable length."""
    line = " ".join(text[: 10 * LONGEST_TEXT].split())
    line = "".join(sign if sign.isprintable() else UNPRINTABLE for sign in line)
    return line if len(line) <= LONGEST_TEXT else line[: LONGEST_TEXT - 1] + "…"


def _argument(name: str, given: Any) -> str:
    shown = value(given)
    described = shown.startswith(("a ", "an ", "the "))
    return f"{name} ({shown})" if described else f"{name} = {shown}"


def _array(thing: Any, digits: int) -> str:
    if is_tensor(thing) and not has_numbers(thing):
        return form(thing)
    numbers = as_array(thing)
    if not 0 < numbers.size <= LARGEST_SHOWN or numbers.dtype.kind not in "biufcU":
        return form(thing)
    shown = ("tensor " if is_tensor(thing) else "") + _rows(numbers, digits)
    return shown if len(shown) <= LONGEST_TEXT or digits > 4 else form(thing)


def _rows(numbers: Any, digits: int) -> str:
    """Write an array out; print options, which a learner may change, play no part."""
    if not (is_array(numbers) and numbers.ndim):
        return _value(numbers, digits, 0)
    return "[" + ", ".join(_rows(row, digits) for row in numbers) + "]"


def _text(thing: Any) -> str:
    shown = repr(thing[:LONGEST])
    return shown if len(thing) < LONGEST else shown[:-1] + "…" + shown[-1]


def _a(name: str) -> str:
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"
