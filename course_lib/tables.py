"""Draw a table of numbers as colours, for several of ``course_lib.figures``."""

from collections.abc import Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from course_lib.drawing import (
    FONT_SIZE,
    WIDEST,
    new_axes,
    number_text,
    text_colour,
    text_width,
    write,
)

LARGEST_WITH_NUMBERS = 8
BLOCKED = "0.9"


def number_table(
    values: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    colours: str,
    low: float,
    high: float,
) -> tuple[Figure, Axes]:
    """Draw numbers as a coloured table, the numbers printed where they fit.

    colours, low, high : a colour map's name, and what its two ends stand for
    Cells that are not finite are hatched.
    """
    height, width = values.shape
    labels = max(map(text_width, rows)), max(map(text_width, columns))
    cell = max(0.4, text_width(max(map(number_text, values.flat), key=len)) + 0.1)
    needed = labels[0] + cell * width + 0.6
    printed = values.size <= LARGEST_WITH_NUMBERS**2 and needed <= WIDEST
    crowded = width > 2 * LARGEST_WITH_NUMBERS  # sloping labels would touch
    figure, axes = new_axes(
        needed if printed else labels[0] + 0.3 * width + 1.0,
        labels[1] * (1.0 if crowded else 0.71)
        + (0.36 if printed else max(0.2, 1 / height)) * height
        + 0.4,
    )
    cmap = colormaps[colours].with_extremes(bad=BLOCKED)
    seen = np.ma.masked_invalid(values)
    image = axes.imshow(seen, cmap=cmap, vmin=low, vmax=high, aspect="auto")
    for i, j in np.argwhere(~np.isfinite(values)):
        blocked = Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, lw=0)
        blocked.set(hatch="///", edgecolor="0.55")
        axes.add_patch(blocked)
    text = {"fontsize": FONT_SIZE, "parse_math": False}
    slope = {"rotation": 45, "ha": "left", "rotation_mode": "anchor"}
    if crowded:
        slope = {"rotation": 90}
    axes.set_xticks(range(width), columns, **text, **slope)  # type: ignore[arg-type]
    axes.set_yticks(range(height), rows, **text)  # type: ignore[arg-type]
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    if printed:
        seen_as = image.to_rgba(seen)
        for (i, j), number in np.ndenumerate(values):
            colour = text_colour(tuple(seen_as[i, j]))
            write(axes, j, i, number_text(number), ha="center", color=colour)
    else:
        figure.colorbar(image, ax=axes).ax.tick_params(labelsize=FONT_SIZE)
    return figure, axes
