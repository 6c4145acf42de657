"""Judge what an earlier release of a lesson had, with the real engine and commands."""

import shutil
import sys

import pytest

from autograder.checking.registry import load
from autograder.commands import app as cli
from autograder.course import Course
from autograder.demo.sample_class import right_answer
from autograder.gradebook.database import Gradebook
from tests.gradebook.opened import change_lesson
from tests.submissions import LESSON, MAX_POINTS, Submission, open_course

REMOVED = "bilinear_scores"
WORTH = load(REMOVED).points
ALL, REST = f"{MAX_POINTS:g}", f"{MAX_POINTS - WORTH:g}"
pytestmark = pytest.mark.sandbox


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """Make a course that has lost an exercise since amara and ben got the lesson."""
    root = open_course(tmp_path_factory.mktemp("original") / "course")
    Submission().write(root, "amara")
    unnamed = Submission()
    del unnamed.notebook.metadata["attention_release"]
    for cell in unnamed.notebook.cells:
        cell.metadata.pop("nbgrader", None)
    unnamed.cell(REMOVED).id = "mine"
    unnamed.write(root, "ben")
    change_lesson(root, drop=REMOVED)
    return root


@pytest.fixture
def root(original, tmp_path, monkeypatch):
    folder = shutil.copytree(original, tmp_path / "course")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def call(monkeypatch, capsys):
    """Call the command line here; return exit code, output and errors."""

    def called(*arguments):
        monkeypatch.setattr(sys, "argv", ["autograder", *arguments])
        try:
            cli.run()
            code = 0
        except SystemExit as end:
            code = end.code
        out, err = capsys.readouterr()
        return code, out, err

    return called


def test_judge_and_grade_say_the_same_of_an_earlier_release(root, call):
    todays = Submission()
    todays.notebook.cells = [
        cell for cell in todays.notebook.cells if not cell.get("id").endswith(REMOVED)
    ]
    todays.notebook.metadata.pop("attention_release")
    todays.write(root, "cara")
    code, out, err = call("grade", "01", "--jobs", "1")
    assert code == 0, err
    rows = dict(line.split(maxsplit=1) for line in out.splitlines()[:3])
    assert rows["amara"].startswith(f"{ALL} of {ALL}")
    assert rows["ben"].startswith(f"{ALL} of {ALL}")
    assert rows["cara"].startswith(f"{REST} of {REST}")
    for student, most in (("amara", ALL), ("ben", ALL), ("cara", REST)):
        path = f"submitted/{student}/{LESSON}/{LESSON}.ipynb"
        code, out, err = call("judge", path)
        assert out.startswith(f"{LESSON}: {most} of {most} points"), (student, out)
        assert (f"{WORTH:g} of {WORTH:g}: {REMOVED}" in out) == (most == ALL)
        assert "In the gradebook" not in out
    assert "bilinear_scores(q" in (root / f"autograded/amara/{LESSON}/{LESSON}.ipynb").read_text()


def test_judge_of_an_earlier_release_names_the_misconception(root, call):
    submission = Submission()
    submission.answer(
        REMOVED, right_answer(REMOVED).replace("return ", "return 2 * ")
    )
    path = submission.write(root, "amara")
    code, out, err = call("judge", str(path))
    assert (code, err) == (0, "")
    assert f"of {ALL} points" in out
    assert not out.startswith(f"{LESSON}: {ALL} of")
