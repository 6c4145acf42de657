"""The page answers in Firefox too, with and without a server."""

import shutil
import time

import pytest

from autograder.book.live import write_live
from tests.site import pyodide
from tests.site.firefox import (
    CONTROL,
    ENTER,
    MISSING,
    PATIENCE,
    PROGRAM,
    SHIFT,
    firefox,
)
from tests.site.test_answering_in_a_browser import (
    FIRST_AXIS,
    NEEDS_PYODIDE,
    RIGHT,
    SOFTMAX,
    WRONG,
)
from tests.site.test_offline import IN_CACHES, Served

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
COUNT = "({ files = [], pages = [] }) => files.length + pages.length"
REPORT = "document.querySelector('.live-report').textContent"


def waited(claim):
    """Return what a function returns as soon as that is true."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if result := claim():
            return result
        time.sleep(0.2)
    raise AssertionError("it did not become true")


def checked(page, text):
    """Write an answer and check it by keyboard; return the report's text."""
    page.evaluate(
        "document.querySelector('.live-report').replaceChildren(); "
        "document.querySelector('.live textarea').focus()"
    )
    page.press(CONTROL, "a")
    page.evaluate(f"document.execCommand('insertText', false, {text!r})")
    page.press(SHIFT, ENTER)
    return waited(lambda: page.evaluate(REPORT))


@NEEDS_PYODIDE
@pytest.mark.skipif(PROGRAM is None, reason=MISSING)
def test_firefox_answers_and_answers_again_without_a_server(site, tmp_path):
    folder = tmp_path / "site"
    shutil.copytree(site, folder)
    write_live(folder, pyodide.FOLDER)
    server = Served(folder)
    with firefox() as page:
        page.goto(f"{server.address}{SOFTMAX}")
        assert FIRST_AXIS in checked(page, WRONG)
        waited(lambda: page.evaluate(f"({IN_CACHES})().then({COUNT})") > 25)
        server.stop()
        page.goto(f"{server.address}{SOFTMAX}")
        assert "solved, all 5 claims hold" in checked(page, RIGHT)
