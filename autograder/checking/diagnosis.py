"""Find the misconceptions behind an answer: replay its recorded calls on each of them.

A misconception matches if its whole results (values, exceptions, changed arguments)
equal the learner's on every call. If none does, two at once are tried: two options of
``Exercise.variants``, or a family on top of any other. Several matches, or none, give
no diagnosis: a wrong one is worse than none. Calls with small whole numbers (uint8, …)
may be left out: there the same wrong formula wraps around in one spelling and not in
the other.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import Literal, NamedTuple

from autograder.checking.call import Call, CallResult, Raised, Runner, local_runner
from autograder.checking.comparison import first_difference
from autograder.checking.exercise import Exercise, Function, Misconception
from autograder.checking.learners_tests import without_repetitions
from autograder.checking.student import least_precise
from autograder.checking.values import is_array, leaves

Match = Literal["all", "but errors"]


class Explanation(NamedTuple):
    """Misconceptions that give a learner's results together, one or two, as code."""

    misconceptions: tuple[Misconception, ...]
    function: Function


def diagnose(exercise: Exercise, calls: Sequence[Call]) -> tuple[Misconception, ...]:
    """Return the one misconception that explains all calls, or the two, or ()."""
    if exercise.is_test:
        calls = without_repetitions(calls)
    wide = [call for call in calls if not has_small_whole_numbers(call)]
    for chosen in [calls, wide] if len(wide) < len(calls) else [calls]:
        if explanations := explanations_of(exercise, chosen):
            return explanations[0].misconceptions if len(explanations) == 1 else ()
    return ()


def explanations_of(exercise: Exercise, calls: Sequence[Call]) -> list[Explanation]:
    """Return all that explains all calls and is not right on them.

    Two at once only if no single one does, and only of those that are right wherever
    the learner is: two errors that cancel each other out are not looked for.
    """
    replayed = _Replayed(exercise, calls)
    singles = [Explanation((each,), each.function) for each in exercise.misconceptions]
    for possible in (singles, _pairs_of_possible(exercise, replayed)):
        by_match: dict[Match, list[Explanation]] = {"all": [], "but errors": []}
        for each in possible:
            match = replayed.match(each.function)
            if match == "all" or (match and replayed.needs_all_of(each)):
                by_match[match].append(each)
        if explanations := by_match["all"] or by_match["but errors"]:
            return explanations
    return []


def _pairs_of_possible(
    exercise: Exercise, replayed: "_Replayed"
) -> Iterator[Explanation]:
    right = {
        each.name for each in exercise.misconceptions if replayed.is_right_too(each)
    }
    for pair in pairs(exercise):
        if all(each.name in right for each in pair.misconceptions):
            yield pair


def pairs(exercise: Exercise) -> Iterator[Explanation]:
    """Yield what two misconceptions give together, where two can be put together.

    Of tests none: a weak one's diagnosis is of all that it catches.
    """
    if exercise.is_test:
        return
    for one, other in combinations(exercise.misconceptions, 2):
        if other.wrap:
            yield Explanation((one, other), other.wrap(one.function))
        elif one.wrap:
            yield Explanation((other, one), one.wrap(other.function))
        elif one.options and other.options and not one.options.keys() & other.options:
            both = {**one.options, **other.options}
            yield Explanation((one, other), partial(exercise.variants_function, **both))


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


class _Replayed:
    """Recorded calls with the right results, those first that tell most functions off.

    Those are calls where the learner's result is wrong, the smallest of them first.
    """

    def __init__(self, exercise: Exercise, calls: Sequence[Call]) -> None:
        self._is_test = exercise.is_test  # there an exception is what it answers
        right = replay(exercise.reference, calls)
        self._rows = [
            (call, correct, least_precise(call).bytes_per_number)
            for call, correct in zip(calls, right, strict=True)
        ]
        self._rows.sort(
            key=lambda row: (same_result(row[0].result, *row[1:]), _size(row[0]))
        )
        self._learner_is_right = [
            same_result(call.result, correct, least)
            for call, correct, least in self._rows
        ]

    def match(self, wrong: Function) -> Match | None:
        """Decide whether a wrong function gives the learner's results, and its error.

        The kind of an exception alone shows nothing, since many errors end in the same
        kind: there the text has to be the same too, and there has to be one.

        Returns "but errors" where the wrong function may end in an exception and the
        learner's in any wrong result: one spelling stops where sizes disagree, and
        another does not.
        """
        runner = local_runner(wrong, memory=False)
        same, but_errors = True, True
        is_shown, is_shown_without_errors = False, False
        for call, correct, least in self._rows:
            result = runner(call.arguments, call.keywords)
            stops = result.raised and not correct.raised
            is_equal = same_result(result, call.result, least)
            same &= is_equal
            if stops:
                but_errors &= not same_result(call.result, correct, least)
            else:
                but_errors &= is_equal
            if not (same or but_errors):
                return None
            if same_result(result, correct, least):
                continue
            raised, learners = result.raised, call.result.raised
            only_kinds = raised and learners and not self._is_test
            if not only_kinds or _same_message(raised, learners):
                is_shown = True
                is_shown_without_errors |= not stops
        if same and is_shown:
            return "all"
        return "but errors" if but_errors and is_shown_without_errors else None

    def is_right_too(self, one: Misconception) -> bool:
        """Decide whether a misconception is right on all calls where the learner is."""
        run = local_runner(one.function, memory=False)
        return all(
            same_result(run(call.arguments, call.keywords), correct, least)
            for (call, correct, least), right in zip(
                self._rows, self._learner_is_right, strict=True
            )
            if right
        )

    def needs_all_of(self, pair: Explanation) -> bool:
        """Decide whether no one of two explains by itself the calls that they end.

        A misconception that stops on most calls would explain much together with any.
        """
        if len(pair.misconceptions) == 1:
            return True
        run = local_runner(pair.function, memory=False)
        ended = [
            row
            for row in self._rows
            if not run(row[0].arguments, row[0].keywords).raised
        ]
        for one in pair.misconceptions:
            run = local_runner(one.function, memory=False)
            if all(
                same_result(run(call.arguments, call.keywords), call.result, least)
                for call, _, least in ended
            ):
                return False
        return True


def _same_message(one: Raised | None, other: Raised | None) -> bool:
    return one is not None and other is not None and one.message == other.message != ""


def _ends(run: Runner, call: Call) -> bool:
    return run(call.arguments, call.keywords).kind == "value"


def _size(call: Call) -> int:
    """Return how many numbers and texts go into a call."""
    inputs = leaves([call.arguments, call.keywords])
    return sum(leaf.size if is_array(leaf) else 1 for _, leaf in inputs)
