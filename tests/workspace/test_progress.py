"""What ``check`` keeps of a learner's work, and what may go wrong on the way."""

import contextlib
import errno
import io
import json
import math
import os
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest

from autograder import CheckFailed, check
from autograder.checking.registry import load
from autograder.checking.result import CaseVerdict, ExerciseResult
from autograder.course import folder as course_files
from autograder.in_notebook import check as check_module
from autograder.workspace import after_check, progress
from autograder.workspace.after_check import keep_result
from autograder.workspace.progress import keep_check, read_progress, reopen
from tests.workspace.course_of_two import (
    FIRST,
    RIGHT,
    RIGHT_SCORES,
    SECOND,
    STUB,
    WRONG,
    Learner,
)

ROOT = course_files.Course.here().root
CLAIMS = sum(case.visible and not case.fine_point for case in load("softmax").cases)


@pytest.fixture
def learner(tmp_path, monkeypatch):
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    learner = Learner(tmp_path)
    monkeypatch.chdir(learner.folder())
    return learner


def checked(source, name="softmax"):
    """Check an answer; return what is printed, whether it passes or fails."""
    variables = {"np": np, "check": check}
    exec(source, variables)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(CheckFailed):
        exec(f"check({name})", variables)
    return printed.getvalue()


def keep(learner, holding=1, claims=2, exercise="softmax", points=1.0):
    return keep_check(
        learner.work,
        FIRST,
        exercise,
        holding=holding,
        claims=claims,
        points=points,
        max_points=8,
    )


def test_check_keeps_claims_points_and_lesson(learner):
    checked(WRONG)
    record = learner.record()
    assert 0 < record["holding"] < record["claims"] == CLAIMS
    assert (record["lesson"], record["exercise"]) == (FIRST, "softmax")
    assert 0 < record["points"] < record["max_points"] == load("softmax").points
    assert record["solved"] is None and record["attempts"] == 1


def test_earlier_points_count_as_a_share_of_the_new(learner):
    keep(learner, holding=2, points=6.0)
    about = {"holding": 1, "claims": 2, "points": 5.0, "max_points": 16.0}
    keep_check(learner.work, FIRST, "softmax", **about)
    record = learner.record()
    assert (record["points"], record["max_points"]) == (12.0, 16.0)


def test_home_follows_each_check(learner):
    keep(learner, holding=1, claims=CLAIMS)
    checked(WRONG)
    holding = learner.record()["holding"]
    assert f"begun, {holding} of {CLAIMS} claims hold" in learner.home
    assert holding > 1
    checked(RIGHT_SCORES, "scaled_scores")
    assert ":** *What is alike?* [softmax]" in learner.home
    checked(WRONG)
    assert ":** *What is alike?* [softmax]" in learner.home


def test_first_solving_stays_whatever_is_tried_later(learner):
    checked(WRONG)
    checked(RIGHT)
    first = learner.record()
    assert first["solved"] == first["checked"]
    points = sum(case.points for case in load("softmax").cases if case.visible)
    assert first["points"] == points
    checked(WRONG)
    later = learner.record()
    assert later["solved"] == first["solved"] < later["checked"]
    assert (later["attempts"], later["points"]) == (3, points)
    assert later["holding"] < CLAIMS


def test_course_version_puts_an_exercise_off(learner):
    note = check_module._note_course_version
    checked(WRONG)
    note("from course_lib.attention import softmax, scaled_scores")  # no offer's line
    note("from course_lib.attention import project")  # of another lesson
    note("from course_lib.masks import softmax")
    assert not learner.record()["put_off"]
    note("from course_lib.attention import softmax")
    record = learner.record()
    assert (record["put_off"], record["attempts"]) == (True, 1)
    assert ":** *What is alike?* [scaled_scores]" in learner.home
    assert [*read_progress(learner.work)] == ["softmax"]
    checked(WRONG)
    assert not learner.record()["put_off"]
    assert ":** *What is alike?* [softmax]" in learner.home


