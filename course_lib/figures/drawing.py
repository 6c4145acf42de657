"""What all figures share: a figure with its alternative text, colours, labels, tables.

The figures themselves are in the other modules of ``course_lib.figures``.
"""

import base64
import io
import re
from collections.abc import Sequence
from functools import cache, lru_cache
from hashlib import sha256
from html import escape
from importlib.resources import files
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

from course_lib.figures.alternatives import alternative_text

# Okabe and Ito's colours, readable with any kind of colour vision.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P")
# What is "black" follows the page's text colour, and this does not: for text that has
# a light colour of its own behind it.
FIXED_BLACK = "#010101"
BLOCKED = "0.9"  # always hatched, too
FONT_SIZE = 10  # points, for every text
MAX_WIDTH = 5.8  # inches; a page is 6 wide, and a figure has a margin
MAX_ANNOTATED = 8  # rows and columns of a table with its numbers printed


class AccessibleFigure:
    """A figure and its alternative text; a notebook shows both in one image tag.

    Where scripts run the drawing stands in the page itself, on the page's own ground.

    figure : a matplotlib figure
    alt : what a reader who cannot see it must know: the finding, not the colours; None
        in a lesson's cell, whose text stands above the picture in the lesson's source
    """

    def __init__(self, figure: Figure, alt: str | None) -> None:
        """Store both; raise ``ValueError`` for an alternative text without content."""
        text = alternative_text(alt)
        if len(text.split()) < 3:
            raise ValueError(f"alt={alt!r} must say in words what the picture shows")
        self.figure = figure
        self.alt = text

    def svg(self) -> str:
        """Return the figure as SVG text, the same at every call."""
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
        return _compact(file.getvalue())

    def __repr__(self) -> str:
        """Return the alternative text, for where no image can be shown."""
        return f"Figure: {self.alt}"

    def image(self) -> str:
        """Return the figure as an image tag, black on white, with its alternative."""
        data = base64.b64encode(self.svg().encode()).decode()
        return (
            f'<img alt="{escape(self.alt, quote=True)}" style="max-width:100%" '
            f'src="data:image/svg+xml;base64,{data}">'
        )

    def html(self) -> str:
        """Return the image, and what gives it the colours of the page's theme."""
        image = self.image()
        name = f"drawing-{sha256(image.encode()).hexdigest()[:12]}"
        return (
            f'<figure class="drawing" id="{name}">{image}</figure>\n'
            f"<style>{read_asset('drawing.css')}</style>\n"
            f"<script>(() => {{ {read_asset('drawing.js')}\n"
            f"inline('{name}'); }})();</script>"
        )

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.html()}


def _compact(svg: str) -> str:
    """Return SVG text without indents, its coordinates with two decimals at most.

    A hundredth of a point is less than a screen can show.
    """

    def shorter(coordinates: re.Match[str]) -> str:
        text = re.sub(r"\d+\.\d{3,}", lambda n: f"{float(n[0]):.2f}", coordinates[0])
        return re.sub(r" ?\n", " ", text)

    svg = re.sub(r'(?<= )d="[^"]*"|translate\([^)]*\)', shorter, svg)
    return re.sub(r"\n +<", "\n<", svg)


@cache
def read_asset(name: str) -> str:
    """Return the text of a file of scripts or styles."""
    folder = files("course_lib.figures") / "living"
    return folder.joinpath(name).read_text(encoding="utf-8")


# --- axes, lines and ticks -------------------------------------------------------


def new_axes(width: float, height: float) -> tuple[Figure, Axes]:
    """Make a figure with one pair of axes that leave room for all their labels.

    width, height : inches, with everything around the axes
    """
    size = (min(MAX_WIDTH, width), height)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots()
    axes.tick_params(labelsize=FONT_SIZE)
    return figure, axes


def line_styles(n: int) -> list[tuple[str, str]]:
    """Return n pairs of a colour and a marker, so that colour is never alone."""
    return list(islice(cycle(zip(COLOURS, MARKERS, strict=True)), n))


def label_axes(axes: Axes, xlabel: str, ylabel: str) -> None:
    """Write the labels of both axes."""
    axes.set_xlabel(xlabel, fontsize=FONT_SIZE)
    axes.set_ylabel(ylabel, fontsize=FONT_SIZE)


def finish_curves(axes: Axes, xlabel: str, ylabel: str) -> None:
    """Write the labels of curves, and draw their grid and legend."""
    label_axes(axes, xlabel, ylabel)
    axes.grid(color="0.9")
    axes.legend(edgecolor="none", framealpha=0.9, fontsize=FONT_SIZE)


def tick_step(low: float, high: float) -> float:
    """Return a distance between ticks: a round number that makes about five of them."""
    ticks = MaxNLocator(5, steps=[1, 2, 5, 10]).tick_values(low, high)
    return float(ticks[1] - ticks[0])


# --- text ------------------------------------------------------------------------


def format_number(number: float) -> str:
    """Write a number with two decimals, a real minus, and no minus before zero.

    >>> format_number(-1.5), format_number(-0.001)
    ('−1.50', '0.00')
    """
    text = f"{number:.2f}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", "−")


@lru_cache(maxsize=256)
def text_width(text: str) -> float:
    """Compute the width of a label in inches."""
    if not text.strip():
        return 0.0
    path = TextPath((0, 0), text, size=FONT_SIZE, prop=FontProperties())
    return float(path.get_extents().width) / 72


