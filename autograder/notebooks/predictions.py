"""Predictions: the choices that a lesson asks for, and what must not tell the answer.

In a lesson's source a prediction is a cell of prose that ends with a question and a
list of options, one of them marked as right::

    **Predict:** does the largest weight grow or shrink with d_k?

    - [x] It grows.
    - [ ] It shrinks.

The notebook has a plain list; which option is right stands in the cell's metadata,
where JupyterLab's extension and the book read it. In the code cells that follow, what
would tell the answer before the run is collapsed: assertions, which get a cell of their
own, and the source of drawings, whose alternative text says what they show.
"""

import ast
import re
from collections.abc import Iterable, Iterator

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from autograder.releases import ANSWER_KEY

QUESTION = re.compile(r"^\*\*Predict\b", re.MULTILINE)
OPTION = re.compile(r"^- \[([ x])\] (.+)$")
OPTIONS = (2, 5)  # at least, at most
CLAIMS = "-claims"  # ends the id of a cell of assertions
COLLAPSED = {"jupyter": {"source_hidden": True}, "tags": ["hide-input"]}


def read_prediction(text: str) -> tuple[str, int | None]:
    r"""Return a cell's text with a plain list of options, and which one is right.

    The second result is ``None`` if the cell asks for no choice.

    Raises ``ValueError`` for options without a question, text below them, another
    number than one of right options, or a single option.

    >>> read_prediction("**Predict:** which?\n\n- [ ] One.\n- [x] Two.")
    ('**Predict:** which?\n\n- One.\n- Two.', 1)
    """
    rows = text.split("\n")
    matches = map(OPTION.match, rows)
    options = {row: match for row, match in enumerate(matches) if match}
    if not options:
        return text, None
    first, last = min(options), max(options)
    above = "\n".join(rows[:first]).rstrip("\n").split("\n\n")[-1]
    if not QUESTION.match(above):
        raise ValueError("above options stands the question, which begins '**Predict'")
    if len(options) != last + 1 - first or any(rows[last + 1 :]):
        raise ValueError("a prediction's options end its cell, a line for each")
    if not OPTIONS[0] <= len(options) <= OPTIONS[1]:
        raise ValueError(f"a prediction has {OPTIONS[0]} to {OPTIONS[1]} options")
    right = [row - first for row, match in options.items() if match[1] == "x"]
    if len(right) != 1:
        raise ValueError(f"one option of a prediction is right, [x], not {len(right)}")
    plain = [f"- {match[2]}" for match in options.values()]
    return "\n".join([*rows[:first], *plain]), right[0]


def mark(cell: NotebookNode, right: int) -> None:
    """Say in a cell's metadata which option of its prediction is right, from 0 on."""
    cell.metadata[ANSWER_KEY] = {"prediction": {"right": right}}


def prediction_of(cell: NotebookNode) -> dict:
    """Return a prediction's ``right``, and the learner's ``choice`` if one was made.

    It is empty if the cell is no prediction.
    """
    ours = cell.metadata.get(ANSWER_KEY)
    prediction = ours.get("prediction") if isinstance(ours, dict) else None
    return prediction if isinstance(prediction, dict) else {}


def without_answers(cells: Iterable[NotebookNode]) -> Iterator[NotebookNode]:
    """Yield a lesson's cells with what tells a prediction's answer collapsed.

    That concerns the code cells between a prediction and the next prose.

    Raises ``ValueError``, which begins with the cell's id, if an assertion stands
    above other code there: it would be read before the run.
    """
    is_after = False
    for cell in cells:
        if cell.cell_type == "markdown":
            is_after = bool(prediction_of(cell))
        if cell.cell_type != "code" or not is_after or "nbgrader" in cell.metadata:
            yield cell
            continue
        code, claims = split_claims(cell.source)
        if "assert " in code and _asserts(code):
            raise ValueError(
                f"{cell.id}: after a prediction, assertions end their cell"
            )
        if not code:
            yield _collapsed(cell)
            continue
        cell.source = code
        yield _collapsed(cell) if _tells(code) else cell
        if claims:
            yield _collapsed(new_code_cell(claims, id=cell.id + CLAIMS))


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
    assert end is not None  # a parsed statement has its lines
    return "\n".join(rows[:end]), "\n".join(rows[end:]).strip("\n")


def _asserts(code: str) -> bool:
    return any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(code)))


def _tells(code: str) -> bool:
    """Return whether a cell has a picture's alternative text."""
    return bool(re.search(r"\balt ?= ?[f\"'(]", code))


def _collapsed(cell: NotebookNode) -> NotebookNode:
    tags = [*cell.metadata.get("tags", []), *COLLAPSED["tags"]]
    cell.metadata |= COLLAPSED | {"tags": list(dict.fromkeys(tags))}
    return cell
