"""A lesson that the gradebook has: where its grades belong."""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from autograder.course import CourseError
from autograder.grading.master import CHECK

GRADED = ("GradeCell", "TaskCell")  # nbgrader's types of cells that have a grade
COMMENTED = ("SolutionCell", "TaskCell")  # and of those that have a comment


@dataclass(frozen=True)
class Opened:
    """A lesson's ids in the gradebook.

    due : when it is to be handed in at the latest, if that is said
    graded : exercise to the id of the cell whose grade is its own, in order
    commented : exercise to the id of the cell whose comment is its own
    """

    assignment: str
    notebook: str
    due: str | None
    graded: Mapping[str, str]
    commented: Mapping[str, str]


def find_opened(connection: sqlite3.Connection, lesson: str) -> Opened:
    """Give a lesson's ids; raises ``CourseError`` if it is not in the gradebook."""
    found = connection.execute(
        "SELECT a.id, n.id, a.duedate FROM assignment a "
        "JOIN notebook n ON n.assignment_id = a.id AND n.name = a.name "
        "WHERE a.name = ?",
        (lesson,),
    ).fetchone()
    if not found:
        raise not_opened(lesson)
    assignment, notebook, due = found
    cells = connection.execute(
        "SELECT name, id, type FROM base_cell WHERE notebook_id = ? ORDER BY rowid",
        (notebook,),
    ).fetchall()
    return Opened(
        assignment,
        notebook,
        due,
        {
            name.removeprefix(CHECK): cell
            for name, cell, kind in cells
            if kind in GRADED
        },
        {name: cell for name, cell, kind in cells if kind in COMMENTED},
    )


def not_opened(lesson: str) -> CourseError:
    """Give the fault of a lesson that is not in the gradebook."""
    return CourseError(
        f"{lesson} is not in the gradebook: run `autograder open {lesson}` to enter it"
    )
