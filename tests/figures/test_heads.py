"""Figures of heads: each number in its column's colour, misplaced ones framed."""

import itertools
import re

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle

from course_lib import figures
from tests.figures.test_figures import boxes, contrast, strings, texts

ALT = "Nothing but a test."
X = np.array([[10, 11, 12, 13], [20, 21, 22, 23], [30, 31, 32, 33]])
RIGHT = np.swapaxes(X.reshape(3, 2, 2), 0, 1)
ALONE = X.reshape(2, 3, 2)


def picture(**splits):
    return figures.coloured_heads(X, splits, alt=ALT)


def cells(picture):
    """Return (number, its rectangle) for each cell, in the order of drawing."""
    boxes = picture.figure.findobj(Rectangle)
    boxes = [b for b in boxes if b.get_edgecolor() and b.axes and b.get_width() < 1]
    numbers = [t.get_text() for t in picture.figure.axes[0].texts]
    numbers = [int(text) for text in numbers if text.isdigit()]
    return list(zip(numbers, boxes, strict=True))


def framed(picture):
    """Return the numbers that have a thick frame."""
    return {number for number, box in cells(picture) if box.get_linewidth() > 2}


def test_right_split_has_no_frames():
    assert framed(picture(right=RIGHT)) == set()


def test_numbers_misplaced_by_reshape_are_framed():
    # Only the first head of token 1 and the last head of token 3 are where they belong.
    assert framed(picture(alone=ALONE)) == {*X.flat} - {10, 11, 32, 33}


def test_rows_of_another_token_are_framed():
    assert framed(picture(turned=RIGHT[:, [1, 0, 2]])) == {*X[:2].flat}


def test_number_has_one_colour_in_all_tables():
    colours = {}
    for number, box in cells(picture(right=RIGHT, alone=ALONE)):
        colours.setdefault(number, set()).add(box.get_facecolor())
    assert all(len(each) == 1 for each in colours.values())
    by_head = [
        {colours[n].copy().pop() for n in X[:, half].flat} for half in ([0, 1], [2, 3])
    ]
    assert len(by_head[0]) == len(by_head[1]) == 1 and by_head[0] != by_head[1]


def test_each_number_is_drawn_once_in_each_table():
    drawn_numbers = [number for number, _ in cells(picture(right=RIGHT, alone=ALONE))]
    assert drawn_numbers == [
        *RIGHT.flat,
        *RIGHT.flat,
        *ALONE.flat,
    ]  # x comes head by head


def test_tables_and_heads_are_labelled():
    drawn_texts = strings(picture(right=RIGHT, alone=ALONE))
    assert [t for t in drawn_texts if not t.isdigit()] == [
        *("x", "head 0", "head 1"),
        *("right", "head 0", "head 1"),
        *("alone", "head 0", "head 1"),
    ]


def test_numbers_contrast_with_six_head_colours():
    x = np.arange(100, 118).reshape(3, 6)
    split = np.moveaxis(x, -1, 0)[..., np.newaxis]
    for _, box in cells(figures.coloured_heads(x, {"six": split}, alt=ALT)):
        assert contrast("black", to_rgb(box.get_facecolor())) >= 4.5


def test_texts_are_readable_and_do_not_overlap():
    drawn = picture(right=RIGHT, alone=ALONE, copy=ALONE)
    assert min(text.get_fontsize() for text in texts(drawn)) >= 10
    for (_, one), (_, two) in itertools.combinations(boxes(drawn), 2):
        assert not one.overlaps(two)


def test_figure_fits_on_a_page():
    svg = picture(right=RIGHT, alone=ALONE).svg()
    assert float(re.search(r'width="([\d.]+)pt"', svg)[1]) / 72 <= 6


@pytest.mark.parametrize(
    ("x", "splits", "message"),
    [
        (X, {"a": RIGHT, "b": RIGHT[:, :2]}, "different shapes"),
        (
            X,
            {"a": RIGHT[:, :, :1]},
            r"heads of 1 numbers do not fit x of shape \(3, 4\)",
        ),
        (X % 10, {"a": RIGHT % 10}, "two numbers of x are equal"),
        (np.arange(40).reshape(2, 20), {"a": np.zeros((2, 2, 10))}, "too wide"),
    ],
)
def test_unfit_splits_are_refused(x, splits, message):
    with pytest.raises(ValueError, match=message):
        figures.coloured_heads(x, splits, alt=ALT)


