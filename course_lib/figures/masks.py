"""Pictures of lesson 04: who may look where, and what becomes of it.

Blocked cells are hatched, in every table.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from course_lib.figures import drawing
from course_lib.figures.drawing import (
    BLOCKED,
    FONT_SIZE,
    LARGEST_WITH_NUMBERS,
    WIDEST,
    Picture,
    new_axes,
    number_text,
    text_colour,
    text_width,
    write,
)

ALLOWED = "#BFDDF1"  # hatching, not this colour, tells it from a blocked cell


def mask_table(
    may_attend: np.ndarray, queries: Sequence[str], keys: Sequence[str], *, alt: str
) -> Picture:
    """Draw a mask: queries down, keys across, blocked cells hatched.

    may_attend : (n, m), booleans, True = may look
    queries, keys : n and m labels
    """
    return masks_side_by_side({"": may_attend}, queries, keys, alt=alt)


def masks_side_by_side(
    masks: Mapping[str, np.ndarray],
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    alt: str,
) -> Picture:
    """Draw masks for the same queries and keys beside each other, each with its name.

    masks : name to (n, m), booleans, True = may look
    queries, keys : n and m labels
    """
    for mask in masks.values():
        _check(mask, queries, keys)
    labels = max(map(text_width, queries))
    cell = min(0.4, (WIDEST - labels - 0.7) / (len(masks) * (len(keys) + 0.4)))
    width = labels + 0.7 + len(masks) * (len(keys) + 0.4) * cell
    height = max(map(text_width, keys)) + 0.6 + max(0.22, cell) * len(queries)
    figure = Figure(figsize=(min(WIDEST, width), height), layout="constrained")
    tables = figure.subplots(1, len(masks), sharey=True, squeeze=False)[0]
    for place, (axes, (name, mask)) in enumerate(
        zip(tables, masks.items(), strict=True)
    ):
        axes.imshow(np.ones_like(mask, dtype=float), aspect="auto", alpha=0.0)
        for i, j in np.ndindex(mask.shape):
            colour = ALLOWED if mask[i, j] else BLOCKED
            axes.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, fc=colour, ec="white"))
        _hatch(axes, mask)
        _label(axes, queries if place == 0 else None, keys)
        if name:
            axes.set_xlabel(name, fontsize=FONT_SIZE)
    tables[0].set_ylabel("query (looks)", fontsize=FONT_SIZE)
    middle = tables[len(masks) // 2]
    middle.set_title("key (looked at)", fontsize=FONT_SIZE)
    return Picture(figure, alt)


def masked_weights(
    weights: np.ndarray,
    may_attend: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    alt: str,
) -> Picture:
    """Draw attention weights, with the cells hatched where a query may not look.

    weights : (n, m), between 0 and 1; a number above 0.005 is drawn in a blocked cell,
        too, since that is what must not be
    may_attend : (n, m), booleans, True = may look
    queries, keys : n and m labels
    """
    weights = drawing.weights_of(weights, queries, keys)
    may_attend = _check(may_attend, queries, keys)
    printed = weights.size <= LARGEST_WITH_NUMBERS**2
    labels = max(map(text_width, queries)), max(map(text_width, keys))
    cell = 0.44 if printed else 0.26
    figure, axes = new_axes(
        labels[0] + cell * len(keys) + (0.6 if printed else 1.3),
        labels[1] + (0.36 if printed else 0.22) * len(queries) + 0.5,
    )
    seen = np.ma.masked_array(weights, ~may_attend & (weights <= 0.005))
    cmap = colormaps["cividis"].with_extremes(bad=BLOCKED)
    image = axes.imshow(seen, cmap=cmap, vmin=0.0, vmax=1.0, aspect="auto")
    _hatch(axes, may_attend)
    _label(axes, queries, keys)
    axes.set_ylabel("query (looks)", fontsize=FONT_SIZE)
    axes.set_title("key (looked at)", fontsize=FONT_SIZE)
    if printed:
        colours = image.to_rgba(seen)
        for i, j in np.argwhere(~np.ma.getmaskarray(seen)):
            ink = text_colour(tuple(colours[i, j]))
            write(axes, j, i, number_text(weights[i, j]), ha="center", color=ink)
    else:
        figure.colorbar(image, ax=axes).ax.tick_params(labelsize=FONT_SIZE)
    return Picture(figure, alt)


def losses(
    steps: Sequence[int],
    series: Mapping[str, Sequence[float]],
    *,
    bounds: Mapping[str, float],
    alt: str,
) -> Picture:
    """Draw how losses fall, and lines that an honest model cannot get below.

    steps : (n,), number of training steps
    series : label to (n,) losses (nats per token)
    bounds : label to a loss, drawn as a dashed line
    """
    figure, axes = new_axes(5.6, 3.4)
    for (label, values), (colour, marker) in zip(
        series.items(), drawing.styles(len(series)), strict=True
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
    axes.set_xlabel("training step", fontsize=FONT_SIZE)
    axes.set_ylabel("loss (nats per token)", fontsize=FONT_SIZE)
    axes.grid(color="0.9")
    axes.legend(
        edgecolor="none",
        fontsize=FONT_SIZE,
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=2,
    )
    return Picture(figure, alt)


def _check(
    may_attend: np.ndarray, queries: Sequence[str], keys: Sequence[str]
) -> np.ndarray:
    """Give a mask as booleans; raises ``ValueError`` if it is none, or does not fit."""
    if np.asarray(may_attend).dtype != bool:
        raise ValueError(
            f"may_attend holds {np.asarray(may_attend).dtype}, not booleans"
        )
    return drawing.table_of(may_attend, queries, keys).astype(bool)


def _hatch(axes: Axes, may_attend: np.ndarray) -> None:
    for i, j in np.argwhere(~may_attend):
        blocked = Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, lw=0)
        blocked.set(hatch="///", edgecolor="0.55")
        axes.add_patch(blocked)


def _label(axes: Axes, queries: Sequence[str] | None, keys: Sequence[str]) -> None:
    """Write the keys above a table, and the queries on its left if there are any."""
    text = {"fontsize": FONT_SIZE, "parse_math": False}
    upright = {} if max(map(text_width, keys)) < 0.3 else {"rotation": 90}
    axes.set_xticks(range(len(keys)), keys, **text, **upright)  # type: ignore[arg-type]
    axes.xaxis.tick_top()
    if queries is not None:
        axes.set_yticks(range(len(queries)), queries, **text)  # type: ignore[arg-type]
    axes.tick_params(length=0)
