"""A lesson open in JupyterLab, in a real browser: what its tests share."""

import contextlib
import re
import time
from urllib.parse import urlsplit

import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe
from nbformat.reader import NotJSONError
from playwright.sync_api import expect

from autograder.course import Course
from autograder.system import find_browser
from tests.browser import PATIENCE, type_into

LESSON = "01_dot_product_attention"
BUTTONS = '.jp-Toolbar-item[data-jp-item-name^="attention-course:"] jp-button'
# But for what JupyterLab says of itself where it takes over five seconds to load.
FAULT = re.compile(r"error|warning(?!: Plugin \S+ .*(too long|ms) to activate\.$)")
NUMBER = re.compile(r"\[\d+\]:")  # a cell's, once it has run
SOFTMAX, SIMILARITY = 4, 8  # the answers' cells in `lesson`


browser = [
    pytest.mark.browser,
    pytest.mark.skipif(
        not find_browser(), reason="neither Chromium nor Chrome is here"
    ),
]


def lesson(stubs=True):
    """Return a short lesson of two exercises, with cells as the course has them.

    stubs : whether its answer cells know what the course put there
    """
    path = Course.here().learner(LESSON)
    notebook = nbformat.read(path, as_version=4)
    names = [
        cell.metadata.get("nbgrader", {}).get("grade_id") for cell in notebook.cells
    ]
    cells = notebook.cells[:2]
    for name in ("softmax", "similarity_attention"):
        at = names.index(name)
        cells += [nbformat.v4.new_markdown_cell(f"## Before {name}")]
        cells += notebook.cells[at - 1 : at + 2]
    for cell in cells:
        cell.metadata.pop("attention", None)
        if stubs and cell.metadata.get("nbgrader", {}).get("solution"):
            name = cell.metadata["nbgrader"]["grade_id"]
            line = f"from course_lib.attention import {name}"
            cell.metadata["attention"] = {"stub": cell.source, "course_version": line}
    return nbformat.v4.new_notebook(metadata=notebook.metadata, cells=cells)


