"""Wrong results that are right for another call: an option left out, two exchanged.

The reference is called with arguments that are changed in one way, first for one
failing call: most ways end there.
"""

import inspect
import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from autograder.checking.call import Call
from autograder.checking.comparison import first_difference
from autograder.checking.diagnosis import replay
from autograder.checking.evidence.conditions import named_arguments
from autograder.checking.exercise import Exercise
from autograder.checking.values import as_array, is_array, is_one_of, is_tensor

MOST_REPLAYS = 24  # of one failing call


class Attempt(NamedTuple):
    """A call with a wrong result, or a part of it, and the right one."""

    call: Call
    actual: Any
    expected: Any
    least: int


def other_call(exercise: Exercise, attempts: Sequence[Attempt], step: Any) -> str:
    """Return what the call would have to be, as a predicate, or "".

    step : the index or key of the part that is compared; None for the whole result
    """
    repeated = any(
        each.kind is each.VAR_POSITIONAL
        for each in inspect.signature(exercise.reference).parameters.values()
    )
    if repeated:
        return ""
    if text := _argument(exercise, attempts):
        return text
    named = [named_arguments(exercise, each.call) for each in attempts]
    changes = itertools.islice(_changes(exercise, named[0]), MOST_REPLAYS)
    return next(
        (
            text
            for text, change in changes
            if _fits(exercise, attempts, named, change, step)
        ),
        "",
    )


def _argument(exercise: Exercise, attempts: Sequence[Attempt]) -> str:
    """Find results that are an argument as it was, or the right ones with one added."""
    named = [named_arguments(exercise, each.call) for each in attempts]
    for name in named[0]:
        if all(
            name in arguments
            and not is_one_of(arguments[name], (int, float, bool, type(None)))
            and not first_difference(each.actual, arguments[name], least=each.least)
            for arguments, each in zip(named, attempts, strict=True)
        ):
            return f"{{is}} the argument `{name}` as it was"
        if all(
            _is_added(each, arguments.get(name))
            for arguments, each in zip(named, attempts, strict=True)
        ):
            return f"{{is}} {{right}} plus `{name}`"
    return ""


def _is_added(attempt: Attempt, argument: Any) -> bool:
    """Decide whether a result is the right one plus an argument of the same shape."""
    expected = attempt.expected
    arrays = [argument, expected]
    if not (all(map(is_array, arrays)) or all(map(is_tensor, arrays))):
        return False
    if argument.shape != expected.shape or {
        as_array(each).dtype.kind for each in arrays
    } - set("iuf"):
        return False
    if not as_array(argument).any():
        return False
    added = expected + argument
    return not first_difference(attempt.actual, added, least=attempt.least)


# From an argument's name to the name of the argument used for it; or to None,
# which leaves it out, or to "not", which turns True and False.
Change = dict[str, str | None]


def _changes(exercise: Exercise, named: dict[str, Any]) -> Iterator[tuple[str, Change]]:
    parameters = inspect.signature(exercise.reference).parameters
    for name, value in named.items():
        default = parameters[name].default
        if default is not inspect.Parameter.empty and value is not default:
            yield f"{{is}} right for the call without `{name}`", {name: None}
        if type(value) is bool:
            yield f"{{is}} right for `{name}` = {not value}", {name: "not"}
    arrays = [
        name for name, value in named.items() if is_array(value) or is_tensor(value)
    ]
    for one, other in itertools.combinations(arrays, 2):
        text = f"{{is}} right for `{one}` and `{other}` exchanged"
        yield text, {one: other, other: one}
    for one, other in itertools.permutations(arrays, 2):
        yield f"{{is}} right for `{other}` in place of `{one}`", {one: other}


def _fits(
    exercise: Exercise,
    attempts: Sequence[Attempt],
    named: Sequence[dict[str, Any]],
    change: Change,
    step: Any,
) -> bool:
    """Decide whether every wrong result is right for the changed call."""
    for each, arguments in zip(attempts, named, strict=True):
        changed = dict(arguments)
        for name, source in change.items():
            if name not in arguments:
                return False
            if source is None:
                del changed[name]
            elif source == "not":
                changed[name] = not arguments[name]
            elif source in arguments:
                changed[name] = arguments[source]
            else:
                return False
        (result,) = replay(exercise.reference, [Call((), changed)])
        if result.kind != "value":
            return False
        value = result.value
        if step is not None:
            value = value[step]
        if first_difference(each.actual, value, least=each.least):
            return False
    return True
