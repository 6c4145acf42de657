"""What judge, words and report make of outcomes that only a sandbox gives."""

import numpy as np
import pytest

from autograder.checking.call import CallResult, Raised
from autograder.checking.exercise import Exercise
from autograder.checking.judging import judge
from autograder.messages import report as messages
from autograder.messages.report import Report

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
    """Give twice a number."""
    return 2 * x


def exercise_of(*visible, uses=()):
    """Give an exercise with a case for each; each case asks for one number."""
    found = Exercise(double, lesson="90_test", minutes=5, difficulty=1, uses=uses)
    found.spec(double)
    for place, shown in enumerate(visible):

        def case(student, rng, place=place):
            student.agrees(4321.0 + place)

        case.__name__ = f"case_{place}"
        found.case(f"Claim {place}", points=2, visible=shown)(case)
    return found


def judged(*outcomes, visible=True, **more):
    """Judge an answer that gives these outcomes, one at each call."""
    exercise = exercise_of(*[visible] * len(outcomes), **more)
    left = [*outcomes]
    return judge(exercise, lambda names: lambda arguments, keywords: left.pop(0))


@pytest.mark.parametrize("status", KINDS)
def test_each_end_has_a_status_of_its_own_and_earns_nothing(status):
    found = judged(KINDS[status])
    assert [verdict.status for verdict in found.verdicts] == [status]
    assert found.points == 0
    assert found.misconception is None


@pytest.mark.parametrize("status", KINDS)
def test_a_visible_claim_says_what_was_fed_how_it_ended_and_what_was_expected(status):
    found = judged(KINDS[status])
    told = messages.explain(found.exercise, found.verdicts[0])
    assert told.startswith("For x = 4321, your `double` ")
    assert VISIBLE[status] in told
    assert "It should return 8642" in told


@pytest.mark.parametrize("status", KINDS)
def test_a_hidden_claim_says_how_it_ended_and_never_the_input(status):
    found = judged(KINDS[status], visible=False)
    told = messages.explain(found.exercise, found.verdicts[0])
    assert told == f"Your function {HIDDEN[status]}"
    report = str(Report(found))
    for secret in ("4321", "8642", "secret", "return [][x]", "Unable"):
        assert secret not in told
        assert secret not in report


@pytest.mark.parametrize("status", TOGETHER)
def test_what_ends_every_call_in_one_way_is_told_once(status):
    found = judged(KINDS[status], KINDS[status], KINDS[status])
    told = str(Report(found))
    assert told.count("Every call ends in the same way") == 1
    assert told.count(VISIBLE[status].split(" (")[0].split(":")[0]) == 1
    assert "double: 0 of 3 claims hold" in told


@pytest.mark.parametrize("status", TOGETHER)
def test_the_second_claim_that_ends_so_refers_to_the_first(status):
    found = judged(KINDS[status], CallResult("value", 8644.0), KINDS[status])
    told = str(Report(found))
    assert f"Here it {TOGETHER[status]} too." in told
    assert found.points == 2


@pytest.mark.parametrize("status", KINDS)
def test_the_claims_before_and_after_keep_their_points(status):
    right = CallResult("value", 8642.0), CallResult("value", 8646.0)
    found = judged(right[0], KINDS[status], right[1])
    assert [v.status for v in found.verdicts] == ["ok", status, "ok"]
    assert found.points == 4


def test_a_memory_error_of_numpys_own_kind_is_memory_too():
    kinds = ("_ArrayMemoryError", "MemoryError", "Exception")
    found = judged(CallResult("raised", raised=Raised(kinds)))
    assert found.verdicts[0].status == "memory"


@pytest.mark.parametrize("line", ["", "raise NotImplementedError  # replace this line"])
def test_the_untouched_stub_is_missing(line):
    raised = Raised(("NotImplementedError", "RuntimeError"), "", "double", 2, line)
    found = judged(CallResult("raised", raised=raised))
    assert found.verdicts[0].status == "missing"
    assert messages.not_written(found)
    assert "double is not written yet" in str(Report(found))


def test_a_value_of_a_type_that_does_not_cross_is_wrong_by_its_type():
    from autograder.grading.inside.wire import UnknownObject

    sly = type("SlyArray", (UnknownObject,), {})()
    for exercise_visible in (True, False):
        found = judged(CallResult("value", sly), visible=exercise_visible)
        told = messages.explain(found.exercise, found.verdicts[0])
        assert found.verdicts[0].status == "wrong"
        assert ("SlyArray" in told) == exercise_visible


@pytest.mark.parametrize("kind", ["timeout", "crashed", "output"])
def test_where_an_error_is_asked_for_another_end_is_that_end(kind):
    exercise = exercise_of()

    @exercise.case("Refuses a text", points=1)
    def refuses(student, rng):
        student.raises(ValueError, "text")

    found = judge(exercise, lambda names: lambda *call: CallResult(kind))
    assert found.verdicts[0].status == kind


@pytest.mark.parametrize("kind", ["timeout", "crashed"])
def test_an_earlier_answer_that_ends_so_is_blamed_and_costs_nothing_here(
    kind, monkeypatch
):
    """With the course's version of what it uses, the answer is right."""
    exercise = exercise_of(True, uses=("softmax",))

    def make_runner(names):
        return lambda arguments, keywords: (
            CallResult("value", 8642.0) if names else CallResult(kind)
        )

    found = judge(exercise, make_runner)
    assert found.passed
    assert found.blamed == ("softmax",)
    assert "Your own `softmax` is what failed" in str(Report(found))


def test_nan_and_infinity_from_a_sandbox_never_pass():
    for number in (float("nan"), float("inf"), np.float64("nan")):
        assert judged(CallResult("value", number)).points == 0
