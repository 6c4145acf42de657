"""Figures of lesson 06: merges as trees, tokens as boxes, and what more merges cost."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator, NullLocator

from course_lib.figures.drawing import (
    FIXED_BLACK,
    FONT_SIZE,
    MAX_WIDTH,
    AccessibleFigure,
    line_styles,
    new_axes,
    text_width,
    write_text,
)
from course_lib.figures.living import LivingFigure
from course_lib.lessons.token_statistics import Tree

ROW = 0.34  # inches from one row of boxes to the next
# No dots: each of them is a circle of four curves, a quarter of a megabyte in all.
HATCHES = ("", "////", "\\\\\\\\", "xxxx", "----", "||||")
# Okabe and Ito's colours with much white in them, for contrast with black text.
TINTS = ("#B3D5E8", "#F7D9A8", "#B3E2D5", "#EED6E4")
MAX_WORDS = 24  # of a view, and of its picture
MAX_MERGES = 1000
MAX_SYMBOLS = 40  # of a word
MAX_ROWS = 8  # of a word in a picture, one for each number of merges
PAGE_ROWS = 22  # of a picture
COLUMN = 0.46  # inches, of tokens in columns at least: single letters are read, too


def merge_trees(trees: Sequence[Tree], *, alt: str | None = None) -> AccessibleFigure:
    """Draw for each token of a word what was joined out of what, letters at the bottom.

    trees : one per token, in order: a symbol, or a tuple of two trees
    """
    if not trees:
        raise ValueError("trees=[]: there is nothing to draw")
    symbols = [symbol for tree in trees for symbol in _symbols(tree)]
    widths = [max(0.13, text_width(symbol) + 0.08) for symbol in symbols]
    gaps = 0.12 * (len(trees) - 1)
    if sum(widths) + gaps > MAX_WIDTH:
        raise ValueError(f"{len(symbols)} symbols in a row are too wide to draw")
    height = ROW * (max(map(_height, trees)) + 1)
    figure = Figure(figsize=(sum(widths) + gaps, height))
    axes = figure.add_axes((0, 0, 1, 1))
    left, start = 0.0, 0
    for tree, tint in zip(trees, _tints(len(trees)), strict=True):
        n = len(_symbols(tree))
        _draw_tree(axes, tree, left, widths[start : start + n], tint)
        left, start = left + sum(widths[start : start + n]) + 0.12, start + n
    axes.set(xlim=(0, sum(widths) + gaps), ylim=(-ROW / 2, height - ROW / 2))
    axes.set_axis_off()
    return AccessibleFigure(figure, alt)


def merge_steps(
    words: Mapping[str, Sequence[Sequence[str]]],
    merges: Sequence[tuple[str, str]],
    counts: Sequence[int],
    *,
    alt: str | None = None,
    ranks: Sequence[int] | None = None,
) -> LivingFigure:
    """Draw how words become fewer tokens, merge by merge, with the pair that is next.

    words : name of a word to its tokens after 0, 1, 2 … merges: one list more than
        merges, of which the first holds the word's symbols
    merges : n pairs (left, right), in the order in which they are made
    counts : n, how often each pair stood in the training text when it was joined
    ranks : n, which merge of the training each one is, counted from 1, if those that
        leave these words alone are left out; without it, 1 to n

    Raises ``ValueError`` if the numbers of merges, counts, ranks and lists differ, if
    a list is not the one before it with the pair of that merge joined, or if there are
    more than 24 words, 1,000 merges or 40 symbols in a word.
    """
    merges = [(str(left), str(right)) for left, right in merges]
    numbers = [*range(1, len(merges) + 1)] if ranks is None else [*map(int, ranks)]
    _check_merges(merges, counts, numbers)
    if not 1 <= len(words) <= MAX_WORDS:
        raise ValueError(f"{len(words)} words: a picture shows 1 to {MAX_WORDS}")
    steps = {name: [[*map(str, each)] for each in words[name]] for name in words}
    for name, lists in steps.items():
        _check_steps(name, lists, merges)
    entries = [
        [*pair, int(count), number]
        for pair, count, number in zip(merges, counts, numbers, strict=True)
    ]
    changes = [{"name": name, "steps": _changes(steps[name])} for name in steps]
    figure = _rows_of_merges([*steps.values()], entries)
    data = {"words": changes, "merges": entries}
    return LivingFigure(figure, alt, "merges", data)


def typed_word(
    word: str, merges: Sequence[tuple[str, str, int]], *, alt: str | None = None
) -> LivingFigure:
    """Draw how one word becomes fewer tokens; where scripts run, the reader types it.

    word : the first word, in lower case; at least one merge changes it
    merges : left, right and count of each, in the order in which they were learned

    Only the merges that change the word are drawn, as in ``merge_steps`` with ranks.
    Raises ``ValueError`` as ``merge_steps`` does, and if no merge changes the word.
    """
    steps, made, counts, ranks = [[*word]], [], [], []
    for rank, (left, right, count) in enumerate(merges, start=1):
        now = _joined(steps[-1], left, right)
        if now != steps[-1]:
            steps.append(now)
            made.append((left, right))
            counts.append(count)
            ranks.append(rank)
    if not made:
        raise ValueError(f"no merge changes word={word!r}")
    figure = merge_steps({word: steps}, made, counts, ranks=ranks, alt=alt)
    figure.data["learned"] = [[left, right, int(n)] for left, right, n in merges]
    return figure


def token_boxes(
    rows: Mapping[str, Sequence[str]],
    *,
    in_columns: bool = False,
    alt: str | None = None,
) -> AccessibleFigure:
    """Draw texts cut into tokens: a box with its own edge for each token.

    rows : what the row shows to its tokens; a long row goes on below
    in_columns : align the i-th tokens of all rows, each column as wide as its widest
        token, nearly half an inch at least; the rows need equally many tokens

    Raises ``ValueError`` for columns where a row has more tokens than another.
    """
    counts = sorted({len(tokens) for tokens in rows.values()})
    if in_columns and len(counts) > 1:
        raise ValueError(f"rows in columns need equally many tokens, got {counts}")
    widths = {
        label: [max(0.16, text_width(token) + 0.1) for token in tokens]
        for label, tokens in rows.items()
    }
    if in_columns:
        columns = [
            max(COLUMN, *column) for column in zip(*widths.values(), strict=True)
        ]
        widths = dict.fromkeys(rows, columns)
    labels = max(map(text_width, rows)) + 0.1
    room = MAX_WIDTH - labels
    figure = Figure()
    axes = figure.add_axes((0, 0, 1, 1))
    line, widest = 0, 0.0
    for label, tokens in rows.items():
        write_text(axes, -0.08, -ROW * line, label, ha="right")
        left = 0.0
        tints = _tints(len(tokens))
        for token, tint, width in zip(tokens, tints, widths[label], strict=True):
            if width > room:
                raise ValueError(f"token {token!r} is too wide to draw")
            if left + width > room:
                line, left = line + 1, 0.0
            _box(axes, left, -ROW * line, width, token, tint)
            left += width + 0.04
            widest = max(widest, left)
        line += 1
    figure.set_size_inches(labels + widest, ROW * line)
    axes.set(xlim=(-labels, widest), ylim=(ROW / 2 - ROW * line, ROW / 2))
    axes.set_axis_off()
    return AccessibleFigure(figure, alt)


def length_and_size(
    n_merges: Sequence[int],
    tokens_per_word: Sequence[float],
    parameters: Mapping[str, Sequence[float]],
    *,
    alt: str | None = None,
) -> AccessibleFigure:
    """Draw what more merges save, and below it what they cost.

    n_merges : how many merges were learned, each greater than the one before
    tokens_per_word : as many numbers
    parameters : name of a model to the millions of entries of its embedding, as many
    """
    figure = Figure(figsize=(5.6, 4.6), layout="constrained")
    above, below = figure.subplots(2, sharex=True)
    drawn = {"tokens per word": (above, tokens_per_word)} | {
        name: (below, values) for name, values in parameters.items()
    }
    for (name, (axes, values)), (colour, marker) in zip(
        drawn.items(), line_styles(len(drawn)), strict=True
    ):
        if len(values) != len(n_merges):
            raise ValueError(f"{name!r}: {len(values)} values for {len(n_merges)}")
        axes.plot(n_merges, values, color=colour, marker=marker, label=name)
    for axes in (above, below):
        axes.set_xscale("log", base=2)
        axes.set_ylim(bottom=0)
        axes.tick_params(labelsize=FONT_SIZE)
        axes.grid(color="0.9")
    below.xaxis.set_major_locator(FixedLocator([*n_merges]))
    below.xaxis.set_major_formatter("{x:,.0f}")
    below.xaxis.set_minor_locator(NullLocator())
    above.set_ylabel("tokens per word", fontsize=FONT_SIZE)
    below.set_ylabel("embedding, millions", fontsize=FONT_SIZE)
    below.set_xlabel("merges", fontsize=FONT_SIZE)
    below.legend(edgecolor="none", framealpha=0.9, fontsize=FONT_SIZE)
    return AccessibleFigure(figure, alt)


def bars(
    names: Sequence[str],
    series: Mapping[str, Sequence[float]],
    *,
    xlabel: str,
    alt: str | None = None,
) -> AccessibleFigure:
    """Draw groups of horizontal bars, a group per name, with their numbers at the end.

    names : one per group, from top to bottom
    series : what a bar of each group shows to as many numbers, none below 0
    """
    figure, axes = new_axes(5.6, 0.22 * len(names) * (len(series) + 1) + 1.2)
    thickness = 1 / (len(series) + 1)
    largest = max(max(values) for values in series.values())
    for i, ((label, values), (colour, _)) in enumerate(
        zip(series.items(), line_styles(len(series)), strict=True)
    ):
        if len(values) != len(names):
            raise ValueError(f"{label!r} has {len(values)} values for {len(names)}")
        heights = np.arange(len(names)) + thickness * i
        axes.barh(
            heights,
            values,
            0.9 * thickness,
            color=colour,
            edgecolor="white",
            linewidth=0,
            hatch=HATCHES[i % len(HATCHES)],
            label=label,
        )
        for y, value in zip(heights, values, strict=True):
            write_text(
                axes, value + 0.01 * largest, float(y), f"{value:.1f}", ha="left"
            )
    middle = thickness * (len(series) - 1) / 2
    axes.set_yticks(np.arange(len(names)) + middle, names)
    axes.set(xlim=(0, 1.1 * largest), ylim=(len(names) - thickness, -thickness))
    axes.set_xlabel(xlabel, fontsize=FONT_SIZE)
    figure.legend(loc="outside upper center", edgecolor="none", fontsize=FONT_SIZE)
    return AccessibleFigure(figure, alt)


def _tints(n: int) -> list[str]:
    return [TINTS[i % len(TINTS)] for i in range(n)]


def _box(axes: Axes, left: float, y: float, width: float, text: str, tint: str) -> None:
    """Draw a box as high as a line of text, its left edge at left, its middle at y."""
    corner, height = (left, y - 0.4 * ROW), 0.8 * ROW
    axes.add_patch(Rectangle(corner, width, height, fc=tint, ec="0.35", zorder=2))
    write_text(axes, left + width / 2, y, text, ha="center", color=FIXED_BLACK)


def _draw_tree(
    axes: Axes, tree: Tree, left: float, widths: Sequence[float], tint: str
) -> float:
    """Draw a tree over its symbols' widths; return the middle of its root."""
    y = ROW * _height(tree)
    if isinstance(tree, str):
        middle = left + widths[0] / 2
    else:
        n = len(_symbols(tree[0]))
        children = [
            (tree[0], left, widths[:n]),
            (tree[1], left + sum(widths[:n]), widths[n:]),
        ]
        middle = left + sum(widths) / 2
        for child, start, room in children:
            across = _draw_tree(axes, child, start, room, tint)
            line = ([middle, across], [y, ROW * _height(child)])
            axes.plot(*line, color="0.5", lw=1, zorder=1)
    text = "".join(_symbols(tree))
    width = min(text_width(text) + 0.06, sum(widths))
    _box(axes, middle - width / 2, y, width, text, tint)
    return middle


