"""What the calls give that fail in one way, as a clause: "your `weights` are …"."""

import builtins
import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from autograder.checking.call import Call, CallResult
from autograder.checking.comparison import first_difference
from autograder.checking.evidence.conditions import named_arguments, numbers_of, sizes
from autograder.checking.evidence.forms import Values, form, is_plain, other_kind
from autograder.checking.evidence.pairs import NumberPair
from autograder.checking.evidence.relations import relation
from autograder.checking.evidence.replays import Attempt, other_call
from autograder.checking.exercise import Exercise
from autograder.checking.student import least_precise, lost_precision
from autograder.checking.values import (
    as_array,
    bytes_per_number,
    dtype_name,
    is_array,
    is_one_of,
    is_tensor,
)

Way = Literal[
    "right",
    "value",  # a wrong value
    "precision",  # right, but in a dtype that is less precise than the inputs
    "changed",  # right, but an argument is changed
    "none",
    "no error",  # a value where an exception is asked for
    "other error",
    "raised",
    "timeout",
    "crashed",
    "output",
]


MAX_LINE = 80  # characters of a line of code
MAX_WORDS = 120  # characters of what an exception says
_SIGNATURE = re.compile(r", with gufunc signature \S+")  # of no help to a learner


class Compared(NamedTuple):
    """A call, the right result of it, and how the learner's differs."""

    call: Call
    right: CallResult
    least: int
    way: Way


class Subject(NamedTuple):
    """What a predicate is said of, and whether that is several things."""

    text: str
    several: bool = False

    def clause(self, predicate: str) -> str:
        """Return a clause; the predicate's words in braces go by the number."""
        return f"{self.text} {predicate.format_map(WORDS[self.several])}"


# The verbs of predicates, and the right result, for one thing and for several.
WORDS = (
    {
        "is": "is",
        "has": "has",
        "holds": "holds",
        "lacks": "lacks",
        "lies": "lies",
        "ends": "ends",
        "begins": "begins",
        "goes": "goes",
        "sums": "sums",
        "differs": "differs",
        "it": "it",
        "its": "its",
        "right": "the right one",
    },
    {
        "is": "are",
        "has": "have",
        "holds": "hold",
        "lacks": "lack",
        "lies": "lie",
        "ends": "end",
        "begins": "begin",
        "goes": "go",
        "sums": "sum",
        "differs": "differ",
        "it": "them",
        "its": "their",
        "right": "the right ones",
    },
)


def clause_of(
    exercise: Exercise, group: Sequence[Compared], *, weak: bool = True
) -> str:
    """Return a clause that holds of all these calls, or "".

    weak : whether a clause will do that says little
    """
    way = group[0].way
    function = f"your `{exercise.name}`"
    asked = {each.right.raised.types[0] for each in group if each.right.raised}
    kinds = {builtin_kind(each) for each in group if each.call.result.raised}
    match way:
        case "value":
            return _value_clause(exercise, group, weak)
        case "precision":
            return _precision_clause(exercise, group)
        case "changed":
            return changed_clause(exercise, group)
        case "none":
            return f"{function} returns None"
        case "no error":
            error = with_article(asked.pop()) if len(asked) == 1 else "an exception"
            return f"{function} returns a result where {error} is asked for"
        case "other error":
            error = (
                with_article(asked.pop()) if len(asked) == 1 else "another exception"
            )
            other = with_article(kinds.pop()) if len(kinds) == 1 else "an exception"
            return f"{function} ends with {other} where {error} is asked for"
        case "raised":
            name = kinds.pop() if len(kinds) == 1 else ""
            error = with_article(name) if name else "an exception"
            words = "" if cause(group) else _words(group)
            return f"{function} ends with {error}{_line(exercise, group)}{words}"
        case "timeout":
            return f"{function} is still running when its time is up"
        case "crashed":
            return f"{function} ends the whole Python process"
        case "output":
            return f"{function} returns more data than can be graded"
    return ""


def _line(exercise: Exercise, group: Sequence[Compared]) -> str:
    """Return the one line of the learner's at which visible calls end, or ""."""
    ends = {
        (raised.function, raised.line_number, raised.line)
        for each in group
        for raised in [each.call.result.raised]
        if raised and not each.call.hidden
    }
    function, number, line = ends.pop() if len(ends) == 1 else ("", 0, "")
    if not number:
        return ""
    inside = f" of `{function}`" if function not in ("", exercise.name) else ""
    return f" at line {number}{inside}" + (f" (`{line[:MAX_LINE]}`)" if line else "")


def _words(group: Sequence[Compared]) -> str:
    """Return what the exceptions say, if all calls are visible and say the same."""
    raised = [each.call.result.raised for each in group]
    texts = {each.message for each in raised if each}
    if any(each.call.hidden for each in group) or len(texts) != 1:
        return ""
    text = _SIGNATURE.sub("", raised[0].message if raised[0] else "")
    text = "".join(c for c in " ".join(text.split()) if c.isprintable())
    text = text.rstrip(".").replace("`", "'")
    if len(text) > MAX_WORDS:
        text = text[: MAX_WORDS - 1].rstrip() + "…"
    return f": “{text}”" if text else ""


