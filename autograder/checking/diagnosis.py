"""Find the misconception behind an answer: replay its recorded calls on each of them.

A misconception matches if its whole results (values, exceptions, changed arguments)
equal the learner's on every call. Several matches, or none, give no diagnosis: a wrong
one is worse than none. Calls with small whole numbers (uint8, …) may be left out: there
the same wrong formula wraps around in one spelling and not in the other.
"""

from collections.abc import Sequence

from autograder.checking.call import Call, CallResult, local_runner
from autograder.checking.comparison import first_difference
from autograder.checking.exercise import Exercise, Function, Misconception
from autograder.checking.student import least_precise
from autograder.checking.values import is_array, leaves


def diagnose(exercise: Exercise, calls: Sequence[Call]) -> Misconception | None:
    """Return the one misconception that explains all calls, or None."""
    explanations = matches(exercise, calls)
    if not explanations:
        wide = [call for call in calls if not has_small_whole_numbers(call)]
        explanations = matches(exercise, wide) if len(wide) < len(calls) else []
    return explanations[0] if len(explanations) == 1 else None


def matches(exercise: Exercise, calls: Sequence[Call]) -> list[Misconception]:
    """Return every misconception that explains all calls and is not right on them."""
    right = replay(exercise.reference, calls)
    return [
        each
        for each in exercise.misconceptions
        if _explains(calls, each.function, right)
    ]


def has_small_whole_numbers(call: Call) -> bool:
    """Decide whether an input's numbers may wrap around, or become half floats."""
    return any(
        is_array(leaf) and leaf.dtype.kind in "iu" and leaf.dtype.itemsize < 8
        for _, leaf in leaves([call.arguments, call.keywords])
    )


def replay(function: Function, calls: Sequence[Call]) -> list[CallResult]:
    """Return the results of a function of ours on recorded calls."""
    runner = local_runner(function)
    return [runner(call.arguments, call.keywords) for call in calls]


def same_result(one: CallResult, other: CallResult, least: int = 8) -> bool:
    """Compare two results: value or kind of exception, and arguments after the call.

    least : bytes per number of the call's least precise input
    """
    if one.kind != other.kind:
        return False
    if one.raised and other.raised and one.raised.types != other.raised.types:
        return False
    pairs = (one.value, other.value), (one.arguments, other.arguments)
    return not any(first_difference(*pair, least=least) for pair in pairs)


def _explains(calls: Sequence[Call], wrong: Function, right: list[CallResult]) -> bool:
    """Decide whether a wrong function gives the learner's results and shows its error.

    The kind of an exception alone shows nothing, since many errors end in the same
    kind: there the text has to be the same too, and there has to be one.
    """
    runner = local_runner(wrong)
    is_shown = False
    for call, correct in zip(calls, right, strict=True):
        result = runner(call.arguments, call.keywords)
        least = least_precise(call).bytes_per_number
        if not same_result(result, call.result, least):
            return False
        if same_result(result, correct, least):
            continue
        raised, learners = result.raised, call.result.raised
        if raised and learners:
            is_shown |= raised.message == learners.message != ""
        else:
            is_shown = True
    return is_shown
