"""``check`` as a learner meets it, in Jupyter and outside."""

import contextlib
import functools
import warnings
from dataclasses import replace

import numpy as np
import pytest

from autograder import CheckFailed, check
from autograder import check as examine
from autograder.checking.judging import judge
from autograder.checking.registry import UnknownExercise, exercise_names, load
from autograder.checking.way_on import makes_possible
from autograder.in_notebook import check as check_module
from autograder.in_notebook.check import (
    CheckStopped,
    NotAnExercise,
    local_runner_factory,
)
from autograder.messages.report import (
    DATA_TYPE,
)
from course_lib import attention as course
from course_lib.attention import attention as course_attention
from tests.executed import (
    ALL_HOLD,
    CHATTY,
    CRASH,
    HEAD,
    NONE_HOLDS,
    ONE_HOLDS,
    RIGHT,
    SLIP,
    WRONG,
    error,
    executed,
    of_type,
    plain,
    stderr,
)
from tests.messages.explained import about, tiny_weight

# --- in the notebook ----------------------------------------------------------------


@pytest.fixture(scope="module")
def notebook():
    """Return the outputs of a learner's session, by name of the cell."""
    cells = {
        "head": HEAD,
        "stub": "def scaled_scores(q, k):\n    raise NotImplementedError()",
        "stub checked": "check(scaled_scores)",
        "crash": CRASH,
        "crash checked": "check(scaled_scores)",
        "wrong": WRONG,
        "wrong checked": "check(scaled_scores)",
        "right": RIGHT,
        "right checked": "check(scaled_scores)",
        "a result": "check(scaled_scores(np.ones((2, 3)), np.ones((2, 3))))",
        "wrong again": WRONG,
        "wrong again checked": "check(scaled_scores)",
        "over several lines": "check(\n    scaled_scores,\n)",
        "wrong otherwise": CRASH,
        "wrong otherwise checked": "check(scaled_scores)",
        "warnings to errors": "import warnings\nwarnings.simplefilter('error')\n"
        "import numpy as np\nnp.seterr(all='raise')\n" + CHATTY,
        "warnings to errors checked": "check(scaled_scores)",
        "alias": "attention = scaled_scores\ncheck(attention)",
        "softmax is wrong": "def softmax(x, axis=-1):\n    return np.exp(x)",
        "attention is right": "def attention(q, k, v):\n"
        "    weights = softmax(scaled_scores(q, k))\n    return weights @ v, weights",
        "attention checked": "check(attention)",
        "softmax after": "softmax(np.zeros(1))[0]",
        "two on one line": "check(scaled_scores); check(softmax)",
    }
    outputs = executed(*cells.values())
    return dict(zip(cells, outputs, strict=True))


def test_failed_check_shows_report_and_a_traceback_of_one_line(notebook):
    outputs = notebook["wrong checked"]
    (output,) = of_type(outputs, "display_data")
    assert set(output.data) == {"text/plain", "text/html", DATA_TYPE}
    assert output.data["text/plain"].startswith(ONE_HOLDS + "\n→ ")
    assert "divided by d_k" in output.data["text/plain"].splitlines()[1]
    assert output.data[DATA_TYPE]["diagnosis"] == "divided_by_d_k"
    expected = ("CheckFailed", ONE_HOLDS)
    assert (error(outputs).ename, error(outputs).evalue) == expected
    assert error(outputs).traceback == [f"CheckFailed: {ONE_HOLDS}"]


def test_passed_check_shows_ticks_and_returns_none(notebook):
    outputs = notebook["right checked"]
    assert [output.output_type for output in outputs] == ["display_data"]
    lines = plain(outputs).splitlines()
    assert lines[0] == ALL_HOLD
    assert all(line.startswith("  ✓ ") for line in lines[1:-1])
    assert lines[-1] == makes_possible("scaled_scores")
    assert "points" not in plain(notebook["right checked"])


def test_solved_exercise_gives_points_in_a_class_only(monkeypatch):
    variables = {}
    exec(RIGHT, variables)
    result = judge(
        load("scaled_scores"), local_runner_factory(variables["scaled_scores"])
    )
    monkeypatch.setattr(check_module, "in_class", lambda root: False)
    (alone,) = check_module._after_solving(load("scaled_scores"), result)
    assert str(alone) == makes_possible("scaled_scores")
    monkeypatch.setattr(check_module, "in_class", lambda root: True)
    _, worth = check_module._after_solving(load("scaled_scores"), result)
    most = load("scaled_scores").points
    assert worth == f"All {most:g} points are yours."
    first = result.cases[:1]
    visible = replace(result, cases=first, max_points=first[0].max_points)
    _, worth = check_module._after_solving(load("scaled_scores"), visible)
    assert worth.startswith("These claims give ") and f"of {most:g} points" in worth


