"""A gradebook that is missing, in use, full, damaged, half-made or half-written."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing

import pytest
from nbgrader.api import Gradebook as NbgraderGradebook

from autograder.gradebook import database
from autograder.gradebook.writing import GradebookEntry
from tests.gradebook.opened import (
    EXERCISES,
    FULL,
    SUM,
    a_class,
    change,
    change_lesson,
    grade,
    refused,
    rows,
)
from tests.submissions import COURSE, LESSON


def test_lesson_that_is_not_open_is_refused(root, gradebook):
    sentence = refused(gradebook.enter, "00_start_here", [GradebookEntry("amara", {})])
    assert sentence == (
        "00_start_here is not in the gradebook: run `autograder open 00_start_here` to "
        "enter it"
    )
    (root / "gradebook.db").unlink()
    assert "autograder open" in refused(
        gradebook.enter, LESSON, [GradebookEntry("amara", FULL)]
    )
    assert "autograder open" in refused(gradebook.grades, LESSON)
    assert not (root / "gradebook.db").exists()


def test_enter_refuses_an_unknown_exercise(gradebook):
    entry = GradebookEntry("amara", FULL | {"pairwise_sums": 1.0})
    sentence = refused(gradebook.enter, LESSON, [GradebookEntry("ben", FULL), entry])
    assert "does not have the exercise pairwise_sums" in sentence
    assert gradebook.grades(LESSON) == {}


def test_gradebook_in_use_is_waited_for(root, gradebook, monkeypatch):
    monkeypatch.setattr(database, "MAX_WAIT", 0.1)
    with database.connect(gradebook.path) as connection:
        assert connection.execute("PRAGMA busy_timeout").fetchone() == (100,)
    with closing(sqlite3.connect(root / "gradebook.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        sentence = refused(gradebook.enter, LESSON, [GradebookEntry("amara", FULL)])
        assert "has kept it locked for 0.1 s" in sentence
        assert gradebook.grades(LESSON) == {}  # reading goes on
        other.execute("ROLLBACK")
        other.execute("BEGIN EXCLUSIVE")
        assert "locked" in refused(gradebook.grades, LESSON)
    assert gradebook.enter(LESSON, [GradebookEntry("amara", FULL)]) == 1


def test_gradebook_in_use_for_a_moment_is_no_fault(root, gradebook):
    path = root / "gradebook.db"
    options = {"isolation_level": None, "check_same_thread": False}
    with closing(sqlite3.connect(path, **options)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("INSERT INTO student (id) VALUES ('ben')")
        done = threading.Timer(0.3, other.execute, ("COMMIT",))
        done.start()
        assert gradebook.enter(LESSON, [GradebookEntry("amara", FULL)]) == 1
        done.join()
    assert [*gradebook.grades(LESSON)] == ["amara", "ben"]


@pytest.fixture
def limited(monkeypatch):
    """Let every connection begin with a statement that limits it."""
    connect = sqlite3.connect

    def limit(statement):
        def limited(*arguments, **options):
            connection = connect(*arguments, **options)
            connection.execute(statement)
            return connection

        monkeypatch.setattr(sqlite3, "connect", limited)

    yield limit
    monkeypatch.setattr(sqlite3, "connect", connect)


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("PRAGMA max_page_count = 1", "the disk is full"),
        ("PRAGMA query_only = 1", "may not be written"),
    ],
)
def test_full_disk_and_read_only_file_change_nothing(
    root, gradebook, limited, monkeypatch, statement, what
):
    gradebook.enter(LESSON, [GradebookEntry("amara", FULL)])
    before = (root / "gradebook.db").read_bytes()
    limited(statement)
    assert what in refused(gradebook.enter, LESSON, a_class(300))
    change_lesson(root, add="pairwise_sums")
    if "query" in statement:
        assert what in refused(gradebook.open_lesson, LESSON)
    assert [*gradebook.grades(LESSON)] == ["amara"]
    assert (root / "gradebook.db").read_bytes() == before
    assert not (root / "gradebook.db-journal").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write every file")
def test_unwritable_folder_is_one_sentence(root, gradebook):
    root.chmod(0o500)
    try:
        sentence = refused(gradebook.enter, LESSON, [GradebookEntry("amara", FULL)])
    finally:
        root.chmod(0o755)
    assert "gradebook.db" in sentence


def test_file_that_is_no_database_is_left_as_it_is(root, gradebook):
    path = gradebook.path
    whole = path.read_bytes()
    damaged = whole[:5000] + b"\xff" * (len(whole) - 5000)
    text = b"grades, by hand" * 1000
    for content, what in ((text, "is no database"), (damaged, "is damaged")):
        path.write_bytes(content)
        assert what in refused(gradebook.enter, LESSON, [GradebookEntry("amara", FULL)])
        assert what in refused(gradebook.open_lesson, LESSON)
        assert path.read_bytes() == content
    path.unlink()
    path.mkdir()
    assert "cannot be opened" in refused(gradebook.open_lesson, LESSON)


def test_database_of_another_program_is_left_as_it_is(root, gradebook):
    gradebook.path.unlink()
    change(root, "CREATE TABLE songs (name TEXT)")
    before = gradebook.path.read_bytes()
    for call, arguments in ((gradebook.open_lesson, ()), (gradebook.enter, ([],))):
        assert "of something else than nbgrader" in refused(call, LESSON, *arguments)
    assert gradebook.path.read_bytes() == before


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE alembic_version SET version_num = '167914646830'",
        "DROP TABLE task_cells",
    ],
)
def test_gradebook_of_another_version_is_refused(root, gradebook, statement):
    change(root, statement)
    sentence = refused(gradebook.enter, LESSON, [GradebookEntry("amara", FULL)])
    assert "another version of nbgrader" in sentence
    assert "`nbgrader db upgrade`" in sentence


@pytest.mark.parametrize(
    "statements",
    [
        ["DELETE FROM alembic_version"],
        ["DROP TABLE alembic_version"],
        ["DROP TABLE alembic_version", "DROP TABLE task_cells", "DROP TABLE comment"],
    ],
)
def test_half_made_gradebook_is_completed_and_keeps_what_it_has(
    root, gradebook, statements
):
    gradebook.enter(LESSON, [GradebookEntry("amara", FULL)])
    before = gradebook.grades(LESSON)["amara"].points
    for statement in statements:
        change(root, statement)
    assert gradebook.grades(LESSON)["amara"].points == before == SUM
    assert rows(root, "SELECT version_num FROM alembic_version") == [
        (database.VERSION,)
    ]
    with NbgraderGradebook(f"sqlite:///{gradebook.path}", "attention") as book:
        assert grade(book, "softmax").score == 7.0
        assert book.find_submission(LESSON, "amara").score == SUM


def test_older_gradebook_without_a_version_is_refused(root, gradebook):
    change(root, "DROP TABLE alembic_version")
    change(root, "ALTER TABLE student DROP COLUMN lms_user_id")
    assert "another version of nbgrader" in refused(gradebook.grades, LESSON)


KILLED = """
import os, signal, sqlite3, sys
from pathlib import Path
from autograder.course import Course
from autograder.gradebook.database import GradebookEntry, Gradebook

