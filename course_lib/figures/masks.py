"""Figures of lesson 04: which keys a query may attend to, and losses of trainings.

Blocked cells are hatched, in every table.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from course_lib.arguments import require_boolean
from course_lib.figures.drawing import (
    BLOCKED,
    FONT_SIZE,
    MAX_ANNOTATED,
    MAX_WIDTH,
    AccessibleFigure,
    annotate_cells,
    checked_table,
    checked_weights,
    fill_blocked,
    hatch,
    label_axes,
    label_cells,
    line_styles,
    new_axes,
    text_width,
)
from course_lib.figures.living import LivingFigure, numbers

MAX_SWITCHED = 8  # queries or keys of a mask whose cells are pressed
ALLOWED = "#BFDDF1"  # hatching, not this colour, tells it from a blocked cell


def mask_heatmap(
    may_attend: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    alt: str | None = None,
) -> AccessibleFigure:
    """Draw a mask: queries down, keys across, blocked cells hatched.

    may_attend : (n, m), booleans, True = may attend
    queries, keys : n and m labels
    """
    return masks_side_by_side({"": may_attend}, queries, keys, alt=alt)


def masks_side_by_side(
    masks: Mapping[str, np.ndarray],
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    alt: str | None = None,
) -> AccessibleFigure:
    """Draw masks for the same queries and keys in one row, each with its name.

    masks : name to (n, m), booleans, True = may attend
    queries, keys : n and m labels
    """
    for mask in masks.values():
        _check(mask, queries, keys)
    labels = max(map(text_width, queries))
    cell = min(0.4, (MAX_WIDTH - labels - 0.7) / (len(masks) * (len(keys) + 0.4)))
    width = labels + 0.7 + len(masks) * (len(keys) + 0.4) * cell
    height = max(map(text_width, keys)) + 0.6 + max(0.22, cell) * len(queries)
    figure = Figure(figsize=(min(MAX_WIDTH, width), height), layout="constrained")
    tables = figure.subplots(1, len(masks), sharey=True, squeeze=False)[0]
    for axes, (name, mask) in zip(tables, masks.items(), strict=True):
        axes.imshow(np.ones_like(mask, dtype=float), aspect="auto", alpha=0.0)
        draw_mask(axes, mask)
        _label(axes, queries if axes is tables[0] else None, keys)
        axes.set_xlabel(name, fontsize=FONT_SIZE)
    tables[0].set_ylabel("query (attends)", fontsize=FONT_SIZE)
    middle = tables[len(masks) // 2]
    middle.set_title("key (attended to)", fontsize=FONT_SIZE)
    return AccessibleFigure(figure, alt)


def masked_weights(
    weights: np.ndarray,
    may_attend: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    alt: str | None = None,
) -> AccessibleFigure:
    """Draw attention weights, with the cells hatched where a query may not attend.

    weights : (n, m), between 0 and 1; a number above 0.005 is drawn in a blocked cell,
        too, since it is an error
    may_attend : (n, m), booleans, True = may attend
    queries, keys : n and m labels
    """
    weights = checked_weights(weights, queries, keys)
    may_attend = _check(may_attend, queries, keys)
    printed = weights.size <= MAX_ANNOTATED**2
    labels = max(map(text_width, queries)), max(map(text_width, keys))
    cell = 0.44 if printed else 0.26
    figure, axes = new_axes(
        labels[0] + cell * len(keys) + (0.6 if printed else 1.3),
        labels[1] + (0.36 if printed else 0.22) * len(queries) + 0.5,
    )
    visible = np.ma.masked_array(weights, ~may_attend & (weights <= 0.005))
    colours = colormaps["cividis"]
    image = axes.imshow(visible, cmap=colours, vmin=0.0, vmax=1.0, aspect="auto")
    fill_blocked(axes, np.ma.getmaskarray(visible))
    hatch(axes, ~may_attend)
    _label(axes, queries, keys)
    axes.set_ylabel("query (attends)", fontsize=FONT_SIZE)
    axes.set_title("key (attended to)", fontsize=FONT_SIZE)
    if printed:
        annotate_cells(axes, visible, image.to_rgba(visible))
    else:
        figure.colorbar(image, ax=axes).ax.tick_params(labelsize=FONT_SIZE)
    return AccessibleFigure(figure, alt)


def switchable_mask(
    weights: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    alt: str | None = None,
    may_attend: np.ndarray | None = None,
) -> LivingFigure:
    """Draw attention weights whose cells a reader blocks and allows.

    weights : (n, m), greater than 0, each row summing to 1, with nothing blocked
    queries, keys : n and m labels, at most 8 each
    may_attend : (n, m), booleans, what is allowed at first; everything if None

    Where scripts run, a press on a cell blocks or allows it, and what is left of its
    row is divided by its sum. Cells of later keys have a dashed border.
    """
    weights = checked_weights(weights, queries, keys)
    if max(weights.shape) > MAX_SWITCHED:
        raise ValueError(
            f"weights of shape {weights.shape}: at most {MAX_SWITCHED} queries and "
            f"{MAX_SWITCHED} keys can be pressed"
        )
    if not (weights > 0).all():
        raise ValueError("each weight must be greater than 0 before a cell is blocked")
    if may_attend is None:
        may_attend = np.ones(weights.shape, dtype=bool)
    may_attend = _check(may_attend, queries, keys)
    allowed = np.where(may_attend, weights, 0.0)
    totals = allowed.sum(axis=-1, keepdims=True)
    if not totals.all():
        raise ValueError("each query must have something to attend to at first")
    picture = masked_weights(allowed / totals, may_attend, queries, keys, alt=alt)
    data = {
        "queries": [*map(str, queries)],
        "keys": [*map(str, keys)],
        "weights": numbers(weights),
        "may": may_attend.tolist(),
    }
    return LivingFigure(picture.figure, alt, "switchable_mask", data)


def losses(
    steps: Sequence[int],
    series: Mapping[str, Sequence[float]],
    *,
    bounds: Mapping[str, float],
    alt: str | None = None,
) -> AccessibleFigure:
    """Draw how losses fall, and the bounds that a model without a leak cannot pass.

    steps : (n,), number of training steps
    series : label to (n,) losses (nats per token)
    bounds : label to a loss, drawn as a dashed line
    """
    figure, axes = new_axes(5.6, 3.4)
    for (label, values), (colour, marker) in zip(
        series.items(), line_styles(len(series)), strict=True
    ):
        if len(values) != len(steps):
            raise ValueError(
                f"{label!r} has {len(values)} losses for {len(steps)} steps"
            )
        line = {"color": colour, "marker": marker, "markevery": max(1, len(steps) // 8)}
        axes.plot(steps, values, label=label, **line)  # type: ignore[arg-type]
    for (label, bound), dashes in zip(bounds.items(), ("--", ":"), strict=False):
        axes.axhline(bound, color="black", ls=dashes, lw=1.5, label=label, zorder=1)
    axes.set(ylim=(0, None))
    label_axes(axes, "training step", "loss (nats per token)")
    axes.grid(color="0.9")
    axes.legend(
        edgecolor="none",
        fontsize=FONT_SIZE,
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=2,
    )
    return AccessibleFigure(figure, alt)


def _check(
    may_attend: np.ndarray, queries: Sequence[str], keys: Sequence[str]
) -> np.ndarray:
    """Return a mask; refuse one that is not boolean or has another shape."""
    require_boolean(np.asarray(may_attend))
    return checked_table(may_attend, queries, keys).astype(bool)


def draw_mask(axes: Axes, may_attend: np.ndarray) -> None:
    """Draw the cells of a mask, the blocked ones hatched."""
    for i, j in np.ndindex(may_attend.shape):
        colour = ALLOWED if may_attend[i, j] else BLOCKED
        axes.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, fc=colour, ec="white"))
    hatch(axes, ~may_attend)


def _label(axes: Axes, queries: Sequence[str] | None, keys: Sequence[str]) -> None:
    upright = {} if max(map(text_width, keys)) < 0.3 else {"rotation": 90}
    label_cells(axes, queries, keys, **upright)
