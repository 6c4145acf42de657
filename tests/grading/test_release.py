"""A lesson as it is graded: the roles of its cells, and exercises it once had."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.course import Course, CourseError
from autograder.course.releases import Points
from autograder.grading.reading import read_submission
from autograder.grading.rebuild import rebuild
from autograder.grading.release import Release, load_release, with_retired
from tests.submissions import COURSE, EXERCISES, LESSON, Submission

RELEASE = load_release(COURSE, LESSON)
IMPORTS, DEMO = "dot-product-attention-2", "looking-something-up-6"


def _course(folder: Path, change: Callable[[dict], None] | str) -> Course:
    """Make a course whose only lesson is a changed one."""
    path = folder / "notebooks" / LESSON / f"{LESSON}.ipynb"
    path.parent.mkdir(parents=True)
    notebook = json.loads(COURSE.learner(LESSON).read_text())
    if isinstance(change, str):
        path.write_text(change)
    else:
        change(notebook)
        path.write_text(json.dumps(notebook))
    return Course(folder)


def test_release_knows_the_role_of_each_cell() -> None:
    roles = {cell.id: cell.role for cell in RELEASE.cells}
    assert roles[IMPORTS] == "setup" and roles[DEMO] == "demo"
    assert roles["the-same-in-pytorch-2"] == "demo"
    assert [r for r in roles.values()].count("setup") == 1
    assert {*RELEASE.exercises} == {*EXERCISES}
    indices = [list(roles).index(name) for name in RELEASE.exercises]
    assert indices == sorted(indices)


def test_imports_below_the_first_exercise_are_a_demonstration(tmp_path: Path) -> None:
    def add(notebook: dict) -> None:
        more = {"cell_type": "code", "id": "late", "source": "import os"}
        notebook["cells"].append(more | {"metadata": {}})

    release = load_release(_course(tmp_path, add), LESSON)
    assert release.cells[-1].role == "demo"


def _unknown(notebook: dict) -> None:
    (cell,) = [c for c in notebook["cells"] if c["id"] == "softmax"]
    cell["metadata"]["nbgrader"]["grade_id"] = "sotfmax"


def _without_check(notebook: dict) -> None:
    notebook["cells"] = [c for c in notebook["cells"] if c["id"] != "check-softmax"]


@pytest.mark.parametrize(
    ("change", "piece"),
    [
        ("{", "cannot be graded with"),
        ("[]", "cannot be graded with"),
        ('{"cells": [{}]}', "cannot be graded with"),
        (_unknown, "'sotfmax', which is no exercise"),
        (_without_check, "one cell and one check for softmax"),
    ],
)
def test_broken_release_is_the_courses_fault(
    tmp_path: Path, change: Callable[[dict], None] | str, piece: str
) -> None:
    with pytest.raises(CourseError, match="make build") as error:
        load_release(_course(tmp_path, change), LESSON)
    assert piece in str(error.value)


def test_lesson_without_a_notebook_is_named(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match=r"99_none\.ipynb is missing"):
        load_release(Course(tmp_path), "99_none")


def _without(*names: str) -> Release:
    """Return the lesson without some exercises."""
    cells = [cell for cell in RELEASE.cells if cell.exercise not in names]
    left = ((n, p) for n, p in RELEASE.points.items() if n not in names)
    points = Points(left, RELEASE.points.optional)
    return Release(LESSON, tuple(cells), points)


@pytest.mark.parametrize("n_gone", [1, 2, len(EXERCISES)])
@pytest.mark.parametrize("first", [0, 3, len(EXERCISES) - 1])
def test_retired_exercises_come_back_in_their_order(n_gone: int, first: int) -> None:
    gone = (RELEASE.exercises * 2)[first : first + n_gone]
    today = _without(*gone)
    releases = {"old": RELEASE.points, "new": today.points}
    assert with_retired(today, releases, today.points) is today
    every = with_retired(today, releases, EXERCISES)
    assert every.exercises == RELEASE.exercises
    assert dict(every.points) == dict(RELEASE.points)
    assert every.points.optional == today.points.optional
    stubs = {c.exercise: c.source for c in RELEASE.cells if c.role == "solution"}
    assert {c.exercise: c.source for c in every.cells if c.role == "solution"} == stubs
    assert len({cell.id for cell in every.cells}) == len(every.cells)
    assert len(every.cells) == len(RELEASE.cells) + 1  # what they import


def test_helper_above_a_retired_exercise_runs_before_it(tmp_path: Path) -> None:
    today = _without("bilinear_scores")
    release = with_retired(today, {"old": RELEASE.points}, EXERCISES)
    submission = Submission()
    submission.own("def helper():\n    return 1", above="bilinear_scores")
    rebuilt = rebuild(release, read_submission(submission.write(tmp_path, "a")))
    names = [cell.exercise or cell.source.partition("(")[0] for cell in rebuilt.cells]
    assert names.index("def helper") < names.index("bilinear_scores")
    assert rebuilt.repairs == ()
    assert "bilinear_scores" in rebuilt.recognised
