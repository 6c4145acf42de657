"""A course folder in whose gradebook the lesson is, whole for each test."""

import shutil

import pytest
from nbgrader.api import Gradebook as NbgraderGradebook

from autograder.course import Course
from autograder.gradebook.database import Gradebook
from tests.submissions import COURSE, LESSON


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """Return a course folder in whose gradebook the lesson is."""
    root = tmp_path_factory.mktemp("original") / "course"
    for part in ("notebooks", "solutions"):
        shutil.copytree(COURSE.root / part, root / part)
    shutil.copy(COURSE.root / "nbgrader_config.py", root)
    assert Gradebook(Course(root)).open_lesson(LESSON) == []
    return root


@pytest.fixture
def root(original, tmp_path):
    return shutil.copytree(original, tmp_path / "course")


@pytest.fixture
def gradebook(root):
    return Gradebook(Course(root))


@pytest.fixture
def book(root):
    """Yield the gradebook as nbgrader opens it."""
    with NbgraderGradebook(f"sqlite:///{root / 'gradebook.db'}", "attention") as opened:
        yield opened