def test_report_names_the_cell_that_it_is_about(notebook):
    (output,) = of_type(notebook["right checked"], "display_data")
    assert output.data[DATA_TYPE]["judged"] == RIGHT.strip()
    (output,) = of_type(notebook["attention checked"], "display_data")
    assert output.data[DATA_TYPE]["judged"].startswith("def attention(q, k, v):")


def test_second_failure_offers_the_courses_version(notebook):
    line = "from course_lib.attention import scaled_scores"
    (output,) = of_type(notebook["wrong again checked"], "display_data")
    assert output.data[DATA_TYPE]["course_version"] is None  # the first since a success
    (output,) = of_type(notebook["over several lines"], "display_data")
    assert output.data[DATA_TYPE]["course_version"] is None  # the same answer
    (output,) = of_type(notebook["wrong otherwise checked"], "display_data")
    assert output.data[DATA_TYPE]["course_version"] == line
    html = output.data["text/html"]
    assert (
        '<p class="attention-by-hand">To go on' in html
        and f"<code>{line}</code>" in html
    )


OLDER = "stopped with an error, so this is about the version before it"


def test_answer_whose_newest_cell_stopped_is_named_as_older():
    (*_, checked) = executed(HEAD, RIGHT, SLIP, "check(scaled_scores)")
    assert plain(checked).splitlines()[1].startswith("→ The newest cell with `scaled_s")
    assert OLDER in plain(checked)


def test_older_answer_is_wrong_below_one_arrow():
    wrong = "def scaled_scores(q, k):\n    return q @ k.swapaxes(-1, -2)"
    (*_, checked) = executed(HEAD, wrong, SLIP, "check(scaled_scores)")
    lines = plain(checked).splitlines()
    assert [line for line in lines if line.startswith("→")] == [lines[1]]
    assert OLDER in lines[1]
    assert lines[2].startswith("  About the version before: Your dot products are not")


def test_answer_that_ran_again_is_not_named_as_older():
    (*_, checked) = executed(HEAD, RIGHT, SLIP, RIGHT, "check(scaled_scores)")
    assert OLDER not in plain(checked)


@pytest.mark.parametrize(("text", "warns"), [(RIGHT, False), (RIGHT + "  # new", True)])
def test_answer_edited_and_saved_since_it_ran_is_named_as_older(tmp_path, text, warns):
    path = tmp_path / "lesson.ipynb"
    save = (
        "import os, nbformat\n"
        "from nbformat.v4 import new_code_cell, new_notebook\n"
        f"os.environ['JPY_SESSION_NAME'] = {str(path)!r}\n"
        f"nbformat.write(new_notebook(cells=[new_code_cell({text!r})]), {str(path)!r})"
    )
    (*_, checked) = executed(HEAD, RIGHT, save, "check(scaled_scores)")
    assert ("has not run yet" in plain(checked)) == warns


def test_check_of_a_stub_explains_what_to_do(notebook):
    outputs = notebook["stub checked"]
    assert "in place of the line `raise NotImplementedError`" in plain(outputs)
    assert error(outputs).traceback == ["CheckFailed: scaled_scores is not written yet"]


def test_exception_is_shown_with_the_line_of_the_cell(notebook):
    assert "stopped with ValueError: matmul" in plain(notebook["crash checked"])
    assert "(line 4: `scores = q @ k`)" in plain(notebook["crash checked"])


def test_two_failed_checks_offer_a_way_on_until_a_pass(notebook):
    offer = (
        "To go on and come back later, use the course's version of `scaled_scores`: "
        "add a cell right below your answer, put `from course_lib.attention import "
        "scaled_scores` into it and run it."
    )
    assert offer not in plain(notebook["stub checked"])
    assert offer not in plain(notebook["crash checked"])
    assert plain(notebook["wrong checked"]).splitlines()[-1] == offer
    assert offer not in plain(notebook["wrong again checked"])
    assert offer not in plain(notebook["over several lines"])
    assert offer in plain(notebook["wrong otherwise checked"])


def test_warnings_as_errors_do_not_harm_a_check(notebook):
    outputs = notebook["warnings to errors checked"]
    assert [output.output_type for output in outputs] == ["display_data"]
    assert "on stdout" not in plain(outputs)


