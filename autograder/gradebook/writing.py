"""Write a batch of grades: what differs from what is there, and nothing else.

As nbgrader's ``SaveAutoGrades`` and ``AssignLatePenalties`` do it, but for a class in a
few statements, and what a grader has settled stays settled until there is something new
to settle. What people have entered (scores, credit, comments, flags, names, extensions)
is never touched.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from autograder.course import CourseError
from autograder.gradebook.entries import Entry
from autograder.gradebook.held import Held, HeldGrade, read_held
from autograder.gradebook.moments import seconds_late
from autograder.gradebook.opened import Opened
from autograder.gradebook.penalties import Penalties

ADD_STUDENT = "INSERT OR IGNORE INTO student (id) VALUES (?)"
ADD_SUBMISSION = (
    "INSERT INTO submitted_assignment (id, assignment_id, student_id, timestamp) "
    "VALUES (?, ?, ?, ?)"
)
ADD_NOTEBOOK = (
    "INSERT INTO submitted_notebook (id, assignment_id, notebook_id, flagged) "
    "VALUES (?, ?, ?, 0)"
)
ADD_GRADE = (
    "INSERT INTO grade (id, notebook_id, cell_id, auto_score, needs_manual_grade) "
    "VALUES (?, ?, ?, ?, ?)"
)
ADD_COMMENT = (
    "INSERT INTO comment (id, notebook_id, cell_id, auto_comment) VALUES (?, ?, ?, ?)"
)
SET_TIME = "UPDATE submitted_assignment SET timestamp = ? WHERE id = ?"
SET_PENALTY = "UPDATE submitted_notebook SET late_submission_penalty = ? WHERE id = ?"
SET_GRADE = "UPDATE grade SET auto_score = ?, needs_manual_grade = ? WHERE id = ?"
SET_COMMENT = "UPDATE comment SET auto_comment = ? WHERE id = ?"


class Batch:
    """The changes that a batch of entries makes."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        opened: Opened,
        students: Sequence[str],
        penalties: Penalties,
    ) -> None:
        """Read what there is of the students; within a transaction that writes."""
        self._connection = connection
        self._opened = opened
        self._penalties = penalties
        self._rows: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
        self._changed: set[str] = set()
        self._held = read_held(connection, opened, students)

    def take(self, entry: Entry, moment: str | None) -> None:
        """Take a student's entry.

        moment : when it was handed in, as the database has it, if that is known
        """
        if unknown := entry.points.keys() - self._opened.graded.keys():
            raise CourseError(
                f"the gradebook does not have the exercise {min(unknown)}: run "
                "`autograder open` for its lesson, then call again"
            )
        held = self._held[entry.student]
        self._hand_in(entry.student, held, moment)
        self._grade(entry, held, self._comment(entry, held))
        self._penalise(entry.student, held)

    def write(self) -> int:
        """Write the changes; give how many students they concern."""
        for statement, rows in self._rows.items():
            self._connection.executemany(statement, rows)
        return len(self._changed)

    def _do(self, student: str, statement: str, *row: Any) -> None:
        self._rows[statement].append(row)
        self._changed.add(student)

    def _hand_in(self, student: str, held: Held, moment: str | None) -> None:
        assignment, notebook = self._opened.assignment, self._opened.notebook
        if not held.submission:
            held.submission = uuid4().hex
            self._do(student, ADD_STUDENT, student)
            row = held.submission, assignment, student, moment
            self._do(student, ADD_SUBMISSION, *row)
        elif moment and moment != held.timestamp:
            self._do(student, SET_TIME, moment, held.submission)
        held.timestamp = moment or held.timestamp
        if not held.notebook:
            held.notebook = uuid4().hex
            self._do(student, ADD_NOTEBOOK, held.notebook, held.submission, notebook)

    def _comment(self, entry: Entry, held: Held) -> set[str]:
        """Write the comments; give the exercises that get another one."""
        remarked = set()
        for exercise, cell in self._opened.commented.items():
            comment = entry.comment(exercise)
            if cell not in held.comments:
                row = uuid4().hex, held.notebook, cell, comment
                self._do(entry.student, ADD_COMMENT, *row)
            elif exercise in entry.points and comment != held.comments[cell][1]:
                self._do(entry.student, SET_COMMENT, comment, held.comments[cell][0])
                remarked.add(exercise)
        return remarked

    def _grade(self, entry: Entry, held: Held, remarked: set[str]) -> None:
        """Write the points; an exercise that the lesson no longer has gets none."""
        for exercise, cell in self._opened.graded.items():
            auto, review = entry.points.get(exercise), exercise in entry.review
            grade = held.grades.get(cell)
            if grade is None:
                grade = held.grades[cell] = HeldGrade(uuid4().hex, auto)
                row = grade.id, held.notebook, cell, auto, review
                self._do(entry.student, ADD_GRADE, *row)
            elif auto is None:
                continue
            elif grade.auto != auto or (review and exercise in remarked):
                needs = grade.manual is not None or review
                self._do(entry.student, SET_GRADE, auto, needs, grade.id)
                grade.auto = auto

    def _penalise(self, student: str, held: Held) -> None:
        late = seconds_late(held.timestamp, self._opened.due, held.extension)
        penalty = None
        if late > 0:
            score = sum(grade.score for grade in held.grades.values())
            penalty = self._penalties.of(student, score, late)
        if penalty != held.penalty:
            self._do(student, SET_PENALTY, penalty, held.notebook)