def _symbols(tree: Tree) -> list[str]:
    if isinstance(tree, str):
        return [tree]
    return [*_symbols(tree[0]), *_symbols(tree[1])]


def _height(tree: Tree) -> int:
    """Return the length of the longest chain of merges in a tree."""
    if isinstance(tree, str):
        return 0
    return 1 + max(map(_height, tree))


def _check_merges(
    merges: Sequence[tuple[str, str]], counts: Sequence[int], ranks: Sequence[int]
) -> None:
    """Raise ``ValueError`` if these are not n merges with their counts and ranks."""
    if not 1 <= len(merges) <= MAX_MERGES:
        raise ValueError(f"{len(merges)} merges: a picture shows 1 to {MAX_MERGES}")
    for name, values in (("counts", counts), ("ranks", ranks)):
        if len(values) != len(merges):
            raise ValueError(f"{len(values)} {name} for {len(merges)} merges")
        # A NaN is not greater than anything.
        if not all(value >= 1 and value == int(value) for value in values):
            raise ValueError(f"{name} must be whole numbers from 1, got {[*values]}")
    if any(later <= earlier for earlier, later in pairwise(ranks)):
        raise ValueError(f"ranks must grow, got {[*ranks]}")


def _check_steps(
    name: str, lists: Sequence[Sequence[str]], merges: Sequence[tuple[str, str]]
) -> None:
    """Raise ``ValueError`` if a word's lists of tokens are not made by the merges."""
    if len(lists) != len(merges) + 1:
        raise ValueError(
            f"word {name!r} has {len(lists)} lists of tokens for {len(merges)} merges: "
            f"it needs {len(merges) + 1}, the first without any merge"
        )
    if not 1 <= len(lists[0]) <= MAX_SYMBOLS or "" in lists[0]:
        raise ValueError(
            f"word {name!r} must have 1 to {MAX_SYMBOLS} symbols, none of them empty, "
            f"got {lists[0]}"
        )
    for number, (pair, (before, now)) in enumerate(
        zip(merges, pairwise(lists), strict=True), start=1
    ):
        old = iter(before)
        for token in now:
            first = next(old, "")
            if token != first and (first, next(old, "")) != pair:
                break
            if token not in (first, "".join(pair)):
                break
        else:
            if next(old, None) is None:
                continue
        raise ValueError(
            f"word {name!r}: merge {number} joins {pair}, which does not make "
            f"{[*now]} of {[*before]}"
        )


