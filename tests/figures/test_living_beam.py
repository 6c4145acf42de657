"""The view of beam search in a real browser: its numbers, steps, keys and choice."""

import dataclasses
import math

import numpy as np
import pytest

from course_lib import figures
from course_lib.lessons.beam_tree import record_beam_search
from course_lib.lessons.hypotheses import BeamTree, Hypothesis
from tests.figures.living import assert_accessible, opened, page_text

pytestmark = pytest.mark.thorough  # attention, softmax, steps and heads stand for all

FIRST, AFTER_1 = [0.05, 0.5, 0.4, 0.05], [0.2, 0.25, 0.3, 0.25]
LOG_P = np.log([FIRST, AFTER_1, [0.03, 0.03, 0.04, 0.9]])
VOCABULARY = ["(start)", "<b>der</b>", "שלום ", "(end)"]
ALT = "With a beam of two, the second word wins."


def tree_of(beam_size, **options):
    return record_beam_search(
        lambda token_ids: LOG_P[token_ids[-1]], 0, 3, beam_size, 9, **options
    )


@pytest.fixture(scope="module")
def figure():
    trees = {"two": tree_of(2), "one": tree_of(1, n_pruned=3)}
    return figures.beam_tree(trees, VOCABULARY, alt=ALT)


def on_page(page):
    """Return what the cards say: step to pairs of a sum and a state."""
    cards = page.eval_on_selector_all(
        ".node",
        "all => all.map(e => [Number(e.dataset.t), e.querySelector('.token').innerText,"
        " Number(e.querySelector('.sum').dataset.value), e.classList[1]])",
    )
    return {tuple(card) for card in cards}


def in_tree(tree):
    return {
        (t, VOCABULARY[each.token_id].strip(), round(each.total, 4), each.state)
        for t, step in enumerate(tree.steps)
        for each in step
    }


def said_line(page):
    return page.locator(".said").inner_text()


def pointed(page):
    return page.evaluate("document.activeElement.innerText.split('\\n')[0]")


