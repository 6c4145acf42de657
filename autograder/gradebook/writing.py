"""Write a batch of grades: what differs from what is stored, and nothing else.

As nbgrader's ``SaveAutoGrades`` and ``AssignLatePenalties`` do it, but for a class in a
few statements, and what a grader has settled stays settled until there is something new
to settle. What people have entered (scores, credit, comments, flags, names, extensions)
is never touched.
"""

import json
import sqlite3
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from autograder.checking.result import ExerciseResult
from autograder.course import CourseError
from autograder.course.releases import CHECK, ON_TOP
from autograder.gradebook.grades import CellTable, points_that_count, submission_rows
from autograder.gradebook.lateness import (
    LatePenalties,
    format_extension,
    seconds_late,
)
from autograder.gradebook.opening import OpenedLesson
from autograder.grading.result import SubmissionResult

MAX_ID = 128  # characters that nbgrader's database keeps
UNSAFE = "<>&\"'\\/"  # formgrader puts ids into its pages as they are
INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})  # control, invisible, broken
MAX_REMARK = 1000  # characters
NO_RESPONSE = "No response."  # nbgrader's words
# nbgrader's page turns a comment's Markdown, HTML and formulas into a page's
PLAIN = str.maketrans(
    {"<": "‹", ">": "›", "[": "(", "]": ")", "$": "＄", "\\": "|", "&": "+", "`": "'"}
)
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
REMOVE_GRADE = "DELETE FROM grade WHERE id = ?"
RESTORE_GRADE = (
    "INSERT INTO grade (id, notebook_id, cell_id, auto_score, manual_score, "
    "extra_credit, needs_manual_grade) VALUES (?, ?, ?, ?, ?, ?, ?)"
)
# nbgrader counts every row of its table, and a submission's greatest score is that of
# its rows: what does not count has none. A person's points are not thrown away.
SET_ASIDE_TABLE = (
    "CREATE TABLE IF NOT EXISTS set_aside_grade (notebook_id VARCHAR(32), "
    "cell_id VARCHAR(32), id VARCHAR(32), auto_score FLOAT, manual_score FLOAT, "
    "extra_credit FLOAT, needs_manual_grade BOOLEAN, "
    "PRIMARY KEY (notebook_id, cell_id))"
)
SET_ASIDE = "INSERT OR REPLACE INTO set_aside_grade VALUES (?, ?, ?, ?, ?, ?, ?)"
NO_LONGER_ASIDE = "DELETE FROM set_aside_grade WHERE notebook_id = ? AND cell_id = ?"
ADD_COMMENT = (
    "INSERT INTO comment (id, notebook_id, cell_id, auto_comment) VALUES (?, ?, ?, ?)"
)
SET_TIME = "UPDATE submitted_assignment SET timestamp = ? WHERE id = ?"
SET_EXTENSION = "UPDATE submitted_assignment SET extension = ? WHERE id = ?"
# nbgrader keeps extensions with submissions; this one of ours, until there is one
MAKE_AWAITED = (
    "CREATE TABLE IF NOT EXISTS awaited_extension (assignment_id VARCHAR(32), "
    "student_id VARCHAR(128), seconds FLOAT, PRIMARY KEY (assignment_id, student_id))"
)
ADD_AWAITED = "INSERT OR REPLACE INTO awaited_extension VALUES (?, ?, ?)"
REMOVE_AWAITED = (
    "DELETE FROM awaited_extension WHERE assignment_id = ? AND student_id = ?"
)
READ_AWAITED = (
    "SELECT student_id, seconds FROM awaited_extension "
    "JOIN json_each(?) ON value = student_id WHERE assignment_id = ?"
)
SET_PENALTY = "UPDATE submitted_notebook SET late_submission_penalty = ? WHERE id = ?"
SET_GRADE = "UPDATE grade SET auto_score = ?, needs_manual_grade = ? WHERE id = ?"
MOVE_GRADE = "UPDATE grade SET cell_id = ? WHERE id = ?"
SET_COMMENT = "UPDATE comment SET auto_comment = ? WHERE id = ?"


