"""Figures of lessons 02 and 05: keys in the plane, numbers that agree, arcs."""

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Arc, Rectangle
from matplotlib.ticker import MaxNLocator

from course_lib.figures.drawing import (
    COLOURS,
    FONT_SIZE,
    MAX_WIDTH,
    AccessibleFigure,
    checked_weights,
    format_number,
    label_axes,
    line_styles,
    new_axes,
    text_width,
    write_text,
)

BAND = 1.35  # inches of a sentence with its arcs


def queries_and_keys(
    queries: Mapping[str, np.ndarray],
    keys: Mapping[str, Mapping[str, np.ndarray]],
    *,
    alt: str | None = None,
) -> AccessibleFigure:
    """Draw queries as arrows and keys as points, each with its name.

    queries : name of a group to the group's query, (2,)
    keys : name of a group to its members' names and keys, (2,) each
    """
    if {*queries} != {*keys}:
        raise ValueError(f"queries of {[*queries]} and keys of {[*keys]} do not fit")
    figure, axes = new_axes(5.6, 5.8)
    points = [(0.0, 0.0)]
    names: list[tuple[str, tuple[float, float]]] = []
    for (group, query), (colour, marker) in zip(
        queries.items(), line_styles(len(queries)), strict=True
    ):
        members = np.array([*keys[group].values()])
        line = {"arrowstyle": "-|>", "color": colour, "lw": 2}
        ends = {"shrinkA": 0, "shrinkB": 0}
        axes.annotate("", tuple(query), (0, 0), arrowprops=line | ends)
        axes.scatter(*members.T, color=colour, marker=marker, zorder=3)
        names.append((f"query of {group}", tuple(query)))
        names += [(name, tuple(key)) for name, key in keys[group].items()]
        points += [tuple(query), *map(tuple, members)]
    axes.axhline(0, color="0.8", zorder=0)
    axes.axvline(0, color="0.8", zorder=0)
    low, high = np.min(points, axis=0), np.max(points, axis=0)
    margin = 0.2 * float((high - low).max())
    (left, bottom), (right, top) = low - margin, high + margin
    axes.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(4, integer=True))
    figure.draw_without_rendering()  # now it is known where in the figure a point is
    _write_names(axes, names, [np.asarray(query) for query in queries.values()])
    return AccessibleFigure(figure, alt)


def _write_names(
    axes: Axes,
    names: list[tuple[str, tuple[float, float]]],
    arrows: Sequence[np.ndarray],
) -> None:
    """Write names beside their points, where they cover neither names nor arrows.

    A name that has no room beside its point stands further off, with a line to it.
    """
    inch = 1 / axes.figure.dpi
    start = axes.transData.transform((0.0, 0.0)) * inch
    at = [axes.transData.transform(point) * inch for _, point in names]
    ends = [axes.transData.transform(tip) * inch for tip in arrows]
    covered = [
        along * end + (1 - along) * start
        for end in ends
        for along in np.linspace(0, 1, 40)
    ]
    covered += at
    taken: list[tuple[float, float, float, float]] = []
    window = axes.get_window_extent()
    for (name, point), (x, y) in zip(names, at, strict=True):
        width = text_width(name)
        best, fewest = (0.0, 0.0, 0.0), len(covered) + 1
        for radius, angle in product((0.11, 0.2, 0.32, 0.45, 0.6), range(0, 360, 30)):
            dx, dy = np.cos(np.radians(angle)), np.sin(np.radians(angle))
            left = x + radius * dx + width * (dx - 1) / 2
            low = y + radius * dy - 0.07 + 0.05 * dy
            box = (left - 0.03, left + width + 0.03, low - 0.02, low + 0.16)
            over = sum(box[0] < a < box[1] and box[2] < b < box[3] for a, b in covered)
            if not (
                window.x0 * inch < box[0] < box[1] < window.x1 * inch
                and window.y0 * inch < box[2] < box[3] < window.y1 * inch
            ) or any(
                box[0] < other[1]
                and other[0] < box[1]
                and box[2] < other[3]
                and other[2] < box[3]
                for other in taken
            ):
                continue
            if over < fewest:
                best, fewest = (left + width / 2 - x, low + 0.07 - y, radius), over
                chosen = box
            if not fewest:
                break
        if fewest > len(covered):
            raise ValueError(f"there is no room for the name {name!r} beside its point")
        taken.append(chosen)
        offset = (72 * best[0], 72 * best[1])
        if best[2] > 0.15:
            line = {"arrowstyle": "-", "color": "0.6", "lw": 0.8, "shrinkA": 6}
            axes.annotate(
                "", point, offset, textcoords="offset points", arrowprops=line
            )
        axes.annotate(
            name,
            point,
            offset,
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=FONT_SIZE,
            parse_math=False,
        )


