"""The view of two positions in a real browser: hands, dot product, keys, dragging."""

import re

import numpy as np
import pytest

from course_lib import figures
from course_lib.positions import sinusoidal_encoding
from tests.figures.living import assert_accessible, opened, page_text
from tests.figures.test_figures import overlaps, strings

pytestmark = pytest.mark.thorough  # attention, softmax, steps and heads stand for all

ALT = "The dot product falls with the distance, with ups and downs."
ENCODING = sinusoidal_encoding(12, 6)
DOTS = ENCODING @ ENCODING.T
SLIDERS = ["first position", "second position", "both together"]


@pytest.fixture
def figure():
    return figures.two_positions(ENCODING, DOTS, pair=(3, 5), alt=ALT)


def hands(page, which):
    return page.eval_on_selector_all(
        f".clock .hand.lv-{which}",
        "all => all.map(e => [Number(e.dataset.sine), Number(e.dataset.cosine)])",
    )


def tips(page, which):
    return page.eval_on_selector_all(
        f".clock .hand.lv-{which} circle",
        "all => all.map(e => [e.cx.baseVal.value, -e.cy.baseVal.value])",
    )


def point(page):
    data = page.locator(".point").evaluate("e => [e.dataset.distance, e.dataset.value]")
    return [float(each) for each in data]


def assert_shown(page, first, second):
    """Compare hands, shares, dot product and sliders with the arrays."""
    for which, position in (("first", first), ("second", second)):
        expected = ENCODING[position].reshape(-1, 2)
        np.testing.assert_allclose(hands(page, which), expected, atol=1e-4)
    shares = page.eval_on_selector_all(
        ".share", "all => all.map(e => Number(e.dataset.value))"
    )
    products = (ENCODING[first] * ENCODING[second]).reshape(-1, 2).sum(axis=-1)
    np.testing.assert_allclose(shares, products, atol=3e-4)
    distance, dot = point(page)
    assert distance == second - first
    assert abs(dot - DOTS[first, second]) < 1e-4
    assert page.locator(".value").inner_text() == f"{dot:.2f}".replace("-", "−")
    values = [page.get_by_label(name).input_value() for name in SLIDERS]
    assert values == [str(first), str(second), str(min(first, second))]


