"""Name the mistake: replay the recorded calls on every known misconception.

A match is a misconception whose whole outcomes (values, exceptions, changed arguments)
equal the learner's on every call. Several matches, or none, give no name: a wrong
diagnosis is worse than none.
"""

from collections.abc import Sequence

from autograder.checking.call import Call, CallResult, local_runner
from autograder.checking.comparison import first_difference
from autograder.checking.exercise import Exercise, Function, Misconception
from autograder.checking.student import least_precise


def diagnose(exercise: Exercise, calls: Sequence[Call]) -> Misconception | None:
    """Give the one misconception that explains all calls, or None."""
    found = matches(exercise, calls)
    return found[0] if len(found) == 1 else None


def matches(exercise: Exercise, calls: Sequence[Call]) -> list[Misconception]:
    """Give every misconception that explains all calls and is not right on them."""
    right = replay(exercise.reference, calls)
    return [
        kept
        for kept in exercise.misconceptions
        if _explains(calls, kept.function, right)
    ]


def replay(function: Function, calls: Sequence[Call]) -> list[CallResult]:
    """Give the outcomes of a function of ours on recorded calls."""
    runner = local_runner(function)
    return [runner(call.arguments, call.keywords) for call in calls]


def same(one: CallResult, other: CallResult, least: int = 8) -> bool:
    """Say whether two outcomes agree: value or kind of exception, and arguments.

    least : bytes per number of the call's least precise input
    """
    if one.kind != other.kind:
        return False
    if one.raised and other.raised and one.raised.types != other.raised.types:
        return False
    return not any(
        first_difference(mine, theirs, least=least)
        for mine, theirs in (
            (one.value, other.value),
            (one.arguments, other.arguments),
        )
    )


def _explains(calls: Sequence[Call], wrong: Function, right: list[CallResult]) -> bool:
    """Say whether a wrong function gives the learner's outcomes and shows its mistake.

    The kind of an exception alone shows nothing, since many mistakes end in the same
    kind: there the text has to be the same too, and there has to be one.
    """
    runner = local_runner(wrong)
    shown = False
    for call, correct in zip(calls, right, strict=True):
        outcome = runner(call.arguments, call.keywords)
        least, _ = least_precise(call)
        if not same(outcome, call.result, least):
            return False
        if same(outcome, correct, least):
            continue
        theirs, learners = outcome.raised, call.result.raised
        if theirs and learners:
            shown |= theirs.message == learners.message != ""
        else:
            shown = True
    return shown
