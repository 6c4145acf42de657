"""The tables of a new gradebook, as nbgrader makes them."""

import os
import sqlite3
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from autograder.course import CourseError
from autograder.gradebook.connection import VERSION
from autograder.startup import skip_address_parser


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
