"""Read what a learner has written from a submitted notebook, of which all may be wrong.

Only the cells' kinds, sources and two marks are taken; outputs, tags, points and what
the file says about itself are not even looked at. Which cell is which is ``rebuild``'s
work.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from autograder.grading.document import document
from autograder.grading.untrusted_file import Unreadable, read_bytes, shown

MOST_BYTES = 32 << 20  # Colab takes 20 MB; a lesson with all its pictures has 2 MB
MOST_CELLS = 2_000  # the longest lesson has 70, and each is matched with each
LONGEST_CODE = 1 << 20  # bytes of one cell's code; an honest one has a few thousand
MOST_CODE = 3 << 20  # bytes of all code: a message to the sandbox holds 4 MiB
LONGEST_PROSE = 100_000  # characters of a text cell; longer ones hold a picture: cut
LONGEST_MARK = 200  # characters of an id; Jupyter allows 64

KINDS: dict[object, Literal["code", "markdown", "raw"]] = {
    "code": "code",
    "markdown": "markdown",
    "raw": "raw",
    "heading": "markdown",  # nbformat 3
}
SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Written:
    """One cell as the learner wrote it.

    source : its text with ``\\n`` between the lines, always fit for UTF-8
    id, grade_id : the marks by which it may be known; "" if it has none
    """

    kind: Literal["code", "markdown", "raw"]
    source: str
    id: str = ""
    grade_id: str = ""


def read_submission(path: Path, below: Path | None = None) -> tuple[Written, ...]:
    """Read a submitted notebook's cells; raises ``Unreadable``.

    path : in nbgrader's order of folders: ``submitted/student/lesson/lesson.ipynb``
    below : the folder in which nothing may be a link; if it is not given, the student's
        folder, or the file's own if that is not named as the file
    """
    return read_cells(read_file(path, below), path.name)


def read_file(path: Path, below: Path | None = None) -> bytes:
    """Read a submitted file's bytes; see ``read_submission``."""
    nested = path.parent.name == path.stem
    below = below or (path.parent.parent if nested else path.parent)
    return read_bytes(path, below, MOST_BYTES)


def read_cells(raw: bytes, name: str) -> tuple[Written, ...]:
    """Read the cells out of a file's bytes; raises ``Unreadable``."""
    name = shown(name)
    found = _found_cells(document(raw, name), name)
    if len(found) > MOST_CELLS:
        raise Unreadable(
            f"{name} has {len(found)} cells, more than the {MOST_CELLS} that are read."
        )
    cells = tuple(_written(found))
    if not cells:
        raise Unreadable(f"{name} has no cells with code or text.")
    _check_lengths(cells, name)
    return cells


def _found_cells(notebook: dict[str, Any], name: str) -> list[Any]:
    """Give the list of cells, of nbformat 4 or 3."""
    cells = notebook.get("cells")
    if isinstance(cells, list) and cells:
        return cells
    sheets = notebook.get("worksheets")
    found = []
    for sheet in sheets if isinstance(sheets, list) else []:
        part = sheet.get("cells") if isinstance(sheet, dict) else None
        found += part if isinstance(part, list) else []
    if not found:
        raise Unreadable(f"{name} has no cells.")
    return found


def _written(found: list[Any]) -> Iterator[Written]:
    """Give the cells of known kinds; what is not as it should be counts as absent."""
    for cell in found:
        kind = cell.get("cell_type") if isinstance(cell, dict) else None
        if not isinstance(kind, str) or kind not in KINDS:
            continue
        metadata = _mapping(cell.get("metadata"))
        source = _text(cell.get("source")) or _text(cell.get("input"))
        if kind != "code" and len(source) > LONGEST_PROSE:
            source = source[:LONGEST_PROSE] + "…"
        # Colab keeps a cell's id in its metadata.
        mark = _mark(cell.get("id")) or _mark(metadata.get("id"))
        grade_id = _mark(_mapping(metadata.get("nbgrader")).get("grade_id"))
        yield Written(KINDS[kind], source, mark, grade_id)


def _check_lengths(cells: tuple[Written, ...], name: str) -> None:
    lengths = [len(cell.source.encode()) for cell in cells if cell.kind == "code"]
    for limit, length, what in (
        (LONGEST_CODE, max(lengths, default=0), "in one cell"),
        (MOST_CODE, sum(lengths), "in all"),
    ):
        if length > limit:
            raise Unreadable(
                f"{name} has {length / 2**20:.1f} MiB of code {what}, more than the "
                f"{limit >> 20} MiB that are read."
            )


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _mark(value: Any) -> str:
    text = value if isinstance(value, str) else ""
    return _clean(text) if len(text) <= LONGEST_MARK else ""


def _text(value: Any) -> str:
    if isinstance(value, list):
        value = "".join(part for part in value if isinstance(part, str))
    return _clean(value) if isinstance(value, str) else ""


def _clean(text: str) -> str:
    """Give a text that UTF-8 and Python's parser take, with one kind of line end."""
    if SURROGATE.search(text):  # pairs are joined, single ones replaced
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\0", "\ufffd").replace("\r\n", "\n").replace("\r", "\n")
