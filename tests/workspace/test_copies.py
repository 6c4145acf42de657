"""The learner's copies are made once, and never written over."""

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.course import Course, CourseError
from autograder.course import folder as course_files
from autograder.workspace import copies as workspace
from autograder.workspace.copies import Copy, open_workspace
from tests.workspace.course_of_one import (
    ANSWER,
    LESSON,
    OTHER,
    Class,
    FullDisk,
    opened_course,
)


@pytest.fixture
def learner(tmp_path):
    return opened_course(tmp_path)


def test_first_opening_copies_every_lesson(tmp_path):
    made = Class(tmp_path)
    made.release()
    made.release(OTHER)
    assert open_workspace(Course(tmp_path)) == [LESSON, OTHER]
    for lesson in (LESSON, OTHER):
        copy = Copy(Course(tmp_path), lesson)
        assert copy.mine.read_bytes() == copy.newer.read_bytes()


def test_opening_again_overwrites_nothing(learner):
    learner.write(softmax=ANSWER)
    learner.release(title="# Another title")
    learner.release(OTHER)
    before = learner.path.read_bytes()
    assert open_workspace(learner.course) == [OTHER]
    assert learner.path.read_bytes() == before


def test_empty_or_broken_copy_is_not_overwritten_either(learner):
    learner.path.write_text("")
    assert open_workspace(learner.course) == []
    assert learner.path.read_text() == ""


def test_copying_never_replaces_a_file(tmp_path):
    path = tmp_path / "notebook.ipynb"
    path.write_text("the learner's")
    assert not workspace.write_new(path, "the course's")
    assert path.read_text() == "the learner's"
    assert [path.name for path in tmp_path.iterdir()] == ["notebook.ipynb"]


def test_copies_are_made_on_a_file_system_without_links(tmp_path, monkeypatch):
    def refuse(self, target):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    path = tmp_path / "notebook.ipynb"
    assert workspace.write_new(path, "first")
    assert not workspace.write_new(path, "second")
    assert path.read_text() == "first"
    assert [path.name for path in tmp_path.iterdir()] == ["notebook.ipynb"]


@pytest.mark.parametrize("copy", ["base", "mine"])
def test_full_disk_leaves_nothing_half_written(tmp_path, monkeypatch, copy):
    made = Class(tmp_path)
    made.release()
    module = course_files if copy == "base" else workspace
    disk = FullDisk()
    monkeypatch.setattr(module, "os", disk)
    with pytest.raises(CourseError, match=r"could not be written .No space left"):
        open_workspace(Course(tmp_path))
    assert [p for p in made.files() if p.suffix != ".ipynb" or p == made.path] == []
    monkeypatch.undo()
    assert open_workspace(Course(tmp_path)) == [LESSON]


STOPPED = """
import os, pathlib, sys
from autograder.course import Course
from autograder.workspace.copies import open_workspace
os.fsync = lambda handle: os._exit(9) if {count} == len(seen) else seen.append(handle)
seen = []
open_workspace(Course(pathlib.Path(sys.argv[1])))
"""


@pytest.mark.parametrize("count", [0, 1])
def test_killed_opening_is_finished_by_the_next(tmp_path, count):
    made = Class(tmp_path)
    made.release()
    killed = subprocess.run(
        [sys.executable, "-c", STOPPED.format(count=count), tmp_path]
    )
    assert killed.returncode == 9
    assert not made.path.exists()
    made.release(title="# Newer")
    assert open_workspace(Course(tmp_path)) == [LESSON]
    assert made.texts[0] == "# Newer"
    assert made.update().line == "nothing new"


def test_half_a_notebook_of_the_course_is_not_copied(tmp_path):
    made = Class(tmp_path)
    made.release()
    path = Copy(Course(tmp_path), LESSON).newer
    path.write_text(path.read_text()[:100])
    with pytest.raises(CourseError, match=r"notebooks/.* is no notebook .*make build"):
        open_workspace(Course(tmp_path))
    assert made.files() == {}
