"""nbgrader's gradebook, written and read in batches: the file, its tables, its faults.

Formgrader, nbgrader's own commands and its exports go on working on the same file.
nbgrader commits once per grade; what is done here to its tables directly is only right
for the version that is checked. What is written, and when, is in ``opening`` (lessons)
and ``writing`` (grades).
"""

import math
import re
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path

from autograder.course import Course, CourseError
from autograder.course.releases import (
    CHECK,
    ON_TOP,
    exercise_of,
    keep_release,
    known_releases,
    last_points,
)
from autograder.gradebook.former import take_over
from autograder.gradebook.grades import (
    Person,
    StudentGrades,
    read_grades,
    read_people,
)
from autograder.gradebook.lateness import (
    NO_TIME,
    LatePenalties,
    format_for_sqlite,
    parse_timestamp,
)
from autograder.gradebook.opening import (
    OpenedLesson,
    drop_exercise,
    dropped_exercises,
    enter_lesson,
    enter_retired,
    find_opened_lesson,
    is_current,
    not_opened_error,
    released_cells,
    retired_exercises,
    stored_cells,
)
from autograder.gradebook.roster import RosterChanges, enter_people
from autograder.gradebook.settings import course_id, database_path
from autograder.gradebook.writing import (
    GradebookBatch,
    GradebookEntry,
    awaited_extensions,
    student_id_fault,
)
from autograder.grading.reading import spelled_out
from autograder.grading.release import load_release

