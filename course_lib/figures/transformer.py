"""Figures of lesson 09: three attentions with their masks, and the architecture."""

from collections.abc import Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

from course_lib.arguments import require_boolean
from course_lib.figures.drawing import (
    COLOURS,
    FONT_SIZE,
    MAX_WIDTH,
    AccessibleFigure,
    label_cells,
    text_width,
    write_text,
)
from course_lib.figures.living import LivingFigure
from course_lib.figures.masks import draw_mask

LabelledMask = tuple[np.ndarray, Sequence[str], Sequence[str]]


class Box(NamedTuple):
    """A box of the architecture.

    name : what is written in it
    note : the name of the note next to it
    part : whose progress it shows, one of ``LESSONS``
    reads, gives : notes with the shapes of what goes in and comes out
    text : what it does
    """

    name: str
    note: str
    part: str
    reads: tuple[str, ...]
    gives: str
    text: str


NORM_TEXT = "the residual connection is added, then each token's vector is normalised"
EMBED_TEXT = "each token id selects its row of the embedding, times √d_model"
POSITIONS_TEXT = "the encoding of each position is added; sines have no parameters"
FEED_FORWARD_TEXT = "the same two layers with a ReLU between, for each token alone"
ENCODER: tuple[Box, ...] = (
    Box("source", "source", "tokens", (), "source", "token ids of the source"),
    Box("embed", "x", "embedding", ("source",), "x", EMBED_TEXT),
    Box("+ positions", "x", "positions", ("x",), "x", POSITIONS_TEXT),
    Box(
        "self-attention",
        "attention",
        "self-attention",
        ("x",),
        "x",
        "each source token attends to all source tokens",
    ),
    Box("add & norm", "norm", "norm", ("x",), "x", NORM_TEXT),
    Box("feed-forward", "feed-forward", "feed-forward", ("x",), "x", FEED_FORWARD_TEXT),
    Box("add & norm", "norm", "norm", ("x",), "x", NORM_TEXT),
    Box(
        "last norm",
        "norm",
        "norm",
        ("x",),
        "memory",
        "one more norm after all layers, as in PyTorch; its output is the memory, and "
        "every layer of the decoder attends to it",
    ),
)
DECODER: tuple[Box, ...] = (
    Box("target", "target", "tokens", (), "target", "token ids of the target"),
    Box(
        "shift_right",
        "decoder input",
        "shift right",
        ("target",),
        "decoder input",
        "the start token comes first, and the last token is left out",
    ),
    Box("embed", "y", "embedding", ("decoder input",), "y", EMBED_TEXT),
    Box("+ positions", "y", "positions", ("y",), "y", POSITIONS_TEXT),
    Box(
        "causal attention",
        "attention",
        "causal attention",
        ("y",),
        "y",
        "each target token attends to itself and to the tokens before it",
    ),
    Box("add & norm", "norm", "norm", ("y",), "y", NORM_TEXT),
    Box(
        "cross-attention",
        "attention",
        "cross-attention",
        ("y", "memory"),
        "y",
        "each target token attends to all source tokens: queries come from the "
        "decoder, keys and values from the encoder",
    ),
    Box("add & norm", "norm", "norm", ("y",), "y", NORM_TEXT),
    Box("feed-forward", "feed-forward", "feed-forward", ("y",), "y", FEED_FORWARD_TEXT),
    Box("add & norm", "norm", "norm", ("y",), "y", NORM_TEXT),
    Box(
        "last norm",
        "norm",
        "norm",
        ("y",),
        "y",
        "one more norm after all layers, as in PyTorch",
    ),
    Box(
        "@ embedding.T",
        "embedding",
        "logits",
        ("y",),
        "logits",
        "the product with each row of the embedding is the logit of that token",
    ),
    Box(
        "softmax",
        "logits",
        "softmax",
        ("logits",),
        "logits",
        "logits become probabilities of the next token",
    ),
)
FIRST = {"encoder": 3, "decoder": 4}  # row of the layer's first sublayer
SUBLAYERS = {"encoder": 2, "decoder": 3}
LESSONS = {
    "tokens": "06 Byte-pair encoding",
    "embedding": "09 The Transformer",
    "positions": "05 Positional encoding",
    "self-attention": "03 Multi-head attention",
    "causal attention": "04 Masking",
    "cross-attention": "02 Self-attention",
    "feed-forward": "09 The Transformer",
    "norm": "09 The Transformer",
    "shift right": "09 The Transformer",
    "logits": "09 The Transformer",
    "softmax": "01 Dot-product attention",
}
STATES = ("done", "current", "to come")
LEFT_OUT = "left out"  # the state of a box that the model does without
STATE_COLOURS = {"done": "#BFDDF1", "current": "#FBE3BE"}
NOTES = (
    *("source", "x", "target", "decoder input", "y", "memory", "logits"),
    *("attention", "feed-forward", "norm", "embedding"),
)
COLOURS_OF_PARTS = {"feed-forward": "#FBE3BE", "norm": "#E6E6E6"} | dict.fromkeys(
    ("self-attention", "causal attention", "cross-attention"), "#BFDDF1"
)
MAX_TOTALS = 6  # lines that have room above the encoder
GREY, PALE = "#6E6E6E", "#C8C8C8"  # words and lines of what is left out
STEP, TALL, WIDE = 0.405, 0.25, 2.2  # inches: box to box, and a box
LEFT, RIGHT = 0.3, 3.3  # of the two columns


