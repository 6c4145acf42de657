"""What the course adds to JupyterLab: buttons in a lesson's toolbar, predictions."""

import contextlib
import hashlib
import json
import re
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from autograder.course import Course
from autograder.system import find_browser
from autograder.workspace.lab import EXTENSIONS
from tests.browser import (
    SCREENSHOTS,
    becomes_true,
    course_copy,
    lab_server,
    page_of,
)

EXTENSION = EXTENSIONS / "attention-course"
LESSON = "01_dot_product_attention"
WRONG = """def softmax(x, axis=-1):
    exponentials = np.exp(x)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)"""
RIGHT = """def softmax(x, axis=-1):
    exponentials = np.exp(1.0 * x - x.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)"""
ODD = 'def softmax(x):\n\treturn "ä → 𝛂"  \r\n\n\n'.replace("\r", "")
NAMES = ["Check", "Hint", "Start over", "Restore", "Home"]
BUTTONS = '.jp-Toolbar-item[data-jp-item-name^="attention-course:"] jp-button'
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


QUESTION = "**Predict:** is *one* plus one more than one?"
OPTIONS = ["It is *two*.", "It is one.", "$1 + 1 = 3$, of course."]


def lesson_with_predictions():
    """Return a lesson with three predictions, the last without an explanation."""
    notebook = lesson()
    text = "\n".join([QUESTION, "", *(f"- {each}" for each in OPTIONS)])
    second = text.replace("is *one*", "again: is one")
    cells = [
        nbformat.v4.new_markdown_cell(text),
        nbformat.v4.new_code_cell("print(1 + 1)"),
        nbformat.v4.new_markdown_cell("It is two, **as ever**."),
        nbformat.v4.new_code_cell("print(2)"),
        nbformat.v4.new_markdown_cell("And *two* it stays."),
        nbformat.v4.new_markdown_cell(f"So two is **more**.\n\n{second}"),
        nbformat.v4.new_code_cell("two = 2"),
        nbformat.v4.new_code_cell("print(two)"),
        nbformat.v4.new_markdown_cell("It is **still** two."),
        nbformat.v4.new_markdown_cell("## A heading"),
        nbformat.v4.new_markdown_cell(text.replace("is *one*", "at last: is one")),
        nbformat.v4.new_code_cell("print(2)"),
        nbformat.v4.new_markdown_cell("## Another heading"),
    ]
    for number, cell in enumerate(cells):
        cell.id = f"predictions-{number}"
        if "**Predict:**" in cell.source:
            # The second one's first sentence is about the answer to the first.
            tells = {"tells": True} if "**more**" in cell.source else {}
            cell.metadata["attention"] = {"prediction": {"right": 0}} | tells
    notebook.cells = [*notebook.cells[:2], *cells, *notebook.cells[2:]]
    return notebook


# Cells in `lesson_with_predictions`.
PREDICTION, EXPLANATION, MORE, NEXT, THIRD = 2, 4, 6, 7, 12


def answer_in(path, at=SOFTMAX):
    """Return an answer's cell as the file has it."""
    return nbformat.read(path, as_version=4).cells[at]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Yield the folder that JupyterLab serves, its address, and a browser's window."""
    folder = course_copy(tmp_path_factory.mktemp("course"))
    with lab_server(folder, "01") as address, page_of("about:blank") as page:
        # One window for all tests: it keeps JupyterLab's scripts, which are large.
        yield folder / "work", urlsplit(address), page.context.browser.new_context()


@contextlib.contextmanager
def opened(server, name, notebook, buttons=True, width=1100):
    """Open a notebook of its own in the server; errors in the console are failures.

    buttons : whether our buttons will be there
    width : of the window
    """
    work, address, window = server
    path = work / f"{name}.ipynb"
    nbformat.write(notebook, path)
    errors, requests = [], []
    page = window.new_page()
    page.set_viewport_size({"width": width, "height": 1300})
    page.set_default_timeout(60_000)
    page.on("console", lambda each: errors.append(f"{each.type}: {each.text}"))
    page.on("pageerror", lambda error: errors.append(f"error: {error}"))
    page.on("request", lambda request: requests.append(request.url))
    page.errors = errors
    try:
        page.goto(at_server(address, f"/lab/tree/{path.name}?reset&{address.query}"))
        page.locator(".jp-Notebook .jp-CodeCell").first.wait_for()
        if buttons:
            page.locator(BUTTONS).last.wait_for()
        else:
            page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
        yield page, path
    finally:
        page.close()
    assert [each for each in errors if each.startswith(("error", "warning"))] == []
    hosts = {urlsplit(each).netloc for each in requests} - {""}  # "": data and blobs
    assert hosts == {address.netloc}


