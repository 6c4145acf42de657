"""Costs against length in a real browser: sliders, numbers, lines that cross, tiles."""

import re

import numpy as np
import pytest

from course_lib import figures
from course_lib.figures.costs import amount
from tests.figures.living import assert_accessible, opened, page_text
from tests.figures.test_figures import overlaps, texts

pytestmark = pytest.mark.thorough
ALT = "Self-attention takes more operations than recurrence once n exceeds d_model."
LENGTHS, D_MODELS, BLOCKS = [16, 64, 256, 1024, 4096], [64, 256], [16, 128]
N, D = np.array(LENGTHS)[None] * 1.0, np.array(D_MODELS)[:, None] * 1.0
ONES = np.ones((2, 5))
KINDS = ["<b>convolution</b>", "recurrence", "מנגנון קשב"]
COSTS = {
    "operations": dict(zip(KINDS, [3 * N * D**2, N * D**2, N**2 * D], strict=True)),
    "<i>steps</i>": dict(zip(KINDS, [ONES, ONES * N, ONES], strict=True)),
    "memory": dict(zip(KINDS, [4 * N * D, 4 * N * D, 4 * N**2 * ONES], strict=True)),
}
MORE = {
    "in_bytes": ["memory"],
    "blocks": BLOCKS,
    "names": {256: "a paragraph"},
    "start": (256, 64),
}


@pytest.fixture
def picture():
    return figures.costs_by_length(LENGTHS, D_MODELS, COSTS, alt=ALT, **MORE)


def slider(page, name):
    return page.locator(f"[data-slider={name}]")


def values(page):
    cells = page.eval_on_selector_all(
        ".number",
        "all => all.map(e => [e.dataset.cost, e.dataset.kind, e.dataset.value])",
    )
    return {(int(cost), int(kind)): float(value) for cost, kind, value in cells}


def state(page):
    return page.locator(".said").inner_text()


def test_sliders_show_the_arrays_numbers(picture, tmp_path):
    with opened(tmp_path, picture) as page:
        slider(page, "d").press("Home")
        for d in range(len(D_MODELS)):
            slider(page, "n").press("Home")
            for n in range(len(LENGTHS)):
                expected = {
                    (i, j): array[d, n]
                    for i, by_kind in enumerate(COSTS.values())
                    for j, array in enumerate(by_kind.values())
                }
                assert values(page) == expected
                assert slider(page, "n").get_attribute("data-value") == (
                    f"{LENGTHS[n]}"
                )
                slider(page, "n").press("ArrowRight")
            slider(page, "d").press("ArrowRight")


def test_sizes_are_told_as_numbers_and_words(picture, tmp_path):
    with opened(tmp_path, picture) as page:
        assert state(page) == (
            "256 tokens, a paragraph; d_model 64. Cheapest in operations: recurrence; "
            "in <i>steps</i>: <b>convolution</b> and מנגנון קשב; "
            "in memory: <b>convolution</b> and recurrence."
        )
        slider(page, "n").press("End")
        assert state(page).startswith("4,096 tokens; d_model 64.")
        assert slider(page, "n").get_attribute("aria-valuetext") == "4,096 tokens"
        numbers = page.locator(".number").all_inner_texts()
        assert numbers[:3] == ["50.3 million", "16.8 million", "1.07 billion"]
        assert numbers[6:] == ["1 MiB", "1 MiB", "64 MiB"]
        times = page.locator(".times").all_inner_texts()
        assert times[:3] == ["3 ×", "least", "64 ×"]


def test_lines_cross_where_the_formulas_are_equal(picture, tmp_path):
    crossing = ".panel:first-child .crossing"
    with opened(tmp_path, picture) as page:
        for key, d in (("Home", 64), ("End", 256)):
            slider(page, "d").press(key)
            lines = (
                page.locator(crossing).inner_text().replace("\u00a0", " ").split("\n")
            )
            assert lines == [
                f"מנגנון קשב above <b>convolution</b> from n ≈ {3 * d}",
                f"מנגנון קשב above recurrence from n ≈ {d}",
            ]
            assert page.locator(".panel:first-child .cross").count() == 2


def test_crossing_at_one_of_the_lengths_is_not_rounded(tmp_path):
    n = np.array([[32, 128, 512, 2048, 8192]])
    kinds = {"attention": 4.0 * n**2 * 512, "feed-forward": 16.0 * n * 512**2}
    view = figures.costs_by_length(n[0], [512], {"operations": kinds}, alt=ALT)
    with opened(tmp_path, view) as page:
        line = page.locator(".crossing").inner_text().replace("\u00a0", " ")
        assert line == "attention above feed-forward from n ≈ 2,048"


def test_lines_are_where_the_numbers_belong(picture, tmp_path):
    with opened(tmp_path, picture) as page:
        path = page.locator(".panel:first-child > svg > .curve.kind-2").get_attribute(
            "d"
        )
        ticks = page.eval_on_selector_all(
            ".panel:first-child > svg > text[text-anchor=end]",
            "all => all.map(e => [e.textContent, +e.getAttribute('y') - 3.5])",
        )
    points = np.array(re.findall(r"[\d.]+", path), float).reshape(-1, 2)
    # Both axes are logarithmic: equal factors are equal distances.
    np.testing.assert_allclose(np.diff(points[:, 0]), np.diff(points[:, 0])[0])
    (low, y_low), (high, y_high) = ticks[0], ticks[-1]
    assert (low, high) == ("100,000", "1 billion")
    scale = (y_high - y_low) / np.log(1e9 / 1e5)
    expected = y_low + scale * np.log(COSTS["operations"][KINDS[2]][0] / 1e5)
    np.testing.assert_allclose(points[:, 1], expected, atol=1e-6)


