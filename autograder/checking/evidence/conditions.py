"""What the calls that fail have in common, and no right call has.

A condition is told only if it separates the failing calls from the right ones exactly.
Of several, the first in the order of ``PLAIN`` is told, the plainest. Where all failing
calls are of one form, or all right ones, several may be coincidences: there one is
told only if no other family has one that fits. So is one that is not plain. Where most
calls fail, the few right ones are often right by chance: there only ``BROAD`` ones are
told.
"""

import functools
import inspect
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from autograder.checking.call import Call
from autograder.checking.exercise import Exercise, Function
from autograder.checking.values import (
    BOOLEANS,
    FLOATS,
    INTEGERS,
    as_array,
    has_numbers,
    is_array,
    is_one_of,
    is_tensor,
)

# In a docstring: ``q : (..., n, d_k), one query per row``.
SHAPE = re.compile(r"^(\w+) : \(((?:\.\.\.|\w[\w ·]*)(?:, \w[\w ·]*)*),?\)", re.M)
LARGE = 100  # a number beyond it is an extreme one
LONGEST = 100_000  # numbers or entries that are looked at in one argument

PLAIN = (
    "error",  # the call asks for an exception
    "batch",
    "option",
    "mask",
    "empty",
    "one",
    "equal sizes",
    "numbers",  # whole numbers, float32, booleans
    "type",  # list, tuple, tensor
    "large",
    "not finite",
    "text",
    "repeated",
)
FAMILIES = (*PLAIN, "sign", "zero", "odd", "axes")
BROAD = {"error", "batch", "option", "mask", "equal sizes", "type"}


class Feature(NamedTuple):
    """Something that holds for a call: its family, and the words after "calls"."""

    family: str
    text: str


def condition(
    exercise: Exercise,
    calls: Sequence[Call],
    fails: Sequence[bool],
    asked: Sequence[str] = (),
    is_confirmed: Callable[[str], bool] = lambda _: True,
) -> str:
    """Return what separates the failing calls from the right ones, or "".

    It goes after "calls": "with a batch in front", "where n = 1".

    asked : of each call, the exception that is asked for ("a `ValueError`"), "" if none
    is_confirmed : whether a condition holds of calls that are drawn to tell it apart
    """
    if all(fails) or not any(fails):
        return ""
    arguments = [named_arguments(exercise, call) for call in calls]
    held = _held(exercise, arguments, asked)
    failing = [number for number, failed in enumerate(fails) if failed]
    fitting = [feature for feature in held if held[feature] == failing]
    fitting.sort(key=lambda each: FAMILIES.index(each.family))
    if len(failing) > len(calls) / 2:
        fitting = [each for each in fitting if each.family in BROAD]
    if not any(each.family == "error" for each in fitting):
        fitting = [each for each in fitting if is_confirmed(each.text)]
    # Each pair of sizes is a rival to the others.
    families = {
        each.text if each.family == "equal sizes" else each.family for each in fitting
    }
    forms: tuple[set[Any], set[Any]] = set(), set()
    for named, failed in zip(arguments, fails, strict=True):
        forms[failed].add(_form(named))
    is_rare = min(map(len, forms)) == 1
    if "error" in families:  # whatever else those calls have in common
        return fitting[0].text
    if "batch" in families:  # more axes go with it
        families.discard("axes")
    if not families or (
        len(families) > 1 and (is_rare or fitting[0].family not in PLAIN)
    ):
        return ""
    return fitting[0].text


def _held(
    exercise: Exercise, arguments: Sequence[dict[str, Any]], asked: Sequence[str]
) -> dict[Feature, list[int]]:
    """Return by feature the numbers of the calls that have it."""
    least: dict[str, int] = {}
    for name, value in itertools.chain(*(each.items() for each in arguments)):
        if (numbers := numbers_of(value)) is not None and numbers.ndim:
            least[name] = min(least.get(name, numbers.ndim), numbers.ndim)
    held: dict[Feature, list[int]] = {}
    for number, named in enumerate(arguments):
        features = dict.fromkeys(_features(exercise, named, least))
        if asked and asked[number]:
            features[Feature("error", f"where {asked[number]} is asked for")] = None
        for feature in features:
            held.setdefault(feature, []).append(number)
    return held


def named_arguments(exercise: Exercise, call: Call) -> dict[str, Any]:
    """Return the arguments of a call by name."""
    names = exercise.argument_names(len(call.arguments))
    return dict(zip(names, call.arguments, strict=False)) | call.keywords


def numbers_of(value: Any) -> np.ndarray | None:
    """Return the numbers or booleans of a value as an array; None if it is no such."""
    if is_one_of(value, (dict, str, type(None))):
        return None
    if is_tensor(value) and not has_numbers(value):
        return None
    if is_array(value) or is_tensor(value):
        numbers = as_array(value)
        return numbers if numbers.dtype.kind in "biuf" else None
    kinds = INTEGERS + FLOATS + BOOLEANS
    entries = value if is_one_of(value, (list, tuple)) else [value]
    if len(entries) > LONGEST or not all(is_one_of(each, kinds) for each in entries):
        return None
    try:
        numbers = np.asarray(value)
    except (OverflowError, ValueError):
        return None
    return numbers if numbers.dtype.kind in "biuf" else None


