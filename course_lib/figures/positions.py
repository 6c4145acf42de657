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
    format_number,
    label_axes,
    new_axes,
    text_width,
    write_text,
)
from course_lib.figures.living import LivingFigure, numbers

MAX_POSITIONS = 128  # of a view
MAX_HANDS = 32
MAX_CLOCKS = 8  # of its picture


def clock_hands(
    encoding: np.ndarray,
    positions: Sequence[str],
    hands: Sequence[str],
    *,
    alt: str | None = None,
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


def two_positions(
    encoding: np.ndarray,
    dots: np.ndarray,
    *,
    pair: tuple[int, int],
    alt: str | None = None,
) -> LivingFigure:
    """Draw two positions as clocks with two hands each, and their dot product.

    encoding : (n, d_model), sine and cosine of a hand side by side, of the angle from
        twelve o'clock, clockwise; the picture has a clock for each of the d_model / 2
        hands, or for eight of them
    dots : (n, n), the dot products of all positions' encodings with each other
    pair : the two positions that are shown first

    Raises ``ValueError`` if a pair of columns is no hand of length 1, if dots are not
    the encodings' dot products, if pair are not two positions of the encoding, or if
    there are more than 128 positions or 64 columns.
    """
    encoding, dots = np.asarray(encoding, float), np.asarray(dots, float)
    _check_hands(encoding)
    n = len(encoding)
    if dots.shape != (n, n):
        raise ValueError(f"dots of shape {dots.shape} do not fit {n} positions")
    if not np.allclose(dots, encoding @ encoding.T, atol=1e-3):
        raise ValueError("dots must be encoding @ encoding.T, and are not")
    first, second = map(int, pair)
    if (first, second) != tuple(pair) or not 0 <= min(pair) <= max(pair) < n:
        raise ValueError(f"pair={pair!r} must be two positions from 0 to {n - 1}")
    data = {
        "encoding": numbers(encoding),
        "dots": numbers(dots),
        "pair": [first, second],
    }
    figure = _pair_of_positions(encoding, dots, first, second)
    return LivingFigure(figure, alt, "clock_hands", data)


def stripes(
    values: np.ndarray, *, ylabel: str, xlabel: str, alt: str | None = None
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
    axes: Axes,
    x: float,
    y: float,
    radius: float,
    sine: float,
    cosine: float,
    line: int,
    *,
    dashed: bool = False,
) -> None:
    """Draw a clock around (x, y), its hand as long as sine and cosine say.

    dashed : draw the hand into a clock that is there, dashed
    """
    if not dashed:
        axes.add_patch(Circle((x, y), radius, facecolor="0.97", edgecolor="0.6"))
    tip = (x + 0.9 * radius * sine, y + 0.9 * radius * cosine)
    style = {"arrowstyle": "-|>", "color": COLOURS[line % len(COLOURS)], "lw": 2}
    ends = {"shrinkA": 0, "shrinkB": 0, "linestyle": "--" if dashed else "-"}
    axes.annotate("", tip, (x, y), arrowprops=style | ends)


def _check_hands(encoding: np.ndarray) -> None:
    """Raise ``ValueError`` if this is no table of a few hands of length 1."""
    if encoding.ndim != 2 or encoding.shape[0] < 2 or not encoding.shape[1]:
        raise ValueError(
            f"encoding of shape {encoding.shape} must be (n, d_model), n at least 2"
        )
    n, d_model = encoding.shape
    if d_model % 2:
        raise ValueError(f"d_model={d_model} is odd: a hand has a sine and a cosine")
    if n > MAX_POSITIONS or d_model > 2 * MAX_HANDS:
        raise ValueError(
            f"encoding of shape {encoding.shape}: at most {MAX_POSITIONS} positions "
            f"and {2 * MAX_HANDS} columns can be drawn"
        )
    lengths = np.linalg.norm(encoding.reshape(n, -1, 2), axis=-1)
    wrong = ~(np.abs(lengths - 1) < 1e-3)  # a NaN is wrong, too
    if wrong.any():
        position, hand = np.argwhere(wrong)[0]
        raise ValueError(
            f"columns {2 * hand} and {2 * hand + 1} of position {position} are a hand "
            f"of length {lengths[position, hand]:.2f}, not 1: a sine and its cosine "
            "must be side by side"
        )


def _pair_of_positions(
    encoding: np.ndarray, dots: np.ndarray, first: int, second: int
) -> Figure:
    """Draw two positions' clocks in a row, and below it the curve of dot products."""
    n, d_model = encoding.shape
    drawn = np.unique(np.linspace(0, d_model // 2 - 1, MAX_CLOCKS).round().astype(int))
    size = min(1.2, MAX_WIDTH / len(drawn))  # inches
    height = size + 0.75 + 2.4
    figure = Figure(figsize=(MAX_WIDTH, height))
    # One unit of the upper axes is one inch, so that the clocks are round.
    axes = figure.add_axes((0, 2.4 / height, 1, 1 - 2.4 / height))
    for column, hand in enumerate(drawn):
        x = (column + 0.5) * size + (MAX_WIDTH - len(drawn) * size) / 2
        hands = encoding[:, 2 * hand : 2 * hand + 2]
        for line, position in enumerate((first, second)):
            sine, cosine = hands[position]
            radius, dashed = 0.42 * size, line == 1
            _clock(axes, x, 0.0, radius, sine, cosine, line, dashed=dashed)
        share = float(hands[first] @ hands[second])
        write_text(axes, x, size / 2 + 0.1, f"hand {hand}", ha="center")
        write_text(axes, x, -size / 2 - 0.1, format_number(share), ha="center")
    axes.set(xlim=(0, MAX_WIDTH), ylim=(-size / 2 - 0.45, size / 2 + 0.3))
    axes.set_axis_off()
    below = figure.add_axes((0.1, 0.5 / height, 0.87, 1.8 / height))
    below.plot(np.arange(n) - first, dots[first], color=COLOURS[0])
    dot = float(dots[first, second])
    below.plot([second - first], [dot], "o", ms=8, color=COLOURS[1], mfc="white", mew=2)
    title = f"positions {first} and {second}: {format_number(dot)}"
    below.set_title(title, fontsize=FONT_SIZE, loc="right")
    below.set_ylim(bottom=min(0.0, 1.1 * float(dots.min())))
    below.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    below.tick_params(labelsize=FONT_SIZE)
    below.grid(color="0.9")
    label_axes(below, "distance: second position − first position", "dot product")
    return figure
