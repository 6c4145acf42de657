"""Curves of which a reader chooses one, by what was chosen before it was measured."""

import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from course_lib.figures.drawing import label_axes, new_axes
from course_lib.figures.living import LivingFigure, numbers


def curves_to_choose(
    x: Sequence[float],
    choices: Mapping[str, Sequence[str]],
    curves: Mapping[str, np.ndarray],
    texts: Sequence[str],
    *,
    xlabel: str,
    alt: str | None = None,
    logarithmic: Sequence[str] = (),
    start: Sequence[int] | None = None,
) -> LivingFigure:
    """Draw a curve for each combination of choices, and one of them in colour.

    Where scripts run, the reader makes the choices: on a slider where there are more
    than three options, by buttons otherwise.

    x : (n,), positions along the horizontal axis
    choices : what is chosen to its options
    curves : vertical axis to (combinations, n) values, a panel for each; the last
        choice changes fastest
    texts : what is said of each combination
    logarithmic : names of the vertical axes that are logarithmic
    start : index of an option for each choice, chosen at first; the first ones if None
    Raises ``ValueError`` if the numbers of these do not fit together.
    """
    sizes = [len(options) for options in choices.values()]
    start = [0] * len(sizes) if start is None else [*start]
    combinations = list(itertools.product(*map(range, sizes)))
    if tuple(start) not in combinations:
        raise ValueError(f"start={start} chooses no option of each of {[*choices]}")
    if len(texts) != len(combinations):
        raise ValueError(
            f"{len(texts)} texts for {len(combinations)} combinations of choices"
        )
    arrays = {name: np.asarray(values, float) for name, values in curves.items()}
    for name, array in arrays.items():
        if array.shape != (len(combinations), len(x)):
            raise ValueError(
                f"{name!r} has shape {array.shape}, not {(len(combinations), len(x))}"
            )
        if name in logarithmic and array.min() <= 0:
            raise ValueError(f"{name!r} has values that no logarithmic axis has")
    chosen = combinations.index(tuple(start))
    width = 3.4 * len(arrays) if len(arrays) > 1 else 5.0
    figure, first = new_axes(width, 2.6)
    first.remove()
    panels = []
    for number, (name, array) in enumerate(arrays.items()):
        axes = figure.add_subplot(1, len(arrays), number + 1)
        for row in array:
            axes.plot(x, row, color="#999999", linewidth=1)
        axes.plot(x, array[chosen], color="#0072B2", linewidth=2.5)
        axes.set_yscale("log" if name in logarithmic else "linear")
        label_axes(axes, xlabel, name)
        scaled = np.log10(array) if name in logarithmic else array
        panels.append(
            {
                "name": name,
                "logarithmic": name in logarithmic,
                "values": numbers(scaled),
            }
        )
    data = {
        "x": numbers(np.asarray(x, float)),
        "xlabel": xlabel,
        "choices": [{"name": n, "options": [*o]} for n, o in choices.items()],
        "panels": panels,
        "texts": [*texts],
        "start": start,
    }
    return LivingFigure(figure, alt, "choices", data)
