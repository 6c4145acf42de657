"""Feedback pages in headless Chromium: for everybody, on screens and on paper."""

import json
from dataclasses import replace

import pytest
from axe_playwright_python.sync_playwright import Axe

from autograder.gradebook.autograded import autograded_notebook
from autograder.grading.result import SubmissionResult
from tests.browser import recorded
from tests.gradebook.test_feedback import (
    COMMENT,
    REASON,
    grades_of,
    hostile,
    notebook,
    page_text,
    unwritten,
)
from tests.submissions import COURSE, EXERCISES, LESSON

pytestmark = [pytest.mark.browser, pytest.mark.thorough]

LONG_LINE = "weights = " + " + ".join(f"softmax(scores_{n})" for n in range(40))
FOLD = "document.querySelectorAll('details').forEach(each => each.open = {})"


@pytest.fixture
def show(browser, tmp_path):
    """Open a page, all of it unfolded; it must not request or say anything."""

    def open_page(html, width, media):
        path = tmp_path / "feedback.html"
        path.write_text(html, encoding="utf-8")
        browser.set_viewport_size({"width": width, "height": 900})
        paper = {"media": "print", "color_scheme": "dark"}  # a dark screen prints, too
        screen = {"media": "screen", "color_scheme": media}
        browser.emulate_media(**(paper if media == "print" else screen))
        browser.goto(path.as_uri())
        return browser

    with recorded(browser) as requests:
        yield open_page
    assert {*requests} <= {(tmp_path / "feedback.html").as_uri()}


def mixed():
    """Return a page with each kind of exercise and each remark that there can be."""
    full, by_hand, undecided, missing, dropped, excused = EXERCISES[:6]
    change = {
        full: {"auto": 3.0},
        by_hand: {"manual": 1.5, "extra": 1.0, "comment": COMMENT},
        undecided: {"needs_manual_grade": True},
    }
    names = {"first_name": "Amara", "last_name": "Okafor", "timestamp": "2026-11-22"}
    late = {"late_penalty": 2.5, "extension_hours": 48.0}
    grades = grades_of(change=change, **names, **late)
    counted = [e for e in grades.exercises if e.exercise not in (dropped, excused)]
    graded = notebook(
        "\n".join([LONG_LINE] * 13),
        exercises=tuple(unwritten(missing)),
        excused=(excused,),
        repairs=("A cell is back.",),
    )
    return page_text(graded, replace(grades, exercises=tuple(counted)))


def invalid():
    result = SubmissionResult("pavel", LESSON, "invalid", (), REASON)
    graded = json.loads(autograded_notebook(COURSE, (), result, {}))
    return page_text(graded, grades_of("pavel", {"softmax": {"comment": COMMENT}}))


def full():
    points = {name: {"auto": 3.0} for name in EXERCISES}
    return page_text(notebook("x = 1"), grades_of(change=points))


@pytest.mark.parametrize("media", ["light", "dark", "print"])
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("make", [mixed, invalid, full, hostile])
def test_page_is_for_everybody_and_fits(show, make, width, media):
    page = show(make(), width, media)
    page.evaluate(FOLD.format("true"))
    results = Axe().run(page)
    assert results.violations_count == 0, results.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    cut_off = "each => each.scrollWidth > each.clientWidth"  # paper cannot be scrolled
    pieces = page.locator("pre").all() if media == "print" else []
    assert not any(piece.evaluate(cut_off) for piece in pieces)


def test_paper_does_not_name_what_it_folds_away(show):
    page = show(mixed(), 688, "light")  # the width of A4 between its margins
    folded = page.locator("summary", has_text="Your answer (13 lines)")
    page.evaluate(FOLD.format("false"))
    assert folded.filter(visible=True).count() > 1
    page.emulate_media(media="print")
    assert folded.filter(visible=True).count() == 0
