"""Weights whose cells a reader blocks: shares of what is left, rows, keys."""

import numpy as np
import pytest

from course_lib import figures
from tests.browser import TOO_WIDE, becomes_true
from tests.figures.living import assert_accessible, assert_keys_stay, opened, page_text

ALT = "Each word attends to all three words."
WORDS = ["<b>the", "cat", "sat"]
WEIGHTS = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.25, 0.25, 0.5]])


@pytest.fixture
def figure():
    return figures.switchable_mask(WEIGHTS, WORDS, WORDS, alt=ALT)


def weights_of(page):
    return page.eval_on_selector_all(
        ".sm-cell", "all => all.map(e => Number(e.dataset.value))"
    )


def cell(page, query, key):
    return page.locator(f'[data-query="{query}"][data-key="{key}"]')


def test_weights_on_the_page_are_those_of_the_array(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        np.testing.assert_allclose(weights_of(page), WEIGHTS.ravel(), atol=1e-4)
        assert (
            page.locator(".sm-future").inner_text() == "Words that see a later word: 2."
        )


def test_rest_of_a_row_is_divided_by_its_sum(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        cell(page, 0, 1).click()
        np.testing.assert_allclose(weights_of(page)[:3], [5 / 7, 0, 2 / 7], atol=1e-3)
        np.testing.assert_allclose(weights_of(page)[3:], WEIGHTS[1:].ravel(), atol=1e-4)
        assert cell(page, 0, 1).get_attribute("aria-pressed") == "false"
        assert "0.70 of the weight was left" in page.locator(".said").inner_text()
        page.get_by_role("button", name="Allow all").click()
        np.testing.assert_allclose(weights_of(page), WEIGHTS.ravel(), atol=1e-4)


def test_future_is_blocked_by_keyboard(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        cell(page, 0, 0).focus()
        for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
            page.keyboard.press(key)
            page.keyboard.press("Enter")
        assert (
            page.locator(".sm-future").inner_text() == "Words that see a later word: 0."
        )
        np.testing.assert_allclose(weights_of(page)[:3], [1, 0, 0])


def test_row_without_keys_has_no_weights(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        for key in range(3):
            cell(page, 2, key).click()
        assert page.locator(".sm-cell").all_inner_texts()[6:] == ["?"] * 3
        text = page.locator(".sm-future").inner_text()
        assert text.endswith("Words with nothing left to attend to: 1.")
        assert "nothing to divide by" in page.locator(".said").inner_text()


def test_first_mask_comes_back(tmp_path):
    mask = np.tril(np.ones((3, 3), dtype=bool))
    figure = figures.switchable_mask(WEIGHTS, WORDS, WORDS, may_attend=mask, alt=ALT)
    expected = WEIGHTS * mask / (WEIGHTS * mask).sum(axis=-1, keepdims=True)
    with opened(tmp_path, figure) as page:
        np.testing.assert_allclose(weights_of(page), expected.ravel(), atol=1e-3)
        page.get_by_role("button", name="Allow all").click()
        np.testing.assert_allclose(weights_of(page), WEIGHTS.ravel(), atol=1e-4)
        page.get_by_role("button", name="Start over").click()
        np.testing.assert_allclose(weights_of(page), expected.ravel(), atol=1e-3)


def test_view_is_accessible_and_keeps_its_keys(figure, tmp_path):
    assert_accessible(tmp_path, figure)
    with opened(tmp_path, figure) as page:
        page.set_viewport_size({"width": 390, "height": 900})
        becomes_true(page, lambda: page.evaluate(TOO_WIDE) == [])
        assert_keys_stay(page, 1)


def test_name_of_html_stays_text(figure):
    assert "<b>the" not in page_text(figure)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": WEIGHTS[:2]}, "shape"),
        ({"weights": np.full((3, 3), [1.0, 0.0, 0.0])}, "greater than 0"),
        ({"may_attend": np.zeros((3, 3), dtype=bool)}, "something to attend to"),
        ({"may_attend": np.ones((3, 3))}, "boolean"),
    ],
)
def test_unfit_data_is_refused(change, message):
    arguments = {"weights": WEIGHTS, "queries": WORDS, "keys": WORDS}
    with pytest.raises((TypeError, ValueError), match=message):
        figures.switchable_mask(**(arguments | change), alt=ALT)


def test_large_table_is_refused():
    many = [str(i) for i in range(9)]
    with pytest.raises(ValueError, match="at most 8 queries"):
        figures.switchable_mask(np.full((9, 9), 1 / 9), many, many, alt=ALT)
