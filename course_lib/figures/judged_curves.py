"""Figure of lesson 16: learning curves, and what the models behind them can do."""

from collections.abc import Mapping, Sequence

import numpy as np

from course_lib.figures.general import curves
from course_lib.figures.living import LivingFigure, numbers

MAX_CURVES = 6  # each with a dash of its own


def judged_curves(
    x: Sequence[float] | np.ndarray,
    series: Mapping[str, Sequence[float] | np.ndarray],
    shares: Mapping[str, float],
    *,
    xlabel: str,
    ylabel: str,
    share_name: str,
    top: float,
    alt: str | None = None,
) -> LivingFigure:
    """Draw one curve per model; its result is hidden until the reader asks for it.

    x : (n,), increasing
    series : a model's name to its (n,) values, at most 6 models
    shares : a model's name to a number between 0 and 1, shown as a percentage
    share_name : what that percentage is of
    top : the largest value that is drawn; what is above lies outside

    Where scripts run, the reader chooses a model and then sees its percentage; the
    static picture has the curves only.
    Raises ``ValueError`` for other models in ``shares`` than in ``series``, a share
    beyond 0 and 1, or more than six models.
    """
    if not 1 <= len(series) <= MAX_CURVES:
        raise ValueError(f"{len(series)} curves: expected 1 to {MAX_CURVES}")
    if {*shares} != {*series}:
        raise ValueError(f"shares of {[*shares]} do not fit curves of {[*series]}")
    if not all(0 <= share <= 1 for share in shares.values()):
        raise ValueError("a share lies between 0 and 1")
    if top <= 0:
        raise ValueError(f"top={top} must be greater than 0")
    drawn = {name: np.minimum(values, top) for name, values in series.items()}
    picture = curves(x, drawn, xlabel=xlabel, ylabel=ylabel, alt=alt)
    data = {
        "x": numbers(np.asarray(x)),
        "names": [*series],
        "values": [numbers(np.asarray(each)) for each in series.values()],
        "shares": [float(shares[name]) for name in series],
        "share_name": share_name,
        "axes": [xlabel, ylabel],
        "top": float(top),
    }
    return LivingFigure(picture.figure, alt, "judged_curves", data)
