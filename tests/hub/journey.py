"""What instructors and students do on the hub, in headless Chromium."""

import contextlib
from collections.abc import Iterator

from autograder.demo.sample_class import right_answer
from autograder.system import find_browser
from tests.browser import CHROMIUM_OPTIONS, SCREENSHOTS
from tests.hub.machine import PASSWORD
from tests.test_browser import cell_with, output_of, run, type_into

LESSON = "00_start_here"
PATIENCE = 180_000  # milliseconds, for a busy machine
MENU = ".lm-MenuBar-itemLabel"


@contextlib.contextmanager
def person(address: str, name: str) -> Iterator:
    """Log in; yield the page when the person's own server is there."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_browser(), args=CHROMIUM_OPTIONS
        )
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(PATIENCE)
        page.goto(f"{address}/hub/login")
        if name == "amara":
            pictures(page, "login")
        page.fill("#username_input", name)
        page.fill("#password_input", PASSWORD)
        page.click("#login_submit")
        page.wait_for_url(f"**/user/{name}/lab**")
        try:
            yield page
        finally:
            browser.close()


def pictures(page, name: str) -> None:
    """Save four screenshots: of a telephone's width and a screen's, light and dark."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    for width in (360, 1280):
        for scheme in ("light", "dark"):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)
            path = SCREENSHOTS / f"hub-{name}-{width}-{scheme}.png"
            page.screenshot(path=path)
    page.emulate_media(color_scheme="light")


def lessons_in_formgrader(page, address: str) -> list[str]:
    """Return the lessons that formgrader's first page lists, in the course's server."""
    page.goto(f"{address}/services/course/formgrader")
    names = page.locator("#main-table .name")
    names.first.wait_for()
    return names.all_inner_texts()


def menu_entries(page) -> list[str]:
    """Return what nbgrader's menu offers, and leave it open."""
    page.locator(MENU, has_text="Nbgrader").click()
    page.locator(".lm-Menu-itemLabel", has_text="Assignment List").wait_for()
    return page.locator(".lm-Menu-itemLabel").all_inner_texts()


def open_list(page) -> None:
    """Open the list of assignments, anew."""
    page.goto(f"{page.url.partition('/lab')[0]}/lab?reset")
    menu_entries(page)
    page.locator(".lm-Menu-itemLabel", has_text="Assignment List").click()
    page.locator("#assignments .item_name").first.wait_for()


def fetch(page) -> None:
    """Fetch the lesson from the list of assignments."""
    open_list(page)
    page.get_by_role("button", name="Fetch", exact=True).click()
    page.get_by_role("button", name="Submit", exact=True).wait_for()


def answer(page, address: str, name: str) -> str:
    """Write a right answer to the first exercise; return what its check says."""
    page.goto(f"{address}/user/{name}/lab/tree/{LESSON}/{LESSON}.ipynb?reset")
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
    page.locator('[data-jp-item-name="attention-course:check"]').wait_for()
    first = page.locator(".jp-Notebook .jp-CodeCell").first
    run(page, first)
    written = cell_with(page, "def softmax_by_hand(")
    type_into(page, written, right_answer("softmax_by_hand"))
    run(page, written)
    check = cell_with(page, "check(softmax_by_hand)")
    run(page, check)
    check.get_by_text("claims hold").first.wait_for()
    page.keyboard.press("Control+s")
    page.locator(".jp-mod-dirty").first.wait_for(state="detached")
    return output_of(check)


def submit(page, times: int) -> None:
    """Submit from the list; wait until it shows so many submissions."""
    open_list(page)
    page.get_by_role("button", name="Submit", exact=True).click()
    sent = page.locator("#submitted_assignments_list .nested_list_item")
    page.wait_for_function(
        "n => document.querySelectorAll("
        "'#submitted_assignments_list .nested_list_item').length >= n",
        arg=times,
    )
    assert sent.count() == times


def fetch_feedback(page) -> None:
    """Fetch the feedback from the list of assignments."""
    open_list(page)
    page.get_by_role("button", name="Fetch Feedback").first.click()
    page.get_by_text("(view feedback)").first.wait_for()


def open_feedback(page) -> list[str]:
    """Open the one page that came, from the list; return its lines.

    The link leads to its folder in the file browser.
    """
    page.get_by_text("(view feedback)").click()
    page.locator(".jp-DirListing-item", has_text=".html").dblclick()
    body = page.frame_locator(".jp-HTMLViewer iframe").locator("body")
    body.get_by_text("Feedback for").first.wait_for()
    return body.inner_text().splitlines()
