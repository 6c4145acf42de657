"""Our engine and pages in nbgrader's own commands, run as an instructor runs them."""

import contextlib
import json
import os
import re
import shutil
import sqlite3
import stat
import sys
from datetime import datetime
from pathlib import Path

import nbformat
import pytest
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import determine_grade
from traitlets.config.loader import PyFileConfigLoader

from autograder.course import Course
from autograder.gradebook.database import Gradebook
from autograder.gradebook.entrance import guard_timestamps
from autograder.gradebook.writing import GradebookEntry
from tests.gradebook.fake_grader import asked
from tests.gradebook.untrusted import Page
from tests.processes import run_in
from tests.submissions import COURSE, EXERCISES, LESSON, Submission

pytestmark = pytest.mark.thorough

CONFIG = """
c.Autograde.exporter_class = "tests.gradebook.fake_grader.FakeExporter"
c.GenerateFeedback.exporter_class = "autograder.gradebook.exporters.FeedbackExporter"
"""
STUDENTS = ["amara", "ben", "cora", "fault", "zoe"]
BROKEN = b'{"cells": ['
API = """
import json, sys
from nbgrader.apps.api import NbGraderAPI
from traitlets.config import PyFileConfigLoader
config = PyFileConfigLoader("nbgrader_config.py", path=".").load_config()
api = NbGraderAPI(config=config)
lesson, student = sys.argv[1:]
answers = [api.autograde(lesson, student), api.generate_feedback(lesson, student)]
answers.append(api.autograde(lesson, student, force=False))
(row,) = [s for s in api.get_submissions(lesson) if s["student"] == student]
print(json.dumps([answers, row["autograded"]]))
"""


def nbgrader(root, *arguments, start=("-m", "nbgrader")):
    """Run nbgrader in a course folder; return the finished process."""
    return run_in(root, *start, *arguments)


def folder(root, step, student):
    return root / step / student / LESSON


def notebook(root, student):
    path = folder(root, "autograded", student) / f"{LESSON}.ipynb"
    graded = nbformat.read(path, as_version=4)
    nbformat.validate(graded)
    return graded


def page(root, student):
    path = folder(root, "feedback", student) / f"{LESSON}.html"
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """Return a course folder in whose gradebook the lesson is, with submissions."""
    root = tmp_path_factory.mktemp("opened") / "course"
    for part in ("notebooks", "solutions"):
        shutil.copytree(COURSE.root / part, root / part)
    config = (COURSE.root / "nbgrader_config.py").read_text()
    (root / "nbgrader_config.py").write_text(config + CONFIG)
    Gradebook(Course(root)).open_lesson(LESSON)
    for student in STUDENTS:
        path = Submission().write(root, student)
        (path.parent / "timestamp.txt").write_text("2026-03-01 12:00:00 UTC\n")
        (path.parent / "page.html").write_text("<script>alert(1)</script>")
        (path.parent / "files").mkdir()
        (path.parent / "files" / "more.html").write_text("<script>alert(1)</script>")
    odd = folder(root, "submitted", "zoe")
    os.mkfifo(odd / "pipe")
    (odd / "device").symlink_to("/dev/null")  # /dev/zero would fill the disk
    (odd / "loop").symlink_to(odd)
    (odd / "seed\x1b]0;title\x07").symlink_to(root / "nbgrader_config.py")
    (odd / "timestamp.txt").unlink()
    os.mkfifo(odd / "timestamp.txt")
    (folder(root, "submitted", "ben") / f"{LESSON}.ipynb").write_bytes(BROKEN)
    return root


@pytest.fixture(scope="module")
def done(opened):
    """Grade the class and make its feedback with nbgrader's commands.

    Somebody has damaged the graded notebook of cora in between.
    """
    graded = nbgrader(opened, "autograde", LESSON)
    points = dict.fromkeys(EXERCISES, 2.0)
    entries = [
        GradebookEntry(student, points) for student in STUDENTS if student != "fault"
    ]
    Gradebook(Course(opened)).enter(LESSON, entries)
    path = folder(opened, "autograded", "cora") / f"{LESSON}.ipynb"
    path.chmod(0o644)
    path.write_bytes(BROKEN)
    made = nbgrader(opened, "generate_feedback", LESSON)
    return opened, graded, made


def test_autograde_requests_each_student_once(done):
    root, _, _ = done
    questions = asked(root)
    assert [student for student, _, _ in questions] == STUDENTS
    for student, expected, _ in questions:
        assert sorted(expected) == STUDENTS
        assert expected[0] == student


def test_other_files_are_removed_before_grading(done):
    root, _, _ = done
    for student, _, left in asked(root):
        assert left == ([] if student == "zoe" else ["timestamp.txt"])
    for student in ("amara", "ben"):
        names = {path.name for path in folder(root, "autograded", student).iterdir()}
        assert names == {f"{LESSON}.ipynb", "timestamp.txt"}
    assert not [*(root / "autograded").rglob("*.html")]


