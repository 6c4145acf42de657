"""Every picture of the lessons: functions from data and labels to a ``Picture``.

They draw, nothing else: no function here computes what it shows.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from course_lib.pictures import Picture

# Okabe and Ito's colours, readable with any kind of colour vision.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P")
LARGEST_WITH_NUMBERS = 8
FONT_SIZE = 10


def attention_weights(
    weights: np.ndarray, queries: Sequence[str], keys: Sequence[str], *, alt: str
) -> Picture:
    """Draw attention weights as a table: queries down, keys across.

    weights : (n, m), each row summing to 1
    queries, keys : n and m labels
    """
    figure, axes = _table(weights, queries, keys, "cividis", 0.0, 1.0)
    axes.set_ylabel("query (looks)", fontsize=FONT_SIZE)
    axes.set_xlabel("key (looked at)", fontsize=FONT_SIZE)
    axes.xaxis.set_label_position("top")
    return Picture(figure, alt)


def signed_table(
    values: np.ndarray, rows: Sequence[str], columns: Sequence[str], *, alt: str
) -> Picture:
    """Draw a table of positive and negative numbers, zero in white.

    values : (n, m), any numbers
    rows, columns : n and m labels
    """
    largest = float(np.abs(values).max()) or 1.0
    figure, _ = _table(values, rows, columns, "PuOr", -largest, largest)
    return Picture(figure, alt)


def arrows_in_the_plane(vectors: Mapping[str, np.ndarray], *, alt: str) -> Picture:
    """Draw vectors of two numbers as arrows from the origin, each with its name.

    vectors : name to (2,)
    """
    figure = Figure(figsize=(4.2, 4.2))
    axes = figure.subplots()
    largest = max(float(np.abs(vector).max()) for vector in vectors.values()) * 1.25
    for place, (name, (x, y)) in enumerate(vectors.items()):
        colour = COLOURS[place % len(COLOURS)]
        line = {"arrowstyle": "-|>", "color": colour, "lw": 2}
        axes.annotate("", (x, y), (0, 0), arrowprops=line)
        axes.annotate(
            name,
            (x, y),
            (6, 4),
            textcoords="offset points",
            fontsize=FONT_SIZE,
            color=colour,
        )
    axes.axhline(0, color="0.8", zorder=0)
    axes.axvline(0, color="0.8", zorder=0)
    axes.set_xlim(-0.25 * largest, largest)
    axes.set_ylim(-0.25 * largest, largest)
    axes.set_aspect("equal")
    return Picture(figure, alt)


def curves(
    x: Sequence[float] | np.ndarray,
    series: Mapping[str, Sequence[float] | np.ndarray],
    *,
    xlabel: str,
    ylabel: str,
    alt: str,
    logarithmic: bool = False,
) -> Picture:
    """Draw one line per series over the same x, each with its own marker.

    x : (n,), positions along the horizontal axis
    series : label to (n,) values
    logarithmic : draw both axes on logarithmic scales
    """
    figure = Figure(figsize=(5.6, 3.4))
    axes = figure.subplots()
    for place, (label, values) in enumerate(series.items()):
        style = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
        axes.plot(x, values, color=style[0], marker=style[1], label=label)
    if logarithmic:
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
    axes.set_xlabel(xlabel, fontsize=FONT_SIZE)
    axes.set_ylabel(ylabel, fontsize=FONT_SIZE)
    axes.grid(color="0.9")
    axes.legend(frameon=False, fontsize=FONT_SIZE)
    return Picture(figure, alt)


def who_looks_at_whom(
    weights: np.ndarray, queries: Sequence[str], keys: Sequence[str], *, alt: str
) -> Picture:
    """Draw the words that look on the left, those looked at on the right.

    weights : (n, m), each row summing to 1; a line is as thick as its weight
    queries, keys : n and m words
    """
    figure = Figure(figsize=(4.6, 0.34 * max(len(queries), len(keys)) + 0.6))
    axes = figure.subplots()
    for i, word in enumerate(queries):
        axes.text(-0.04, -i, word, ha="right", va="center", fontsize=FONT_SIZE + 1)
        for j, weight in enumerate(weights[i]):
            axes.plot([0, 1], [-i, -j], lw=6 * weight, color=COLOURS[0], alpha=0.75)
    for j, word in enumerate(keys):
        axes.text(1.04, -j, word, ha="left", va="center", fontsize=FONT_SIZE + 1)
    axes.text(-0.04, 1, "looks", ha="right", fontsize=FONT_SIZE, color="0.4")
    axes.text(1.04, 1, "is looked at", ha="left", fontsize=FONT_SIZE, color="0.4")
    axes.set_xlim(-0.7, 1.7)
    axes.set_axis_off()
    return Picture(figure, alt)


def steps(parts: Mapping[str, np.ndarray], *, alt: str) -> Picture:
    """Draw arrays one below the other, each as a strip of numbers with its name.

    parts : name to (m,) or (m, d); a table is drawn row by row
    """
    rows = {
        f"{name} {i + 1}" if np.ndim(part) == 2 else name: row
        for name, part in parts.items()
        for i, row in enumerate(np.atleast_2d(part))
    }
    widest = max(len(row) for row in rows.values())
    figure = Figure(figsize=(min(6.0, 1.6 + 0.75 * widest), 0.42 * len(rows) + 0.3))
    axes = figure.subplots()
    for place, (name, row) in enumerate(rows.items()):
        axes.text(-0.15, -place, name, ha="right", va="center", fontsize=FONT_SIZE)
        for j, number in enumerate(row):
            box = Rectangle((j, -place - 0.4), 0.95, 0.8, fc="0.95", ec="0.6")
            axes.add_patch(box)
            shown = f"{number:.2f}"
            axes.text(j + 0.47, -place, shown, ha="center", va="center", fontsize=10)
    axes.set_xlim(-2.2, widest)
    axes.set_ylim(-len(rows) + 0.4, 0.6)
    axes.set_axis_off()
    return Picture(figure, alt)


def _table(
    values: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    colours: str,
    low: float,
    high: float,
) -> tuple[Figure, Axes]:
    """Draw numbers as a coloured table, the numbers printed where they fit."""
    values = np.asarray(values, dtype=float)
    if values.shape != (len(rows), len(columns)):
        raise ValueError(
            f"values of shape {values.shape} do not fit {len(rows)} row labels and "
            f"{len(columns)} column labels"
        )
    height, width = values.shape
    figure = Figure(figsize=(min(6.0, 1.2 + 0.62 * width), 0.7 + 0.42 * height))
    axes = figure.subplots()
    image = axes.imshow(values, cmap=colours, vmin=low, vmax=high, aspect="auto")
    axes.set_xticks(range(width), columns, fontsize=FONT_SIZE, rotation=45, ha="left")
    axes.set_yticks(range(height), rows, fontsize=FONT_SIZE)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    if max(height, width) <= LARGEST_WITH_NUMBERS:
        _print_numbers(axes, values, image)
    else:
        figure.colorbar(image, ax=axes)
    return figure, axes


def _print_numbers(axes: Axes, values: np.ndarray, image: object) -> None:
    """Print each number in black or white, whichever reads better on its colour."""
    for (i, j), number in np.ndenumerate(values):
        red, green, blue, _ = image.cmap(image.norm(number))  # type: ignore[attr-defined]
        light = 0.299 * red + 0.587 * green + 0.114 * blue > 0.5
        colour = "black" if light else "white"
        text = f"{number:.2f}".replace("-", "−")
        axes.text(j, i, text, ha="center", va="center", color=colour, fontsize=10)
