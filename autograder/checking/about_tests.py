"""What is wrong with a learner's test, in a sentence that holds by construction.

A test that does not solve its exercise runs once more: against the right versions,
unless all are known to pass, and against each broken version whose case is lost. The
calls that it makes are recorded, and of each both results are known: the right one and
the broken one. So one of three things is true of a broken version that passes:

- some call of the test has got a wrong result, and no assertion failed by it;
- all results were right, and a kind of input is missing that alone shows the error;
- all results were right, and it is not known which input would show it.
"""

import inspect
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from autograder.checking.assertions import (
    assertion_at,
    cannot_fail,
    has_no_assertion,
    line_of,
    shortened,
)
from autograder.checking.call import Call, Runner, local_runner
from autograder.checking.exercise import Function
from autograder.checking.functions_under_test import function_of
from autograder.checking.learners_tests import InputKind, LearnersTest
from autograder.checking.recorded_results import (
    RecordedTest,
    RunOfTest,
    briefly,
    largest_difference,
    pairs_of,
    wrong_among,
)
from autograder.checking.result import ExerciseResult
from autograder.checking.values import is_array
from autograder.checking.why_tests_pass import (
    MAX_KINDS,
    listed,
    missing_kinds,
    what_is_not_seen,
    what_is_not_tried,
)

TOO_MUCH = re.compile(r" function under test( hold)? at most [\d,]+ ")
UNSEEN = "wrong results go unseen"
RETURNS = {"returns_false", "returns_true_or_false", "raises_another_error"}


def with_sentence(
    exercise: LearnersTest, result: ExerciseResult, runner: Runner, text: str
) -> ExerciseResult:
    """Return a test's result with a sentence on what is wrong with it.

    text : of the cell that defines the test, "" if it is not known

    A diagnosis that the recorded calls contradict is left out.
    """
    if sentence := _of_limits(result.calls):
        return replace(result, diagnosis="", evidence=sentence)
    endings = {call.result.kind for call in result.calls}
    if not endings <= {"value", "raised"} or result.diagnosis in RETURNS:
        return result
    if sentence := _of_two_minds(result.calls):
        return replace(result, diagnosis="", evidence=sentence)
    test = RecordedTest(exercise, runner, text)
    passed = {function_of(c) for c in result.calls if c.result.kind == "value"}
    if not passed.issuperset(exercise.right.values()):
        right = {how: test.run(each) for how, each in exercise.right.items()}
        if any(run.verdict.way not in ("passes", "answers") for run in right.values()):
            return _at_right_versions(test, result, right)
    return _at_broken_versions(test, result)


def _of_limits(calls: Sequence[Call]) -> str:
    """Return a sentence if a test asks for too much of a function, else ""."""
    for call in calls:
        message = call.result.raised.message if call.result.raised else ""
        if TOO_MUCH.search(message):
            return (
                f"Your test asks too much of a function that it gets: {message}. How "
                "few calls and numbers show an error?"
            )
    return ""


def _of_two_minds(calls: Sequence[Call]) -> str:
    """Return a sentence if a test gives two answers to one function, else ""."""
    rejects: dict[Function, set[bool]] = {}
    for call in calls:
        function, raised = function_of(call), call.result.raised
        is_no = raised is not None and "AssertionError" in raised.types
        if function and (is_no or call.result.kind == "value"):
            rejects.setdefault(function, set()).add(is_no)
    if all(len(answers) == 1 for answers in rejects.values()):
        return ""
    return (
        "Your test rejects a function in one call and lets the same function pass in "
        "another: it depends on more than what the function returns. Does it draw "
        "numbers without a seed, or remember something?"
    )


# Right versions that do not pass