def test_values_on_the_page_are_those_of_the_arrays(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        assert_shown(page, 3, 5)


def test_hand_points_where_its_sine_and_cosine_say(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        for which, position in (("first", 3), ("second", 5)):
            expected = 38 * ENCODING[position].reshape(-1, 2)
            np.testing.assert_allclose(tips(page, which), expected, atol=0.01)


def test_positions_are_moved_by_keyboard_alone(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        state = page.locator(".said")
        page.keyboard.press("Tab")
        page.keyboard.press("ArrowRight")
        assert_shown(page, 4, 5)
        page.keyboard.press("Tab")
        page.keyboard.press("Home")
        assert_shown(page, 4, 0)
        dot = f"{DOTS[4, 0]:.2f}"
        expected = f"Positions 4 and 0, distance −4: dot product {dot}."
        assert state.inner_text().startswith(expected)
        page.keyboard.press("Tab")
        page.keyboard.press("End")  # as far as the later one can go
        assert_shown(page, 11, 7)


def test_point_stays_where_it_is_if_both_positions_move(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        before, box = hands(page, "first"), page.locator(".point").bounding_box()
        page.get_by_label("both together").focus()
        for _ in range(4):
            page.keyboard.press("ArrowRight")
        assert_shown(page, 7, 9)
        assert hands(page, "first") != before
        now = page.locator(".point").bounding_box()
        assert abs(now["x"] - box["x"]) < 0.5 and abs(now["y"] - box["y"]) < 0.5


def test_second_position_is_dragged_along_the_curve(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        box = page.locator(".plot").bounding_box()
        step = box["width"] / 22  # distances −11 … 11
        middle, height = box["x"] + box["width"] / 2, box["y"] + 30
        page.mouse.move(middle + 2 * step, height)
        assert_shown(page, 3, 5)  # pointing is not dragging
        page.mouse.down()
        page.mouse.move(middle + 4 * step, height)
        assert_shown(page, 3, 7)
        page.mouse.move(middle - 10 * step, height)  # there is no position −7
        assert_shown(page, 3, 0)
        page.mouse.up()
        page.mouse.move(middle, height)
        assert_shown(page, 3, 0)


def test_curve_has_a_point_for_each_second_position(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        path = page.locator(".curve").get_attribute("d")
        positions = np.array(
            [each.split() for each in re.split("[ML] ?", path)[1:]], float
        )
        np.testing.assert_allclose(positions[:, 0], 100 * (np.arange(12) - 3 + 11) / 22)
        ends = DOTS.min(), DOTS.max()
        height = 1.08 * (ends[1] - min(0, ends[0]))
        down = 100 * (min(0, ends[0]) + height - DOTS[3]) / height
        np.testing.assert_allclose(positions[:, 1], down, atol=0.01)


def test_clocks_are_one_stop_and_reached_by_arrow_keys(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        for _ in range(4):
            page.keyboard.press("Tab")
        state = page.locator(".said")
        assert state.inner_text().startswith("Hand 0, columns 0 and 1, adds −0.42 to")
        page.keyboard.press("End")
        share = f"{ENCODING[3, 4:] @ ENCODING[5, 4:]:.2f}"
        total = f"{DOTS[3, 5]:.2f}"
        expected = f"Hand 2, columns 4 and 5, adds {share} to the dot product {total}."
        assert state.inner_text() == expected


def test_pointing_at_a_clock_tells_what_it_adds(figure, tmp_path):
    with opened(tmp_path, figure) as page:
        page.locator(".clock").nth(1).hover()
        assert page.locator(".said").inner_text().startswith("Hand 1, columns 2 and 3")


@pytest.mark.thorough
def test_views_of_few_and_of_many_hands_are_accessible(figure, tmp_path):
    assert_accessible(tmp_path, figure)
    encoding = sinusoidal_encoding(64, 64)
    dots = encoding @ encoding.T
    many = figures.two_positions(encoding, dots, pair=(30, 35), alt=ALT)
    assert_accessible(tmp_path, many)


def test_alternative_text_of_html_stays_text(tmp_path):
    alt = "<b>two</b> hands שלום each"
    figure = figures.two_positions(ENCODING, DOTS, pair=(0, 1), alt=alt)
    assert "<b>two" not in page_text(figure)
    with opened(tmp_path, figure) as page:
        assert page.get_by_role("group", name=alt).count() == 1


def test_picture_shows_two_hands_a_clock_and_the_pair(figure):
    shown_texts = strings(figure)
    assert {"hand 0", "hand 1", "hand 2", "−0.42"} <= {*shown_texts}
    assert f"positions 3 and 5: {DOTS[3, 5]:.2f}" in shown_texts
    clocks, curve = figure.figure.axes
    arrows = [each for each in clocks.texts if getattr(each, "arrow_patch", None)]
    directions = [np.subtract(arrow.xy, arrow.xyann) for arrow in arrows]
    expected = np.stack([ENCODING[3].reshape(-1, 2), ENCODING[5].reshape(-1, 2)], 1)
    length = np.linalg.norm(directions[0])
    np.testing.assert_allclose(
        np.array(directions) / length, expected.reshape(-1, 2), atol=1e-9
    )
    np.testing.assert_allclose(curve.lines[0].get_ydata(), DOTS[3])
    np.testing.assert_allclose(curve.lines[1].get_xydata(), [[2, DOTS[3, 5]]])
    assert overlaps(figure) == []
    assert figure.svg() == figure.svg()


def change(index, value):
    encoding = ENCODING.copy()
    encoding[index] = value
    return encoding


@pytest.mark.parametrize(
    ("encoding", "dots", "pair", "message"),
    [
        (
            ENCODING[0],
            DOTS,
            (0, 1),
            r"^encoding of shape \(6,\) must be \(n, d_model\)",
        ),
        (ENCODING[:1], DOTS, (0, 0), r"^encoding of shape \(1, 6\) must be"),
        (ENCODING[:, :0], DOTS, (0, 1), r"^encoding of shape \(12, 0\) must be"),
        (ENCODING[:, :5], DOTS, (0, 1), "^d_model=5 is odd"),
        (np.zeros((129, 4)), DOTS, (0, 1), "at most 128 positions and 64 columns"),
        (np.zeros((4, 66)), DOTS, (0, 1), "at most 128 positions and 64 columns"),
        (change((2, 3), np.nan), DOTS, (0, 1), "^columns 2 and 3 of position 2 are"),
        (
            change((2, 3), 3.0),
            DOTS,
            (0, 1),
            "^columns 2 and 3 of position 2 are a hand",
        ),
        (
            ENCODING[:, [0, 2, 4, 1, 3, 5]],
            DOTS,
            (0, 1),
            "a sine and its cosine must be",
        ),
        (ENCODING, DOTS[:, 1:], (0, 1), r"^dots of shape \(12, 11\) do not fit 12"),
        (ENCODING, DOTS + 1, (0, 1), "^dots must be encoding @ encoding.T"),
        (ENCODING, DOTS * np.nan, (0, 1), "^dots must be encoding @ encoding.T"),
        (
            ENCODING,
            DOTS,
            (0, 12),
            r"^pair=\(0, 12\) must be two positions from 0 to 11",
        ),
        (ENCODING, DOTS, (-1, 2), r"^pair=\(-1, 2\) must be two positions"),
        (ENCODING, DOTS, (0.5, 2), r"^pair=\(0\.5, 2\) must be two positions"),
    ],
)
def test_unfit_data_is_refused(encoding, dots, pair, message):
    with pytest.raises(ValueError, match=message):
        figures.two_positions(encoding, dots, pair=pair, alt=ALT)