left = int(sys.argv[3])

def dying(statement):
    global left
    left -= statement.startswith("INSERT INTO grade ")
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)

def spilling(*arguments, connect=sqlite3.connect, **options):
    connection = connect(*arguments, **options)
    connection.execute("PRAGMA cache_size = 2")  # most is in the file before the end
    connection.set_trace_callback(dying)
    return connection

sqlite3.connect = spilling
entries = [GradebookEntry(f"student-{n}", {"softmax": 1.0}) for n in range(300)]
Gradebook(Course(Path(sys.argv[1]))).enter(sys.argv[2], entries)
"""


@pytest.mark.parametrize(
    "at_grade", [len(EXERCISES) + 1, 150 * len(EXERCISES), 300 * len(EXERCISES)]
)
def test_enter_killed_between_two_students_leaves_all_or_nothing(
    root, gradebook, at_grade
):
    gradebook.enter(LESSON, [GradebookEntry("amara", FULL)])
    command = [sys.executable, "-c", KILLED, str(root), LESSON, str(at_grade)]
    ended = subprocess.run(command, cwd=COURSE.root, capture_output=True, text=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert (root / "gradebook.db-journal").stat().st_size > 0
    assert [*gradebook.grades(LESSON)] == ["amara"]
    assert gradebook.enter(LESSON, a_class(300)) == 300
    assert len(gradebook.grades(LESSON)) == 301
