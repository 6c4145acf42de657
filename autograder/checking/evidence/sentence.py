"""One true sentence about wrong results that no misconception explains.

What is said holds by construction: it is a relation between the learner's results and
the right ones on every call that fails (``relations``, ``forms``, ``replays``), and
where the failing calls have something in common that no right call has
(``conditions``), that too. Nothing is said of the code.
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from inspect import signature
from typing import Any

from autograder.checking.call import Call, CallResult, Runner, copied, silenced
from autograder.checking.comparison import first_difference
from autograder.checking.diagnosis import is_in_single_precision, replay
from autograder.checking.evidence.clauses import (
    Compared,
    Way,
    builtin_kind,
    cause,
    changed_clause,
    clause_of,
    with_article,
)
from autograder.checking.evidence.conditions import condition
from autograder.checking.evidence.drawn_calls import is_confirmed
from autograder.checking.evidence.half_precision import half_precision
from autograder.checking.evidence.shapes import shape_clause
from autograder.checking.exercise import Exercise
from autograder.checking.student import SINGLE, compare_result, least_precise
from autograder.checking.values import FLOATS, is_one_of

WHICH_LINE = (
    "Which line of yours writes into an argument (with `-=`, `[…] =` or a method) "
    "instead of making something new?"
)
OTHERS_ARE_RIGHT = "every other call is right"
MIN_RIGHT = 2  # calls of which that is said
COUNTED = re.compile(r"\b\d+ of \d+ calls|^Of \d+ calls")


def evidence(
    exercise: Exercise,
    calls: Sequence[Call],
    failing_cases: Collection[str] = (),
    examples: Callable[[], Sequence[Call]] = tuple,
    runner: Runner | None = None,
) -> str:
    """Return one sentence that is true of all recorded calls, or "".

    failing_cases : the names of the cases that do not hold; where the calls of one are
        right, as where results of several are compared, no other call is said to be
    examples : makes the calls of the docstring's examples, which a sentence without a
        count has to hold of, too
    runner : calls the answer, to tell conditions apart that hold of the same calls
    """
    try:
        with silenced():
            sentence = _evidence(exercise, calls, failing_cases, runner)
            if not sentence:
                return ""
            more = examples()
            with_more = _evidence(exercise, [*calls, *more], failing_cases, runner)
            if COUNTED.search(sentence) and not _wrong(exercise, more):
                # What tells failing calls from right ones says more than a count.
                return with_more if OTHERS_ARE_RIGHT in with_more else sentence
            return with_more or _of_counted_calls(sentence)
    except Exception:  # a value of the learner's own that nothing here foresaw
        return ""


def _of_counted_calls(sentence: str) -> str:
    """Return of a sentence on some calls what others cannot make untrue, or ""."""
    counted = sentence.replace(f"; {OTHERS_ARE_RIGHT}", "")
    is_of_others = re.search(r", (those|the one) |\bonly\b", counted)
    return counted if COUNTED.search(counted) and not is_of_others else ""


def _wrong(exercise: Exercise, calls: Sequence[Call]) -> list[Compared]:
    compared = _compared(calls, _right_results(exercise, calls))
    return [each for each in compared if each.way != "right"]


def _evidence(
    exercise: Exercise,
    calls: Sequence[Call],
    failing_cases: Collection[str],
    runner: Runner | None,
) -> str:
    calls = [
        call for call in calls if call.result.kind != "untried" and not call.fine_point
    ]
    right = _right_results(exercise, calls)
    compared = _compared(calls, right)
    failing = [each for each in compared if each.way != "right"]
    if not failing:
        return _of_floats(exercise, compared)
    if any(map(_is_unwritten, failing)):
        return ""
    is_all = {each.call.case for each in failing} >= {*failing_cases}
    ways: dict[Way, list[Compared]] = {}
    for each in failing:
        ways.setdefault(each.way, []).append(each)
    if len(ways) == 1:
        return _of_all(exercise, compared, failing, is_all, runner)
    if 2 * len(ways.get("none", ())) >= len(failing):  # has to be known first
        return _of_some(exercise, compared, ways["none"], runner)
    stopped = _of_one_cause(ways.get("raised", []))
    if 2 * len(stopped) > len(failing) and cause(stopped):
        return _of_some(exercise, compared, stopped, runner)
    where = _where(exercise, compared, failing, runner)
    if where:
        return _right_but(where, len(failing), len(compared), is_all)
    sentences = (
        _of_some(exercise, compared, ways[way], runner) for way in ORDER if way in ways
    )
    return next(filter(None, sentences), "")


def _of_floats(exercise: Exercise, compared: Sequence[Compared]) -> str:
    """Return that equal numbers are floats, where the stub's result is an int."""
    if signature(exercise.reference).return_annotation not in (int, "int"):
        return ""
    floats = [each for each in compared if is_one_of(each.call.result.value, FLOATS)]
    first = next((each for each in floats if not each.call.hidden), None)
    if first is None:
        return ""
    value, right = first.call.result.value, first.right.value
    clause = (
        f"your number is right but a float, {float(value)}: "
        f"the stub's `-> int` promises {right}"
    )
    return _sentence(clause, "", len(floats), len(compared), "", "value")


