"""Find the misconceptions behind an answer: replay its recorded calls on each of them.

A misconception matches if its whole results (values, exceptions, changed arguments)
equal the learner's on every call. If none does, two at once are tried: two edits of one
right answer, or a family on top of any other; then three, of a short list that the bank
may have. Several matches, or none, give no diagnosis: a wrong one is worse than none.
If several match, the calls that ended cases have left out are made, and may tell which
it is. Two or three are named only if they give the learner's results on newly drawn
inputs, too: there are so many of them that some agree by chance. Calls with small
whole numbers (uint8, …) may be left out: there the same wrong formula wraps around in
one spelling and not in the other. So may those of fine points, which others get wrong
beside their own error.
What is computed in float32 is compared to float32's digits.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np

from autograder.checking.call import Call, CallResult, Raised, local_runner
from autograder.checking.comparison import first_difference
from autograder.checking.exercise import (
    Exercise,
    Function,
    Misconception,
    together,
)
from autograder.checking.functions_under_test import without_repetitions
from autograder.checking.remembered import key_of, remembered
from autograder.checking.student import SINGLE, compare_result, least_precise
from autograder.checking.values import (
    FLOATS,
    as_array,
    is_array,
    is_one_of,
    is_tensor,
    leaves,
    number_kind,
)

Match = Literal["all", "but errors"]
Key = tuple[int, ...]
MOST_NUMBERS = 1000  # in a call whose results are remembered
REPLAY_SECONDS = 10.0  # two errors together may run without end: no call takes a second
MIN_TELLING = 2  # calls that have to show an error where others end in exceptions
ABOUT_EXCEPTIONS = re.compile(  # not "this can raise an error"
    r"(?<!can )(?<!can raise an )(?<!not )(?<!never )(?<!often )"
    r"\b(stops?|stopped|raises?|raised|exception|\w*[Ee]rror)\b"
)


class Explanation(NamedTuple):
    """Misconceptions that give a learner's results together, up to three, as code."""

    misconceptions: tuple[Misconception, ...]
    function: Function

    @property
    def key(self) -> Key:
        """What tells it from others of the same exercise."""
        return tuple(map(id, self.misconceptions))

    @property
    def is_about_exceptions(self) -> bool:
        """Whether its words say that something stops."""
        words = " ".join(each.diagnosis for each in self.misconceptions)
        return ABOUT_EXCEPTIONS.search(words) is not None

    def stops_rightly(self, calls: Sequence[Call]) -> bool:
        """Decide whether a learner's calls stop where the words say that they do."""
        if not self.is_about_exceptions:
            return True
        replayed = zip(calls, replay(self.function, calls), strict=True)
        return all(call.result.raised for call, result in replayed if result.raised)


def diagnose(
    exercise: Exercise,
    calls: Sequence[Call],
    calls_left: Callable[[], Sequence[Call]] = list,
    *,
    alone: bool = False,
    fresh_calls: Callable[[], Sequence[Call]] = list,
) -> tuple[Misconception, ...]:
    """Return the misconception that explains all calls, or two, or three, or ().

    calls_left : makes the calls that cases ended before; only if several explain all
    alone : whether to look for one only, which is much quicker
    fresh_calls : makes the cases' calls with other inputs; only if two or three are to
        be named, of which so many are tried that a few calls may agree by chance
    """
    several: list[Explanation] = []
    if exercise.is_test:
        calls = without_repetitions(calls)
    right = replay(exercise.reference, calls)
    for digits in (8, SINGLE):
        if digits == SINGLE and not any(map(is_in_single_precision, calls, right)):
            break
        rows = {
            id(call): _Row(call, result, digits, exercise.reference)
            for call, result in zip(calls, right, strict=True)
        }
        for chosen in _selections(calls):
            replayed = _Replayed(exercise, [rows[id(call)] for call in chosen])
            explanations = _explanations_of(exercise, replayed, alone)
            explanations = [e for e in explanations if e.stops_rightly(calls)]
            if len(explanations) == 1:  # of several, the claims alone may tell one
                (explanation,) = explanations
                if len(explanation.misconceptions) > 1:
                    fresh = _selected_as(chosen, calls, fresh_calls())
                    if not _explains_too(exercise, explanation, fresh, digits):
                        return ()
                return explanation.misconceptions
            several = several or explanations
    if several and (more := calls_left()):
        with_more = [*calls, *more]
        return diagnose(exercise, with_more, alone=alone, fresh_calls=fresh_calls)
    return ()


def _selections(calls: Sequence[Call]) -> Iterator[Sequence[Call]]:
    """Yield all calls, then those of them that a misconception has to explain."""
    wide = [call for call in calls if not has_small_whole_numbers(call)]
    claims = [call for call in wide if not call.fine_point]
    yield calls
    if len(wide) < len(calls):
        yield wide
    if len(claims) < len(wide):
        yield claims


