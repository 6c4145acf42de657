"""The grades of a lesson as they are in the gradebook, and how a class's are read.

A class is read out of nbgrader's database with one query for each table.
"""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal

from autograder.gradebook.lateness import parse_extension, seconds_late
from autograder.gradebook.opening import OpenedLesson


def points_that_count(
    auto: float | None, manual: float | None, extra: float | None
) -> float:
    """Return what nbgrader counts: a person's points instead of the engine's.

    Extra credit counts only where there are points.

    >>> points_that_count(3.0, 5.0, 1.0), points_that_count(None, None, 1.0)
    (6.0, 0.0)
    """
    points = auto if manual is None else manual
    return 0.0 if points is None else float(points) + float(extra or 0.0)


@dataclass(frozen=True)
class Grade:
    """The grade of one exercise.

    auto : the engine's points; None if it has not been graded
    manual : a person's points, entered in formgrader, which count instead
    extra : extra credit, which a person has added
    comment : what a person has written to the student
    needs_manual_grade : whether a person is to look at it, as formgrader shows
    optional : whether the points are on top of the lesson's: there are none to lose
    """

    exercise: str
    max_points: float
    auto: float | None = None
    manual: float | None = None
    extra: float | None = None
    comment: str = ""
    needs_manual_grade: bool = False
    optional: bool = False

    @property
    def points(self) -> float:
        """Points that count.

        >>> Grade("softmax", 8.0, auto=3.0, manual=5.0, extra=1.0).points
        6.0
        """
        return points_that_count(self.auto, self.manual, self.extra)

    @property
    def by_hand(self) -> bool:
        """Whether a person has changed the points."""
        return self.manual is not None or bool(self.extra)

    @property
    def is_graded(self) -> bool:
        """Whether there is a grade, by the engine or by hand."""
        return (self.auto, self.manual) != (None, None)


@dataclass(frozen=True)
class Person:
    """A student as the gradebook has them; "" is what is not known.

    id : the name of the folder in ``submitted``
    lms_user_id : Canvas's own number, or another
    """

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_user_id: str = ""
    section: str = ""


@dataclass(frozen=True)
class StudentGrades:
    """All grades of a student for a lesson.

    student : the id, which is the name of the folder in ``submitted``
    exercises : in the order of the lesson
    late_penalty : points taken off, as nbgrader's plugin has said
    seconds_late : after the due date and the extension; 0 if it was in time
    late_rule : what lateness costs, in the instructor's words; "" if not known
    submitted : whether the gradebook has a submission; without one all is empty
    timestamp : when it was handed in, as the gradebook has it (UTC); "" if unknown
    section : the student's, as the roster has it
    extension_hours : how much later the due date is for this student
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
    section: str = ""
    extension_hours: float = 0.0
    seconds_late: float = 0.0
    late_rule: str = ""

    @property
    def points(self) -> float:
        """Points that count, after the penalty, never below zero."""
        return max(0.0, sum(each.points for each in self.exercises) - self.late_penalty)

    @property
    def is_graded(self) -> bool:
        """Whether an exercise has a grade."""
        return any(each.is_graded for each in self.exercises)

    @property
    def max_points(self) -> float:
        """Points that could be earned; those of optional exercises are on top."""
        return float(sum(each.max_points for each in self.exercises))

    @property
    def by_hand(self) -> bool:
        """Whether a person has given points."""
        return any(each.by_hand for each in self.exercises)

    @property
    def needs_manual_grade(self) -> bool:
        """Whether a person is to look at an exercise."""
        return any(each.needs_manual_grade for each in self.exercises)


# In this order of the tables every row is found by an index: a few students of many
# cost little.
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
# Not nbgrader's, which knows no sections; it is there if a roster has had some.
SECTIONS = "roster_section"
SECTION_OF_EACH = f"SELECT student_id, name FROM {SECTIONS}"
NAMED = "WHERE id IN (SELECT value FROM json_each(?)) "

CellTable = Literal["", "grade", "set_aside_grade", "comment"]


def submission_rows(
    connection: sqlite3.Connection,
    lesson: OpenedLesson,
    students: Sequence[str],
    columns: str,
    table: CellTable = "",
) -> Iterator[tuple[Any, ...]]:
    """Return rows of a student's id and the columns.

    columns : in SQL, of s (submitted_assignment), n (submitted_notebook), g (``table``)
    table : adds a row for each cell of the table
    """
    query = SUBMISSIONS.format(columns)
    if table:
        query += OF_EACH_CELL.format(table)
    cells = lesson.commented.values() if table == "comment" else lesson.exercises
    values = {
        "assignment": lesson.assignment,
        "notebook": lesson.notebook,
        "students": json.dumps(students),
        "cells": json.dumps([*cells]),
    }
    return connection.execute(query, values)


def read_grades(
    connection: sqlite3.Connection,
    lesson: OpenedLesson,
    students: Sequence[str] | None,
) -> dict[str, StudentGrades]:
    """Return the grades of all students of the gradebook, or of some, by id.

    Those of a student who has not handed in are empty.
    """
    people = read_people(connection, students)
    ungraded = _ungraded(connection, lesson)
    graded = _graded(connection, lesson, [*people], ungraded)
    columns = "s.timestamp, coalesce(n.late_submission_penalty, 0.0), s.extension"
    rows = [*submission_rows(connection, lesson, [*people], columns)]
    late: dict[str, float] = defaultdict(float)
    late |= {who: seconds_late(when, lesson.due, more) for who, when, _, more in rows}
    submissions = {
        student: (_format_timestamp(moment), penalty, extension)
        for student, moment, penalty, extension in rows
    }
    grades = {}
    for student, person in people.items():
        timestamp, penalty, extension = submissions.get(student, ("", 0.0, None))
        hours = parse_extension(extension) / timedelta(hours=1)
        submitted = student in submissions
        own = graded[student] if submitted else None
        exercises = exercises_of(ungraded, own, lesson.retired)
        grades[student] = StudentGrades(
            student,
            exercises,
            penalty,
            submitted,
            timestamp,
            person.first_name,
            person.last_name,
            person.email,
            person.lms_user_id,
            person.section,
            hours,
            late[student],
        )
    return grades


def exercises_of(
    ungraded: Mapping[str, Grade],
    graded: Mapping[str, Grade] | None,
    retired: Collection[str],
) -> tuple[Grade, ...]:
    """Return the exercises that count for a student, in the order of the lesson.

    For a submission what has a row in the gradebook counts, graded or not; for who has
    handed in nothing, what the lesson has today.

    ungraded, graded : by the id of the graded cell; None: there is no submission
    retired : ids of the cells that the lesson no longer has
    """
    if graded is None:
        return tuple(each for cell, each in ungraded.items() if cell not in retired)
    return tuple(graded[cell] for cell in ungraded if cell in graded)


def _sections(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the sections of those who have one, by student."""
    query = "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = ?)"
    if not connection.execute(query, (SECTIONS,)).fetchone()[0]:
        return {}
    return dict(connection.execute(SECTION_OF_EACH).fetchall())


