"""Home in a real JupyterLab: what opens, where its links lead, both themes."""

import json
import re
from collections import Counter

import pytest
from axe_playwright_python.sync_playwright import Axe

from autograder.course import Course
from autograder.system import find_browser
from tests.browser import (
    SCREENSHOTS,
    becomes_true,
    course_copy,
    lab_server,
    page_of,
)
from tests.test_browser import RIGHT, cell_with, run, type_into

LESSON = "01_dot_product_attention"
NOTEBOOK = f"{LESSON}.ipynb"
TAB = "01 · Dot-product attention"
SCROLLED = "document.querySelector('.jp-RenderedMarkdown').scrollTop > 0"
DARK = {"theme": "JupyterLab Dark", "adaptive-theme": False}
IS_IN_VIEW = """cell => { const {top} = cell.getBoundingClientRect();
    return top > 0 && top < innerHeight }"""

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.browser,
    pytest.mark.skipif(
        not find_browser(), reason="neither Chromium nor Chrome is here"
    ),
]


def tabs(page):
    """Return the titles of the open documents."""
    return page.locator(".lm-DockPanel-tabBar .lm-TabBar-tabLabel").all_inner_texts()


def preview(page):
    """Wait until home is drawn; return it."""
    page.locator(".jp-MarkdownViewer h1", has_text="Course").wait_for()
    return page.locator(".jp-MarkdownViewer")


def violations(page):
    """Return the rules of accessibility that home breaks, with the parts that do."""
    results = Axe().run(page, context=".jp-MarkdownViewer .jp-RenderedMarkdown")
    return {
        each["id"]: [node["html"] for node in each["nodes"]]
        for each in results.response["violations"]
    }


def picture(page, name):
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}.png")


@pytest.fixture(scope="module")
def stops(tmp_path_factory):
    """Start at home, solve an exercise, come back; then start again in the dark."""
    folder = course_copy(tmp_path_factory.mktemp("course"))
    stops = {}
    with lab_server(folder) as address, page_of(address) as page:
        home = preview(page)
        stops["address"] = address
        stops["first tabs"] = tabs(page)
        stops["list of files"] = page.locator(".jp-FileBrowser").is_visible()
        stops["bars"] = home.locator("progress").count()
        page.keyboard.press("PageDown")
        page.wait_for_function(SCROLLED)
        page.keyboard.press("PageUp")
        stops["light"] = violations(page)
        picture(page, "home-light")
        home.get_by_role("link", name="01 Dot-product attention").first.click()
        page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
        run(page, cell_with(page, "import numpy as np"))
        answer = cell_with(page, "def softmax(")
        type_into(page, answer, RIGHT)
        run(page, answer)
        check = cell_with(page, "check(softmax)")
        run(page, check)
        check.locator("a[href*='#cell-id=']").click()
        following = page.locator(".jp-MarkdownCell.jp-mod-active")
        following.wait_for()
        page.wait_for_function(IS_IN_VIEW, arg=following.element_handle())
        stops["tabs after the link"] = tabs(page)
        page.locator(".jp-Notebook").evaluate("each => each.scrollTop = 0")
        page.locator(".jp-Notebook").get_by_role("link", name="Home").first.click()
        preview(page)
        stops["tabs after home"] = tabs(page)
        page.keyboard.press("Control+s")
        becomes_true(page, lambda: any(NOTEBOOK in tab for tab in saved_tabs(folder)))
    stops["saved tabs"] = saved_tabs(folder)
    themes = folder / ".jupyter/lab/user-settings/@jupyterlab/apputils-extension"
    themes.mkdir(parents=True)
    (themes / "themes.jupyterlab-settings").write_text(json.dumps(DARK))
    with lab_server(folder) as address, page_of(address) as page:
        home = preview(page)
        page.locator("body[data-jp-theme-light=false]").wait_for(state="attached")
        stops["second tabs"] = tabs(page)
        stops["solved"] = home.inner_text().replace("\u00a0", " ")
        stops["dark"] = violations(page)
        picture(page, "home-dark")
    return stops


def saved_tabs(folder):
    """Return what is remembered of the open documents between two starts."""
    workspaces = (folder / "work" / ".tabs").glob("*.jupyterlab-workspace")
    return Counter(
        name for path in workspaces for name in json.loads(path.read_text())["data"]
    )


def test_lab_opens_home_as_a_page(stops):
    assert "/lab/tree/home.md?" in stops["address"]
    assert stops["first tabs"] == ["Home"]
    assert not stops["list of files"]
    assert stops["bars"] == 1 + len(Course.here().built_lessons)


def test_link_of_the_check_leads_to_the_next_thing_on_the_page(stops):
    assert stops["tabs after the link"] == ["Home", TAB]


def test_link_in_the_first_cell_leads_home(stops):
    assert stops["tabs after home"] == ["Home", TAB]


def test_second_start_closes_the_old_tabs(stops):
    assert any(NOTEBOOK in name for name in stops["saved tabs"])
    assert stops["second tabs"] == ["Home"]


def test_home_shows_what_was_solved(stops):
    assert re.search(r"\b1 of \d+ exercises solved", stops["solved"])
    assert re.search(r"softmax · solved$", stops["solved"], re.MULTILINE)
    assert "points" not in stops["solved"]
    assert re.search(r"vectors\?\s+similarity_attention", stops["solved"])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_home_breaks_no_rule_of_accessibility(stops, theme):
    assert stops[theme] == {}
