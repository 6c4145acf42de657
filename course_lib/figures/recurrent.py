"""Figures of lesson 08: an encoder reads and a decoder writes; the gradient's way."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle

from course_lib.figures.drawing import (
    COLOURS,
    MAX_WIDTH,
    AccessibleFigure,
    checked_weights,
    text_width,
    write_text,
)
from course_lib.figures.living import LivingFigure, numbers

MAX_STEPS = 32  # tokens on one side: more rows than that are no picture
MAX_BARS = 12  # numbers of a state that are drawn
ROW, STATE, BETWEEN = 0.3, 0.62, 1.5  # inches: row to row, a state, the lines


def encoder_decoder(
    source: Sequence[str],
    target: Sequence[str],
    hidden_states: np.ndarray,
    decoder_states: np.ndarray,
    weights: np.ndarray | None = None,
    contexts: np.ndarray | None = None,
    *,
    alt: str | None = None,
    start: str = "(start)",
    bidirectional: bool = False,
    query: Literal["before", "after"] = "before",
) -> LivingFigure:
    """Draw how a decoder with attention writes a target; where scripts run, by steps.

    source, target : m and n tokens
    hidden_states : (m, d), of the encoder after each source token
    decoder_states : (n + 1, d_decoder), before the first step and after each step
    weights : (n, m), between 0 and 1, each row summing to 1; None without attention:
        the last hidden state is then the context of every step
    contexts : (n, d), what the decoder gets from the source at each step
    start : the token that the decoder reads first
    bidirectional : True if the first half of each hidden state was made forwards, and
        the second half backwards
    query : the state that attends: "before" the step (Bahdanau) or "after" it (Luong)

    Of each state the first numbers are drawn, as bars. The static picture is the last
    step. Raises ``ValueError`` for arrays that do not fit the tokens or are not finite,
    for weights outside of 0 to 1, and for more than 32 tokens on a side.
    """
    source, target = [*map(str, source)], [*map(str, target)]
    hidden, states, mixed = _checked(
        source, target, hidden_states, decoder_states, contexts, bidirectional
    )
    if weights is not None:
        weights = checked_weights(weights, target, source)
    if query not in ("before", "after"):
        raise ValueError(f'query={query!r} must be "before" or "after" (the step)')
    halves = 2 if bidirectional else 1
    bars = _first(hidden, halves), _first(states)
    mixed = None if mixed is None else _first(mixed, halves)
    figure = _last_step(source, [start, *target], *bars, mixed, weights, query, halves)
    data = {
        "source": source,
        "target": target,
        "start": start,
        "hidden": numbers(bars[0]),
        "states": numbers(bars[1]),
        "contexts": None if mixed is None else numbers(mixed),
        "weights": None if weights is None else numbers(weights),
        "bidirectional": bidirectional,
        "query": query,
        "caption": _caption(hidden, states, halves),
    }
    return LivingFigure(figure, alt, "encoder_decoder", data)


def _checked(
    source: list[str],
    target: list[str],
    hidden_states: np.ndarray,
    decoder_states: np.ndarray,
    contexts: np.ndarray | None,
    bidirectional: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return the arrays as floats; raise ``ValueError`` if they do not fit."""
    for name, tokens in (("source", source), ("target", target)):
        if not 1 <= len(tokens) <= MAX_STEPS:
            raise ValueError(
                f"the {name} has {len(tokens)} tokens: give 1 to {MAX_STEPS}"
            )
    m, n = len(source), len(target)
    hidden = _table("hidden_states", hidden_states, m, "source tokens")
    states = _table("decoder_states", decoder_states, n + 1, "states: one, and n more")
    if bidirectional and hidden.shape[1] % 2:
        raise ValueError(
            f"hidden_states of shape {hidden.shape} have no two halves: bidirectional "
            "states need an even number of entries"
        )
    if contexts is None:
        return hidden, states, None
    mixed = _table("contexts", contexts, n, "target tokens")
    if mixed.shape[1] != hidden.shape[1]:
        raise ValueError(
            f"contexts of shape {mixed.shape} are no means of hidden_states "
            f"{hidden.shape}"
        )
    return hidden, states, mixed


def _table(name: str, values: np.ndarray, rows: int, meaning: str) -> np.ndarray:
    values = np.asarray(values, dtype=float)
    if values.ndim != 2 or len(values) != rows or not values.size:
        raise ValueError(
            f"{name} must have the shape ({rows}, d) for {rows} {meaning}, got "
            f"{values.shape}"
        )
    if not np.isfinite(values).all():
        raise ValueError(f"{name} must be finite numbers, and one is NaN or infinite")
    return values


