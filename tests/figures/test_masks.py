"""Figures of masks: hatched where no query may attend, readable, always the same."""

import re

import numpy as np
import pytest
from matplotlib.patches import Rectangle

from course_lib import figures
from course_lib.masks import causal_mask, masked_softmax
from tests.figures.test_figures import (
    INCHES,
    POINTS,
    contrast,
    overlaps,
    strings,
    texts,
    words,
)

ALT = "Nothing but a test."
SENTENCE = ["the", "cat", "sat", "on", "it"]
MASK = causal_mask(5)
BOTH = MASK & (np.arange(5) < 3)
SCORES = np.random.default_rng(0).normal(size=(5, 5))

KINDS = {
    "one": lambda: figures.mask_heatmap(MASK, SENTENCE, SENTENCE, alt=ALT),
    "tiny": lambda: figures.mask_heatmap(causal_mask(1), ["a"], ["b"], alt=ALT),
    "three": lambda: figures.masks_side_by_side(
        {"causal": MASK, "padding": np.tile(BOTH[4], (5, 1)), "both": BOTH},
        SENTENCE,
        SENTENCE,
        alt=ALT,
    ),
    "long words": lambda: figures.mask_heatmap(
        causal_mask(2, 7, 3), words(2, "Niederschlag"), words(7, "Wind"), alt=ALT
    ),
    "weights": lambda: figures.masked_weights(
        masked_softmax(SCORES, BOTH), BOTH, SENTENCE, SENTENCE, alt=ALT
    ),
    "weights of 16": lambda: figures.masked_weights(
        masked_softmax(np.zeros((16, 16)), causal_mask(16)),
        causal_mask(16),
        [str(i) for i in range(16)],
        [str(i) for i in range(16)],
        alt=ALT,
    ),
    "losses": lambda: figures.losses(
        range(0, 300, 10),
        {name: np.linspace(2.4, end, 30) for name, end in (("a", 2.3), ("b", 0.1))},
        bounds={"ln 10: honest": 2.3, "ln 10 / 16: last position only": 0.144},
        alt=ALT,
    ),
}


@pytest.fixture(params=KINDS)
def picture(request):
    return KINDS[request.param]()


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.thorough
def test_svg_is_the_same_at_every_call(name):
    picture = KINDS[name]()
    assert picture.svg() == picture.svg() == KINDS[name]().svg()


def test_figures_fit_on_a_page(picture):
    size = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', picture.svg()).groups()
    assert float(size[0]) / 72 <= INCHES and float(size[1]) / 72 <= 6


def test_texts_are_readable(picture):
    for text in texts(picture):
        assert text.get_fontsize() >= POINTS, text
        if text.get_color() != "white":
            assert contrast(text.get_color(), "white") >= 4.5


def test_texts_do_not_overlap(picture):
    assert overlaps(picture) == []


def hatched(axes):
    """Return (row, column) of each hatched cell."""
    cells = [p for p in axes.patches if isinstance(p, Rectangle) and p.get_hatch()]
    return {(round(p.get_y() + 0.5), round(p.get_x() + 0.5)) for p in cells}


def blocked(mask):
    return {(int(i), int(j)) for i, j in np.argwhere(~mask)}


def test_exactly_the_blocked_cells_are_hatched():
    assert hatched(KINDS["one"]().figure.axes[0]) == blocked(MASK)
    assert hatched(KINDS["weights"]().figure.axes[0]) == blocked(BOTH)
    together = [hatched(axes) for axes in KINDS["three"]().figure.axes]
    assert together[0] | together[1] == together[2] == blocked(BOTH)


def test_numbers_are_in_allowed_and_in_leaking_cells():
    leaky = np.array([[0.5, 0.5], [0.25, 0.75]])
    axes = figures.masked_weights(
        leaky, causal_mask(2), words(2), words(2), alt=ALT
    ).figure.axes[0]
    assert [t.get_text() for t in axes.texts] == ["0.50", "0.50", "0.25", "0.75"]
    axes = KINDS["weights"]().figure.axes[0]
    indices = {tuple(t.get_position()[::-1]) for t in axes.texts}
    assert indices == {(int(i), int(j)) for i, j in np.argwhere(BOTH)}


def test_queries_run_down_and_keys_across():
    axes = figures.mask_heatmap(
        causal_mask(2, 3, 1), ["q0", "q1"], ["a", "b", "c"], alt=ALT
    ).figure.axes[0]
    assert [t.get_text() for t in axes.get_yticklabels()] == ["q0", "q1"]
    assert [t.get_text() for t in axes.get_xticklabels()] == ["a", "b", "c"]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]
    assert {"query (attends)", "key (attended to)"} <= {*strings(KINDS["one"]())}


def test_bounds_of_losses_are_labelled_lines():
    picture = KINDS["losses"]()
    heights = [line.get_ydata()[0] for line in picture.figure.axes[0].lines[2:]]
    assert heights == [2.3, 0.144]
    assert {"ln 10: honest", "a", "b"} <= {*strings(picture)}
    assert picture.figure.axes[0].get_ylim()[0] == 0


def test_unfit_masks_are_refused():
    with pytest.raises(TypeError, match="may_attend must be boolean, got float64"):
        figures.mask_heatmap(np.ones((2, 2)), words(2), words(2), alt=ALT)
    with pytest.raises(ValueError, match="do not fit 3 row labels"):
        figures.mask_heatmap(causal_mask(2), words(3), words(2), alt=ALT)


def test_losses_of_another_length_are_refused():
    with pytest.raises(ValueError, match=r"^'a' has 1 losses for 2 steps$"):
        figures.losses([1, 2], {"a": [1.0]}, bounds={}, alt=ALT)
