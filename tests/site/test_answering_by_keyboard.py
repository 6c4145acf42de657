"""The first lessons' exercises, answered wrong and right in Chromium by keyboard alone.

A page starts Python anew, which costs seconds. So each exercise is opened once: the
wrong answer is checked at one width in one theme, the right one at the other width in
the other theme, and every second exercise begins with the dark one.
"""

import json
import shutil

import pytest
from axe_playwright_python.sync_playwright import Axe
from bs4 import BeautifulSoup
from playwright.sync_api import expect

from autograder.book.in_page.check import check_text
from autograder.book.live import write_live
from autograder.checking.registry import load
from autograder.course import Course
from autograder.demo.sample_class import (
    right_answer,
    written_misconceptions,
    wrong_answer,
)
from tests.browser import becomes_true
from tests.site import pyodide
from tests.site.book import make_site
from tests.site.test_answering_in_a_browser import (
    DESK,
    MISCONCEPTION,
    NEEDS_PYODIDE,
    PHONE,
    chromium,
    served,
    visited,
)
from tests.site.test_in_a_browser import AXE
from tests.site.test_wheel import FIRST_LESSONS

__all__ = ["chromium"]  # a fixture
pytestmark = [pytest.mark.browser, pytest.mark.thorough, NEEDS_PYODIDE]
SIZES = (PHONE, DESK)
THEMES = ("light", "dark")
MOST_TABS = 200
FOCUSED = "each => each === document.activeElement"
FOCUSED_TEXT = "document.activeElement.textContent"
THEME_OF_PAGE = "document.documentElement.dataset.theme"
WIDTH = "document.documentElement.scrollWidth"
# Transparent while it fades in, which would be seen as too little contrast.
AT_REST = "Promise.all(document.getAnimations().map(each => each.finished))"


@pytest.fixture(scope="module")
def first_lessons(tmp_path_factory):
    """Return the folder of a book of lessons 00 to 06 with Pyodide in it."""
    here, root = Course.here(), tmp_path_factory.mktemp("course")
    shutil.copy(here.root / "nbgrader_config.py", root)
    lessons = sorted({load(name).lesson for name in FIRST_LESSONS})
    for folder in here.root.glob("solutions/0[0-6]_*"):
        for part in ("solutions", "notebooks"):
            shutil.copytree(here.root / part / folder.name, root / part / folder.name)
    assert len(lessons) == len([*root.glob("solutions/*")]) == 7
    done = make_site(root)
    assert done.returncode == 0, done.stderr
    site = (root / "build" / "site").resolve()
    write_live(site, pyodide.FOLDER)
    return site


@pytest.fixture(scope="module")
def address(first_lessons):
    """Return where that book is served."""
    with served(first_lessons) as address:
        yield address


def wrong_and_diagnosis(site, name):
    """Return a misconception as text, and the sentence that a page has for it.

    The first one that is named as written out; else the first one of the bank.
    """
    html = (site / "exercises" / f"{name}.html").read_text(encoding="utf-8")
    script = BeautifulSoup(html, "lxml").select_one(".live script")
    about = json.loads(script.string)
    earlier = dict.fromkeys(about["uses"], "")
    exercise = load(name)
    texts = [
        *(
            (wrong_answer(name, m.name), m)
            for m in written_misconceptions(exercise)[:3]
        ),
        *(
            (MISCONCEPTION.format(name=name, which=m.name), m)
            for m in exercise.misconceptions
        ),
    ]
    for text, misconception in texts:
        result = check_text(name, text, earlier, about["imports"])
        if result["data"] and result["data"]["diagnosis"] == misconception.name:
            return text, misconception.diagnosis
    raise LookupError(name)


def tab_to(page, element):
    """Press the Tab key until an element has the focus."""
    for _ in range(MOST_TABS):
        if element.evaluate(FOCUSED):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{MOST_TABS} times Tab do not lead there")


def see(page, size, theme):
    """Set a page's size and theme."""
    page.set_viewport_size(size)
    page.emulate_media(color_scheme=theme)
    becomes_true(page, lambda: page.evaluate(THEME_OF_PAGE) == theme)


def write(page, editor, text):
    """Write a text in place of what the editor, which has the focus, holds."""
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(text)
    assert editor.input_value() == text


def assert_fits(page, size):
    """Assert that a page is no wider than its window, and that axe finds nothing."""
    assert page.evaluate(WIDTH) <= size["width"]
    page.evaluate(AT_REST)
    broken = Axe().run(page, context=".live", options=AXE).response["violations"]
    assert [(each["id"], each["nodes"][0]["html"]) for each in broken] == []


@pytest.mark.parametrize("name", FIRST_LESSONS)
def test_wrong_then_right_by_keyboard(first_lessons, address, chromium, name):
    number = FIRST_LESSONS.index(name)
    first, last = SIZES[:: (-1) ** (number // 2)]
    theme, other = THEMES[:: (-1) ** number]
    wrong, diagnosis = wrong_and_diagnosis(first_lessons, name)
    exercise = f"{address}exercises/{name}.html"
    with visited(chromium, exercise, viewport=first) as page:
        see(page, first, theme)
        editor = page.get_by_role("textbox", name=f"Your {name}", exact=True)
        report, status = page.locator(".live-report"), page.locator(".live-status")
        tab_to(page, editor)
        assert_fits(page, first)

        write(page, editor, wrong)
        page.keyboard.press("Shift+Enter")
        expect(report.get_by_role("region")).to_be_visible()
        assert diagnosis in report.inner_text()
        expect(report.get_by_text(diagnosis)).to_be_in_viewport()
        assert status.text_content() in report.inner_text()
        assert editor.evaluate(FOCUSED)
        assert_fits(page, first)

        see(page, last, other)
        write(page, editor, f"{right_answer(name)}\n")
        expect(page.locator(".live-stale")).to_be_visible()
        page.keyboard.press("Escape")
        page.keyboard.press("Tab")
        assert page.evaluate(FOCUSED_TEXT) == "Check"
        page.keyboard.press("Enter")
        expect(status).to_contain_text(f"{name}: solved, all")
        assert status.text_content() in report.inner_text()
        expect(report.get_by_text("solved, all")).to_be_in_viewport()
        expect(page.locator(".live-mark")).to_have_text("✓ solved")
        assert page.evaluate(FOCUSED_TEXT) == "Check"
        page.keyboard.press("Shift+Tab")
        assert editor.evaluate(FOCUSED)
        assert_fits(page, last)