def test_only_the_time_is_copied_and_odd_neighbours_are_named(done):
    root, graded, _ = done
    copied = re.findall(r"Copying (\S+)", graded.stderr.replace("\n", ""))
    assert {Path(path).name.partition("-")[0] for path in copied} <= {"timestamp.txt"}
    assert "zoe: only the notebook is graded; beside it are " in graded.stderr
    assert "pipe (a pipe)" in graded.stderr
    assert "\x1b]" not in graded.stderr
    notebook(root, "zoe")


def test_timestamp_that_is_no_file_is_none(tmp_path):
    coursedir = CourseDirectory(root=str(tmp_path))
    guard_timestamps(coursedir)
    student = tmp_path / "submitted" / "zoe" / LESSON
    student.mkdir(parents=True)
    timestamp = student / "timestamp.txt"
    assert coursedir.get_existing_timestamp(str(student)) is None
    os.mkfifo(timestamp)
    assert coursedir.get_existing_timestamp(str(student)) is None
    timestamp.unlink()
    timestamp.symlink_to("/dev/zero")
    assert coursedir.get_existing_timestamp(str(student)) is None
    timestamp.unlink()
    timestamp.write_text("2026-03-01 12:00:00 UTC\n")
    moment = datetime(2026, 3, 1, 12)
    assert coursedir.get_existing_timestamp(str(student)) == moment
    timestamp.write_text("yesterday")
    assert coursedir.get_existing_timestamp(str(student)) is None


@pytest.mark.parametrize(
    "write",
    [
        lambda path: os.mkfifo(path),
        lambda path: path.symlink_to("/dev/zero"),
        lambda path: path.mkdir(),
        lambda path: path.write_text("soon"),
        lambda path: path.write_text("NaN"),
        lambda path: path.write_bytes(b"\xff\xfe"),
        lambda path: path.write_text("9999-12-31 23:59:59 UTC"),
        lambda path: path.write_text("2026-03-01 12:00:00 UTC" + " " * 1_000_000),
    ],
)
def test_formgraders_list_is_not_stopped_by_a_timestamp(tmp_path, monkeypatch, write):
    from nbgrader.apps.api import NbGraderAPI

    before = NbGraderAPI.get_submitted_timestamp
    monkeypatch.setattr(NbGraderAPI, "get_submitted_timestamp", before)  # to restore it
    monkeypatch.setitem(sys.modules, "nbgrader.server_extensions.formgrader", None)
    monkeypatch.setattr("autograder.gradebook.entrance.serve_formulas", lambda: None)
    config = PyFileConfigLoader("nbgrader_config.py", path=str(COURSE.root))
    config = config.load_config()
    config.CourseDirectory.root = str(tmp_path)
    config.CourseDirectory.db_url = "sqlite://"
    folder = tmp_path / "submitted" / "zoe" / LESSON
    folder.mkdir(parents=True)
    write(folder / "timestamp.txt")
    api = NbGraderAPI(CourseDirectory(config=config), config=config)
    assert api.get_submitted_timestamp(LESSON, "zoe") is None
    (tmp_path / "submitted" / "amara" / LESSON).mkdir(parents=True)
    assert api.get_submitted_timestamp(LESSON, "amara") is None
    time = tmp_path / "submitted" / "amara" / LESSON / "timestamp.txt"
    time.write_text("2026-03-01 12:00:00 UTC\n")
    moment = datetime(2026, 3, 1, 12)
    assert api.get_submitted_timestamp(LESSON, "amara") == moment


def collect(root, exchange):
    """Collect what lies in an exchange, whoever owns it."""
    options = f"--Exchange.root={exchange}", "--ExchangeCollect.check_owner=False"
    called = nbgrader(root, "collect", LESSON, *options)
    assert called.returncode == 0, called.stderr
    return called


def test_collect_takes_notebooks_and_no_links(opened, tmp_path):
    root = tmp_path / "course"
    shutil.copytree(opened / "notebooks", root / "notebooks")
    shutil.copy(opened / "gradebook.db", root)
    config = (COURSE.root / "nbgrader_config.py").read_text()
    (root / "nbgrader_config.py").write_text(config)
    inbound = tmp_path / "exchange" / "attention" / "inbound"
    for student, text in (("amara", "{}"), ("zoe", None)):
        sent = inbound / f"{student}+{LESSON}+2026-03-01 12:00:00 UTC+abc"
        sent.mkdir(parents=True)
        (sent / "timestamp.txt").write_text("2026-03-01 12:00:00 UTC")
        (sent / "files").mkdir()
        os.mkfifo(sent / "files" / "pipe")
        (sent / "device").symlink_to("/dev/null")
        if text:
            (sent / f"{LESSON}.ipynb").write_text(text)
        else:
            (sent / f"{LESSON}.ipynb").symlink_to(root / "nbgrader_config.py")
    called = collect(root, tmp_path / "exchange")
    for student, names in (
        ("amara", {f"{LESSON}.ipynb", "timestamp.txt"}),
        ("zoe", {"timestamp.txt"}),
    ):
        assert {p.name for p in folder(root, "submitted", student).iterdir()} == names
    message = " ".join(called.stderr.split())
    assert f"zoe: {LESSON}.ipynb is a link, not a file: hand in a copy" in message


