"""One student's grades of one lesson, as they stand in the gradebook, as data."""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from autograder.gradebook.opening import Opened


@dataclass(frozen=True)
class Grade:
    """The grade of one exercise.

    auto : what the engine gave; None if it has not been graded
    manual : what a person gave in formgrader, which counts instead
    extra : extra credit, which a person has added
    comment : what a person has written to the student
    """

    exercise: str
    max_points: float
    auto: float | None = None
    manual: float | None = None
    extra: float | None = None
    comment: str = ""

    @property
    def points(self) -> float:
        """Points that count.

        >>> Grade("softmax", 8.0, auto=3.0, manual=5.0, extra=1.0).points
        6.0
        """
        given = self.auto if self.manual is None else self.manual
        return 0.0 if given is None else float(given) + float(self.extra or 0.0)


@dataclass(frozen=True)
class Grades:
    """All grades of a student for a lesson.

    student : the id, which is the name of the folder in ``submitted``
    exercises : in the order of the lesson
    late_penalty : points taken off, as nbgrader's plugin has said
    submitted : whether the gradebook has a submission; without one all is empty
    timestamp : when it was handed in, as the gradebook has it (UTC); "" if unknown
    """

    student: str
    exercises: tuple[Grade, ...]
    late_penalty: float = 0.0
    submitted: bool = True
    timestamp: str = ""
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_user_id: str = ""

    @property
    def points(self) -> float:
        """Points that count, after the penalty, never below zero."""
        return max(0.0, sum(each.points for each in self.exercises) - self.late_penalty)

    @property
    def max_points(self) -> float:
        """Points that could be earned."""
        return float(sum(each.max_points for each in self.exercises))


Table = Literal["", "grade", "comment"]

# In this order all is found by indexes: few students of many cost little.
SUBMISSIONS = (
    "SELECT s.student_id, {} FROM json_each(:students) j "
    "CROSS JOIN submitted_assignment s "
    "ON s.assignment_id = :assignment AND s.student_id = j.value "
    "LEFT JOIN submitted_notebook n "
    "ON n.assignment_id = s.id AND n.notebook_id = :notebook"
)
OF_EACH_CELL = (
    " CROSS JOIN json_each(:cells) c "
    "CROSS JOIN {} g ON g.cell_id = c.value AND g.notebook_id = n.id"
)
PEOPLE = (
    "SELECT id, coalesce(first_name, ''), coalesce(last_name, ''), "
    "coalesce(email, ''), coalesce(lms_user_id, '') FROM student "
)
NAMED = "WHERE id IN (SELECT value FROM json_each(?)) "


def submission_rows(
    connection: sqlite3.Connection,
    opened: Opened,
    students: Sequence[str],
    what: str,
    each: Table = "",
) -> Iterator[tuple[Any, ...]]:
    """Give rows of a student's id and what is wanted, in SQL.

    what : columns of s (submitted_assignment), n (submitted_notebook), g (see each)
    each : the table of which there is a row for each cell, if one is wanted
    """
    wanted = SUBMISSIONS.format(what)
    if each:
        wanted += OF_EACH_CELL.format(each)
    cells = opened.graded if each == "grade" else opened.commented
    given = {
        "assignment": opened.assignment,
        "notebook": opened.notebook,
        "students": json.dumps(students),
        "cells": json.dumps([*cells.values()]),
    }
    return connection.execute(wanted, given)


def grades_of(
    connection: sqlite3.Connection, opened: Opened, students: Sequence[str] | None
) -> dict[str, Grades]:
    """Give the grades of all students of the gradebook, or of some, by id.

    Who has not handed in has empty ones.
    """
    people = _people(connection, students)
    blank = _blank(connection, opened)
    scores = _scores(connection, opened, [*people], blank)
    what = "s.timestamp, coalesce(n.late_submission_penalty, 0.0)"
    submissions = {
        student: (_shown(moment), penalty)
        for student, moment, penalty in submission_rows(
            connection, opened, [*people], what
        )
    }
    found = {}
    for student, names in people.items():
        timestamp, penalty = submissions.get(student, ("", 0.0))
        exercises = tuple((blank | scores[student]).values())
        submitted = student in submissions
        found[student] = Grades(
            student, exercises, penalty, submitted, timestamp, *names
        )
    return found


def _people(
    connection: sqlite3.Connection, students: Sequence[str] | None
) -> dict[str, list[str]]:
    wanted = PEOPLE + ("" if students is None else NAMED) + "ORDER BY id"
    given = () if students is None else (json.dumps(students),)
    return {student: names for student, *names in connection.execute(wanted, given)}


def _blank(connection: sqlite3.Connection, opened: Opened) -> dict[str, Grade]:
    """Give the exercises without grades: id of the graded cell to grade."""
    wanted = (
        "SELECT id, max_score FROM grade_cells UNION ALL "
        "SELECT id, max_score FROM task_cells"
    )
    most = dict(connection.execute(wanted).fetchall())
    return {cell: Grade(name, most[cell]) for name, cell in opened.graded.items()}


def _scores(
    connection: sqlite3.Connection,
    opened: Opened,
    students: Sequence[str],
    blank: dict[str, Grade],
) -> dict[str, dict[str, Grade]]:
    """Give the grades that there are, by student and id of the graded cell."""
    comments: dict[tuple[str, str], str] = {}
    names = {cell: name for name, cell in opened.commented.items()}
    what = "g.cell_id, g.manual_comment"
    rows = submission_rows(connection, opened, students, what, "comment")
    for student, cell, comment in rows:
        if comment:
            comments[student, names[cell]] = comment
    found: dict[str, dict[str, Grade]] = defaultdict(dict)
    what = "g.cell_id, g.auto_score, g.manual_score, g.extra_credit"
    rows = submission_rows(connection, opened, students, what, "grade")
    for student, cell, auto, manual, extra in rows:
        comment = comments.get((student, blank[cell].exercise), "")
        found[student][cell] = replace(
            blank[cell], auto=auto, manual=manual, extra=extra, comment=comment
        )
    return found


def _shown(moment: str | None) -> str:
    """Give a moment as nbgrader's export writes it; what is none, as it stands."""
    try:
        return str(datetime.fromisoformat(moment)) if moment else ""
    except ValueError:
        return str(moment)


# MERGED autograder.gradebook.querying: Read a class out of nbgrader's database, with a query for each table.
