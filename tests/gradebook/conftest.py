"""A course folder in whose gradebook the lesson is, whole for each test."""

import shutil

import pytest
from nbgrader.api import Gradebook as NbgraderGradebook

from autograder.course import Course
from autograder.gradebook.database import Gradebook
from tests.submissions import open_course


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """Return a course folder in whose gradebook the lesson is: all of it required."""
    folder = tmp_path_factory.mktemp("original") / "course"
    return open_course(folder, all_required=True)


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
