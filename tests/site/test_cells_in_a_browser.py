"""Cells of a lesson run and changed in its page, in Chromium, without any network."""

import json

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.site.book import LESSON
from tests.site.test_answering_in_a_browser import (
    DESK,
    NEEDS_PYODIDE,
    PHONE,
    answering,
    chromium,
    visited,
)
from tests.site.test_in_a_browser import AXE

__all__ = ["answering", "chromium"]  # fixtures

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
KEYS, PICTURE = "looking-something-up-2", "looking-something-up-3"
SOFTMAX_USED = "from-scores-to-weights-6"
SEVENS = "def softmax(x, axis=-1):\n    return x * 0 + 7\n"
FORGED_HTML = """class Forged:
    def _repr_html_(self):
        return ("<p onclick=x()>A table</p><table><tr><td>1</td></tr></table>"
                "<script>document.title = 1</script><a href=/forged.html>On</a>"
                "<img src=x onerror=document.title=2><form><button>Go</button></form>")
Forged()
"""
FORGED_SVG = """from course_lib.figures import curves, drawing
svg = drawing.AccessibleFigure.svg
drawing.AccessibleFigure.svg = lambda self: svg(self).replace("</svg>",
    "<script>document.title = 3</script><a href='/forged.html'><text>On</text></a>"
    "<style>p {color: red}</style><foreignObject><p>On</p></foreignObject>"
    "<path onclick='x()' d='M 0 0'/><use href='/forged.html#x'/></svg>")
curves([1, 2], {"a": [1, 2]}, xlabel="x", ylabel="y", alt="A forged drawing.")
"""


def cell_of(page, name):
    """Return the cell of a lesson's page that has an id in the notebook."""
    about = json.loads(page.locator(".live-cells script").text_content())
    names = [each.get("id") for each in about["cells"]]
    return page.locator(f".cell.tag_live-{names.index(name)}")


def button(cell, name):
    """Return a button below a cell."""
    return cell.get_by_role("button", name=f"{name}, cell")


def changed(cell, text):
    """Open the editor of a cell, and write a text into it."""
    if button(cell, "Edit").is_visible():
        button(cell, "Edit").press("Enter")
    editor = cell.get_by_role("textbox")
    expect(editor).to_be_focused()
    editor.page.keyboard.press("Control+A")
    editor.page.keyboard.insert_text(text)
    return editor


def finished(cell):
    """Wait for what a cell shows after it was run; return that part of the page."""
    expect(button(cell, "Stop")).to_be_hidden()
    expect(cell.locator(".live-own")).to_have_text("from your run")
    return cell.locator(".live-output")


@NEEDS_PYODIDE
@pytest.mark.parametrize("viewport", [PHONE, DESK], ids=["phone", "desk"])
def test_changed_cell_feeds_a_living_picture(answering, chromium, viewport):
    with visited(chromium, f"{answering}{LESSON}", viewport=viewport) as page:
        keys, picture = cell_of(page, KEYS), cell_of(page, PICTURE)
        stored = picture.locator(".cell_output").first
        expect(stored.locator("figure.living[data-live='yes']")).to_be_attached()
        button(picture, "Run all above").press("Enter")
        finished(keys)
        button(picture, "Run").press("Enter")
        output = finished(picture)
        expect(stored).to_be_hidden()
        alive = output.locator("figure.living[data-live='yes']")
        expect(alive).to_be_visible()
        before = alive.inner_text()
        button(keys, "Edit").press("Enter")
        text = keys.get_by_role("textbox").input_value()
        other = text.replace("[3.0, 0.5]", "[0.1, 9.5]")
        changed(keys, other)
        page.keyboard.press("Shift+Enter")
        finished(keys)
        button(picture, "Run").press("Enter")
        expect(alive).not_to_have_text(before)
        assert (
            page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
        )
        for context in (".live-cell", ".live-output", ".live-code"):
            assert Axe().run(page, context=context, options=AXE).violations_count == 0
        page.reload()
        expect(keys.get_by_role("textbox")).to_have_value(other)
        button(keys, "Original").press("Enter")
        expect(keys.locator(".cell_input")).to_be_visible()
        page.reload()
        expect(keys.locator(".cell_input")).to_be_visible()


