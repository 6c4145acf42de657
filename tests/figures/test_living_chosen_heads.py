"""One head or two whose keys a reader chooses: counts, answers, keys, the factor."""

import numpy as np
import pytest

from course_lib import figures
from tests.browser import TOO_WIDE, becomes_true
from tests.figures.living import assert_accessible, assert_keys_stay, opened, page_text

ALT = "Thursday counts once, and Monday does not count."
DAYS, DEGREES = ["Mon", "<b>Tue", "Thu"], np.array([11.0, 12.5, 18.0])
WANTED = {"Thu": 1, "Mon": -1}


@pytest.fixture
def figure():
    return figures.chosen_heads(
        DAYS, DEGREES, WANTED, start=[["Thu"]], unit="°", alt=ALT
    )


@pytest.fixture
def with_factor():
    return figures.chosen_heads(
        DAYS, DEGREES, WANTED, start=[["Mon", "Thu"]], factor=True, alt=ALT
    )


def counts(page):
    return page.eval_on_selector_all(
        ".ch-count", "all => all.map(e => Number(e.dataset.value))"
    )


def answer(page):
    return page.locator(".ch-answer").inner_text()


def key(page, head, position):
    return page.locator(f'[data-head="{head}"][data-key="{position}"]')


def test_one_head_answers_with_a_mean(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        assert counts(page) == [0, 0, 1]
        assert answer(page) == "answer 18°, wanted 7°"
        key(page, 0, 0).click()
        assert counts(page) == [0.5, 0, 0.5]
        assert answer(page) == "answer 14.5°, wanted 7°"
        assert "No bar points down." in page.locator(".said").inner_text()


def test_last_key_of_a_head_cannot_be_left(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        key(page, 0, 2).click()
        assert counts(page) == [0, 0, 1]
        assert "weights sum to 1" in page.locator(".said").inner_text()


def test_two_heads_give_the_difference_by_keyboard(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        page.get_by_role("button", name="two heads").focus()
        page.keyboard.press("Enter")
        assert counts(page) == [0, 0, 0]  # both attend to the same
        key(page, 1, 0).focus()
        page.keyboard.press("Enter")
        page.keyboard.press("End")
        page.keyboard.press("Enter")
        assert counts(page) == [-1, 0, 1]
        assert answer(page) == "answer 7°, wanted 7°"
        assert "right in any week" in page.locator(".said").inner_text()


def test_factor_turns_all_bars_over(with_factor, tmp_path):
    with opened(tmp_path, with_factor) as page:
        assert page.locator("[data-heads]").count() == 0
        page.get_by_role("slider").fill("-1")
        assert counts(page) == [-0.5, 0, -0.5]
        assert answer(page) == "answer −14.5, wanted 7"
        assert "No bar points up." in page.locator(".said").inner_text()


def test_answer_by_chance_is_said_to_be_one(tmp_path):
    by_chance = figures.chosen_heads(
        ["a", "b"], [7, 14], {"b": 1, "a": -1}, start=[["a"]], alt=ALT
    )
    with opened(tmp_path, by_chance) as page:
        page.wait_for_selector(".ch-answer")
        assert "right by chance" in page.locator(".said").inner_text()


def test_view_is_accessible_and_keeps_its_keys(figure, with_factor, tmp_path):
    assert_accessible(tmp_path, figure)
    with opened(tmp_path, figure, with_factor) as page:
        page.set_viewport_size({"width": 390, "height": 900})
        becomes_true(page, lambda: page.evaluate(TOO_WIDE) == [])
        assert_keys_stay(page, 1)


def test_name_of_html_stays_text(figure):
    assert "<b>Tue" not in page_text(figure)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"names": ["Mon", "Mon", "Thu"]}, "1 to 8 different names"),
        ({"values": [1, 2]}, r"values of shape \(2,\) for 3 names"),
        ({"wanted": {"Fri": 1}}, "'Fri' is none of"),
        ({"wanted": {"Mon": 2}}, "between −1 and 1"),
        ({"start": [["Fri"]]}, "'Fri' is none of"),
        ({"start": [[]]}, "start must say"),
        ({"start": [["Mon"], ["Thu"]], "factor": True}, "start must say"),
    ],
)
def test_unfit_data_is_refused(change, message):
    arguments = {"names": DAYS, "values": DEGREES, "wanted": WANTED, "start": [["Thu"]]}
    with pytest.raises(ValueError, match=message):
        figures.chosen_heads(**(arguments | change), alt=ALT)
