"""Write a batch of grades: what differs from what is there, and nothing else.

As nbgrader's ``SaveAutoGrades`` and ``AssignLatePenalties`` do it, but for a class in a
few statements, and what a grader has settled stays settled until there is something new
to settle. What people have entered (scores, credit, comments, flags, names, extensions)
is never touched.
"""

import sqlite3
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from autograder.course import CourseError
from autograder.gradebook.folders import seconds_late
from autograder.gradebook.grades import Table, submission_rows
from autograder.gradebook.opening import Opened
from autograder.gradebook.settings import Penalties
from autograder.grading.result import ExerciseResult, Result


@dataclass(slots=True)
class HeldGrade:
    """One exercise's grade: its row's id, and the parts that make the score."""

    id: str
    auto: float | None
    manual: float | None = None
    extra: float | None = None

    @property
    def score(self) -> float:
        """What nbgrader counts: extra credit only where there is a score."""
        given = self.auto if self.manual is None else self.manual
        return 0.0 if given is None else given + (self.extra or 0.0)


@dataclass
class Held:
    """What there is of one student.

    submission, notebook : ids, "" if there is none
    grades : by the id of the graded cell
    comments : by the id of the commented cell: the row's id, and what the engine said
    """

    submission: str = ""
    timestamp: str | None = None
    extension: str | None = None
    notebook: str = ""
    penalty: float | None = None
    grades: dict[str, HeldGrade] = field(default_factory=dict)
    comments: dict[str, tuple[str, str | None]] = field(default_factory=dict)


def read_held(
    connection: sqlite3.Connection, opened: Opened, students: Sequence[str]
) -> defaultdict[str, Held]:
    """Give what there is of these students; of one who is not there, nothing."""

    def rows(what: str, each: Table = "") -> Iterator[tuple[Any, ...]]:
        return submission_rows(connection, opened, students, what, each)

    found: defaultdict[str, Held] = defaultdict(Held)
    for student, *row in rows(
        "s.id, s.timestamp, s.extension, coalesce(n.id, ''), n.late_submission_penalty"
    ):
        found[student] = Held(*row)
    what = "g.cell_id, g.id, g.auto_score, g.manual_score, g.extra_credit"
    for student, cell, *row in rows(what, "grade"):
        found[student].grades[cell] = HeldGrade(*row)
    what = "g.cell_id, g.id, g.auto_comment"
    for student, cell, name, comment in rows(what, "comment"):
        found[student].comments[cell] = (name, comment)
    return found


LONGEST_ID = 128  # characters that nbgrader's database keeps
UNSAFE = "<>&\"'\\/"  # formgrader puts ids into its pages as they are
UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})  # control, invisible, broken
LONGEST_REMARK = 1000  # characters
NO_RESPONSE = "No response."  # nbgrader's words
# nbgrader's page turns a comment's Markdown, HTML and formulas into a page's
PLAIN = str.maketrans(
    {"<": "‹", ">": "›", "[": "(", "]": ")", "$": "＄", "\\": "|", "&": "+", "`": "'"}
)


@dataclass(frozen=True)
class Entry:
    """What the engine says of one student for one lesson.

    points : by exercise
    review : exercises that a person should look at
    untouched : exercises whose stub was left as it was
    remarks : exercise to what the comment on it says
    timestamp : what ``timestamp.txt`` says, if there is one
    """

    student: str
    points: Mapping[str, float]
    review: frozenset[str] = frozenset()
    untouched: frozenset[str] = frozenset()
    remarks: Mapping[str, str] = field(default_factory=dict)
    timestamp: str | None = None

    def comment(self, exercise: str) -> str | None:
        """Give the comment on an exercise, if there is anything to say."""
        untouched = NO_RESPONSE if exercise in self.untouched else None
        return self.remarks.get(exercise) or untouched


def entry_of(result: Result, timestamp: str | None) -> Entry:
    """Give what the gradebook is to hold of a result."""
    remarks = {each.exercise: _remark(result, each) for each in result.exercises}
    return Entry(
        result.student,
        {each.exercise: float(each.points) for each in result.exercises},
        frozenset(each.exercise for each in result.exercises if each.flags),
        frozenset(each.exercise for each in result.exercises if _untouched(each)),
        {exercise: remark for exercise, remark in remarks.items() if remark},
        timestamp,
    )


def id_fault(student: str) -> str:
    """Say what is wrong with a folder's name as a student's id; "" if nothing is.

    >>> id_fault("amara")
    ''
    >>> id_fault("a<b")
    "the folder's name holds <, which is no part of a student's id: rename it"
    """
    if not 0 < len(student) <= LONGEST_ID:
        return (
            f"the folder's name has {len(student)} characters, and a student's id has "
            f"1 to {LONGEST_ID}: rename it"
        )
    if student[0] in ".-":
        return f"the folder's name begins with {student[0]}: rename it"
    for character in student:
        if character in UNSAFE or unicodedata.category(character) in UNSEEN:
            shown = character if character in UNSAFE else f"U+{ord(character):04X}"
            return (
                f"the folder's name holds {shown}, which is no part of a student's id: "
                "rename it"
            )
    return ""


def _untouched(exercise: ExerciseResult) -> bool:
    statuses = {case.status for case in exercise.cases}
    return statuses == {"missing"}


def _remark(result: Result, exercise: ExerciseResult) -> str:
    """Give the comment on an exercise in plain words, "" for none."""
    if result.status == "invalid":
        told = f"Nothing could be graded: {result.reason}"
    elif exercise.flags:
        called = ", ".join(dict.fromkeys(flag.what for flag in exercise.flags))
        told = f"For review: the answer calls {called}"
    else:
        return ""
    told = " ".join(told.split())[:LONGEST_REMARK].translate(PLAIN)
    return told.replace("//", "/ /")  # no link


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


# MERGED autograder.gradebook.held: What the gradebook has of some students, read before grades are written.
# MERGED autograder.gradebook.entries: What the gradebook is told of one student for one lesson.
#
#   Everything in a result may be a stranger's words; what is kept here of them can stand
#   on any page.
#
