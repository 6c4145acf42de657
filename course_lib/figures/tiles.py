"""Figure of lesson 14: attention by tiles, with what is known of each query so far."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from course_lib.figures.drawing import (
    COLOURS,
    MAX_ANNOTATED,
    checked_table,
    format_number,
    text_width,
    write_text,
)
from course_lib.figures.living import LivingFigure, numbers
from course_lib.lessons.tile_steps import TileStep

MAX_VALUES = 2  # numbers of an output that fit beside the table
CELL, ROW = 0.46, 0.36  # inches


def tiling(
    scores: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    runs: Mapping[str, Sequence[TileStep]],
    *,
    alt: str | None = None,
) -> LivingFigure:
    """Draw how attention goes through a table of scores tile by tile.

    Only the scores of the present tile are shown. Beside them is what is known of each
    query: the maximum, the sum and the output so far.

    scores : (n, m), finite; at most 8 on a side
    queries, keys : n and m labels
    runs : name to the steps of ``record_tiles``; the reader chooses one, and the static
        picture is the middle of the first

    Raises ``ValueError`` if there is nothing to draw or too much.
    """
    scores = checked_table(scores, queries, keys)
    if max(scores.shape) > MAX_ANNOTATED:
        raise ValueError(
            f"scores of shape {scores.shape} are too large to draw: at most "
            f"{MAX_ANNOTATED} on a side"
        )
    if not runs or not all(runs.values()):
        raise ValueError("runs must have steps: there is nothing to draw")
    for name, steps in runs.items():
        shape = steps[0].output.shape
        if shape[0] != len(queries) or not 1 <= shape[1] <= MAX_VALUES:
            raise ValueError(
                f"the outputs of {name!r} have shape {shape}: they must be of "
                f"{len(queries)} queries and at most {MAX_VALUES} numbers"
            )
    data = {
        "queries": [*map(str, queries)],
        "keys": [*map(str, keys)],
        "scores": numbers(scores),
        "runs": [
            {"name": str(name), "steps": [*map(_step_data, steps)]}
            for name, steps in runs.items()
        ],
    }
    first = next(iter(runs.values()))
    figure = _draw(scores, data["queries"], data["keys"], first, len(first) // 2)
    return LivingFigure(figure, alt, "tiling", data)


def _step_data(step: TileStep) -> dict[str, Any]:
    begun = np.isfinite(step.maximum)
    return {
        "queries": [*step.queries],
        "keys": [*step.keys],
        "begun": begun.tolist(),
        "factor": numbers(step.factor),
        "maximum": numbers(np.where(begun, step.maximum, 0.0)),
        "total": numbers(step.total),
        "output": numbers(step.output),
    }


def _draw(
    scores: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    steps: Sequence[TileStep],
    at: int,
) -> Figure:
    """Draw the table at a step; one unit of the axes is one inch."""
    n, m = scores.shape
    step = steps[at]
    d_v = step.output.shape[1]
    names = ["maximum", "sum", *(["output"] if d_v == 1 else ["output", ""])]
    label = max(map(text_width, queries)) + 0.12
    beside = m * CELL + 0.15
    wide = beside + 0.75 * len(names)
    figure = Figure(figsize=(label + wide, ROW * (n + 1)))
    axes = figure.add_axes((0, 0, 1, 1))
    for j, key in enumerate(keys):
        write_text(axes, CELL * (j + 0.5), ROW, key, ha="center")
    for x, name in enumerate(names):
        write_text(axes, beside + 0.75 * x + 0.7, ROW, name, ha="right")
    past = {
        (i, j)
        for each in steps[:at]
        for i in range(*each.queries)
        for j in range(*each.keys)
    }
    for i, query in enumerate(queries):
        y = -ROW * i
        write_text(axes, -0.08, y, query, ha="right")
        for j in range(m):
            corner = (CELL * j, y - ROW / 2)
            present = i in range(*step.queries) and j in range(*step.keys)
            colour = "#bfddf1" if present else "0.95"
            cell = Rectangle(corner, CELL, ROW, fc=colour, ec="0.6")
            axes.add_patch(cell)
            if present:
                number = format_number(scores[i, j])
                write_text(axes, CELL * (j + 0.5), y, number, ha="center")
            elif (i, j) in past:
                gone = Rectangle(corner, CELL, ROW, fill=False, lw=0)
                gone.set(hatch="///", edgecolor="0.55")
                axes.add_patch(gone)
        if np.isfinite(step.maximum[i]):
            known = [step.maximum[i], step.total[i], *step.output[i]]
            for x, number in enumerate(map(format_number, known)):
                write_text(axes, beside + 0.75 * x + 0.7, y, number, ha="right")
    low, high = step.queries
    frame = Rectangle((CELL * step.keys[0], ROW / 2 - ROW * high), 0, 0, fill=False)
    frame.set(width=CELL * (step.keys[1] - step.keys[0]), height=ROW * (high - low))
    frame.set(edgecolor=COLOURS[0], linewidth=2)
    axes.add_patch(frame)
    axes.set(xlim=(-label, wide), ylim=(-ROW * (n - 0.5), 1.5 * ROW))
    axes.set_axis_off()
    return figure
