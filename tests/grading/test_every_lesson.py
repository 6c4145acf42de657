"""Each lesson in the engine: the teacher's notebook, and the one nobody has touched."""

import nbformat
import pytest

from autograder.grading.engine import Engine
from autograder.notebooks.source import LessonSource
from tests.grading.engines import SEED
from tests.quick import all_but
from tests.submissions import COURSE

pytestmark = pytest.mark.sandbox


QUICK = "01_dot_product_attention", "09_transformer"  # one of NumPy, one of PyTorch


def lessons(quick=QUICK):
    """Return the lessons; all but the quick ones are thorough."""
    return all_but(quick, COURSE.lessons)


@pytest.fixture(scope="module", params=lessons())
def engine(request):
    with Engine(COURSE, request.param, seed=SEED) as started:
        yield started


def test_teachers_notebook_gets_all_points_and_no_flag(engine):
    lesson = engine.release.lesson
    result, _ = engine.grade(COURSE.teacher(lesson), "teacher")
    assert result.points == sum(engine.release.points.values())
    optional = engine.release.points.optional
    assert {*result.optional} == optional
    on_top = sum(engine.release.points[name] for name in optional)
    assert result.max_points == result.points - on_top > 0
    assert result.flags == () == result.repairs


def test_untouched_notebook_gets_no_points_and_says_why(engine):
    lesson = engine.release.lesson
    result, _ = engine.grade(COURSE.learner(lesson), "learner")
    assert result.points == 0 < result.max_points
    statuses = {case.status for each in result.exercises for case in each.cases}
    assert statuses == {"missing"}


def grade_id(cell):
    return cell.metadata.get("nbgrader", {}).get("grade_id", "")


def test_core_alone_is_solved_without_what_goes_further(engine, tmp_path):
    lesson = engine.release.lesson
    optional = LessonSource(COURSE.source(lesson)).optional
    notebook = nbformat.read(COURSE.teacher(lesson), as_version=4)
    learners = nbformat.read(COURSE.learner(lesson), as_version=4).cells
    stubs = {grade_id(cell): cell.source for cell in learners}
    for cell in notebook.cells:
        if grade_id(cell) in optional:
            cell.source = stubs[grade_id(cell)]
    path = tmp_path / f"{lesson}.ipynb"
    nbformat.write(notebook, path)
    result, _ = engine.grade(path, "core")
    for each in result.exercises:
        assert each.blamed == ()
        if each.exercise in optional:
            assert {case.status for case in each.cases} == {"missing"}
        else:
            assert each.solved, each
