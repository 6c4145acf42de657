"""Curves to choose from in a real browser: each choice shows its own numbers."""

import numpy as np
import pytest

from course_lib import figures
from tests.figures.living import assert_accessible, opened

ALT = "Six lines, of which the chosen one is in colour."
X = [0, 1, 2, 4]
CHOICES = {"size": ["small", "large"], "rate": ["0.1", "0.2", "0.3", "0.4"]}
VALUES = np.arange(32.0).reshape(8, 4) + 1
TEXTS = [f"combination {number}" for number in range(8)]
CURVES = {"loss": VALUES, "share <b>": VALUES[::-1]}


@pytest.fixture
def figure():
    return figures.curves_to_choose(
        X, CHOICES, CURVES, TEXTS, xlabel="steps", logarithmic=["loss"], alt=ALT
    )


def ends(page):
    texts = page.eval_on_selector_all(".chosen", "all => all.map(e => e.dataset.value)")
    return [float(each) for each in texts]


def test_each_combination_has_its_own_curves_and_text(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        slider = page.get_by_role("slider")
        for size in range(2):
            page.get_by_role("button", name=CHOICES["size"][size]).click()
            slider.press("Home")
            for option in range(4):
                row = 4 * size + option
                loss, share = ends(page)
                np.testing.assert_allclose(10**loss, VALUES[row, -1], rtol=1e-3)
                assert share == VALUES[::-1][row, -1]
                assert page.locator(".said").inner_text() == TEXTS[row]
                assert slider.get_attribute("aria-valuetext") == CHOICES["rate"][option]
                slider.press("ArrowRight")


def test_first_choice_is_the_given_one(tmp_path):
    figure = figures.curves_to_choose(
        X, CHOICES, CURVES, TEXTS, xlabel="steps", start=(1, 2), alt=ALT
    )
    with opened(tmp_path, figure) as page:
        assert page.locator(".said").inner_text() == TEXTS[6]
        pressed = page.locator("button[aria-pressed=true]")
        assert pressed.inner_text() == "large"
        assert ends(page)[0] == VALUES[6, -1]


def test_view_is_accessible(figure, tmp_path):
    assert_accessible(tmp_path, figure)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"texts": TEXTS[:-1]}, "7 texts for 8 combinations"),
        ({"curves": {"loss": VALUES.T}}, r"'loss' has shape \(4, 8\)"),
        ({"curves": {"loss": VALUES - 1}}, "no logarithmic axis"),
        ({"start": (2, 0)}, "chooses no option"),
    ],
)
def test_choices_that_do_not_fit_are_refused(change, message):
    arguments = {"x": X, "choices": CHOICES, "curves": CURVES, "texts": TEXTS} | change
    with pytest.raises(ValueError, match=message):
        figures.curves_to_choose(
            **arguments, xlabel="steps", logarithmic=["loss"], alt=ALT
        )
