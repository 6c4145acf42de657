"""Show the two sides of a difference: what came back, and what it should have been.

Which thing differs is found in ``compare``; single values are shown by ``words``.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from autograder import words
from autograder.arrays import BOOLEANS, as_array, is_array, is_one_of, is_tensor
from autograder.compare import Difference
from autograder.exercise import Exercise

MOST_KEYS = 5  # so many keys of a dictionary are listed


def differs(exercise: Exercise, found: Difference, what: str) -> tuple[str, str]:
    """Show both sides of a difference, and name the part of the result it lies in."""
    label = _label(exercise, found)
    whole = not (label or what)
    came, verb, wanted = _shown(exercise, found, whole)
    verb = "return" if whole and verb == "be" else verb
    subject = label[0].upper() + label[1:] if label else "It"
    wanted = f"{subject} should {verb} {wanted}"
    if what:
        return f"returned a result in which {what} is {came}", wanted
    return f"returned {came}" + (f" as {label}" if label else ""), wanted


def _label(exercise: Exercise, found: Difference) -> str:
    """Name a part of the result; nothing for the whole of it."""
    if not found.path:
        return ""
    first, *rest = found.path
    if type(first) is int and first < len(exercise.returns):
        name = f"`{exercise.returns[first]}`"
    elif type(first) is str:
        name = words.key(first)
    else:
        return "item" + at(found.path).removeprefix(" at")
    return name + (at(rest) if rest else "")


def at(path: Sequence[Any]) -> str:
    """Say where in a part: ``at [0, 2]``, with a blank before it."""
    return f" at {words.value(list(path))}"


def _shown(exercise: Exercise, found: Difference, whole: bool) -> tuple[str, str, str]:
    """Give what came back, the verb after "should", and what was expected."""
    actual, expected = found.actual, found.expected
    tuple_expected = whole and type(expected) is tuple
    if found.kind == "type":
        came, wanted = _types(actual, expected)
        return came, "be", result(exercise, expected) if tuple_expected else wanted
    if found.kind == "length":
        wanted = _with_length(expected)
        wanted = result(exercise, expected) if tuple_expected else wanted
        return _with_length(actual), "be", wanted
    if found.kind == "keys":
        return wrong_keys(actual, expected), "have", f"the keys {_keys(expected)}"
    if found.kind == "shape":
        return words.form(actual), "have", f"the shape {tuple(expected.shape)}"
    if found.kind == "precision":
        return precision(actual), "be", f"numbers at least as precise as {expected}"
    if is_large(found):
        return _large(found)
    came, wanted = sides(found)
    return came, "be", wanted


def precision(actual: Any) -> str:
    """Name the dtype of a result."""
    return f"numbers of type {str(actual.dtype).removeprefix('torch.')}"


def _types(actual: Any, expected: Any) -> tuple[str, str]:
    """Show two types; the kind of numbers only where that is what differs."""
    both_arrays = is_array(actual) and is_array(expected)
    if both_arrays or (is_tensor(actual) and is_tensor(expected)):
        return words.kind_of(actual), words.kind_of(expected)
    wanted = words.form(expected)
    special = issubclass(type(actual), type(expected))
    if special and not is_one_of(actual, BOOLEANS):
        wanted = "a plain " + wanted.split(" ", 1)[1]
    return words.form(actual), wanted


def _with_length(thing: Any) -> str:
    shown, form = words.value(thing), words.form(thing)
    return shown if shown == form else f"{shown}, {form}"


def wrong_keys(actual: dict[Any, Any], expected: dict[Any, Any]) -> str:
    """Say which keys a dictionary lacks, and which it should not have."""
    missing, extra = _without(expected, actual), _without(actual, expected)
    said = [f"lacks {_keys(missing)}"] if missing else []
    said += [f"has {_keys(extra)} that it should not have"] if extra else []
    return f"a dictionary that {' and '.join(said) or 'has other keys'}"


def _without(keys: dict[Any, Any], others: dict[Any, Any]) -> list[Any]:
    try:
        return [key for key in keys if key not in others]
    except Exception:  # a key of the learner's own kind that cannot be compared
        return []


def _keys(keys: Iterable[Any]) -> str:
    shown = [words.key(key) for key in keys]
    if len(shown) > MOST_KEYS:
        shown = [*shown[:MOST_KEYS], f"and {len(shown) - MOST_KEYS} more"]
    return ", ".join(shown) or "none at all"


def is_large(found: Difference) -> bool:
    """Say whether the part that differs is too large to be shown whole."""
    return found.total > words.LARGEST_SHOWN


def _large(found: Difference) -> tuple[str, str, str]:
    """Show the first wrong entry of many, and say how many are wrong."""
    came, wanted = entries(found)
    kind = "a list" if type(found.expected) is list else "an array"
    kind = "a tensor" if is_tensor(found.expected) else kind
    wrong = "wrong" if found.kind == "value" else "nan or infinite"
    several = "all" if found.wrong == found.total else str(found.wrong)
    count = f"{several} of its {found.total} entries are {wrong}"
    if found.wrong == 1:
        count = f"one of its {found.total} entries is {wrong}"
    return f"{kind} with {came}{at(found.index)}", "have", f"{wanted} there; {count}"


def entries(found: Difference) -> tuple[str, str]:
    """Show both sides of the first wrong entry."""
    return words.apart(_entry(found.actual, found), _entry(found.expected, found))


def _entry(side: Any, found: Difference) -> Any:
    if type(side) is list:
        return side[found.index[0]]
    return as_array(side)[found.index]


def sides(found: Difference) -> tuple[str, str]:
    """Show both sides of the whole part that differs."""
    return words.apart(found.actual, found.expected)


def result(exercise: Exercise, answer: Any) -> str:
    """Show a right result; of a tuple or a large dictionary, the names of its parts."""
    if isinstance(answer, tuple) and exercise.returns:
        parts = zip(exercise.returns, answer, strict=True)
        inside = " and ".join(f"`{name}` ({words.form(part)})" for name, part in parts)
        return f"the tuple of {inside}"
    shown = words.value(answer)
    if type(answer) is dict and shown == words.form(answer):
        return f"a dictionary with the keys {_keys(answer)}"
    return shown
