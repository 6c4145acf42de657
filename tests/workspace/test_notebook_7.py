"""A lesson in Jupyter Notebook 7: the buttons are there, and what they do."""

import os
import shutil
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from autograder.course import Course
from autograder.workspace.copies import open_workspace
from autograder.workspace.home import write_home
from autograder.workspace.lab import EXTENSIONS
from tests.browser import PATIENCE, SCREENSHOTS, course_copy, jupyter_server, page_of
from tests.workspace.lesson_in_lab import BUTTONS, at_server, browser

pytestmark = [*browser, pytest.mark.thorough]
LESSON = "01_dot_product_attention"
WRONG = """\
def softmax(x, axis=-1):
    e = np.exp(x)
    return e / e.sum(axis=axis)"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Yield the address of Notebook 7 with the buttons where an install puts them."""
    share = tmp_path_factory.mktemp("share")
    shutil.copytree(EXTENSIONS, share / "labextensions")
    folder = course_copy(tmp_path_factory.mktemp("course"))
    open_workspace(Course(folder))
    write_home(Course(folder))
    before = os.environ.get("JUPYTER_PATH")
    os.environ["JUPYTER_PATH"] = str(share)
    options = ("--allow-root", f"--ServerApp.root_dir={folder / 'work'}")
    try:
        with jupyter_server(folder, "notebook", *options) as (address, _):
            yield urlsplit(address)
    finally:
        if before is None:
            del os.environ["JUPYTER_PATH"]
        else:
            os.environ["JUPYTER_PATH"] = before


def test_buttons_check_an_answer_and_lead_home(server):
    with page_of("about:blank") as page:
        page.set_viewport_size({"width": 1100, "height": 1300})
        page.set_default_timeout(PATIENCE)
        path = f"/notebooks/{LESSON}/{LESSON}.ipynb?{server.query}"
        page.goto(at_server(server, path))
        page.locator(BUTTONS).nth(4).wait_for()
        cells = page.locator(".jp-CodeCell")
        cells.first.locator(".jp-InputPrompt").click()
        page.keyboard.press("Control+Enter")
        expect(cells.first.locator(".jp-InputPrompt")).to_have_text("[1]:")
        answer = cells.filter(has_text="def softmax").first
        answer.scroll_into_view_if_needed()
        answer.locator(".cm-content").click()
        page.keyboard.press("Control+a")
        page.keyboard.insert_text(WRONG)
        page.locator(BUTTONS).first.click()
        report = page.locator('[aria-label^="check of softmax"]')
        expect(report).to_contain_text("softmax: 0 of 5 claims hold")
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=SCREENSHOTS / "notebook-7.png")
        with page.context.expect_page() as opened:
            page.locator(BUTTONS).nth(4).click()
        expect(opened.value.get_by_text("The Attention Course")).to_be_visible()