def _of_some(
    exercise: Exercise,
    compared: Sequence[Compared],
    group: Sequence[Compared],
    runner: Runner | None,
) -> str:
    """Return what is common to calls that fail in one way, where others do too."""
    clause, calls = _clause_and_calls(exercise, compared, group)
    if not clause:
        return ""
    counted = _all_of(clause, exercise, compared, calls)
    failing = [each for each in compared if each.way != "right"]
    rest = "; other calls are wrong too" if len(counted) < len(failing) else ""
    where = _where(exercise, compared, counted, runner)
    n, of = len(counted), len(compared)
    sentence = _sentence(clause, where, n, of, rest, group[0].way)
    meaning = _cause(counted)
    if not meaning and (of_most := _cause(calls)):
        meaning = f" In {len(calls)} of these:{of_most}"
    return sentence + meaning


def _all_of(
    clause: str,
    exercise: Exercise,
    compared: Sequence[Compared],
    calls: Sequence[Compared],
) -> Sequence[Compared]:
    """Return all calls of which the clause about these holds.

    Exceptions may have been chosen by what they mean, which is not counted: it is all
    of their kind and, if they have one, their line. A call may change an argument and
    give a wrong result, too.
    """
    if clause == changed_clause(exercise, calls):
        return [
            each
            for each in compared
            if each.call.result.kind == "value"
            and changed_clause(exercise, [*calls, each]) == clause
        ]
    if calls[0].way != "raised":
        return calls
    kinds, lines = {*map(builtin_kind, calls)}, {*map(_any_line, calls)}
    return [
        each
        for each in compared
        if each.way == "raised" and builtin_kind(each) in kinds
        if len(lines) > 1 or _any_line(each) in lines
    ]


def _any_line(each: Compared) -> tuple[Any, ...]:
    raised = each.call.result.raised
    return (raised.function, raised.line_number) if raised else ()


def _cause(calls: Sequence[Compared]) -> str:
    """Return what an exception means, or where to look for a change, after a blank."""
    if calls[0].way == "changed":
        return f" {WHICH_LINE}"
    meaning = cause(calls) if calls[0].way == "raised" else ""
    return f" {meaning}" if meaning else ""


def _right_results(exercise: Exercise, calls: Sequence[Call]) -> list[CallResult]:
    """Return the reference's results; where it alone raises, those of the spec.

    A case may feed a result into the next call. If that one does not fit there, no
    exception is asked for.
    """
    results = replay(exercise.reference, calls)
    for number, (call, result) in enumerate(zip(calls, results, strict=True)):
        if result.raised:
            (other,) = replay(exercise.expected_function, [call])
            if not other.raised or result.raised.types[0] not in other.raised.types:
                results[number] = other
    return results


# Of calls that fail in several ways, the first that can be told of is told.
ORDER: tuple[Way, ...] = (
    "value",
    "precision",
    "changed",
    "no error",
    "other error",
    "none",
    "raised",
    "timeout",
    "crashed",
    "output",
)


ENDINGS: tuple[Way, ...] = ("none", "raised", "timeout", "crashed", "output")


