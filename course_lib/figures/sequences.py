"""Figures of lesson 02: learned queries and keys in the plane, numbers that agree."""

from collections.abc import Mapping

import numpy as np
from matplotlib.ticker import MaxNLocator

from course_lib.figures.drawing import (
    FONT_SIZE,
    AccessibleFigure,
    label_axes,
    line_styles,
    new_axes,
)


def queries_and_keys(
    queries: Mapping[str, np.ndarray],
    keys: Mapping[str, Mapping[str, np.ndarray]],
    *,
    alt: str,
) -> AccessibleFigure:
    """Draw queries as arrows with their names, and keys as points, group by group.

    queries : name of a group to the group's query, (2,)
    keys : name of a group to its members' names and keys, (2,) each
    """
    if {*queries} != {*keys}:
        raise ValueError(f"queries of {[*queries]} and keys of {[*keys]} do not fit")
    figure, axes = new_axes(4.6, 5.2)
    points = [(0.0, 0.0)]
    for (group, query), (colour, marker) in zip(
        queries.items(), line_styles(len(queries)), strict=True
    ):
        members = np.array([*keys[group].values()])
        line = {"arrowstyle": "-|>", "color": colour, "lw": 2}
        ends = {"shrinkA": 0, "shrinkB": 0}
        axes.annotate("", tuple(query), (0, 0), arrowprops=line | ends)
        axes.annotate(
            f"query of {group}",
            tuple(query),
            (0, 4 if query[1] >= 0 else -4),
            textcoords="offset points",
            ha="center",
            va="bottom" if query[1] >= 0 else "top",
            fontsize=FONT_SIZE,
            parse_math=False,
        )
        label = "keys of " + ", ".join(keys[group])
        axes.scatter(*members.T, color=colour, marker=marker, label=label, zorder=3)
        points += [tuple(query), *map(tuple, members)]
    axes.axhline(0, color="0.8", zorder=0)
    axes.axvline(0, color="0.8", zorder=0)
    low, high = np.min(points, axis=0), np.max(points, axis=0)
    margin = 0.2 * float((high - low).max())
    (left, bottom), (right, top) = low - margin, high + margin
    axes.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(4, integer=True))
    figure.legend(loc="outside lower center", edgecolor="none", fontsize=FONT_SIZE)
    return AccessibleFigure(figure, alt)


def agreement(
    numbers: np.ndarray,
    others: Mapping[str, np.ndarray],
    *,
    xlabel: str,
    ylabel: str,
    alt: str,
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
