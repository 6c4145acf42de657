"""The learner's journey through lesson 01 in a real JupyterLab."""

import re

import nbformat
import pytest

from autograder.system import find_browser
from tests.browser import SCREENSHOTS, course_copy, lab_server, page_of, type_into

LESSON = "01_dot_product_attention"
WRONG = """def softmax(x, axis=-1):
    exponentials = np.exp(x)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)"""
RIGHT = """def softmax(x, axis=-1):
    exponentials = np.exp(1.0 * x - x.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)"""

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        not find_browser(), reason="neither Chromium nor Chrome is here"
    ),
]


def cell_with(page, text):
    """Find the code cell whose source contains a text."""
    cells = page.locator(".jp-Notebook .jp-CodeCell")
    cell = cells.filter(has=page.locator(".jp-InputArea", has_text=text)).first
    cell.scroll_into_view_if_needed()
    return cell


def run(page, cell):
    cell.locator(".cm-content").focus()
    page.keyboard.press("Control+Enter")


def output_of(cell):
    """Return the text of a cell's output, even if the browser has not drawn it yet."""
    return cell.locator(".jp-OutputArea").text_content()


def picture(page, name):
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}.png")


@pytest.fixture(scope="module")
def journey(tmp_path_factory):
    """Walk the journey once; return what the page shows at each stop."""
    folder = course_copy(tmp_path_factory.mktemp("course"))
    stops = {}
    with lab_server(folder, "01") as address, page_of(address) as page:
        page.locator(".jp-Notebook").wait_for()
        page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
        picture(page, "1-open")
        buttons = page.locator('[data-jp-item-name^="attention-course:"] jp-button')
        titles = buttons.evaluate_all("all => all.map(each => each.title)")
        stops["titles"] = titles
        stops["code"] = page.locator(".jp-CodeCell .cm-content").first.get_attribute(
            "class"
        )
        stops["title"] = page.title()
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        check = cell_with(page, "check(softmax)")
        error = check.get_by_text("CheckFailed")
        error.wait_for(state="attached")
        check.get_by_text("is not written yet").first.wait_for()
        stops["stub"] = output_of(check)
        stops["error"] = error.is_visible()
        after = cell_with(page, "weights = softmax(scores)")
        stops["after the stub"] = after.locator(".jp-OutputArea-output").count()
        check.scroll_into_view_if_needed()
        picture(page, "2-first-stub")

        answer = cell_with(page, "def softmax(")
        type_into(page, answer, WRONG)
        run(page, answer)
        run(page, check)
        check.get_by_text("claims hold").first.wait_for()
        stops["wrong"] = output_of(check)
        check.scroll_into_view_if_needed()
        picture(page, "3-wrong-answer")

        type_into(page, answer, RIGHT)
        run(page, answer)
        run(page, check)
        check.get_by_text("all").first.wait_for()
        page.wait_for_function(
            "cell => !cell.textContent.includes('✗')", arg=check.element_handle()
        )
        stops["right"] = output_of(check)
        picture(page, "4-right-answer")

        stops["validate"] = page.get_by_role("button", name="Validate").count()
        page.keyboard.press("Control+s")
        page.locator(".jp-mod-dirty").first.wait_for(state="detached")
    saved = folder / "work" / LESSON / f"{LESSON}.ipynb"
    stops["saved"] = nbformat.read(saved, as_version=4)
    return stops


def test_lesson_opens(journey):
    assert journey["title"].startswith(LESSON[:12])


def test_tooltips_name_the_shortcuts(journey):
    check, hint, *_ = journey["titles"]
    assert check.endswith("(Alt+Shift+Enter)") and hint.endswith("(Alt+Shift+H)")


def test_long_lines_of_code_are_wrapped(journey):
    assert "cm-lineWrapping" in journey["code"]


def test_run_all_stops_at_the_first_stub(journey):
    assert "softmax is not written yet" in journey["stub"]
    assert "Traceback" not in journey["stub"]
    assert journey["after the stub"] == 0


def test_error_of_a_failed_check_is_out_of_sight(journey):
    assert "CheckFailed" in journey["stub"]  # for programs
    assert not journey["error"]


def test_wrong_answer_is_named(journey):
    assert "✗" in journey["wrong"]
    assert "What may you do to all scores of a row" in journey["wrong"]


def test_right_answer_gets_a_tick_per_claim(journey):
    claims = int(re.search(r"all (\d+) claims hold", journey["right"])[1])
    assert claims == journey["right"].count("✓") >= 5


def test_toolbar_has_check_and_not_validate(journey):
    assert journey["validate"] == 0


def test_answer_is_saved_in_the_learners_copy(journey):
    sources = [cell.source for cell in journey["saved"].cells]
    assert RIGHT in sources
