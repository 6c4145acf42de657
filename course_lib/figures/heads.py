"""Figures of heads: the numbers of each, what one attends to, and all of a model."""

from collections.abc import Mapping, Sequence
from string import ascii_uppercase

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path

from course_lib.figures.drawing import (
    COLOURS,
    FIXED_BLACK,
    FONT_SIZE,
    MAX_WIDTH,
    AccessibleFigure,
    checked_weights,
    format_number,
    heatmap,
    text_colour,
    text_width,
    write_text,
)
from course_lib.figures.living import MAX_TOKENS, LivingFigure, numbers, packed

CELL, ROW, GAP, BETWEEN = 0.42, 0.3, 0.2, 0.5  # inches
NARROW, SIGN = 0.36, 0.28  # inches: a cell of a product, and the sign between two
TITLE = 0.62  # inches above a table: its name, and those of its heads
MANY = 16  # tokens on a side of a wall; with more, small weights need colours
SIDE = 32  # cells at most on a side of a head's picture in a wall, as in heads.js
BREAK = 0.06  # inches between two of these pictures
LEVELS = 32  # colours of a wall's picture
MAX_HEADS = 24  # in one layer of a wall
MAX_WEIGHTS = 1_000_000  # of a wall: about 2 MB in a notebook


def coloured_heads(
    x: np.ndarray, splits: Mapping[str, np.ndarray], *, alt: str | None = None
) -> AccessibleFigure:
    """Draw tokens and what splits made of them, each number in its column's colour.

    x : (n, d_model), whole numbers, all different
    splits : name to (n_heads, n, d_model / n_heads), the same numbers in another order

    A number that is not in the head of its columns, or not in the row of its token, has
    a thick frame. There are two tables in a row.
    """
    x = np.asarray(x)
    n, d_model = x.shape
    shapes = {np.shape(split) for split in splits.values()}
    if len(shapes) != 1:
        raise ValueError(f"the splits have different shapes: {sorted(shapes)}")
    (n_heads, rows, d_k) = shapes.pop()
    if (rows, n_heads * d_k) != (n, d_model):
        raise ValueError(f"heads of {d_k} numbers do not fit x of shape {x.shape}")
    origins = {int(x[i, c]): (i, c // d_k) for i, c in np.ndindex(x.shape)}
    if len(origins) != x.size:
        raise ValueError(
            "two numbers of x are equal: their positions cannot be told apart"
        )
    tables = {"x": np.stack(np.split(x, n_heads, axis=1)), **splits}
    block = CELL * d_model + GAP * (n_heads - 1)
    across = 2 if 2 * block + BETWEEN <= MAX_WIDTH else 1
    down = -(-len(tables) // across)
    width, height = across * (block + BETWEEN), down * (TITLE + ROW * n + 0.15)
    if max(block, *map(text_width, tables)) > MAX_WIDTH:
        raise ValueError(f"{d_model} numbers in a row are too wide to draw")
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    for i, (name, table) in enumerate(tables.items()):
        left = i % across * (block + BETWEEN)
        top = -(i // across) * (TITLE + ROW * n + 0.15)
        gap = 0.0 if name == "x" else GAP  # x is not cut yet
        write_text(axes, left, top - 0.15, name, ha="left")
        for h, head in enumerate(table):
            corner = left + h * (CELL * d_k + gap), top - TITLE
            write_text(axes, corner[0], top - 0.45, f"head {h}", ha="left", color="0.4")
            _draw_head(axes, corner, head, h, origins)
    axes.set(xlim=(-0.05, width), ylim=(-height, 0))
    axes.set_axis_off()
    return AccessibleFigure(figure, alt)


def attention_of_heads(
    weights: np.ndarray,
    heads: Sequence[str],
    keys: Sequence[str],
    *,
    query: str,
    alt: str | None = None,
) -> AccessibleFigure:
    """Draw the weights of several heads for one query: heads down, keys across.

    weights : (n_heads, m), between 0 and 1, each row summing to 1
    heads, keys : n_heads and m labels
    query : what that query is called
    """
    weights = checked_weights(weights, heads, keys)
    figure, axes = heatmap(weights, heads, keys, "cividis", 0.0, 1.0)
    axes.set_xlabel("key (attended to)", fontsize=FONT_SIZE)
    axes.xaxis.set_label_position("top")
    below = axes.secondary_xaxis("bottom")
    below.set_xticks([])
    below.spines[:].set_visible(False)
    below.set_xlabel(f"query of all rows: {query}", fontsize=FONT_SIZE)
    return AccessibleFigure(figure, alt)


def products_of_heads(
    tables: Mapping[str, np.ndarray],
    weights: np.ndarray,
    words: Sequence[str],
    *,
    alt: str | None = None,
) -> AccessibleFigure:
    """Draw all products of multi-head self-attention, each head in its own colour.

    tables : "x" (n, d_model) and "output" (n, any); "w_q" (d_model, columns), and
        "queries", "keys", "values" and "side by side" (n, columns), all with the
        columns of all heads; "w_o" (columns, any), with the rows of all heads
    weights : (n_heads, n, n), between 0 and 1, each row summing to 1
    words : n labels of the tokens

    Raises ``ValueError`` for a table that is missing, that does not fit its product or
    the number of heads, or that is too wide to draw.
    """
    weights = np.asarray(weights, float)
    if weights.ndim != 3:
        raise ValueError(f"weights of shape {weights.shape} are not (n_heads, n, n)")
    for head in weights:
        checked_weights(head, words, words)
    parts = _checked_products(tables, len(weights), len(words))
    heads = [f"weights of head {h}" for h in range(len(weights))]
    rows: list[list[tuple[str, np.ndarray, str]]] = [
        [("", parts["x"], "x"), ("·", parts["w_q"], "w_q")],
        [
            ("", parts["keys"], "x · w_k = keys"),
            ("", parts["values"], "x · w_v = values"),
        ],
        [("", head, name) for head, name in zip(weights, heads, strict=True)],
        [("", parts["side by side"], "side by side"), ("·", parts["w_o"], "w_o")],
    ]
    rows[0].append(("=", parts["queries"], "queries"))
    rows[2].append(("→", parts["side by side"], "weights · values"))
    rows[3].append(("=", parts["output"], "output"))
    left = max(map(text_width, words)) + 0.15
    width = left + max(
        sum(
            SIGN + max(NARROW * part.shape[1], text_width(name))
            for _, part, name in row
        )
        for row in rows
    )
    if width > MAX_WIDTH + SIGN:
        raise ValueError(f"tables of {width:.1f} inches in a row are too wide to draw")
    heights = [0.55 + ROW * max(len(part) for _, part, _ in row) for row in rows]
    figure = Figure(figsize=(width, sum(heights)))
    axes = figure.add_axes((0, 0, 1, 1))
    top = 0.0
    for row, height in zip(rows, heights, strict=True):
        for i, word in enumerate(words):
            write_text(axes, left - 0.1, top - 0.35 - ROW * (i + 0.5), word, ha="right")
        x = left
        for sign, part, name in row:
            middle = top - 0.35 - ROW * len(words) / 2
            write_text(axes, x - SIGN / 2, middle, sign, ha="center")
            write_text(axes, x, top - 0.18, name, ha="left")
            _draw_product(axes, (x, top - 0.35), part, name, len(weights))
            x += SIGN + max(NARROW * part.shape[1], text_width(name))
        top -= height
    axes.set(xlim=(0, width), ylim=(top, 0))
    axes.set_axis_off()
    return AccessibleFigure(figure, alt)


def _checked_products(
    tables: Mapping[str, np.ndarray], n_heads: int, n: int
) -> dict[str, np.ndarray]:
    """Return the tables of ``products_of_heads`` as floats, if they fit."""
    names = "x, w_q, queries, keys, values, side by side, w_o, output".split(", ")
    if missing := [name for name in names if name not in tables]:
        raise ValueError(f"tables have no {missing[0]!r}")
    parts = {name: np.asarray(tables[name], float) for name in names}
    for name, part in parts.items():
        axis = 0 if name == "w_o" else 1
        if part.ndim != 2 or (name not in ("w_q", "w_o") and len(part) != n):
            raise ValueError(f"{name} of shape {part.shape} is no table of {n} tokens")
        if name not in ("x", "output") and part.shape[axis] % n_heads:
            raise ValueError(
                f"{name} of shape {part.shape} does not fit {n_heads} heads"
            )
    products = (("x", "w_q", "queries"), ("side by side", "w_o", "output"))
    for one, other, result in products:
        shapes = [parts[name].shape for name in (one, other, result)]
        if (shapes[0][1], shapes[2]) != (shapes[1][0], (n, shapes[1][1])):
            raise ValueError(f"{one} · {other} = {result} does not fit: {shapes}")
    return parts


def _draw_product(
    axes: Axes, corner: tuple[float, float], part: np.ndarray, name: str, n_heads: int
) -> None:
    """Draw one table of ``products_of_heads`` below its corner, with its numbers."""
    plain = name in ("x", "output")
    for (i, j), number in np.ndenumerate(part):
        if name.startswith("weights of"):
            colour = to_rgb(colormaps["cividis"](number))
        elif plain:
            colour = (1.0, 1.0, 1.0)
        else:
            of = (i, len(part)) if name == "w_o" else (j, part.shape[1])
            colour = _tint(of[0] * n_heads // of[1])  # type: ignore[assignment]
        x, y = corner[0] + NARROW * j, corner[1] - ROW * (i + 1)
        size = NARROW - 0.03, ROW - 0.03
        axes.add_patch(Rectangle((x, y), *size, fc=colour, ec="0.6", lw=0.6))
        text = f"{round(float(number), 2) + 0.0:g}".replace("-", "−")
        middle = x + size[0] / 2, y + size[1] / 2
        # White cells take the page's own ground, and black text its ink.
        ink = "black" if plain else text_colour(colour)
        write_text(axes, *middle, text, ha="center", color=ink)


def wall_of_heads(
    weights: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    alt: str | None = None,
    roles: Sequence[Sequence[str]] | None = None,
    layers: Sequence[str] | None = None,
    without: np.ndarray | None = None,
    complete: float | None = None,
    measure: str = "loss",
    start: tuple[int, int, int] = (0, 0, 0),
) -> LivingFigure:
    """Draw the weights of all heads as small tables, a row for each layer.

    Where scripts run, a press opens a head, and a head can be taken out. With more than
    16 tokens on a side most weights are small, and colours stand for square roots.

    weights : (n_layers, n_heads, n, m), between 0 and 1
    queries, keys : n and m tokens
    roles : (n_layers, n_heads) names of what heads do, "" for none
    layers : n_layers names; without them layers are counted from 0
    without : (n_layers, n_heads), what was measured with that head alone taken out; it
        is shown when a reader takes the head out
    complete : the same measure with all heads; needed with ``without``
    measure : its name
    start : layer, head and query that are open at first

    Raises ``ValueError`` for shapes that do not fit, weights beyond 0 and 1, numbers
    that are not finite, or more than a view can show.
    """
    weights = np.asarray(weights, float)
    if weights.ndim != 4 or not weights.size:
        raise ValueError(
            f"weights of shape {weights.shape} are not (n_layers, n_heads, n, m)"
        )
    n_layers, n_heads, n, m = weights.shape
    if max(n, m) > MAX_TOKENS or n_heads > MAX_HEADS or weights.size > MAX_WEIGHTS:
        raise ValueError(
            f"weights of shape {weights.shape} are too many: a wall shows at most "
            f"{MAX_TOKENS} tokens on a side, {MAX_HEADS} heads in a layer and "
            f"{MAX_WEIGHTS:,} weights"
        )
    rows = [str(i) for i in range(n_layers)] if layers is None else [*map(str, layers)]
    if len(rows) != n_layers:
        raise ValueError(f"{len(rows)} names of layers for {n_layers} layers")
    for layer in weights:
        for head in layer:
            checked_weights(head, queries, keys)
    if not all(0 <= i < size for i, size in zip(start, weights.shape, strict=False)):
        raise ValueError(f"start={start} is not a layer, a head and a query of these")
    names = _names(roles, (n_layers, n_heads))
    marks = _marks(names)
    if (without is None) != (complete is None):
        raise ValueError("without and complete are given together, or neither is")
    changes = None
    if without is not None and complete is not None:
        if np.shape(without) != (n_layers, n_heads):
            raise ValueError(
                f"without has shape {np.shape(without)} for {(n_layers, n_heads)} heads"
            )
        changes = np.asarray(without, float) - complete
    data = {
        "queries": [*map(str, queries)],
        "keys": [*map(str, keys)],
        "layers": None if layers is None else rows,
        "heads": n_heads,
        "weights": packed(np.clip(weights, 0, 1)),
        "roles": names,
        "marks": [[marks[role] for role in row] for row in names],
        "measure": None
        if without is None
        else {
            "name": measure,
            "complete": numbers(np.array(complete)),
            "without": numbers(without),
        },
        "shown": [*map(int, start)],
    }
    figure = _draw_wall(weights, rows, marks, names, changes, measure)
    return LivingFigure(figure, alt, "heads", data)


def _names(
    roles: Sequence[Sequence[str]] | None, shape: tuple[int, int]
) -> list[list[str]]:
    """Return the names of roles, "" for each head if there are none."""
    if roles is None:
        return [[""] * shape[1] for _ in range(shape[0])]
    names = [[*map(str, row)] for row in roles]
    if [len(row) for row in names] != [shape[1]] * shape[0]:
        raise ValueError(f"roles do not name {shape[0]} layers of {shape[1]} heads")
    return names


def _marks(names: Sequence[Sequence[str]]) -> dict[str, str]:
    """Choose a letter for each role, its first one if it can be."""
    marks = {"": ""}
    for role in [role for row in names for role in row]:
        if role not in marks:
            letters = [c for c in role.upper() if c.isalnum()] + [*ascii_uppercase]
            marks[role] = next((c for c in letters if c not in marks.values()), "?")
    return marks


def _draw_wall(
    weights: np.ndarray,
    layers: Sequence[str],
    marks: Mapping[str, str],
    names: Sequence[Sequence[str]],
    changes: np.ndarray | None,
    measure: str,
) -> Figure:
    """Draw one image for each head, its mark and the change without it below."""
    n_layers, n_heads, *tokens = weights.shape
    left = max(map(text_width, [*layers, "layer"])) + 0.2
    tile = min(0.9, (MAX_WIDTH - left) / n_heads)
    size = tile - BREAK
    bar = 0.08 if changes is not None else 0.0
    row = size + bar + (0.26 if len(marks) > 1 else 0.06)
    width = left + n_heads * tile
    root = "the square root of the weight" if max(tokens) > MANY else "the weight"
    legend = _lines([f"{mark} = {role}" for role, mark in marks.items() if role], width)
    legend += [f"colour: {root}, from 0 (dark) to 1 (light)"]
    widest = 1.0
    if changes is not None:
        widest = float(np.abs(changes).max()) or 1.0
        legend += [
            f"bar: change of the {measure} without that head,",
            f"the longest {format_number(widest)}; hollow: it falls",
        ]
    height = 0.42 + n_layers * row + 0.22 * len(legend)
    width = max(width, *map(text_width, ["", *legend])) + 0.05
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    write_text(axes, left + n_heads * tile / 2, -0.1, "head", ha="center")
    write_text(axes, left - 0.1, -0.3, "layer", ha="right")
    # Among many tokens most weights are small: their roots make colours differ.
    norm = PowerNorm(0.5 if max(tokens) > MANY else 1.0, 0.0, 1.0)
    colours = colormaps["cividis"].resampled(LEVELS)
    bars: dict[str, list[Path]] = {COLOURS[0]: [], "white": []}
    for layer in range(n_layers):
        y = -0.42 - layer * row
        picture = _in_a_row(weights[layer], BREAK / size)
        image = axes.imshow(picture, colours, norm, aspect="auto", interpolation="none")
        image.set_extent((left, left + n_heads * tile - BREAK, y - size, y))
    for layer, h in np.ndindex(n_layers, n_heads):
        x, y = left + h * tile, -0.42 - layer * row
        if changes is not None:
            change = changes[layer, h]
            right, top = x + size * abs(change) / widest, y - size - 0.02
            corners = [(x, top - 0.05), (right, top - 0.05), (right, top), (x, top)]
            box = Path([*corners, corners[0]], closed=True)
            bars[COLOURS[0] if change >= 0 else "white"].append(box)
        mark = marks[names[layer][h]]
        write_text(axes, x + size / 2, y - size - bar - 0.11, mark, ha="center")
    for fill, boxes in bars.items():  # a single path for many bars keeps the file small
        if boxes:
            together = Path.make_compound_path(*boxes)
            axes.add_patch(PathPatch(together, fc=fill, ec=COLOURS[0]))
    for h in range(n_heads):
        write_text(axes, left + h * tile + size / 2, -0.3, f"{h}", ha="center")
    for layer, name in enumerate(layers):
        middle = -0.42 - layer * row - size / 2
        write_text(axes, left - 0.1, middle, name, ha="right")
    for i, text in enumerate(legend):
        write_text(
            axes, 0.03, 0.11 - height + 0.22 * (len(legend) - 1 - i), text, ha="left"
        )
    axes.set(xlim=(0, width), ylim=(-height, 0))
    axes.set_axis_off()
    return figure


def _in_a_row(heads: np.ndarray, space: float) -> np.ma.MaskedArray:
    """Return the weights of heads (n_heads, n, m) side by side, masked between two.

    One image for a row takes far less room in a file than one for each head. Where
    there are many tokens several cells become one, with the greatest weight of them.

    space : between two heads, as a share of a head's width
    """
    for axis in (1, 2):
        starts = np.arange(0, heads.shape[axis], -(-heads.shape[axis] // SIDE))
        heads = np.maximum.reduceat(heads, starts, axis=axis)
    # Narrow tables are drawn with wider cells, so that the space fits.
    heads = heads.repeat(-(-MANY // heads.shape[2]), axis=2)
    between = max(1, round(space * heads.shape[2]))
    padded = np.pad(heads, ((0, 0), (0, 0), (0, between)), constant_values=np.nan)
    return np.ma.masked_invalid(np.hstack([*padded])[:, :-between])


def _lines(parts: Sequence[str], width: float) -> list[str]:
    """Put parts on few lines in their order, each at most ``width`` inches wide."""
    lines: list[str] = []
    for part in parts:
        longer = f"{lines[-1]}   {part}" if lines else part
        if lines and text_width(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(part)
    return lines


def _draw_head(
    axes: Axes,
    corner: tuple[float, float],
    head: np.ndarray,
    h: int,
    origins: Mapping[int, tuple[int, int]],
) -> None:
    """Draw the numbers of one head, the upper left corner of the first at corner."""
    for (i, j), number in np.ndenumerate(head):
        origin = origins[int(number)]
        x, y = corner[0] + CELL * j, corner[1] - ROW * (i + 1)
        wrong = origin != (i, h)
        size = CELL - 0.05, ROW - 0.05
        box = Rectangle((x, y), *size, fc=_tint(origin[1]), ec="0.6", lw=0.8)
        if wrong:
            box.set(edgecolor="black", linewidth=2.2)
        axes.add_patch(box)
        middle = x + size[0] / 2, y + size[1] / 2
        write_text(axes, *middle, f"{number}", ha="center", color=FIXED_BLACK)


def _tint(h: int) -> tuple[float, ...]:
    """Return a head's colour, light enough for black numbers."""
    return tuple(0.5 + 0.5 * part for part in to_rgb(COLOURS[h % len(COLOURS)]))
