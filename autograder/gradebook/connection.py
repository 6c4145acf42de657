"""nbgrader's database as a file: opened, checked, and each fault told in a sentence.

nbgrader's own reading and writing commits once per grade; what is done here to its
tables directly is only right for the version that is checked.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autograder.course import CourseError

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