def _first(values: np.ndarray, halves: int = 1) -> np.ndarray:
    """Return the first numbers of each row, or of each half of it: (n, ≤ 12)."""
    parts = np.split(values, halves, axis=1)
    return np.concatenate([part[:, : MAX_BARS // halves] for part in parts], axis=1)


def _caption(hidden: np.ndarray, states: np.ndarray, halves: int) -> str:
    """Return in words which numbers of the states are drawn."""

    def amount(d: int, most: int) -> str:
        return f"all {d} numbers" if d <= most else f"the first {most} of {d} numbers"

    of_encoder = amount(hidden.shape[1] // halves, MAX_BARS // halves)
    if halves == 2:
        of_encoder += " of each direction, forwards on the left"
    return f"Bars: {of_encoder}; of the decoder {amount(states.shape[1], MAX_BARS)}."


# --- the static picture ----------------------------------------------------------


def _last_step(
    source: list[str],
    tokens: list[str],
    hidden: np.ndarray,
    states: np.ndarray,
    contexts: np.ndarray | None,
    weights: np.ndarray | None,
    query: str,
    halves: int,
) -> Figure:
    """Draw all states and tokens, and the last step's lines; one unit is one inch."""
    labels = [max(map(text_width, words)) + 0.1 for words in (source, tokens)]
    lefts = np.cumsum([labels[0], STATE, BETWEEN, STATE, 0.2, STATE, 0.2])
    encoder, _, context, _, decoder, _, written = lefts
    width = written + max(labels[1], 0.5)
    if width > MAX_WIDTH:
        longest = max(*source, *tokens, key=text_width)
        raise ValueError(f"tokens as long as {longest!r} do not fit beside the states")
    m, n = len(source), len(tokens) - 1
    height = ROW * max(m, n + 1)
    figure = Figure(figsize=(width, height + 2 * ROW))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set(xlim=(0, width), ylim=(-height - ROW, ROW))
    axes.set_axis_off()
    reads = [-height * (j + 0.5) / m for j in range(m)]
    writes = [-height * (t + 0.5) / (n + 1) for t in range(n + 1)]
    largest = max(float(np.abs(part).max()) for part in (hidden, states)) or 1.0
    for x, name in ((encoder, "encoder"), (context, "context"), (decoder, "decoder")):
        write_text(axes, x + STATE / 2, ROW / 2, name, ha="center", color="0.35")
    for y, token, row in zip(reads, source, hidden, strict=True):
        write_text(axes, encoder - 0.06, y, token, ha="right")
        _bars(axes, encoder, y, row, largest)
    for t, (y, token, row) in enumerate(zip(writes, tokens, states, strict=True)):
        write_text(axes, written, y, token, ha="left")
        attends = weights is not None and t == n - (query == "before")
        _bars(axes, decoder, y, row, largest, query=attends)
        if t and contexts is not None:
            _bars(axes, context, y, contexts[t - 1], largest, COLOURS[0])
    if weights is not None:
        below = -height - 0.6 * ROW
        write_text(axes, written, below, "dashed: the query", ha="right", color="0.35")
    if contexts is None:
        axes.plot(context + STATE, writes[-1], "o", color=COLOURS[0])
    ends = encoder + STATE + 0.04, context + (STATE if contexts is None else 0) - 0.04
    if weights is None:
        for j in {m - 1, 0} if halves == 2 else {m - 1}:
            axes.plot(ends, [reads[j], writes[-1]], color=COLOURS[0], lw=2)
    else:
        for t, row in enumerate(weights, 1):
            for y, weight in zip(reads, row, strict=True):
                line = {"lw": 6 * weight, "alpha": 0.9 if t == n else 0.15}
                axes.plot(ends, [y, writes[t]], color=COLOURS[0], **line)
    for x in (context + STATE, decoder + STATE):
        if x > decoder or query == "before":
            _arrow(axes, (x + 0.02, writes[-1]), (x + 0.18, writes[-1]))
    if weights is not None:  # the context goes to the output, too
        below = writes[-1] - 0.48 * ROW
        corners = [below, below, writes[-1]]
        axes.plot(
            [context + STATE / 2, decoder + STATE + 0.08, decoder + STATE + 0.08],
            corners,
            color="black",
            lw=1.2,
        )
    return figure


def _bars(
    axes: Axes,
    x: float,
    y: float,
    values: np.ndarray,
    largest: float,
    colour: str = "0.35",
    query: bool = False,
) -> None:
    """Draw numbers as bars around the middle of a frame; the query's is dashed."""
    half, step = 0.4 * ROW, STATE / len(values)
    frame = Rectangle((x, y - half), STATE, 2 * half, fill=False, ec="0.6", lw=0.8)
    if query:
        frame.set(edgecolor=COLOURS[1], linestyle="--", linewidth=2)
    axes.add_patch(frame)
    for k, value in enumerate(values):
        corner = (x + step * (k + 0.1), y)
        bar = Rectangle(corner, 0.8 * step, 0.9 * half * value / largest, fc=colour)
        axes.add_patch(bar)


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    arrow = FancyArrowPatch(
        start, end, arrowstyle="-|>", mutation_scale=8, shrinkA=0, shrinkB=0
    )
    arrow.set(color="black", linewidth=1.2)
    axes.add_patch(arrow)


# --- the way of the gradient -------------------------------------------------------

PANEL = 2.2  # inches: three rows of boxes and a title
Point = tuple[float, float]


def gradient_paths(
    source: Sequence[str], target: Sequence[str], *, alt: str | None = None
) -> AccessibleFigure:
    """Draw the way of a gradient from the first target token to the first source token.

    source, target : m and n tokens, 2 to 8 of each

    Above, the source goes through one vector, which each step of the decoder reads: the
    way back is m + 1 arrows. Below, a step reads a weighted mean of all states: 2
    arrows. Raises ``ValueError`` for fewer or more tokens.
    """
    for name, tokens in (("source", source), ("target", target)):
        if not 2 <= len(tokens) <= 8:
            raise ValueError(f"the {name} has {len(tokens)} tokens: give 2 to 8")
    widest = max(map(text_width, [*source, *target])) + 0.12
    column = min(widest + 0.3, (MAX_WIDTH - 0.1) / max(len(source), len(target)))
    width = column * max(len(source), len(target))
    figure = Figure(figsize=(width + 0.1, 2 * PANEL))
    axes = figure.add_axes((0, 0, 1, 1))
    for y, attends in ((PANEL, False), (0.0, True)):
        _draw_path(axes, y, column, source, target, attends)
    axes.set(xlim=(-0.05, width + 0.05), ylim=(0, 2 * PANEL))
    axes.set_axis_off()
    return AccessibleFigure(figure, alt)


def _draw_path(
    axes: Axes,
    y: float,
    column: float,
    source: Sequence[str],
    target: Sequence[str],
    attends: bool,
) -> None:
    """Draw encoder, what the decoder reads, and decoder, with the path marked."""
    above = [((i + 0.5) * column, y + 1.6) for i in range(len(source))]
    below = [((i + 0.5) * column, y + 0.2) for i in range(len(target))]
    name = "weighted mean" if attends else "one vector"
    half = text_width(name) / 2 + 0.06
    middle = (max(above[0][0], half) if attends else above[-1][0], y + 0.9)
    marked, plain = [(below[0], middle)], [*pairwise(below)]
    if attends:
        marked.append((middle, above[0]))
        plain += [*pairwise(above), *((each, middle) for each in above[1:])]
    else:
        marked += [(middle, above[-1]), *pairwise(above[::-1])]
        plain += [(middle, each) for each in below[1:]]
    widths = {middle: 2 * half}
    for token, at in zip([*source, *target], [*above, *below], strict=True):
        widths[at] = text_width(token) + 0.12
        _named_box(axes, at, widths[at], token)
    _named_box(axes, middle, widths[middle], name)
    for lines, is_marked in ((plain, False), (marked, True)):
        for start, end in lines:
            _path_arrow(axes, start, end, widths, is_marked)
    how = "with attention" if attends else "through one vector"
    write_text(axes, 0.05, y + 2.0, f"{how}: {len(marked)} arrows", ha="left")


def _named_box(axes: Axes, at: Point, width: float, text: str) -> None:
    corner = (at[0] - width / 2, at[1] - 0.13)
    axes.add_patch(Rectangle(corner, width, 0.26, fill=False, ec="0.35"))
    write_text(axes, *at, text, ha="center")


def _path_arrow(
    axes: Axes, start: Point, end: Point, widths: Mapping[Point, float], marked: bool
) -> None:
    """Draw an arrow from edge to edge of two boxes; a marked one is thick."""
    if start[1] == end[1]:
        way = 1 if end[0] > start[0] else -1
        start = (start[0] + way * widths[start] / 2, start[1])
        end = (end[0] - way * widths[end] / 2, end[1])
    else:
        way = 1 if end[1] > start[1] else -1
        start, end = (start[0], start[1] + way * 0.13), (end[0], end[1] - way * 0.13)
    arrow = FancyArrowPatch(
        start, end, arrowstyle="-|>", mutation_scale=9, shrinkA=1, shrinkB=1
    )
    arrow.set(color=COLOURS[1] if marked else "0.65", linewidth=2.5 if marked else 0.9)
    arrow.set_zorder(3 if marked else 1)
    axes.add_patch(arrow)
