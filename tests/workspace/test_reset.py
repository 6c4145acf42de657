"""Beginning an exercise anew: the stub comes back, and no answer is lost."""

import json
import re
import subprocess
import sys
from datetime import datetime

import nbformat
import pytest
from typer.testing import CliRunner

from autograder.commands.app import app
from autograder.course import Course, CourseError
from autograder.grading.reading import read_submission
from autograder.workspace.answer_cell import MOST_EARLIER, earlier_answers
from autograder.workspace.copies import Copy
from autograder.workspace.progress import keep_check, read_progress
from autograder.workspace.reset import reset
from autograder.workspace.update import update
from tests.workspace.course_of_two import (
    FIRST,
    RIGHT,
    WRONG,
    Learner,
    stub,
    write_release,
)

ROOT = Course.here().root


@pytest.fixture
def learner(tmp_path):
    return Learner(tmp_path)


def sources(learner):
    return [row["source"] for row in earlier_answers(learner.cell())]


def solve(learner, exercise="softmax"):
    about = {"holding": 6, "claims": 6, "points": 7.0, "max_points": 8.0}
    keep_check(learner.work, FIRST, exercise, **about)


def change_metadata(learner, change):
    path = Copy(learner.course, FIRST).mine
    notebook = json.loads(path.read_text())
    for cell in notebook["cells"]:
        if cell["id"] == "softmax":
            change(cell["metadata"])
    path.write_text(json.dumps(notebook))


def test_reset_puts_the_stub_back_and_keeps_the_answer(learner):
    learner.save(WRONG)
    line = reset(learner.course, "softmax")
    cell = learner.cell()
    assert cell.source == stub("softmax")
    (earlier,) = cell.metadata["attention"]["earlier"]
    assert earlier["source"] == WRONG
    assert datetime.fromisoformat(earlier["time"]).utcoffset().total_seconds() == 0
    assert "close its tab or reload it" in line
    assert cell.outputs == learner.cell("check-softmax").outputs == []
    assert learner.cell("scaled_scores").outputs != []


def test_back_brings_the_last_answer_and_keeps_the_present(learner):
    learner.save(WRONG)
    reset(learner.course, "softmax")
    learner.save(RIGHT)
    reset(learner.course, "softmax", back=True)
    assert (learner.cell().source, sources(learner)) == (WRONG, [RIGHT])
    reset(learner.course, "softmax", back=True)
    assert (learner.cell().source, sources(learner)) == (RIGHT, [WRONG])


def test_stub_itself_is_not_kept_as_an_answer(learner):
    learner.save(RIGHT)
    reset(learner.course, "softmax")
    reset(learner.course, "softmax", back=True)
    assert (learner.cell().source, sources(learner)) == (RIGHT, [])
    assert "no earlier answer" in reset(learner.course, "softmax", back=True)
    reset(learner.course, "softmax")
    assert "holds the stub already" in reset(learner.course, "softmax")
    assert sources(learner) == [RIGHT]


def test_no_answer_is_kept_twice_in_a_row(learner):
    for _ in range(2):
        learner.save(RIGHT)
        reset(learner.course, "softmax")
    assert sources(learner) == [RIGHT]


def test_newest_twenty_answers_are_kept(learner):
    for number in range(MOST_EARLIER + 3):
        learner.save(f"{RIGHT}  # {number}")
        reset(learner.course, "softmax")
    assert len(sources(learner)) == MOST_EARLIER == 20
    assert sources(learner)[-1].endswith("# 22")


def test_copy_without_stubs_takes_the_lessons(learner):
    learner.save(RIGHT)
    change_metadata(learner, lambda metadata: metadata.pop("attention"))
    reset(learner.course, "softmax")
    assert learner.cell().source == stub("softmax")
    assert sources(learner) == [RIGHT]


@pytest.mark.parametrize(
    "odd", [[], "x", {"earlier": "x"}, {"earlier": [1, {"source": 2}]}, {"stub": 3}]
)
def test_odd_metadata_is_no_error(learner, odd):
    learner.save(RIGHT)
    change_metadata(learner, lambda metadata: metadata.update(attention=odd))
    reset(learner.course, "softmax")
    assert learner.cell().source == stub("softmax")
    assert sources(learner) == [RIGHT]


