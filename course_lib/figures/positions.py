"""Figures of lesson 05: encodings as clock hands, and large tables as stripes."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from matplotlib.ticker import MaxNLocator

from course_lib.figures.drawing import (
    COLOURS,
    FONT_SIZE,
    MAX_WIDTH,
    AccessibleFigure,
    label_axes,
    new_axes,
    text_width,
    write_text,
)


def clock_hands(
    encoding: np.ndarray, positions: Sequence[str], hands: Sequence[str], *, alt: str
) -> AccessibleFigure:
    """Draw each position's encoding as a column of clocks with one hand each.

    encoding : (n, 2 · n_hands), for each hand its sine and its cosine side by side, of
        the angle from twelve o'clock, clockwise
    positions : n labels, one per column
    hands : n_hands labels, one per row
    """
    encoding = np.asarray(encoding, dtype=float)
    if encoding.shape != (len(positions), 2 * len(hands)):
        raise ValueError(
            f"encoding of shape {encoding.shape} does not fit {len(positions)} "
            f"positions and {len(hands)} hands: it needs "
            f"{(len(positions), 2 * len(hands))}"
        )
    labels = max(map(text_width, hands)) + 0.15  # inches
    size = min(0.9, (MAX_WIDTH - labels) / len(positions))  # of a clock
    if size < max(0.3, *map(text_width, positions)):
        raise ValueError(f"{len(positions)} clocks in a row are too many to draw")
    width, height = labels + size * len(positions), size * len(hands) + 0.3
    # One unit of the axes is one inch, so that the clocks are round.
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    for column, (position, row) in enumerate(zip(positions, encoding, strict=True)):
        x = (column + 0.5) * size
        write_text(axes, x, 0.15, position, ha="center")
        for line, (sine, cosine) in enumerate(row.reshape(-1, 2)):
            _clock(axes, x, -(line + 0.5) * size, 0.42 * size, sine, cosine, line)
    for line, hand in enumerate(hands):
        write_text(axes, -0.08, -(line + 0.5) * size, hand, ha="right")
    axes.set(xlim=(-labels, size * len(positions)), ylim=(-size * len(hands), 0.3))
    axes.set_axis_off()
    return AccessibleFigure(figure, alt)


def stripes(
    values: np.ndarray, *, ylabel: str, xlabel: str, alt: str
) -> AccessibleFigure:
    """Draw a large table of positive and negative numbers as colours, zero in white.

    values : (n, m), any numbers; rows run down and columns across, counted from 0
    ylabel, xlabel : what a row is, what a column is
    """
    values = np.asarray(values, dtype=float)
    if values.ndim != 2 or not values.size:
        raise ValueError(f"values of shape {values.shape} are no table to draw")
    largest = float(np.abs(values).max()) or 1.0
    figure, axes = new_axes(5.2, 4.0)
    image = axes.imshow(values, cmap="PuOr", vmin=-largest, vmax=largest, aspect="auto")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(6, integer=True))
    label_axes(axes, xlabel, ylabel)
    figure.colorbar(image, ax=axes).ax.tick_params(labelsize=FONT_SIZE)
    return AccessibleFigure(figure, alt)


def _clock(
    axes: Axes, x: float, y: float, radius: float, sine: float, cosine: float, line: int
) -> None:
    """Draw a clock around (x, y), its hand as long as sine and cosine say."""
    axes.add_patch(Circle((x, y), radius, facecolor="0.97", edgecolor="0.6"))
    tip = (x + 0.9 * radius * sine, y + 0.9 * radius * cosine)
    style = {"arrowstyle": "-|>", "color": COLOURS[line % len(COLOURS)], "lw": 2}
    ends = {"shrinkA": 0, "shrinkB": 0}
    axes.annotate("", tip, (x, y), arrowprops=style | ends)
