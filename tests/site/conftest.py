"""The small book, built once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.course import Course
from tests.browser import page_of
from tests.site.book import made_once, make_site, small_course


@pytest.fixture(scope="module")
def browser() -> Iterator:
    """Open an empty page, the same one for a file's tests.

    Playwright waits by evaluating texts, which the pages' policy forbids; the tests of
    pages that answer hold that policy.
    """
    with page_of("about:blank", bypass_csp=True) as page:
        yield page


@pytest.fixture(scope="session")
def course(tmp_path_factory) -> Path:
    """Return a course of two lessons whose book is built."""

    def make(root: Path) -> None:
        done = make_site(small_course(root))
        assert done.returncode == 0, done.stderr

    return made_once(tmp_path_factory, "small-course", make)


@pytest.fixture(scope="session")
def site(course) -> Path:
    """Return the folder of the small book's pages."""
    return (course / "build" / "site").resolve()


@pytest.fixture(scope="session")
def whole_site() -> Path:
    """Return the folder of the course's own book."""
    root = Course.here().root
    done = make_site(root)
    assert done.returncode == 0, done.stderr
    return (root / "build" / "site").resolve()
