"""What has been found out, kept at once: a killed run goes on, and nothing is redone.

Rows are only added, never changed. A verdict stands under a key that says all it
depends on, so it holds for everybody who has written the same; seconds stand beside the
verdict and are no part of it. Everything here can be found out anew: the grades
themselves are in the gradebook.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.course import Course, CourseError
from autograder.grading.result import CodeResult, SubmissionResult

NAME = "build/grading/journal.db"
FORMAT = 1  # of the tables below
OURS = 0x6174746E  # marks the file as a journal of this course's
WAIT = 60.0  # seconds for another process that is writing
TABLES = """
CREATE TABLE verdicts (
    number INTEGER PRIMARY KEY, key TEXT NOT NULL, judged TEXT NOT NULL,
    times TEXT NOT NULL
);
CREATE INDEX verdicts_by_key ON verdicts (key);
CREATE TABLE files (
    digest TEXT NOT NULL, version TEXT NOT NULL, key TEXT NOT NULL,
    PRIMARY KEY (digest, version)
) WITHOUT ROWID;
CREATE TABLE results (
    number INTEGER PRIMARY KEY, lesson TEXT NOT NULL, student TEXT NOT NULL,
    digest TEXT NOT NULL, key TEXT NOT NULL, line TEXT NOT NULL
);
CREATE INDEX results_by_student ON results (lesson, student);
"""
ONE = """
SELECT student, digest, key, line FROM results WHERE lesson = ? AND student = ?
ORDER BY number DESC LIMIT 1
"""
LATEST = """
SELECT r.student, r.digest, r.key, r.line FROM results r
JOIN (SELECT max(number) AS number FROM results WHERE lesson = ? GROUP BY student)
USING (number) WHERE r.line != '' ORDER BY r.student
"""
TIMES = "SELECT times FROM verdicts WHERE key = ? ORDER BY number DESC LIMIT 1"


@dataclass(frozen=True)
class JournalEntry:
    """A student's latest result.

    digest : of the file that was handed in
    key : of the verdicts on its code
    line : the result as JSON
    """

    student: str
    digest: str
    key: str
    line: str


class Journal:
    """The journal of a course folder; made if there is none."""

    def __init__(self, course: Course) -> None:
        """Open it; raises ``CourseError`` if the file is no journal of this version."""
        self.path = course.root / NAME
        with self._told():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # Nothing is begun that is not said to begin: each row stands at once.
            self._open = sqlite3.connect(self.path, timeout=WAIT, isolation_level=None)
        try:
            with self._told():
                self._prepare()
        except BaseException:
            self._open.close()
            raise

    def __enter__(self) -> "Journal":
        """Give the journal."""
        return self

    def __exit__(self, *_: Any) -> None:
        """Close the file."""
        self._open.close()

    def verdicts(self, key: str) -> CodeResult | None:
        """Give the latest verdicts under a key, if there are any."""
        wanted = "SELECT judged FROM verdicts WHERE key = ? ORDER BY number DESC"
        with self._told():
            row = self._open.execute(wanted, (key,)).fetchone()
            return CodeResult.from_json(row[0]) if row else None

    def add_verdicts(
        self, key: str, judged: CodeResult, times: dict[str, float]
    ) -> None:
        """Keep verdicts, and the seconds that they took."""
        rounded = {name: round(seconds, 4) for name, seconds in times.items()}
        self._add("verdicts", None, key, judged.as_json(), json.dumps(rounded))

    def key_of(self, digest: str, version: str) -> str:
        """Give the key of a file that has been read before; "" if it has not."""
        wanted = "SELECT key FROM files WHERE digest = ? AND version = ?"
        with self._told():
            row = self._open.execute(wanted, (digest, version)).fetchone()
        return row[0] if row else ""

    def add_file(self, digest: str, version: str, key: str) -> None:
        """Keep the key of a file."""
        self._add("files", digest, version, key)

    def kept(self, lesson: str, student: str) -> JournalEntry | None:
        """Give a student's latest result; None if there is none."""
        with self._told():
            row = self._open.execute(ONE, (lesson, student)).fetchone()
        return JournalEntry(*row) if row and row[3] else None

    def latest(self, lesson: str) -> Iterator[JournalEntry]:
        """Give each student's latest result, sorted by student."""
        with self._told():
            for row in self._open.execute(LATEST, (lesson,)):
                yield JournalEntry(*row)

    def add_result(self, lesson: str, kept: JournalEntry) -> None:
        """Keep a student's result; an empty line says that there is none any more."""
        row = kept.student, kept.digest, kept.key, kept.line
        self._add("results", None, lesson, *row)

    def results(self, lesson: str) -> list[SubmissionResult]:
        """Give each student's latest result, sorted by student."""
        with self._told():
            return [
                SubmissionResult.from_json(kept.line) for kept in self.latest(lesson)
            ]

    def times(self, lesson: str) -> Iterator[tuple[str, dict[str, float]]]:
        """Give each student with the seconds that the verdicts took, by stage and case.

        Sorted by student; of who was graded first, if several wrote the same.
        """
        with self._told():
            for kept in self.latest(lesson):
                row = self._open.execute(TIMES, (kept.key,)).fetchone()
                yield kept.student, json.loads(row[0]) if row else {}

    def _add(self, table: str, *row: str | None) -> None:
        marks = ", ".join("?" * len(row))
        with self._told():
            self._open.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", row)

    def _prepare(self) -> None:
        """Make the tables of a new file; refuse another's."""
        (mark,) = self._open.execute("PRAGMA application_id").fetchone()
        (made,) = self._open.execute("PRAGMA user_version").fetchone()
        (tables,) = self._open.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if not tables:
            self._make()
        elif (mark, made) != (OURS, FORMAT):
            what = f"of format {made}" if mark == OURS else "of something else"
            raise CourseError(
                f"{NAME} is a file {what}, and this version of the grader writes "
                f"format {FORMAT}: move it away, and the class is graded anew (grades "
                "in the gradebook stay as they are)"
            )
        self._open.execute("PRAGMA synchronous = NORMAL")  # safe with WAL, and quick

    def _make(self) -> None:
        """Make the tables, unless another process has been quicker."""
        self._open.execute("PRAGMA journal_mode = WAL")
        self._open.execute("BEGIN IMMEDIATE")
        (tables,) = self._open.execute("SELECT count(*) FROM sqlite_master").fetchone()
        for statement in () if tables else TABLES.split(";"):
            self._open.execute(statement)
        self._open.execute(f"PRAGMA application_id = {OURS}")
        self._open.execute(f"PRAGMA user_version = {FORMAT}")
        self._open.execute("COMMIT")

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say in a sentence what is wrong with the file, or with the disk."""
        try:
            yield
        except OSError as error:
            raise CourseError(f"{NAME} cannot be made ({error.strerror})") from None
        except sqlite3.OperationalError as error:
            raise CourseError(
                f"{NAME} cannot be used ({error}): mend that and call again; what was "
                "graded so far is kept"
            ) from None
        except (sqlite3.DatabaseError, ValueError, LookupError, TypeError):
            raise CourseError(
                f"{NAME} is damaged, or no journal at all: move it away, and the class "
                "is graded anew (grades in the gradebook stay as they are)"
            ) from None


def journal_path(course: Course) -> Path:
    """Give where the journal of a course folder is, whether it exists or not."""
    return course.root / NAME