MAX_WAIT = 60.0  # seconds for another program that is writing
NEW_TABLES = Path(__file__).with_name("tables.sql")
VERSION = "e43177bfe90b"  # of the tables that nbgrader 0.9.6 makes
TABLES = frozenset(
    {
        *("alembic_version", "assignment", "base_cell", "comment", "course", "grade"),
        *("grade_cells", "notebook", "solution_cells", "source_cell", "student"),
        *("submitted_assignment", "submitted_notebook", "task_cells"),
    }
)
OWN_TABLES = frozenset(  # beside nbgrader's, which knows nothing of them
    {
        *("awaited_extension", "dropped_exercise", "excused_student"),
        *("roster_section", "set_aside_grade"),
    }
)
CREATES = re.compile(r"CREATE TABLE (\w+)")  # what a statement of that file does
CORE_TABLES = frozenset({"assignment", "submitted_assignment"})  # in all its versions
NOTEBOOK_OF = (
    "SELECT n.id FROM notebook n JOIN assignment a ON a.id = n.assignment_id "
    "WHERE a.name = ? AND n.name = a.name"
)
EXCUSED = "excused_student"  # a table
BY_HAND = (
    "SELECT EXISTS (SELECT 1 FROM {} g JOIN submitted_notebook s ON s.id = "
    "g.notebook_id JOIN notebook n ON n.id = s.notebook_id WHERE n.name = ? "
    "AND (g.manual_score IS NOT NULL OR g.extra_credit IS NOT NULL))"
)
HANDED_IN = (
    "SELECT student_id FROM submitted_assignment WHERE assignment_id = ? "
    "ORDER BY student_id"
)
UNCHANGED = "; nothing in it was changed"
FAULTS = {  # the beginning of SQLite's name of an error, to what it means
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
def connect(path: Path, *, make: bool = False) -> Iterator[sqlite3.Connection]:
    """Open the database; raises ``CourseError`` if it is not nbgrader's.

    make : whether to make an empty file if there is none
    """
    uri = f"{path.absolute().as_uri()}?mode={'rwc' if make else 'rw'}"
    with _faults_as_course_errors(path):
        # Without an isolation level only ``transaction`` begins a transaction.
        connection = sqlite3.connect(
            uri, uri=True, timeout=MAX_WAIT, isolation_level=None
        )
        with closing(connection):
            _check(connection, path)
            yield connection


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
    """Return whether there are no tables yet."""
    return not _tables(connection)


def _tables(connection: sqlite3.Connection) -> set[str]:
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    return {name for (name,) in rows}


def _check(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse what is not made by this nbgrader; an empty file gets its tables later.

    One that nbgrader has left half-made is completed: to enter its version it calls
    ``alembic`` by name, which is there only in an activated environment.
    """
    tables = _tables(connection)
    if not tables:
        return
    if _is_half_made(connection, tables):
        with transaction(connection):
            make_tables(connection)
        return
    if not tables >= CORE_TABLES:
        raise CourseError(
            f"{path} is a database of something else than nbgrader: move it away, or "
            "bring the gradebook back from a backup"
        )
    version = _version(connection, tables)
    if version != VERSION or not tables >= TABLES:
        raise CourseError(
            f"{path} was made by another version of nbgrader (its tables are "
            f"{version or 'of none'}, not {VERSION}): make a copy of it, then run "
            "`nbgrader db upgrade`"
        )


def _version(connection: sqlite3.Connection, tables: set[str]) -> str:
    """Return the version of the tables, "" if the database does not say it."""
    if "alembic_version" not in tables:
        return ""
    row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return str(row[0]) if row else ""


def make_tables(connection: sqlite3.Connection) -> None:
    """Make the tables that are not there, and enter their version if there is none."""
    tables = _tables(connection)
    has_version = bool(_version(connection, tables))
    for statement in NEW_TABLES.read_text(encoding="utf-8").split(";\n"):
        made = CREATES.search(statement)
        if made[1] not in tables if made else not has_version:
            connection.execute(statement)


def _is_half_made(connection: sqlite3.Connection, tables: set[str]) -> bool:
    """Return whether there are tables of this version only, but it is not entered."""
    if _version(connection, tables) or not tables <= TABLES | OWN_TABLES:
        return False
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as new:
        make_tables(new)
        made = tables & TABLES
        return all(_columns(connection, t) == _columns(new, t) for t in made)


def _columns(connection: sqlite3.Connection, table: str) -> list[tuple[str, str]]:
    """Return names and types of a table's columns."""
    rows = connection.execute(f"PRAGMA table_info({table})")
    return [(name, kind) for _, name, kind, *_ in rows]


@contextmanager
def _faults_as_course_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", None) or ""
        for start, meaning in FAULTS.items():
            if name == start or name.startswith(f"{start}_"):
                sentence = meaning.format(wait=MAX_WAIT)
                raise CourseError(f"{path} {sentence}{UNCHANGED}") from None
        raise CourseError(f"{path} cannot be used ({error}){UNCHANGED}") from None


class Gradebook:
    """The gradebook of a course folder. Each call opens the file and closes it.

    Raises ``CourseError`` where the file cannot be used; nothing is half written then.
    """

    def __init__(self, course: Course) -> None:
        """Keep the course; nothing is opened yet."""
        self.course = course
        self._penalties = LatePenalties(course)
        self._ignored: dict[str, str] = {}

    @cached_property
    def path(self) -> Path:
        """The file's path, whether it exists or not."""
        return database_path(self.course)

    @property
    def notes(self) -> list[str]:
        """What ``enter`` has left out so far, a sentence each."""
        return list(self._ignored.values())

    def open_lesson(self, lesson: str) -> list[str]:
        """Enter a lesson, or what has changed in it; return sentences to print.

        What it had under a former name comes with it, as ``former`` says.
        """
        cells = released_cells(self.course, lesson)
        points = load_release(self.course, lesson).points
        keep_release(self.course, lesson, points)
        if self._is_made():
            with connect(self.path) as connection:
                if is_current(connection, lesson, cells):
                    return retired_exercises(connection, lesson, cells)
        name = course_id(self.course)
        with connect(self.path, make=True) as connection, transaction(connection):
            if is_empty(connection):
                make_tables(connection)
            sentences = take_over(connection, self.course, lesson, points)
            return sentences + enter_lesson(connection, lesson, name, cells)

    def dropped(self, lesson: str) -> frozenset[str]:
        """Return the exercises of a lesson that count for nobody."""
        if not self._is_made():
            return frozenset()
        with connect(self.path) as connection:
            return frozenset(
                name
                for (notebook,) in connection.execute(NOTEBOOK_OF, (lesson,)).fetchall()
                for name in dropped_exercises(connection, notebook)
            )

    def worth(self, lesson: str) -> dict[str, float]:
        """Return what each exercise is worth, or was last: dropped ones and gone ones.

        Of a lesson that is not in the gradebook there are none.
        """
        if not self._is_made():
            return {}
        worth: dict[str, float] = {}
        with connect(self.path) as connection:
            for (notebook,) in connection.execute(NOTEBOOK_OF, (lesson,)).fetchall():
                graded = stored_cells(connection, notebook).graded
                required = {
                    exercise_of(name): row[0]
                    for name, row in graded.items()
                    if not name.startswith(ON_TOP)
                }
                dropped = dropped_exercises(connection, notebook)
                worth |= {name: dropped.get(name, required[name]) for name in required}
        return worth

    def excused_students(self, lesson: str) -> frozenset[str]:
        """Return who is excused from what their submissions do not contain."""
        if not self._is_made():
            return frozenset()
        with connect(self.path) as connection:
            if EXCUSED not in _tables(connection):
                return frozenset()
            query = f"SELECT student_id FROM {EXCUSED} WHERE lesson = ?"
            return frozenset(row[0] for row in connection.execute(query, (lesson,)))

    def excuse_missing(
        self, lesson: str, students: Sequence[str], *, excuse: bool
    ) -> None:
        """Keep that students are excused from what is missing, or no longer."""
        change = f"INSERT OR IGNORE INTO {EXCUSED} VALUES (?, ?)"
        if not excuse:
            change = f"DELETE FROM {EXCUSED} WHERE lesson = ? AND student_id = ?"
        with connect(self.path) as connection, transaction(connection):
            connection.execute(
                f"CREATE TABLE IF NOT EXISTS {EXCUSED} (lesson VARCHAR(128), "
                "student_id VARCHAR(128), PRIMARY KEY (lesson, student_id))"
            )
            connection.executemany(change, [(lesson, each) for each in students])

    def drop(
        self,
        lesson: str,
        exercise: str,
        entries: Sequence[GradebookEntry],
        *,
        undo: bool,
    ) -> int:
        """Let an exercise count for nobody, or again; return how many had a grade.

        entries : what the engine says of those whom it has graded
        """
        by_student = {entry.student: entry for entry in entries}
        with connect(self.path) as connection, transaction(connection):
            needed = {each for entry in entries for each in entry.cells}
            if not find_opened_lesson(connection, lesson).cells_of(exercise):
                needed.add(CHECK + exercise)
            opened = self._opened_with(connection, lesson, needed)
            drop_exercise(connection, opened, exercise, undo=undo)
            opened = find_opened_lesson(connection, lesson)
            students = _students(connection, opened)
            batch = GradebookBatch(connection, opened, students, self._penalties)
            for student in students:
                if student in by_student:
                    batch.add(by_student[student], None)
                else:
                    batch.recount(student, exercise)
            return batch.write()

    def enter(self, lesson: str, entries: Sequence[GradebookEntry]) -> int:
        """Write what differs, all of it or nothing; return how many students changed.

        Raises ``ValueError`` for what is no student's id, or no points.
        """
        _check_entries(entries)
        if not self._is_made():
            raise not_opened_error(lesson)
        moments = [self._moment(lesson, entry) for entry in entries]
        students = [entry.student for entry in entries]
        with connect(self.path) as connection:
            if find_opened_lesson(connection, lesson).due:
                _ = self._penalties.plugin  # seconds, while others may still write
            with transaction(connection):
                needed = {each for entry in entries for each in entry.cells}
                opened = self._opened_with(connection, lesson, needed)
                batch = GradebookBatch(connection, opened, students, self._penalties)
                for entry, moment in zip(entries, moments, strict=True):
                    batch.add(entry, moment)
                return batch.write()

    def _opened_with(
        self, connection: sqlite3.Connection, lesson: str, cells: Collection[str]
    ) -> OpenedLesson:
        """Return a lesson's ids; cells of earlier releases are entered if need be.

        cells : names of graded cells

        The gradebook has seen their release too late, or before anybody handed it in.
        """
        opened = find_opened_lesson(connection, lesson)
        known = {CHECK + name for name in opened.graded}
        missing = {*cells} - known - {ON_TOP + name for name in opened.on_top}
        if not missing:
            return opened
        today = load_release(self.course, lesson).points
        points = last_points(known_releases(self.course, lesson, today))
        new = {
            prefix + name: worth if prefix == CHECK else 0.0
            for name, worth in points.items()
            for prefix in (CHECK, ON_TOP)
            if prefix + name in missing
        }
        enter_retired(connection, opened.notebook, new)
        return find_opened_lesson(connection, lesson)

    def extend(self, lesson: str, student: str, seconds: float) -> datetime:
        """Extend a student's time for a lesson; return until when, in UTC.

        seconds : from the due date on, 0 for none; earlier extensions do not count

        Raises ``CourseError`` if there is no such student, or no due date.
        """
        if student not in self.people():
            raise CourseError(
                f"{spelled_out(student)!r} is not in the gradebook: correct the name, "
                "or enter the student first (`autograder roster FILE.csv`)"
            )
        with connect(self.path) as connection:
            _ = self._penalties.plugin
            with transaction(connection):
                opened = find_opened_lesson(connection, lesson)
                if not opened.due:
                    raise CourseError(
                        f"{lesson} has no due date that could be later: set one "
                        f"(`nbgrader db assignment add {lesson} --duedate='2026-03-01 "
                        "12:00 UTC'`), then extend it"
                    )
                batch = GradebookBatch(connection, opened, [student], self._penalties)
                batch.extend(student, seconds)
                batch.write()
        return datetime.fromisoformat(opened.due) + timedelta(seconds=seconds)

    def due_dates(self, lesson: str, students: Sequence[str]) -> dict[str, datetime]:
        """Return until when those have time who have not handed in, in UTC.

        Without a due date there is none for anybody.
        """
        if not self._is_made():
            raise not_opened_error(lesson)
        with connect(self.path) as connection:
            opened = find_opened_lesson(connection, lesson)
            if not opened.due:
                return {}
            extensions = awaited_extensions(connection, opened, students)
        due = datetime.fromisoformat(opened.due)
        return {
            student: due + timedelta(seconds=extensions.get(student, 0.0))
            for student in students
        }

    def grades(
        self, lesson: str, students: Sequence[str] | None = None
    ) -> dict[str, StudentGrades]:
        """Return grades by student: of all that the gradebook knows, or of these."""
        if not self._is_made():
            raise not_opened_error(lesson)
        with (
            connect(self.path) as connection,
            transaction(connection, write=False),
        ):
            return read_grades(
                connection, find_opened_lesson(connection, lesson), students
            )

    def not_yet_due(self, lesson: str, moment: datetime) -> frozenset[str]:
        """Return who may still hand in a lesson, of those who have not; ids.

        moment : in UTC, as nbgrader's times: without saying so

        Nobody, if the lesson has no due date: then nothing says so.
        """
        people = self.people()
        with connect(self.path) as connection:
            opened = find_opened_lesson(connection, lesson)
            if not opened.due:
                return frozenset()
            extensions = awaited_extensions(connection, opened, [*people])
        left = datetime.fromisoformat(opened.due) - moment
        return frozenset(
            student
            for student in people
            if left + timedelta(seconds=extensions.get(student, 0.0)) > timedelta()
        )

    def has_more_than_verdicts(self, lesson: str) -> bool:
        """Return whether grades may differ from verdicts: by hand, or by a due date."""
        with connect(self.path) as connection:
            if find_opened_lesson(connection, lesson).due:
                return True
            tables = {"grade", "set_aside_grade"} & _tables(connection)
            return any(
                connection.execute(BY_HAND.format(table), (lesson,)).fetchone()[0]
                for table in tables
            )

    def settled_grades(
        self, lesson: str, students: Sequence[str] | None = None
    ) -> dict[str, StudentGrades]:
        """Return grades to publish: penalties have been brought up to date."""
        self.settle(lesson)
        grades = self.grades(lesson, students)
        if not any(each.late_penalty for each in grades.values()):
            return grades
        rule = self._penalties.rule
        return {who: replace(each, late_rule=rule) for who, each in grades.items()}

    def settle(self, lesson: str) -> int:
        """Bring penalties up to date; return how many students' have changed.

        They depend on the due date, extensions, the policy and grades by hand, which
        change without any grading. Nothing is written where none has changed.
        """
        if not self._is_made():
            raise not_opened_error(lesson)
        with connect(self.path) as connection:
            if find_opened_lesson(connection, lesson).due:
                _ = self._penalties.plugin  # seconds, while others may still write
            with transaction(connection, write=False):
                n_changed = self._settling(connection, lesson).n_changed
            if n_changed:
                with transaction(connection):
                    n_changed = self._settling(connection, lesson).write()
        return n_changed

    def _settling(self, connection: sqlite3.Connection, lesson: str) -> GradebookBatch:
        opened = find_opened_lesson(connection, lesson)
        students = _students(connection, opened)
        batch = GradebookBatch(connection, opened, students, self._penalties)
        for student in students:
            batch.settle(student)
        return batch

    def people(self) -> dict[str, Person]:
        """Return everybody in the gradebook, by id."""
        if not self._is_made():
            return {}
        with connect(self.path) as connection:
            return read_people(connection)

    def enter_people(self, people: Sequence[Person]) -> RosterChanges:
        """Enter a class's roster, all of it or nothing; return what has changed."""
        with connect(self.path, make=True) as connection, transaction(connection):
            if is_empty(connection):
                make_tables(connection)
            return enter_people(connection, people)

    def _is_made(self) -> bool:
        if not self.path.exists():
            return False
        with connect(self.path) as connection:
            return not is_empty(connection)

    def _moment(self, lesson: str, entry: GradebookEntry) -> str | None:
        """Return when something was handed in, if its timestamp says so."""
        timestamp = entry.timestamp or ""
        if not timestamp.strip():
            return None
        if moment := parse_timestamp(timestamp):
            return format_for_sqlite(moment)
        self._ignored[f"{lesson}/{entry.student}"] = NO_TIME.format(
            spelled_out(entry.student), lesson
        )
        return None


def _students(connection: sqlite3.Connection, lesson: OpenedLesson) -> list[str]:
    """Return who has handed in a lesson, as the gradebook has it."""
    return [
        student for (student,) in connection.execute(HANDED_IN, (lesson.assignment,))
    ]


def _check_entries(entries: Sequence[GradebookEntry]) -> None:
    for entry in entries:
        if fault := student_id_fault(entry.student):
            raise ValueError(f"{spelled_out(entry.student)!r}: {fault}")
        if not all(math.isfinite(points) for points in entry.points.values()):
            name = spelled_out(entry.student)
            raise ValueError(f"{name}: points that are no number")
    counts = Counter(entry.student for entry in entries)
    if twice := [student for student, count in counts.items() if count > 1]:
        raise ValueError(f"{spelled_out(twice[0])} has two entries in one batch")
