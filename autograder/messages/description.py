"""Show values to a learner: arrays, tensors, numbers and containers in few words.

Nothing here trusts a value: a learner's object may fail to print itself.
"""

from decimal import Decimal
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from autograder.checking.call import Call
from autograder.checking.values import (
    COMPLEX,
    CONTAINERS,
    FLOATS,
    INTEGERS,
    as_array,
    dtype_name,
    has_numbers,
    is_array,
    is_one_of,
    is_tensor,
    number_kind,
    unwrapped,
)

MAX_NUMBERS = 12  # an array with more numbers is described, not printed
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
    int: "integer",
    float: "number",
}


def show_value(value: Any, digits: int = 4) -> str:
    """Show a value if it is small, else describe it.

    >>> show_value(np.array([[1.0, 0.5]])), show_value(np.zeros((2, 5, 4)))
    ('[[1, 0.5]]', 'an array of shape (2, 5, 4)')
    """
    return _value(value, digits, 0)


def _value(value: Any, digits: int, depth: int) -> str:
    value = unwrapped(value)
    if is_array(value) or is_tensor(value):
        return _array(value, digits)
    if is_one_of(value, INTEGERS + FLOATS + COMPLEX):
        return show_number(value, digits)
    if is_one_of(value, (bool, np.bool_, type(None))):
        return str(value)
    if is_one_of(value, (str, bytes)):
        return _text(value)
    if not is_one_of(value, CONTAINERS) or len(value) > LONGEST // 2 or depth > 2:
        return describe(value)
    text = _container(value, digits, depth + 1)
    return text if len(text) <= LONGEST else describe(value)


def _container(value: Any, digits: int, depth: int) -> str:
    """Write a container out, at least until it is too long to be shown."""
    parts: list[str] = []
    for part in value:
        if sum(map(len, parts)) > LONGEST:
            break
        text = _value(value[part] if type(value) is dict else part, digits, depth)
        parts.append(f"{show_key(part)}: {text}" if type(value) is dict else text)
    if type(value) is dict:
        return "{" + ", ".join(parts) + "}"
    if type(value) is list:
        return "[" + ", ".join(parts) + "]"
    if type(value) is tuple:
        return "(" + ", ".join(parts) + ("," if len(parts) == 1 else "") + ")"
    if not parts:
        return f"an empty {PLAIN_NAMES[type(value)]}"
    return "{" + ", ".join(sorted(parts)) + "}"  # sorted: a set has no order to show


def _array(value: Any, digits: int) -> str:
    if is_tensor(value) and not has_numbers(value):
        return describe(value)
    numbers = as_array(value)
    if not 0 < numbers.size <= MAX_NUMBERS or numbers.dtype.kind not in "biufcU":
        return describe(value)
    text = ("tensor " if is_tensor(value) else "") + _rows(numbers, digits)
    return text if len(text) <= LONGEST_TEXT or digits > 4 else describe(value)


def _rows(numbers: Any, digits: int) -> str:
    """Write an array out; print options, which a learner may change, play no part."""
    if not (is_array(numbers) and numbers.ndim):
        return _value(numbers, digits, 0)
    return "[" + ", ".join(_rows(row, digits) for row in numbers) + "]"


def _text(value: Any) -> str:
    text = repr(value[:LONGEST])
    return text if len(value) < LONGEST else text[:-1] + "…" + text[-1]


def show_key(key: Any) -> str:
    """Show a key of a dictionary: texts in double quotes, as in the docstrings."""
    if type(key) is str and len(key) <= LONGEST and key.isprintable():
        return f'"{key}"'
    return show_value(key)


def show_number(value: Any, digits: int = 4) -> str:
    """Show one number: with few digits, but up to its point in full if it is not huge.

    >>> show_number(-0.123456), show_number(1048576), show_number(10**30)
    ('-0.1235', '1048576', '1.000e+30')
    >>> show_number(1e6), show_number(12345.678), show_number(1e30)
    ('1000000', '12346', '1e+30')
    """
    if is_one_of(value, INTEGERS):
        small = abs(int(value)) < 10**15
        return str(int(value)) if small else f"{Decimal(int(value)):.{digits}g}"
    if is_one_of(value, (bool, np.bool_)):
        return str(value)
    with np.errstate(all="ignore"):  # a long double may be beyond every float
        text = f"{value:.{digits}g}"
        large = "e+" in text and is_one_of(value, FLOATS) and abs(value) < 10**15
        return f"{value:.0f}" if large else text


