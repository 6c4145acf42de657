"""What a hidden case tells: that it failed, how, and nothing of its input."""

import numpy as np
import pytest

from autograder.checking.call import CallResult, Raised
from autograder.checking.exercise import Exercise
from autograder.checking.judging import judge
from autograder.messages.explanation import explain
from autograder.messages.report import CheckReport
from tests.checking.test_judging import (
    double,
    judged,
)
from tests.messages.explained import (
    about,
    changing,
    expecting,
    explained,
)

SECRET = 2718.0  # four digits, as messages show them


HIDDEN = {
    "None": (lambda x: None, "returned None for a hidden input."),
    "type": (
        lambda x: [SECRET],
        "gave a result with the wrong type for a hidden input.",
    ),
    "shape": (
        lambda x: x[None],
        "gave a result with the wrong shape for a hidden input.",
    ),
    "not finite": (
        lambda x: x * np.nan,
        "gave a result with a number that is not finite for a hidden input.",
    ),
    "precision": (
        lambda x: np.float16(2 * x),
        "gave a result with too low a precision for a hidden input.",
    ),
    "value": (lambda x: 3 * x, "gave a wrong answer for a hidden input."),
}


@pytest.mark.parametrize(("answer", "message"), HIDDEN.values(), ids=HIDDEN)
def test_hidden_case_reveals_no_input(answer, message):
    exercise = about(double, np.array([SECRET]), visible=False)
    assert explained(exercise, answer) == "Your function " + message


def test_hidden_case_names_exception_and_line_but_not_its_text():
    def tells(x):
        raise ValueError(f"the input is {x}")

    exercise = about(double, np.array([SECRET]), visible=False)
    line = tells.__code__.co_firstlineno + 1
    assert explained(exercise, tells) == (
        f"Your function stopped with ValueError (line {line}) on a hidden input."
    )


def test_hidden_case_with_timeout_or_changed_argument():
    exercise = about(double, np.array([SECRET]), visible=False)
    result = judge(exercise, lambda names: lambda *_: CallResult("timeout"))
    assert explain(exercise, result.cases[0]) == (
        "Your function was still running on a hidden input when its time was up."
    )
    exercise = Exercise(double, lesson="none", minutes=1, difficulty=1)
    exercise.spec(changing)

    @exercise.case("The argument stays as it is", visible=False)
    def stays(student, rng):
        student.leaves_unchanged(np.array([SECRET]))

    assert explained(exercise, changing) == (
        "Your function changed its arguments on a hidden input."
    )


def test_report_reveals_no_hidden_input():
    exercise = about(double, np.array([SECRET]), visible=False)
    answers = [answer for answer, _ in HIDDEN.values()]
    for answer in [*answers, lambda x: {}["x" * int(x[0] // 1000)], lambda x: 1 / 0]:
        report = CheckReport(exercise, judged(exercise, answer))
        for text in (str(report), report.html(), str(report.data())):
            assert "2718" not in text
            assert "5436" not in text


def test_broken_hidden_case_does_not_tell_what_it_tripped_over():
    def trips(student, what):
        raise KeyError("what the answer has returned")

    message = explained(expecting(trips, "", visible=False), double)
    assert message.endswith("please show the course's authors this line. KeyError")


def test_hidden_case_names_exceptions_of_python_only():
    raised = Raised(("print", "Secret2718", "KeyError", "int"), line_number=0)
    exercise = about(double, np.array([SECRET]), visible=False)
    result = judge(
        exercise, lambda names: lambda *_: CallResult("raised", None, raised)
    )
    assert explain(exercise, result.cases[0]) == (
        "Your function stopped with KeyError on a hidden input."
    )