def _selected_as(
    chosen: Sequence[Call], calls: Sequence[Call], others: Iterable[Call]
) -> list[Call]:
    """Return those of other calls that would be chosen of these."""
    if len(chosen) < len(calls):
        others = [call for call in others if not has_small_whole_numbers(call)]
    if not any(call.fine_point for call in chosen):
        others = [call for call in others if not call.fine_point]
    return [*others]


def _explains_too(
    exercise: Exercise, each: Explanation, calls: Sequence[Call], digits: int
) -> bool:
    """Decide whether an explanation gives a learner's results in other calls, too.

    Where it ends in an exception, another spelling may go on.
    """
    right = replay(exercise.reference, calls)
    rows = (
        _Row(call, result, digits, exercise.reference)
        for call, result in zip(calls, right, strict=True)
    )
    return all(row.as_learner(each) or row.result(each).raised for row in rows)


def is_in_single_precision(call: Call, right: CallResult) -> bool:
    """Decide whether a result for numbers of float64 was computed in float32.

    right : the result of the reference
    """
    if call.precise or call.result.kind != "value":
        return False
    if right.kind == "value" and compare_result(call, right.value).is_single:
        return True
    if least_precise(call).bytes_per_number < 8:
        return False
    numbers = [
        as_array(leaf)
        for _, leaf in leaves(call.result.value)
        if is_one_of(leaf, FLOATS)
        or ((is_array(leaf) or is_tensor(leaf)) and number_kind(leaf) == "floats")
    ]
    with np.errstate(all="ignore"):
        return all(_fits(each, np.float32) for each in numbers) and not all(
            _fits(each, np.float16) for each in numbers
        )


def _fits(numbers: np.ndarray, dtype: type) -> bool:
    """Decide whether a dtype holds numbers to the last digit."""
    return np.array_equal(numbers.astype(dtype), numbers, equal_nan=True)


def _explanations_of(
    exercise: Exercise, replayed: "_Replayed", alone: bool = False
) -> list[Explanation]:
    """Return all that explains all calls and is not right on them.

    Two at once only if no single one does, and only of those that are right wherever
    the learner is: two errors that cancel each other out are not looked for.
    """
    singles = [Explanation((each,), each.function) for each in exercise.misconceptions]
    is_possible = replayed.is_right_too
    several = (pairs(exercise, is_possible), threes(exercise, is_possible))
    for possible in (singles, *(() if alone else several)):
        by_match: dict[Match, list[Explanation]] = {"all": [], "but errors": []}
        for each in possible:
            match = replayed.match(each)
            if match == "all" or (match and replayed.needs_all_of(each)):
                by_match[match].append(each)
        if explanations := by_match["all"] or by_match["but errors"]:
            return explanations
    return []


Decide = Callable[[Misconception], bool]


def pairs(
    exercise: Exercise, is_possible: Decide = lambda _: True
) -> Iterator[Explanation]:
    """Yield what two misconceptions give together, where two can be put together.

    Of tests none: a weak one's diagnosis is of all that it catches.
    """
    if not exercise.is_test:
        yield from _at_once(filter(is_possible, exercise.misconceptions), 2)


def threes(
    exercise: Exercise, is_possible: Decide = lambda _: True
) -> Iterator[Explanation]:
    """Yield what three of those give that are often made together."""
    yield from _at_once(filter(is_possible, exercise.often_together), 3)


def _at_once(errors: Iterable[Misconception], count: int) -> Iterator[Explanation]:
    for chosen in combinations(errors, count):
        chosen = tuple(sorted(chosen, key=lambda each: each.wrap is not None))
        if function := together(chosen):
            yield Explanation(chosen, function)


def has_small_whole_numbers(call: Call) -> bool:
    """Decide whether an input's numbers may wrap around, or become half floats."""
    return any(
        is_array(leaf) and leaf.dtype.kind in "iu" and leaf.dtype.itemsize < 8
        for _, leaf in leaves([call.arguments, call.keywords])
    )


def replay(function: Function, calls: Sequence[Call]) -> list[CallResult]:
    """Return the results of a function of ours on recorded calls."""
    runner = local_runner(function, causes=False)
    return [
        remembered(
            (function, "replay"),
            key_of(call.arguments, call.keywords),
            lambda call=call: runner(call.arguments, call.keywords),  # type: ignore[misc]
        )
        for call in calls
    ]


def same_result(
    one: CallResult,
    other: CallResult,
    least: int = 8,
    *,
    exact_arguments: bool = False,
) -> bool:
    """Compare two results: value or kind of exception, and arguments after the call.

    least : bytes per number of the call's least precise input
    exact_arguments : whether rounding is a difference in arguments, as where one of
        the two has left them as they were
    """
    if one.kind != other.kind:
        return False
    if one.raised and other.raised and one.raised.types != other.raised.types:
        return False
    if first_difference(one.value, other.value, least=least):
        return False
    pair = one.arguments, other.arguments
    return not first_difference(*pair, least=least, exact=exact_arguments)


