"""Predictions: the choices that a lesson asks for.

In a lesson's source a prediction is a cell of prose that ends with a question and a
list of options, one of them marked as right::

    **Predict:** does the largest weight grow or shrink with d_k?

    - [x] It grows.
    - [ ] It shrinks.

The notebook has a plain list; which option is right stands in the cell's metadata,
where JupyterLab's extension and the book read it.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from autograder.notebooks.cells import SourceCell, SourceError

QUESTION = re.compile(r"\*\*Predict\b")
OPTION = re.compile(r"- \[([ x])\] (.+)")
FEWEST, MOST = 2, 5  # options


def with_predictions(path: Path, cells: Iterable[SourceCell]) -> list[SourceCell]:
    """Return a lesson's cells with its predictions read.

    Raises ``SourceError`` for a list of options that is no prediction.
    """
    read = list(cells)
    for index, cell in enumerate(read):
        if cell.kind != "prose":
            continue
        try:
            text, right = read_prediction(cell.text)
        except ValueError as error:
            raise SourceError(path, cell.line, str(error)) from None
        read[index] = replace(cell, text=text, right=right)
    return read


def read_prediction(text: str) -> tuple[str, int | None]:
    r"""Return a cell's text with a plain list of options, and which one is right.

    The second result is ``None`` if the cell asks for no choice.

    Raises ``ValueError`` for options without a question, text below them, another
    number than one of right options, or a single option.

    >>> read_prediction("**Predict:** which?\n\n- [ ] One.\n- [x] Two.")
    ('**Predict:** which?\n\n- One.\n- Two.', 1)
    """
    rows = text.split("\n")
    options = {
        row: match for row, match in enumerate(map(OPTION.fullmatch, rows)) if match
    }
    if not options:
        return text, None
    first, last = min(options), max(options)
    question = "\n".join(rows[:first]).rstrip("\n").split("\n\n")[-1]
    if not QUESTION.match(question):
        raise ValueError("above options stands the question, which begins '**Predict'")
    if len(options) != last + 1 - first or any(rows[last + 1 :]):
        raise ValueError("a prediction's options end its cell, a line for each")
    if not FEWEST <= len(options) <= MOST:
        raise ValueError(f"a prediction has {FEWEST} to {MOST} options")
    right = [row - first for row, match in options.items() if match[1] == "x"]
    if len(right) != 1:
        raise ValueError(f"one option of a prediction is right, [x], not {len(right)}")
    plain = [f"- {match[2]}" for match in options.values()]
    return "\n".join([*rows[:first], *plain]), right[0]
