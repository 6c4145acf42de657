"""What these modules share: an engine for each, and the folder of a class."""

import shutil

import pytest

from tests.grading.engines import engine_of
from tests.submissions import COURSE, open_course


@pytest.fixture(scope="module")
def engine():
    with engine_of(COURSE) as started:
        yield started


@pytest.fixture(scope="module")
def sandbox(engine):
    return engine.sandbox


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """Make a course folder without submissions."""
    return open_course(tmp_path_factory.mktemp("original") / "course")


@pytest.fixture
def root(original, tmp_path, monkeypatch):
    folder = tmp_path / "course"
    shutil.copytree(original, folder)
    monkeypatch.chdir(folder)
    return folder