# Notes at each frame which heading of the home page can be seen.
WATCH_HOME = """() => {
    window.shownAtHome = [];
    const note = () => {
        for (const heading of document.querySelectorAll(".jp-MarkdownViewer h1")) {
            const seen = heading.checkVisibility({ visibilityProperty: true });
            if (seen) window.shownAtHome.push(heading.textContent);
        }
        requestAnimationFrame(note);
    };
    note();
}"""


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
    cell(page, at).locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(source)


def notice(page, text):
    page.locator(".Toastify__toast").get_by_text(text).first.wait_for()


def in_view(page, locator):
    """Return whether the top of an element is where one sees it."""
    box, window = locator.bounding_box(), page.locator(".jp-Notebook").bounding_box()
    return window["y"] - 1 <= box["y"] < window["y"] + window["height"]


def run(page, at):
    """Run a code cell, and wait for its number."""
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
    cell(page, at).locator(".jp-InputPrompt").click()
    page.keyboard.press("Control+Enter")
    expect(cell(page, at).locator(".jp-InputPrompt")).to_have_text(NUMBER)


def has_run_since(prompt, before):
    """Return whether a cell's prompt has a number, and another one than before."""
    text = prompt.inner_text()
    return bool(NUMBER.fullmatch(text)) and text != before


def save(page):
    page.keyboard.press("Control+s")
    page.locator(".jp-mod-dirty").first.wait_for(state="detached")


def accept(page):
    page.locator(".jp-Dialog .jp-mod-accept").click()
    page.locator(".jp-Dialog").wait_for(state="detached")


@pytest.fixture
def page_and_path(server, request):
    with opened(server, request.node.name, lesson()) as both:
        yield both


@pytest.fixture
def script(server):
    """Return a function that calls JavaScript with one of the extension's modules."""
    _, address, window = server
    static = "/lab/extensions/attention-course/static"
    page = window.new_page()
    page.goto(at_server(address, f"{static}/lesson.js?{address.query}"))
    yield lambda name, function, argument=None: page.evaluate(
        f"async ([path, argument]) => ({function})(await import(path), argument)",
        [f"{static}/{name}", argument],
    )
    page.close()


# --- without a browser ------------------------------------------------------------


def test_stamp_of_the_extension_is_that_of_its_scripts():
    scripts = sorted((EXTENSION / "static").glob("*.js"))
    stamp = hashlib.sha256(b"".join(each.read_bytes() for each in scripts)).hexdigest()
    build = json.loads((EXTENSION / "package.json").read_text())["jupyterlab"]["_build"]
    # A browser keeps a file with a stamp for years: another text needs another one.
    assert build["load"] == f"static/remoteEntry.js?v={stamp[:16]}"


def test_extension_is_part_of_the_distribution():
    pyproject = (Course.here().root / "pyproject.toml").read_text()
    inside = EXTENSION.relative_to(Path(EXTENSIONS).parents[1])
    for file in (
        f"autograder/{inside}/package.json",
        f"autograder/{inside}/static/*.js",
    ):
        assert f'["{file}"]' in pyproject
    assert '"workspace/labextensions/*/static/*.js"' in pyproject
    assert '"workspace/labextensions/*/package.json"' in pyproject


# --- in JupyterLab ------------------------------------------------------------------