@NEEDS_PYODIDE
def test_wrong_cell_shows_its_error_and_endless_one_stops(answering, chromium):
    with visited(chromium, f"{answering}{LESSON}") as page:
        cell = cell_of(page, SOFTMAX_USED)
        # Names of cells above: these are run first.
        button(cell, "Run").press("Enter")
        output = finished(cell)
        expect(output).to_contain_text("0.7939")
        expect(output).to_contain_text("Run with the course's softmax.")
        editor = changed(cell, "print('first')\nscores @ np.zeros(7)")
        page.keyboard.press("Shift+Enter")
        expect(output.locator(".live-error")).to_contain_text("ValueError")
        expect(output).to_contain_text("first")
        changed(cell, "while True:\n    pow(3, 10**7)")
        page.keyboard.press("Shift+Enter")
        button(cell, "Stop").click()
        expect(output).to_contain_text("Stopped. Python starts anew.")
        editor.focus()
        changed(cell, "print(len(k))")
        page.keyboard.press("Shift+Enter")
        expect(output.locator(".live-printed")).to_have_text("3\n")
        button(cell, "Original").click()
        expect(output).to_be_hidden()
        expect(cell.locator(".cell_output").first).to_contain_text("0.7939")


@NEEDS_PYODIDE
def test_cell_calls_the_answer_that_the_reader_has_written(answering, chromium):
    with visited(chromium, f"{answering}{LESSON}") as page:
        page.locator("#answer-softmax").fill(SEVENS)
        cell = cell_of(page, SOFTMAX_USED)
        button(cell, "Run").press("Enter")
        output = finished(cell)
        expect(output).to_contain_text("Run with your own softmax.")
        expect(output).to_contain_text("7.0000 7.0000 7.0000")


@NEEDS_PYODIDE
def test_what_a_cell_shows_leads_nowhere(answering, chromium):
    # The console says that the page's policy lets no handler through either.
    with visited(chromium, f"{answering}{LESSON}", faultless=False) as page:
        title = page.title()
        cell = cell_of(page, KEYS)
        output = cell.locator(".live-output")
        changed(cell, FORGED_HTML)
        page.keyboard.press("Shift+Enter")
        expect(output.locator("td")).to_have_text("1")
        assert output.locator("script, a, img, form, [onclick]").count() == 0
        changed(cell, FORGED_SVG)
        page.keyboard.press("Shift+Enter")
        drawing = output.locator("figure.drawing[data-inline] svg")
        expect(drawing).to_be_visible()
        forged = "script, a, style:not(defs > style), foreignObject, [onclick]"
        assert drawing.locator(forged).count() == 0
        assert drawing.locator("use[href^='/']").count() == 0
        assert page.title() == title


def test_cell_that_does_not_run_says_what_it_needs(answering, chromium):
    with visited(chromium, f"{answering}{LESSON}") as page:
        lines = page.locator(".live-needs")
        expect(lines).to_have_count(2)
        expect(lines.first).to_have_text(
            "Needs PyTorch: the output is stored; make lab runs it."
        )
        about = json.loads(page.locator(".live-cells script").text_content())
        cells = [each for each in about["cells"] if not each.get("exercise")]
        running = [each for each in cells if not each.get("needs")]
        assert len(running) > 20 and len(cells) == len(running) + 2
        expect(page.locator(".live-cell")).to_have_count(len(running))


def test_page_without_scripts_has_no_buttons(answering, chromium):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{answering}{LESSON}")
    assert page.locator(".live-cell, .live-needs").count() == 0
    expect(page.locator(".cell_output").first).to_be_visible()
    context.close()
