"""Without the engine nbgrader gives the same points: ``check`` prints them for it.

A course that has no sandbox can still be graded so, by who trusts the submissions; and
the engine is held against it.
"""

import nbformat
import pytest

from autograder.checking.judging import NOTEBOOK_SEED
from autograder.checking.registry import exercises_of, load
from autograder.course import Course
from autograder.demo import sample_class as sample
from autograder.demo.sample_class import (
    LESSON,
    SampleStudent,
    make_folder,
    sample_class,
    wrong_answer,
)
from autograder.grading.engine import Engine
from autograder.messages.report import DATA_TYPE
from tests.plain_nbgrader import steps
from tests.plain_nbgrader.process import process

pytestmark = pytest.mark.thorough

COURSE = Course.here()
CHECK = "check_"  # the graded cell of an exercise is called check_<exercise>
ROSA = SampleStudent(  # a bit of everything; attention_step_by_step stays untouched
    "rosa",
    {
        "softmax": sample.SOFTMAX_WITH_WARNINGS,
        "similarity_attention": wrong_answer("similarity_attention", "rows_of_x_mixed"),
        "softmax_jacobian": wrong_answer("softmax_jacobian", "loops_for_one_row"),
        "scaled_scores": sample.SCORES_WITH_HELPER,
        "attention": sample.ATTENTION_WITH_HELPER,
        "bilinear_scores": sample.BILINEAR_THAT_STOPS,
        "additive_scores": sample.ADDITIVE_THAT_DOES_NOT_PARSE,
    },
    own_cells={"scaled_scores": sample.HELPER},
)
# All right, if loud; one wrong answer that others call; and Rosa's. Seconds each.
STUDENTS = [*(each for each in sample_class() if each.name in ("hamid", "lior")), ROSA]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("plain") / "course"


@pytest.fixture(scope="module")
def points(folder):
    """Let nbgrader grade a few students; return their points by exercise."""
    make_folder(COURSE, folder, STUDENTS)
    with process(folder / "nbgrader.log") as pool:
        pool.submit(steps.release, folder, LESSON).result()
        scores = pool.submit(steps.autograde, folder, LESSON).result()
    assert not (folder / "gradebook.seed").exists()  # the engine was not asked
    return {
        student: {name.removeprefix(CHECK): each for name, each in by_check.items()}
        for student, by_check in scores.items()
    }


@pytest.mark.sandbox
def test_engine_gives_the_points_of_plain_nbgrader(folder, points):
    with Engine(COURSE, LESSON, seed=NOTEBOOK_SEED) as engine:
        for student, theirs in points.items():
            path = folder / "submitted" / student / LESSON / f"{LESSON}.ipynb"
            result, _ = engine.grade(path, student)
            ours = {each.exercise: each.points for each in result.exercises}
            assert ours == theirs, student


def test_partial_credit_is_the_points_of_the_claims_that_hold(points):
    full = {each.name: each.points for each in exercises_of(LESSON)}
    one_row = {"small_example_by_hand", "slopes_as_measured", "one_weight_has_it_all"}
    jacobian = {each.name: each.points for each in load("softmax_jacobian").cases}
    assert points["lior"] == full
    assert points["hamid"] == full | {"softmax": 0}
    assert points["rosa"] == full | {
        "similarity_attention": 0,
        "softmax_jacobian": sum(jacobian[name] for name in one_row),
        "attention_step_by_step": 0,
        "bilinear_scores": 0,
        "additive_scores": 0,
    }


def graded(folder, student):
    path = folder / "autograded" / student / LESSON / f"{LESSON}.ipynb"
    return nbformat.read(path, as_version=4)


def test_gradebook_has_the_points_that_check_reports(folder, points):
    for student, by_exercise in points.items():
        cells = {_grade_id(cell): cell for cell in graded(folder, student).cells}
        for name, each in by_exercise.items():
            outputs = cells[CHECK + name].outputs
            if outputs[0].output_type == "error":  # the answer does not parse
                assert (student, name, each) == ("rosa", "additive_scores", 0)
                continue
            report, printed = (output.data for output in outputs)
            assert report[DATA_TYPE]["points"] == float(printed["text/plain"]) == each
            assert report[DATA_TYPE]["max_points"] == load(name).points


def _grade_id(cell):
    return cell.metadata.get("nbgrader", {}).get("grade_id")


def test_warnings_stay_out_of_the_graded_cells(folder, points):
    """Keep stderr out: one line on it in a graded cell means 0 points to nbgrader."""
    noisy = {
        bool(cell.metadata.get("nbgrader", {}).get("grade"))
        for cell in graded(folder, "lior").cells
        for output in cell.get("outputs", [])
        if output.get("name") == "stderr" and "still trying" in output.text
    }
    assert noisy == {False}