def _compared(calls: Sequence[Call], right: Sequence[CallResult]) -> list[Compared]:
    """Pair the calls with the right results, and say how each of them is wrong.

    Where something is computed in float32, all is compared to float32's digits.
    """
    single = any(map(is_in_single_precision, calls, right))
    digits = SINGLE if single else 8
    return [
        Compared(
            call,
            result,
            min(least_precise(call).bytes_per_number, digits),
            _way(call, result),
        )
        for call, result in zip(calls, right, strict=True)
    ]


def _way(call: Call, right: CallResult) -> Way:
    """Return how a result differs from the right one."""
    result = call.result
    if result.kind != "value" or right.kind != "value":
        if result.raised and right.raised:
            same = right.raised.types[0] in result.raised.types
            return "right" if same else "other error"
        if result.kind == "value":
            return "no error"
        return result.kind if result.kind != "untried" else "right"
    if result.value is None and right.value is not None:
        return "none"
    difference = compare_result(call, right.value).difference
    if difference:
        return "precision" if difference.kind == "precision" else "value"
    changed = first_difference(result.arguments, right.arguments, exact=True)
    return "changed" if changed else "right"


def _is_unwritten(each: Compared) -> bool:
    raised = each.call.result.raised
    return raised is not None and "NotImplementedError" in raised.types


def _of_all(
    exercise: Exercise,
    compared: Sequence[Compared],
    failing: Sequence[Compared],
    is_all: bool,
    runner: Runner | None,
) -> str:
    """Return what is common to all failing calls, which fail in one way.

    is_all : whether nothing else is wrong
    """
    where = _where(exercise, compared, failing, runner)
    clause, calls = _clause_and_calls(exercise, compared, failing, by_reason=not where)
    n, of = len(failing), len(compared)
    if not clause:
        return _right_but(where, n, of, is_all) if where else ""
    way = failing[0].way
    if len(calls) < n:
        return _of_some(exercise, compared, failing, runner)
    if way == "changed":
        rest = "; every result is right" if is_all else ""
    elif way == "no error" and all(
        (each.right.raised is None) is (each.way == "right") for each in compared
    ):
        if n == of:
            return _capital(clause) + "."
        if not is_all:
            return _sentence(clause, where, n, of, "", way)
        return f"Every result is right, but {clause} ({_of(n, of)})."
    else:
        # One right call may be a coincidence.
        rest = f"; {OTHERS_ARE_RIGHT}" if of - n >= MIN_RIGHT and is_all else ""
    return _sentence(clause, where, n, of, rest, way) + _cause(failing)


def _clause_and_calls(
    exercise: Exercise,
    compared: Sequence[Compared],
    group: Sequence[Compared],
    *,
    by_reason: bool = True,
) -> tuple[str, Sequence[Compared]]:
    """Return a clause, and the calls that it holds of: all of a group, or the most.

    Calls may differ in kind, as a wrong shape here and NaN there: of those of the most
    frequent kind something can be said that does not hold of the others.

    compared : all calls
    by_reason : whether exceptions are told apart by their reasons, too
    """
    if group[0].way == "raised":
        group = _of_one_kind(group, by_reason)
    clause, rounded = half_precision(compared, group)
    if clause:
        return clause, rounded
    if clause := clause_of(exercise, group, weak=False):
        return clause, group
    by_kind: dict[str, list[Compared]] = {}
    paths: dict[str, list[tuple[Any, ...]]] = {}
    for each in group if group[0].way == "value" else ():
        if difference := compare_result(each.call, each.right.value).difference:
            by_kind.setdefault(difference.kind, []).append(each)
            paths.setdefault(difference.kind, []).append(difference.path)
    kind = max(by_kind, key=lambda kind: len(by_kind[kind]), default="")
    chosen = by_kind.get(kind, [])
    if 1 < len(chosen) < len(group):
        if clause := clause_of(exercise, chosen, weak=False):
            return clause, chosen
    if kind == "shape" and 2 * len(chosen) > len(group):
        if clause := shape_clause(exercise, chosen, paths[kind]):
            return clause, chosen
    return clause_of(exercise, group), group


