"""Predictions: the choices that a lesson asks for, and what must not tell the answer.

In a lesson's source a prediction is a cell of prose that ends with a question and a
list of options, one of them marked as right::

    **Predict:** does the largest weight grow or shrink with d_k?

    - [x] It grows.
    - [ ] It shrinks.

The notebook has a plain list; which option is right stands in the cell's metadata,
where JupyterLab's extension and the book read it. In the code cells that follow, what
would tell the answer before the run is collapsed: assertions, which get a cell of their
own, and the source of drawings, whose alternative text says what they show; of drawings
also further down, up to the next heading.
"""

import ast
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from autograder.notebooks.cells import SourceCell, SourceError

QUESTION = re.compile(r"\*\*Predict\b")
OPTION = re.compile(r"- \[([ x])\] (.+)")
FEWEST, MOST = 2, 5  # options
HEADING = re.compile(r"#{1,6} ")
ALTERNATIVE_TEXT = re.compile(r"\balt ?= ?[f\"'(]")


def with_predictions(path: Path, cells: Iterable[SourceCell]) -> list[SourceCell]:
    """Return a lesson's cells with its predictions read and their answers collapsed.

    Raises ``SourceError`` for a list of options that is no prediction, and for an
    assertion in a run that stands above other code.
    """
    read: list[SourceCell] = []
    is_run = is_below = (
        False  # right below a prediction, or in what is left of its section
    )
    for cell in cells:
        if cell.kind == "prose":
            try:
                text, right = read_prediction(cell.text)
            except ValueError as error:
                raise SourceError(path, cell.line, str(error)) from None
            is_run = right is not None
            is_below = is_run or (is_below and not HEADING.match(text))
            read.append(replace(cell, text=text, right=right))
        elif cell.kind == "code" and is_run:
            read += _run(path, cell)
        elif cell.kind == "code" and is_below:
            read.append(replace(cell, collapsed=_only_draws(cell.text)))
        else:
            read.append(cell)
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


def _run(path: Path, cell: SourceCell) -> list[SourceCell]:
    """Return a run's cell, and its assertions as a collapsed one of their own."""
    code, claims = split_claims(cell.text)
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Assert):
            what = "below a prediction, assertions stand at the end of their cell"
            raise SourceError(path, cell.line + node.lineno, what)
    line = cell.line + cell.text.count("\n") - claims.count("\n")
    visible = replace(cell, text=code, collapsed=bool(ALTERNATIVE_TEXT.search(code)))
    own = SourceCell("claims", claims, line, tags=list(cell.tags), collapsed=True)
    if not code:
        return [replace(cell, collapsed=True)]
    return [visible, own] if claims else [visible]


def _only_draws(code: str) -> bool:
    """Return whether a cell is a picture's: its alternative text and its call."""
    kinds = {type(statement) for statement in ast.parse(code).body}
    return bool(ALTERNATIVE_TEXT.search(code)) and kinds <= {ast.Assign, ast.Expr}


def split_claims(source: str) -> tuple[str, str]:
    r"""Return a cell's code and the assertions that end it, with comments above them.

    >>> split_claims("print(1)\n# So it is.\nassert True")
    ('print(1)', '# So it is.\nassert True')
    """
    statements = ast.parse(source).body
    count = len(statements)
    while count and isinstance(statements[count - 1], ast.Assert):
        count -= 1
    if count == len(statements):
        return source, ""
    rows = source.split("\n")
    end = statements[count - 1].end_lineno if count else 0
    return "\n".join(rows[:end]), "\n".join(rows[end:]).strip("\n")
