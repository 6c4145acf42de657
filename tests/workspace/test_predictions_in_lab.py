"""A prediction in JupyterLab: a choice, a run, and what is covered until then."""

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser import (
    SCREENSHOTS,
)
from tests.workspace.lesson_in_lab import (
    answer_in,
    assert_accessible,
    browser,
    cell,
    lesson,
    opened,
    run,
    save,
)

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
    for number, each in enumerate(cells):
        each.id = f"predictions-{number}"
        if "**Predict:**" in each.source:
            # The second one's first sentence is about the answer to the first.
            tells = {"tells": True} if "**more**" in each.source else {}
            each.metadata["attention"] = {"prediction": {"right": 0}} | tells
    notebook.cells = [*notebook.cells[:2], *cells, *notebook.cells[2:]]
    return notebook


# Cells in `lesson_with_predictions`.
PREDICTION, EXPLANATION, MORE, NEXT, THIRD = 2, 4, 6, 7, 12


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
        saved_notebook = nbformat.read(path, 4)
        with opened(server, request.node.name, saved_notebook, fresh=True) as (page, _):
            expect(cell(page, PREDICTION).get_by_role("radio").first).to_be_checked()
            expect(cell(page, EXPLANATION).locator("strong")).to_be_visible()

    @pytest.mark.thorough
    def test_prediction_is_made_and_left_by_keyboard(self, server, request):
        with opened(server, request.node.name, lesson_with_predictions()) as (page, _):
            active = page.locator(".jp-Notebook .jp-Cell.jp-mod-active")
            options = cell(page, PREDICTION).get_by_role("radio")
            status = page.locator('[role="status"].attention-course-status')
            options.first.focus()
            page.keyboard.press("Space")
            page.keyboard.press("ArrowDown")
            expect(options.nth(1)).to_be_checked()
            page.keyboard.press("Escape")
            page.keyboard.press("ArrowDown")  # a command of the notebook's again
            expect(options.nth(1)).to_be_checked()
            expect(active).to_contain_text("print(1 + 1)")
            expect(status.filter(has_text="You predicted")).to_have_count(0)
            page.keyboard.press("Shift+Enter")
            outcome = "What came out: “It is two”. The explanation is below."
            expect(status.filter(has_text=outcome)).to_have_count(1)

    @pytest.mark.thorough
    def test_keyboard_stays_where_an_explanation_was_uncovered(self, server, request):
        with opened(server, request.node.name, lesson_with_predictions()) as (page, _):
            cell(page, EXPLANATION).locator(".attention-cover button").focus()
            page.keyboard.press("Enter")
            expect(cell(page, EXPLANATION).locator("strong")).to_be_visible()
            page.keyboard.press("ArrowDown")
            active = page.locator(".jp-Notebook .jp-Cell.jp-mod-active")
            expect(active).to_contain_text("print(2)")

    @pytest.mark.thorough
    def test_pointed_at_focused_and_chosen_options_differ(self, server, request):
        with opened(server, request.node.name, lesson_with_predictions()) as (page, _):
            labels = cell(page, PREDICTION).locator("label")
            labels.first.click()
            labels.nth(1).hover()
            colours = """each => {
                const style = getComputedStyle(each);
                return [style.borderColor, style.boxShadow, style.backgroundColor];
            }"""
            chosen, pointed, other = (labels.nth(i).evaluate(colours) for i in range(3))
            assert pointed[:2] == other[:2] and pointed[2] != other[2]
            assert all(a != b for a, b in zip(chosen, pointed, strict=True))
            outline = "e => getComputedStyle(e).outlineStyle"
            assert labels.first.evaluate(outline) == "none"
            page.keyboard.press("ArrowDown")
            assert labels.nth(1).evaluate(outline) == "solid"

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
            hidden = page.locator(".jp-Notebook .jp-Cell").nth(EXPLANATION + 1)
            more = hidden.locator(".cm-content")
            note = page.get_by_text("the code appears here")
            expect(note).to_have_count(1)
            expect(code).to_be_hidden()
            cell(page, PREDICTION).get_by_role("radio").first.check()
            expect(code).to_be_visible()
            expect(more).to_be_hidden()
            expect(note).to_have_count(0)
            run(page, PREDICTION + 1)
            expect(more).to_be_visible()

    def test_running_on_passes_covered_code(self, server, request):
        notebook = lesson_with_predictions()
        figure = "print(1)\nmade_along = 7"
        notebook.cells[PREDICTION + 1].source = figure
        hidden = nbformat.v4.new_code_cell("print(made_along + 1)\nused = made_along")
        hidden.id, hidden.metadata["attention"] = "hidden", {"tells": True}
        notebook.cells.insert(EXPLANATION, hidden)
        notebook.cells[EXPLANATION + 2].source = "print(used * 11)"
        with opened(server, request.node.name, notebook) as (page, _):
            passed = page.locator(".jp-Notebook .attention-passed")
            expect(passed).to_have_count(1)
            expect(passed).to_be_hidden()
            page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
            active = page.locator(".jp-Notebook .jp-Cell.jp-mod-active")
            cell(page, PREDICTION + 1).locator(".jp-InputPrompt").click()
            page.keyboard.press("Shift+Enter")
            expect(active).to_contain_text("the explanation appears here")
            page.keyboard.press("ArrowUp")
            expect(active).to_contain_text("made_along = 7")
            page.keyboard.press("ArrowDown")
            expect(active).to_contain_text("the explanation appears here")
            page.keyboard.press("Shift+Enter")
            page.keyboard.press("Shift+Enter")  # it uses what ran along
            expect(page.get_by_text("77", exact=True)).to_be_visible()
            expect(page.get_by_text("8", exact=True)).to_be_hidden()
            cell(page, PREDICTION).get_by_role("radio").first.check()
            expect(page.get_by_text("8", exact=True)).to_be_visible()

    def test_living_figure_alone_does_not_mark_the_result(self, server, request):
        notebook = lesson_with_predictions()
        living = "HTML('<figure class=\"living\">a figure</figure>')"
        notebook.cells[NEXT + 1].source = f"from IPython.display import HTML\n{living}"
        notebook.cells[NEXT + 2].source = "print(2)"
        with opened(server, request.node.name, notebook) as (page, _):
            cell(page, NEXT).get_by_role("radio").first.check()
            run(page, NEXT + 1)
            expect(cell(page, NEXT + 1).get_by_text("a figure").last).to_be_visible()
            expect(cell(page, NEXT + 3).locator("strong")).to_be_hidden()
            expect(cell(page, NEXT)).not_to_contain_text("the result")
            run(page, NEXT + 2)
            expect(cell(page, NEXT + 3).locator("strong")).to_be_visible()
            expect(cell(page, NEXT)).to_contain_text("the result")

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
