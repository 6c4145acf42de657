"""What all figures share: colours, sizes, and how numbers and labels are written.

The figures themselves are in ``course_lib.figures``.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import cycle, islice

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath
from matplotlib.ticker import MaxNLocator
from matplotlib.typing import ColorType

# Okabe and Ito's colours, readable with any kind of colour vision.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P")
FONT_SIZE = 10  # points, for every text
WIDEST = 5.8  # inches; a page shows 6, and a picture has a margin


def new_axes(width: float, height: float) -> tuple[Figure, Axes]:
    """Make a figure with one pair of axes that leave room for all their labels.

    width, height : inches, with everything that stands around the axes
    """
    size = (min(WIDEST, width), height)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots()
    axes.tick_params(labelsize=FONT_SIZE)
    return figure, axes


def styles(n: int) -> list[tuple[str, str]]:
    """Give n pairs of a colour and a marker, so that colour never stands alone."""
    return list(islice(cycle(zip(COLOURS, MARKERS, strict=True)), n))


def number_text(number: float) -> str:
    """Write a number with two decimals, a real minus, and no minus before zero.

    >>> number_text(-1.5), number_text(-0.001)
    ('−1.50', '0.00')
    """
    text = f"{number:.2f}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", "−")


@lru_cache(maxsize=256)
def text_width(text: str) -> float:
    """Give the width of a label in inches."""
    if not text.strip():
        return 0.0
    path = TextPath((0, 0), text, size=FONT_SIZE, prop=FontProperties())
    return float(path.get_extents().width) / 72


def write(
    axes: Axes, x: float, y: float, text: str, *, ha: str, color: str = "black"
) -> None:
    """Write a word into axes as it is: a "$" in it is no formula."""
    style = {"fontsize": FONT_SIZE, "color": color, "parse_math": False}
    axes.text(x, y, text, ha=ha, va="center", **style)  # type: ignore[arg-type]


def text_colour(background: ColorType) -> str:
    """Choose black or white, whichever stands out more from a background."""
    parts = np.array(to_rgb(background), dtype=float)
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    luminance = float(linear @ [0.2126, 0.7152, 0.0722])
    # The contrast ratios (WCAG 2.1) with black and with white are equal at 0.179.
    return "black" if luminance > 0.179 else "white"


def round_step(low: float, high: float) -> float:
    """Give a distance between ticks: a round number that makes about five of them."""
    ticks = MaxNLocator(5, steps=[1, 2, 5, 10]).tick_values(low, high)
    return float(ticks[1] - ticks[0])


def table_of(
    values: np.ndarray, rows: Sequence[str], columns: Sequence[str]
) -> np.ndarray:
    """Give values as floats; raises ``ValueError`` if the labels do not fit them."""
    values = np.asarray(values, dtype=float)
    if values.shape != (len(rows), len(columns)):
        raise ValueError(
            f"values of shape {values.shape} do not fit {len(rows)} row labels and "
            f"{len(columns)} column labels"
        )
    if not values.size:
        raise ValueError(f"values of shape {values.shape}: there is nothing to draw")
    return values


def weights_of(
    weights: np.ndarray, queries: Sequence[str], keys: Sequence[str]
) -> np.ndarray:
    """Give attention weights as floats; raises ``ValueError`` if they are none."""
    weights = table_of(weights, queries, keys)
    slack = 1e-3  # float16 rounds that much
    if not np.all((weights >= -slack) & (weights <= 1 + slack)):
        worst = weights.flat[np.argmax(np.abs(weights - 0.5))]
        raise ValueError(
            f"weights lie between 0 and 1, and one of these is {worst:g}: are they "
            "scores before the softmax?"
        )
    return weights