class TestToolbar:
    pytestmark = browser

    def test_buttons_say_which_exercise_they_mean(self, page_and_path):
        page, _ = page_and_path
        expect(page.locator(BUTTONS)).to_have_count(5)
        labels = [
            each.get_attribute("aria-label") for each in page.locator(BUTTONS).all()
        ]
        assert labels == NAMES
        check = button(page, "Check")
        for at, name in (
            (0, "softmax"),  # the first that is not written yet
            (SIMILARITY, "similarity_attention"),
            (SOFTMAX + 1, "softmax"),
            (SIMILARITY - 1, "similarity_attention"),
        ):
            cell(page, at).locator(".jp-InputPrompt, .jp-MarkdownOutput").last.click()
            expect(check).to_have_attribute(
                "title", re.compile(f"^Check this exercise: {name} ")
            )
        page.keyboard.press("Control+Shift+c")
        page.keyboard.type("course exercise")
        for name in ("Check this exercise", "Start this exercise over"):
            entry = page.locator(".lm-CommandPalette-itemLabel", has_text=name)
            expect(entry).to_be_visible()

    @pytest.mark.thorough
    def test_other_notebooks_have_no_buttons(self, server):
        plain = lesson()
        plain.cells = [nbformat.v4.new_code_cell("1 + 1")]
        with opened(server, "plain", plain, buttons=False) as (page, _):
            assert page.locator(BUTTONS).count() == 0

    def test_check_runs_the_answer_first(self, page_and_path):
        page, _ = page_and_path
        button(page, "Check").click()
        cell(page, SOFTMAX).get_by_text("NameError: name 'np'").wait_for()
        assert cell(page, SOFTMAX + 1).locator(".jp-OutputArea-output").count() == 0
        page.get_by_role("button", name="Run the cells above").click()
        cell(page, 1).get_by_text("[2]:").wait_for()

        write(page, SOFTMAX, WRONG)
        button(page, "Check").click()
        report = cell(page, SOFTMAX + 1).locator(".jp-OutputArea-output").first
        report.get_by_text("claims hold").first.wait_for()
        expect(page.get_by_role("status").get_by_text("claims hold")).to_be_attached()
        becomes_true(page, lambda: in_view(page, report))
        focused = page.locator(".jp-Notebook.jp-mod-commandMode .jp-mod-active:focus")
        expect(focused).to_contain_text("check(softmax)")
        page.keyboard.press("Shift+Enter")  # in the notebook, not at the button
        expect(focused).to_contain_text("Before similarity_attention")

        write(page, SOFTMAX, RIGHT)
        cell(page, SOFTMAX - 1).click()  # its heading, in command mode
        page.keyboard.press("Alt+Shift+Enter")
        report.get_by_text(re.compile(r"all \d+ claims hold")).first.wait_for()
        page.wait_for_function(
            "e => !e.textContent.includes('✗')", arg=report.element_handle()
        )
        becomes_true(page, lambda: in_view(page, report))

    def test_hints_open_one_after_another(self, page_and_path):
        page, _ = page_and_path
        hints = cell(page, SOFTMAX - 1).locator("details")
        is_open = "all => all.map(each => each.open)"
        press(page, "Hint")
        expect(hints.first.locator("summary")).to_be_focused()
        assert hints.evaluate_all(is_open) == [True, False]
        page.keyboard.press("Alt+Shift+H")
        expect(hints.last.locator("summary")).to_be_focused()
        assert hints.evaluate_all(is_open) == [True, True]
        button(page, "Hint").click()
        notice(page, "All 2 hints of softmax are open.")
        hints.first.locator("summary").click()
        button(page, "Hint").click()
        expect(hints.first).to_have_attribute("open", "")

    def test_start_over_keeps_the_answer_to_the_letter(self, page_and_path):
        page, path = page_and_path
        stub = answer_in(path).source
        write(page, SOFTMAX, ODD)
        button(page, "Start over").click()
        page.locator(".jp-Dialog .jp-mod-reject").click()
        assert cell(page, SOFTMAX).get_by_text("𝛂").count() == 1
        press(page, "Start over")
        page.get_by_text("Start softmax over?").wait_for()
        page.keyboard.press("Enter")
        notice(page, "softmax starts over; your answer is kept.")
        saved = answer_in(path)
        assert saved.source == stub
        (earlier,) = saved.metadata["attention"]["earlier"]
        assert earlier["source"] == ODD
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", earlier["time"])
        assert saved.metadata["attention"]["stub"] == stub

        page.keyboard.press("Control+z")  # the editor has the focus
        page.keyboard.press("Control+s")
        page.locator(".jp-mod-dirty").first.wait_for(state="detached")
        assert answer_in(path).source == ODD
        button(page, "Start over").click()
        accept(page)
        becomes_true(page, lambda: answer_in(path).source == stub)
        saved = answer_in(path)
        assert len(saved.metadata["attention"]["earlier"]) == 1  # none twice in a row

    def test_restore_keeps_what_stood_there(self, server, request):
        notebook = lesson()
        earlier = [
            {"time": "2026-01-02T03:04:05+00:00", "source": ODD},
            {"time": "2026-01-02T03:04:06Z", "source": WRONG},
        ]
        notebook.cells[SOFTMAX].metadata["attention"]["earlier"] = earlier
        notebook.cells[SOFTMAX].source = RIGHT
        with opened(server, request.node.name, notebook) as (page, path):
            cell(page, SOFTMAX).locator(".cm-content").click()
            press(page, "Restore")
            dialog = page.locator(".jp-Dialog")
            expect(dialog.get_by_role("radio").first).to_be_focused()
            assert "2026" in dialog.locator("label").first.inner_text()
            assert dialog.locator("pre").text_content() == WRONG  # the newest
            assert_accessible(page, ".attention-course-earlier")
            page.keyboard.press("ArrowDown")
            assert dialog.locator("pre").text_content() == ODD
            accept(page)
            notice(page, "is back.")
            saved = answer_in(path)
            assert saved.source == ODD
            sources = [
                each["source"] for each in saved.metadata["attention"]["earlier"]
            ]
            assert sources == [ODD, WRONG, RIGHT]
            assert saved.outputs == []

    def test_older_copies_are_told_to_update(self, server, request):
        with opened(server, request.node.name, lesson(stubs=False)) as (page, path):
            before = path.read_text()
            for name in ("Start over", "Restore"):
                button(page, name).click()
                notices = page.get_by_text("too old for that: run autograder update")
                expect(notices).to_have_count(1 + NAMES[2:4].index(name))
            assert path.read_text() == before

    def test_failed_save_loses_nothing(self, page_and_path):
        page, path = page_and_path
        before = path.read_text()
        write(page, SOFTMAX, ODD)
        page.route("**/api/contents/*", lambda route: refuse(route))
        button(page, "Start over").click()
        page.locator(".jp-Dialog .jp-mod-accept").click()
        notice(page, "could not be saved")
        assert path.read_text() == before
        page.locator(".jp-Dialog button").click()  # Lab's own message
        page.unroute("**/api/contents/*")
        page.keyboard.press("Control+s")
        page.locator(".jp-mod-dirty").first.wait_for(state="detached")
        (earlier,) = answer_in(path).metadata["attention"]["earlier"]
        assert earlier["source"] == ODD
        page.errors.clear()  # the browser's own words about the refused request

    def test_home_is_read_again_when_it_is_shown(self, server, page_and_path):
        page, _ = page_and_path
        home = server[0] / "home.md"
        home.unlink(missing_ok=True)
        button(page, "Home").click()
        notice(page, "There is no home.md here")
        home.write_text("# The map\n")
        try:
            press(page, "Home")
            page.get_by_role("heading", name="The map").wait_for()
            home.write_text("# The newer map\n")
            tabs = page.locator("#jp-main-dock-panel .lm-TabBar-tab")
            tabs.filter(has_text="test_home").click()
            expect(tabs.first.locator(".lm-TabBar-tabLabel")).to_have_text("Home")
            page.evaluate(WATCH_HOME)
            tabs.first.click()
            page.get_by_role("heading", name="The newer map").wait_for()
            assert "The map" not in page.evaluate("window.shownAtHome")
        finally:
            home.unlink(missing_ok=True)

    def test_report_about_an_earlier_version_says_so(self, page_and_path):
        page, _ = page_and_path
        run(page, 1)
        write(page, SOFTMAX, WRONG)
        button(page, "Check").click()
        check = cell(page, SOFTMAX + 1)
        check.get_by_text("claims hold").first.wait_for()
        mark = check.get_by_text("about an earlier version of your answer")
        expect(mark).to_have_count(0)
        write(page, SOFTMAX, WRONG[:-1])  # only typed
        expect(mark).to_be_visible()
        button(page, "Check").click()
        cell(page, SOFTMAX).get_by_text("SyntaxError").first.wait_for()
        expect(mark).to_be_visible()
        write(page, SOFTMAX, WRONG)
        expect(mark).to_have_count(0)  # as it was judged
        write(page, SOFTMAX, RIGHT)
        expect(mark).to_be_visible()
        button(page, "Check").click()
        check.get_by_text(re.compile(r"all \d+ claims hold")).first.wait_for()
        expect(mark).to_have_count(0)

    def test_course_version_is_a_button_after_two_failures(self, page_and_path):
        page, path = page_and_path
        line = "from course_lib.attention import softmax"
        run(page, 1)
        write(page, SOFTMAX, WRONG)
        check = cell(page, SOFTMAX + 1)
        prompt = check.locator(".jp-InputPrompt")
        for source in (WRONG, WRONG, f"{WRONG}  # again"):  # the same counts once
            expect(check.get_by_text("To go on and come back")).to_have_count(0)
            write(page, SOFTMAX, source)
            before = prompt.inner_text()
            button(page, "Check").click()
            becomes_true(page, lambda old=before: has_run_since(prompt, old))
            page.wait_for_timeout(2000)  # a click while it scrolls would be ignored
        check.get_by_text("To go on and come back later").wait_for()
        expect(check.get_by_text("add a cell")).to_have_count(0)  # words for other Labs
        assert_accessible(page, ".attention-course-way-on")
        check.get_by_role("button", name="Use the course's version").click()
        cells = page.locator(".jp-Notebook .jp-Cell")
        expect(cells.nth(SOFTMAX + 1).locator(".cm-content")).to_have_text(line)
        notice(page, "softmax is the course's version from here on")
        expect(cells.nth(SOFTMAX + 1).locator(".jp-InputPrompt")).to_have_text(NUMBER)
        save(page)
        assert answer_in(path).source == f"{WRONG}  # again"

        report = cells.nth(SOFTMAX + 2)
        report.get_by_text("This report is about your own answer").wait_for()
        report.get_by_text("To come back to it").wait_for()
        own_answer = report.get_by_role("button", name="Use your own answer")
        own_answer.click()
        expect(cells.nth(SOFTMAX + 1).locator(".cm-content")).to_have_text(
            "check(softmax)"
        )
        notice(page, "softmax is your own answer again.")

    def test_course_version_goes_with_a_right_answer(self, page_and_path):
        page, path = page_and_path
        run(page, 1)
        write(page, SOFTMAX, WRONG)
        cells = page.locator(".jp-Notebook .jp-Cell")
        n_cells = cells.count()
        use_course_version(page)
        expect(cells).to_have_count(n_cells + 1)
        cell(page, SOFTMAX).locator(".jp-InputPrompt").click()
        course_cell = cell(page, SOFTMAX + 1).locator(".jp-InputPrompt")
        expect(course_cell).to_have_text(NUMBER)
        before = course_cell.inner_text()
        button(page, "Check").click()  # fails: the course's version is in use again
        becomes_true(page, lambda: has_run_since(course_cell, before))
        button(page, "Start over").click()
        accept(page)
        notice(page, "softmax starts over; your answer is kept.")
        expect(cells).to_have_count(n_cells)
        assert answer_in(path).metadata["attention"]["earlier"][0]["source"] == WRONG
        write(page, SOFTMAX, RIGHT)
        use_course_version(page)
        expect(cells).to_have_count(n_cells + 1)
        cell(page, SOFTMAX).locator(".jp-InputPrompt").click()
        button(page, "Check").click()
        page.get_by_text(re.compile(r"all \d+ claims hold")).first.wait_for()
        expect(cells).to_have_count(n_cells)

    @pytest.mark.parametrize("width", [1280, 390, 360])
    def test_toolbar_has_words_at_every_width(self, server, width):
        with opened(server, f"words-{width}", lesson(), width=width) as (page, _):
            becomes_true(page, lambda: labels_in_view(page) == NAMES)
            if width == 1280:
                items = page.locator(".jp-NotebookPanel-toolbar > [data-jp-item-name]")
                named = items.evaluate_all("all => all.map(e => e.dataset.jpItemName)")
                assert [each for each in named[5:] if "popup" not in each] == OF_LAB
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width
            if width < 640:  # the lesson has the window to itself
                text = page.locator(".jp-Notebook .jp-MarkdownOutput").first
                becomes_true(page, lambda: text.bounding_box()["width"] > 0.8 * width)

    @pytest.mark.thorough
    def test_buttons_are_accessible_in_both_themes(self, page_and_path):
        page, _ = page_and_path
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        for theme in ("Dark", "Light"):
            page.get_by_role("menuitem", name="Settings", exact=True).click()
            page.get_by_text("Theme", exact=True).click()
            page.get_by_text(f"JupyterLab {theme}", exact=True).click()
            page.locator(f'[data-jp-theme-name="JupyterLab {theme}"]').wait_for(
                state="attached"
            )
            page.wait_for_timeout(1000)  # colours fade
            assert_accessible(page, '[data-jp-item-name^="attention-course:"]')
            page.screenshot(path=SCREENSHOTS / f"toolbar-{theme.lower()}.png")

    @pytest.mark.thorough
    def test_lab_works_without_the_extension(self, server):
        files = "**/extensions/attention-course/**"
        server[2].route(files, lambda route: route.abort())
        try:
            with opened(server, "without", lesson(), buttons=False) as (page, _):
                cell(page, 1).locator(".cm-content").click()
                page.keyboard.press("Control+Enter")
                cell(page, 1).get_by_text("[1]:").wait_for()
                assert page.locator(BUTTONS).count() == 0
                assert page.errors != []  # the browser could not load it
                page.errors.clear()
        finally:
            server[2].unroute(files)

    def test_exercise_of_a_cell_is_the_nearest(self, script):
        source = "x = 1"

        def markdown(text):
            return {"type": "markdown", "source": text, "metadata": {}}

        def code(name, text=source, **marks):
            marks = {"grade_id": name, **marks}
            return {"type": "code", "source": text, "metadata": {"nbgrader": marks}}

        cells = [
            markdown("# Lesson"),
            markdown("### Exercise: a · 10 min"),
            code("a", solution=True),
            code("check_a"),
            markdown("Notice that …"),
            markdown("## Another section"),
            markdown("### Exercise: b · 5 min"),
            code("b", solution=True),
            code("check_b"),
            markdown("## The last section"),
            code("c", "raise NotImplementedError", solution=True),
            code("check_c"),
            markdown("## In three lines"),
        ]
        names = script(
            "lesson.js",
            "(m, all) => all.map((_, i) => m.exerciseAt(all, i).name)",
            cells,
        )
        assert names == list("caaaacbbbcccc")
        exercises = script("lesson.js", "(m, all) => m.exercisesOf(all)", cells[:3])
        assert exercises == []  # no check is there: another notebook of nbgrader's

    def test_twenty_earlier_answers_are_kept(self, script):
        answers = script(
            "answers.js",
            """({ earlierOf, keep }) => {
                let all = { stub: "s", earlier: [7, null, { time: 1 }] };
                for (let i = 0; i < 25; i += 1) all = keep(all, `${i}`, "t");
                for (const same of ["24", "s", " \\n"]) all = keep(all, same, "t");
                const broken = [null, 3, {}, { earlier: "x" }].map(earlierOf);
                return [all.stub, earlierOf(all).map((each) => each.source), broken];
            }""",
        )
        assert answers == ["s", [str(i) for i in range(5, 25)], [[], [], [], []]]


