"""Figure of lesson 11: beam search as a tree of hypotheses."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from course_lib.figures.drawing import (
    COLOURS,
    MAX_WIDTH,
    format_number,
    text_width,
    write_text,
)
from course_lib.figures.living import LivingFigure, numbers
from course_lib.lessons.hypotheses import FINISHED, IN_BEAM, PRUNED, BeamTree

MAX_STEPS = 16
MAX_HYPOTHESES = 8  # in a step
ROW = 0.94  # inches from one step to the next
GUTTER = 0.6  # inches on the left, for the names of the steps
EDGES: Mapping[str, Mapping[str, Any]] = {
    IN_BEAM: {"edgecolor": COLOURS[0], "facecolor": "#E5F1F7"},
    PRUNED: {"edgecolor": "0.5", "facecolor": "white", "linestyle": "--"},
    FINISHED: {"edgecolor": COLOURS[1], "facecolor": "white", "linewidth": 2},
}

Node = dict[str, Any]


def beam_tree(
    trees: BeamTree | Mapping[str, BeamTree],
    vocabulary: Sequence[str],
    *,
    alt: str | None = None,
) -> LivingFigure:
    """Draw beam search as a tree that grows downwards, a row for each step.

    trees : a tree of ``record_beam_search``, or several by name; the reader chooses
        one, and the static picture is of the first
    vocabulary : the tokens as they are to be read, by token id

    A line is the thicker, the more probable its token is after those before it.
    Raises ``ValueError`` if there is no step, or no token for a token id, if there are
    more than 16 steps or 8 hypotheses in one, or if a sum is not finite.
    """
    if isinstance(trees, BeamTree):
        trees = {"": trees}
    if not trees:
        raise ValueError("trees={}: there is nothing to draw")
    if len({tree.start_id for tree in trees.values()}) > 1:
        raise ValueError("trees must begin with one start_id, got several")
    data = [_tree_data(name, tree, vocabulary) for name, tree in trees.items()]
    start = _token(vocabulary, next(iter(trees.values())).start_id)
    figure = _draw(start, data[0]["steps"], data[0]["best"])
    return LivingFigure(figure, alt, "beam", {"start": start, "trees": data})


def _tree_data(name: str, tree: BeamTree, vocabulary: Sequence[str]) -> dict[str, Any]:
    """Return a tree as plain data, the hypotheses of a step from left to right.

    Those that continue the same hypothesis are neighbours, so that no lines cross.
    """
    if not tree.steps or tree.best is None:
        raise ValueError("a tree without steps: there is nothing to draw")
    if len(tree.steps) > MAX_STEPS:
        raise ValueError(
            f"{len(tree.steps)} steps are too many to draw: at most {MAX_STEPS}"
        )
    steps: list[list[Node]] = []
    columns: list[dict[int, int]] = []  # rank in a step to index from the left
    above, sums = {-1: -1}, {-1: 0.0}
    for step in tree.steps:
        if len(step) > MAX_HYPOTHESES:
            raise ValueError(
                f"{len(step)} hypotheses in a step are too many to draw: at most "
                f"{MAX_HYPOTHESES}; make beam_size or n_pruned smaller"
            )
        order = sorted((above[each.parent], rank) for rank, each in enumerate(step))
        nodes = []
        for parent, rank in order:
            hypothesis = step[rank]
            log_p = hypothesis.total - sums[hypothesis.parent]
            node = {
                "token": _token(vocabulary, hypothesis.token_id),
                "parent": parent,
                "rank": rank,
                "sum": _rounded(hypothesis.total),
                "score": _rounded(hypothesis.score),
                "probability": _rounded(math.exp(log_p)),
                "state": hypothesis.state,
            }
            nodes.append(node)
        steps.append(nodes)
        above = {rank: index for index, (_, rank) in enumerate(order)}
        sums = {rank: each.total for rank, each in enumerate(step)}
        columns.append(above)
    best_step, best_rank = tree.best
    return {
        "name": name,
        "steps": steps,
        "continuations": [*tree.n_continuations],
        "best": [best_step, columns[best_step][best_rank]],
    }


def _rounded(number: float) -> float:
    return float(numbers(np.array([number]))[0])


def _token(vocabulary: Sequence[str], token_id: int) -> str:
    if not 0 <= token_id < len(vocabulary):
        raise ValueError(
            f"the vocabulary must have a token for token id {token_id}, got "
            f"{len(vocabulary)} tokens"
        )
    return str(vocabulary[token_id])


def _draw(start: str, steps: Sequence[Sequence[Node]], best: Sequence[int]) -> Figure:
    """Draw the tree; one unit of the axes is one inch."""
    # Three words in a row have room even in a tree that is as narrow as this.
    most = max(3, *(len(step) for step in steps))
    wide = min(MAX_WIDTH - GUTTER, 1.3 * most)
    height = ROW * len(steps) + 0.45
    figure = Figure(figsize=(GUTTER + wide, height))
    axes = figure.add_axes((0, 0, 1, 1))
    chosen = _path(steps, best)
    _box(axes, wide / 2, 0, [start], wide / 3, {"edgecolor": "0.7", "facecolor": "1"})
    for t, step in enumerate(steps):
        y = -ROW * (t + 1)
        write_text(axes, -GUTTER, y + 0.1, f"step {t + 1}", ha="left", color="0.35")
        for i, node in enumerate(step):
            x = wide * (i + 0.5) / len(step)
            n_above = len(steps[t - 1]) if t else 1
            from_x = wide * (node["parent"] + 0.5) / n_above if t else wide / 2
            ends = ([from_x, x], [y + ROW + (-0.1 if t else 0), y + 0.3])
            pruned = node["state"] == PRUNED
            colour = COLOURS[1] if (t, i) in chosen else COLOURS[0]
            axes.plot(
                *ends,
                color="0.6" if pruned else colour,
                lw=1 + 4 * node["probability"],
                ls="--" if pruned else "-",
                zorder=0,
            )
            style = dict(EDGES[node["state"]])
            is_best = [t, i] == [*best]
            if (t, i) in chosen:
                style |= {"edgecolor": COLOURS[1], "linewidth": 2}
            if is_best:
                style |= {"facecolor": "#F9DFCC"}
            word = "best" if is_best else node["state"]
            lines = [node["token"].strip() or "␣", format_number(node["sum"]), word]
            _box(axes, x, y + 0.1, lines, wide / len(step) - 0.08, style)
    axes.set(xlim=(-GUTTER - 0.02, wide + 0.02), ylim=(0.2 - height, 0.2))
    axes.set_axis_off()
    return figure


def _path(steps: Sequence[Sequence[Node]], best: Sequence[int]) -> set[tuple[int, int]]:
    """Return step and index of a hypothesis and of those that it continues."""
    passed = set()
    t, i = best
    while t >= 0:
        passed.add((t, i))
        t, i = t - 1, steps[t][i]["parent"]
    return passed


def _box(
    axes: Axes,
    x: float,
    y: float,
    lines: Sequence[str],
    room: float,
    style: Mapping[str, Any],
) -> None:
    """Draw a box with lines in it, no wider than there is room."""
    lines = [_shortened(line, room - 0.06) for line in lines]
    width = min(room, max(0.7, *map(text_width, lines)) + 0.12)
    height = 0.18 * len(lines) + 0.08
    corner = (x - width / 2, y - height / 2)
    box = FancyBboxPatch(
        corner, width, height, boxstyle="round,pad=0,rounding_size=0.06", **style
    )
    axes.add_patch(box)
    for number, line in enumerate(lines):
        middle = y + 0.18 * ((len(lines) - 1) / 2 - number)
        write_text(axes, x, middle, line, ha="center")


def _shortened(line: str, room: float) -> str:
    """Return a line with so many letters as there is room for."""
    if text_width(line) <= room:
        return line
    while line and text_width(f"{line}…") > room:
        line = line[:-1]
    return f"{line}…"
