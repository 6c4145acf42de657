"""The journal of verdicts and results: a killed run goes on, and nothing is redone.

Rows are only added, never changed. A verdict is stored under a key of all that it
depends on, so it holds for everybody who has written the same; seconds are stored next
to the verdict and are no part of it. All of it can be computed again: the grades
themselves are in the gradebook.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from autograder.course import Course, CourseError
from autograder.grading.result import CodeResult, SubmissionResult

NAME = "build/grading/journal.db"
FORMAT = 1  # of the tables and of the JSON in them
APPLICATION_ID = 0x6174746E  # marks the file as a journal of this course
WRITER_SECONDS = 60.0  # to wait for another process that is writing
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
LATEST_OF_STUDENT = """
SELECT student, digest, key, line FROM results WHERE lesson = ? AND student = ?
ORDER BY number DESC LIMIT 1
"""
LATEST_OF_CLASS = """
SELECT r.student, r.digest, r.key, r.line FROM results r
JOIN (SELECT max(number) AS number FROM results WHERE lesson = ? GROUP BY student)
USING (number) WHERE r.line != '' ORDER BY r.student
"""
DAMAGED = (
    f"{NAME} is damaged, or no journal at all: move it away, and the class is graded "
    "anew (grades in the gradebook stay as they are)"
)
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
        with self._readable_errors():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # Each row is committed at once, except after an explicit BEGIN.
            self._database = sqlite3.connect(
                self.path, timeout=WRITER_SECONDS, isolation_level=None
            )
        try:
            with self._readable_errors():
                self._prepare()
        except BaseException:
            self._database.close()
            raise

    def __enter__(self) -> "Journal":
        """Return the journal."""
        return self

    def __exit__(self, *_: Any) -> None:
        """Close the file."""
        self._database.close()

    def verdicts(self, key: str) -> CodeResult | None:
        """Return the latest verdicts under a key, if there are any."""
        query = "SELECT judged FROM verdicts WHERE key = ? ORDER BY number DESC"
        with self._read_errors():
            row = self._database.execute(query, (key,)).fetchone()
            return CodeResult.from_json(row[0]) if row else None

    def add_verdicts(
        self, key: str, code_result: CodeResult, times: dict[str, float]
    ) -> None:
        """Add verdicts, and the seconds that they took."""
        rounded = {name: round(seconds, 4) for name, seconds in times.items()}
        self._add("verdicts", None, key, code_result.as_json(), json.dumps(rounded))

    def key_of(self, digest: str, version: str) -> str:
        """Return the key of a file that has been read before; "" if it has not."""
        query = "SELECT key FROM files WHERE digest = ? AND version = ?"
        with self._readable_errors():
            row = self._database.execute(query, (digest, version)).fetchone()
        return row[0] if row else ""

    def add_file(self, digest: str, version: str, key: str) -> None:
        """Add the key of a file."""
        self._add("files", digest, version, key)

    def latest_of(self, lesson: str, student: str) -> JournalEntry | None:
        """Return a student's latest result; None if there is none."""
        with self._readable_errors():
            row = self._database.execute(
                LATEST_OF_STUDENT, (lesson, student)
            ).fetchone()
        return JournalEntry(*row) if row and row[3] else None

    def latest(self, lesson: str) -> Iterator[JournalEntry]:
        """Yield each student's latest result, sorted by student."""
        with self._readable_errors():
            for row in self._database.execute(LATEST_OF_CLASS, (lesson,)):
                yield JournalEntry(*row)

    def add_result(self, lesson: str, entry: JournalEntry) -> None:
        """Add a student's result; an empty line says that there is none any more."""
        row = entry.student, entry.digest, entry.key, entry.line
        self._add("results", None, lesson, *row)

    def results(self, lesson: str) -> list[SubmissionResult]:
        """Return each student's latest result, sorted by student."""
        with self._read_errors():
            return [
                SubmissionResult.from_json(entry.line) for entry in self.latest(lesson)
            ]

    def times(self, lesson: str) -> Iterator[tuple[str, dict[str, float]]]:
        """Yield each student with the seconds of the verdicts, by stage and case.

        Sorted by student; of who was graded first, if several wrote the same.
        """
        with self._read_errors():
            for entry in self.latest(lesson):
                row = self._database.execute(TIMES, (entry.key,)).fetchone()
                yield entry.student, json.loads(row[0]) if row else {}

    def _add(self, table: str, *row: str | None) -> None:
        """Add a row; raises ``ValueError`` for a text that cannot be encoded."""
        marks = ", ".join("?" * len(row))
        with self._readable_errors():
            self._database.execute(
                f"INSERT OR IGNORE INTO {table} VALUES ({marks})", row
            )

    def _prepare(self) -> None:
        """Create the tables of a new file; refuse one that is no journal."""
        (application_id,) = self._database.execute("PRAGMA application_id").fetchone()
        (file_format,) = self._database.execute("PRAGMA user_version").fetchone()
        (tables,) = self._database.execute(
            "SELECT count(*) FROM sqlite_master"
        ).fetchone()
        if not tables:
            self._create_tables()
        elif (application_id, file_format) != (APPLICATION_ID, FORMAT):
            what = "of something else"
            if application_id == APPLICATION_ID:
                what = f"of format {file_format}"
            raise CourseError(
                f"{NAME} is a file {what}, and this version of the grader writes "
                f"format {FORMAT}: move it away, and the class is graded anew (grades "
                "in the gradebook stay as they are)"
            )
        self._database.execute(
            "PRAGMA synchronous = NORMAL"
        )  # safe with WAL, and quick

    def _create_tables(self) -> None:
        """Create the tables, unless another process has been quicker."""
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("BEGIN IMMEDIATE")
        (tables,) = self._database.execute(
            "SELECT count(*) FROM sqlite_master"
        ).fetchone()
        for statement in () if tables else TABLES.split(";"):
            self._database.execute(statement)
        self._database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        self._database.execute(f"PRAGMA user_version = {FORMAT}")
        self._database.execute("COMMIT")

    @contextmanager
    def _readable_errors(self) -> Iterator[None]:
        """Raise what is wrong with the file or the disk as ``CourseError``."""
        try:
            yield
        except OSError as error:
            raise CourseError(f"{NAME} cannot be made ({error.strerror})") from None
        except sqlite3.OperationalError as error:
            raise CourseError(
                f"{NAME} cannot be used ({error}): mend that and call again; what was "
                "graded so far is kept"
            ) from None
        except sqlite3.DatabaseError:
            raise CourseError(DAMAGED) from None

    @contextmanager
    def _read_errors(self) -> Iterator[None]:
        """Raise also as ``CourseError`` that a row is not what was written."""
        with self._readable_errors():
            try:
                yield
            except (ValueError, LookupError, TypeError):
                raise CourseError(DAMAGED) from None
