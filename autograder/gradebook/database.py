"""nbgrader's gradebook, filled and read in batches.

Formgrader, nbgrader's own commands and its exports go on working on the same file. What
is written, and when, is in ``opening`` (lessons) and ``writing`` (grades).
"""

import math
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from autograder.course import Course
from autograder.gradebook.connection import connected, is_empty, transaction
from autograder.gradebook.entries import Entry, entry_of, id_fault
from autograder.gradebook.grades import Grades
from autograder.gradebook.lesson_cells import released_cells
from autograder.gradebook.moments import parsed, stored
from autograder.gradebook.opened import find_opened, not_opened
from autograder.gradebook.opening import enter_lesson, is_current, retired
from autograder.gradebook.penalties import Penalties
from autograder.gradebook.querying import grades_of
from autograder.gradebook.settings import course_id, database_path
from autograder.gradebook.tables import nbgraders_tables
from autograder.gradebook.writing import Batch

__all__ = ["Entry", "Gradebook", "entry_of", "id_fault"]


class Gradebook:
    """The gradebook of a course folder. Each call opens the file and closes it.

    Raises ``CourseError`` where the file cannot be used; nothing is half written then.
    """

    def __init__(self, course: Course) -> None:
        """Take the course; nothing is opened yet."""
        self.course = course
        self._penalties = Penalties(course)
        self._ignored: dict[str, str] = {}

    @cached_property
    def path(self) -> Path:
        """Where the file is, whether it exists or not."""
        return database_path(self.course)

    @property
    def notes(self) -> list[str]:
        """What ``enter`` had to leave out so far, a sentence each."""
        return list(self._ignored.values())

    def open_lesson(self, lesson: str) -> list[str]:
        """Enter a lesson, or what has changed in it; give sentences to print.

        Takes seconds only where there is no gradebook yet.
        """
        cells = released_cells(self.course, lesson)
        tables: list[str] = []
        if self._is_made():
            with connected(self.path) as connection:
                if is_current(connection, lesson, cells):
                    return retired(connection, lesson, cells)
        else:
            tables = nbgraders_tables()
        name = course_id(self.course)
        with connected(self.path, make=True) as connection, transaction(connection):
            if is_empty(connection):
                for statement in tables:
                    connection.execute(statement)
            return enter_lesson(connection, lesson, name, cells)

    def enter(self, lesson: str, entries: Sequence[Entry]) -> int:
        """Write what differs, all of it or nothing; give how many students changed.

        Raises ``ValueError`` for what is no student's id, or no points.
        """
        _refuse_nonsense(entries)
        if not self._is_made():
            raise not_opened(lesson)
        moments = [self._moment(lesson, entry) for entry in entries]
        students = [entry.student for entry in entries]
        with connected(self.path) as connection:
            if find_opened(connection, lesson).due:
                _ = self._penalties.plugin  # seconds, while others may still write
            with transaction(connection):
                opened = find_opened(connection, lesson)
                batch = Batch(connection, opened, students, self._penalties)
                for entry, moment in zip(entries, moments, strict=True):
                    batch.take(entry, moment)
                return batch.write()

    def grades(
        self, lesson: str, students: Sequence[str] | None = None
    ) -> dict[str, Grades]:
        """Give each student's grades, by id: all that the gradebook knows, or these."""
        if not self._is_made():
            raise not_opened(lesson)
        with (
            connected(self.path) as connection,
            transaction(connection, write=False),
        ):
            return grades_of(connection, find_opened(connection, lesson), students)

    def _is_made(self) -> bool:
        if not self.path.exists():
            return False
        with connected(self.path) as connection:
            return not is_empty(connection)

    def _moment(self, lesson: str, entry: Entry) -> str | None:
        """Give when something was handed in, if its timestamp says so."""
        if not (entry.timestamp or "").strip():
            return None
        moment = parsed(entry.timestamp or "")
        if moment:
            return stored(moment)
        self._ignored[f"{lesson}/{entry.student}"] = (
            f"{entry.student}: timestamp.txt for {lesson} holds no date and time, and "
            "is ignored; whether it is late is not known"
        )
        return None


def _refuse_nonsense(entries: Sequence[Entry]) -> None:
    for entry in entries:
        if fault := id_fault(entry.student):
            raise ValueError(f"{entry.student!r}: {fault}")
        if not all(math.isfinite(points) for points in entry.points.values()):
            raise ValueError(f"{entry.student}: points that are no number")
    counts = Counter(entry.student for entry in entries)
    if twice := [student for student, count in counts.items() if count > 1]:
        raise ValueError(f"{twice[0]} has two entries in one batch")