def answer_in(path, at=SOFTMAX):
    """Return an answer's cell as the file has it.

    JupyterLab empties the file before it writes, so there may be nothing in it yet.
    """
    for _ in range(PATIENCE // 100):
        with contextlib.suppress(NotJSONError):
            return nbformat.read(path, as_version=4).cells[at]
        time.sleep(0.1)
    raise AssertionError(f"no notebook in {path}")


# Close the notebooks, each with its kernel, once that has been reached: JupyterLab
# warns of one that ends before.
CLOSE = """async () => {
    for (const each of [...window.jupyterapp.shell.widgets("main")]) {
        const session = each.context?.sessionContext;
        await session?.ready;
        await session?.session?.kernel?.info;
        await session?.shutdown();
        each.dispose();
    }
}"""
# Open a notebook as a click in the file browser does, in place of the launcher.
OPEN = """async path => {
    const { commands, shell } = window.jupyterapp;
    const launchers = [...shell.widgets("main")];
    await commands.execute("docmanager:open", { path });
    launchers.forEach(each => each.dispose());
}"""
# Whether a page can do both: where a test is tried once more, its notebook is open.
CAN_OPEN = """path => window.jupyterapp !== undefined &&
    ![...jupyterapp.shell.widgets("main")].some(each => each.context?.path === path)"""
# What an earlier test has left open, other than notebooks.
LEFT_OPEN = ".jp-Dialog, .Toastify__toast, .jp-ModalCommandPalette:not(.lm-mod-hidden)"


def expose_the_app(folder):
    """Let JupyterLab's pages of a course folder be opened once, for many notebooks."""
    settings = folder / ".jupyter"
    settings.mkdir()
    text = '{"LabApp": {"expose_app_in_browser": true}}'
    (settings / "jupyter_lab_config.json").write_text(text)


@contextlib.contextmanager
def opened(server, name, notebook, buttons=True, width=1100, fresh=False):
    """Open a notebook of its own in the server; errors in the console are failures.

    buttons : whether our buttons will be there
    width : of the window
    fresh : whether JupyterLab is loaded for it

    JupyterLab is loaded again only where that matters: it takes four seconds of
    processor time.
    """
    work, address, window = server
    path = work / f"{name}.ipynb"
    nbformat.write(notebook, path)
    page = None if fresh or not buttons or width != 1100 else _in_use(window, path)
    is_new = page is None
    page = page or window.new_page()
    page.set_viewport_size({"width": width, "height": 1300})
    page.set_default_timeout(PATIENCE)
    errors, requests = [], []
    listeners = {
        "console": lambda each: errors.append(f"{each.type}: {each.text}"),
        "pageerror": lambda error: errors.append(f"error: {error}"),
        "request": lambda request: requests.append(request.url),
    }
    for event, listener in listeners.items():
        page.on(event, listener)
    page.errors = errors
    stays = False
    try:
        if is_new:
            page.goto(
                at_server(address, f"/lab/tree/{path.name}?reset&{address.query}")
            )
        else:
            page.evaluate(OPEN, path.name)
        page.locator(".jp-Notebook .jp-CodeCell").first.wait_for()
        if buttons:
            page.locator(BUTTONS).last.wait_for()
        else:
            page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
        yield page, path
        stays = width == 1100
    finally:
        for event, listener in listeners.items():
            page.remove_listener(event, listener)
        if not stays:
            page.close()
    faults = [each for each in errors if FAULT.match(each)]
    assert faults == [], faults
    hosts = {urlsplit(each).netloc for each in requests} - {""}  # "": data and blobs
    assert hosts == {address.netloc}


def _in_use(window, path):
    """Return the page of JupyterLab that a test has left as it came, or None."""
    for page in window.pages:
        if "/lab/tree/" in page.url:
            notices = page.locator(".jp-Notification-Toast-Close")
            if notices.count():
                notices.evaluate_all("all => all.forEach(each => each.click())")
                page.wait_for_timeout(1000)  # they move out of sight
            is_as_it_came = page.locator(LEFT_OPEN).count() == 0
            if is_as_it_came and page.evaluate(CAN_OPEN, path.name):
                page.bring_to_front()  # Chromium draws one behind once a second
                page.mouse.move(0, 0)
                page.evaluate(CLOSE)
                return page
            page.close()
    return None


def at_server(address, path):
    return f"{address.scheme}://{address.netloc}{path}"


def button(page, name):
    return page.locator(BUTTONS).and_(page.get_by_label(name, exact=True))


def press(page, name):
    """Go to a button with the keyboard alone, and press it."""
    page.locator(".jp-NotebookPanel-toolbar jp-button[tabindex='0']").focus()
    for _ in range(20):
        if page.evaluate("document.activeElement.getAttribute('aria-label')") == name:
            page.keyboard.press("Enter")
            return
        page.keyboard.press("ArrowLeft")
    raise AssertionError(f"the arrows do not lead to {name}")


def cell(page, at):
    each = page.locator(".jp-Notebook .jp-Cell").nth(at)
    each.scroll_into_view_if_needed()
    return each


def write(page, at, source):
    type_into(page, cell(page, at), source)


def run(page, at):
    """Run a code cell, and wait for its number."""
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
    cell(page, at).locator(".jp-InputPrompt").click()
    page.keyboard.press("Control+Enter")
    expect(cell(page, at).locator(".jp-InputPrompt")).to_have_text(NUMBER)


def save(page):
    page.keyboard.press("Control+s")
    page.locator(".jp-mod-dirty").first.wait_for(state="detached")


def assert_accessible(page, selector):
    results = Axe().run(page, context={"include": [[selector]]})
    assert results.response["violations"] == []
    assert results.response["passes"] != []
