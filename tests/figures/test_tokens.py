"""Figures of lesson 06: trees of merges, boxes of tokens, bars, two curves."""

import re
from itertools import pairwise

import pytest
from matplotlib.patches import Rectangle

from course_lib import figures
from tests.figures.test_figures import ALT, POINTS, contrast, overlaps, strings, texts

TREES = [("m", ("a", "t")), "s</w>"]
DEEP = [(("N", ("e", "b")), ("e", "l")), ("w", (("a", "h"), "r")), ("$", "_")]
ROWS = {
    "words": ["Ein", "Satz", "mit", "$", "und", "Niederschlagswahrscheinlichkeit"],
    "letters": [*"Regenwahrscheinlichkeit und Wetterbericht fuer alle"],
}
MERGES = [125, 250, 500, 1000, 2000, 4000, 8000, 16_000]


def trees(each=TREES):
    return figures.merge_trees(each, alt=ALT)


def rows(each=ROWS):
    return figures.token_boxes(each, alt=ALT)


def curves(**changes):
    lengths = [5.0, 4.0, 3.5, 3.0, 2.5, 2.0, 1.8, 1.5]
    sizes = {f"d_model = {d}": [n * d / 1e6 for n in MERGES] for d in (128, 512)}
    return figures.length_and_size(MERGES, lengths, sizes | changes, alt=ALT)


def bars(**changes):
    series = {"bytes": [1.0, 2.3], "English": [1.0, 9.0], "all": [1.0, 1.3]}
    names = ["English", "Greek"]
    return figures.bars(names, series | changes, xlabel="times", alt=ALT)


KINDS = {
    "trees": trees,
    "deep": lambda: trees(DEEP),
    "one_letter": lambda: trees(["a"]),
    "boxes": rows,
    "curves": curves,
    "bars": bars,
    "six_bars": lambda: bars(**{f"more {i}": [1.0, 2.0] for i in range(3)}),
}


@pytest.fixture(params=KINDS, scope="module")
def picture(request):
    return KINDS[request.param]()


def test_svg_is_the_same_at_every_call_and_fits_a_page(picture):
    assert picture.svg() == picture.svg()
    size = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', picture.svg())
    width, height = size.groups()
    assert float(width) / 72 <= 6 and float(height) / 72 <= 8


def test_texts_are_readable(picture):
    backgrounds = [p.get_facecolor() for p in tokens_of(picture)]
    for text in texts(picture):
        assert text.get_fontsize() >= POINTS
        for background in ["white", *backgrounds]:
            assert contrast(text.get_color(), background) >= 4.5


def test_texts_do_not_overlap(picture):
    assert overlaps(picture) == []


def tokens_of(picture):
    """Return the boxes around tokens: patches with an edge of their own."""
    patches = picture.figure.findobj(Rectangle)
    return [patch for patch in patches if patch.get_zorder() == 2]


def test_tree_contains_each_symbol_and_each_token():
    assert {"m", "a", "t", "at", "mat", "s</w>"} == {*strings(trees())}
    assert len(tokens_of(trees())) == 6


def test_merged_token_is_above_its_parts():
    picture = trees()
    at = {text.get_text(): text.get_position() for text in texts(picture)}
    assert at["mat"][1] > at["at"][1] > at["a"][1] == at["s</w>"][1]
    assert at["m"][0] < at["mat"][0] < at["t"][0] < at["s</w>"][0]
    (axes,) = picture.figure.axes
    assert len(axes.lines) == 4  # two for each of the two merges


def test_trees_differ_in_more_than_colour():
    picture = trees(["a", "b"])
    first, second = sorted(tokens_of(picture), key=lambda patch: patch.get_x())
    assert second.get_x() - first.get_x() - first.get_width() > 0.1
    assert first.get_facecolor() != second.get_facecolor()


def test_each_token_is_a_box_with_edge_and_gap():
    for token in ROWS["words"]:
        assert token in strings(rows())
    tokens = tokens_of(rows())
    assert len(tokens) == sum(map(len, ROWS.values()))
    for one, two in pairwise(tokens):
        same_row = one.get_y() == two.get_y()
        assert not same_row or two.get_x() > one.get_x() + one.get_width()
        assert one.get_edgecolor() != one.get_facecolor()


def test_tokens_in_columns_have_the_same_edges():
    pair = {"reads": ["to", "be", ","], "predicts": ["be", ",", "or"]}
    axes = figures.token_boxes(pair, in_columns=True, alt=ALT).figure.axes[0]
    edges = [(box.get_x(), box.get_width()) for box in axes.patches]
    assert edges[:3] == edges[3:]
    assert min(width for _, width in edges) > 0.4  # a comma's box, too
    with pytest.raises(ValueError, match="equally many tokens, got"):
        figures.token_boxes(ROWS, in_columns=True, alt=ALT)


def test_long_row_is_wrapped():
    letters = tokens_of(rows({"letters": ["ab"] * 60}))
    assert len({patch.get_y() for patch in letters}) > 1


def test_curves_have_the_numbers_passed_in():
    picture = curves()
    above, below = picture.figure.axes
    assert [*above.lines[0].get_ydata()] == [5.0, 4.0, 3.5, 3.0, 2.5, 2.0, 1.8, 1.5]
    assert [*below.lines[1].get_ydata()] == [n * 512 / 1e6 for n in MERGES]
    assert below.lines[0].get_marker() != below.lines[1].get_marker()
    assert above.get_ylim()[0] == below.get_ylim()[0] == 0  # heights can be compared


def test_bars_have_length_and_label_of_their_numbers():
    picture = bars()
    (axes,) = picture.figure.axes
    widths = [[p.get_width() for p in bar] for bar in axes.containers]
    assert widths == [[1.0, 2.3], [1.0, 9.0], [1.0, 1.3]]
    assert axes.get_xlim()[0] == 0
    assert {"9.0", "2.3", "1.3", "Greek"} <= {*strings(picture)}


def test_bars_differ_in_more_than_colour():
    (axes,) = bars().figure.axes
    assert len({bar[0].get_hatch() for bar in axes.containers}) == 3


def test_hatches_take_little_room():
    series = {f"series {i}": [1.0, 2.0] for i in range(6)}
    drawn = figures.bars(["one", "two"], series, xlabel="x", alt="Two and one.")
    assert len(drawn.svg()) < 45_000


def test_groups_of_bars_run_from_top_to_bottom():
    (axes,) = bars().figure.axes
    assert axes.yaxis.get_inverted()


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: trees([]), r"^trees=\[\]: there is nothing to draw"),
        (lambda: trees(["ab"] * 60), r"^60 symbols in a row are too wide to draw"),
        (lambda: rows({"a": ["W" * 90]}), r"^token 'W+' is too wide to draw"),
        (lambda: curves(x=[1.0]), r"^'x': 1 values for 8"),
        (lambda: bars(x=[1.0]), r"^'x' has 1 values for 2"),
    ],
)
def test_unfit_data_is_refused(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()