def write_text(
    axes: Axes, x: float, y: float, text: str, *, ha: str, color: str = "black"
) -> None:
    """Write a word into axes as it is: a "$" in it is no formula."""
    style = {"fontsize": FONT_SIZE, "color": color, "parse_math": False}
    axes.text(x, y, text, ha=ha, va="center", **style)  # type: ignore[arg-type]


def text_colour(background: ColorType) -> str:
    """Choose ``FIXED_BLACK`` or white: what has more contrast with a background."""
    parts = np.array(to_rgb(background), dtype=float)
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    luminance = float(linear @ [0.2126, 0.7152, 0.0722])
    # The contrast ratios (WCAG 2.1) with black and with white are equal at 0.179.
    return FIXED_BLACK if luminance > 0.179 else "white"


# --- tables of numbers -----------------------------------------------------------


def checked_table(
    values: np.ndarray, rows: Sequence[str], columns: Sequence[str]
) -> np.ndarray:
    """Return values as floats; raise ``ValueError`` if the labels do not fit them."""
    values = np.asarray(values, dtype=float)
    if values.shape != (len(rows), len(columns)):
        raise ValueError(
            f"values of shape {values.shape} do not fit {len(rows)} row labels and "
            f"{len(columns)} column labels"
        )
    if not values.size:
        raise ValueError(f"values of shape {values.shape}: there is nothing to draw")
    return values


def checked_weights(
    weights: np.ndarray, queries: Sequence[str], keys: Sequence[str]
) -> np.ndarray:
    """Return attention weights as floats; raise ``ValueError`` if they are none."""
    weights = checked_table(weights, queries, keys)
    slack = 1e-3  # float16 rounds that much
    if not np.all((weights >= -slack) & (weights <= 1 + slack)):
        worst = weights.flat[np.argmax(np.abs(weights - 0.5))]
        raise ValueError(
            f"weights lie between 0 and 1, and one of these is {worst:g}: are they "
            "scores before the softmax?"
        )
    return weights


def label_cells(
    axes: Axes, rows: Sequence[str] | None, columns: Sequence[str], **slope: Any
) -> None:
    """Write the columns' labels above a table, and the rows' on its left, if any.

    slope : how the columns' labels are rotated
    """
    text = {"fontsize": FONT_SIZE, "parse_math": False}
    axes.set_xticks(range(len(columns)), columns, **text, **slope)  # type: ignore[arg-type]
    axes.xaxis.tick_top()
    if rows is not None:
        axes.set_yticks(range(len(rows)), rows, **text)  # type: ignore[arg-type]
    axes.tick_params(length=0)


def fill_blocked(axes: Axes, blocked: np.ndarray) -> None:
    """Fill the cells of a table that are True in ``blocked`` (n, m) with light grey."""
    for i, j in np.argwhere(blocked):
        axes.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, fc=BLOCKED, lw=0))


def hatch(axes: Axes, blocked: np.ndarray) -> None:
    """Hatch the cells of a table that are True in ``blocked`` (n, m)."""
    for i, j in np.argwhere(blocked):
        cell = Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, lw=0)
        cell.set(hatch="///", edgecolor="0.55")
        axes.add_patch(cell)


def annotate_cells(axes: Axes, values: np.ndarray, colours: np.ndarray) -> None:
    """Print numbers (n, m) into their cells, where they are not masked.

    colours : (n, m, 4), of the cells
    """
    for i, j in np.argwhere(~np.ma.getmaskarray(values)):
        colour = text_colour(tuple(colours[i, j]))
        number = format_number(np.ma.getdata(values)[i, j])
        write_text(axes, j, i, number, ha="center", color=colour)


def heatmap(
    values: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    colours: str,
    low: float,
    high: float,
) -> tuple[Figure, Axes]:
    """Draw a table as colours, with its numbers printed where they fit.

    colours, low, high : a colour map's name, and the values of its two ends
    Cells that are not finite are hatched.
    """
    height, width = values.shape
    labels = max(map(text_width, rows)), max(map(text_width, columns))
    longest = max(map(format_number, values.flat), key=len)
    cell = max(0.4, text_width(longest) + 0.1)
    needed = labels[0] + cell * width + 0.6
    printed = values.size <= MAX_ANNOTATED**2 and needed <= MAX_WIDTH
    crowded = width > 2 * MAX_ANNOTATED  # sloping labels would touch
    figure, axes = new_axes(
        needed if printed else labels[0] + 0.3 * width + 1.0,
        labels[1] * (1.0 if crowded else 0.71)
        + (0.36 if printed else max(0.2, 1 / height)) * height
        + 0.4,
    )
    finite = np.ma.masked_invalid(values)
    image = axes.imshow(
        finite, cmap=colormaps[colours], vmin=low, vmax=high, aspect="auto"
    )
    fill_blocked(axes, ~np.isfinite(values))
    hatch(axes, ~np.isfinite(values))
    slope = {"rotation": 45, "ha": "left", "rotation_mode": "anchor"}
    label_cells(axes, rows, columns, **({"rotation": 90} if crowded else slope))
    if printed:
        annotate_cells(axes, values, image.to_rgba(finite))
    else:
        figure.colorbar(image, ax=axes).ax.tick_params(labelsize=FONT_SIZE)
    return figure, axes