@dataclass(frozen=True)
class GradebookEntry:
    """What the engine says of one student for one lesson.

    points : by exercise
    review : exercises that a person should look at
    unwritten : exercises whose stub was left as it was
    remarks : exercise to what the comment on it says; safe on any page
    timestamp : what ``timestamp.txt`` says, if there is one
    counted : exercises that count for the submission; None: all
    optional : exercises whose points are added on top
    """

    student: str
    points: Mapping[str, float]
    review: frozenset[str] = frozenset()
    unwritten: frozenset[str] = frozenset()
    remarks: Mapping[str, str] = field(default_factory=dict)
    timestamp: str | None = None
    counted: frozenset[str] | None = None
    optional: frozenset[str] = frozenset()

    @property
    def cells(self) -> list[str]:
        """Names of the graded cells that its points belong to."""
        return [
            (ON_TOP if name in self.optional else CHECK) + name for name in self.points
        ]

    def counts(self, exercise: str) -> bool:
        """Return whether an exercise counts for the submission."""
        return self.counted is None or exercise in self.counted

    def comment(self, exercise: str) -> str | None:
        """Return the comment on an exercise, if there is anything to say."""
        no_response = NO_RESPONSE if exercise in self.unwritten else None
        return self.remarks.get(exercise) or no_response


def gradebook_entry(result: SubmissionResult, timestamp: str | None) -> GradebookEntry:
    """Return what the gradebook is to have of a result."""
    remarks = {each.exercise: _remark(result, each) for each in result.counted}
    return GradebookEntry(
        result.student,
        {each.exercise: float(each.points) for each in result.counted},
        frozenset(each.exercise for each in result.counted if each.flags),
        frozenset(each.exercise for each in result.counted if each.is_unwritten),
        {exercise: remark for exercise, remark in remarks.items() if remark},
        timestamp,
        frozenset(each.exercise for each in result.counted),
        frozenset(result.optional),
    )


def _remark(result: SubmissionResult, exercise: ExerciseResult) -> str:
    """Return the comment on an exercise in plain words, "" for none."""
    if result.status == "invalid":
        remark = f"Nothing could be graded: {result.reason}"
    elif exercise.flags:
        called: dict[str, dict[str, None]] = {}
        for flag in exercise.flags:
            called.setdefault(flag.subject, {})[flag.what] = None
        calls = "; ".join(f"{who} {', '.join(each)}" for who, each in called.items())
        remark = f"For review: {calls}"
    else:
        return ""
    remark = " ".join(remark.split())[:MAX_REMARK].translate(PLAIN)
    return remark.replace("//", "/ /")  # no link


def student_id_fault(student: str) -> str:
    """Return what is wrong with a folder's name as a student's id; "" if nothing is.

    >>> student_id_fault("amara")
    ''
    >>> student_id_fault("a<b")
    "the folder's name holds <, which is no part of a student's id: rename it"
    """
    fault = id_fault(student)
    return f"the folder's name {fault}: rename it" if fault else ""


def id_fault(student: str) -> str:
    """Return what a text does that no student's id does; "" if nothing."""
    if not 0 < len(student) <= MAX_ID:
        return f"has {len(student)} characters, and a student's id has 1 to {MAX_ID}"
    if student[0] in ".-":
        return f"begins with {student[0]}"
    for character in student:
        if character in UNSAFE or unicodedata.category(character) in INVISIBLE:
            name = character if character in UNSAFE else f"U+{ord(character):04X}"
            return f"holds {name}, which is no part of a student's id"
    return ""


