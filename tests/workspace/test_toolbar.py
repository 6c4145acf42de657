"""What the course adds to a lesson's toolbar in JupyterLab."""

import hashlib
import json
import re
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import expect

from autograder.course import Course
from autograder.workspace.lab import EXTENSIONS
from tests.browser import (
    SCREENSHOTS,
    becomes_true,
)
from tests.workspace.lesson_in_lab import (
    BUTTONS,
    NUMBER,
    SIMILARITY,
    SOFTMAX,
    answer_in,
    assert_accessible,
    browser,
    button,
    cell,
    lesson,
    opened,
    press,
    run,
    save,
    write,
)

EXTENSION = EXTENSIONS / "attention-course"
WRONG = """def softmax(x, axis=-1):
    exponentials = np.exp(x)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)"""
RIGHT = """def softmax(x, axis=-1):
    exponentials = np.exp(1.0 * x - x.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)"""
ODD = 'def softmax(x):\n\treturn "ä → 𝛂"  \r\n\n\n'.replace("\r", "")
NAMES = ["Check", "Hint", "Start over", "Restore", "Home"]


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


def notice(page, text):
    page.locator(".Toastify__toast").get_by_text(text).first.wait_for()


def in_view(page, locator):
    """Return whether the top of an element is where one sees it."""
    box, window = locator.bounding_box(), page.locator(".jp-Notebook").bounding_box()
    return window["y"] - 1 <= box["y"] < window["y"] + window["height"]


def has_run_since(prompt, before):
    """Return whether a cell's prompt has a number, and another one than before."""
    text = prompt.inner_text()
    return bool(NUMBER.fullmatch(text)) and text != before


def accept(page):
    page.locator(".jp-Dialog .jp-mod-accept").click()
    page.locator(".jp-Dialog").wait_for(state="detached")


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

    def test_link_makes_the_cell_that_it_leads_to_active(self, server, request):
        linked = lesson()
        target, name = linked.cells[SIMILARITY - 1].id, request.node.name
        linked.cells[0].source += f" [cell](#cell-id={target}) [part](#Before-softmax)"
        with opened(server, name, linked) as (page, _):
            active = page.locator(".jp-Cell.jp-mod-active")
            for link, words in (("cell", "Exercise: similarity"), ("part", "Before ")):
                cell(page, 0).get_by_role("link", name=link, exact=True).focus()
                page.keyboard.press("Enter")
                expect(active).to_contain_text(words)
                expect(active).to_be_focused()
                page.locator(".jp-Notebook .jp-WindowedPanel-outer").first.evaluate(
                    "each => each.scrollTop = 0"
                )

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
        cell(page, SOFTMAX).get_by_text("np is not there yet: run the cells").wait_for()
        assert cell(page, SOFTMAX + 1).locator(".jp-OutputArea-output").count() == 0
        page.get_by_role("button", name="Run the cells above").click()
        cell(page, 1).get_by_text("[2]:").wait_for()

        write(page, SOFTMAX, "def softmax(x)\n    return x")
        button(page, "Check").click()
        cell(page, SOFTMAX).get_by_text("A colon is missing").wait_for()
        expect(page.get_by_text("is not there yet")).to_have_count(0)
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

    def test_check_that_is_not_defined_offers_the_cells_above(self, page_and_path):
        page, _ = page_and_path
        write(page, SOFTMAX, "def softmax(x, axis=-1):\n    return x")
        button(page, "Check").click()
        cell(page, SOFTMAX + 1).get_by_text("NameError: name 'check'").wait_for()
        page.get_by_role("button", name="Run the cells above").click()
        cell(page, 1).get_by_text("[3]:").wait_for()
        button(page, "Check").click()
        cell(page, SOFTMAX + 1).get_by_text("claims hold").first.wait_for()

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
        notice(page, "Both hints of softmax are open.")
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
            markdown("## Going further"),
            code("d", "raise NotImplementedError", solution=True),
            code("check_d"),
        ]
        names = script(
            "lesson.js",
            "(m, all) => all.map((_, i) => m.exerciseAt(all, i).name)",
            cells,
        )
        assert names == list("caaaacbbbccccddd")
        exercises = script("lesson.js", "(m, all) => m.exercisesOf(all)", cells[:3])
        assert exercises == []  # no check is there: another notebook of nbgrader's

    @pytest.mark.parametrize(
        ("path", "title", "tab"),
        [
            ("00_start/00_start.ipynb", "# Start `here`", "00 · Start here"),
            ("00_start/00_start.ipynb", "No title", "00_start.ipynb"),
            ("00_start/mine.ipynb", "# Start here", "mine.ipynb"),
            ("00_start.ipynb", "# Start here", "00_start.ipynb"),
        ],
    )
    def test_tab_of_a_lesson_is_its_title(self, script, path, title, tab):
        cells = [{"type": "code", "source": "# 1"}, {"type": "markdown"}]
        cells[1]["source"] = title
        function = "(tabs, [path, cells]) => tabs.tabOf(path, cells)"
        assert script("tabs.js", function, [path, cells]) == tab

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
