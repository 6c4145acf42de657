"""Figures of positions: clocks that point the right way, stripes with zero in white."""

import re

import numpy as np
import pytest
from matplotlib.image import AxesImage
from matplotlib.patches import Circle
from matplotlib.text import Annotation

from course_lib import figures
from course_lib.positions import sinusoidal_encoding

ALT = "Nothing but a test."
HANDS = ["fast hand", "slow hand"]


def clocks(encoding):
    positions = [str(position) for position in range(len(encoding))]
    hands = [f"hand {i}" for i in range(encoding.shape[1] // 2)]
    return figures.clock_hands(encoding, positions, hands, alt=ALT)


def hands_of(picture):
    """Return the direction of each hand, row by row of the encoding."""
    arrows = [
        child
        for child in picture.figure.axes[0].texts
        if isinstance(child, Annotation) and child.arrow_patch
    ]
    return np.array([np.subtract(arrow.xy, arrow.xyann) for arrow in arrows])


def test_hand_starts_at_twelve_and_turns_clockwise():
    quarter = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, -1.0], [-1.0, 0.0]])
    x, y = hands_of(clocks(quarter)).T
    np.testing.assert_allclose(x / y.max(), [0, 1, 0, -1], atol=1e-9)
    np.testing.assert_allclose(y / y.max(), [1, 0, -1, 0], atol=1e-9)


def test_each_clock_has_one_hand_of_equal_length():
    picture = clocks(sinusoidal_encoding(6, 4, 100.0))
    assert len(picture.figure.findobj(Circle)) == len(hands_of(picture)) == 12
    lengths = np.linalg.norm(hands_of(picture), axis=-1)
    np.testing.assert_allclose(lengths, lengths[0])


def test_clocks_are_round():
    axes = clocks(sinusoidal_encoding(5, 4)).figure.axes[0]
    width, height = axes.figure.get_size_inches()
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    assert np.isclose((right - left) / width, (top - bottom) / height)


@pytest.mark.parametrize(("n", "d_model"), [(4, 3), (4, 6), (3, 4)])
def test_labels_that_do_not_fit_are_refused(n, d_model):
    with pytest.raises(ValueError, match=r"does not fit 4 positions and 2 hands"):
        figures.clock_hands(np.zeros((n, d_model)), [*"0123"], HANDS, alt=ALT)


def test_too_many_clocks_are_refused():
    with pytest.raises(ValueError, match="40 clocks in a row"):
        clocks(sinusoidal_encoding(40, 4))


def test_colours_of_stripes_are_symmetric():
    values = np.array([[1.0, -3.0, 0.5], [0.0, 2.0, 1.0]])
    picture = figures.stripes(values, ylabel="position", xlabel="column", alt=ALT)
    (image,) = picture.figure.findobj(AxesImage, include_self=False)[:1]
    assert image.get_clim() == (-3.0, 3.0)
    assert image.get_cmap().name == "PuOr"
    assert min(image.cmap(image.norm(0.0))[:3]) > 0.94


def test_stripes_refuse_a_vector():
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        figures.stripes(np.zeros(3), ylabel="position", xlabel="column", alt=ALT)


@pytest.mark.parametrize(
    "picture",
    [
        clocks(sinusoidal_encoding(8, 4)),
        figures.stripes(sinusoidal_encoding(64, 64), ylabel="a", xlabel="b", alt=ALT),
    ],
)
def test_figures_are_readable_repeatable_and_fit_a_page(picture):
    svg = picture.svg()
    assert svg == picture.svg()
    width = re.search(r'width="([\d.]+)pt"', svg)[1]
    assert float(width) / 72 <= 6.0
    axes = picture.figure.axes[0]
    texts = [*axes.texts, axes.xaxis.label, axes.yaxis.label, *axes.get_xticklabels()]
    assert min(t.get_fontsize() for t in texts if t.get_text().strip()) >= 10
