"""Pictures of lesson 07: which source token is looked at for which target token."""

from collections.abc import Sequence

import numpy as np
from matplotlib.patches import Rectangle

from course_lib.figures import drawing
from course_lib.figures.drawing import (
    COLOURS,
    FONT_SIZE,
    WIDEST,
    Picture,
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
    alt: str,
) -> Picture:
    """Draw weights of target tokens on source tokens, known links outlined.

    weights : (n, m), between 0 and 1, each row summing to 1
    targets, sources : n and m tokens
    links : pairs (row, column) that belong together
    """
    weights = drawing.weights_of(weights, targets, sources)
    for row, column in links:
        if not (0 <= row < len(targets) and 0 <= column < len(sources)):
            raise ValueError(f"link ({row}, {column}) is outside of the table")
    labels = max(map(text_width, targets)), max(map(text_width, sources))
    upright = labels[1] < 0.2
    cell = min(0.42, (WIDEST - labels[0] - 1.4) / len(sources))
    figure, axes = new_axes(
        labels[0] + cell * len(sources) + 1.4,
        (0.2 if upright else labels[1]) + max(0.24, cell) * len(targets) + 0.6,
    )
    image = axes.imshow(weights, cmap="cividis", vmin=0.0, vmax=1.0, aspect="auto")
    for row, column in links:
        mark = Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False)
        mark.set(edgecolor=OUTLINE, linewidth=2, clip_on=False)
        axes.add_patch(mark)
    text = {"fontsize": FONT_SIZE, "parse_math": False}
    turn = {} if upright else {"rotation": 90}
    axes.set_xticks(range(len(sources)), sources, **text, **turn)  # type: ignore[arg-type]
    axes.set_yticks(range(len(targets)), targets, **text)  # type: ignore[arg-type]
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.tick_params(length=0)
    axes.set_ylabel("target (looks)", fontsize=FONT_SIZE)
    axes.set_xlabel("source (looked at)", fontsize=FONT_SIZE)
    bar = figure.colorbar(image, ax=axes)
    bar.ax.tick_params(labelsize=FONT_SIZE)
    return Picture(figure, alt)