def _at_right_versions(
    test: RecordedTest, result: ExerciseResult, right: Mapping[str, RunOfTest]
) -> ExerciseResult:
    """Add what a test says of right versions that it does not let pass."""
    exercise = test.exercise
    ways = {how: run.verdict.way for how, run in right.items()}
    stopped = [how for how, way in ways.items() if way in ("stops", "breaks")]
    if stopped:
        sentence = _where_it_stops(test, right[stopped[0]], len(stopped) == len(ways))
        return replace(result, evidence=sentence)
    rejected = [how for how, way in ways.items() if way == "rejects"]
    if not rejected:  # its time was up
        return result
    passed = [how for how in ways if how not in rejected]
    if passed:
        furthest = max(largest_difference(right[how].record.calls) for how in rejected)
        by = f"by {furthest:.1g} at most" if furthest else "by rounding at most"
        sentence = (
            f"Your test lets right versions pass ({', '.join(passed)}) and rejects "
            f"others ({', '.join(rejected)}): in your calls their results differ {by}. "
            "How far apart may two right results be?"
        )
        keeps = result.diagnosis == "rounding_is_an_error"
        return result if keeps else replace(result, diagnosis="", evidence=sentence)
    let_pass = [
        name
        for name, broken in exercise.broken.items()
        if name in {each.case for each in result.cases}
        and test.run(broken).verdict.way == "passes"
    ]
    sentence = _what_failed(test, right)
    if result.diagnosis == "rejects_everything" and not let_pass:
        return replace(result, evidence=sentence)
    sentence = f"Your test rejects every right version. {sentence}"
    if 0 < len(let_pass) < MAX_KINDS:
        versions = [f"“{test.claims[name]}”" for name in let_pass]
        sentence += f" It lets the broken version of {listed(versions, 'and')} pass."
    sentence += " Which of the two is wrong, the result or what you expect?"
    return replace(result, diagnosis="", evidence=sentence)


def _what_failed(test: RecordedTest, right: Mapping[str, RunOfTest]) -> str:
    """Return which assertion failed at a right version, and what it had returned."""
    how, run = next(iter(right.items()))
    raised = run.verdict.raised
    line = assertion_at(test.text, raised.line_number) or shortened(raised.line, 90)
    if not run.record.calls:
        return "It has not called the function before that, so no result was wrong."
    where = f"`{line}` (line {raised.line_number})" if line else "An assertion"
    call = run.record.calls[-1]
    got = briefly(call.result)
    return f"{where} fails at the one that works “{how}”: its last result was {got}."


def _where_it_stops(test: RecordedTest, run: RunOfTest, is_all: bool) -> str:
    """Return why a test stops at a right version with an error of its own."""
    raised = run.verdict.raised
    which = "every right version" if is_all else "a right version"
    where = f" in line {raised.line_number}" if raised.line_number else ""
    if line := shortened(raised.line or line_of(test.text, raised.line_number)):
        where += f", `{line}`"
    message = shortened(raised.message, 110)
    error = raised.types[0] + (f" ({message})" if message else "")
    start = f"Your test stops at {which} with {error}{where}"
    calls = run.record.calls
    if calls and calls[-1].refused:
        arguments, _ = calls[-1].arguments
        call = ", ".join(briefly(each) for each in arguments)
        return (
            f"{start}: a right one refuses the call with {call}. What does the "
            "docstring say of these arguments?"
        )
    if not calls:
        return f"{start}, before it has got a result. What does that line need?"
    return (
        f"{start}. The last result before it was {briefly(calls[-1].result)}. What "
        "does that line need?"
    )


# Broken versions that pass