@dataclass(slots=True)
class StoredGrade:
    """One exercise's grade in the gradebook: its row's id, the parts of the score."""

    id: str
    auto: float | None
    manual: float | None = None
    extra: float | None = None
    needs: bool = False

    @property
    def is_open(self) -> bool:
        """Whether nobody has given any points, as nbgrader enters it first."""
        return (self.auto, self.manual, self.extra) == (None, None, None)

    @property
    def score(self) -> float:
        """What nbgrader counts."""
        return points_that_count(self.auto, self.manual, self.extra)


@dataclass
class StoredSubmission:
    """What the gradebook has of one student.

    submission, notebook : ids, "" if there is none
    grades : by the id of the graded cell
    set_aside : grades of what did not count so far, in the same way
    comments : by the id of the commented cell: the row's id, and what the engine said
    awaited : seconds of an extension that was given before there was a submission
    aside_in : cell to the other cell of its exercise, in which its grade was set aside
    """

    submission: str = ""
    timestamp: str | None = None
    extension: str | None = None
    notebook: str = ""
    penalty: float | None = None
    grades: dict[str, StoredGrade] = field(default_factory=dict)
    set_aside: dict[str, StoredGrade] = field(default_factory=dict)
    comments: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    awaited: float | None = None
    aside_in: dict[str, str] = field(default_factory=dict)


def read_stored(
    connection: sqlite3.Connection, lesson: OpenedLesson, students: Sequence[str]
) -> defaultdict[str, StoredSubmission]:
    """Return what the gradebook has of these students; an unknown one has nothing."""

    def rows(columns: str, table: CellTable = "") -> Iterator[tuple[Any, ...]]:
        return submission_rows(connection, lesson, students, columns, table)

    stored: defaultdict[str, StoredSubmission] = defaultdict(StoredSubmission)
    for student, *row in rows(
        "s.id, s.timestamp, s.extension, coalesce(n.id, ''), n.late_submission_penalty"
    ):
        stored[student] = StoredSubmission(*row)
    columns = (
        "g.cell_id, g.id, g.auto_score, g.manual_score, g.extra_credit, "
        "g.needs_manual_grade"
    )
    for student, cell, *row in rows(columns, "grade"):
        stored[student].grades[cell] = StoredGrade(*row)
    if _has_table(connection, "set_aside_grade"):
        for student, cell, *row in rows(columns, "set_aside_grade"):
            stored[student].set_aside[cell] = StoredGrade(*row)
    columns = "g.cell_id, g.id, g.auto_comment"
    for student, cell, name, comment in rows(columns, "comment"):
        stored[student].comments[cell] = (name, comment)
    for student, seconds in awaited_extensions(connection, lesson, students).items():
        stored[student].awaited = seconds
    return stored


def awaited_extensions(
    connection: sqlite3.Connection, lesson: OpenedLesson, students: Sequence[str]
) -> dict[str, float]:
    """Return the extensions, in seconds, of those who have handed in nothing yet."""
    if not _has_table(connection, "awaited_extension"):
        return {}
    values = json.dumps(students), lesson.assignment
    return dict(connection.execute(READ_AWAITED, values).fetchall())


def _has_table(connection: sqlite3.Connection, name: str) -> bool:
    """Return whether a table of ours has been made so far."""
    query = "SELECT 1 FROM sqlite_master WHERE name = ?"
    return connection.execute(query, (name,)).fetchone() is not None


