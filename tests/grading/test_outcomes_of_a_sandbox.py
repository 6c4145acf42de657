"""What judging and messages make of call results that only a sandbox gives."""

from typing import NamedTuple

import numpy as np
import pytest

from autograder.checking.call import CallResult, Raised
from autograder.checking.exercise import Exercise
from autograder.checking.judging import judge
from autograder.checking.result import ExerciseResult
from autograder.messages.explanation import explain
from autograder.messages.report import CheckReport

MEMORY = Raised(("MemoryError", "Exception"), "Unable to allocate 8 GiB", "double", 2)
STOPPED = Raised(("ValueError", "Exception"), "secret 7", "double", 2, "return [][x]")
KINDS = {
    "timeout": CallResult("timeout"),
    "crashed": CallResult("crashed"),
    "output": CallResult("output"),
    "memory": CallResult("raised", raised=MEMORY),
    "error": CallResult("raised", raised=STOPPED),
}
VISIBLE = {
    "timeout": "was still running when its time was up (does a loop never end?)",
    "crashed": "ended the whole Python process (is there an exit in it?)",
    "output": "returned more data than can be graded",
    "memory": "stopped with MemoryError: Unable to allocate 8 GiB (line 2)",
    "error": "stopped with ValueError: secret 7 (line 2: `return [][x]`)",
}
HIDDEN = {
    "timeout": "was still running on a hidden input when its time was up.",
    "crashed": "ended the whole Python process on a hidden input.",
    "output": "returned more data than can be graded for a hidden input.",
    "memory": "stopped with MemoryError (line 2) on a hidden input.",
    "error": "stopped with ValueError (line 2) on a hidden input.",
}
TOGETHER = {
    "timeout": "does not come to an end",
    "crashed": "ends the whole Python process",
    "output": "returns more data than can be graded",
    "memory": "stops with MemoryError in line 2 of `double`",
}


def double(x):
    """Return twice a number."""
    return 2 * x


def exercise_of(*visible, uses=()):
    """Return an exercise with a case for each, of 2 points, that asks for a number."""
    minutes = 2 * len(visible) or 2
    exercise = Exercise(
        double, lesson="90_test", minutes=minutes, difficulty=1, uses=uses
    )
    exercise.spec(double)
    for number, is_visible in enumerate(visible):

        def case(student, rng, number=number):
            # Drawn, if always 0: a case that draws nothing pays nothing by itself.
            student.agrees(4321.0 + number + 0 * rng.random())

        case.__name__ = f"case_{number}"
        exercise.case(f"Claim {number}", visible=is_visible)(case)
    return exercise


class Judged(NamedTuple):
    """The result of an exercise, with why its first claim fails and the report."""

    result: ExerciseResult
    why: str
    report: str


def judged(*results, visible=True):
    """Judge an answer that gives these results, one at each call, and then the last."""
    exercise = exercise_of(*[visible] * len(results))
    left = [*results]

    def runner(arguments, keywords):
        return left.pop(0) if len(left) > 1 else left[0]

    result = judge(exercise, lambda names: runner)
    why = explain(exercise, result.cases[0])
    return Judged(result, why, str(CheckReport(exercise, result)))


@pytest.mark.parametrize("status", KINDS)
def test_each_end_has_its_own_status_and_earns_nothing(status):
    result = judged(KINDS[status]).result
    assert [verdict.status for verdict in result.cases] == [status]
    assert result.points == 0
    assert result.diagnosis == ""


@pytest.mark.parametrize("status", KINDS)
def test_visible_claim_explains_input_end_and_expected_value(status):
    why = judged(KINDS[status]).why
    assert why.startswith("For x = 4321, your `double` ")
    assert VISIBLE[status] in why
    assert "It should return 8642" in why


@pytest.mark.parametrize("status", KINDS)
def test_hidden_claim_explains_end_and_never_the_input(status):
    _, why, report = judged(KINDS[status], visible=False)
    assert why == f"Your function {HIDDEN[status]}"
    for secret in ("4321", "8642", "secret", "return [][x]", "Unable"):
        assert secret not in why
        assert secret not in report


@pytest.mark.parametrize("status", TOGETHER)
def test_end_of_every_call_is_explained_once(status):
    report = judged(KINDS[status], KINDS[status], KINDS[status]).report
    assert report.count("Every claim fails in the same way") == 1
    assert report.count(VISIBLE[status].split(" (")[0].split(":")[0]) == 1
    assert "double: 0 of 3 claims hold" in report


@pytest.mark.parametrize("status", TOGETHER)
def test_second_claim_with_the_same_end_refers_to_the_first(status):
    result, _, report = judged(
        KINDS[status], CallResult("value", 8644.0), KINDS[status]
    )
    assert f"Here it {TOGETHER[status]} too." in report
    assert result.points == 2


@pytest.mark.parametrize("status", KINDS)
def test_claims_before_and_after_keep_their_points(status):
    right = CallResult("value", 8642.0), CallResult("value", 8646.0)
    result = judged(right[0], KINDS[status], right[1]).result
    assert [v.status for v in result.cases] == ["ok", status, "ok"]
    assert result.points == 4


def test_numpys_own_memory_error_is_memory_too():
    kinds = ("_ArrayMemoryError", "MemoryError", "Exception")
    result = judged(CallResult("raised", raised=Raised(kinds))).result
    assert result.cases[0].status == "memory"


@pytest.mark.parametrize("line", ["", "raise NotImplementedError  # replace this line"])
def test_untouched_stub_is_missing(line):
    raised = Raised(("NotImplementedError", "RuntimeError"), "", "double", 2, line)
    result, _, report = judged(CallResult("raised", raised=raised))
    assert result.cases[0].status == "missing"
    assert result.is_unwritten
    assert "double is not written yet" in report


def test_value_of_a_type_that_does_not_cross_is_wrong():
    from autograder.grading.inside.wire import UnknownObject

    sly = type("SlyArray", (UnknownObject,), {})()
    for is_visible in (True, False):
        result, why, _ = judged(CallResult("value", sly), visible=is_visible)
        assert result.cases[0].status == "wrong"
        assert ("SlyArray" in why) == is_visible


@pytest.mark.parametrize("kind", ["timeout", "crashed", "output"])
def test_other_end_than_the_expected_error_is_that_end(kind):
    exercise = exercise_of()

    @exercise.case("Refuses a text")
    def refuses(student, rng):
        student.raises(ValueError, "text")

    result = judge(exercise, lambda names: lambda *call: CallResult(kind))
    assert result.cases[0].status == kind


@pytest.mark.parametrize("kind", ["timeout", "crashed"])
def test_earlier_answer_with_such_an_end_is_blamed(kind):
    exercise = exercise_of(True, uses=("softmax",))

    def make_runner(names):
        return lambda arguments, keywords: (
            CallResult("value", 8642.0) if names else CallResult(kind)
        )

    result = judge(exercise, make_runner)
    assert result.passed
    assert result.blamed == ("softmax",)
    report = str(CheckReport(exercise, result))
    assert "Your own `softmax` is what failed" in report


def test_nan_and_infinity_from_a_sandbox_never_pass():
    for number in (float("nan"), float("inf"), np.float64("nan")):
        assert judged(CallResult("value", number)).result.points == 0
