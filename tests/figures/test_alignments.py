"""Alignment figures: known links outlined where they are, weights from 0 to 1."""

import re

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from course_lib import figures
from course_lib.figures.alignments import OUTLINE

ALT = "Nothing but a test."
WEIGHTS = np.array([[0.1, 0.7, 0.2], [0.5, 0.25, 0.25]])


def drawn(links=()):
    return figures.alignment(WEIGHTS, ["ein", "und"], [*"abc"], links, alt=ALT)


def outlines(picture):
    axes = picture.figure.axes[0]
    rectangles = [each for each in axes.patches if isinstance(each, Rectangle)]
    return [
        each for each in rectangles if to_hex(each.get_edgecolor()) == OUTLINE.lower()
    ]


def test_link_is_outlined_in_its_row_and_column():
    (outline,) = outlines(drawn([(1, 0)]))
    assert outline.get_xy() == (-0.5, 0.5)
    assert outline.get_width() == outline.get_height() == 1
    assert outlines(drawn()) == []


def test_colours_always_range_from_0_to_1():
    (image,) = drawn().figure.findobj(AxesImage, include_self=False)[:1]
    assert image.get_clim() == (0.0, 1.0)
    assert image.get_cmap().name == "cividis"


@pytest.mark.parametrize("link", [(2, 0), (0, 3), (-1, 0)])
def test_link_outside_of_the_table_is_refused(link):
    with pytest.raises(ValueError, match=r"outside of the table"):
        drawn([link])


def test_scores_are_refused():
    with pytest.raises(ValueError, match="before the softmax"):
        figures.alignment(WEIGHTS * 9, ["a", "b"], [*"abc"], alt=ALT)


@pytest.mark.parametrize("n", [3, 12, 34])
def test_figure_is_readable_repeatable_and_fits_a_page(n):
    words = [f"word {i}" for i in range(n)] if n < 20 else [*"x" * n]
    weights = np.full((n, n), 1 / n)
    picture = figures.alignment(weights, words, words, [(0, 1)], alt=ALT)
    svg = picture.svg()
    assert svg == picture.svg()
    assert float(re.search(r'width="([\d.]+)pt"', svg)[1]) / 72 <= 6.0
    axes = picture.figure.axes[0]
    assert min(t.get_fontsize() for t in axes.get_xticklabels()) >= 10