def test_cards_are_the_hypotheses_of_the_tree(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        assert on_page(page) == in_tree(tree_of(2))
        assert len(on_page(page)) == 11
        page.get_by_label("search").select_option("one")
        assert on_page(page) == in_tree(tree_of(1, n_pruned=3))


def test_lines_are_probabilities_of_tokens(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        values = page.eval_on_selector_all(
            ".links path.kept, .links path.finished",
            "all => all.map(e => Number(e.dataset.value))",
        )
    assert sorted(values) == [0.3, 0.4, 0.5, 0.9, 0.9]


def test_best_of_what_is_finished_is_chosen(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        assert page.locator(".node.best").inner_text() == "(end)\n−1.02\n★ best"
        rows = page.locator("tbody tr").all_inner_texts()
        assert [row.split("\t")[0] for row in rows] == [
            "★ שלום (end)",
            "<b>der</b> שלום (end)",
        ]
        scores = page.eval_on_selector_all(
            "td.score", "all => all.map(e => Number(e.dataset.value))"
        )
        sums = math.log(0.36), math.log(0.5 * 0.3 * 0.9)
        right = [sums[0] / (7 / 6) ** 0.6, sums[1] / (8 / 6) ** 0.6]
        assert scores == pytest.approx(right, abs=1e-4)


def test_steps_are_gone_through_by_keys(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        page.get_by_role("button", name="step 3").focus()
        page.keyboard.press("Home")
        assert (
            said_line(page) == "Step 1: the start → 4 continuations: 2 kept, 2 pruned."
        )
        visible = page.locator(".node:visible")
        assert visible.count() == 4 and page.locator("tbody tr").count() == 0
        page.keyboard.press("ArrowRight")
        assert said_line(page) == (
            "Step 2: 2 unfinished hypotheses → 8 continuations: 1 kept, 1 finished, "
            "6 pruned."
        )
        assert page.locator("caption").inner_text() == "finished so far"
        assert page.locator(".node.best").count() == 0
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert said_line(page).startswith("Step 3: 1 unfinished hypothesis → 4")
        assert said_line(page).endswith("Best score: “שלום (end)”.")
        page.keyboard.press("Enter")  # the last step stays the last one
        assert said_line(page).startswith("Step 3")


def test_hypotheses_are_gone_through_by_keys(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        page.get_by_role("button", name="next").focus()
        page.keyboard.press("Tab")
        assert pointed(page) == "(end)"
        assert said_line(page) == (
            "“<b>der</b> שלום (end)”: sum −1.90 + ln 0.90 = −2.00, 1 of 4 in step 3; "
            "finished; score −1.69."
        )
        passed = page.locator(".node.passed .token")
        assert passed.all_inner_texts() == ["<b>der</b>", "שלום", "(end)"]
        for key, token in [
            ("ArrowUp", "שלום"),
            ("ArrowRight", "<b>der</b>"),
            ("End", "(end)"),
            ("ArrowUp", "שלום"),
            ("ArrowDown", "(end)"),
            ("Home", "שלום"),
            ("ArrowUp", "<b>der</b>"),
            ("ArrowUp", "<b>der</b>"),  # above is the start only
        ]:
            page.keyboard.press(key)
            assert pointed(page) == token, key
        assert said_line(page).startswith("“<b>der</b>”: sum ln 0.50 = −0.69, 1 of 4")
        page.keyboard.press("Escape")
        assert said_line(page).startswith("Step 3")


def test_keys_do_not_lead_to_later_steps(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        page.get_by_role("button", name="step 1").click()
        page.locator(".node").first.focus()
        page.keyboard.press("ArrowDown")
        assert pointed(page) == "<b>der</b>"
        assert page.locator(".node[tabindex='0']:visible").count() == 1


def test_pointing_shows_how_a_hypothesis_came_about(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        page.locator(".node.best").hover()
        assert said_line(page).endswith("finished; score −0.93, the best score.")
        assert page.locator("path.passed").count() == 2


def test_beam_view_is_accessible(figure, tmp_path):
    assert_accessible(tmp_path, figure)


@pytest.mark.thorough
def test_widest_tree_is_accessible(tmp_path):
    """Eight hypotheses in a step, sixteen steps, long tokens."""
    model = np.random.default_rng(0).normal(size=(40, 40))
    model -= np.log(np.exp(model).sum(axis=1, keepdims=True))
    tree = record_beam_search(lambda each: model[each[-1]], 0, 99, 5, 16, n_pruned=3)
    words = [f"Donaudampfschiff{i}" for i in range(40)]
    assert_accessible(tmp_path, figures.beam_tree(tree, words, alt=ALT))


def test_token_of_html_stays_as_it_is(figure):
    assert "<b>der" not in page_text(figure)


def test_lines_of_a_step_do_not_cross(figure):
    for tree in figure.data["trees"]:
        for step in tree["steps"]:
            parents = [node["parent"] for node in step]
            assert parents == sorted(parents)


def test_static_picture_has_each_hypothesis(figure):
    words = [each.get_text() for each in figure.figure.axes[0].texts]
    assert words.count("pruned") == 6 and words.count("best") == 1
    assert words.count("−1.02") == 1 and "step 3" in words


def test_tree_that_cannot_be_drawn_is_refused():
    def refused(trees, message, vocabulary=VOCABULARY):
        with pytest.raises(ValueError, match=message):
            figures.beam_tree(trees, vocabulary, alt=ALT)

    tree = tree_of(2)
    refused({}, "nothing to draw")
    refused(BeamTree(0, [tree.steps[0] * 3], [12], (0, 0)), "12 hypotheses in a step")
    refused(BeamTree(0, [], [], None), "without steps")
    refused(tree, "token for token id 3, got 3 tokens", VOCABULARY[:3])
    for total in (math.nan, -math.inf):
        wrong = Hypothesis(1, -1, total, total, "kept")
        refused(BeamTree(0, [[wrong]], [4], (0, 0)), "finite")
    long = BeamTree(0, tree.steps[:1] * 17, [4] * 17, (0, 0))
    refused(long, "17 steps are too many to draw: at most 16")
    refused({"a": tree, "b": dataclasses.replace(tree, start_id=1)}, "one start_id")
    with pytest.raises(ValueError, match="alt="):
        figures.beam_tree(tree, VOCABULARY, alt="a tree")
