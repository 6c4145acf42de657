"""Figures of lesson 08: three attentions with their masks, and the architecture."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

from course_lib.arguments import require_boolean
from course_lib.figures.drawing import (
    COLOURS,
    FONT_SIZE,
    MAX_WIDTH,
    AccessibleFigure,
    label_cells,
    text_width,
    write_text,
)
from course_lib.figures.masks import draw_mask

LabelledMask = tuple[np.ndarray, Sequence[str], Sequence[str]]

# A box's name, which note stands in it, and its colour: what computes is coloured.
Box = tuple[str, str, str]
PLAIN_COLOUR, ATTENTION_COLOUR = "white", "#BFDDF1"
FEED_FORWARD_COLOUR, NORM_COLOUR = "#FBE3BE", "#E6E6E6"
ADD_AND_NORM = "add & norm"
ENCODER: tuple[Box, ...] = (
    ("source", "source", PLAIN_COLOUR),
    ("embed", "x", PLAIN_COLOUR),
    ("attention", "attention", ATTENTION_COLOUR),
    (ADD_AND_NORM, "norm", NORM_COLOUR),
    ("feed-forward", "feed-forward", FEED_FORWARD_COLOUR),
    (ADD_AND_NORM, "norm", NORM_COLOUR),
    ("norm", "norm", NORM_COLOUR),
)
DECODER: tuple[Box, ...] = (
    ("target", "target", PLAIN_COLOUR),
    ("shift_right", "decoder input", PLAIN_COLOUR),
    ("embed", "y", PLAIN_COLOUR),
    ("causal attention", "attention", ATTENTION_COLOUR),
    (ADD_AND_NORM, "norm", NORM_COLOUR),
    ("cross-attention", "attention", ATTENTION_COLOUR),
    (ADD_AND_NORM, "norm", NORM_COLOUR),
    ("feed-forward", "feed-forward", FEED_FORWARD_COLOUR),
    (ADD_AND_NORM, "norm", NORM_COLOUR),
    ("norm", "norm", NORM_COLOUR),
    ("@ embedding.T", "embedding", PLAIN_COLOUR),
)
STEP, TALL, WIDE = 0.47, 0.28, 2.2  # inches: box to box, and a box
LEFT, RIGHT = 0.3, 3.3  # of the two columns


def three_attentions(
    attentions: Mapping[str, LabelledMask], *, alt: str
) -> AccessibleFigure:
    """Draw masks with queries and keys of their own, in one row.

    attentions : name to mask (n, m) of booleans, labels of its n queries and m keys
    """
    columns = sum(len(keys) for _, _, keys in attentions.values())
    labels = [max(map(text_width, queries)) for _, queries, _ in attentions.values()]
    most = max(len(queries) for _, queries, _ in attentions.values())
    below = max(text_width(key) for _, _, keys in attentions.values() for key in keys)
    room = MAX_WIDTH - sum(labels) - 0.35 * len(attentions)
    cell = min(0.36, room / columns)
    widths = [
        label + 0.35 + cell * len(keys)
        for label, (_, _, keys) in zip(labels, attentions.values(), strict=True)
    ]
    figure = Figure(figsize=(sum(widths), cell * most + below + 0.55))
    height = figure.get_figheight()
    start = 0.0
    for (name, (mask, queries, keys)), label, width in zip(
        attentions.items(), labels, widths, strict=True
    ):
        require_boolean(mask)
        if mask.shape != (len(queries), len(keys)):
            raise ValueError(
                f"{name}: a mask {mask.shape} does not fit {len(queries)} queries and "
                f"{len(keys)} keys"
            )
        tall = cell * len(queries)
        corner = (
            (start + label + 0.15) / sum(widths),
            1 - (below + 0.12 + tall) / height,
        )
        axes = figure.add_axes((*corner, cell * len(keys) / sum(widths), tall / height))
        axes.set(xlim=(-0.5, len(keys) - 0.5), ylim=(len(queries) - 0.5, -0.5))
        draw_mask(axes, mask)
        label_cells(axes, queries, keys, rotation=90)
        axes.set_xlabel(name, fontsize=FONT_SIZE)
        start += width
    return AccessibleFigure(figure, alt)


def architecture(
    notes: Mapping[str, str], n_layers: int, totals: Sequence[str] = (), *, alt: str
) -> AccessibleFigure:
    """Draw the paper's encoder and decoder, from the tokens at the bottom upwards.

    notes : what is written

        - in the boxes: shapes for "source", "x" (embedded), "target", "decoder input"
          (shifted right) and "y" (embedded); numbers of parameters for "attention",
          "feed-forward", "norm" and "embedding";
        - at the arrows: shapes for "memory" and "logits".
    n_layers : how often the framed layer is repeated
    totals : lines that are written above the encoder
    """
    height = STEP * (len(DECODER) + 1) + 0.1
    figure = Figure(figsize=(MAX_WIDTH, height))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set(xlim=(0, MAX_WIDTH), ylim=(0, height))
    axes.axis("off")
    # The residual connections are outside: between the columns the memory passes.
    _column(axes, LEFT, ENCODER, notes, first=2, sublayers=2, beside=LEFT - 0.16)
    right = RIGHT + WIDE + 0.16
    _column(axes, RIGHT, DECODER, notes, first=3, sublayers=3, beside=right)
    for corner, first, sublayers in ((LEFT - 0.25, 2, 2), (RIGHT - 0.08, 3, 3)):
        bottom = _bottom(first) - 0.15
        frame = Rectangle(
            (corner, bottom), WIDE + 0.33, STEP * 2 * sublayers + 0.06, fill=False
        )
        frame.set(edgecolor="black", linestyle="--")
        axes.add_patch(frame)
    beside = LEFT + WIDE + 0.13, RIGHT - 0.13
    write_text(axes, beside[0], _bottom(2), f"× {n_layers}", ha="left")
    write_text(axes, beside[1], _bottom(3), f"× {n_layers}", ha="right")
    top = _bottom(6) + TALL  # of the encoder
    lines = [f"framed: one of {n_layers} layers", *totals]
    for number, line in enumerate(reversed(lines)):
        write_text(axes, LEFT, top + 0.65 + 0.2 * number, line, ha="left")
    _memory(axes, notes["memory"])
    last = _bottom(len(DECODER) - 1) + TALL
    _arrow(axes, (RIGHT + WIDE / 2, last), (RIGHT + WIDE / 2, last + 0.2))
    write_text(axes, RIGHT + WIDE / 2 + 0.08, last + 0.12, notes["logits"], ha="left")
    return AccessibleFigure(figure, alt)


def _bottom(row: int) -> float:
    return 0.1 + STEP * row


def _column(
    axes: Axes,
    left: float,
    boxes: Sequence[Box],
    notes: Mapping[str, str],
    first: int,
    sublayers: int,
    beside: float,
) -> None:
    """Draw boxes upwards, arrows between them, and the residual connections."""
    middle = left + WIDE / 2
    for row, (name, note, colour) in enumerate(boxes):
        y = _bottom(row)
        box = FancyBboxPatch(
            (left, y), WIDE, TALL, boxstyle="round,pad=0,rounding_size=0.06"
        )
        box.set(facecolor=colour, edgecolor="black")
        axes.add_patch(box)
        write_text(axes, left + 0.07, y + TALL / 2, name, ha="left")
        write_text(axes, left + WIDE - 0.07, y + TALL / 2, notes[note], ha="right")
        if row:
            _arrow(axes, (middle, _bottom(row - 1) + TALL), (middle, y))
    for row in range(first, first + 2 * sublayers, 2):
        below, edge = _bottom(row) - 0.09, left if beside < left else left + WIDE
        into = _bottom(row + 1) + TALL / 2
        axes.plot(
            [middle, beside, beside], [below, below, into], color=COLOURS[1], lw=1.5
        )
        _arrow(axes, (beside, into), (edge, into), colour=COLOURS[1])


def _memory(axes: Axes, shape: str) -> None:
    """Draw the line from the encoder's top to the decoder's second attention."""
    top = _bottom(6) + TALL
    turn, into = (LEFT + WIDE + RIGHT) / 2 - 0.1, _bottom(5) + TALL / 2
    middle = LEFT + WIDE / 2
    axes.plot(
        [middle, middle, turn, turn],
        [top, top + 0.2, top + 0.2, into],
        color=COLOURS[0],
        lw=2,
    )
    _arrow(axes, (turn, into), (RIGHT, into), colour=COLOURS[0])
    write_text(axes, LEFT, top + 0.35, f"memory {shape}", ha="left")


def _arrow(
    axes: Axes,
    start: tuple[float, float],
    end: tuple[float, float],
    colour: str = "black",
) -> None:
    arrow = FancyArrowPatch(
        start, end, arrowstyle="-|>", mutation_scale=9, shrinkA=0, shrinkB=0
    )
    arrow.set(color=colour, linewidth=1.5)
    axes.add_patch(arrow)
