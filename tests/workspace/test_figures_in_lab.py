"""A living figure in JupyterLab: it is in view, and keys leave it as it is."""

import re

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser import becomes_true
from tests.figures.small_models import small_language_model, small_translator
from tests.workspace.lesson_in_lab import NUMBER, browser, cell, lesson, opened, write

FIGURE = """from course_lib import figures
keys = {"cat": [3.0, 0.5], "car": [0.5, 0.2]}
alt = "The kitten's arrow lies close to the cat's."
axes = {"xlabel": "alive", "ylabel": "flies"}
figures.draggable_query("kitten", [3.2, 0.1], keys, alt=alt, show=["weight"], **axes)"""
TYPED = """from course_lib import figures
from course_lib.lessons import typed_text
def encode_word(word, merges):
    return ["at" if word[-2:] == ("a", "t") else word[-1]]
view = typed_text.tokens({"English": [("a", "t")]}, encode_word)
figures.text_tokens(**view, alt="The text's tokens.")"""
TRANSLATED = """from course_lib import figures
import base64, pathlib
def answer(question):
    if question["want"] == "model":
        return {"base64": base64.b64encode(pathlib.Path(FILE).read_bytes()).decode()}
    return {"name": "beam_search", "translation": question["text"] + " 🙂"}
example = {"text": "a b", "translation": "c", "sources": ["a ", "b "]}
example |= {"targets": ["c "], "weights": [[0.5, 0.5]]}
figures.translator([example], {"fan": 9}, answer=answer, alt="c attends to both.")"""
WRITTEN = """from course_lib import figures
from course_lib.lessons import own_draws
from course_lib.nn.model_file import read_model_file
import pathlib, torch
path = pathlib.Path(FILE)
_, tokenizer = read_model_file(path).load()
ids, names = tokenizer.encode("To be"), [*map(str, tokenizer.vocabulary)]
stored = {tuple(ids): [0.0] * len(names)}
def top_p_filter(probabilities, p):
    while True:
        pass
def sample(probabilities, u):
    return torch.tensor(65)
answer = lambda question: own_draws.answer(question, globals())
figures.next_token(stored, names, ids, model="small.bin", text="To be",
    file=path.read_bytes(), answer=answer, alt="All are alike.")"""
DRAWN = 3  # its cell in `lesson_with_figure`


def lesson_with_figure(figure=FIGURE):
    """Return a lesson with a cell that draws a living figure, and much text below."""
    notebook = lesson()
    cells = [
        nbformat.v4.new_markdown_cell("Above.\n\n" * 30),
        nbformat.v4.new_code_cell(figure),
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
            window = page.locator(".jp-Notebook").bounding_box()

            def is_in_view():
                box = figure.bounding_box()
                bottom = box["y"] + box["height"]
                return (
                    window["y"] <= box["y"] and bottom <= window["y"] + window["height"]
                )

            becomes_true(page, is_in_view)
            page.wait_for_timeout(1500)  # it stays there
            assert is_in_view()
            y = figure.bounding_box()["y"]
            page.mouse.move(500, 400)
            page.mouse.wheel(0, 250)  # whoever scrolls away stays there
            becomes_true(page, lambda: figure.bounding_box()["y"] < y - 200)
            page.wait_for_timeout(1500)
            assert figure.bounding_box()["y"] < y - 200

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

    @pytest.mark.thorough
    def test_figure_of_another_run_is_as_it_was_left(self, server, request):
        with opened(server, request.node.name, lesson_with_figure()) as (page, _):
            self.run_figure(page)
            slider = page.get_by_role("slider")
            start = slider.get_attribute("aria-valuetext")
            slider.focus()
            page.keyboard.press("ArrowUp")
            position = slider.get_attribute("aria-valuetext")
            assert position != start
            self.run_again(page)
            assert slider.get_attribute("aria-valuetext") == position
            slider.focus()
            page.keyboard.press("ArrowUp")
            assert slider.get_attribute("aria-valuetext") != position
            # Other numbers are another figure.
            write(page, DRAWN, FIGURE.replace("3.2", "3.1"))
            self.run_again(page)
            assert slider.get_attribute("aria-valuetext") == start.replace("3.2", "3.1")

    def run_again(self, page):
        prompt = cell(page, DRAWN).locator(".jp-InputPrompt")
        before = prompt.inner_text()
        prompt.click()
        page.keyboard.press("Control+Enter")
        expect(prompt).not_to_have_text(before)
        expect(prompt).to_have_text(NUMBER)
        expect(page.locator("figure.living[data-live]")).to_have_count(1)

    @pytest.mark.thorough
    def test_way_of_the_keyboard_into_a_figure_is_said(self, server, request):
        with opened(server, request.node.name, lesson_with_figure()) as (page, _):
            self.run_figure(page)
            hint = "e => getComputedStyle(e, '::after').content"
            figure = page.locator("figure.living")
            assert figure.evaluate(hint) == '"Shift + Tab goes into this picture"'
            page.keyboard.press("Shift+Tab")
            assert page.evaluate("Boolean(document.activeElement.closest('figure'))")
            assert figure.evaluate(hint) == "none"
            page.keyboard.press("Escape")
            assert figure.evaluate(hint) == '"Tab goes into this picture"'

    def test_typed_text_goes_to_the_learners_function(self, server, request):
        notebook = lesson_with_figure(TYPED)
        with opened(server, request.node.name, notebook) as (page, _):
            self.run_figure(page)
            whose = page.locator(".tk-whose")
            tokens = page.locator(".tk-token")
            for text, ids, sentence in (
                ("a\u00e4\U0001f642at", ["164", "130", "256"], "The course's has 8"),
                ("at", ["256"], "your own encode_word, the same as the course's"),
                ("\"'\\", ["92"], "the 1 token of your own encode_word"),
            ):
                page.get_by_label("your text").fill(text)
                expect(whose).to_contain_text(sentence)
                values = tokens.evaluate_all("all => all.map(e => e.dataset.value)")
                assert values == ids

    def test_kernel_gives_the_translators_file(self, server, request, tmp_path):
        code = TRANSLATED.replace("FILE", repr(str(small_translator(tmp_path))))
        with opened(server, request.node.name, lesson_with_figure(code)) as (page, _):
            self.run_figure(page)
            page.get_by_label("English text").fill("fän 🙂")
            state = page.locator(".tr-state")
            expect(state).to_contain_text("The Transformer runs in this page")
            own = "Your own beam_search writes: fän 🙂 🙂"
            expect(page.locator(".tr-own")).to_have_text(own)

    def test_learners_functions_draw_and_are_stopped(self, server, request, tmp_path):
        code = WRITTEN.replace("FILE", repr(str(small_language_model(tmp_path))))
        with opened(server, request.node.name, lesson_with_figure(code)) as (page, _):
            self.run_figure(page)
            page.locator(".living-next textarea").focus()
            page.wait_for_selector(".inside:not([hidden])")
            whose = page.locator(".whose")
            late = "Your own top_p_filter took over 2 seconds. The course's"
            expect(whose).to_contain_text(late)
            page.get_by_role("button", name="one token").click()
            expect(page.locator(".sequence .drawn")).to_have_text(re.compile("^A"))
            expect(whose).to_contain_text("Your own sample draws")
            # The kernel is free: what ran too long was stopped.
            page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
