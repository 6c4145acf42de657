"""A class graded without a sandbox: from the file to the grades, but for judging."""

import csv
import io

import nbformat
from nbformat.v4 import new_code_cell
from nbgrader.api import Gradebook as NbgraderGradebook

from autograder.checking.registry import load
from autograder.checking.result import CaseVerdict, ExerciseResult
from autograder.course import Course
from autograder.dashboard.class_results import StudentRow
from autograder.gradebook.database import Gradebook
from autograder.gradebook.export import export
from autograder.gradebook.feedback import student_page
from autograder.gradebook.own_maximum import count_own_maximum
from autograder.gradebook.safe_html import format_points_of
from autograder.gradebook.service import GradeRecords
from autograder.gradebook.settings import optional_exercises
from autograder.grading import classroom
from autograder.grading.journal import Journal
from autograder.grading.release import checked_exercises, load_release
from autograder.grading.result import CodeResult
from autograder.grading.verdicts import Verdicts
from autograder.grading.workers import GradingTaskResult, Settings
from tests.submissions import LESSON


def hand_in(root, student, *, without=(), named=True):
    """Hand in the notebook of ``notebooks/`` as it is now, with a sign of the student.

    without : exercises whose cells are deleted
    named : whether the notebook says of which release it is
    """
    notebook = nbformat.read(Course(root).learner(LESSON), as_version=4)
    gone = {name for each in without for name in (each, f"check_{each}")}
    notebook.cells = [
        cell
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get("grade_id") not in gone
    ]
    notebook.cells.append(new_code_cell(f"# {student}", id="own"))
    if not named:
        notebook.metadata.pop("attention_release", None)
    path = root / "submitted" / student / LESSON / f"{LESSON}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)


def grade_class(root, lost=None, *, excuse=None):
    """Grade everybody, each exercise with full points but for those ``lost``.

    excuse : whether everybody is excused from what is missing; None: as before
    """
    course = Course(root)
    gradebook = Gradebook(course)
    gradebook.open_lesson(LESSON)
    today = load_release(course, LESSON).points

    def judge(tasks):
        for task in tasks:
            exercises = []
            names = checked_exercises(task.cells or ())
            for name in today if task.cells is None else names:
                worth = today[name] if name in today else load(name).points
                earned = max(0.0, worth - (lost or {}).get((task.student, name), 0.0))
                status = "ok" if earned else "missing"
                case = CaseVerdict("case", "It holds", status, earned, worth, True)
                exercises.append(ExerciseResult(name, earned, worth, (case,)))
            yield GradingTaskResult(task, CodeResult(tuple(exercises)), {})

    students = classroom.students_of(course, LESSON)
    with Journal(course) as journal:
        if excuse is not None:
            gradebook.excuse_missing(LESSON, students, excuse=excuse)
        verdicts = Verdicts(
            course,
            Settings(LESSON, 1),
            journal,
            dropped=gradebook.dropped(LESSON),
            excuse_missing=gradebook.excused_students(LESSON),
            worth=gradebook.worth(LESSON),
            optional=optional_exercises(course),
        )
        records = GradeRecords(course, LESSON, journal, gradebook)
        for graded in verdicts.each(students, judge):
            records.add(graded)
        records.flush()
        assert not records.fault
        return {each.student: each for each in journal.results(LESSON)}


def numbers(root):
    """Return what each output says: student to (points, greatest points)."""
    count_own_maximum()
    course = Course(root)
    grades = Gradebook(course).grades(LESSON)
    outputs = {"gradebook": {s: (g.points, g.max_points) for s, g in grades.items()}}
    with Journal(course) as journal:
        results = journal.results(LESSON)
    rows = [StudentRow(each, {}, grades[each.student]) for each in results]
    outputs["dashboard"] = {row.student: (row.points, row.max_points) for row in rows}
    for row in rows:
        own = grades[row.student]
        words = format_points_of(own.points, own.max_points)
        assert words in student_page(course, LESSON, row.student, own)
    with NbgraderGradebook(f"sqlite:///{root / 'gradebook.db'}", "attention") as book:
        submissions = book.assignment_submissions(LESSON)
        outputs["nbgrader"] = {
            s.student.id: (s.score, s.max_score) for s in submissions
        }
        outputs["its notebooks"] = {
            each.student.id: (each.score, each.max_score)
            for each in book.notebook_submissions(LESSON, LESSON)
        }
        outputs["formgrader"] = {
            each["student"]: (each["score"], each["max_score"])
            for each in book.submission_dicts(LESSON)
        }
        outputs["its students"] = {
            each["id"]: (each["score"], each["max_score"])
            for each in book.student_dicts()
        }
    table = read_csv(export(course, [LESSON], "csv"))
    outputs["csv"] = {
        row["student"]: (float(row[f"{LESSON} points"]), float(row[f"{LESSON} max"]))
        for row in table
    }
    for row in table:
        each = [row[name] for name in row if name.startswith(f"{LESSON}.")]
        assert sum(map(float, filter(None, each))) == float(row[f"{LESSON} points"])
    possible, *canvas = read_csv(export(course, [LESSON], "canvas", on_warning=str))
    moodle = read_csv(export(course, [LESSON], "moodle", on_warning=str))
    for name, student, table in (
        ("canvas", "SIS Login ID", canvas),
        ("moodle", "Username", moodle),
    ):
        outputs[name] = {row[student]: lms_numbers(row, possible) for row in table}
    return outputs


def lms_numbers(row, possible):
    """Return the points in a row of a file for a system, and what its column is out of.

    possible : the row of greatest points, in the same columns
    """
    columns = [name for name in row if name.partition(" (")[0] == LESSON]
    (column,) = (name for name in columns if row[name] not in ("", "-"))
    return float(row[column]), float(possible[column])


def read_csv(path):
    return [*csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig")))]


def agreed(root):
    """Return the numbers, the same everywhere."""
    outputs = numbers(root)
    for output, pairs in outputs.items():
        assert pairs == outputs["gradebook"], output
    return outputs["gradebook"]