def test_result_instead_of_function_is_refused_in_one_line(notebook):
    (line,) = error(notebook["a result"]).traceback
    assert line == (
        "NotAnExercise: check needs the function itself, and was given what it "
        "returned, an array of shape (2, 2). Write check(scaled_scores), without "
        "brackets after scaled_scores."
    )


def test_name_in_the_brackets_decides_the_exercise(notebook):
    assert plain(notebook["alias"]).startswith("attention: 0 of ")
    outputs = of_type(notebook["two on one line"], "display_data")
    names = [output.data["text/plain"].split(":")[0] for output in outputs]
    assert names == ["scaled_scores", "softmax"]


def test_wrong_earlier_answer_costs_nothing_and_is_named(notebook):
    outputs = notebook["attention checked"]
    assert [output.output_type for output in outputs] == ["display_data"]
    assert plain(outputs).splitlines()[1] == (
        "→ Your `attention` is right: it was checked with the course's `softmax`. "
        "Your own `softmax` is what failed: go back to it."
    )
    (value,) = of_type(notebook["softmax after"], "execute_result")
    assert "1.0" in value.data["text/plain"]  # the learner's own is back in place


def test_no_cell_writes_to_stderr(notebook):
    assert stderr(notebook.values()) == []


# --- outside Jupyter ----------------------------------------------------------------


def scaled_scores(q, k):
    return 1.0 * q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5


class Scores:
    def __call__(self, q, k):
        return scaled_scores(q, k)


def headline(capsys):
    return capsys.readouterr().out.splitlines()[0]


def test_outside_jupyter_the_report_is_plain_text(capsys):
    assert check(scaled_scores) is None
    assert capsys.readouterr().out.startswith(ALL_HOLD + "\n  ✓ ")


def test_failed_check_is_an_assertion_without_a_chain(capsys):
    def scaled_scores(q, k):
        return q

    with pytest.raises(AssertionError) as caught:
        check(scaled_scores)
    assert isinstance(caught.value, CheckFailed)
    assert caught.value.__cause__ is None
    assert str(caught.value) == headline(capsys)


def whatever(q, k):
    return scaled_scores(q, k)


@pytest.mark.parametrize(
    "answer",
    [
        functools.partial(whatever),
        Scores(),
        Scores().__call__,
        lambda q, k: scaled_scores(q, k),
        functools.cache(whatever),
        whatever,
    ],
)
def test_any_callable_is_checked_under_its_name(answer, capsys):
    scaled_scores = answer
    if not hasattr(answer, "cache_info"):  # arrays cannot be remembered
        check(scaled_scores)
        check(answer=scaled_scores)
        examine(scaled_scores)
    else:
        with pytest.raises(CheckFailed):
            check(scaled_scores)
    assert headline(capsys).startswith("scaled_scores: ")


def test_function_without_a_written_name_goes_by_its_own(capsys):
    answers = {"mine": scaled_scores}
    check(answers["mine"])
    check(functools.partial(scaled_scores))
    exec("check(f)", {"check": check, "f": scaled_scores})
    exec("check(scaled_scores)", {"check": check, "scaled_scores": whatever})
    assert capsys.readouterr().out.count(ALL_HOLD) == 4


def test_alias_is_the_exercise_of_that_name(capsys):
    attention = scaled_scores
    with pytest.raises(CheckFailed, match=r"^attention: 0 of"):
        check(attention)
    with pytest.raises(CheckFailed, match=r"^attention: 0 of"):
        check(
            attention,
        )
    with pytest.raises(CheckFailed, match=r"^attention: 0 of"):
        check(answer=attention)


@pytest.mark.parametrize(
    ("answer", "text"),
    [(tiny_weight, "the claim holds"), (lambda x: None, "It should return [0].")],
)
def test_numpy_errors_turned_on_do_not_harm_a_case(answer, text, monkeypatch, capsys):
    exercise = about(tiny_weight, np.array([-1e4]))  # its exponential underflows
    monkeypatch.setattr(check_module, "find_exercise", lambda *_: exercise)
    monkeypatch.setattr(check_module, "is_course_version", lambda *_: False)
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        with contextlib.suppress(CheckFailed):
            check(answer)
    assert text in capsys.readouterr().out


