"""A course folder that was copied has grades of its own, in every export."""

import csv
import os
import random
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from autograder.course import Course, CourseError
from autograder.demo.sample_class import make_folder
from autograder.gradebook.database import Gradebook
from autograder.gradebook.settings import database_path
from autograder.gradebook.writing import GradebookEntry
from tests.processes import run_in
from tests.submissions import COURSE, EXERCISES, LESSON

pytestmark = pytest.mark.thorough

STUDENTS = [f"student-{n}" for n in range(20)]
PLUGINS = "autograder.gradebook.plugins"
# Whatever a grader may enter in formgrader, drawn anew for each row.
PARTS = (
    "UPDATE grade SET auto_score = ?, manual_score = ?, extra_credit = ? WHERE id = ?"
)


def call(folder, *command):
    scripts = Path(sys.executable).parent
    path = f"{scripts}{os.pathsep}{os.environ['PATH']}"
    run = run_in(folder, "-m", *command, PATH=path)
    assert run.returncode == 0, run.stdout + run.stderr


def scores_of_nbgrader(folder):
    """Return nbgrader's ``submission.score`` of each student."""
    from nbgrader.api import Gradebook as NbgraderGradebook

    url = f"sqlite:///{folder / 'gradebook.db'}"
    with NbgraderGradebook(url, "attention") as book:
        submissions = book.assignment_submissions(LESSON)
        return {each.student.id: each.score for each in submissions}


def column(path, student, points):
    """Return a column of an export, by another."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        row[student]: float(row[points]) for row in rows if row[student] in STUDENTS
    }


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """Copy a demo's folder, then enter other grades into the copy."""
    folder = tmp_path_factory.mktemp("courses")
    make_folder(COURSE, folder / "demo", [])
    original = Gradebook(Course(folder / "demo"))
    original.open_lesson(LESSON)
    points = dict.fromkeys(EXERCISES, 1.0)
    original.enter(LESSON, [GradebookEntry(student, points) for student in STUDENTS])
    copy = Path(shutil.copytree(folder / "demo", folder / "copy"))
    draw = random.Random(3)
    with closing(sqlite3.connect(copy / "gradebook.db")) as connection, connection:
        for (row,) in connection.execute("SELECT id FROM grade").fetchall():
            parts = [draw.choice([None, 0.0, 0.5, 2.0, 3.25]) for _ in range(3)]
            connection.execute(PARTS, (*parts, row))
    return copy


def test_every_export_of_a_copy_has_nbgraders_scores(copied):
    scores = scores_of_nbgrader(copied)
    assert scores != scores_of_nbgrader(copied.with_name("demo"))
    subfolder = copied / "notebooks" / LESSON
    for kind, plugin, student, points in (
        ("csv", "CsvExportPlugin", "student", f"{LESSON} points"),
        ("canvas", "CanvasExportPlugin", "SIS Login ID", LESSON),
        ("moodle", "MoodleExportPlugin", "Username", LESSON),
    ):
        call(subfolder, "autograder", "export", "--to", kind)
        ours = copied / "build" / "export" / f"{kind}.csv"
        assert column(ours, student, points) == pytest.approx(scores)
        theirs = copied / f"plugin-{kind}.csv"
        exporter = f"--exporter={PLUGINS}.{plugin}"
        call(copied, "nbgrader", "export", exporter, "--to", theirs.name)
        assert column(theirs, student, points) == pytest.approx(scores)
    call(copied, "nbgrader", "export", "--to", "plain.csv")
    assert column(copied / "plain.csv", "student_id", "score") == pytest.approx(scores)


def test_gradebook_of_another_course_is_refused(copied):
    config = copied / "nbgrader_config.py"
    text = config.read_text()
    other = copied.with_name("demo") / "gradebook.db"
    config.write_text(f"{text}\nc.CourseDirectory.db_url = 'sqlite:///{other}'\n")
    with pytest.raises(CourseError, match="the folder of another course"):
        database_path(Course(copied))
    config.write_text(text)
    assert database_path(Course(copied)) == copied / "gradebook.db"
