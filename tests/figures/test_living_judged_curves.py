"""Learning curves whose results are hidden until asked for, in a real browser."""

import pytest

from course_lib import figures
from tests.figures.living import assert_accessible, assert_keys_stay, opened, page_text

ALT = "One curve falls to 0, one stays at 2, one begins far above both."
X = [10, 30, 50]
SERIES = {"A": [2.5, 1.0, 0.0], "<b>B</b>": [2.5, 2.0, 2.0], "שלום": [9.0, 2.0, 0.1]}
SHARES = {"A": 0.0, "<b>B</b>": 0.976, "שלום": 0.5}
LABELS = {"xlabel": "steps", "ylabel": "loss", "share_name": "right"}


def drawn(**change):
    arguments = {"x": X, "series": SERIES, "shares": SHARES, "top": 3.0} | change
    return figures.judged_curves(**arguments, **LABELS, alt=ALT)


@pytest.fixture
def figure():
    return drawn()


def results(page):
    return page.locator(".jc-share").all_inner_texts()


def test_results_are_hidden_until_a_model_is_chosen(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        assert results(page) == ["?", "?", "?"]
        page.get_by_role("button").nth(1).click()
        assert results(page) == ["?", "98 %", "?"]
        text = page.locator(".said").inner_text()
        assert text.endswith("loss 2.50 at first, 2.00 at the end. right: 98 %.")
        assert page.locator(".jc-line.jc-chosen").count() == 1
        page.get_by_role("button").nth(0).click()
        assert results(page) == ["0 %", "98 %", "?"]


def test_models_are_reached_by_arrow_keys(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        page.keyboard.press("Tab")
        for index in range(len(SERIES)):
            page.keyboard.press("Enter")
            pressed = page.locator(".jc-model[aria-pressed=true]")
            assert pressed.count() == 1
            assert pressed.inner_text().startswith([*SERIES][index])
            page.keyboard.press("ArrowRight")
        assert page.locator(".said").inner_text().endswith("You have asked all 3.")
        assert_keys_stay(page, 1)


def test_curve_is_cut_off_where_it_meets_the_top(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        paths = page.eval_on_selector_all(
            ".jc-line", "all => all.map(e => e.getAttribute('d'))"
        )
        assert [each.count("L") for each in paths] == [2, 2, 2]
        lowest = 8  # the plot's upper margin, in the drawing's units
        ys = [float(point.split()[1]) for point in paths[2][1:].split("L")]
        assert min(ys) == lowest


@pytest.mark.thorough
def test_view_is_accessible(figure, tmp_path):
    assert_accessible(tmp_path, figure)


def test_name_of_html_stays_text(figure):
    assert "<b>B" not in page_text(figure)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"series": {}, "shares": {}}, "0 curves"),
        ({"shares": {"A": 0.5}}, "do not fit"),
        ({"shares": SHARES | {"A": 1.5}}, "a share lies between 0 and 1"),
        ({"top": 0.0}, "must be greater than 0"),
    ],
)
def test_unfit_data_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        drawn(**change)
