"""``check`` in nbgrader's own kernel: a grade, and the report."""

import pytest

from autograder.checking.registry import load
from tests.executed import (
    CASES,
    CHATTY,
    CRASH,
    HEAD,
    ONE_HOLDS,
    RIGHT,
    WRONG,
    error,
    executed,
    of_type,
    plain,
    stderr,
)


@pytest.fixture(scope="module")
def graded():
    cells = {
        "head": HEAD,
        "right": RIGHT,
        "right checked": "check(scaled_scores)",
        "chatty": CHATTY,
        "chatty checked": "check(scaled_scores)",
        "crash": CRASH,
        "crash checked": "check(scaled_scores)",
        "crash checked again": "check(scaled_scores)",
        "stub": "def scaled_scores(q, k):\n    raise NotImplementedError()",
        "stub checked": "check(scaled_scores)",
        "partly right": "def scaled_scores(q, k):\n"
        "    scores = 1.0 * q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5\n"
        "    return scores if q.ndim == 2 else None",
        "partly right checked": "check(scaled_scores)",
        "course's": "from course_lib.attention import scaled_scores",
        "course's checked": "check(scaled_scores)",
    }
    outputs = executed(*cells.values(), mode="autograde")
    return dict(zip(cells, outputs, strict=True))


def result(outputs):
    (output,) = of_type(outputs, "execute_result")
    return output.data


def test_grade_is_a_plain_float(graded):
    points = load("scaled_scores").points
    assert result(graded["right checked"]) == {"text/plain": str(points)}
    assert result(graded["crash checked"]) == {"text/plain": "0.0"}
    assert result(graded["stub checked"]) == {"text/plain": "0.0"}


def test_grade_may_be_partial(graded):
    points = float(result(graded["partly right checked"])["text/plain"])
    assert 0 < points < load("scaled_scores").points


def test_grading_runs_hidden_cases_and_shows_the_report(graded):
    report = plain(graded["right checked"])
    n_claims = sum(not case.fine_point for case in CASES)
    assert f"all {n_claims} claims hold" in report
    assert "Every claim fails in the same way." not in report


def test_printing_and_warning_cost_nothing(graded):
    assert result(graded["chatty checked"]) == result(graded["right checked"])
    assert stderr(graded.values()) == []


def test_grading_raises_nothing_and_offers_nothing(graded):
    assert [kind for cell in graded.values() for kind in of_type(cell, "error")] == []
    assert "To go on" not in plain(graded["crash checked again"])


def test_courses_version_earns_nothing(graded):
    assert result(graded["course's checked"]) == {"text/plain": "0.0"}
    (output,) = of_type(graded["course's checked"], "stream")
    assert output.text == (
        "scaled_scores: this is the course's own version. You can go on with it; "
        "only your own version counts as solved.\n"
    )


def test_validate_shows_the_report_in_the_traceback():
    cells = executed(HEAD, WRONG, "check(scaled_scores)", mode="validate")
    traceback = "\n".join(error(cells[-1]).traceback)
    assert traceback.split() == plain(cells[-1]).split()
    assert max(map(len, traceback.splitlines())) <= 88  # the dialog does not wrap
    assert traceback.startswith(ONE_HOLDS + "\n→ ")
    assert error(cells[-1]).evalue == ONE_HOLDS
