"""A course folder with a lesson in its gradebook: reading, changing and breaking it."""

import json
import sqlite3
from contextlib import closing
from datetime import datetime

import pytest

from autograder.course import Course, CourseError
from autograder.course.releases import ANSWER_KEY, METADATA_KEY, OPTIONAL, release_name
from autograder.gradebook.writing import GradebookEntry
from autograder.grading.release import CHECK, load_release
from tests.submissions import COURSE, LESSON

EXERCISES = load_release(COURSE, LESSON).exercises
FULL = dict.fromkeys(EXERCISES, 7.0)
SUM = 7.0 * len(EXERCISES)
LATE = "2026-03-02 12:00:00 UTC"
DUE = datetime(2026, 3, 1)


def rows(root, query, *values):
    with closing(sqlite3.connect(root / "gradebook.db")) as connection:
        return connection.execute(query, values).fetchall()


def change(root, statement, *values):
    with closing(sqlite3.connect(root / "gradebook.db")) as connection, connection:
        connection.execute(statement, values)


def configure(root, line):
    path = root / "nbgrader_config.py"
    path.write_text(f"{path.read_text()}\n{line}\n")


def grade(book, exercise, student="amara"):
    book.db.expire_all()
    return book.find_grade(CHECK + exercise, LESSON, LESSON, student)


def change_lesson(root, *, drop="", add="", points=None, optional=None):
    """Release the lesson anew: without an exercise, with another one, other points.

    optional : exercises that need not be done; None: as before
    """
    path = root / "notebooks" / LESSON / f"{LESSON}.ipynb"
    notebook = json.loads(path.read_text())
    cells = notebook["cells"]
    named = [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in cells]
    if add:
        for name in ("softmax", "check_softmax"):
            cell = json.loads(json.dumps(cells[named.index(name)]))
            cell["id"] = cell["id"].replace("softmax", add)
            cell["metadata"]["nbgrader"]["grade_id"] = name.replace("softmax", add)
            cells.append(cell)
    for name, worth in (points or {}).items():
        cells[named.index(CHECK + name)]["metadata"]["nbgrader"]["points"] = worth
    gone = {drop, CHECK + drop} if drop else set()
    notebook["cells"] = [
        cell
        for cell in cells
        if cell["metadata"].get("nbgrader", {}).get("grade_id") not in gone
    ]
    for cell in notebook["cells"] if optional is not None else ():
        grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id", "")
        if grade_id.startswith(CHECK):
            cell["metadata"].pop(ANSWER_KEY, None)
            if grade_id.removeprefix(CHECK) in optional:
                cell["metadata"][ANSWER_KEY] = {OPTIONAL: True}
    path.write_text(json.dumps(notebook))
    own = load_release(Course(root), LESSON).points
    notebook["metadata"][METADATA_KEY] = release_name(own)
    path.write_text(json.dumps(notebook))


def refused(call, *arguments):
    """Return the one line of a call that is refused."""
    with pytest.raises(CourseError) as raised:
        call(*arguments)
    sentence = str(raised.value)
    assert "\n" not in sentence
    return sentence


def a_class(size):
    return [GradebookEntry(f"student-{number}", FULL) for number in range(size)]