def test_interrupted_check_is_one_line():
    def scaled_scores(q, k):
        raise KeyboardInterrupt

    with pytest.raises(CheckStopped) as caught:
        check(scaled_scores)
    assert isinstance(caught.value, KeyboardInterrupt)
    assert caught.value._render_traceback_() == [
        "CheckStopped: scaled_scores was being checked"
    ]


def test_two_checks_on_one_line_are_distinguished(capsys):
    attention = scaled_scores
    with pytest.raises(CheckFailed, match=r"^attention: 0 of"):
        _ = check(scaled_scores), check(attention)
    assert headline(capsys) == ALL_HOLD


def refused(call):
    with pytest.raises(NotAnExercise) as caught:
        call()
    assert caught.value._render_traceback_() == [f"NotAnExercise: {caught.value}"]
    return str(caught.value)


def test_other_arguments_are_refused_with_what_to_write():
    one = np.ones((1, 1))
    assert refused(lambda: check("softmax")) == (
        "check needs the function itself, and was given its name in quotes. Write "
        "check(softmax)."
    )
    assert refused(lambda: check(scaled_scores(one, one))) == (
        "check needs the function itself, and was given what it returned, an array of "
        "shape (1, 1). Write check(scaled_scores), without brackets after "
        "scaled_scores."
    )
    assert (
        refused(lambda: check())
        == refused(lambda: check(None))
        == (
            "check needs a function, and was given None. Write the name of the "
            "exercise between the brackets, such as check(scaled_scores)."
        )
    )
    softmax = np.ones(3)
    assert refused(lambda: check(softmax)) == (
        "softmax is an array of shape (3,) here, no longer a function. Run the cell "
        "that defines softmax again, and give the result another name."
    )
    assert refused(lambda: check(Scores)) == (
        "check needs a function, and Scores is a class: make an object of it that can "
        "be called, and check that object."
    )


def test_unknown_function_is_refused_with_the_nearest_name():
    def scaled_score(q, k):
        return q

    assert refused(lambda: check(scaled_score)) == (
        "check knows no exercise named scaled_score. Did you mean scaled_scores? Give "
        "your function the name in the exercise's heading."
    )

    def xylophone():
        """Stand for no exercise, and no name near it."""

    assert refused(lambda: check(xylophone)) == (
        "check knows no exercise named xylophone. Give your function the name in the "
        "exercise's heading."
    )
    assert refused(lambda: check(lambda q, k: q)) == (
        "check cannot tell which exercise this function answers. Give it the name in "
        "the exercise's heading, and check it by that name."
    )
    assert refused(lambda: check(np.exp)).startswith(
        "check knows no exercise named exp"
    )


def test_answer_with_broken_attributes_is_refused():
    class Odd:
        __name__ = property(lambda self: 3)

        def __call__(self, x):
            return x

    assert "check cannot tell which exercise" in refused(lambda: check(Odd()))


def test_check_of_two_answers_is_a_type_error():
    with pytest.raises(TypeError, match="takes from 0 to 1 positional arguments"):
        check(scaled_scores, scaled_scores)


@pytest.mark.parametrize(
    "answer",
    [
        course.scaled_scores,
        functools.partial(course.scaled_scores),
        functools.partial(functools.partial(course.scaled_scores)),
        functools.wraps(course.scaled_scores)(lambda *a: course.scaled_scores(*a)),
    ],
    ids=["itself", "partial", "partial of a partial", "wrapped"],
)
def test_courses_version_is_accepted_without_points(answer, capsys, monkeypatch):
    scaled_scores = answer
    assert check(scaled_scores) is None
    text = "scaled_scores: this is the course's own version. You can go on with it"
    assert headline(capsys).startswith(text)
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert check(scaled_scores) == 0.0


def test_other_function_of_the_course_is_no_answer(capsys):
    scaled_scores = course_attention
    with pytest.raises(CheckFailed, match=NONE_HOLDS):
        check(scaled_scores)


def test_every_exercise_can_be_checked_by_its_name(capsys):
    for name in exercise_names():
        with pytest.raises(CheckFailed, match=f"^{name}: 0 of"):
            exec(f"check({name})", {"check": check, name: lambda *a, **k: None})
        text = capsys.readouterr().out
        # Where an error is asked for, not every call fails for the same reason.
        same = (
            "Every claim fails in the same way." in text or "returns None too" in text
        )
        assert same or (load(name).is_test and "lets the broken function pass" in text)


def test_unknown_exercise_lists_the_known_ones():
    with pytest.raises(
        UnknownExercise, match="no exercise named 'x'; there are: adam_step, add"
    ):
        load("x")