def show_apart(actual: Any, expected: Any) -> tuple[str, str]:
    """Show two values with as many digits as it takes to see that they differ."""
    for digits in DIGITS:
        pair = show_value(actual, digits), show_value(expected, digits)
        if pair[0] != pair[1]:
            break
    return pair


def describe(value: Any) -> str:
    """Name the type of a value, with its shape or length.

    >>> describe([1, 2, 3]), describe(np.ones(2, int)), describe(None)
    ('a list of length 3', 'an array of shape (2,)', 'None')
    """
    value = unwrapped(value)
    if is_array(value):
        return f"an array of shape {value.shape}"
    if is_tensor(value):
        if value.ndim == 0 and has_numbers(value):
            return (
                f"a torch tensor of the one number {show_number(as_array(value)[()])}"
            )
        return f"a torch tensor of shape {tuple(value.shape)}"
    if is_one_of(value, CONTAINERS):
        return f"a {PLAIN_NAMES[type(value)]} of length {len(value)}"
    if is_one_of(value, (bool, np.bool_)):
        return f"the truth value {value}"
    if is_one_of(value, INTEGERS + FLOATS):
        return f"the number {show_number(value)}"
    if is_one_of(value, COMPLEX):
        return f"the complex number {show_number(value)}"
    if is_one_of(value, (str, bytes)):
        return f"the {'text' if type(value) is str else 'bytes'} {_text(value)}"
    return "None" if value is None else _describe_unknown(value)


def _describe_unknown(value: Any) -> str:
    """Describe a value of a type that no exercise deals in."""
    kind = type(value)
    name = kind.__name__ or "nameless object"
    name = f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"
    for base, plain in PLAIN_NAMES.items():
        if issubclass(kind, base):
            return f"{name}, a special kind of {plain}"
    if is_one_of(value, (FunctionType, BuiltinFunctionType, np.ufunc)):
        return f"the function {value.__name__}"
    if kind is type:
        return f"the class {value.__name__}"
    return name


def describe_kind(value: Any) -> str:
    """Describe an array or tensor by the kind of its numbers, others as ``describe``.

    >>> describe_kind(np.ones(2, int))
    'an array of integers'
    """
    if is_array(value):
        return f"an array of {number_kind(value)}"
    if is_tensor(value):
        if has_numbers(value):
            return f"a torch tensor of {number_kind(value)}"
        dense = str(value.layout) == "torch.strided"
        return f"a torch tensor of {dtype_name(value)}" if dense else "a sparse tensor"
    return describe(value)


def show_arguments(
    names: tuple[str, ...], call: Call, *, with_floats: bool = False
) -> str:
    """Show the arguments of a call by name: "x = [1, 2] and axis = 0".

    with_floats : whether to say of an array that is shown without a point that it has
        floats: "x = [1, 2] (floats)"
    """
    named = [*zip(names, call.arguments, strict=False), *call.keywords.items()]
    parts = [
        _show_argument(name, value) + (_floats_of(value) if with_floats else "")
        for name, value in named
    ]
    if len(parts) < 2:
        return "".join(parts)
    return ", ".join(parts[:-1]) + " and " + parts[-1]


def _floats_of(value: Any) -> str:
    is_shown_whole = is_array(value) and not set(".a") & set(show_value(value))
    return " (floats)" if is_shown_whole and number_kind(value) == "floats" else ""


def _show_argument(name: str, value: Any) -> str:
    text = show_value(value)
    is_description = text.startswith(("a ", "an ", "the "))
    return f"{name} ({text})" if is_description else f"{name} = {text}"


def one_line(text: str) -> str:
    """Return a text of any kind as one printable line of bearable length."""
    line = " ".join(text[: 10 * LONGEST_TEXT].split())
    line = "".join(c if c.isprintable() else UNPRINTABLE for c in line)
    return line if len(line) <= LONGEST_TEXT else line[: LONGEST_TEXT - 1] + "…"