def three_attentions(
    attentions: Mapping[str, LabelledMask], *, alt: str | None = None
) -> AccessibleFigure:
    """Draw masks with queries and keys of their own, in one row.

    attentions : name to mask (n, m) of booleans, labels of its n queries and m keys
    """
    columns = sum(len(keys) for _, _, keys in attentions.values())
    labels = [max(map(text_width, queries)) for _, queries, _ in attentions.values()]
    most = max(len(queries) for _, queries, _ in attentions.values())
    below = max(text_width(key) for _, _, keys in attentions.values() for key in keys)
    room = MAX_WIDTH - sum(labels) - 0.35 * len(attentions)
    cell = min(0.36, room / columns)
    widths = [
        label + 0.35 + cell * len(keys)
        for label, (_, _, keys) in zip(labels, attentions.values(), strict=True)
    ]
    figure = Figure(figsize=(sum(widths), cell * most + below + 0.55))
    height = figure.get_figheight()
    start = 0.0
    for (name, (mask, queries, keys)), label, width in zip(
        attentions.items(), labels, widths, strict=True
    ):
        require_boolean(mask)
        if mask.shape != (len(queries), len(keys)):
            raise ValueError(
                f"{name}: a mask {mask.shape} does not fit {len(queries)} queries and "
                f"{len(keys)} keys"
            )
        tall = cell * len(queries)
        corner = (
            (start + label + 0.15) / sum(widths),
            1 - (below + 0.12 + tall) / height,
        )
        axes = figure.add_axes((*corner, cell * len(keys) / sum(widths), tall / height))
        axes.set(xlim=(-0.5, len(keys) - 0.5), ylim=(len(queries) - 0.5, -0.5))
        draw_mask(axes, mask)
        label_cells(axes, queries, keys, rotation=90)
        axes.set_xlabel(name, fontsize=FONT_SIZE)
        start += width
    return AccessibleFigure(figure, alt)


def architecture(
    notes: Mapping[str, str] | None = None,
    n_layers: int = 6,
    totals: Sequence[str] = (),
    *,
    alt: str | None = None,
    parts: Mapping[str, str] | None = None,
    lessons: Mapping[str, str] | None = None,
    links: Mapping[str, str] | None = None,
    small: bool = False,
    decoder_only: bool = False,
) -> LivingFigure:
    """Draw the paper's encoder and decoder, from the tokens at the bottom upwards.

    notes : what is written, all of it or nothing

        - in the boxes: shapes for "source", "x" (embedded), "target", "decoder input"
          (shifted right) and "y" (embedded); numbers of parameters for "attention",
          "feed-forward", "norm" and "embedding";
        - at the top: shapes for "memory" and "logits".
    n_layers : how often the framed layer is repeated
    totals : up to 6 lines that are written above the encoder
    parts : part of the model to "done", "current" or "to come"; those that are not
        named are to come. The parts are the keys of ``LESSONS``
    lessons : part to the name of its lesson, where it is another than in ``LESSONS``
    links : part to the address of its lesson
    small : draw a map, with the notes only where a box is pointed at
    decoder_only : draw what a model without an encoder leaves out in grey

    Where scripts run, a box that is pointed at tells its shapes, parameters and lesson.
    Raises ``ValueError`` for parts, notes and states that there are not, for too many
    totals and for an address that is neither relative nor of the web.
    """
    notes = _checked_notes(notes or {})
    if isinstance(n_layers, bool) or not isinstance(n_layers, int) or n_layers < 1:
        raise ValueError(f"n_layers={n_layers!r} must be a whole number from 1")
    if len(totals) > MAX_TOTALS:
        raise ValueError(f"{len(totals)} totals: there is room for {MAX_TOTALS}")
    for name, mapping in (("parts", parts), ("lessons", lessons), ("links", links)):
        if unknown := {*(mapping or {})} - {*LESSONS}:
            raise ValueError(
                f"{name}: there is no part {min(unknown)!r}; the parts are "
                f"{', '.join(LESSONS)}"
            )
    for part, state in (parts or {}).items():
        if state not in STATES:
            raise ValueError(f"parts[{part!r}]={state!r} must be one of {STATES}")
    for part, address in (links or {}).items():
        if not _is_safe(address):
            raise ValueError(f"links[{part!r}]={address!r} must be relative or https")
    columns = {"encoder": ENCODER, "decoder": DECODER}
    gone = _of_encoder() if decoder_only else set()
    figure = _picture({} if small else notes, n_layers, totals, parts, gone)
    boxes = {
        name: [_facts(box, notes, parts, {**LESSONS, **(lessons or {})}) for box in row]
        for name, row in columns.items()
    }
    for column, row in gone:
        boxes[column][row]["state"] = LEFT_OUT
    for column, first in FIRST.items():
        for row, box in enumerate(boxes[column]):
            box["layer"] = first <= row < first + 2 * SUBLAYERS[column]
            box["link"] = (links or {}).get(box["part"])
    data = {
        "boxes": boxes,
        "n_layers": n_layers,
        "totals": [*totals],
        "memory": notes.get("memory", ""),
        "small": small,
        "states": parts is not None,
    }
    return LivingFigure(figure, alt, "architecture", data)


