"""Arguments that a wrong result does not depend on, though the right one does.

The answer is called with other values of one argument alone. Where its result stays to
the bit what it was, in every call in which the right result changes, that is told.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from autograder.checking.call import Call, Runner, copied
from autograder.checking.comparison import first_difference
from autograder.checking.diagnosis import replay
from autograder.checking.evidence.conditions import named_arguments
from autograder.checking.exercise import Exercise
from autograder.checking.values import is_array, is_one_of, is_tensor

MOST_CALLS = 5  # of which one argument is changed
MIN_CHANGED = 3  # calls in which the right result has to change
OTHERS = 2  # values of other calls that are tried for a number or a text
PLAIN = (int, float, str, bool)


def ignored_arguments(exercise: Exercise, calls: Sequence[Call], runner: Runner) -> str:
    """Return a sentence on arguments that change nothing in an answer, or "".

    calls : those with a value are tried, first those with a wrong one
    runner : calls the answer
    """
    right = replay(exercise.reference, calls)
    pairs = [
        (call, result.value)
        for call, result in zip(calls, right, strict=True)
        if call.result.kind == result.kind == "value"
        and call.result.value is not None
        and not call.fine_point
    ]
    pairs.sort(key=lambda pair: first_difference(pair[0].result.value, pair[1]) is None)
    counts = {
        name: _n_unchanged(exercise, calls, pairs[:MOST_CALLS], name, runner)
        for name in _names(exercise, pairs[:MOST_CALLS])
    }
    names = [name for name, count in counts.items() if count >= MIN_CHANGED]
    if not names:
        return ""
    *first, last = (f"`{name}`" for name in names)
    listed = f"{', '.join(first)} or {last}" if first else last
    number = sum(counts[name] for name in names)
    return (
        f"With another {listed} alone, your result stays the same, in all {number} "
        "calls that were made in which the right one changes. Which line of yours uses "
        f"{'one of them' if first else 'it'}?"
    )


def _names(exercise: Exercise, pairs: Sequence[tuple[Call, Any]]) -> list[str]:
    """Return what can be changed in these calls: arguments, entries of dictionaries."""
    names: dict[str, None] = {}
    for call, _ in pairs:
        for name, value in named_arguments(exercise, call).items():
            if type(value) is dict:
                keys = [key for key in value if type(key) is str]
                names |= dict.fromkeys(f'{name}["{key}"]' for key in keys)
            else:
                names[name] = None
    return [*names]


def _n_unchanged(
    exercise: Exercise,
    calls: Sequence[Call],
    pairs: Sequence[tuple[Call, Any]],
    name: str,
    runner: Runner,
) -> int:
    """Count changes of an argument that change the right result; 0 if an answer's, too.

    The answer's result has to be the same to the bit.
    """
    n_unchanged, changed_in = 0, set[int]()
    for call, right in pairs:
        for changed in _changed_calls(exercise, calls, call, name):
            (other,) = replay(exercise.reference, [changed])
            if other.kind != "value" or not first_difference(other.value, right):
                continue
            result = runner(copied(changed.arguments), copied(changed.keywords))
            if result.kind != "value" or first_difference(
                result.value, call.result.value, exact=True
            ):
                return 0
            n_unchanged += 1
            changed_in.add(id(call))
    return n_unchanged if len(changed_in) > 1 else 0


def _changed_calls(
    exercise: Exercise, calls: Sequence[Call], call: Call, name: str
) -> Iterator[Call]:
    """Return calls like one, with other values of one argument, or of one entry."""
    name, _, key = name.removesuffix('"]').partition('["')
    value: Any = named_arguments(exercise, call).get(name)
    if key and (type(value) is not dict or key not in value):
        return
    for other in _other_values(exercise, calls, name, value[key] if key else value):
        changed = value | {key: other} if key else other
        if name in call.keywords:
            yield replace(call, keywords=call.keywords | {name: changed})
            continue
        arguments = [*call.arguments]
        arguments[exercise.argument_names(len(arguments)).index(name)] = changed
        yield replace(call, arguments=tuple(arguments))


def _other_values(
    exercise: Exercise, calls: Sequence[Call], name: str, value: Any
) -> Iterator[Any]:
    """Return values that an argument may have in place of one.

    Of arrays these are the numbers turned round, and halves; of numbers and texts those
    of other calls; the right version refuses what is not allowed.
    """
    if is_array(value):
        yield value[(slice(None, None, -1),) * value.ndim]
        if value.dtype.kind == "f":
            yield value * 0.5
    elif is_tensor(value):
        yield value.flip(tuple(range(value.ndim)))
        if value.is_floating_point():
            yield value * 0.5
    elif is_one_of(value, PLAIN):
        of_calls = [named_arguments(exercise, each).get(name) for each in calls]
        others = [each for each in of_calls if type(each) is type(value)]
        others = [*dict.fromkeys(each for each in others if each != value)][:OTHERS]
        if type(value) is int:
            others += [0, 1, value + 1]
        yield from (each for each in others if each != value)
    elif type(value) is list and len(value) > 1:
        yield value[::-1]
