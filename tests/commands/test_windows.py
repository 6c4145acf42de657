"""Learners' commands work without what Windows lacks; others say so in a sentence."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.commands.terminal import not_here
from autograder.course import Course
from tests.browser import course_copy

AS_WINDOWS = Path(__file__).with_name("as_windows.py")
ROOT = Course.here().root
APP, START = "autograder.commands.app", "autograder.commands.start"
CHECK = """
import numpy as np
from autograder import check

def softmax(x, axis=-1):
    e = np.exp(x)
    return e / e.sum(axis=axis)

check(softmax)
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Return a course's folder whose notebooks have Windows' ends of lines."""
    folder = course_copy(tmp_path_factory.mktemp("mit Leerzeichen ä"))
    for path in folder.glob("notebooks/*/*.ipynb"):
        text = path.read_bytes().replace(b"\r\n", b"\n")
        path.write_bytes(text.replace(b"\n", b"\r\n"))
    return folder


def call(folder, *arguments, encoding="cp1252"):
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONIOENCODING": encoding, "PYTHONPATH": path},
        capture_output=True,
        encoding=encoding,
        check=False,
    )


def on_windows(folder, *arguments):
    return call(folder, AS_WINDOWS, *arguments)


@pytest.mark.parametrize(
    "arguments",
    [["grade", "01"], ["judge", "x.ipynb"], ["doctor"]],
)
def test_grading_says_that_it_needs_linux(course, arguments):
    done = on_windows(course, APP, *arguments)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("Grading needs Linux") and "WSL" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_learners_commands_work(course):
    updated = on_windows(course, APP, "update")
    assert updated.returncode == 0, updated.stderr
    copies = [*course.glob("work/[0-9]*/*.ipynb")]
    assert len(copies) == len(Course(ROOT).built_lessons)
    assert all(json.loads(path.read_text("utf-8"))["cells"] for path in copies)
    for arguments in (["progress"], ["progress", "--json"], ["reset", "softmax"]):
        done = on_windows(course, APP, *arguments)
        assert done.returncode == 0, done.stderr
        assert done.stdout and not done.stderr
    repeated = on_windows(course, APP, "update")
    assert "copied" not in repeated.stdout and repeated.returncode == 0


def test_new_course_works(course, tmp_path):
    done = on_windows(tmp_path, START, "new-course", "Frühling 2027")
    assert done.returncode == 0, done.stderr
    assert Course(tmp_path / "Frühling 2027").built_lessons


def test_report_is_printed_where_the_output_lacks_its_marks(tmp_path):
    done = call(tmp_path, "-c", CHECK)
    assert "softmax: " in done.stdout and "UnicodeEncodeError" not in done.stderr
    assert "0.5" in done.stdout or "axis" in done.stdout


def test_missing_layer_is_named_with_the_command_for_it():
    assert "attention-course[grade]" in not_here("nbgrader.api")
    assert "attention-course torch" in not_here("torch")
    assert not_here("numpy") == ""


def test_files_can_have_their_names_on_any_system():
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, check=True
    )
    names = [name for name in listed.stdout.decode().split("\0") if name]
    assert len({name.lower() for name in names}) == len(names) > 1000
    assert not [name for name in names if set(name) & set('<>:"\\|?*')]
    assert max(map(len, names)) < 120
