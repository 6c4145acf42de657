"""Draw a table of numbers as colours, for several of ``course_lib.figures``."""

import base64
import io
from collections.abc import Sequence
from functools import lru_cache
from html import escape
from itertools import cycle, islice
from typing import Any

import matplotlib
import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Rectangle
from matplotlib.textpath import TextPath
from matplotlib.ticker import MaxNLocator
from matplotlib.typing import ColorType


class Picture:
    """A drawn figure and the sentence that says what it shows.

    figure : a matplotlib figure
    alt : what a reader who cannot see it must know: the finding, not the colours
    """

    def __init__(self, figure: Figure, alt: str) -> None:
        """Keep the figure; raises ``ValueError`` if alt says nothing."""
        if len(alt.split()) < 3:
            raise ValueError(f"alt={alt!r} must say in words what the picture shows")
        self.figure = figure
        self.alt = alt

    def svg(self) -> str:
        """Give the picture as SVG text, the same at every call."""
        # The layout would move a little at every drawing: it is made once and kept.
        self.figure.draw_without_rendering()
        self.figure.set_layout_engine("none")
        file = io.StringIO()
        # Paths for fonts look the same everywhere; the salt makes ids repeatable.
        style = matplotlib.rc_context(
            {"svg.hashsalt": "attention-course", "svg.fonttype": "path"}
        )
        with style:
            self.figure.savefig(
                file,
                format="svg",
                bbox_inches="tight",
                facecolor="white",
                metadata={"Date": None, "Creator": None},
            )
        return file.getvalue()

    def __repr__(self) -> str:
        """Give the alternative text, which stands where no picture can."""
        return f"Picture: {self.alt}"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        data = base64.b64encode(self.svg().encode()).decode()
        html = (
            f'<img alt="{escape(self.alt, quote=True)}" style="max-width:100%" '
            f'src="data:image/svg+xml;base64,{data}">'
        )
        return {"text/plain": repr(self), "text/html": html}


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


# MERGED course_lib.pictures: A picture as a notebook shows it: SVG inside an image tag with alternative text.
#
#   What is drawn is in ``course_lib.figures``.
#
# MERGED course_lib.drawing: What all figures share: colours, sizes, and how numbers and labels are written.
#
#   The figures themselves are in ``course_lib.figures``.
#