def read_people(
    connection: sqlite3.Connection, students: Sequence[str] | None = None
) -> dict[str, Person]:
    """Return all students of the gradebook, or some, by id."""
    query = PEOPLE + ("" if students is None else NAMED) + "ORDER BY id"
    values = () if students is None else (json.dumps(students),)
    sections = _sections(connection)
    return {
        row[0]: Person(*[*row, sections.get(row[0], "")])
        for row in connection.execute(query, values)
    }


def _ungraded(connection: sqlite3.Connection, lesson: OpenedLesson) -> dict[str, Grade]:
    """Return the exercises without grades: id of the graded cell to grade."""
    query = (
        "SELECT id, max_score FROM grade_cells UNION ALL "
        "SELECT id, max_score FROM task_cells"
    )
    max_points = dict(connection.execute(query).fetchall())
    on_top = {*lesson.on_top.values()}
    return {
        cell: Grade(name, max_points[cell], optional=cell in on_top)
        for cell, name in lesson.exercises.items()
        if name not in lesson.dropped
    }


def _graded(
    connection: sqlite3.Connection,
    lesson: OpenedLesson,
    students: Sequence[str],
    ungraded: dict[str, Grade],
) -> dict[str, dict[str, Grade]]:
    """Return the grades that exist, by student and id of the graded cell."""
    comments: dict[tuple[str, str], str] = {}
    exercises = {cell: exercise for exercise, cell in lesson.commented.items()}
    columns = "g.cell_id, g.manual_comment"
    rows = submission_rows(connection, lesson, students, columns, "comment")
    for student, cell, comment in rows:
        if comment:
            comments[student, exercises[cell]] = comment
    grades: dict[str, dict[str, Grade]] = defaultdict(dict)
    columns = (
        "g.cell_id, g.auto_score, g.manual_score, g.extra_credit, g.needs_manual_grade"
    )
    rows = submission_rows(connection, lesson, students, columns, "grade")
    for student, cell, auto, manual, extra, review in rows:
        if cell not in ungraded:
            continue  # dropped
        comment = comments.get((student, ungraded[cell].exercise), "")
        grades[student][cell] = replace(
            ungraded[cell],
            auto=auto,
            manual=manual,
            extra=extra,
            comment=comment,
            needs_manual_grade=bool(review),
        )
    return grades


def _format_timestamp(moment: str | None) -> str:
    """Return a time as nbgrader's export writes it; what is none, as it is."""
    try:
        return str(datetime.fromisoformat(moment)) if moment else ""
    except ValueError:
        return str(moment)