def test_progress_of_an_older_version_is_read(learner):
    keep(learner)
    path = learner.work / ".progress" / "softmax.json"
    record = learner.record()
    del record["put_off"]
    path.write_text(json.dumps(record), encoding="utf-8")
    assert read_progress(learner.work)["softmax"].attempts == 1


def test_unwritten_stub_is_no_attempt(learner):
    checked(STUB)
    assert not (learner.work / ".progress").exists()


def test_stub_after_an_answer_opens_the_exercise_again(learner):
    checked(RIGHT)
    solved = learner.record()["solved"]
    checked(STUB)
    (record,) = read_progress(learner.work).values()
    assert (record.state, record.solved_before) == ("open", solved)
    checked(WRONG)
    assert read_progress(learner.work)["softmax"].state == "begun"


def test_call_of_an_unwritten_exercise_reopens_nothing(learner):
    keep(learner, 2, 2, exercise="attention")
    missing = CaseVerdict("any", "It holds", "missing", 0.0, 1.0, True)
    result = ExerciseResult("attention", 0.0, 1.0, (missing,))
    assert keep_result(load("attention"), result, is_stub=False) == ()
    assert learner.record("attention")["solved"]


@pytest.mark.parametrize("mode", ["autograde", "validate"])
def test_nothing_is_kept_under_nbgrader(learner, monkeypatch, mode):
    monkeypatch.setenv("NBGRADER_EXECUTION", mode)
    assert "Next:" not in checked(RIGHT)
    assert not (learner.work / ".progress").exists()


def test_nothing_is_kept_outside_of_work(learner, monkeypatch):
    for folder in (learner.course.root, learner.work, learner.course.root / "other"):
        folder.mkdir(exist_ok=True)
        monkeypatch.chdir(folder)
        assert "Next:" not in checked(RIGHT)
    assert not list(learner.course.root.rglob(".progress"))


def test_check_works_in_a_folder_that_is_gone(learner):
    shutil.rmtree(learner.folder())
    assert f"all {CLAIMS} claims hold" in checked(RIGHT)


def test_failing_bookkeeping_never_changes_the_verdict(learner, monkeypatch):
    monkeypatch.setattr(after_check, "write_home", lambda *_: 1 / 0)
    report = checked(RIGHT)
    assert f"all {CLAIMS} claims hold" in report
    assert "Your progress could not be written to work/ (division by zero)" in report


def test_kernels_own_notebook_comes_before_its_folder(learner, monkeypatch):
    notebook = learner.folder(SECOND) / f"{SECOND}.ipynb"
    monkeypatch.setenv("JPY_SESSION_NAME", str(notebook))
    checked(RIGHT)
    assert learner.record()["lesson"] == SECOND


def test_importing_check_loads_nothing_of_the_workspace():
    code = "import autograder, sys; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    ).stdout.split()
    assert "autograder.in_notebook.check" in loaded
    assert [each for each in loaded if each.startswith("autograder.workspace")] == []


SHARED = """
import sys
from pathlib import Path
from autograder.workspace.progress import keep_check
for number in range(25):
    for exercise in ("shared", sys.argv[2]):
        holding = 2 if number == 3 and sys.argv[2] == "left" else 1
        keep_check(Path(sys.argv[1]), "01", exercise, holding=holding, claims=2,
                   points=holding, max_points=8)
"""


def test_two_kernels_at_once_lose_no_check(learner):
    running = [
        subprocess.Popen([sys.executable, "-c", SHARED, learner.work, name], cwd=ROOT)
        for name in ("left", "right")
    ]
    assert [process.wait(60) for process in running] == [0, 0]
    known = read_progress(learner.work)
    assert {name: each.attempts for name, each in known.items()} == {
        "left": 25,
        "right": 25,
        "shared": 50,
    }
    assert known["shared"].state == "solved"