def test_collect_survives_odd_names_of_submissions(opened, tmp_path):
    root = tmp_path / "course"
    shutil.copytree(opened / "notebooks", root / "notebooks")
    shutil.copy(opened / "gradebook.db", root)
    shutil.copy(COURSE.root / "nbgrader_config.py", root)
    inbound = tmp_path / "exchange" / "attention" / "inbound"
    real, future = "2026-03-01 12:00:00 UTC", "9999-03-01 12:00:00 UTC"
    for student, time, text in (
        ("zoe", "soon", "early"),
        ("zoe", real, "real"),
        ("zoe", future, "of the future"),
        ("ben", "NaN", "only"),
        ("..", real, "outside"),
        ("<b>", real, "script"),
        ("amara", real, "right"),
    ):
        sent = inbound / f"{student}+{LESSON}+{time}+abc"
        sent.mkdir(parents=True)
        (sent / "timestamp.txt").write_text(time)
        (sent / f"{LESSON}.ipynb").write_text(text)
    before = {path.name for path in root.iterdir()}
    called = collect(root, tmp_path / "exchange")
    texts = {
        path.parents[1].name: path.read_text()
        for path in (root / "submitted").rglob("*.ipynb")
    }
    assert texts == {"zoe": "real", "ben": "only", "amara": "right"}
    assert {path.name for path in root.iterdir()} <= before | {"submitted", ".jupyter"}
    message = " ".join(called.stderr.split())
    for student, fault in (
        ("'<b>'", "holds <"),
        ("ben", "is no date and time"),
    ):
        assert re.search(rf"{re.escape(student)}.*{fault}", message)


def test_notebook_is_ours_and_ran_in_no_kernel(done):
    root, _, _ = done
    for student in ("amara", "ben", "zoe"):  # ben's file is broken
        graded = notebook(root, student)
        checks = [
            c for c in graded.cells if c.metadata.get("nbgrader", {}).get("grade")
        ]
        assert [determine_grade(cell)[0] for cell in checks] == [2.0] * len(EXERCISES)
        path = folder(root, "autograded", student) / f"{LESSON}.ipynb"
        assert stat.S_IMODE(path.stat().st_mode) == 0o444


def test_fault_of_the_grader_costs_one_student(done):
    root, graded, _ = done
    assert graded.returncode == 1
    assert "the sandbox cannot start" in graded.stderr
    assert f"error processing assignment '{LESSON}' for student 'fault'" in (
        graded.stderr.replace("\n", " ")
    )
    assert not folder(root, "autograded", "fault").exists()
    assert folder(root, "autograded", "zoe").exists()


def test_generate_feedback_writes_our_page(done):
    root, _, _ = done
    for student in ("amara", "ben", "zoe"):
        html = Page(page(root, student))
        html.assert_inert()
        assert f"Feedback for {student}" in html.text
        assert f"{2 * len(EXERCISES)} of " in html.text


def test_damaged_graded_notebook_stops_nobody_else(done):
    root, _, made = done
    assert made.returncode == 1
    assert "the graded notebook of cora is damaged: grade again" in made.stderr
    assert not folder(root, "feedback", "cora").exists()
    assert "Feedback for <bdi>zoe" in page(root, "zoe")


def test_formgrader_buttons_use_the_exporters(opened, tmp_path):
    root = tmp_path / "course"
    shutil.copytree(opened, root, ignore=shutil.ignore_patterns("zoe"))
    shutil.rmtree(root / "autograded", ignore_errors=True)
    shutil.rmtree(root / "feedback", ignore_errors=True)
    (root / "asked.jsonl").unlink(missing_ok=True)
    called = nbgrader(root, LESSON, "amara", start=("-c", API))
    assert called.returncode == 0, called.stderr
    answers, autograded = json.loads(called.stdout.strip().splitlines()[-1])
    assert [each["success"] for each in answers] == [True] * 3, answers
    assert autograded
    (request,) = asked(root)  # not again for what is graded
    assert request[:2] == ["amara", ["amara"]]
    Page(page(root, "amara")).assert_inert()


def test_unsafe_student_id_is_refused_before_it_is_entered(opened, tmp_path):
    root = tmp_path / "course"
    shutil.copytree(opened, root, ignore=shutil.ignore_patterns("zoe"))
    shutil.rmtree(root / "submitted")
    for student in ("<b>", "amara", "eve\x1b]0;title\x07"):
        Submission().write(root, student)
    graded = nbgrader(root, "autograde", LESSON, "--force")
    assert graded.returncode == 1
    assert "'<b>' is not graded: the folder's name holds <" in graded.stderr
    assert "\x1b]" not in graded.stderr + graded.stdout
    with contextlib.closing(sqlite3.connect(root / "gradebook.db")) as database:
        students = {name for (name,) in database.execute("SELECT id FROM student")}
    assert "amara" in students
    assert "<b>" not in students