@functools.cache
def _axis_names(function: Function) -> dict[str, tuple[str, ...]]:
    """Return the names of each argument's axes, as its docstring has them."""
    documented = SHAPE.findall(inspect.getdoc(function) or "")
    return {name: tuple(axes.split(", ")) for name, axes in documented}


def sizes(exercise: Exercise, call: Call) -> dict[str, int]:
    """Return the sizes of a call by name: n, d_k, …; none that has two values."""
    return _sizes(exercise, named_arguments(exercise, call))


def _sizes(exercise: Exercise, named: dict[str, Any]) -> dict[str, int]:
    values: dict[str, set[int]] = {}
    for argument, axes in _axis_names(exercise.reference).items():
        numbers = numbers_of(named.get(argument))
        if numbers is None or numbers.dtype.kind == "b":  # a mask may be broadcast
            continue
        pairs = zip(reversed(axes), reversed(numbers.shape), strict=False)
        for name, size in pairs:
            if name.isidentifier():
                values.setdefault(name, set()).add(size)
            elif product := re.fullmatch(r"(\w+) · (\w+)", name):  # n_heads · d_k
                factor, other = named.get(product[1]), product[2]
                if type(factor) is int and factor > 0 and size % factor == 0:
                    values.setdefault(other, set()).add(size // factor)
    for name, value in named.items():
        if type(value) is int and abs(value) < 10**9:
            values.setdefault(name, set()).add(value)
    return {name: each.pop() for name, each in values.items() if len(each) == 1}


def _form(named: dict[str, Any]) -> tuple[Any, ...]:
    """Return the form of a call: kinds and shapes; equal ones count as one call."""
    parts: list[Any] = []
    for name, value in named.items():
        numbers = numbers_of(value)
        if numbers is not None:
            parts.append((name, numbers.shape, numbers.dtype.kind))
        else:
            parts.append((name, type(value).__name__, is_one_of(value, (type(None),))))
    return tuple(parts)


def _features(
    exercise: Exercise, named: dict[str, Any], least: dict[str, int]
) -> Iterator[Feature]:
    """Return everything that may be told of one call.

    least : of each argument, the fewest axes that it has in any call
    """
    yield from _axes_and_sizes(exercise, named, least)
    arrays = {name: numbers_of(value) for name, value in named.items()}
    yield from _of_all_numbers([each for each in arrays.values() if each is not None])
    parameters = inspect.signature(exercise.reference).parameters
    for name, parameter in parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            count = "one argument" if len(named) == 1 else f"{len(named)} arguments"
            yield Feature("option", f"with {count}")
        if parameter.default is not parameter.empty:
            is_given = name in named and named[name] is not parameter.default
            yield Feature("option", f"with{'' if is_given else 'out'} `{name}`")
    for name, value in named.items():
        numbers = arrays[name]
        if numbers is not None and numbers.ndim and numbers.size <= LONGEST:
            yield from _of_numbers(name, numbers)
        yield from _of_value(name, value, inspect.getdoc(exercise.reference) or "")


def _axes_and_sizes(
    exercise: Exercise, named: dict[str, Any], least: dict[str, int]
) -> Iterator[Feature]:
    leading = []
    for name, fewest in least.items():
        numbers = numbers_of(named.get(name))
        if numbers is None:
            continue
        axes = _axis_names(exercise.reference).get(name, ())
        if axes[:1] == ("...",) and {"n", "m"} & {*axes}:
            leading.append(numbers.ndim - len(axes) + 1)
        yield Feature("axes", f"where `{name}` has {_count(numbers.ndim, 'axis')}")
        if numbers.ndim > fewest:
            more = f"where `{name}` has more than {_count(fewest, 'axis')}"
            yield Feature("axes", more)
    if leading:
        some = "with" if max(leading) > 0 else "without"
        yield Feature("batch", f"{some} a batch in front")
        if max(leading) > 1:
            yield Feature("batch", "with two or more axes in front")
        if max(leading) > min(leading) >= 0:
            yield Feature(
                "batch", "where not all arguments have the same axes in front"
            )
    by_name = _sizes(exercise, named)
    display = {name: f"`{name}`" if name in named else name for name in by_name}
    for name, size in by_name.items():
        if size == 1:
            yield Feature("one", f"where {display[name]} = 1")
        elif size == 0:
            yield Feature("empty", f"where {display[name]} = 0")
        elif size < 0:
            yield Feature("option", f"where {display[name]} is negative")
        parity = "odd" if size % 2 else "even"
        yield Feature("odd", f"where {display[name]} is {parity}")
    for kind in (r"n|m|t|n_positions", r"d_\w+|d"):
        names = sorted(name for name in by_name if re.fullmatch(kind, name))
        for one, other in itertools.combinations(names, 2):
            sign = "=" if by_name[one] == by_name[other] else "≠"
            yield Feature(
                "equal sizes", f"where {display[one]} {sign} {display[other]}"
            )


def _count(number: int, noun: str) -> str:
    if number == 1:
        return f"one {noun}"
    words = ("no", "one", "two", "three", "four", "five")
    word = words[number] if number < len(words) else str(number)
    return f"{word} {'axes' if noun == 'axis' else noun + 's'}"


def _of_all_numbers(arrays: list[np.ndarray]) -> Iterator[Feature]:
    """Return what holds of all arrays of a call together."""
    arrays = [each for each in arrays if each.ndim and each.dtype.kind != "b"]
    small = [each for each in arrays if each.size <= LONGEST]
    if arrays and {each.dtype.kind for each in arrays} <= set("iu"):
        yield Feature("numbers", "with integers")
    floating = [each for each in arrays if each.dtype.kind == "f"]
    if floating and {each.dtype.itemsize for each in floating} <= {2, 4}:
        yield Feature("numbers", f"with {floating[0].dtype}")
    if any(each.size and _largest(each) > LARGE for each in small):
        yield Feature("large", f"with numbers beyond {LARGE}")
    if any(not np.isfinite(each).all() for each in floating):
        yield Feature("not finite", "with numbers that are not finite")


def _largest(numbers: np.ndarray) -> float:
    values = np.abs(numbers.astype(float))
    return float(values.max(initial=0.0, where=np.isfinite(values)))


def _of_numbers(name: str, numbers: np.ndarray) -> Iterator[Feature]:
    """Return what holds of one array, or of a list of numbers."""
    kind = numbers.dtype.kind
    if kind == "b":
        if not numbers.all():
            yield Feature("mask", f"where `{name}` holds False")
        else:
            yield Feature("mask", f"where `{name}` is True everywhere")
        if numbers.ndim and not numbers.any(axis=-1).all():
            yield Feature("mask", f"where a row of `{name}` is False everywhere")
        return
    if kind in "iu":
        yield Feature("numbers", f"where `{name}` holds integers")
    else:
        size = f"float{8 * numbers.dtype.itemsize}"
        yield Feature("numbers", f"where `{name}` holds {size}")
    if numbers.size and not (numbers < 0).any():
        yield Feature("sign", f"where `{name}` has no negative number")
    elif numbers.size:
        yield Feature("sign", f"where `{name}` has negative numbers")
        if (numbers < 0).all():
            yield Feature("sign", f"where `{name}` has negative numbers only")
    if numbers.size and _largest(numbers) > LARGE:
        yield Feature("large", f"where `{name}` has numbers beyond {LARGE}")
    if (numbers == 0).any():
        yield Feature("zero", f"where `{name}` holds a zero")
    if 1 < numbers.size <= 1000 and len(np.unique(numbers)) < numbers.size:
        yield Feature("repeated", f"where `{name}` holds equal numbers")


def _of_value(name: str, value: Any, contract: str) -> Iterator[Feature]:
    """Return what holds of a text, a list, an option.

    contract : the docstring, which spells the texts that are options
    """
    if is_one_of(value, (bool, type(None))):
        yield Feature("option", f"with `{name}` = {value}")
    elif type(value) is float and value in (0.0, 0.5, 1.0):
        yield Feature("option", f"with `{name}` = {value:g}")
    elif type(value) is str:
        if value and f'"{value}"' in contract:
            yield Feature("option", f'with `{name}` = "{value}"')
        yield from _of_text(name, value[:LONGEST])
    elif is_one_of(value, (list, tuple, dict)):
        plain = "dictionary" if type(value) is dict else type(value).__name__
        yield Feature("type", f"where `{name}` is a {plain}")
        if len(value) == 0:
            yield Feature("empty", f"where `{name}` is empty")
        elif len(value) == 1:
            yield Feature("one", f"where `{name}` has one entry")
        texts = [each for each in value if type(each) is str]
        if len(set(texts)) < len(texts):
            yield Feature("repeated", f"where `{name}` repeats an entry")
    elif is_array(value):
        yield Feature("type", f"where `{name}` is an array")


def _of_text(name: str, text: str) -> Iterator[Feature]:
    if not text:
        yield Feature("empty", f"where `{name}` is empty")
        return
    if len(text) == 1:
        yield Feature("one", f"where `{name}` has one character")
    if text != text.lower():
        yield Feature("text", f"where `{name}` has capitals")
    if not text.isascii():
        yield Feature("text", f"where `{name}` has characters beyond ASCII")
    if text != text.strip():
        yield Feature("text", f"where `{name}` begins or ends with white space")
    if any(len(gap) > 1 for gap in re.findall(r"\s+", text)):
        yield Feature("text", f"where `{name}` has several blanks in a row")
    if re.search(r"[^\S ]", text):
        yield Feature("text", f"where `{name}` has white space other than blanks")
    if max(Counter(text.split()).values(), default=0) > 1:
        yield Feature("repeated", f"where `{name}` repeats a word")
