"""Figures of lesson 09: readable, hatched where blocked, and wired as the paper is."""

import re

import numpy as np
import pytest
from matplotlib.patches import FancyArrowPatch, Rectangle

from course_lib import figures
from course_lib.figures import transformer
from course_lib.masks import causal_mask
from tests.figures.test_figures import (
    INCHES,
    POINTS,
    contrast,
    overlaps,
    strings,
    texts,
)

ALT = "Nothing but a test."
SOURCE, TARGET = ["the", "cat", "sat", "fill", "fill"], ["start", "die", "Katze"]
REAL = np.arange(5) < 3
ATTENTIONS = {
    "encoder": (np.tile(REAL, (5, 1)), SOURCE, SOURCE),
    "decoder": (causal_mask(3), TARGET, TARGET),
    "decoder to source": (np.tile(REAL, (3, 1)), TARGET, SOURCE),
}
NOTES = {
    "source": "(2, 5)",
    "x": "(2, 5, 512)",
    "target": "(2, 4)",
    "decoder input": "(2, 4)",
    "y": "(2, 4, 512)",
    "memory": "(2, 5, 512)",
    "logits": "(2, 4, 37000)",
    "attention": "1,050,624",
    "feed-forward": "2,099,712",
    "norm": "1,024",
    "embedding": "18,944,000",
}
TOTALS = ["18 × attention: 42.8%", "12 × feed-forward: 57.1%", "32 × norm: 0.1%"]
TOTALS += ["embedding: shared with embed,", "not in the 44,140,544"]
KINDS = {
    "attentions": lambda: figures.three_attentions(ATTENTIONS, alt=ALT),
    "one attention": lambda: figures.three_attentions(
        {"one": (causal_mask(1), ["a"], ["b"])}, alt=ALT
    ),
    "architecture": lambda: figures.architecture(NOTES, 6, TOTALS, alt=ALT),
}


@pytest.fixture(params=KINDS)
def picture(request):
    return KINDS[request.param]()


@pytest.mark.parametrize("name", KINDS)
def test_svg_is_the_same_at_every_call(name):
    assert KINDS[name]().svg() == KINDS[name]().svg()


def test_figures_fit_on_a_page(picture):
    size = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', picture.svg()).groups()
    assert float(size[0]) / 72 <= INCHES and float(size[1]) / 72 <= 6


def test_texts_are_readable(picture):
    for text in texts(picture):
        assert text.get_fontsize() >= POINTS, text
        assert contrast(text.get_color(), "white") >= 4.5


def test_texts_do_not_overlap(picture):
    assert overlaps(picture) == []


def test_exactly_the_blocked_cells_are_hatched():
    picture = KINDS["attentions"]()
    for axes, (mask, _, _) in zip(
        picture.figure.axes, ATTENTIONS.values(), strict=True
    ):
        cells = [p for p in axes.patches if isinstance(p, Rectangle) and p.get_hatch()]
        indices = {(round(p.get_y() + 0.5), round(p.get_x() + 0.5)) for p in cells}
        assert indices == {(int(i), int(j)) for i, j in np.argwhere(~mask)}


def test_unfit_masks_are_refused():
    def draw(mask):
        figures.three_attentions({"tall": (mask, ["a", "b"], ["c"] * 3)}, alt=ALT)

    with pytest.raises(ValueError, match=r"tall: a mask .* 2 queries and 3 keys"):
        draw(causal_mask(3))
    with pytest.raises(TypeError, match="may_attend must be boolean, got float64"):
        draw(np.ones((2, 3)))


def test_all_notes_are_written():
    text = " ".join(strings(KINDS["architecture"]()))
    for note in (*NOTES.values(), *TOTALS):
        assert note in text


def test_memory_arrow_ends_at_cross_attention():
    picture = KINDS["architecture"]()
    names = [box.name for box in transformer.DECODER]
    height = transformer._bottom(names.index("cross-attention")) + transformer.TALL / 2
    arrows = picture.figure.axes[0].findobj(FancyArrowPatch)
    ends = [arrow.get_path().vertices.max(axis=0) for arrow in arrows]
    blue = [
        end
        for arrow, end in zip(arrows, ends, strict=True)
        if arrow.get_edgecolor()[2] > 0.6 > arrow.get_edgecolor()[0]
    ]
    assert len(blue) == 1 and abs(blue[0][1] - height) < 0.1


def test_boxes_of_the_layers_are_those_of_the_paper():
    encoder = [box.name for box in transformer.ENCODER]
    decoder = [box.name for box in transformer.DECODER]
    assert encoder.count("add & norm") == 2 and decoder.count("add & norm") == 3
    feed_forward = decoder.index("feed-forward")
    assert (
        decoder.index("causal attention")
        < decoder.index("cross-attention")
        < feed_forward
    )


def test_number_of_layers_is_said_once_for_both_frames():
    texts = strings(KINDS["architecture"]())
    assert "each frame: one of 6 stacked layers" in texts
    assert not [text for text in texts if text.startswith("×")]