def _of_encoder() -> set[tuple[str, int]]:
    """Return column and row of each box that only a model with an encoder has."""
    cross = [box.part for box in DECODER].index("cross-attention")
    of_decoder = {("decoder", cross), ("decoder", cross + 1)}  # and its norm
    return {("encoder", row) for row in range(len(ENCODER))} | of_decoder


def _checked_notes(notes: Mapping[str, str]) -> dict[str, str]:
    """Return the notes; raise ``ValueError`` unless there are all of them, or none."""
    if notes and {*notes} != {*NOTES}:
        missing, unknown = {*NOTES} - {*notes}, {*notes} - {*NOTES}
        raise ValueError(
            f"notes are all or none: {sorted(missing)} missing, {sorted(unknown)} "
            "unknown"
        )
    return {name: str(note) for name, note in notes.items()}


def _is_safe(address: str) -> bool:
    """Decide whether an address is safe to follow: "javascript:…" would be run."""
    scheme, colon, _ = address.partition(":")
    return bool(address.strip()) and (
        not colon or "/" in scheme or scheme in ("http", "https")
    )


def _facts(
    box: Box,
    notes: Mapping[str, str],
    parts: Mapping[str, str] | None,
    lessons: Mapping[str, str],
) -> dict[str, Any]:
    """Return what a view says of a box."""
    parameters = {"embedding": "embedding", "logits": "embedding"}.get(box.part)
    if box.note in ("attention", "feed-forward", "norm"):
        parameters = box.note
    return {
        "name": box.name,
        "part": box.part,
        "text": box.text,
        "note": notes.get(box.note, ""),
        "reads": [notes[name] for name in box.reads] if notes else [],
        "gives": notes.get(box.gives, ""),
        "parameters": notes.get(parameters or "", ""),
        "shared": parameters == "embedding",
        "lesson": lessons[box.part],
        "state": None if parts is None else parts.get(box.part, "to come"),
    }


# --- the static picture ----------------------------------------------------------