def _of_one_cause(stopped: Sequence[Compared]) -> Sequence[Compared]:
    """Return the calls whose exceptions have the most frequent meaning.

    They stop in one line: another line with the same meaning is another error.
    """
    by_cause: dict[Any, list[Compared]] = {}
    for each in stopped:
        raised = each.call.result.raised
        key = (raised.cause, raised.line_number) if raised else None
        by_cause.setdefault(key, []).append(each)
    return max(by_cause.values(), key=len, default=[])


def _of_one_kind(group: Sequence[Compared], by_reason: bool) -> Sequence[Compared]:
    """Return the calls that end in the most frequent kind of exception.

    by_reason : whether, where those have no meaning in common, it is those alone that
        mean the same, or else that stop at one line, if either is more than half
    """
    names = [builtin_kind(each) for each in group]
    most = max(names, key=names.count)
    chosen = [each for each, name in zip(group, names, strict=True) if name == most]
    if cause(chosen) or not by_reason:
        return chosen
    same = _of_one_cause(chosen)
    if 2 * len(same) > len(chosen) and cause(same):
        return same
    lines = [_line(each) for each in chosen]
    line = max(lines, key=lines.count)
    if line and 2 * lines.count(line) > len(lines):
        return [each for each, at in zip(chosen, lines, strict=True) if at == line]
    return chosen


def _line(each: Compared) -> tuple[Any, ...]:
    raised = each.call.result.raised
    known = raised is not None and not each.call.hidden
    return (raised.function, raised.line_number) if known and raised else ()


def _sentence(clause: str, where: str, n: int, of: int, rest: str, way: Way) -> str:
    end = ": is a `return` missing?" if way == "none" and not rest else "."
    if n == of:
        every = "both" if n == 2 else f"all {n}"
        always = f" in {every} calls" if way in ENDINGS and n > 1 else ""
        return f"{_capital(clause)}{always}{rest}{end}"
    if way == "none":
        those = ""
        if where:
            those = f", {'the one' if n == 1 else 'those'} {where}"
        return f"{_capital(clause)} in {_of(n, of)}{those}: is a `return` missing?"
    if where:
        clause = clause.removesuffix(f" {where}")  # an exception is asked for
        those = "the one" if n == 1 else "those"
        return f"In {_of(n, of)}, {those} {where}, {clause}{rest}."
    return f"In {_of(n, of)}, {clause}{rest}."


def _right_but(where: str, n: int, of: int, is_all: bool) -> str:
    those = f"the one {where} goes" if n == 1 else f"the {n} {where} go"
    return f"Of {of} calls, {'only ' if is_all else ''}{those} wrong."


def _of(n: int, of: int) -> str:
    return f"{n} of {of} calls"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _where(
    exercise: Exercise,
    compared: Sequence[Compared],
    group: Sequence[Compared],
    runner: Runner | None,
) -> str:
    """Return the condition that separates a group of calls from all others.

    runner : where there is one, the condition has to hold of calls drawn for it, too
    """
    members = {id(each) for each in group}
    kinds = {*map(_kind, group)}
    is_all = all((each.way != "right") == (id(each) in members) for each in compared)

    def fails(call: Call) -> bool | None:
        if runner is None:
            return None
        result = runner(copied(call.arguments), copied(call.keywords))
        drawn = replace(call, result=result)
        right = _right_results(exercise, [drawn])
        (each,) = _compared([drawn], right)
        if right[0].raised:
            return None
        return each.way != "right" and (is_all or _kind(each) in kinds)

    def is_true(text: str) -> bool:
        with_verdicts = [(each.call, id(each) in members) for each in compared]
        return runner is None or is_confirmed(exercise, text, with_verdicts, fails)

    return condition(
        exercise,
        [each.call for each in compared],
        [id(each) in members for each in compared],
        [
            with_article(each.right.raised.types[0]) if each.right.raised else ""
            for each in compared
        ],
        is_true,
    )


def _kind(each: Compared) -> tuple[str, str]:
    """Return how a call fails, and in what a wrong value differs."""
    if each.way != "value":
        return each.way, ""
    difference = compare_result(each.call, each.right.value).difference
    return each.way, difference.kind if difference else ""