class _Row:
    """A recorded call, its right result, and what wrong functions do there.

    A call is in several selections: what is known of a function there, stays known.
    """

    def __init__(
        self, call: Call, right: CallResult, digits: int, reference: Function
    ) -> None:
        self.call = call
        self.right = right
        self._compared_with = reference, digits
        self.least = min(least_precise(call).bytes_per_number, digits)
        self.learner_is_right = same_result(
            call.result, right, self.least, exact_arguments=True
        )
        self.size = _size(call)
        self._inputs = key_of(call.arguments, call.keywords)
        self._results: dict[Key, CallResult] = {}
        self._as_learner: dict[Key, bool] = {}
        self._is_right: dict[Key, bool] = {}

    def result(self, each: Explanation) -> CallResult:
        """Return what an explanation's function gives; small results stay here."""
        result = self._results.get(each.key)
        if result is None:
            runner = local_runner(
                each.function, seconds=REPLAY_SECONDS, memory=False, causes=False
            )
            is_kept = self.size <= MOST_NUMBERS
            result = remembered(
                (each.function, "row"),
                self._inputs if is_kept else None,
                lambda: runner(self.call.arguments, self.call.keywords),
            )
            if self.size <= MOST_NUMBERS:
                self._results[each.key] = result
        return result

    def as_learner(self, each: Explanation, result: CallResult | None = None) -> bool:
        """Return whether its result is the learner's."""
        known = self._as_learner.get(each.key)
        if known is None:
            result = result or self.result(each)
            known = same_result(result, self.call.result, self.least)
            self._as_learner[each.key] = known
        return known

    def is_right(self, each: Explanation, result: CallResult | None = None) -> bool:
        """Return whether its result is right."""
        known = self._is_right.get(each.key)
        if known is None:
            own = result or self.result(each)
            known = self._is_right[each.key] = remembered(
                (each.function, *self._compared_with),
                self._inputs if self.size <= MOST_NUMBERS else None,
                lambda: same_result(own, self.right, self.least, exact_arguments=True),
            )
        return known


class _Replayed:
    """Recorded calls with the right results, those first that tell most functions off.

    Those are calls where the learner's result is wrong, the smallest of them first.
    """

    def __init__(self, exercise: Exercise, rows: Sequence[_Row]) -> None:
        self._is_test = exercise.is_test  # there an exception is what it answers
        self._rows = sorted(rows, key=lambda row: (row.learner_is_right, row.size))
        self._right_too: dict[int, bool] = {}

    def match(self, each: Explanation) -> Match | None:
        """Decide whether a wrong function gives the learner's results, and its error.

        The kind of an exception alone shows nothing, since many errors end in the same
        kind: there the text has to be the same too, and there has to be one. Where the
        texts of any differ, more than one call has to show the error in a value.

        Returns "but errors" where the wrong function may end in an exception and the
        learner's in any wrong result: one spelling stops where sizes disagree, and
        another does not. There too, more than one other call has to show the error.
        """
        same, but_errors = True, True
        n_telling, n_without_errors, by_kind_alone = 0, 0, False
        for row in self._rows:
            result = row.result(each)
            stops = result.raised and not row.right.raised
            is_equal = row.as_learner(each, result)
            same &= is_equal
            if stops:
                but_errors &= not row.learner_is_right
            else:
                but_errors &= is_equal
            if not (same or but_errors):
                return None
            if row.is_right(each, result):
                continue
            raised, learners = result.raised, row.call.result.raised
            only_kinds = raised and learners and not self._is_test
            if not only_kinds or _same_message(raised, learners):
                n_telling += 1
                n_without_errors += not stops
            else:
                by_kind_alone = True
        if same and not by_kind_alone and n_telling:
            return "all"
        if same and n_without_errors >= MIN_TELLING:
            return "all"
        if but_errors and n_without_errors >= MIN_TELLING:
            return "but errors"
        return None

    def is_right_too(self, one: Misconception) -> bool:
        """Decide whether a misconception is right on all calls where the learner is."""
        if id(one) not in self._right_too:
            single = Explanation((one,), one.function)
            self._right_too[id(one)] = all(
                row.is_right(single) for row in self._rows if row.learner_is_right
            )
        return self._right_too[id(one)]

    def needs_all_of(self, several: Explanation) -> bool:
        """Decide whether no fewer of these errors explain the calls that they end.

        A misconception that stops on most calls would explain much together with any.
        """
        errors = several.misconceptions
        if len(errors) == 1:
            return True
        ended = [row for row in self._rows if not row.result(several).raised]
        for fewer in combinations(errors, len(errors) - 1):
            if function := together(fewer):
                each = Explanation(fewer, function)
                if all(row.as_learner(each) for row in ended):
                    return False
        return True


def _same_message(one: Raised | None, other: Raised | None) -> bool:
    return one is not None and other is not None and one.message == other.message != ""


def _size(call: Call) -> int:
    """Return how many numbers and texts go into a call."""
    inputs = leaves([call.arguments, call.keywords])
    return sum(leaf.size if is_array(leaf) else 1 for _, leaf in inputs)
