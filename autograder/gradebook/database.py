"""nbgrader's gradebook, filled and read in batches.

Formgrader, nbgrader's own commands and its exports go on working on the same file. What
is written, and when, is in ``opening`` (lessons) and ``writing`` (grades).
"""

import math
import os
import sqlite3
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path

from autograder.course import Course, CourseError
from autograder.gradebook.folders import parsed, stored
from autograder.gradebook.grades import Grades, grades_of
from autograder.gradebook.opening import (
    enter_lesson,
    find_opened,
    is_current,
    not_opened,
    released_cells,
    retired,
)
from autograder.gradebook.settings import Penalties, course_id, database_path
from autograder.gradebook.writing import Batch, Entry, id_fault
from autograder.startup import skip_address_parser

WAIT = 60.0  # seconds for another program that is writing
VERSION = "e43177bfe90b"  # of the tables, as nbgrader 0.9.6 makes them
TABLES = frozenset(
    {
        *("alembic_version", "assignment", "base_cell", "comment", "course", "grade"),
        *("grade_cells", "notebook", "solution_cells", "source_cell", "student"),
        *("submitted_assignment", "submitted_notebook", "task_cells"),
    }
)
NBGRADERS = frozenset({"assignment", "submitted_assignment"})  # in all its versions
SAME = "; nothing in it was changed"
FAULTS = {  # SQLite's name of an error, or the beginning of it, to what it means
    "SQLITE_BUSY": "is in use: another program (formgrader, nbgrader, a second run) "
    "has kept it locked for {wait:g} s: wait until that is done, and call again",
    "SQLITE_READONLY": "may not be written: make the file and its folder writable, "
    "and call again",
    "SQLITE_CANTOPEN": "cannot be opened: it must be a file, in a folder in which "
    "files can be made",
    "SQLITE_FULL": "cannot be written, the disk is full: make room, and call again",
    "SQLITE_NOTADB": "is no database: move it away, or bring it back from a backup",
    "SQLITE_CORRUPT": "is damaged: bring it back from a backup",
}


@contextmanager
def connected(path: Path, *, make: bool = False) -> Iterator[sqlite3.Connection]:
    """Open the database; raises ``CourseError`` if it is not nbgrader's.

    make : whether to make an empty file if there is none
    """
    uri = f"{path.absolute().as_uri()}?mode={'rwc' if make else 'rw'}"
    with _told(path):
        # Nothing is begun that is not said to begin: see ``transaction``.
        found = sqlite3.connect(uri, uri=True, timeout=WAIT, isolation_level=None)
        try:
            _check(found, path)
            yield found
        finally:
            found.close()


@contextmanager
def transaction(
    connection: sqlite3.Connection, *, write: bool = True
) -> Iterator[None]:
    """Do everything or nothing, and let nobody else write meanwhile."""
    connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite ends it itself after some faults
            connection.execute("ROLLBACK")
        raise


def is_empty(connection: sqlite3.Connection) -> bool:
    """Say whether there are no tables yet."""
    return not _tables(connection)


def _tables(connection: sqlite3.Connection) -> set[str]:
    found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    return {name for (name,) in found}


def _check(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse what is not made by this nbgrader; an empty file is still to be made."""
    tables = _tables(connection)
    if not tables:
        return
    if not tables >= NBGRADERS:
        raise CourseError(
            f"{path} is a database of something else than nbgrader: move it away, or "
            "bring the gradebook back from a backup"
        )
    version = ""
    if "alembic_version" in tables:
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        version = str(row[0]) if row else ""
    if version != VERSION or not tables >= TABLES:
        raise CourseError(
            f"{path} was made by another version of nbgrader (its tables are "
            f"{version or 'of none'}, not {VERSION}): make a copy of it, then run "
            "`nbgrader db upgrade`"
        )


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", None) or ""
        for known, told in FAULTS.items():
            if name == known or name.startswith(f"{known}_"):
                what = told.format(wait=WAIT)
                raise CourseError(f"{path} {what}{SAME}") from None
        raise CourseError(f"{path} cannot be used ({error}){SAME}") from None


def nbgraders_tables() -> list[str]:
    """Give the statements that make them; takes seconds, and touches nothing."""
    skip_address_parser()
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")  # SQLAlchemy's, to nbgrader's authors
        path = Path(folder, "gradebook.db")
        try:
            from nbgrader.api import Gradebook

            with _scripts_in_path():
                Gradebook(f"sqlite:///{path}").close()
        except (OSError, ImportError, subprocess.SubprocessError) as error:
            raise CourseError(
                f"nbgrader cannot make a gradebook ({error}): install the course's "
                "packages again (`make setup`)"
            ) from None
        return _statements(path)


def _statements(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as made:
        ((version,),) = made.execute("SELECT version_num FROM alembic_version")
        if version != VERSION:
            raise CourseError(
                f"this nbgrader makes gradebooks of another version ({version}, not "
                f"{VERSION}): install the one that requirements.lock names"
            )
        rows = made.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
        mark = f"INSERT INTO alembic_version (version_num) VALUES ('{VERSION}')"
        return [*(statement for (statement,) in rows), mark]


@contextmanager
def _scripts_in_path() -> Iterator[None]:
    """Let nbgrader find the ``alembic`` of this Python; it calls it by name."""
    before = os.environ.get("PATH")
    here = str(Path(sys.executable).parent)
    os.environ["PATH"] = os.pathsep.join(filter(None, (here, before)))
    try:
        yield
    finally:
        if before is None:
            del os.environ["PATH"]
        else:
            os.environ["PATH"] = before


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


# MERGED autograder.gradebook.connection: nbgrader's database as a file: opened, checked, and each fault told in a sentence.
#
#   nbgrader's own reading and writing commits once per grade; what is done here to its
#   tables directly is only right for the version that is checked.
#
# MERGED autograder.gradebook.tables: The tables of a new gradebook, as nbgrader makes them.