def _picture(
    notes: Mapping[str, str],
    n_layers: int,
    totals: Sequence[str],
    parts: Mapping[str, str] | None,
    gone: Set[tuple[str, int]] = frozenset(),
) -> Figure:
    height = STEP * (len(DECODER) + 1) + 0.1
    figure = Figure(figsize=(MAX_WIDTH, height))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set(xlim=(0, MAX_WIDTH), ylim=(0, height))
    axes.axis("off")
    # The residual connections are outside: between the columns the memory passes.
    columns = (
        ("encoder", LEFT, ENCODER, LEFT - 0.16, LEFT - 0.25),
        ("decoder", RIGHT, DECODER, RIGHT + WIDE + 0.16, RIGHT - 0.08),
    )
    for name, left, boxes, beside, corner in columns:
        first, sublayers = FIRST[name], SUBLAYERS[name]
        rows = {row for column, row in gone if column == name}
        _column(axes, left, boxes, notes, parts, first, sublayers, beside, rows)
        bottom = _bottom(first) - 0.13
        frame = Rectangle(
            (corner, bottom), WIDE + 0.33, STEP * 2 * sublayers + 0.06, fill=False
        )
        is_gone = len(rows) == len(boxes)
        frame.set(edgecolor=PALE if is_gone else "black", linestyle="--")
        axes.add_patch(frame)
    top = _bottom(len(ENCODER) - 1) + TALL
    lines = [f"each frame: one of {n_layers} stacked layers", *totals]
    if parts is not None:
        last_state = "– left out" if gone else "○ in a later one"
        lines = [*lines, "✓ in an earlier lesson, ● in this one,", last_state]
    for number, line in enumerate(reversed(lines)):
        write_text(axes, LEFT, top + 0.62 + 0.19 * number, line, ha="left")
    output = f"memory {notes['memory']}" if notes else "the encoder's output"
    _memory(axes, f"{output}: keys and values", is_gone=bool(gone))
    last = _bottom(len(DECODER) - 1) + TALL
    _arrow(axes, (RIGHT + WIDE / 2, last), (RIGHT + WIDE / 2, last + 0.18))
    write_text(axes, RIGHT + WIDE / 2 + 0.08, last + 0.12, "probabilities", ha="left")
    return figure


def _bottom(row: int) -> float:
    return 0.1 + STEP * row


def _column(
    axes: Axes,
    left: float,
    boxes: Sequence[Box],
    notes: Mapping[str, str],
    parts: Mapping[str, str] | None,
    first: int,
    sublayers: int,
    beside: float,
    gone: Set[int],
) -> None:
    """Draw boxes upwards, arrows between them, and the residual connections."""
    middle = left + WIDE / 2
    for row, box in enumerate(boxes):
        y = _bottom(row)
        frame = FancyBboxPatch(
            (left, y), WIDE, TALL, boxstyle="round,pad=0,rounding_size=0.06"
        )
        colour = COLOURS_OF_PARTS.get(box.part, "white")
        frame.set(facecolor=colour, edgecolor="black")
        mark = ""
        if parts is not None:
            state = parts.get(box.part, "to come")
            mark = dict(zip(STATES, "✓●○", strict=True))[state] + " "
            colour = STATE_COLOURS.get(state, "white")
            frame.set(facecolor=colour, linestyle="-" if state != "to come" else ":")
            frame.set(linewidth=3 if state == "current" else 1)
        ink = "black"
        if row in gone:
            mark, ink = "– ", GREY
            frame.set(facecolor="white", edgecolor=PALE, linestyle="-", linewidth=1)
        axes.add_patch(frame)
        name = mark + box.name
        write_text(axes, left + 0.07, y + TALL / 2, name, ha="left", color=ink)
        note = notes.get(box.note, "")
        write_text(axes, left + WIDE - 0.07, y + TALL / 2, note, ha="right")
        if row:
            colour = PALE if len(gone) == len(boxes) else "black"
            _arrow(axes, (middle, _bottom(row - 1) + TALL), (middle, y), colour)
    for row in range(first, first + 2 * sublayers, 2):
        below, edge = _bottom(row) - 0.08, left if beside < left else left + WIDE
        into = _bottom(row + 1) + TALL / 2
        colour = PALE if row in gone else COLOURS[1]
        axes.plot([middle, beside, beside], [below, below, into], color=colour, lw=1.5)
        _arrow(axes, (beside, into), (edge, into), colour=colour)


def _memory(axes: Axes, text: str, *, is_gone: bool) -> None:
    """Draw the line from the encoder's top to the decoder's second attention."""
    top = _bottom(len(ENCODER) - 1) + TALL
    cross = [box.part for box in DECODER].index("cross-attention")
    turn, into = (LEFT + WIDE + RIGHT) / 2 - 0.1, _bottom(cross) + TALL / 2
    middle = LEFT + WIDE / 2
    colour = PALE if is_gone else COLOURS[0]
    axes.plot(
        [middle, middle, turn, turn],
        [top, top + 0.18, top + 0.18, into],
        color=colour,
        lw=2,
    )
    _arrow(axes, (turn, into), (RIGHT, into), colour=colour)
    write_text(
        axes, LEFT, top + 0.33, text, ha="left", color=GREY if is_gone else "black"
    )


def _arrow(
    axes: Axes,
    start: tuple[float, float],
    end: tuple[float, float],
    colour: str = "black",
) -> None:
    arrow = FancyArrowPatch(
        start, end, arrowstyle="-|>", mutation_scale=9, shrinkA=0, shrinkB=0
    )
    arrow.set(color=colour, linewidth=1.5)
    axes.add_patch(arrow)
