"""Pictures of lesson 09: how good translations are, and how a training went."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from course_lib.figures import drawing
from course_lib.figures.drawing import FONT_SIZE, Picture, new_axes


def scores_by_length(
    lengths: Sequence[str],
    scores: Mapping[str, Sequence[Sequence[float]] | np.ndarray],
    *,
    ylabel: str,
    alt: str,
) -> Picture:
    """Draw one line per system over the lengths of sources, with the range of its runs.

    lengths : k labels, such as "1–2"
    scores : name to (runs, k); the line goes through the medians, and a bar from the
        smallest to the greatest of the runs
    """
    figure, axes = new_axes(5.6, 3.6)
    styles = drawing.styles(len(scores))
    for number, (name, runs) in enumerate(scores.items()):
        found = np.array(runs, dtype=float)
        if found.ndim != 2 or found.shape[1] != len(lengths):
            raise ValueError(
                f"{name!r} has scores of shape {found.shape} for {len(lengths)} lengths"
            )
        middle = np.median(found, axis=0)
        ends = [middle - found.min(axis=0), found.max(axis=0) - middle]
        # A little to the side, so that bars of two systems do not cover each other.
        x = np.arange(len(lengths)) + 0.08 * (number - (len(scores) - 1) / 2)
        colour, marker = styles[number]
        axes.errorbar(
            x, middle, ends, color=colour, marker=marker, label=name, capsize=3
        )
    axes.set_xticks(range(len(lengths)), lengths)
    axes.set_ylim(bottom=0)
    _finish(axes, "words of the source", ylabel)
    return Picture(figure, alt)


def losses_by_time(
    losses: Mapping[str, tuple[float, Sequence[float]]], *, alt: str
) -> Picture:
    """Draw how losses fell, over the minutes of the training.

    losses : name to two things: how many minutes the training took, and the means of
        the loss in equal parts of it
    """
    figure, axes = new_axes(5.6, 3.4)
    for (name, (minutes, means)), (colour, marker) in zip(
        losses.items(), drawing.styles(len(losses)), strict=True
    ):
        if not means:
            raise ValueError(f"{name!r} has no losses")
        x = (np.arange(len(means)) + 0.5) / len(means) * minutes
        every = max(len(means) // 8, 1)
        axes.plot(x, means, color=colour, marker=marker, markevery=every, label=name)
    _finish(axes, "minutes", "loss per token")
    return Picture(figure, alt)


def _finish(axes: Axes, xlabel: str, ylabel: str) -> None:
    axes.set_xlabel(xlabel, fontsize=FONT_SIZE)
    axes.set_ylabel(ylabel, fontsize=FONT_SIZE)
    axes.grid(color="0.9")
    axes.legend(edgecolor="none", framealpha=0.9, fontsize=FONT_SIZE)