KILLED = """
import os, pathlib, signal, sys
pathlib.Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
from autograder.workspace.progress import keep_check
keep_check(pathlib.Path(sys.argv[1]), "01", "softmax", holding=2, claims=2, points=2,
           max_points=8)
"""


def test_killed_check_leaves_the_file_before_it(learner):
    keep(learner)
    before = learner.record()
    killed = subprocess.run([sys.executable, "-c", KILLED, learner.work], cwd=ROOT)
    assert killed.returncode == -signal.SIGKILL
    assert learner.record() == before
    assert list(read_progress(learner.work)) == ["softmax"]
    keep(learner)
    assert learner.record()["attempts"] == 2


BROKEN = {
    "empty": "",
    "half": '{"exercise": "softm',
    "a list": "[]",
    "deep": "[" * 100_000,
    "of another exercise": {"exercise": "attention"},
    "a text for a number": {"attempts": "3"},
    "true for a number": {"attempts": True},
    "negative": {"holding": -1},
    "not a number": {"points": math.nan},
    "no time": {"solved": "yesterday"},
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_broken_file_counts_as_open_and_is_kept_aside(learner, broken):
    keep(learner, 2, 2)
    path = learner.work / ".progress" / "softmax.json"
    if isinstance(broken, dict):
        broken = json.dumps(learner.record() | broken)
    path.write_text(broken)
    assert read_progress(learner.work) == {}
    report = checked(WRONG)
    assert "could not be written" not in report
    assert learner.record()["attempts"] == 1
    assert path.with_name("softmax.json.unreadable-1").read_text() == broken


@pytest.mark.parametrize("kind", ["folder", "pipe", "bytes"])
def test_file_of_an_odd_kind_is_kept_aside(learner, kind):
    path = learner.work / ".progress" / "softmax.json"
    path.parent.mkdir()
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.write_bytes(b"\xff\xfe")
    assert read_progress(learner.work) == {}
    checked(RIGHT)
    assert learner.record()["solved"]
    assert os.path.lexists(path.with_name("softmax.json.unreadable-1"))


def test_fields_of_a_later_version_are_no_error(learner):
    keep(learner)
    path = learner.work / ".progress" / "softmax.json"
    path.write_text(json.dumps(learner.record() | {"mood": "good"}))
    assert read_progress(learner.work)["softmax"].attempts == 1


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_unwritable_folder_costs_one_note(learner, monkeypatch, number):
    def refuse(*_, **__):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(course_files.tempfile, "mkstemp", refuse)
    report = checked(RIGHT)
    assert f"all {CLAIMS} claims hold" in report
    assert report.count("could not be written") == 1
    assert f"({os.strerror(number)})" in report
    with pytest.raises(CheckFailed):
        exec(f"{WRONG}\ncheck(softmax)", {"np": np, "check": check})


def test_file_in_place_of_the_folder_costs_one_note(learner):
    (learner.work / ".progress").write_text("mine")
    assert checked(RIGHT).count("could not be written") == 1
    assert (learner.work / ".progress").read_text() == "mine"


def test_restored_backup_shows_the_earlier_progress(learner, tmp_path):
    checked(RIGHT)
    backup = tmp_path / "backup"
    shutil.copytree(learner.work, backup)
    checked(RIGHT_SCORES, "scaled_scores")
    shutil.rmtree(learner.work / ".progress")
    shutil.copytree(backup, learner.work, dirs_exist_ok=True)
    assert {*read_progress(learner.work)} == {"softmax"}
    checked(WRONG)
    assert "1 of 3 exercises solved" in learner.home


def test_stalled_holder_of_the_lock_stops_nobody(learner, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.1)
    with progress.lock(learner.work):
        keep(learner)
    assert learner.record()["attempts"] == 1


def test_reopening_what_is_open_changes_nothing(learner):
    assert not reopen(learner.work, "softmax")
    keep(learner, 2, 2)
    assert reopen(learner.work, "softmax")
    assert not reopen(learner.work, "softmax")
