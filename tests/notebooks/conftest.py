"""A course folder with one lesson whose exercises exist only here."""

import shutil

import pytest

from autograder.course import Course
from autograder.notebooks import build as builder
from autograder.notebooks.build import build
from tests.notebooks.one_lesson import HERE, TEXT
from tests.synthetic import (
    DOUBLE,
    LESSON,
    Registry,
    write_lesson,
)


@pytest.fixture
def folder(tmp_path):
    """Make a course folder with one lesson whose exercises exist only here."""
    root = tmp_path / "course"
    root.mkdir()
    shutil.copy(HERE.root / "nbgrader_config.py", root)
    (root / "stub.py").write_text("def check(f):\n    print(f.__name__, 'checked')\n")
    write_lesson(root, TEXT)
    return Course(root)


@pytest.fixture
def registry(tmp_path, monkeypatch):
    registry = Registry(tmp_path, monkeypatch)
    registry.add(DOUBLE, "double")
    return registry


@pytest.fixture
def unexecuted(monkeypatch):
    """Leave the cells unexecuted where a test is about something else."""
    monkeypatch.setattr(builder, "execute", lambda notebook, source, root: None)


@pytest.fixture
def built(folder, registry, unexecuted):
    build(folder, LESSON)
    return folder