def cause(group: Sequence[Compared]) -> str:
    """Return what the exceptions of some calls mean, where that is one thing.

    It is made of the learner's code and of kinds, and not of the inputs' numbers; of
    hidden calls alone nothing is said.
    """
    raised = [each.call.result.raised for each in group if not each.call.hidden]
    causes = {each.cause for each in raised if each}
    return causes.pop() if len(causes) == 1 else ""


def with_article(name: str) -> str:
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} `{name}`"


def builtin_kind(each: Compared) -> str:
    """Name Python's own kind of an exception: a learner's kind may spell an input."""
    raised = each.call.result.raised
    for name in raised.types if raised else ():
        kind = getattr(builtins, name, None)
        if isinstance(kind, type) and issubclass(kind, Exception):
            return "" if name == "Exception" else name
    return ""


def _precision_clause(exercise: Exercise, group: Sequence[Compared]) -> str:
    dtypes = set()
    for each in group:
        least = least_precise(each.call)
        value, right = each.call.result.value, each.right.value
        difference = lost_precision(value, each.call, least, right)
        dtypes.add(dtype_name(difference.actual) if difference else "")
    if len(dtypes) != 1:
        return "your result holds less precise numbers than the arguments do"
    return f"your result is right but holds {dtypes.pop()} numbers, too few digits"


def changed_clause(exercise: Exercise, group: Sequence[Compared]) -> str:
    """Return which arguments all of these calls change; "" if they share none."""
    names: set[str] | None = None
    for each in group:
        own = exercise.argument_names(len(each.call.arguments))
        pairs = zip(each.call.result.arguments, each.call.arguments, strict=False)
        changed = {
            name
            for name, pair in zip(own, pairs, strict=False)
            if first_difference(*pair, exact=True)
        }
        names = changed if names is None else names & changed
    if not names:
        return ""
    ordered = [name for name in exercise.parameters if name in names] or sorted(names)
    what = " and ".join(f"`{name}`" for name in ordered)
    noun = "argument" if len(ordered) == 1 else "arguments"
    return f"your `{exercise.name}` changes its {noun} {what}"


def _value_clause(exercise: Exercise, group: Sequence[Compared], weak: bool) -> str:
    """Return how wrong values relate to the right ones; for parts, of each apart.

    weak : whether to name the parts that are right, where nothing is known of others
    """
    if not all(is_plain(each.call.result.value) for each in group):
        return changed_clause(exercise, group)
    values = [
        Values(each.call.result.value, each.right.value, each.least) for each in group
    ]
    clause = _of_whole_tuples(exercise, values)
    if clause:
        return clause
    names = _part_names(exercise, values)
    if names:
        clause = _clause_of_parts(exercise, group, values, names, weak)
    elif predicate := _predicate(exercise, group, values, ()):
        clause = Subject("your result").clause(predicate)
    return clause or changed_clause(exercise, group)


Name = tuple[Any, str]  # the step to a part of a result, and its name


def _clause_of_parts(
    exercise: Exercise,
    group: Sequence[Compared],
    values: Sequence[Values],
    names: Sequence[Name],
    weak: bool,
) -> str:
    """Return what is known of the wrong parts of a result, or of which are right."""
    wrong = [name for name in names if any(not _agrees(each, name) for each in values)]
    right = [name for name in names if name not in wrong]
    rest = ""
    if right:
        rest = f"; {_listed(right)} {'are' if _is_many(right) else 'is'} right"
        if set(right) != set(names) and len(right) > 3:
            rest = "; all others are right"
    # A part by itself is told of only where it is wrong in every call.
    always = [name for name in wrong if not any(_agrees(each, name) for each in values)]
    for chosen in [wrong, *([name] for name in reversed(always))]:
        if len(chosen) == 1 and chosen[0] not in always:
            continue
        pairs, members = [], []
        for name in chosen:
            for each, compared in zip(values, group, strict=True):
                if not _agrees(each, name):
                    pairs.append(_part(each, name))
                    members.append(compared)
        predicate = _predicate(exercise, members, pairs, tuple(chosen))
        if predicate:
            subject = Subject(f"your {_listed(chosen)}", _is_many(chosen))
            return subject.clause(predicate) + (rest if chosen == wrong else "")
    if right and len(right) <= 3 and weak:
        subject = Subject(f"your {_listed(right)}", _is_many(right))
        others = _listed(wrong) if len(wrong) <= 3 else "all others"
        verb = "are" if _is_many(wrong) else "is"
        where = "" if wrong == always else ", or not in every call"
        return subject.clause(f"{{is}} right, but {others} {verb} not{where}")
    return ""