def test_attention_of_heads_has_labels_and_no_query_axis():
    drawn = figures.attention_of_heads(
        np.array([[0.25, 0.75], [1.0, 0.0]]),
        ["head 0", "head 1"],
        ["a", "b"],
        query="why?",
        alt=ALT,
    )
    assert [*strings(drawn)].count("key (attended to)") == 1
    assert "query of all rows: why?" in strings(drawn)
    assert "query (attends)" not in strings(drawn)
    axes = drawn.figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "head 0",
        "head 1",
    ]
    assert axes.images[0].get_clim() == (0.0, 1.0)
    assert [text.get_text() for text in axes.texts] == ["0.25", "0.75", "1.00", "0.00"]


def test_attention_of_heads_refuses_scores():
    with pytest.raises(ValueError, match="between 0 and 1"):
        figures.attention_of_heads(
            np.array([[2.0]]), ["head 0"], ["a"], query="why?", alt=ALT
        )


def products(**changes):
    """Return the arguments of a drawing of two heads, three tokens of four numbers."""
    w_q, w_o = np.arange(32.0).reshape(2, 4, 4) / 4
    x = np.eye(3, 4)
    values = np.arange(12.0).reshape(3, 4)
    weights = np.array([np.eye(3), np.full((3, 3), 1 / 3)])
    mixed = np.concatenate([weights[0] @ values[:, :2], weights[1] @ values[:, 2:]], -1)
    tables = {"x": x, "w_q": w_q, "queries": x @ w_q, "keys": -values, "values": values}
    tables |= {"side by side": mixed, "w_o": w_o, "output": mixed @ w_o}
    return tables | changes, weights, ["Bob", "kicked", "it"]


def test_products_of_heads_print_all_numbers():
    tables, weights, words = products()
    drawn = strings(figures.products_of_heads(tables, weights, words, alt=ALT))
    assert drawn.count("kicked") == 4 and "weights of head 1" in drawn
    assert drawn.count("0.33") == 9  # the second head's weights
    assert "−11" in drawn and "−0" not in drawn
    names = {"x", "w_q", "queries", "side by side", "w_o", "output"}
    assert names <= {*drawn}


def test_products_of_heads_colour_columns_and_rows_of_heads():
    drawn = figures.products_of_heads(*products(), alt=ALT)
    boxes = [b for b in drawn.figure.findobj(Rectangle) if b.get_width() < 0.4]
    colours = [b.get_facecolor() for b in boxes]
    x, w_q, w_o = colours[:12], colours[12:28], colours[-28:-12]
    assert len({*x}) == 1 and len({*w_q}) == 2
    assert w_q == [w_q[0], w_q[0], w_q[2], w_q[2]] * 4  # columns of heads
    assert w_o == [w_q[0]] * 8 + [w_q[2]] * 8  # rows of heads
    mixed = colours[-52:-40]  # weights · values
    assert mixed == [w_q[0], w_q[0], w_q[2], w_q[2]] * 3


def test_products_of_heads_follow_the_theme_on_white_cells_only():
    tables, weights, words = products(output=np.full((3, 4), 77.0))
    drawn = texts(figures.products_of_heads(tables, weights, words, alt=ALT))
    assert {t.get_color() for t in drawn if t.get_text() == "77"} == {"black"}
    assert "black" not in {t.get_color() for t in drawn if t.get_text() == "0.33"}


def test_products_of_heads_are_readable_and_fit_on_a_page():
    drawn = figures.products_of_heads(*products(), alt=ALT)
    assert min(text.get_fontsize() for text in texts(drawn)) >= 10
    for (_, one), (_, two) in itertools.combinations(boxes(drawn), 2):
        assert not one.overlaps(two)
    assert float(re.search(r'width="([\d.]+)pt"', drawn.svg())[1]) / 72 <= 6


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"w_o": np.eye(3)}, r"w_o of shape \(3, 3\) does not fit 2 heads"),
        ({"w_o": np.eye(6)}, r"side by side · w_o = output does not fit"),
        ({"keys": np.eye(4)}, r"keys of shape \(4, 4\) is no table of 3 tokens"),
        ({"values": np.zeros(3)}, r"values of shape \(3,\) is no table"),
        (
            {"x": np.zeros((3, 9)), "w_q": np.zeros((9, 4))},
            "inches in a row are too wide",
        ),
    ],
)
def test_unfit_products_of_heads_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        figures.products_of_heads(*products(**changes), alt=ALT)


def test_products_of_heads_need_every_table_and_three_axes():
    tables, weights, words = products()
    with pytest.raises(ValueError, match="tables have no 'keys'"):
        del tables["keys"]
        figures.products_of_heads(tables, weights, words, alt=ALT)
    with pytest.raises(ValueError, match="are not \\(n_heads, n, n\\)"):
        figures.products_of_heads(tables, weights[0], words, alt=ALT)