OF_LAB = [
    "run",
    "save",
    "insert",
    "interrupt",
    "restart",
    "spacer",
    "executionProgress",
]


def labels_in_view(page):
    """Return the words of our buttons that are in the toolbar, not in its overflow."""
    labels = f".jp-NotebookPanel-toolbar > {BUTTONS} .jp-ToolbarButtonComponent-label"
    return [each.inner_text() for each in page.locator(labels).all()]


def use_course_version(page):
    page.keyboard.press("Control+Shift+c")
    page.keyboard.type("course's version")
    name = "Use the course's version"
    page.locator(".lm-CommandPalette-itemLabel", has_text=name).click()


def refuse(route):
    if route.request.method == "PUT":
        route.fulfill(status=500, body="{}")
    else:
        route.continue_()


def assert_accessible(page, selector):
    results = Axe().run(page, context={"include": [[selector]]})
    assert results.response["violations"] == []
    assert results.response["passes"] != []


class TestPredictions:
    pytestmark = browser

    def test_explanations_wait_for_choice_and_run(self, server, request):
        notebook = lesson_with_predictions()
        with opened(server, request.node.name, notebook) as (page, path):
            options = cell(page, PREDICTION).get_by_role("radio")
            expect(options).to_have_count(3)
            explanation = cell(page, EXPLANATION)
            words = explanation.locator("strong")
            more = cell(page, MORE).locator("em")
            above_next = cell(page, NEXT).locator("strong", has_text="more")
            expect(explanation.get_by_text("Make a prediction and")).to_be_visible()
            assert page.locator(".attention-cover").count() == 2  # one each
            run(page, PREDICTION + 1)
            for each in (words, more, above_next):
                expect(each).to_be_hidden()  # not yet predicted
            expect(cell(page, NEXT).locator("p", has_text="again:")).to_be_visible()
            options.nth(1).check()
            for each in (words, more, above_next):
                expect(each).to_be_visible()
            expect(explanation).to_contain_text(
                "You predicted “It is one”. What came out: “It is two”."
            )
            expect(cell(page, PREDICTION)).to_contain_text("your prediction")
            expect(cell(page, PREDICTION).locator("li").first).to_contain_text(
                "the result"
            )
            options.first.check()
            expect(explanation).to_contain_text("As you predicted: “It is two”.")
            save(page)
        saved = answer_in(path, PREDICTION)
        assert saved.metadata["attention"] == {"prediction": {"right": 0, "choice": 0}}
        assert saved.source == notebook.cells[PREDICTION].source
        with opened(server, request.node.name, nbformat.read(path, 4)) as (page, _):
            expect(cell(page, PREDICTION).get_by_role("radio").first).to_be_checked()
            expect(cell(page, EXPLANATION).locator("strong")).to_be_visible()

    def test_first_cell_that_prints_uncovers(self, server, request):
        with opened(server, request.node.name, lesson_with_predictions()) as (page, _):
            cell(page, NEXT).get_by_role("radio").first.check()
            words = cell(page, NEXT + 3).locator("strong")
            for at in (NEXT + 2, NEXT + 1):  # the first fails without the other
                run(page, at)
                expect(cell(page, at).get_by_text("NameError").first).to_be_visible(
                    visible=at == NEXT + 2
                )
                expect(words).to_be_hidden()
            run(page, NEXT + 2)
            expect(words).to_be_visible()

    def test_code_that_tells_waits_for_the_choice(self, server, request):
        notebook = lesson_with_predictions()
        for at in (PREDICTION + 1, EXPLANATION + 1):
            notebook.cells[at].metadata["attention"] = {"tells": True}
        with opened(server, request.node.name, notebook) as (page, _):
            code = cell(page, PREDICTION + 1).locator(".cm-content")
            more = cell(page, EXPLANATION + 1).locator(".cm-content")
            note = page.get_by_text("the code appears here")
            expect(note).to_have_count(1)
            expect(code).to_be_hidden()
            cell(page, PREDICTION).get_by_role("radio").first.check()
            expect(code).to_be_visible()
            expect(more).to_be_hidden()
            expect(note).to_have_count(0)
            run(page, PREDICTION + 1)
            expect(more).to_be_visible()

    def test_own_notes_are_not_covered(self, server, request):
        notebook = lesson_with_predictions()
        note = nbformat.v4.new_markdown_cell("A note of **my own**.")
        note.id = "123e4567-e89b-12d3-a456-426614174000"
        notebook.cells.insert(MORE, note)
        with opened(server, request.node.name, notebook) as (page, _):
            expect(page.locator(".attention-cover")).to_have_count(2)
            expect(cell(page, MORE).locator("strong")).to_be_visible()
            expect(cell(page, MORE + 1).locator("em")).to_be_hidden()

    def test_keys_of_the_notebook_work_after_a_choice(self, server, request):
        with opened(server, request.node.name, lesson_with_predictions()) as (page, _):
            cell(page, PREDICTION).get_by_role("radio").nth(1).click()
            page.keyboard.press("Shift+Enter")
            page.keyboard.press("Shift+Enter")
            expect(cell(page, EXPLANATION).locator("strong")).to_be_visible()

    def test_choice_alone_does_not_tell_the_answer(self, server, request):
        with opened(server, request.node.name, lesson_with_predictions()) as (page, _):
            cell(page, PREDICTION).get_by_role("radio").nth(2).check()
            expect(cell(page, PREDICTION)).not_to_contain_text("the result")
            words = cell(page, EXPLANATION).locator("strong")
            expect(words).to_be_hidden()
            cell(page, EXPLANATION).get_by_role("button").click()
            expect(words).to_be_visible()
            expect(cell(page, EXPLANATION)).not_to_contain_text("You predicted")

    def test_prediction_by_keyboard_alone(self, server, request):
        notebook = lesson_with_predictions()
        with opened(server, request.node.name, notebook) as (page, _):
            cells = page.locator(".jp-Notebook .jp-Cell")
            expect(cells).to_have_count(len(notebook.cells))
            options = cell(page, PREDICTION).get_by_role("radio")
            options.first.focus()
            page.keyboard.press("Space")
            page.keyboard.press("ArrowDown")
            page.keyboard.press("ArrowDown")
            expect(options.nth(2)).to_be_checked()
            expect(cell(page, EXPLANATION).locator("strong")).to_be_hidden()
            page.keyboard.press("Control+Enter")
            page.keyboard.press("ArrowUp")
            expect(options.nth(1)).to_be_checked()
            expect(cells).to_have_count(len(notebook.cells))

    def test_heading_below_a_prediction_is_not_covered(self, server, request):
        with opened(server, request.node.name, lesson_with_predictions()) as (page, _):
            expect(cell(page, THIRD).get_by_role("radio")).to_have_count(3)
            expect(page.get_by_role("heading", name="Another heading")).to_be_visible()
            run(page, THIRD + 1)
            cell(page, THIRD).get_by_role("radio").first.check()
            expect(cell(page, THIRD)).to_contain_text("the result")

    @pytest.mark.thorough
    def test_predictions_are_accessible(self, server, request):
        with opened(server, request.node.name, lesson_with_predictions()) as (page, _):
            options = cell(page, PREDICTION).get_by_role("radio")
            expect(options).to_have_count(3)
            group = cell(page, PREDICTION).get_by_role("radiogroup")
            expect(group).to_have_accessible_name(
                "Predict: is one plus one more than one?"
            )
            assert_accessible(page, ".attention-choices")
            assert_accessible(page, ".attention-cover")
            SCREENSHOTS.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=SCREENSHOTS / "predictions.png")
            run(page, PREDICTION + 1)
            options.nth(1).check()
            expect(cell(page, EXPLANATION)).to_contain_text("You predicted")
            assert_accessible(page, ".attention-choices")
            page.screenshot(path=SCREENSHOTS / "predictions-out.png")


