"""Figures of lesson 11: the scores of translations, and the losses of trainings."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from course_lib.figures.drawing import (
    FONT_SIZE,
    AccessibleFigure,
    finish_curves,
    line_styles,
    new_axes,
    write_text,
)


def scores_by_length(
    lengths: Sequence[str],
    scores: Mapping[str, Sequence[Sequence[float]] | np.ndarray],
    *,
    ylabel: str,
    alt: str | None = None,
) -> AccessibleFigure:
    """Draw one line per system over the lengths of sources, with the range of its runs.

    lengths : k labels, such as "1–2"
    scores : name to (runs, k); the line goes through the medians, and a bar from the
        smallest to the greatest of the runs
    """
    figure, axes = new_axes(5.6, 3.6)
    styles = line_styles(len(scores))
    for i, (name, runs) in enumerate(scores.items()):
        values = np.array(runs, dtype=float)
        if values.ndim != 2 or values.shape[1] != len(lengths):
            raise ValueError(
                f"{name!r} has scores of shape {values.shape} for "
                f"{len(lengths)} lengths"
            )
        middle = np.median(values, axis=0)
        ends = [middle - values.min(axis=0), values.max(axis=0) - middle]
        # A little to the side, so that bars of two systems do not cover each other.
        x = np.arange(len(lengths)) + 0.08 * (i - (len(scores) - 1) / 2)
        colour, marker = styles[i]
        axes.errorbar(
            x, middle, ends, color=colour, marker=marker, label=name, capsize=3
        )
    axes.set_xticks(range(len(lengths)), lengths)
    axes.set_ylim(bottom=0)
    finish_curves(axes, "words of the source", ylabel)
    return AccessibleFigure(figure, alt)


def losses_by_time(
    losses: Mapping[str, tuple[float, Sequence[float]]], *, alt: str | None = None
) -> AccessibleFigure:
    """Draw how losses fell, over the minutes of the training.

    losses : name to two things: how many minutes the training took, and the means of
        the loss in equal parts of it
    """
    figure, axes = new_axes(5.6, 3.4)
    for (name, (minutes, means)), (colour, marker) in zip(
        losses.items(), line_styles(len(losses)), strict=True
    ):
        if not means:
            raise ValueError(f"{name!r} has no losses")
        x = (np.arange(len(means)) + 0.5) / len(means) * minutes
        every = max(len(means) // 8, 1)
        axes.plot(x, means, color=colour, marker=marker, markevery=every, label=name)
    finish_curves(axes, "minutes", "loss per token")
    return AccessibleFigure(figure, alt)


def gains(
    scores: Mapping[str, Sequence[float]], *, xlabel: str, alt: str | None = None
) -> AccessibleFigure:
    """Draw what each of several changes, made one after another, adds to a score.

    scores : what is new, from the first to the last, to the scores of its runs, none
        below 0; a bar ends at their median, and its coloured part is the gain
    """
    if not scores or not all(len(runs) for runs in scores.values()):
        raise ValueError("each change needs the score of one run at least")
    figure, axes = new_axes(5.6, 0.42 * len(scores) + 0.8)
    largest = max(max(runs) for runs in scores.values())
    (colour, _), *_ = line_styles(1)
    pattern: dict[str, Any] = {"hatch": "//", "edgecolor": "white", "linewidth": 0}
    dots: dict[str, Any] = {"color": "black", "markeredgecolor": "white"}
    before = float(np.median(next(iter(scores.values()))))
    for y, runs in enumerate(scores.values()):
        median = float(np.median(runs))
        axes.barh(y, min(before, median), 0.7, color="0.85")
        if median > before:
            axes.barh(y, median - before, 0.7, left=before, color=colour, **pattern)
        axes.plot(runs, [y] * len(runs), "o", **dots)
        gain = f" ({median - before:+.1f})".replace("-", "−") if y else ""
        write_text(axes, 1.03 * largest, float(y), f"{median:.1f}{gain}", ha="left")
        before = median
    axes.set_yticks(range(len(scores)), list(scores))
    axes.set(xlim=(0, 1.35 * largest), ylim=(len(scores) - 0.5, -0.5))
    axes.set_xlabel(xlabel, fontsize=FONT_SIZE)
    return AccessibleFigure(figure, alt)