def test_reset_opens_the_exercise_and_remembers_the_solution(learner):
    solve(learner)
    solved = learner.record()["solved"]
    learner.save(RIGHT)
    reset(learner.course, "softmax")
    progress = read_progress(learner.work)["softmax"]
    assert (progress.state, progress.solved_before) == ("open", solved)


@pytest.mark.parametrize(
    ("name", "remedy"),
    [("softmx", "did you mean softmax?"), ("x", "its heading has the name")],
)
def test_reset_of_an_unknown_exercise_says_what_to_do(learner, name, remedy):
    with pytest.raises(CourseError, match=re.escape(f"named '{name}': {remedy}")):
        reset(learner.course, name)


@pytest.mark.parametrize("broken", ["", "{", '{"nbformat": 4}'])
def test_reset_leaves_a_broken_notebook_alone(learner, broken):
    path = Copy(learner.course, FIRST).mine
    path.write_text(broken)
    with pytest.raises(CourseError, match="cannot be read and is left alone"):
        reset(learner.course, "softmax")
    assert path.read_text() == broken


KILLED = """
import os, pathlib, signal, sys
from autograder.course import Course
from autograder.workspace.reset import reset
pathlib.Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
reset(Course(pathlib.Path(sys.argv[1])), "softmax")
"""


def test_killed_reset_leaves_the_notebook_whole(learner):
    learner.save(RIGHT)
    path = Copy(learner.course, FIRST).mine
    before = path.read_bytes()
    command = [sys.executable, "-c", KILLED, learner.course.root]
    assert subprocess.run(command, cwd=ROOT).returncode == -9
    assert path.read_bytes() == before


def test_reset_command_prints_a_sentence_and_writes_home(learner, monkeypatch):
    monkeypatch.chdir(learner.folder())
    solve(learner)
    learner.save(RIGHT)
    done = CliRunner().invoke(app, ["reset", "softmax"])
    assert done.exit_code == 0 and "--back" in done.output
    assert "solved before" in learner.home
    done = CliRunner().invoke(app, ["reset", "softmax", "--back"])
    assert "your last answer is back" in done.output
    assert learner.cell().source == RIGHT


def test_update_carries_earlier_answers_along(learner):
    learner.save(WRONG)
    reset(learner.course, "softmax")
    learner.save(RIGHT)
    newer = stub("softmax").replace("(x)", "(x, axis=-1)")
    write_release(learner.course, FIRST, softmax=newer)
    update(learner.course)
    assert (learner.cell().source, sources(learner)) == (RIGHT, [WRONG])
    assert learner.cell().metadata["attention"]["stub"] == newer
    assert all("nothing new" in row.line for row in update(learner.course))


def test_update_keeps_earlier_answers_of_a_dropped_exercise(learner):
    learner.save(RIGHT)
    reset(learner.course, "softmax")
    write_release(learner.course, FIRST, softmax=None)
    update(learner.course)
    (cell,) = [cell for cell in learner.notebook().cells if earlier_answers(cell)]
    assert "nbgrader" not in cell.metadata
    assert cell.metadata["attention"].keys() == {"earlier"}


def test_update_gives_an_older_copy_its_stubs(learner):
    learner.save(RIGHT)
    base = Copy(learner.course, FIRST).base
    old = json.loads(base.read_text())
    for cell in old["cells"]:
        cell["metadata"].pop("attention", None)
    base.write_text(json.dumps(old))
    change_metadata(learner, lambda metadata: metadata.pop("attention"))
    update(learner.course)
    assert learner.cell().source == RIGHT
    assert learner.cell().metadata["attention"] == {"stub": stub("softmax")}


def test_update_adds_the_links_and_keeps_the_answer(learner):
    learner.save(RIGHT)
    path = learner.course.learner(FIRST)
    newer = nbformat.read(path, as_version=4)
    newer.cells[0].source += "\n\n[Home](../home.md)"
    nbformat.write(newer, path)
    update(learner.course)
    assert learner.notebook().cells[0].source.endswith("[Home](../home.md)")
    assert learner.cell().source == RIGHT


def test_grading_reads_the_same_cells_with_earlier_answers(learner):
    path = Copy(learner.course, FIRST).mine
    learner.save(RIGHT)
    before = read_submission(path)
    learner.save(WRONG)
    reset(learner.course, "softmax")
    learner.save(RIGHT)
    assert read_submission(path) == before
    nbformat.validate(learner.notebook())
