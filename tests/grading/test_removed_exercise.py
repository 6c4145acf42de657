"""Judge what an earlier release of a lesson had, with the real engine and commands."""

import contextlib
import re
import shutil
import sqlite3

import nbformat
import pytest

from autograder.checking.registry import load
from autograder.commands import judge as judge_module
from autograder.course import Course
from autograder.demo.sample_class import right_answer
from autograder.gradebook.database import Gradebook
from autograder.gradebook.writing import GradebookEntry
from autograder.grading.engine import Engine
from autograder.grading.release import load_release
from tests.gradebook.opened import change_lesson
from tests.grading.engines import SEED, engine_of, process_number
from tests.submissions import (
    COURSE,
    EXERCISES,
    LESSON,
    MAX_POINTS,
    Submission,
    open_course,
)

REMOVED = "bilinear_scores"
WORTH = load(REMOVED).points
ALL, REST = f"{MAX_POINTS:g}", f"{MAX_POINTS - WORTH:g}"
pytestmark = pytest.mark.sandbox


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """Make a course that has lost an exercise since amara and ben got the lesson."""
    root = tmp_path_factory.mktemp("original") / "course"
    open_course(root, all_required=True)
    Submission().write(root, "amara")
    unnamed = Submission()
    del unnamed.notebook.metadata["attention_release"]
    for cell in unnamed.notebook.cells:
        cell.metadata.pop("nbgrader", None)
    unnamed.cell(REMOVED).id = "mine"
    unnamed.write(root, "ben")
    change_lesson(root, drop=REMOVED)
    return root


@pytest.fixture(scope="module")
def engine(original):
    with engine_of(Course(original)) as started:
        yield started


@pytest.fixture
def judge(call, engine, monkeypatch):
    """Call ``judge`` for a student, with an engine that has been started already."""
    ready = contextlib.nullcontext(engine)
    monkeypatch.setattr(judge_module, "Engine", lambda *_, **__: ready)
    return lambda student: call("judge", f"submitted/{student}/{LESSON}/{LESSON}.ipynb")


def hand_in_todays(root, student):
    """Hand in the lesson as it is now, whose notebook does not say so."""
    todays = Submission()
    todays.notebook.cells = [
        cell for cell in todays.notebook.cells if not cell.get("id").endswith(REMOVED)
    ]
    todays.notebook.metadata.pop("attention_release")
    todays.write(root, student)


def test_judge_judges_what_its_release_had(root, judge):
    hand_in_todays(root, "cara")
    for student, most in (("amara", ALL), ("ben", ALL), ("cara", REST)):
        code, out, err = judge(student)
        assert (code, err) == (0, "")
        assert out.startswith(f"{LESSON}: {most} of {most} points"), (student, out)
        assert (f"{WORTH:g} of {WORTH:g}: {REMOVED}" in out) == (most == ALL)
        assert "In the gradebook" not in out
        assert "Put right" not in out or student == "ben"  # whose marks are gone


def test_wrong_answer_to_a_removed_exercise_is_diagnosed(root, judge):
    submission = Submission()
    submission.answer(REMOVED, right_answer(REMOVED).replace("return ", "return 2 * "))
    submission.write(root, "amara")
    code, out, err = judge("amara")
    assert (code, err) == (0, "")
    points = re.match(rf"{LESSON}: ([\d.]+) of {ALL} points", out)
    assert float(REST) <= float(points[1]) < float(ALL)


def test_judge_leaves_out_what_is_dropped(root, judge, call):
    assert call("drop", REMOVED)[0] == 0
    code, out, err = judge("amara")
    assert (code, err) == (0, "")
    assert out.startswith(f"{LESSON}: {REST} of {REST} points")
    assert f"Counts for nobody: {REMOVED}" in out
    assert call("drop", REMOVED, "--undo")[0] == 0
    assert judge("amara")[1].startswith(f"{LESSON}: {ALL} of {ALL} points")


def test_judge_says_where_the_gradebook_says_otherwise(root, judge):
    points = {name: load(name).points for name in EXERCISES}
    gradebook = Gradebook(Course(root))
    gradebook.enter(LESSON, [GradebookEntry("amara", points | {"softmax": 2.0})])
    _, out, _ = judge("amara")
    less = MAX_POINTS - load("softmax").points
    assert f"In the gradebook: {less + 2:g} of {ALL} (`autograder grade 01`" in out
    with sqlite3.connect(root / "gradebook.db") as connection:
        connection.execute("UPDATE grade SET manual_score = 1 WHERE auto_score = 2")
    _, out, _ = judge("amara")
    assert f"In the gradebook: {less + 1:g} of {ALL} (softmax: by hand)" in out


def test_judge_excuses_whom_the_gradebook_excuses(root, judge):
    submission = Submission()
    for name in ("softmax", "check-softmax"):
        del submission.notebook.cells[submission.index(name)]
    submission.write(root, "amara")
    assert judge("amara")[1].splitlines()[0].endswith(f"of {ALL} points")
    Gradebook(Course(root)).excuse_missing(LESSON, ["amara"], excuse=True)
    rest = MAX_POINTS - load("softmax").points
    assert judge("amara")[1].splitlines()[0].endswith(f"of {rest:g} points")


def test_judge_without_a_usable_gradebook_says_so(root, judge):
    (root / "gradebook.db").write_text("no database")
    code, out, err = judge("amara")
    assert code == 0
    assert out.startswith(f"{LESSON}: {ALL} of {ALL} points")
    assert "judged as if nothing were dropped or excused" in err


@pytest.mark.thorough
def test_grade_says_the_same_as_judge(root, judge, call):
    hand_in_todays(root, "cara")
    code, out, err = call("grade", "01", "--jobs", "1")
    assert code == 0, err
    rows = dict(line.split(maxsplit=1) for line in out.splitlines()[:3])
    for student, most in (("amara", ALL), ("ben", ALL), ("cara", REST)):
        assert rows[student].startswith(f"{most} of {most}")
        assert judge(student)[1].startswith(f"{LESSON}: {most} of {most} points")
    graded = root / f"autograded/amara/{LESSON}/{LESSON}.ipynb"
    notebook = nbformat.read(graded, as_version=4)
    (check,) = (c for c in notebook.cells if c.id == f"check-{REMOVED}")
    assert check.metadata.nbgrader.points == WORTH
    assert check.outputs[-1]["data"]["text/plain"] == str(WORTH)


@pytest.mark.thorough
def test_removed_exercise_has_what_its_lesson_has_imported(tmp_path):
    lesson = "02_self_attention"
    course = Course(tmp_path)
    path = course.learner(lesson)
    path.parent.mkdir(parents=True)
    shutil.copy(COURSE.root / "releases.json", tmp_path)
    notebook = nbformat.read(COURSE.learner(lesson), as_version=4)
    needs_it = ("self_attention", "cross_attention", "self_attention_gradients")
    gone = {each for name in needs_it for each in (name, f"check_{name}")}
    notebook.cells = [
        cell
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get("grade_id") not in gone
        and (cell.cell_type != "code" or "attention(" not in cell.source)
    ]
    imported = "import attention, softmax"
    (imports,) = (cell for cell in notebook.cells if imported in cell.source)
    imports.source = imports.source.replace(imported, "import softmax")
    nbformat.write(notebook, path)
    with Engine(course, lesson, seed=SEED, worker=process_number()) as engine:
        result, _ = engine.grade(COURSE.teacher(lesson))
    points = load_release(COURSE, lesson).points
    assert {e.exercise: e.points for e in result.exercises} == {**points}
    assert not result.flags
