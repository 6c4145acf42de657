"""Figures of lesson 01: a dragged query, softmax of scores, one query's six steps."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from course_lib.figures.drawing import (
    COLOURS,
    FONT_SIZE,
    MAX_WIDTH,
    format_number,
    text_width,
    write_text,
)
from course_lib.figures.general import arrows_in_the_plane
from course_lib.figures.living import LivingFigure

MAX_SCORES = 16  # side by side
MAX_KEYS = MAX_SIZE = 6  # of one query's attention, drawn number by number
MAX_ARROWS = 6
NUMBERS_OF_A_KEY = ("dot product", "cosine", "weight")
DIGITS = 9  # after the point, so that every machine writes the same page


def draggable_query(
    name: str,
    query: np.ndarray,
    keys: Mapping[str, np.ndarray],
    *,
    xlabel: str,
    ylabel: str,
    alt: str | None = None,
    show: Sequence[str] = ("dot product",),
    values: Sequence[float] | np.ndarray | None = None,
    value_name: str = "value",
) -> LivingFigure:
    """Draw keys as arrows in the plane, and a query's arrow that can be dragged.

    name, query : of the arrow that is dragged, (2,)
    keys : name to (2,), at most 6
    xlabel, ylabel : what the first and the second number say
    show : what is shown of the query and each key: "dot product", "cosine", "weight"
    values, value_name : (n,), one number per key, and what it counts; with them the
        mean of the values is shown, weighted by the softmax of the dot products

    Where scripts run, the reader moves the query, and these numbers are computed anew.
    Raises ``ValueError`` for vectors that have not two finite numbers, another number
    of keys or values, or something else to show.
    """
    if not 1 <= len(keys) <= MAX_ARROWS or name in keys:
        raise ValueError(
            f"keys={[*keys]} must be 1 to {MAX_ARROWS} names other than {name!r}"
        )
    if not show or not {*show} <= {*NUMBERS_OF_A_KEY}:
        raise ValueError(
            f"show={[*show]} must be some of {', '.join(NUMBERS_OF_A_KEY)}"
        )
    query = _finite(f"the query {name!r}", query, (2,))
    arrows = {each: _finite(f"key {each!r}", key, (2,)) for each, key in keys.items()}
    if values is not None:
        values = _finite("values", values, (len(keys),)).tolist()
    tips = np.array([*arrows.values(), query])
    largest = float(np.abs(tips).max()) or 1.0
    picture = arrows_in_the_plane(
        arrows | {name: query}, xlabel=xlabel, ylabel=ylabel, alt=alt
    )
    data = {
        "name": name,
        "query": query.round(DIGITS).tolist(),
        "names": [*arrows],
        "keys": [key.round(DIGITS).tolist() for key in arrows.values()],
        "low": float(np.floor(min(0.0, tips.min()) - 0.25 * largest)),
        "high": float(np.ceil(1.15 * largest)),
        "axes": [xlabel, ylabel],
        "show": [*show],
        "values": values,
        "value_name": value_name,
    }
    return LivingFigure(picture.figure, alt, "draggable_query", data)


def softmax(
    scores: Sequence[float] | np.ndarray,
    names: Sequence[str],
    *,
    alt: str | None = None,
    divisor: float = 1.0,
    divided_by: str | None = None,
    called: str = "weights",
    jacobian: bool = True,
) -> LivingFigure:
    """Draw scores as bars above the weights that softmax makes of them.

    scores : (n,), finite, before they are divided
    names : n labels, at most 16
    divisor : what the scores are divided by, greater than 0
    divided_by : what that divisor is called, such as "√d_k", or "" if it has no name;
        None for a temperature
    called : what the weights are called
    jacobian : whether the softmax's Jacobian is shown, where scripts run

    Where scripts run, a slider changes the divisor, and pointing at a score shows its
    row of the Jacobian; these numbers are computed from the scores.
    Raises ``ValueError`` for scores that do not fit the names or are not finite, and
    for a divisor that is not a positive number.
    """
    scores = _finite("scores", scores, (len(names),))
    if not 1 <= len(names) <= MAX_SCORES:
        raise ValueError(f"{len(names)} scores: expected 1 to {MAX_SCORES}")
    if not 0 < divisor < np.inf:
        raise ValueError(f"divisor={divisor} must be a finite number greater than 0")
    names = [*map(str, names)]
    scaled = scores / divisor
    figure = Figure(figsize=(MAX_WIDTH, 3.6), layout="constrained")
    above, below = figure.subplots(2, sharex=True)
    title = f"scores ÷ {format_number(divisor)}"
    _bars(
        above, scaled, COLOURS[1], title, (min(0, scaled.min()), max(0, scaled.max()))
    )
    _bars(below, softmax_weights(scaled), COLOURS[0], f"{called}, sum 1", (0.0, 1.0))
    crowded = max(map(text_width, names)) * len(names) > 0.8 * MAX_WIDTH
    slope = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    below.set_xticks(
        range(len(names)),
        names,
        fontsize=FONT_SIZE,
        parse_math=False,
        **(slope if crowded else {}),
    )
    data = {
        "scores": scores.round(DIGITS).tolist(),
        "names": names,
        "divisor": float(divisor),
        "divided_by": divided_by,
        "called": called,
        "jacobian": jacobian,
    }
    return LivingFigure(figure, alt, "softmax", data)


def six_steps(
    q1: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    steps: Mapping[str, np.ndarray] | None = None,
    *,
    alt: str | None = None,
    names: Sequence[str] | None = None,
) -> LivingFigure:
    """Draw one query's way through attention, number by number.

    q1 : (d_k,), the query
    k : (m, d_k), one key per row, at most 6 of at most 6 numbers
    v : (m, d_v), one value per row, at most 6 numbers each
    steps : what ``attention_step_by_step`` returned for them: "scores", "scaled" and
        "weights" (m,), "weighted_values" (m, d_v), "output" (d_v,); right ones if none
        are passed
    names : m labels of the keys; "key 1", "key 2", … if none are passed

    Where scripts run, the reader goes through the six steps. The numbers are those of
    ``steps``, right or wrong.
    Raises ``ValueError`` if a step is missing, or if shapes do not fit, numbers are not
    finite, or there are too many of them to draw.
    """
    if np.ndim(q1) != 1 or np.ndim(k) != 2 or np.ndim(v) != 2:
        raise ValueError(
            "expected q1 (d_k,), k (m, d_k) and v (m, d_v), got shapes "
            f"{np.shape(q1)}, {np.shape(k)} and {np.shape(v)}"
        )
    (d_k,), (m, d_v) = np.shape(q1), np.shape(v)
    if not 1 <= m <= MAX_KEYS:
        raise ValueError(f"{m} keys: expected 1 to {MAX_KEYS}")
    if not (1 <= d_k <= MAX_SIZE and 1 <= d_v <= MAX_SIZE):
        raise ValueError(f"d_k={d_k} and d_v={d_v}: expected 1 to {MAX_SIZE} of each")
    shapes: dict[str, tuple[int, ...]] = {
        name: (m,) for name in ("scores", "scaled", "weights")
    }
    shapes |= {"weighted_values": (m, d_v), "output": (d_v,)}
    vectors = {
        "query": _finite("q1", q1, (d_k,)),
        "keys": _finite("k", k, (m, d_k)),
        "values": _finite("v", v, (m, d_v)),
    }
    if steps is None:
        scores = vectors["keys"] @ vectors["query"]
        weights = softmax_weights(scores / d_k**0.5)
        steps = {"scores": scores, "scaled": scores / d_k**0.5, "weights": weights}
        weighted_values = weights[:, np.newaxis] * vectors["values"]
        steps |= {"weighted_values": weighted_values}
        steps |= {"output": weighted_values.sum(axis=0)}
    if missing := shapes.keys() - steps.keys():
        raise ValueError(f"steps lacks {', '.join(sorted(missing))}")
    names = [f"key {j + 1}" for j in range(m)] if names is None else [*map(str, names)]
    if len(names) != m:
        raise ValueError(f"{len(names)} names for {m} keys")
    results = {
        name: _finite(f"steps[{name!r}]", steps[name], shape)
        for name, shape in shapes.items()
    }
    figure = _columns(vectors | results, names)
    data = {
        name: array.round(DIGITS).tolist()
        for name, array in (vectors | results).items()
    }
    return LivingFigure(figure, alt, "steps", data | {"names": names})


def _columns(parts: Mapping[str, np.ndarray], names: Sequence[str]) -> Figure:
    """Draw a column of numbers for each key, from the key down to the weighted value.

    The query stands on the left of the keys, and the output on the right.
    """
    m, last = len(names), len(names) + 1
    root = f"÷ √{len(parts['query'])}"
    blocks = {
        "query, keys": np.vstack([parts["query"], parts["keys"]]).T,
        "scores": parts["scores"][np.newaxis],
        root: parts["scaled"][np.newaxis],
        "weights": parts["weights"][np.newaxis],
        "values": parts["values"].T,
        "× weights": np.vstack([parts["weighted_values"], parts["output"]]).T,
    }
    texts = [format_number(x) for block in blocks.values() for x in block.flat]
    box = max(0.5, max(map(text_width, texts)) + 0.1)
    room = max(map(text_width, blocks)) + 0.1
    if room + box * (m + 2) > MAX_WIDTH:
        raise ValueError(f"{m + 2} columns of such numbers are too wide to draw")
    longest = max(map(text_width, names))
    level = longest + 0.05 < box
    row, top = 0.24, 0.3 if level else 0.75 * longest + 0.3
    # One unit of the axes is one inch, so that a box is as wide as its number needs.
    height = top - row / 2 + sum(row * len(part) + 0.1 for part in blocks.values())
    figure = Figure(figsize=(room + box * (m + 2), height))
    axes = figure.add_axes((0, 0, 1, 1))
    write_text(axes, 0.5 * box, 0.25, "query", ha="center")
    for j, name in enumerate(names):
        axes.text(
            box * (j + (1.5 if level else 1.4)),
            0.25 if level else 0.16,
            name,
            ha="center" if level else "left",
            va="center" if level else "bottom",
            rotation=0 if level else 45,
            rotation_mode="anchor",
            fontsize=FONT_SIZE,
            parse_math=False,
        )
    y = 0.0
    for label, block in blocks.items():
        write_text(axes, -0.08, y, label, ha="right")
        first = last - m - (label == "query, keys")
        for i, j in np.ndindex(block.shape):
            left, at = box * (first + j), y - row * i
            cell = Rectangle((left, at - row / 2 + 0.02), box - 0.04, row - 0.04)
            outer = (first + j) in (0, last)
            cell.set(
                fc="0.97", ec=COLOURS[1] if outer else "0.6", lw=1.6 if outer else 0.8
            )
            axes.add_patch(cell)
            middle = left + box / 2 - 0.02
            write_text(axes, middle, at, format_number(float(block[i, j])), ha="center")
        y -= row * len(block) + 0.1
        if label == "values":
            write_text(axes, box * (last + 0.5) - 0.02, y + 0.34, "output", ha="center")
    axes.set(xlim=(-room, box * (m + 2)), ylim=(top - height, top))
    axes.set_axis_off()
    return figure


def _bars(
    axes: Axes, values: np.ndarray, colour: str, title: str, ends: tuple[float, float]
) -> None:
    """Draw bars from zero with their numbers, on a scale between two ends."""
    axes.bar(range(len(values)), values, 0.62, color=colour)
    axes.axhline(0, color="black", lw=0.8, clip_on=False)
    low, high = ends
    room = 0.22 * (high - low or 1.0)
    for i, value in enumerate(values):
        y = value + (0.4 if value >= 0 else -0.4) * room
        write_text(axes, i, y, format_number(value), ha="center")
    axes.set_ylim(low - room if low < 0 else 0, high + room)
    axes.set_title(title, fontsize=FONT_SIZE, loc="left")
    axes.set_yticks([])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _finite(
    name: str, values: Sequence[float] | np.ndarray, shape: tuple[int, ...]
) -> np.ndarray:
    """Return values as floats; raise ``ValueError`` for another shape, NaN or inf."""
    array = np.asarray(values, dtype=float)
    if array.shape != shape:
        raise ValueError(f"expected {name} of shape {shape}, got {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, and one is NaN or infinite")
    return array


def softmax_weights(scores: np.ndarray) -> np.ndarray:
    """Return the softmax of one row, which a slider changes.

    It is not imported from where exercises have it: graded submissions see the figures,
    and what these import.
    """
    exponentials = np.exp(scores - scores.max())
    return exponentials / exponentials.sum()
