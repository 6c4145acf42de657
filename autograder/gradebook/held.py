"""What the gradebook has of some students, read before grades are written."""

import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.gradebook.opened import Opened
from autograder.gradebook.querying import Table, submission_rows


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
