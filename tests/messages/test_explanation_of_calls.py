"""What a learner reads where a call ends without a result, or changes an argument."""

from dataclasses import replace

import numpy as np
import pytest

from autograder.checking.call import CallResult
from autograder.checking.exercise import Exercise
from autograder.checking.judging import judge
from autograder.gradebook.safe_html import verdicts_html
from autograder.messages.explanation import explain
from autograder.messages.report import CheckReport
from tests.checking.test_judging import double, judged, renamed
from tests.messages.explained import (
    FED,
    X,
    about,
    changing,
    explained,
    no_arguments,
    report_of,
    steps,
    tiny_weight,
)


def crash(x):
    y = x
    return y @ np.ones(3)


def test_exception_is_explained_with_type_text_and_line():
    answer = renamed(crash, "double")
    line = crash.__code__.co_firstlineno + 2
    assert explained(about(double, X), answer) == (
        f"{FED}stopped with ValueError: matmul: Input operand 1 has a mismatch in its "
        "core dimension 0 (size 3 is different from 2) (line "
        f"{line}: `return y @ np.ones(3)`). It should return [2, -4]."
    )


def test_exception_in_a_helper_names_the_helper():
    line = crash.__code__.co_firstlineno + 2
    message = explained(about(double, X), lambda x: crash(x))
    assert f"(line {line} of `crash`: `return y @ np.ones(3)`)" in message


def test_exception_without_text_or_line():
    def silent():
        raise KeyError

    assert "stopped with KeyError (line " in explained(
        about(double, X), lambda x: silent()
    )
    assert explained(about(double, X), no_arguments) == (
        f"{FED}stopped with TypeError: no_arguments() takes 0 positional arguments but "
        "1 was given. It should return [2, -4]."
    )


def test_numpy_errors_turned_on_do_not_harm_the_explanation():
    exercise = about(tiny_weight, np.array([-1e4]))
    result = judged(exercise, lambda x: None)
    with np.errstate(all="raise"):
        message = explain(exercise, result.cases[0])
    assert message.endswith("It should return [0].")


def test_long_exception_text_is_cut_to_one_line():
    def fail(x):
        raise RuntimeError("first\n\nsecond. " + 1000 * "x")

    message = explained(about(double, X), fail)
    assert "RuntimeError: first second. xxx" in message
    assert "…" in message
    assert "\n" not in message
    assert len(message) < 450


def test_timeout_is_explained():
    exercise = about(double, X)
    result = judge(exercise, lambda names: lambda *_: CallResult("timeout"))
    assert explain(exercise, result.cases[0]) == (
        f"{FED}was still running when its time was up (does a loop never end?). "
        "It should return [2, -4]."
    )


@pytest.mark.parametrize(
    ("argument", "answer", "message"),
    [
        (
            X,
            changing,
            "For x = [1, -2], your `double` changed its argument x from [1, -2] to "
            "[1, 7]. It should leave x as it is.",
        ),
        (
            np.arange(20.0),
            changing,
            "For x (an array of shape (20,)), your `double` changed its argument x at "
            "[19] from 19 to 7. It should leave x as it is.",
        ),
        (
            [1, 2],
            lambda x: x.append(3) or 2 * x,
            "For x = [1, 2], your `double` changed its argument x from a list of "
            "length 2 to a list of length 3. It should leave x as it is.",
        ),
    ],
)
def test_changed_argument_is_explained(argument, answer, message):
    exercise = Exercise(double, lesson="none", minutes=1, difficulty=1)
    exercise.spec(lambda x: answer(x.copy()))

    @exercise.case("The argument stays as it is")
    def stays(student, rng):
        student.leaves_unchanged(argument)

    assert explained(exercise, answer) == message


def leaving_x():
    """Return an exercise with a claim about values, and one about the argument."""
    exercise = about(double, X)

    @exercise.case("The argument x stays as it is")
    def stays(student, rng):
        student.leaves_unchanged(X)

    return exercise


@pytest.mark.parametrize(
    ("answer", "ended"),
    [
        (lambda x: x.missing, "the call ended in an error"),
        (lambda x: None, "the call returned None"),
    ],
)
def test_claim_that_could_not_be_tried_has_its_own_mark(answer, ended):
    exercise = leaving_x()
    result = judged(exercise, answer)
    report = CheckReport(exercise, result)
    line = f"  – The argument x stays as it is (not tried: {ended})"
    assert (result.n_holding, result.points, result.solved) == (0, 0.0, False)
    assert str(report).startswith("double: 0 of 2 claims hold\n")
    assert line in str(report).splitlines()
    assert "  ✗ It is so" in str(report).splitlines()
    graded = replace(result, report=str(report))
    for page in (report.html(), verdicts_html(graded)):
        assert 'aria-label="not tried">–</span> The argument x stays' in page
        assert f"(not tried: {ended})" in page
        assert page.count('aria-label="does not hold">✗') == 1


@pytest.mark.parametrize("ending", ["timeout", "crashed", "output", "untried"])
def test_claim_is_not_tried_however_the_call_ends(ending):
    exercise = leaving_x()
    result = judge(exercise, lambda names: lambda *_: CallResult(ending))
    report = str(CheckReport(exercise, result))
    assert "  – The argument x stays as it is (not tried: the call " in report


def test_claim_that_was_tried_has_a_cross():
    report = report_of(leaving_x(), changing)
    assert "  ✗ The argument x stays as it is\n" in report
    assert "not tried" not in report


def test_changed_argument_of_any_number_is_named():
    def both(*parts):
        return parts[0] + parts[1]

    def spoil(*parts):
        parts[1][1] = 7.0
        return parts[0] + parts[1]

    exercise = Exercise(both, lesson="none", minutes=1, difficulty=1)
    exercise.spec(spoil)

    @exercise.case("The arguments stay as they are")
    def stay(student, rng):
        student.leaves_unchanged(X, X)

    assert explained(exercise, spoil) == (
        "For parts[0] = [1, -2] and parts[1] = [1, -2], your `both` changed its "
        "argument parts[1] from [1, -2] to [1, 7]. It should leave parts[1] as it is."
    )


def test_changed_part_of_an_argument_is_explained():
    exercise = Exercise(steps, lesson="none", minutes=1, difficulty=1)
    exercise.spec(lambda x: 1.0)

    @exercise.case("The argument stays as it is")
    def stays(student, rng):
        student.leaves_unchanged({"w": [X]})

    def spoil(x):
        x["w"][0][0] = 5.0
        return 1.0

    assert explained(exercise, spoil) == (
        "For x = {\"w\": [[1, -2]]}, your `steps` changed its argument x at ['w', 0] "
        "from [1, -2] to [5, -2]. It should leave x as it is."
    )
