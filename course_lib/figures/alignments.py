"""Figures of lessons 08 and 11: which source tokens each target token attends to."""

from collections.abc import Sequence

import numpy as np
from matplotlib.patches import Rectangle

from course_lib.figures.drawing import (
    COLOURS,
    FONT_SIZE,
    MAX_WIDTH,
    AccessibleFigure,
    checked_weights,
    label_axes,
    label_cells,
    new_axes,
    text_width,
)

OUTLINE = COLOURS[1]


def alignment(
    weights: np.ndarray,
    targets: Sequence[str],
    sources: Sequence[str],
    links: Sequence[tuple[int, int]] = (),
    *,
    alt: str | None = None,
) -> AccessibleFigure:
    """Draw weights of target tokens on source tokens, known links outlined.

    weights : (n, m), between 0 and 1, each row summing to 1
    targets, sources : n and m tokens
    links : pairs (row, column) that belong together
    """
    weights = checked_weights(weights, targets, sources)
    for row, column in links:
        if not (0 <= row < len(targets) and 0 <= column < len(sources)):
            raise ValueError(f"link ({row}, {column}) is outside of the table")
    labels = max(map(text_width, targets)), max(map(text_width, sources))
    upright = labels[1] < 0.2
    cell = min(0.42, (MAX_WIDTH - labels[0] - 1.4) / len(sources))
    figure, axes = new_axes(
        labels[0] + cell * len(sources) + 1.4,
        (0.2 if upright else labels[1]) + max(0.24, cell) * len(targets) + 0.6,
    )
    image = axes.imshow(weights, cmap="cividis", vmin=0.0, vmax=1.0, aspect="auto")
    for row, column in links:
        mark = Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False)
        mark.set(edgecolor=OUTLINE, linewidth=2, clip_on=False)
        axes.add_patch(mark)
    label_cells(axes, targets, sources, **({} if upright else {"rotation": 90}))
    axes.xaxis.set_label_position("top")
    label_axes(axes, "source (attended to)", "target (attends)")
    figure.colorbar(image, ax=axes).ax.tick_params(labelsize=FONT_SIZE)
    return AccessibleFigure(figure, alt)