def agreement(
    numbers: np.ndarray,
    others: Mapping[str, np.ndarray],
    *,
    xlabel: str,
    ylabel: str,
    alt: str | None = None,
) -> AccessibleFigure:
    """Draw numbers from several computations: equal ones lie on the diagonal.

    numbers : (n,), from one computation
    others : name of another computation to its numbers, (n,)
    """
    numbers = np.asarray(numbers, dtype=float)
    figure, axes = new_axes(4.8, 4.4)
    every = [numbers]
    sizes = np.linspace(90, 15, len(others))  # a mark inside the one before it
    for (label, values), size, (colour, marker) in zip(
        others.items(), sizes, line_styles(len(others)), strict=True
    ):
        if np.shape(values) != numbers.shape:
            raise ValueError(
                f"{label!r} has numbers of shape {np.shape(values)}, "
                f"not {numbers.shape}"
            )
        marks = axes.scatter(numbers, values, size, marker=marker, label=label)
        marks.set(facecolor="none", edgecolor=colour, zorder=3)
        every.append(np.asarray(values, dtype=float))
    low, high = float(np.min(every)), float(np.max(every))
    margin = 0.08 * ((high - low) or 1.0)
    limits = (low - margin, high + margin)
    axes.plot(limits, limits, color="0.6", lw=1, zorder=0)
    axes.set(xlim=limits, ylim=limits, aspect="equal")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(5))
    label_axes(axes, xlabel, ylabel)
    axes.legend(edgecolor="none", framealpha=0.9, fontsize=FONT_SIZE)
    return AccessibleFigure(figure, alt)


def attention_arcs(
    rows: Mapping[str, np.ndarray],
    query: int,
    fetched: Mapping[str, str],
    *,
    alt: str | None = None,
) -> AccessibleFigure:
    """Draw what one position attends to as arcs above a sentence, for each sentence.

    rows : sentence, its words between spaces, to the weights (n,) of its n words; an
        arc is as thick as its weight
    query : the position that attends, the same in all sentences
    fetched : sentence to the word that the weighted mean of its values stands for
    """
    if not rows or {*rows} != {*fetched}:
        raise ValueError(f"weights of {[*rows]} and words of {[*fetched]} do not fit")
    sentences = {name: name.split() for name in rows}
    longest = max(text_width(word) for words in sentences.values() for word in words)
    cell = longest + 0.3
    wide = cell * max(map(len, sentences.values()))
    ends = max(text_width(f"→ {word}") for word in fetched.values()) + 0.2
    if wide + ends > MAX_WIDTH:
        raise ValueError(f"{wide:.1f} inches of words are too wide to draw")
    figure = Figure(figsize=(wide + ends, BAND * len(rows)))
    axes = figure.add_axes((0, 0, 1, 1))
    for line, (name, words) in enumerate(sentences.items()):
        weights = checked_weights(np.atleast_2d(rows[name]), [""], words)[0]
        if not 0 <= query < len(words):
            raise ValueError(f"query={query} is no position of {name!r}")
        bottom = -BAND * (line + 1) + 0.15
        from_x = cell * (query + 0.5)
        for j, (word, weight) in enumerate(zip(words, weights, strict=True)):
            x, box = cell * (j + 0.5), (cell * j + 0.06, bottom)
            frame = Rectangle(box, cell - 0.12, 0.3, fill=False, ec="0.6", lw=0.8)
            if j == query:
                frame.set(edgecolor=COLOURS[1], linestyle="--", linewidth=2)
            elif weight == max(weights):
                frame.set(edgecolor=COLOURS[0], linewidth=2)
            axes.add_patch(frame)
            write_text(axes, x, bottom + 0.15, word, ha="center")
            across = abs(x - from_x) or 0.2
            height = min(0.9, 0.55 + 0.12 * abs(j - query))
            arc = Arc(
                ((x + from_x) / 2, bottom + 0.3), across, height, theta1=0, theta2=180
            )
            arc.set(edgecolor=COLOURS[0], linewidth=6 * weight, alpha=0.8)
            axes.add_patch(arc)
            if j != query and weight == max(weights):
                y = bottom + 0.45 + height / 2
                middle = (x + from_x) / 2
                write_text(axes, middle, y, format_number(weight), ha="center")
        answer = f"→ {fetched[name]}"
        write_text(axes, wide + 0.1, bottom + 0.15, answer, ha="left")
    axes.set(xlim=(0, wide + ends), ylim=(-BAND * len(rows), 0))
    axes.set_axis_off()
    return AccessibleFigure(figure, alt)
