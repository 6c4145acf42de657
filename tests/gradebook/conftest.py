"""A course folder in whose gradebook the lesson is, whole for each test."""

import shutil

import pytest
from nbgrader.api import Gradebook as NbgraderGradebook

from autograder.course import Course
from autograder.gradebook.database import Gradebook
from tests.gradebook.canvas_class import WORTH
from tests.gradebook.fake_canvas import FakeCanvas, assignment, user
from tests.gradebook.test_export import FIRST, SECOND
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


@pytest.fixture
def canvas():
    """Yield a Canvas with two assignments, in which nobody has a grade."""
    users = [
        user(101, "ANN"),
        user(102, "bob@example.org"),
        user(103, "c.em", "S-103"),
        user(104, "dan", "D"),
        user(105, "e", "0105"),
        user(106, "fay"),
        user(107, "gil"),
    ]
    fake = FakeCanvas(
        users, [assignment(11, FIRST, WORTH), assignment(12, SECOND, WORTH)]
    )
    with fake.serving():
        yield fake


@pytest.fixture
def course(tmp_path):
    """Return a course of which the folder is empty."""
    return Course(tmp_path)
