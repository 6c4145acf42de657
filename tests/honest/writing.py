"""What many cases do to a submission: type text, put lines on top, change a word.

No case stands here.
"""

import textwrap
from collections.abc import Iterator

from nbformat import NotebookNode

from tests.submissions import Submission


def typed(text: str) -> str:
    """Return a text as it is typed: no common indent, no blank lines around it."""
    return textwrap.dedent(text).strip("\n")


def on_top(submission: Submission, name: str, text: str) -> None:
    """Put lines above what a cell holds."""
    cell = submission.cell(name)
    cell.source = f"{typed(text)}\n{cell.source}"


def at_the_end(submission: Submission, name: str, text: str) -> None:
    """Put lines below what a cell holds."""
    cell = submission.cell(name)
    cell.source = f"{cell.source}\n\n\n{typed(text)}"


def change(submission: Submission, name: str, old: str, new: str) -> None:
    """Replace a piece of a cell, which must be there."""
    cell = submission.cell(name)
    if old not in cell.source:
        raise ValueError(f"{name} holds no {old!r}")
    cell.source = cell.source.replace(old, new)


def remove(submission: Submission, name: str) -> None:
    """Delete a cell."""
    del submission.notebook.cells[submission.index(name)]


def code_cells(submission: Submission) -> Iterator[NotebookNode]:
    """Yield the code cells one by one."""
    for cell in submission.notebook.cells:
        if cell.cell_type == "code":
            yield cell
