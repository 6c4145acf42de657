"""How wrong lists, texts, dictionaries and types relate to the right ones.

As in ``relations``: told is only what holds on every pair and is a fact about the
results. Only plain values come here (``is_plain``): nothing of a learner's own kind is
compared, hashed or printed.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from autograder.checking.comparison import first_difference
from autograder.checking.values import (
    BOOLEANS,
    COMPLEX,
    CONTAINERS,
    FLOATS,
    INTEGERS,
    MAX_DEPTH,
    as_array,
    has_numbers,
    is_array,
    is_one_of,
    is_tensor,
    number_kind,
    unwrapped,
)

MOST_PARTS = 20_000  # of one value: beyond, nothing is looked for
TEXTS = (str, bytes)
NUMBERS = INTEGERS + FLOATS + COMPLEX
SEQUENCES = (list, tuple, str)


class Values(NamedTuple):
    """A wrong result and the right one, both plain.

    least : bytes per number of the call's least precise input
    """

    actual: Any
    expected: Any
    least: int = 8


def same(one: Any, other: Any, least: int = 8) -> bool:
    """Compare two plain values, in type too."""
    return first_difference(one, other, least=least) is None


def is_plain(value: Any) -> bool:
    """Decide whether a value is made of Python's, NumPy's and torch's own types only.

    Not so a value that holds itself, or more than ``MOST_PARTS``.
    """
    left = MOST_PARTS
    parts = [(value, 0)]
    while parts:
        part, depth = parts.pop()
        left -= 1
        if left < 0 or depth > MAX_DEPTH:
            return False
        if is_array(part):
            if part.dtype.kind not in "biufcU":
                return False
        elif is_tensor(part):
            if not has_numbers(part):
                return False
        elif is_one_of(part, CONTAINERS):
            if len(part) > left:
                return False
            parts += [(each, depth + 1) for each in part]
            if type(part) is dict:
                parts += [(each, depth + 1) for each in part.values()]
        elif not is_one_of(part, (*NUMBERS, *BOOLEANS, *TEXTS, type(None))):
            return False
    return True


def form(pairs: Sequence[Values]) -> str:
    """Return what the forms and the order of the left sides are, as a predicate."""
    return next((text for each in FORMS if (text := each(pairs))), "")


# Types


def _kind(value: Any) -> str:
    """Name the type of a plain value: "a list"."""
    value = unwrapped(value)
    if is_array(value):
        return "an array"
    if is_tensor(value):
        return "a tensor"
    if is_one_of(value, BOOLEANS):
        return "a truth value"
    if is_one_of(value, NUMBERS):
        return "a number"
    names: dict[Any, str] = {
        dict: "dictionary",
        str: "text",
        set: "set",
        frozenset: "frozen set",
    }
    name = names.get(type(value), type(value).__name__)
    return name if value is None else f"a {name}"


def _content(value: Any) -> Any:
    """Return a value without its types: arrays, tensors and tuples become lists."""
    value = unwrapped(value)
    if is_array(value) or is_tensor(value):
        value = as_array(value)
        return _content(value.tolist()) if value.size <= MOST_PARTS else value
    if is_one_of(value, (list, tuple)):
        return [_content(each) for each in value]
    if type(value) is dict:
        return {key: _content(each) for key, each in value.items()}
    if is_one_of(value, BOOLEANS):
        return int(value)
    return value.item() if hasattr(type(value), "item") else value


def _other_type(pairs: Sequence[Values]) -> str:
    texts = set()
    for actual, expected, least in pairs:
        difference = first_difference(actual, expected, values=False, least=least)
        if difference is None or difference.kind != "type":
            return ""
        wrong, right = unwrapped(difference.actual), unwrapped(difference.expected)
        kinds = _kind(wrong), _kind(right)
        if not same(_content(actual), _content(expected), least):
            return ""
        both = (is_array(wrong) and is_array(right)) or (
            is_tensor(wrong) and is_tensor(right)
        )
        if both:
            kinds = number_kind(wrong), number_kind(right)
            texts.add(f"{{holds}} {kinds[0]} where {kinds[1]} are asked for")
        elif difference.path:
            texts.add(f"{{holds}} {kinds[0]} where {kinds[1]} is asked for")
        else:
            texts.add(f"{{is}} {kinds[0]} where {kinds[1]} is asked for")
    return f"{texts.pop()}, with the right values" if len(texts) == 1 else ""


def other_kind(pairs: Sequence[Values]) -> str:
    """Return of which kind results are, where another is asked for, and no more."""
    kinds = {(_kind(each.actual), _kind(each.expected)) for each in pairs}
    if len(kinds) > 1 or any(each.actual is None for each in pairs):
        return ""
    (kind, right), *_ = kinds
    named = right in ("an array", "a tensor", "a tuple", "a list", "a dictionary")
    return (
        f"{{is}} {kind} where {right} is asked for" if named and kind != right else ""
    )


def _wrapped(pairs: Sequence[Values]) -> str:
    """Find results that lie in a list or tuple of one more level, or lack one."""

    def inside(outer: Any, inner: Any, least: int) -> bool:
        outer = _content(outer)
        is_one = type(outer) is list and len(outer) == 1
        return is_one and same(outer[0], _content(inner), least)

    if all(inside(*each) for each in pairs):
        kinds = {_kind(each.actual) for each in pairs}
        kind = kinds.pop() if len(kinds) == 1 else "something"
        return f"{{is}} right, but {{lies}} in {kind} of length 1"
    if all(inside(each.expected, each.actual, each.least) for each in pairs):
        kinds = {_kind(each.expected) for each in pairs}
        if len(kinds) == 1:
            return f"{{is}} what should lie in {kinds.pop()} of length 1"
    return ""


def _joined(pairs: Sequence[Values]) -> str:
    """Find texts where their pieces are asked for, and the reverse."""

    def joins(pieces: Any, text: Any) -> bool:
        texts = is_one_of(pieces, (list, tuple)) and all(
            type(each) is str for each in pieces
        )
        return texts and type(text) is str and "".join(pieces) == text

    if all(joins(each.actual, each.expected) for each in pairs):
        return "{is} the right text in pieces, not joined"
    if all(joins(each.expected, each.actual) for each in pairs):
        return "{is} one text that joins the right pieces"
    return ""


# Lists, tuples and texts: what is missing, too much, or elsewhere


def _sequences(pairs: Sequence[Values]) -> Iterator[tuple[Any, Any, int]]:
    """Return both sides of each pair if all are sequences of one kind; else nothing."""
    kinds = [type(each.expected) for each in pairs]
    if all(kind in SEQUENCES for kind in kinds) and all(
        type(each.actual) is kind for each, kind in zip(pairs, kinds, strict=True)
    ):
        yield from pairs


def _all(
    pairs: Sequence[Values], holds: Callable[[Any, Any], tuple[Any, Any] | None]
) -> bool:
    """Decide whether what is made of both sides is the same in every pair."""
    is_proven = False
    sides = [*_sequences(pairs)]
    for actual, expected, least in sides:
        made = holds(actual, expected)
        if made is None or not same(*made, least):
            return False
        is_proven |= len(made[0]) > 0
    return is_proven and len(sides) > 0


def _ends(pairs: Sequence[Values]) -> str:
    what = "character" if all(type(each.expected) is str for each in pairs) else "entry"

    def longer(longest: Any, other: Any) -> bool:
        return len(longest) == len(other) + 1

    for text, holds in (
        (
            f"{{lacks}} the first {what} and {{is}} right otherwise",
            lambda a, e: (a, e[1:]) if longer(e, a) else None,
        ),
        (
            f"{{lacks}} the last {what} and {{is}} right otherwise",
            lambda a, e: (a, e[:-1]) if longer(e, a) else None,
        ),
        (
            f"{{has}} one {what} too many at the front and {{is}} right otherwise",
            lambda a, e: (a[1:], e) if longer(a, e) else None,
        ),
        (
            f"{{has}} one {what} too many at the end and {{is}} right otherwise",
            lambda a, e: (a[:-1], e) if longer(a, e) else None,
        ),
        (
            "{is} the beginning of {right}, and {ends} too early",
            lambda a, e: (a, e[: len(a)]) if len(a) < len(e) else None,
        ),
        (
            "{is} the end of {right}, without what comes before",
            lambda a, e: (a, e[-len(a) :]) if 0 < len(a) < len(e) else None,
        ),
        (
            "{begins} with {right}, and {goes} on after it",
            lambda a, e: (a[: len(e)], e) if len(a) > len(e) else None,
        ),
    ):
        if _all(pairs, holds):
            return text
    if [*_sequences(pairs)] and all(len(each.actual) == 0 for each in pairs):
        return "{is} empty"
    return ""


def _order(pairs: Sequence[Values]) -> str:
    entries = "characters" if all(type(p.expected) is str for p in pairs) else "entries"

    def equal_length(actual: Any, expected: Any) -> bool:
        return len(actual) == len(expected) > 1

    if _all(pairs, lambda a, e: (a, e[::-1]) if equal_length(a, e) else None):
        return f"{{has}} the right {entries} in reverse order"
    if _all(
        pairs,
        lambda a, e: (a, e[1:] + e[:1]) if equal_length(a, e) and len(e) > 2 else None,
    ):
        return f"{{has}} the first of the right {entries} at the end"
    if _all(
        pairs,
        lambda a, e: (
            (a, e[-1:] + e[:-1]) if equal_length(a, e) and len(e) > 2 else None
        ),
    ):
        return f"{{has}} the last of the right {entries} at the front"
    counts = [
        (
            Counter(map(repr, map(_content, actual))),
            Counter(map(repr, map(_content, right))),
        )
        for actual, right, _ in _sequences(pairs)
        if type(actual) is not str or len(actual) < 10_000
    ]
    if len(counts) < len(pairs):
        return ""
    if all(one == other for one, other in counts):
        return f"{{has}} the right {entries} in another order"
    if entries == "entries" and all(
        set(one) == set(other) and sum(one.values()) < sum(other.values())
        for one, other in counts
    ):
        return "{has} every right entry, but some less often than {right}"
    if entries == "entries" and all(
        set(one) == set(other) and sum(one.values()) > sum(other.values())
        for one, other in counts
    ):
        return "{has} every right entry, but some more often than {right}"
    if entries == "entries" and all(one < other for one, other in counts):
        return "{has} right entries only, but not all of them"
    if entries == "entries" and all(other < one for one, other in counts):
        return "{has} all the right entries, and more"
    return ""


def _up_to_letters(pairs: Sequence[Values]) -> str:
    """Compare texts, or lists of texts, without capitals and white space."""
    for text, made in (
        ("{is} right up to capitals", str.lower),
        ("{is} right up to white space at the ends", str.strip),
        ("{is} right up to white space", lambda text: "".join(text.split())),
    ):
        if all(
            same(_mapped(each.actual, made), _mapped(each.expected, made))
            for each in pairs
        ):
            return text
    return ""


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    """Return a text, or a list or tuple of texts at any depth, each one changed."""
    if type(value) is str:
        return change(value)
    if is_one_of(value, (list, tuple)):
        return type(value)(_mapped(each, change) for each in value)
    return value


def _one_entry(pairs: Sequence[Values]) -> str:
    """Find lists in which only the first, or only the last entry is wrong."""
    if _all(pairs, lambda a, e: (a[1:], e[1:]) if len(a) == len(e) > 2 else None):
        return "{is} right except in the first entry"
    if _all(pairs, lambda a, e: (a[:-1], e[:-1]) if len(a) == len(e) > 2 else None):
        return "{is} right except in the last entry"
    if all(type(each.expected) is str for each in pairs):
        return ""
    if _all(pairs, lambda a, e: (a[:1], e[:1]) if min(len(a), len(e)) > 1 else None):
        lengths = {len(each.actual) - len(each.expected) for each in pairs}
        if lengths == {0}:
            return (
                "{has} the right length and the right first entry, but not all others"
            )
    return ""


# Dictionaries and sets


def _keys(pairs: Sequence[Values]) -> str:
    if not all(type(each.actual) is type(each.expected) is dict for each in pairs):
        return ""

    def shared(each: Values) -> bool:
        return all(
            same(each.actual[key], each.expected[key], each.least)
            for key in each.expected
            if key in each.actual
        ) and any(key in each.actual for key in each.expected)

    lacking = [each.expected.keys() - each.actual.keys() for each in pairs]
    extra = [each.actual.keys() - each.expected.keys() for each in pairs]
    if all(lacking) and not any(extra) and all(map(shared, pairs)):
        return f"{{lacks}} {_number(lacking, 'key')} and {{is}} right otherwise"
    if all(extra) and not any(lacking) and all(map(shared, pairs)):
        many = _number(extra, "key")
        return f"{{has}} {many} too many and {{is}} right otherwise"
    same_keys = {tuple(each.actual) for each in pairs}
    if len(same_keys) == 1 and len(pairs) > 1 and all(extra) and all(lacking):
        (keys,) = same_keys
        if len(keys) == 1 and type(keys[0]) is str and keys[0].isidentifier():
            return f'{{has}} one key, "{keys[0]}", whatever the right keys are'
    if all(_inverted(each) for each in pairs):
        return "{has} keys and values exchanged"
    if all(
        [*map(repr, each.actual.values())] == [*map(repr, each.expected.values())]
        and len(each.expected) > 1
        for each in pairs
    ):
        return "{has} the right values in the right order, under other keys"
    return ""


def _number(sets: Sequence[Any], noun: str) -> str:
    counts = {len(each) for each in sets}
    return f"one {noun}" if counts == {1} else f"{noun}s"


def _inverted(each: Values) -> bool:
    try:
        turned = {value: key for key, value in each.expected.items()}
    except TypeError:  # values that are no keys
        return False
    full = len(turned) == len(each.expected) > 0
    return full and same(each.actual, turned, each.least)


def _members(pairs: Sequence[Values]) -> str:
    kinds = (set, frozenset)
    if not all(
        type(each.actual) is type(each.expected) and is_one_of(each.expected, kinds)
        for each in pairs
    ):
        return ""
    if all(each.actual < each.expected for each in pairs):
        return "{has} right entries only, but not all of them"
    if all(each.actual > each.expected for each in pairs):
        return "{has} all the right entries, and more"
    return ""


FORMS: tuple[Callable[[Sequence[Values]], str], ...] = (
    _other_type,
    _wrapped,
    _joined,
    _ends,
    _order,
    _up_to_letters,
    _keys,
    _members,
    _one_entry,
)