def _at_broken_versions(test: RecordedTest, result: ExerciseResult) -> ExerciseResult:
    """Add why broken versions pass: what no assertion sees, and what is not tried."""
    failing = [each for each in result.cases if each.status != "ok"]
    visible = {each.case for each in failing if each.visible}
    runs = {each.case: test.run(test.exercise.broken[each.case]) for each in failing}
    passing = {name: run for name, run in runs.items() if run.verdict.way == "passes"}
    name = test.exercise.name
    if sentence := cannot_fail(test.text, name):
        return replace(result, evidence=sentence)
    if not passing:
        sentence = _after_wrong_results(test, runs)
        return replace(result, evidence="" if result.diagnosis else sentence)
    if all(run.record.is_complete and not run.record.calls for run in passing.values()):
        return replace(result, evidence=_never_called(test))
    let_all_pass = len(passing) == len(result.cases)
    if let_all_pass and test.text and has_no_assertion(test.text, name):
        sentence = (
            "Your test has no `assert` and raises nothing, so nothing that a function "
            "returns can make it fail. Which line should say that a result is wrong?"
        )
        return replace(result, evidence=sentence)
    unseen = {
        name: run for name, run in passing.items() if wrong_among(run.record.calls)
    }
    same = {
        name: run
        for name, run in passing.items()
        if name not in unseen and run.record.is_complete
    }
    missing = missing_kinds(test.exercise, same)
    kinds = {each.weak for each in test.exercise.kinds}
    if _is_told(test.exercise, result.diagnosis, passing):
        if result.diagnosis in kinds or not missing:
            return result
        return replace(result, evidence=what_is_not_tried(test, missing))
    first = [name for name in unseen if name in visible] or [*unseen]
    parts = [what_is_not_seen(test, unseen, first)] if unseen else []
    parts += [what_is_not_tried(test, missing)] if missing else []
    if not parts and same:
        parts = [
            f"In all of your calls {test.version(next(iter(same)))} returns what a "
            "right one returns. Which input would tell the two apart?"
        ]
    diagnosis = "" if result.diagnosis in kinds or parts else result.diagnosis
    if result.diagnosis == "lets_everything_pass":
        diagnosis = result.diagnosis
    return replace(result, diagnosis=diagnosis, evidence=" ".join(parts))


def _never_called(test: RecordedTest) -> str:
    signature = inspect.signature(test.exercise.reference)
    parameter = next(iter(signature.parameters))
    return (
        f"Your test never calls the function that it gets, its argument `{parameter}`. "
        "Whose results does it look at?"
    )


def _is_told(
    exercise: LearnersTest, diagnosis: str, passing: Mapping[str, RunOfTest]
) -> bool:
    """Decide whether a diagnosis says what matters, and the calls bear it out.

    They are compared with those of the weak test of that name. If this one is weak by a
    kind of input, each version passes for the same reason here and there, or hides
    behind that kind. Else wrong results go unseen of such versions alone of which they
    go unseen there, and of some if of any there: a test that compares shapes alone may
    try less than the weak one, and it is the shapes that come first.
    """
    bank = {each.name: each for each in exercise.misconceptions}
    if diagnosis not in bank or diagnosis == "lets_everything_pass":
        return False
    weak = RecordedTest(
        exercise, local_runner(bank[diagnosis].function, causes=False), ""
    )
    kinds = [each for each in exercise.kinds if each.weak == diagnosis]
    unseen = Counter[str]()
    for name, run in passing.items():
        ours = _why_it_passes(exercise, name, run)
        theirs = _why_it_passes(exercise, name, weak.run(exercise.broken[name]))
        unseen += Counter(here=ours == UNSEEN, there=theirs == UNSEEN)
        if kinds and ours not in (theirs, *kinds):
            return False
        if ours == UNSEEN and theirs != UNSEEN:
            return False
    return bool(kinds or unseen["here"] or not unseen["there"])


def _why_it_passes(
    exercise: LearnersTest, name: str, run: RunOfTest
) -> InputKind | str:
    """Return the kind of input that is missing, ``UNSEEN``, or "" if it is neither."""
    if wrong_among(run.record.calls):
        return UNSEEN
    known = {name: run} if run.record.is_complete else {}
    return next(iter(missing_kinds(exercise, known)), "")


def _after_wrong_results(test: RecordedTest, runs: Mapping[str, RunOfTest]) -> str:
    """Return where a test stops, if it does so after a result of the wrong shape."""
    ways = {run.verdict.way for run in runs.values()}
    if ways == {"answers"}:
        return (
            "Your test returns a value, also for a broken version, and raises nothing: "
            "who runs a test hears of exceptions alone. Which statement raises "
            "AssertionError where a condition is false?"
        )
    for run in runs.values():
        raised, calls = run.verdict.raised, run.record.calls
        if run.verdict.way != "stops" or not calls or not raised.line_number:
            continue
        for got, right in pairs_of(calls[-1]):
            if is_array(got) and is_array(right) and got.shape != right.shape:
                return (
                    f"Your test stops in line {raised.line_number} with "
                    f"{raised.types[0]} where a broken version has returned the shape "
                    f"{got.shape} in place of {right.shape}. Which assertion "
                    "could stand in front of that line?"
                )
    return ""
