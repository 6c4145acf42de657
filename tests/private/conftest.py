"""Course folders with a private lesson; afterwards none is known any more."""

import pytest

from autograder.course import private
from autograder.notebooks.build import build
from tests.private.sample_course import HERE, LESSON, make_course

collect_ignore = ["sample"]  # modules of a private folder, importable there alone


@pytest.fixture(autouse=True, scope="module")
def nothing_stays():
    yield
    private.use(HERE.root)


@pytest.fixture
def course(tmp_path):
    made = make_course(tmp_path / "course")
    private.use(made.root)
    return made


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Build the lesson once for a module, whose tests change nothing in it."""
    made = make_course(tmp_path_factory.mktemp("built") / "course")
    build(made, LESSON)
    return made


@pytest.fixture(autouse=True)
def use_the_built_one(request):
    if "built" in request.fixturenames:
        private.use(request.getfixturevalue("built").root)
