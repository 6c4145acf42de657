"""Figure of lesson 12: the next token under temperature, top-k and top-p."""

import base64
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from course_lib.figures.drawing import COLOURS, FONT_SIZE, new_axes, write_text
from course_lib.figures.living import LivingFigure, numbers

MAX_NUMBERS = 30_000  # in all logits of a view
MAX_FILE = 1_200_000  # bytes of a model that a figure carries
N_BARS = 12
TEMPERATURES = (0.1, 2.0)  # the ends of the view's slider

TokenIds = tuple[int, ...]


def next_token(
    contexts: Mapping[TokenIds, np.ndarray],
    vocabulary: Sequence[str],
    start: Sequence[int],
    *,
    alt: str | None = None,
    end_id: int | None = None,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float = 1.0,
    model: str | None = None,
    text: str = "",
    file: bytes | None = None,
    answer: Callable[[Any], Any] | None = None,
) -> LivingFigure:
    """Draw how probable each token is as the next one, and which ones are cut.

    contexts : the token ids so far to the logits (vocab_size,) of what may come next;
        the reader chooses tokens as far as there are contexts
    vocabulary : (vocab_size,), the tokens as they are to be read, by token id
    start : the token ids with which the sequence begins; it is one of the contexts
    end_id : the token id behind which nothing comes; None if there is none
    temperature : 0.1 … 2, by which logits are divided
    top_k : how many tokens can be drawn at most; None for all
    top_p : above 0, at most 1: of the tokens that top-k leaves, the most probable ones
        can be drawn, as few as have this probability together
    model : the name of a model's file, such as "language-model.bin", whose vocabulary
        this is: the view then reads a text of the reader's, and the contexts are an
        example that stays where the file cannot be had; None for the contexts alone
    text : with a model, what the start's tokens say
    file : that file's bytes, for a page that cannot load it; 1.2 MB at most
    answer : with a model, in a notebook: what ``course_lib.lessons.own_draws.answer``
        returns, from the learner's own functions

    The settings are those of the static picture, and the first ones of the sliders.
    Raises ``ValueError`` for settings out of these ranges, if the start is no context,
    if logits do not fit the vocabulary or are not finite, and for more than 30,000
    logits.
    """
    start_ids = tuple(map(int, start))
    top_k = len(vocabulary) if top_k is None else top_k
    _check_settings(temperature, top_k, top_p)
    if start_ids not in contexts:
        raise ValueError(f"start={start_ids} is none of the {len(contexts)} contexts")
    stored = {
        " ".join(map(str, token_ids)): _checked(token_ids, logits, len(vocabulary))
        for token_ids, logits in contexts.items()
    }
    if len(contexts) * len(vocabulary) > MAX_NUMBERS:
        raise ValueError(
            f"{len(contexts)} contexts of {len(vocabulary)} logits are too many for a "
            f"view: at most {MAX_NUMBERS:,} in all"
        )
    if end_id is not None and not 0 <= end_id < len(vocabulary):
        raise ValueError(f"end_id={end_id} is none of {len(vocabulary)} token ids")
    data: dict[str, Any] = {
        "vocabulary": [*map(str, vocabulary)],
        "start": [*start_ids],
        "end": end_id,
        "contexts": stored,
        "temperature": round(float(temperature), 1),
        "top_k": min(top_k, len(vocabulary)),
        "top_p": round(float(top_p), 2),
    }
    logits = np.asarray(contexts[start_ids], float)
    if model is not None:
        data |= {"model": _named(model, file), "text": text, "asks": answer is not None}
    figure = _draw(logits, data["vocabulary"], temperature, top_k, top_p)
    return LivingFigure(figure, alt, "next_token", data, answer)


def _named(model: str, file: bytes | None) -> dict[str, str]:
    """Return what the view is told of a model's file."""
    if file is None:
        return {"name": model}
    if len(file) > MAX_FILE:
        raise ValueError(
            f"{model} has {len(file):,} bytes, and a notebook takes {MAX_FILE:,} at "
            "most: leave file out"
        )
    return {"name": model, "base64": base64.b64encode(file).decode()}


def _check_settings(temperature: float, top_k: int, top_p: float) -> None:
    low, high = TEMPERATURES
    if not low <= temperature <= high:
        raise ValueError(f"temperature={temperature} is not {low} … {high:g}")
    if top_k < 1:
        raise ValueError(f"top_k={top_k} leaves no token: at least 1")
    if not 0.05 <= top_p <= 1:
        raise ValueError(f"top_p={top_p} is not 0.05 … 1")


def _checked(token_ids: TokenIds, logits: np.ndarray, vocab_size: int) -> list[float]:
    """Return logits as numbers for the view, if they fit the vocabulary."""
    array = np.asarray(logits, float)
    if array.shape != (vocab_size,):
        raise ValueError(
            f"the logits after {token_ids} have shape {array.shape}, and the "
            f"vocabulary has {vocab_size} tokens"
        )
    if not vocab_size or not all(0 <= each < vocab_size for each in token_ids):
        raise ValueError(f"context {token_ids} has no tokens in this vocabulary")
    return numbers(array)


def _draw(
    logits: np.ndarray,
    vocabulary: Sequence[str],
    temperature: float,
    top_k: int,
    top_p: float,
) -> Figure:
    """Draw the most probable tokens as bars, what is cut as hatched ones."""
    order = np.argsort(-logits, kind="stable")
    powers = np.exp((logits[order] - logits[order[0]]) / temperature)
    before = powers / powers.sum()
    # As few tokens as have top_p together: one is cut if those before it have it.
    in_top_k = before[:top_k] / before[:top_k].sum()
    reached = np.cumsum(in_top_k) - in_top_k >= top_p - 1e-9  # sums are a little off
    reached &= top_p < 1
    n_left = len(in_top_k) - int(reached.sum())
    after = before[:n_left] / before[:n_left].sum()
    n_bars = min(N_BARS, len(order))
    n_rows = n_bars + (len(order) > n_bars)
    figure, axes = new_axes(5.6, 0.27 * n_rows + 0.7)
    for rank in range(n_bars):
        if rank < n_left:
            axes.barh(rank, after[rank], 0.8, color=COLOURS[0])
            label, end = f"{after[rank]:.2f}", after[rank]
        else:
            label = f"{before[rank]:.2f}, cut by " + (
                "top-p" if rank < top_k else "top-k"
            )
            end = before[rank]
            axes.barh(rank, end, 0.8, facecolor="white", edgecolor="0.4", hatch="////")
        write_text(axes, end + 0.01, rank, label, ha="left")
    names = [vocabulary[token_id].strip() or "␣" for token_id in order[:n_bars]]
    axes.set_yticks(range(n_bars), names, fontsize=FONT_SIZE, parse_math=False)
    high = max(float(after[0]), float(before[0]))
    axes.set(xlim=(0, min(1.35 * high + 0.12, 1.3)), ylim=(n_rows - 0.4, -0.6))
    k = "all" if top_k >= len(vocabulary) else top_k
    axes.set_xlabel(
        f"probability (temperature {temperature:g}, top-k {k}, top-p {top_p:g})",
        fontsize=FONT_SIZE,
    )
    axes.spines[["top", "right"]].set_visible(False)
    if len(order) > n_bars:
        left = math.fsum(after[n_bars:])
        note = f"and {len(order) - n_bars} more tokens, together {left:.2f}"
        write_text(axes, 0.01, n_bars, note, ha="left", color="0.35")
    return figure