FIGURE = """from course_lib import figures
keys = {"cat": [3.0, 0.5], "car": [0.5, 0.2]}
alt = "The kitten's arrow lies close to the cat's."
axes = {"xlabel": "alive", "ylabel": "flies"}
figures.draggable_query("kitten", [3.2, 0.1], keys, alt=alt, show=["weight"], **axes)"""
DRAWN = 3  # its cell in `lesson_with_figure`


def lesson_with_figure():
    """Return a lesson with a cell that draws a living figure, and much text below."""
    notebook = lesson()
    cells = [
        nbformat.v4.new_markdown_cell("Above.\n\n" * 30),
        nbformat.v4.new_code_cell(FIGURE),
        nbformat.v4.new_markdown_cell("Below.\n\n" * 30),
    ]
    for number, each in enumerate(cells):
        each.id = f"figure-{number}"
    notebook.cells = [*notebook.cells[:2], *cells, *notebook.cells[2:]]
    return notebook


class TestFigures:
    pytestmark = browser

    def run_figure(self, page):
        page.set_viewport_size({"width": 1100, "height": 700})
        page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
        cell(page, DRAWN).locator(".jp-InputPrompt").click()
        page.keyboard.press("Shift+Enter")
        page.locator("figure.living[data-live]").wait_for()

    def test_figure_of_a_run_comes_into_view(self, server, request):
        with opened(server, request.node.name, lesson_with_figure()) as (page, _):
            self.run_figure(page)
            figure = page.locator("figure.living")
            page.wait_for_timeout(1500)
            box = figure.bounding_box()
            window = page.locator(".jp-Notebook").bounding_box()
            assert window["y"] <= box["y"]
            assert box["y"] + box["height"] <= window["y"] + window["height"]
            page.mouse.move(500, 400)
            page.mouse.wheel(0, 250)  # whoever scrolls away stays there
            page.wait_for_timeout(1500)
            assert figure.bounding_box()["y"] < box["y"] - 200

    def test_keyboard_leaves_a_figure_as_it_is(self, server, request):
        with opened(server, request.node.name, lesson_with_figure()) as (page, _):
            self.run_figure(page)
            prompt = cell(page, DRAWN).locator(".jp-InputPrompt")
            expect(prompt).to_have_text(NUMBER)
            number = prompt.inner_text()
            slider = page.get_by_role("slider")
            active = page.locator(".jp-Notebook .jp-Cell.jp-mod-active")
            slider.focus()
            page.keyboard.press("ArrowUp")
            position = slider.get_attribute("aria-valuetext")
            page.keyboard.press("Escape")
            page.keyboard.press("k")
            expect(active).to_contain_text("Above.")
            slider.focus()
            page.keyboard.press("Shift+Enter")
            expect(active).to_contain_text("Below.")
            page.keyboard.press("k")
            expect(active).to_contain_text("draggable_query")
            page.wait_for_timeout(1000)
            assert prompt.inner_text() == number
            assert slider.get_attribute("aria-valuetext") == position
