"""Figure of lesson 03: what one head can answer, and what two can."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.patches import Rectangle

from course_lib.figures.drawing import COLOURS, FONT_SIZE, AccessibleFigure, new_axes
from course_lib.figures.living import LivingFigure, numbers

MAX_KEYS = 8


def chosen_heads(
    names: Sequence[str],
    values: Sequence[float] | np.ndarray,
    wanted: Mapping[str, float],
    *,
    alt: str | None = None,
    start: Sequence[Sequence[str]],
    unit: str = "",
    factor: bool = False,
) -> LivingFigure:
    """Draw how much each key counts in an answer, and how much it should.

    names, values : of the keys, at most 8
    wanted : name to how much it should count, between −1 and 1; 0 for other names
    start : for one head or two, the names that it attends to at first, equally; the
        output of the second is subtracted
    unit : of the values
    factor : multiply the values of a single head by a number that can be changed

    Where scripts run, the reader chooses what the heads attend to, one head or two, or
    the factor, and the answer is computed anew.
    Raises ``ValueError`` if these do not fit each other.
    """
    names = [*map(str, names)]
    if not 1 <= len(names) <= MAX_KEYS or len({*names}) < len(names):
        raise ValueError(f"{names} must be 1 to {MAX_KEYS} different names")
    values = np.asarray(values, float)
    if values.shape != (len(names),):
        raise ValueError(f"values of shape {values.shape} for {len(names)} names")
    if not 1 <= len(start) <= 2 or not all(start) or (factor and len(start) != 1):
        raise ValueError(
            "start must say what one head attends to, or two; one with factor"
        )
    known = [*wanted, *(name for head in start for name in head)]
    if unknown := [name for name in known if name not in names]:
        raise ValueError(f"{unknown[0]!r} is none of {names}")
    goals = np.array([wanted.get(name, 0.0) for name in names])
    if np.abs(goals).max() > 1:
        raise ValueError("what is wanted of a name is between −1 and 1")
    heads = [[names.index(name) for name in head] for head in start]
    data = {
        "names": names,
        "values": numbers(values),
        "wanted": numbers(goals),
        "unit": unit,
        "shown": len(heads),
        "heads": heads * 2 if len(heads) == 1 and not factor else heads,
        "factor": factor,
    }
    counts = np.zeros(len(names))
    for sign, head in zip((1.0, -1.0), heads, strict=False):
        counts[head] += sign / len(head)
    labels = [
        f"{name}\n{value:g}{unit}" for name, value in zip(names, values, strict=True)
    ]
    picture = _bars(labels, counts, goals, alt)
    return LivingFigure(picture.figure, alt, "chosen_heads", data)


def _bars(
    labels: Sequence[str], counts: np.ndarray, goals: np.ndarray, alt: str | None = None
) -> AccessibleFigure:
    """Draw a bar for each key, and a dashed frame for what it should count."""
    figure, axes = new_axes(5.2, 2.6)
    colours = [COLOURS[0] if count >= 0 else COLOURS[1] for count in counts]
    axes.bar(range(len(labels)), counts, 0.5, color=colours)
    for j in np.flatnonzero(goals):
        goal = float(goals[j])
        frame = Rectangle((j - 0.35, 0), 0.7, goal, fill=False, ls="--", ec="black")
        axes.add_patch(frame)
    axes.axhline(0.0, color="0.4", lw=0.8)
    axes.set(ylim=(-1.15, 1.15), yticks=(-1, 0, 1))
    axes.set_xticks(range(len(labels)), labels, fontsize=FONT_SIZE)
    axes.set_ylabel("counts (dashed: wanted)", fontsize=FONT_SIZE)
    axes.tick_params(labelsize=FONT_SIZE)
    return AccessibleFigure(figure, alt)