def _joined(symbols: Sequence[str], left: str, right: str) -> list[str]:
    """Return a word's symbols with a pair joined, from left to right."""
    result: list[str] = []
    free = False  # whether the last symbol may be the pair's left one
    for symbol in symbols:
        if free and symbol == right and result[-1] == left:
            result[-1] += symbol
            free = False
        else:
            result.append(symbol)
            free = True
    return result


def _changes(lists: Sequence[list[str]]) -> list[list[object]]:
    """Return how many merges were made where a word's tokens change, and the tokens."""
    first: list[list[object]] = [[0, lists[0]]]
    return first + [
        [n, now]
        for n, (before, now) in enumerate(pairwise(lists), start=1)
        if now != before
    ]


def _rows_of_merges(
    words: Sequence[Sequence[list[str]]], merges: Sequence[list]
) -> Figure:
    """Draw a row of boxes after no merge, and after at most seven numbers of merges.

    words : for each its tokens after 0, 1, 2 … merges
    merges : left, right, count and rank of each
    """
    widths = [[max(0.17, text_width(s) + 0.08) for s in lists[0]] for lists in words]
    lines = [sum(each) + 0.15 for each in widths]
    room = MAX_WIDTH - max(lines)
    n_blocks = len(_blocks(lines, MAX_WIDTH - 1.0))
    n_rows = min(MAX_ROWS, max(2, PAGE_ROWS // n_blocks))
    chosen = np.unique(np.linspace(0, len(merges), n_rows).round().astype(int))
    done = [merges[n - 1] for n in chosen[1:]]
    labels = [f"{rank:,}: {a} + {b} ({count:,})" for a, b, count, rank in done]
    if max(map(text_width, labels)) > room:  # the pairs are not written, then
        labels = [f"{rank:,}" for *_, rank in done]
    labels = ["symbols", *labels]
    margin = max(map(text_width, labels)) + 0.1
    if margin > room + 0.1:
        longest = max(len(lists[0]) for lists in words)
        raise ValueError(f"{longest} symbols in a row are too wide to draw")
    blocks = _blocks(lines, MAX_WIDTH - margin + 0.15)
    figure = Figure()
    axes = figure.add_axes((0, 0, 1, 1))
    y = widest = 0.0
    for block in blocks:
        for label, n in zip(labels, chosen, strict=True):
            write_text(axes, -0.08, y, label, ha="right")
            left = 0.0
            for index in block:
                _draw_tokens(axes, left, y, words[index], n, widths[index])
                left += sum(widths[index]) + 0.15
            widest, y = max(widest, left - 0.15), y - ROW
        y -= ROW / 2
    bottom = y + ROW  # half a row below the last
    figure.set_size_inches(margin + widest, ROW / 2 - bottom)
    axes.set(xlim=(-margin, widest), ylim=(bottom, ROW / 2))
    axes.set_axis_off()
    return figure


def _blocks(widths: Sequence[float], room: float) -> list[list[int]]:
    """Spread words over as few lines as their widths need."""
    blocks: list[list[int]] = []
    left = room
    for index, width in enumerate(widths):
        if left + width > room:
            blocks, left = [*blocks, []], 0.0
        blocks[-1].append(index)
        left += width
    return blocks


def _draw_tokens(
    axes: Axes,
    left: float,
    y: float,
    lists: Sequence[list[str]],
    n: int,
    widths: Sequence[float],
) -> None:
    """Draw a word's tokens after n merges, joined ones tinted, over its symbols."""
    symbols = [*zip(lists[0], widths, strict=True)]
    for token in lists[n]:
        text, width, joined = "", 0.0, 0
        while text != token:
            symbol, room = symbols.pop(0)
            text, width, joined = text + symbol, width + room, joined + 1
        _box(axes, left, y, width - 0.03, token, TINTS[0] if joined > 1 else "white")
        left += width
