"""Packages and their course: what instructors have changed, and each of its lessons."""

import contextlib

import pytest

from autograder.adapters import (
    classroom50,
    exercism,
    github,
    gradescope,
    judging,
    prairielearn,
)
from autograder.adapters.package import Package
from autograder.commands.package import package_of
from autograder.course import Course, CourseError
from autograder.gradebook.database import Gradebook
from autograder.grading.engine import Engine
from tests.grading.engines import SEED
from tests.quick import all_but
from tests.submissions import (
    COURSE,
    EXERCISES,
    LESSON,
    REQUIRED_POINTS,
    Submission,
    open_course,
)

QUICK = "01_dot_product_attention", "09_transformer"  # one of NumPy, one of PyTorch


def judged(package, folder, monkeypatch, handed_in):
    """Judge with a package's settings; return the verdict and how it was asked for."""
    submitted = folder / "handed-in"
    submitted.mkdir()
    (submitted / f"{package.lesson}.ipynb").write_bytes(handed_in)
    (folder / "package.json").write_bytes(package.as_json())
    assert Package.read(folder) == package
    asked = {}

    @contextlib.contextmanager
    def engine_for(*_):
        with Engine(COURSE, package.lesson, seed=SEED) as engine:
            grade = engine.grade

            def recording(path, **options):
                asked.update(options)
                return grade(path, **options)

            engine.grade = recording
            yield engine, "namespaces"

    monkeypatch.setattr(judging, "engine_for", engine_for)
    verdict = judging.judge(folder, submitted, folder, gradescope.BUDGET)
    assert not verdict.problem, verdict.problem
    return verdict, asked


def scores(verdict):
    """Return what each system is told: the score and the maximum, as the system counts.

    Exercism knows only which exercises are solved.
    """
    ours = gradescope.result(verdict)
    theirs = classroom50.result(verdict, {})
    reported = github.result(verdict)
    solved = [test["status"] == "pass" for test in exercism.result(verdict)["tests"]]
    return {
        "gradescope": (ours["score"], sum(test["max_score"] for test in ours["tests"])),
        "prairielearn": (prairielearn.result(verdict)["score"], 1),
        "classroom50": (theirs["score"] / 4, theirs["max-score"] / 4),
        "github": (
            sum(test["score"] for test in reported["tests"]),
            reported["max_score"],
        ),
        "exercism": (sum(solved), len(solved)),
    }


@pytest.mark.sandbox
def test_dropped_exercise_counts_in_no_package(tmp_path, monkeypatch):
    root = open_course(tmp_path / "course")
    Gradebook(Course(root)).drop(LESSON, "softmax", [], undo=False)
    package = package_of(Course(root), LESSON, "gradescope", unsafe=False)
    whole = package_of(COURSE, LESSON, "gradescope", unsafe=False)
    assert (package.dropped, package.points) == (("softmax",), REQUIRED_POINTS - 14)
    assert (whole.dropped, whole.points) == ((), REQUIRED_POINTS)
    handed_in = Submission()
    handed_in.answer("softmax", "def softmax(x, axis=-1):\n    return x\n")
    text = handed_in.text().encode()
    verdict, asked = judged(package, tmp_path, monkeypatch, text)
    assert asked["dropped"] == ("softmax",)
    assert asked["worth"] == Gradebook(Course(root)).worth(LESSON)
    assert {row.name for row in verdict.rows} == {*EXERCISES} - {"softmax"}
    assert verdict.is_solved and verdict.required_points == package.points
    assert verdict.max_points == verdict.out_of == package.points
    shares = scores(verdict)
    assert shares["prairielearn"] == (1.0, 1)
    assert shares["github"] == shares["classroom50"] == (package.points, package.points)


def test_lesson_of_which_nothing_counts_has_no_package(tmp_path):
    root = open_course(tmp_path / "course")
    for name in EXERCISES:
        Gradebook(Course(root)).drop(LESSON, name, [], undo=False)
    with pytest.raises(
        CourseError, match="no exercise of 01_dot_product_attention cou"
    ):
        package_of(Course(root), LESSON, "github", unsafe=False)


@pytest.mark.sandbox
@pytest.mark.parametrize("lesson", all_but(QUICK, COURSE.lessons))
def test_untouched_notebook_earns_nothing_in_any_system(lesson, tmp_path, monkeypatch):
    package = package_of(COURSE, lesson, "gradescope", unsafe=False)
    # The key is where a grader that looks for notebooks may take it for the learner's.
    key = COURSE.teacher(lesson).read_bytes()
    for folder in ("solutions", "source", "results", ".ipynb_checkpoints"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"{lesson}.ipynb").write_bytes(key)
    (tmp_path / f"{lesson}.ipynb").write_bytes(key)
    untouched = COURSE.learner(lesson).read_bytes()
    verdict, _ = judged(package, tmp_path, monkeypatch, untouched)
    assert (verdict.points, verdict.is_solved) == (0, False)
    assert verdict.max_points == package.points > 0
    for system, (score, most) in scores(verdict).items():
        assert score == 0 < most, system
