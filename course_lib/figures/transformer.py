"""Pictures of lesson 08: three looks with their masks, and the whole architecture."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

from course_lib.figures.drawing import (
    BLOCKED,
    COLOURS,
    FONT_SIZE,
    WIDEST,
    Picture,
    text_width,
    write,
)
from course_lib.figures.masks import ALLOWED

Look = tuple[np.ndarray, Sequence[str], Sequence[str]]

# A box's name, which note stands in it, and its colour: what computes is coloured.
Box = tuple[str, str, str]
PLAIN, LOOKS, THINKS, NORMS = "white", "#BFDDF1", "#FBE3BE", "#E6E6E6"
SUM = "sum, norm"
ENCODER: tuple[Box, ...] = (
    ("source", "source", PLAIN),
    ("embed", "x", PLAIN),
    ("attention", "attention", LOOKS),
    (SUM, "norm", NORMS),
    ("feed-forward", "feed-forward", THINKS),
    (SUM, "norm", NORMS),
    ("norm", "norm", NORMS),
)
DECODER: tuple[Box, ...] = (
    ("target", "target", PLAIN),
    ("shift_right", "read", PLAIN),
    ("embed", "y", PLAIN),
    ("causal attention", "attention", LOOKS),
    (SUM, "norm", NORMS),
    ("look at memory", "attention", LOOKS),
    (SUM, "norm", NORMS),
    ("feed-forward", "feed-forward", THINKS),
    (SUM, "norm", NORMS),
    ("norm", "norm", NORMS),
    ("@ table.T", "table", PLAIN),
)
STEP, TALL, WIDE = 0.47, 0.28, 2.2  # inches: box to box, and a box
LEFT, RIGHT = 0.3, 3.3  # of the two columns


def three_looks(looks: Mapping[str, Look], *, alt: str) -> Picture:
    """Draw masks with queries and keys of their own beside each other.

    looks : name to mask (n, m) of booleans, labels of its n queries and of its m keys
    """
    columns = sum(len(keys) for _, _, keys in looks.values())
    labels = [max(map(text_width, queries)) for _, queries, _ in looks.values()]
    most = max(len(queries) for _, queries, _ in looks.values())
    below = max(text_width(key) for _, _, keys in looks.values() for key in keys)
    room = WIDEST - sum(labels) - 0.35 * len(looks)
    cell = min(0.36, room / columns)
    widths = [
        label + 0.35 + cell * len(keys)
        for label, (_, _, keys) in zip(labels, looks.values(), strict=True)
    ]
    figure = Figure(figsize=(sum(widths), cell * most + below + 0.55))
    height = figure.get_figheight()
    start = 0.0
    for (name, (mask, queries, keys)), label, width in zip(
        looks.items(), labels, widths, strict=True
    ):
        if mask.dtype != bool or mask.shape != (len(queries), len(keys)):
            raise ValueError(
                f"{name}: a mask {mask.dtype} {mask.shape} is not booleans for "
                f"{len(queries)} queries and {len(keys)} keys"
            )
        tall = cell * len(queries)
        corner = (
            (start + label + 0.15) / sum(widths),
            1 - (below + 0.12 + tall) / height,
        )
        axes = figure.add_axes((*corner, cell * len(keys) / sum(widths), tall / height))
        _table(axes, mask, queries, keys)
        axes.set_xlabel(name, fontsize=FONT_SIZE)
        start += width
    return Picture(figure, alt)


def architecture(
    notes: Mapping[str, str], n_layers: int, totals: Sequence[str] = (), *, alt: str
) -> Picture:
    """Draw the paper's encoder and decoder, from the tokens at the bottom upwards.

    notes : what is written in the boxes: shapes for "source", "x" (embedded), "target",
        "read" (shifted right) and "y" (embedded); numbers of parameters for
        "attention", "feed-forward", "norm" and "table"; beside the arrows: shapes for
        "memory" and "scores"
    n_layers : how often what is framed is repeated
    totals : lines that are written above the encoder
    """
    height = STEP * (len(DECODER) + 1) + 0.1
    figure = Figure(figsize=(WIDEST, height))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set(xlim=(0, WIDEST), ylim=(0, height))
    axes.axis("off")
    # The ways round stand outside: between the columns the memory passes.
    _column(axes, LEFT, ENCODER, notes, first=2, parts=2, beside=LEFT - 0.16)
    _column(axes, RIGHT, DECODER, notes, first=3, parts=3, beside=RIGHT + WIDE + 0.16)
    for corner, first, parts in ((LEFT - 0.25, 2, 2), (RIGHT - 0.08, 3, 3)):
        bottom = _bottom(first) - 0.15
        frame = Rectangle(
            (corner, bottom), WIDE + 0.33, STEP * 2 * parts + 0.06, fill=False
        )
        frame.set(edgecolor="black", linestyle="--")
        axes.add_patch(frame)
    beside = LEFT + WIDE + 0.13, RIGHT - 0.13
    write(axes, beside[0], _bottom(2), f"× {n_layers}", ha="left")
    write(axes, beside[1], _bottom(3), f"× {n_layers}", ha="right")
    top = _bottom(6) + TALL  # of the encoder
    lines = [f"framed: one of {n_layers} layers", *totals]
    for number, line in enumerate(reversed(lines)):
        write(axes, LEFT, top + 0.65 + 0.2 * number, line, ha="left")
    _memory(axes, notes["memory"])
    last = _bottom(len(DECODER) - 1) + TALL
    _arrow(axes, (RIGHT + WIDE / 2, last), (RIGHT + WIDE / 2, last + 0.2))
    write(axes, RIGHT + WIDE / 2 + 0.08, last + 0.12, notes["scores"], ha="left")
    return Picture(figure, alt)


def _bottom(place: int) -> float:
    return 0.1 + STEP * place


def _column(
    axes: Axes,
    left: float,
    boxes: Sequence[Box],
    notes: Mapping[str, str],
    first: int,
    parts: int,
    beside: float,
) -> None:
    """Draw boxes upwards, arrows between them, and the way round each part, beside."""
    middle = left + WIDE / 2
    for place, (name, note, colour) in enumerate(boxes):
        y = _bottom(place)
        box = FancyBboxPatch(
            (left, y), WIDE, TALL, boxstyle="round,pad=0,rounding_size=0.06"
        )
        box.set(facecolor=colour, edgecolor="black")
        axes.add_patch(box)
        write(axes, left + 0.07, y + TALL / 2, name, ha="left")
        write(axes, left + WIDE - 0.07, y + TALL / 2, notes[note], ha="right")
        if place:
            _arrow(axes, (middle, _bottom(place - 1) + TALL), (middle, y))
    for number in range(parts):
        place = first + 2 * number
        below, edge = _bottom(place) - 0.09, left if beside < left else left + WIDE
        into = _bottom(place + 1) + TALL / 2
        axes.plot(
            [middle, beside, beside], [below, below, into], color=COLOURS[1], lw=1.5
        )
        _arrow(axes, (beside, into), (edge, into), colour=COLOURS[1])


def _memory(axes: Axes, shape: str) -> None:
    """Draw the way from the encoder's top to the decoder's second attention."""
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
    write(axes, LEFT, top + 0.35, f"memory {shape}", ha="left")


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


def _table(
    axes: Axes, mask: np.ndarray, queries: Sequence[str], keys: Sequence[str]
) -> None:
    """Draw one mask: queries down, keys across, blocked cells hatched."""
    axes.set(xlim=(-0.5, len(keys) - 0.5), ylim=(len(queries) - 0.5, -0.5))
    for i, j in np.ndindex(mask.shape):
        colour = ALLOWED if mask[i, j] else BLOCKED
        axes.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, fc=colour, ec="white"))
        if not mask[i, j]:
            blocked = Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, lw=0)
            blocked.set(hatch="///", edgecolor="0.55")
            axes.add_patch(blocked)
    text = {"fontsize": FONT_SIZE, "parse_math": False}
    axes.set_xticks(range(len(keys)), keys, rotation=90, **text)  # type: ignore[arg-type]
    axes.set_yticks(range(len(queries)), queries, **text)  # type: ignore[arg-type]
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
