"""No page of the book gives a prediction away before it is made."""

import pytest

from autograder.course import Course
from tests.site.book import LESSONS
from tests.spoilers import BOOK_BLOCKS, spoilers_on

pytestmark = pytest.mark.browser
COURSE = Course.here()


def given_away(browser, site, lesson):
    """Return a sentence for each prediction that a lesson's page gives away."""
    browser.goto(f"{site.as_uri()}/{lesson}/{lesson}.html")
    browser.evaluate("localStorage.clear()")
    browser.reload()
    browser.wait_for_load_state("load")
    return spoilers_on(COURSE, lesson, browser.evaluate(BOOK_BLOCKS))


@pytest.mark.parametrize("lesson", LESSONS)
def test_small_book_gives_no_guess_away(browser, site, lesson):
    assert given_away(browser, site, lesson) == []


@pytest.mark.thorough
@pytest.mark.parametrize("lesson", COURSE.lessons)
def test_book_gives_no_guess_away(browser, whole_site, lesson):
    assert given_away(browser, whole_site, lesson) == []
