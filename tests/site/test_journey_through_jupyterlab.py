"""Answers begun in the page, continued in JupyterLab, uploaded and graded."""

import shutil

import nbformat
import pytest
from playwright.sync_api import expect

from autograder.checking.registry import exercises_of, load
from autograder.demo.sample_class import right_answer
from autograder.grading.engine import Engine
from autograder.workspace.outline import read_outline
from autograder.workspace.progress import read_progress
from tests.browser import SCREENSHOTS, becomes_true, course_copy, lab_server
from tests.grading.engines import SEED, process_number
from tests.grading.engines import SHORT as BUDGET
from tests.site.test_answering_in_a_browser import (
    DESK,
    NEEDS_PYODIDE,
    answering,
    chromium,
    visited,
)
from tests.site.test_home_in_a_browser import (
    HOME,
    PAGE,
    downloaded,
    fill,
    row,
    stored,
    upload,
)
from tests.submissions import COURSE, LESSON, Submission
from tests.test_browser import cell_with, run, type_into

__all__ = ["answering", "chromium"]  # fixtures
pytestmark = [
    pytest.mark.browser,
    pytest.mark.thorough,
    pytest.mark.sandbox,
    pytest.mark.alone,
    NEEDS_PYODIDE,
]
IN_PAGE = (
    *("softmax", "similarity_attention", "softmax_jacobian"),
    *("scaled_scores", "attention_step_by_step"),
)
WRONG = "scaled_scores"  # in the page; corrected in JupyterLab
WRONG_TEXT = "def scaled_scores(q, k):\n    return q @ k.T / k.shape[1]"
NEXT = "attention"  # begun and solved in JupyterLab
SOLVED = {*IN_PAGE, NEXT}


def picture(page, name):
    """Keep what a page looks like, for whoever reads the tests' results."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"journey-{name}.png")


def answer_in_page(page, name, text):
    """Check an answer beneath its exercise in the lesson; return the report."""
    answer = page.locator(".live").filter(has=page.locator(f"#answer-{name}"))
    answer.get_by_role("textbox").fill(text)
    page.keyboard.press("Shift+Enter")
    report = answer.locator(".live-report")
    expect(report).not_to_be_empty()
    return report.inner_text()


def answer_in_lab(page, name):
    """Write the right answer into its cell, and run it and its check."""
    answer, check = cell_with(page, f"def {name}("), cell_with(page, f"check({name})")
    type_into(page, answer, right_answer(name))
    run(page, answer)
    run(page, check)
    expect(check.locator(".jp-OutputArea")).to_contain_text(f"{name}: solved, all")


def run_all(page, last, text):
    """Run the lesson from the top to a check that fails, which ends the run."""
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    check = cell_with(page, f"check({last})")
    expect(check.locator(".jp-OutputArea")).to_contain_text(text)
    return check


def test_journey_through_jupyterlab(answering, chromium, tmp_path):
    """Answer five exercises, correct one in JupyterLab, upload, and hand in."""
    root = course_copy(tmp_path / "course")
    shutil.copytree(COURSE.root / "solutions", root / "solutions")
    mine = root / "work" / LESSON / f"{LESSON}.ipynb"
    answers = {name: right_answer(name) for name in IN_PAGE} | {WRONG: WRONG_TEXT}
    with visited(chromium, f"{answering}{PAGE}") as page:
        for name, text in answers.items():
            solved = "solved, all" in answer_in_page(page, name, text)
            assert solved == (name != WRONG)
        picture(page, "1-answered")
        part = page.locator(".your-notebook")
        button = part.get_by_role("button", name="Download my notebook")
        downloaded(page, button, mine)
        button.scroll_into_view_if_needed()
        picture(page, "2-downloaded")
        before = stored(page)

    with lab_server(root, "01") as address:
        context = chromium.new_context(viewport=DESK)
        context.set_default_timeout(60_000)
        page = context.new_page()
        # For this browser no other name than an address leads anywhere.
        page.goto(address.replace("//localhost:", "//127.0.0.1:"))
        page.locator(".jp-Notebook").wait_for()
        page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
        picture(page, "3-lab-opened")
        run_all(page, WRONG, "claims hold").scroll_into_view_if_needed()
        picture(page, "4-lab-run")
        assert {*read_progress(root / "work")} == {*IN_PAGE}
        answer_in_lab(page, WRONG)
        run_all(page, NEXT, "is not written yet")
        answer_in_lab(page, NEXT)
        picture(page, "5-lab-solved")
        page.keyboard.press("Control+s")
        page.locator(".jp-mod-dirty").first.wait_for(state="detached")
        texts = {name: right_answer(name) for name in SOLVED}
        becomes_true(page, lambda: answers_in(mine) == texts)
        context.close()

    with visited(chromium, f"{answering}{HOME}") as page:
        fill(page, before)
        account = upload(page, page.locator(".your-course"), mine)
        print(account)
        picture(page, "6-uploaded")
        assert account.startswith("2 answers taken")
        part = row(page, "01 Dot-product")
        picture(page, "7-home")
        required = [each.name for each in read_outline(COURSE, LESSON).required]
        count = len(SOLVED.intersection(required))
        assert f"{count} of {len(required)} solved" in part.inner_text()
        assert {name: stored(page)[f"answer {name}"] for name in SOLVED} == texts

    typed = Submission()
    for each in exercises_of(LESSON):
        if each.name not in SOLVED:
            stub = nbformat.read(COURSE.learner(LESSON), as_version=4)
            (cell,) = (cell for cell in stub.cells if cell.id == each.name)
            typed.answer(each.name, cell.source)
    written = typed.write(tmp_path / "typed", "ada")
    with Engine(
        COURSE, LESSON, seed=SEED, worker=process_number(), budget=BUDGET
    ) as engine:
        result, other = (engine.grade(path)[0] for path in (mine, written))
    points = {each.exercise: each.points for each in result.exercises}
    assert result.exercises == other.exercises
    assert {name for name, each in points.items() if each} == SOLVED
    assert all(points[name] == load(name).points for name in SOLVED)


def answers_in(path):
    """Return the answers of a notebook's file to what is solved, by exercise."""
    notebook = nbformat.read(path, as_version=4)
    return {cell.id: cell.source for cell in notebook.cells if cell.id in SOLVED}