def _is_many(names: Sequence[Name]) -> bool:
    """Decide whether a sentence about these parts says “are”."""
    return len(names) > 1 or names[0][1].endswith("s")


def _listed(names: Sequence[Name]) -> str:
    named = [f"`{name}`" for _, name in names]
    if len(named) < 2:
        return "".join(named)
    return f"{', '.join(named[:-1])} and {named[-1]}"


def _part_names(exercise: Exercise, values: Sequence[Values]) -> list[Name]:
    """Return the parts that all results have by name; none if there is but one."""
    if exercise.returns and all(
        type(each.actual) is type(each.expected) is tuple
        and len(each.actual) == len(each.expected) == len(exercise.returns)
        for each in values
    ):
        return [*enumerate(exercise.returns)]
    first = values[0].expected
    if type(first) is not dict or not all(type(key) is str for key in first):
        return []
    if len(first) > 1 and all(
        type(each.actual) is type(each.expected) is dict
        and each.actual.keys() == each.expected.keys() == first.keys()
        for each in values
    ):
        return [(key, key) for key in first if key.isidentifier()]
    return []


def _part(each: Values, name: Name) -> Values:
    return Values(each.actual[name[0]], each.expected[name[0]], each.least)


def _agrees(each: Values, name: Name) -> bool:
    return first_difference(*_part(each, name)[:2], least=each.least) is None


def _of_whole_tuples(exercise: Exercise, values: Sequence[Values]) -> str:
    """Find results in another order, and one result where several are asked for."""
    names = exercise.returns
    if len(names) < 2 or not all(
        type(each.expected) is tuple and len(each.expected) == len(names)
        for each in values
    ):
        return ""
    for index, name in enumerate(names):
        if all(
            not first_difference(each.actual, each.expected[index], least=each.least)
            for each in values
        ):
            return f"your result is `{name}` alone"
    if not all(is_one_of(each.actual, (tuple, list)) for each in values):
        return ""
    orders = {
        tuple(
            next(
                (
                    name
                    for name, right in zip(names, each.expected, strict=True)
                    if not first_difference(part, right, least=each.least)
                ),
                "",
            )
            for part in each.actual
        )
        for each in values
    }
    order = orders.pop() if len(orders) == 1 else ()
    if "" in order or len(set(order)) < len(order) or order == names:
        return ""
    named = ", ".join(f"`{name}`" for name in order)
    if len(order) == len(names):
        return f"your results are right, but in the order {named}"
    if order:
        missing = [(0, name) for name in names if name not in order]
        return f"your result lacks {_listed(missing)}; the rest of it is right"
    return ""


def _predicate(
    exercise: Exercise,
    group: Sequence[Compared],
    values: Sequence[Values],
    part: tuple[Name, ...],
) -> str:
    """Return how values relate to the right ones: in form, in numbers, by replays."""
    pairs = _pairs(exercise, group, values)
    if predicate := form(values) or relation(pairs):
        return predicate
    if len(part) < 2:
        attempts = [
            Attempt(each.call, *value)
            for each, value in zip(group, values, strict=True)
        ]
        step = part[0][0] if part else None
        if predicate := other_call(exercise, attempts, step):
            return predicate
    if predicate := relation(pairs, weak=True):
        return predicate
    if all(type(each.actual) is type(each.expected) is dict for each in values) and all(
        each.actual.keys() == each.expected.keys() for each in values
    ):
        inside = [
            Values(
                [each.actual[key] for key in each.expected],
                [*each.expected.values()],
                each.least,
            )
            for each in values
        ]
        pairs = _pairs(exercise, group, inside)
        if pairs and (predicate := relation(pairs)):
            words = predicate.format_map(WORDS[True])
            return f"{{has}} the right keys, but the values {words}"
    return _same_in_all(values) or other_kind(values)


def _pairs(
    exercise: Exercise, group: Sequence[Compared], values: Sequence[Values]
) -> list[NumberPair]:
    """Return the two sides as arrays of numbers; nothing if some are none."""
    pairs = []
    for compared, each in zip(group, values, strict=True):
        actual, expected = numbers_of(each.actual), numbers_of(each.expected)
        if actual is None or expected is None:
            return []
        precise = bytes_per_number(each.actual), bytes_per_number(each.expected)
        named = named_arguments(exercise, compared.call)
        masks = {
            name: as_array(value)
            for name, value in named.items()
            if (is_array(value) or is_tensor(value)) and dtype_name(value) == "bool"
        }
        by_name = sizes(exercise, compared.call)
        size = min(*precise, each.least)
        pairs.append(NumberPair(actual, expected, size, by_name, masks))
    return pairs


def _same_in_all(values: Sequence[Values]) -> str:
    """Find results that are the same in every call, whatever the arguments are."""
    first, *others = values
    if len(others) < 2 or any(
        first_difference(each.actual, first.actual) for each in others
    ):
        return ""
    differ = any(first_difference(each.expected, first.expected) for each in others)
    return "{is} the same in all of these calls" if differ else ""