class GradebookBatch:
    """The changes that a batch of entries makes."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        lesson: OpenedLesson,
        students: Sequence[str],
        penalties: LatePenalties,
    ) -> None:
        """Read what is stored of the students; within a transaction."""
        self._connection = connection
        self._lesson = lesson
        self._penalties = penalties
        self._rows: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
        self._changed: set[str] = set()
        self._stored = read_stored(connection, lesson, students)

    def add(self, entry: GradebookEntry, moment: str | None) -> None:
        """Add a student's entry.

        moment : when it was handed in, as the database has it, if that is known
        """
        unknown = [
            name
            for name in entry.points
            if name not in self._graded_cells(name in entry.optional)
        ]
        if unknown:
            raise CourseError(
                f"the gradebook does not have the exercise {min(unknown)}: run "
                "`autograder open` for its lesson, then call again"
            )
        stored = self._stored[entry.student]
        self._hand_in(entry.student, stored, moment)
        self._grade(entry, stored, self._comment(entry, stored))
        self._penalise(entry.student, stored)

    def extend(self, student: str, seconds: float) -> None:
        """Extend a student's time from the due date on; 0 takes that back.

        Extensions do not add up. Before there is a submission it is kept for that.
        """
        stored = self._stored[student]
        if not stored.submission:
            self._connection.execute(MAKE_AWAITED)
            row = self._lesson.assignment, student
            if seconds:
                self._do(student, ADD_AWAITED, *row, seconds)
            else:
                self._do(student, REMOVE_AWAITED, *row)
            return
        self._extend(student, stored, seconds)
        self.settle(student)

    def _extend(self, student: str, stored: StoredSubmission, seconds: float) -> None:
        stored.extension = format_extension(seconds) if seconds else None
        self._do(student, SET_EXTENSION, stored.extension, stored.submission)

    def recount(self, student: str, exercise: str) -> None:
        """Set an exercise aside if it is dropped, else restore it; grade nothing."""
        stored = self._stored[student]
        for cell in self._lesson.cells_of(exercise):
            if exercise in self._lesson.dropped:
                self._set_aside(student, stored, cell)
            elif cell in stored.set_aside and cell not in stored.grades:
                self._restore(student, stored, cell, None, review=False)
        self._penalise(student, stored)

    def settle(self, student: str) -> None:
        """Bring the penalty up to date of who has handed in."""
        stored = self._stored[student]
        if stored.notebook:
            self._penalise(student, stored)

    @property
    def n_changed(self) -> int:
        """How many students the changes concern."""
        return len(self._changed)

    def write(self) -> int:
        """Write the changes; return how many students they concern."""
        if SET_ASIDE in self._rows:
            self._connection.execute(SET_ASIDE_TABLE)
        # Updates come last: one student's would run before another's row is there.
        for statement in sorted(self._rows, key=lambda each: each.startswith("UPDATE")):
            self._connection.executemany(statement, self._rows[statement])
        return self.n_changed

    def _do(self, student: str, statement: str, *row: Any) -> None:
        self._rows[statement].append(row)
        self._changed.add(student)

    def _hand_in(
        self, student: str, stored: StoredSubmission, moment: str | None
    ) -> None:
        assignment, notebook = self._lesson.assignment, self._lesson.notebook
        if not stored.submission:
            stored.submission = uuid4().hex
            self._do(student, ADD_STUDENT, student)
            submission = stored.submission, assignment, student, moment
            self._do(student, ADD_SUBMISSION, *submission)
        elif moment and moment != stored.timestamp:
            self._do(student, SET_TIME, moment, stored.submission)
        stored.timestamp = moment or stored.timestamp
        if stored.awaited is not None:
            if not stored.extension:
                self._extend(student, stored, stored.awaited)
            self._do(student, REMOVE_AWAITED, assignment, student)
        if not stored.notebook:
            stored.notebook = uuid4().hex
            row = stored.notebook, stored.submission, notebook
            self._do(student, ADD_NOTEBOOK, *row)

    def _comment(self, entry: GradebookEntry, stored: StoredSubmission) -> set[str]:
        """Write the comments; return the exercises whose comment changes."""
        changed = set()
        for exercise, cell in self._lesson.commented.items():
            comment = entry.comment(exercise)
            if cell not in stored.comments:
                row = uuid4().hex, stored.notebook, cell, comment
                self._do(entry.student, ADD_COMMENT, *row)
            elif exercise in entry.points and comment != stored.comments[cell][1]:
                self._do(entry.student, SET_COMMENT, comment, stored.comments[cell][0])
                changed.add(exercise)
        return changed

    def _grade(
        self, entry: GradebookEntry, stored: StoredSubmission, remarked: set[str]
    ) -> None:
        """Write the points; an exercise that the lesson no longer has gets none."""
        for exercise in dict.fromkeys(self._lesson.exercises.values()):
            cells = self._lesson.cells_of(exercise)
            if not entry.counts(exercise) or exercise in self._lesson.dropped:
                for cell in cells:
                    self._set_aside(entry.student, stored, cell)
                continue
            own = self._graded_cells(exercise in entry.optional).get(exercise)
            if own is None:
                continue  # nobody's points belong there so far
            cell, *others = [own, *(each for each in cells if each != own)]
            for other in others:  # it was required and is on top now, or conversely
                self._move(entry.student, stored, other, cell)
            auto, review = entry.points.get(exercise), exercise in entry.review
            grade = stored.grades.get(cell)
            if grade is None and cell in stored.set_aside:
                self._restore(entry.student, stored, cell, auto, review)
            elif grade is None:
                grade = stored.grades[cell] = StoredGrade(uuid4().hex, auto)
                row = grade.id, stored.notebook, cell, auto, review
                self._do(entry.student, ADD_GRADE, *row)
            elif auto is None:
                continue
            elif grade.auto != auto or (review and exercise in remarked):
                needs = grade.manual is not None or review
                self._do(entry.student, SET_GRADE, auto, needs, grade.id)
                grade.auto = auto

    def _graded_cells(self, on_top: bool) -> Mapping[str, str]:
        """Return the exercises' cells: required, or with points on top."""
        return self._lesson.on_top if on_top else self._lesson.graded

    def _move(
        self, student: str, stored: StoredSubmission, other: str, cell: str
    ) -> None:
        """Move a grade, with what a person has given, to the exercise's other cell.

        nbgrader enters a row without points for each cell: one of both is too many.
        """
        for each, row_of in ((other, cell), (cell, other)):
            if row_of in stored.grades and each in stored.grades:
                if stored.grades[each].is_open:
                    self._set_aside(student, stored, each)
        if other in stored.grades and cell not in stored.grades:
            grade = stored.grades[cell] = stored.grades.pop(other)
            self._do(student, MOVE_GRADE, cell, grade.id)
        elif other in stored.set_aside and cell not in stored.set_aside:
            # Where it lies is where it is taken from, once it counts again.
            stored.set_aside[cell] = stored.set_aside.pop(other)
            stored.aside_in[cell] = other

    def _set_aside(self, student: str, stored: StoredSubmission, cell: str) -> None:
        """Move out of the gradebook what does not count; it may count again."""
        grade = stored.grades.pop(cell, None)
        if grade is None:
            return
        self._do(student, REMOVE_GRADE, grade.id)
        if not grade.is_open:
            parts = grade.auto, grade.manual, grade.extra, grade.needs
            self._do(student, SET_ASIDE, stored.notebook, cell, grade.id, *parts)

    def _restore(
        self,
        student: str,
        stored: StoredSubmission,
        cell: str,
        auto: float | None,
        review: bool,
    ) -> None:
        """Bring back what counts again, with the engine's points of today."""
        grade = stored.grades[cell] = stored.set_aside.pop(cell)
        if auto is not None and auto != grade.auto:
            grade.auto, grade.needs = auto, grade.manual is not None or review
        parts = grade.auto, grade.manual, grade.extra, grade.needs
        self._do(student, RESTORE_GRADE, grade.id, stored.notebook, cell, *parts)
        aside = stored.aside_in.pop(cell, cell)
        self._do(student, NO_LONGER_ASIDE, stored.notebook, aside)

    def _penalise(self, student: str, stored: StoredSubmission) -> None:
        late = seconds_late(stored.timestamp, self._lesson.due, stored.extension)
        penalty = None
        if late > 0:
            score = sum(grade.score for grade in stored.grades.values())
            penalty = self._penalties.penalty(student, score, late)
        if penalty != stored.penalty:
            self._do(student, SET_PENALTY, penalty, stored.notebook)
