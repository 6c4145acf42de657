"""Figures of several lessons: tables and lines of weights, arrows, curves, steps."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import LogLocator, MultipleLocator, NullLocator

from course_lib.figures.drawing import (
    COLOURS,
    FONT_SIZE,
    MAX_WIDTH,
    AccessibleFigure,
    checked_table,
    checked_weights,
    finish_curves,
    format_number,
    heatmap,
    label_axes,
    line_styles,
    new_axes,
    text_width,
    tick_step,
    write_text,
)
from course_lib.figures.living import MAX_TOKENS, LivingFigure, numbers

LabelledWeights = tuple[np.ndarray, Sequence[str], Sequence[str]]


def attention_weights(
    weights: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    alt: str | None = None,
) -> AccessibleFigure:
    """Draw attention weights as a table: queries down, keys across.

    weights : (n, m), between 0 and 1, each row summing to 1
    queries, keys : n and m labels
    """
    weights = checked_weights(weights, queries, keys)
    figure, axes = heatmap(weights, queries, keys, "cividis", 0.0, 1.0)
    axes.set_xlabel("key (attended to)", fontsize=FONT_SIZE)
    # The label is longer than one row: it then goes down, not up into the keys.
    axes.set_ylabel(
        "query (attends)",
        loc="top" if len(queries) == 1 else "center",
        fontsize=FONT_SIZE,
    )
    axes.xaxis.set_label_position("top")
    return attention_view(figure, alt, weights, queries, keys, form="table")


def signed_heatmap(
    values: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    alt: str | None = None,
) -> AccessibleFigure:
    """Draw a table of positive and negative numbers, zero in white.

    values : (n, m), any numbers; cells that hold −inf or NaN are hatched
    rows, columns : n and m labels
    """
    values = checked_table(values, rows, columns)
    largest = float(np.abs(values[np.isfinite(values)]).max(initial=0.0)) or 1.0
    figure, _ = heatmap(values, rows, columns, "PuOr", -largest, largest)
    return AccessibleFigure(figure, alt)


def arrows_in_the_plane(
    vectors: Mapping[str, np.ndarray],
    *,
    alt: str | None = None,
    xlabel: str = "",
    ylabel: str = "",
) -> AccessibleFigure:
    """Draw vectors of two numbers as arrows from the origin, each with its name.

    vectors : name to (2,)
    xlabel, ylabel : what the first and the second number say
    """
    tips = np.array([*vectors.values(), (0.0, 0.0)])  # the origin is in the figure
    figure, axes = new_axes(4.2, 4.2)
    for name, (x, y), (colour, _) in zip(
        vectors, tips[:-1], line_styles(len(vectors)), strict=True
    ):
        line = {"arrowstyle": "-|>", "color": colour, "lw": 2}
        axes.annotate(
            "", (x, y), (0, 0), arrowprops=line | {"shrinkA": 0, "shrinkB": 0}
        )
        axes.annotate(
            name,
            (x, y),
            (5 if x >= 0 else -5, 3 if y >= 0 else -3),
            textcoords="offset points",
            ha="left" if x >= 0 else "right",
            va="bottom" if y >= 0 else "top",
            fontsize=FONT_SIZE,
            parse_math=False,
        )
    axes.axhline(0, color="0.8", zorder=0)
    axes.axvline(0, color="0.8", zorder=0)
    margin = 0.2 * max(float(np.ptp(tips, axis=0).max()), 1e-9)
    low, high = tips.min(axis=0) - margin, tips.max(axis=0) + margin
    axes.set(xlim=_room_for_names(vectors, low, high), ylim=(low[1], high[1]))
    axes.set_aspect("equal")
    step = tick_step(float(tips.min()), float(tips.max()))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MultipleLocator(step))
    label_axes(axes, xlabel, ylabel)
    return AccessibleFigure(figure, alt)


def curves(
    x: Sequence[float] | np.ndarray,
    series: Mapping[str, Sequence[float] | np.ndarray],
    *,
    xlabel: str,
    ylabel: str,
    alt: str | None = None,
    logarithmic: bool = False,
) -> AccessibleFigure:
    """Draw one line per series over the same x, each with its own marker.

    x : (n,), positions along the horizontal axis
    series : label to (n,) values
    logarithmic : draw both axes on logarithmic scales
    """
    figure, axes = new_axes(5.6, 3.4)
    for (label, values), (colour, marker) in zip(
        series.items(), line_styles(len(series)), strict=True
    ):
        if len(values) != len(x):
            raise ValueError(
                f"{label!r} has {len(values)} values for {len(x)} numbers x"
            )
        axes.plot(x, values, color=colour, marker=marker, label=label)
    if logarithmic:
        _logarithmic(axes, x)
    finish_curves(axes, xlabel, ylabel)
    legend = axes.get_legend()
    if legend and len(series) > 3:  # so many names would cover the lines
        legend.remove()
        figure.legend(
            loc="outside upper center", ncols=3, edgecolor="none", fontsize=FONT_SIZE
        )
    return AccessibleFigure(figure, alt)


def attention_lines(
    weights: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    alt: str | None = None,
) -> AccessibleFigure:
    """Draw attention as lines from the queries on the left to the keys on the right.

    weights : (n, m), between 0 and 1, each row summing to 1; a line is as thick as its
        weight
    queries, keys : n and m words
    """
    weights = checked_weights(weights, queries, keys)
    figure = _lines(weights, queries, keys)
    return attention_view(figure, alt, weights, queries, keys, form="lines")


def attention_in_sentences(
    sentences: Mapping[str, LabelledWeights],
    *,
    alt: str | None = None,
) -> LivingFigure:
    """Draw attention in one of several sentences as lines; the reader chooses which.

    sentences : name of a sentence to its weights (n, m), n queries and m keys; the
        static picture is of the first
    """
    if not sentences:
        raise ValueError("sentences={}: there is nothing to draw")
    views = [
        attention_view(Figure(), alt, checked_weights(*parts), *parts[1:], form="lines")
        for parts in sentences.values()
    ]
    data = dict(views[0].data)
    data["sentences"] = [
        view.data["sentences"][0] | {"name": name}
        for name, view in zip(sentences, views, strict=True)
    ]
    first, *labels = next(iter(sentences.values()))
    figure = _lines(np.asarray(first, dtype=float), *labels)
    return LivingFigure(figure, alt, "attention", data)


def _lines(weights: np.ndarray, queries: Sequence[str], keys: Sequence[str]) -> Figure:
    labels = max(map(text_width, [*queries, *keys, "is attended to"]))
    height = 0.4 * max(len(queries), len(keys)) + 0.4
    figure, axes = new_axes(2 * labels + 1.6, height)
    for i, word in enumerate(queries):
        y = 0.5 - (i + 0.5) * len(keys) / len(queries)  # spread over the keys' height
        colour = COLOURS[i % len(COLOURS)]
        write_text(axes, -0.04, y, word, ha="right")
        for j, weight in enumerate(weights[i]):
            axes.plot([0, 1], [y, -j], lw=6 * weight, color=colour, alpha=0.75)
    for j, word in enumerate(keys):
        write_text(axes, 1.04, -j, word, ha="left")
    write_text(axes, -0.04, 1, "attends", ha="right", color="0.4")
    write_text(axes, 1.04, 1, "is attended to", ha="left", color="0.4")
    axes.set(xlim=(-0.02, 1.02), ylim=(0.4 - len(keys), 1.4))
    axes.set_axis_off()
    return figure


def attention_view(
    figure: Figure,
    alt: str | None,
    weights: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    form: str,
    heads: Sequence[str] = ("",),
    layers: Sequence[str] = ("",),
) -> LivingFigure:
    """Return a figure of attention weights whose tokens can be pointed at.

    weights : (n, m), or (n_heads, n, m) with the names of heads, or (n_layers, n_heads,
        n, m) with those of layers too
    form : "lines" or "table", what is shown first
    """
    weights = np.asarray(weights, float)
    expected = len(layers), len(heads), len(queries), len(keys)
    if weights.size != np.prod(expected):
        raise ValueError(f"weights of shape {weights.shape} are not {expected}")
    if max(len(queries), len(keys)) > MAX_TOKENS:
        raise ValueError(f"a view shows at most {MAX_TOKENS} tokens on a side")
    sentence = {
        "name": "",
        "queries": [*map(str, queries)],
        "keys": [*map(str, keys)],
        "weights": numbers(weights.reshape(expected)),
    }
    data = {
        "sentences": [sentence],
        "layers": [*layers],
        "heads": [*heads],
        "form": form,
    }
    return LivingFigure(figure, alt, "attention", data)


def steps(
    parts: Mapping[str, np.ndarray],
    *,
    alt: str | None = None,
) -> AccessibleFigure:
    """Draw arrays one below the other, each as a strip of numbers with its name.

    parts : name to (m,) or (m, d); a table is drawn row by row
    """
    rows = {
        f"{name} {i + 1}" if np.ndim(part) == 2 else name: [*map(format_number, row)]
        for name, part in parts.items()
        for i, row in enumerate(np.atleast_2d(part))
    }
    # One unit of the axes is one inch, so that a box is as wide as its number needs.
    names = max(text_width(name) for name in rows) + 0.12
    longest = max((text for row in rows.values() for text in row), key=len)
    box = max(0.56, text_width(longest) + 0.14)
    numbers = box * max(len(row) for row in rows.values())
    if names + numbers > MAX_WIDTH:
        raise ValueError(
            f"{round(numbers / box)} numbers in a row are too wide to draw"
        )
    figure = Figure(figsize=(names + numbers, 0.36 * len(rows)))
    axes = figure.add_axes((0, 0, 1, 1))
    for i, (name, row) in enumerate(rows.items()):
        y = -0.36 * i
        write_text(axes, -0.08, y, name, ha="right")
        for j, text in enumerate(row):
            corner = (box * j, y - 0.15)
            axes.add_patch(Rectangle(corner, box - 0.04, 0.3, fc="0.95", ec="0.6"))
            write_text(axes, box * j + (box - 0.04) / 2, y, text, ha="center")
    axes.set(xlim=(-names, numbers), ylim=(-0.36 * len(rows) + 0.18, 0.18))
    axes.set_axis_off()
    return AccessibleFigure(figure, alt)


def _room_for_names(
    vectors: Mapping[str, np.ndarray], low: np.ndarray, high: np.ndarray
) -> tuple[float, float]:
    """Compute the ends of the horizontal axis, so that each tip's name has room.

    low, high : (2,), corners that are in the figure in any case
    """
    inches = 3.2  # the axes are about as wide and as high, without their labels
    least = 1.2  # of them for the arrows, however long the names are
    rooms = [(x, text_width(name) + 0.12) for name, (x, _) in vectors.items()]
    right = [(high[0], 0.0), *((x, room) for x, room in rooms if x >= 0)]
    left = [(low[0], 0.0), *((x, room) for x, room in rooms if x < 0)]
    # Both axes have one scale: the widest pair of names decides, or the height.
    across = (
        (x - other) / max(inches - room - space, least)
        for x, room in right
        for other, space in left
    )
    scale = max((high[1] - low[1]) / inches, *across)  # numbers per inch
    return (
        min(x - scale * space for x, space in left),
        max(x + scale * room for x, room in right),
    )


def _logarithmic(axes: Axes, x: Sequence[float] | np.ndarray) -> None:
    """Make both scales logarithmic, with plain numbers: 0.001 instead of 10⁻³."""
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    if len(x) <= 8:  # else they would touch
        axes.set_xticks(x)
    low, high = axes.get_ylim()
    if high < 50 * low:  # else a single power of ten, or none, would be written
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter("{x:g}")
