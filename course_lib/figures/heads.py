"""Figures of lesson 03: the numbers of a head, and the keys it attends to."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from course_lib.figures.drawing import (
    COLOURS,
    FONT_SIZE,
    MAX_WIDTH,
    AccessibleFigure,
    checked_weights,
    heatmap,
    text_width,
    write_text,
)

CELL, ROW, GAP, BETWEEN = 0.42, 0.3, 0.2, 0.5  # inches
TITLE = 0.62  # inches above a table: its name, and those of its heads


def coloured_heads(
    x: np.ndarray, splits: Mapping[str, np.ndarray], *, alt: str
) -> AccessibleFigure:
    """Draw tokens and what splits made of them, each number in its column's colour.

    x : (n, d_model), whole numbers, all different
    splits : name to (n_heads, n, d_model / n_heads), the same numbers in another order

    A number that is not in the head of its columns, or not in the row of its token, has
    a thick frame. There are two tables in a row.
    """
    x = np.asarray(x)
    n, d_model = x.shape
    shapes = {np.shape(split) for split in splits.values()}
    if len(shapes) != 1:
        raise ValueError(f"the splits have different shapes: {sorted(shapes)}")
    (n_heads, rows, d_k) = shapes.pop()
    if (rows, n_heads * d_k) != (n, d_model):
        raise ValueError(f"heads of {d_k} numbers do not fit x of shape {x.shape}")
    origins = {int(x[i, c]): (i, c // d_k) for i, c in np.ndindex(x.shape)}
    if len(origins) != x.size:
        raise ValueError(
            "two numbers of x are equal: their positions cannot be told apart"
        )
    tables = {"x": np.stack(np.split(x, n_heads, axis=1)), **splits}
    block = CELL * d_model + GAP * (n_heads - 1)
    across = 2 if 2 * block + BETWEEN <= MAX_WIDTH else 1
    down = -(-len(tables) // across)
    width, height = across * (block + BETWEEN), down * (TITLE + ROW * n + 0.15)
    if max(block, *map(text_width, tables)) > MAX_WIDTH:
        raise ValueError(f"{d_model} numbers in a row are too wide to draw")
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    for i, (name, table) in enumerate(tables.items()):
        left = i % across * (block + BETWEEN)
        top = -(i // across) * (TITLE + ROW * n + 0.15)
        gap = 0.0 if name == "x" else GAP  # x is not cut yet
        write_text(axes, left, top - 0.15, name, ha="left")
        for h, head in enumerate(table):
            corner = left + h * (CELL * d_k + gap), top - TITLE
            write_text(axes, corner[0], top - 0.45, f"head {h}", ha="left", color="0.4")
            _draw_head(axes, corner, head, h, origins)
    axes.set(xlim=(-0.05, width), ylim=(-height, 0))
    axes.set_axis_off()
    return AccessibleFigure(figure, alt)


def attention_of_heads(
    weights: np.ndarray, heads: Sequence[str], keys: Sequence[str], *, alt: str
) -> AccessibleFigure:
    """Draw the weights of several heads for one query: heads down, keys across.

    weights : (n_heads, m), between 0 and 1, each row summing to 1
    heads, keys : n_heads and m labels
    """
    weights = checked_weights(weights, heads, keys)
    figure, axes = heatmap(weights, heads, keys, "cividis", 0.0, 1.0)
    axes.set_xlabel("key (attended to)", fontsize=FONT_SIZE)
    axes.xaxis.set_label_position("top")
    return AccessibleFigure(figure, alt)


def _draw_head(
    axes: Axes,
    corner: tuple[float, float],
    head: np.ndarray,
    h: int,
    origins: Mapping[int, tuple[int, int]],
) -> None:
    """Draw the numbers of one head, the upper left corner of the first at corner."""
    for (i, j), number in np.ndenumerate(head):
        origin = origins[int(number)]
        x, y = corner[0] + CELL * j, corner[1] - ROW * (i + 1)
        wrong = origin != (i, h)
        size = CELL - 0.05, ROW - 0.05
        box = Rectangle((x, y), *size, fc=_tint(origin[1]), ec="0.6", lw=0.8)
        if wrong:
            box.set(edgecolor="black", linewidth=2.2)
        axes.add_patch(box)
        write_text(axes, x + size[0] / 2, y + size[1] / 2, f"{number}", ha="center")


def _tint(h: int) -> tuple[float, ...]:
    """Return a head's colour, light enough for black numbers."""
    return tuple(0.5 + 0.5 * part for part in to_rgb(COLOURS[h % len(COLOURS)]))