def test_pressing_in_a_chart_chooses_the_length(picture, tmp_path):
    with opened(tmp_path, picture) as page:
        chart = page.locator(".panel > svg").nth(1)
        box = chart.bounding_box()
        chart.click(position={"x": box["width"] - 14, "y": box["height"] / 2})
        assert slider(page, "n").get_attribute("data-value") == "4096"
        assert values(page)[1, 1] == 4096


def test_tiles_have_the_memory_of_their_weights(picture, tmp_path):
    with opened(tmp_path, picture) as page:
        whole, tile = page.locator(".square p").all()
        slider(page, "n").press("End")
        slider(page, "block").press("End")
        assert whole.inner_text() == "4,096 × 4,096 weights: 64 MiB"
        assert whole.get_attribute("data-value") == str(4 * 4096**2)
        assert tile.inner_text() == (
            "128 × 128 weights: 64 KiB; 1,024 tiles, one after another"
        )
        assert tile.get_attribute("data-value") == str(4 * 128**2)
        assert page.locator(".less").inner_text().startswith("1,024 times less memory")
        side = float(page.locator(".tile").get_attribute("width"))
        assert side == 160 * 128 / 4096 and page.locator(".ring").count() == 1
        slider(page, "n").press("Home")  # now a tile is larger than the table
        assert "one tile is the whole table" in tile.inner_text()
        assert page.locator(".tile").get_attribute("width") == "160"
        assert page.locator(".less").inner_text() == ""


def test_view_is_accessible(picture, tmp_path):
    assert_accessible(tmp_path, picture)


def test_names_of_html_stay_text(picture, tmp_path):
    assert "<b>conv" not in page_text(picture) and "<i>steps" not in page_text(picture)
    with opened(tmp_path, picture) as page:
        assert page.locator(".living-view b, .living-view i").count() == 0


def test_one_length_and_one_kind_are_drawn(tmp_path):
    costs = {"steps": {"recurrence": np.array([[7.0]])}}
    figure = figures.costs_by_length([7], [2], costs, alt=ALT)
    with opened(tmp_path, figure) as page:
        assert values(page) == {(0, 0): 7.0}
        assert page.locator(".tiles").count() == 0
        assert "NaN" not in page.locator(".living-view").inner_html()


def test_static_picture_says_the_same(picture):
    drawn = [text.get_text() for text in texts(picture)]
    assert {*COSTS, *KINDS, "d_model = 64", "length n"} <= {*drawn}
    assert min(text.get_fontsize() for text in texts(picture)) >= 10
    assert overlaps(picture) == []
    for axes, by_kind in zip(picture.figure.axes, COSTS.values(), strict=False):
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
        for line, array in zip(axes.lines, by_kind.values(), strict=True):
            np.testing.assert_array_equal(line.get_ydata(), array[0])


@pytest.mark.parametrize(
    ("number", "in_bytes", "text"),
    [
        (1, False, "1"),
        (100_000, False, "100,000"),
        (1e6, False, "1 million"),
        (1e9, False, "1 billion"),
        (2.5e13, False, "25 trillion"),
        (512, True, "512 B"),
        (2**40, True, "1 TiB"),
    ],
)
def test_amount_by_hand(number, in_bytes, text):
    assert amount(number, in_bytes=in_bytes) == text


OTHER = {"operations": {"recurrence": ONES}, "memory": {"convolution": ONES}}
WRONG = {"operations": {"recurrence": ONES.T}}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lengths": []}, "must not be empty"),
        ({"costs": {}}, "must not be empty"),
        ({"lengths": [16, 64, 64, 1024, 4096]}, "lengths must increase"),
        ({"d_models": [0, 256]}, "must be at least 1, got 0"),
        ({"lengths": range(1, 42)}, "41 lengths are too many"),
        ({"costs": OTHER}, r"'memory' has the kinds \['convolution'\]"),
        ({"costs": WRONG}, r"has shape \(5, 2\), not \(2, 5\)"),
        ({"costs": {"steps": {"recurrence": ONES - 1}}}, "finite and above 0"),
        ({"costs": {"steps": {"recurrence": ONES * np.nan}}}, "finite and above 0"),
        ({"costs": {"steps": dict.fromkeys("abcde", ONES)}}, "5 kinds"),
        ({"costs": {cost: {"a": ONES} for cost in "abcdefg"}}, "7 costs are too many"),
        ({"in_bytes": ["room"]}, "'room'"),
        ({"start": (17, 64)}, r"start=\(17, 64\)"),
        ({"number_bytes": 0}, "number_bytes must be at least 1"),
    ],
)
def test_what_cannot_be_drawn_is_refused(changes, message):
    arguments = {"lengths": LENGTHS, "d_models": D_MODELS, "costs": COSTS, **MORE}
    if "costs" in changes:
        del arguments["in_bytes"]
    with pytest.raises(ValueError, match=message):
        figures.costs_by_length(**arguments | changes, alt=ALT)
