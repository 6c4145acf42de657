"""Split a lesson's text source into its cells, each with its line and its tags.

The format is jupytext's "percent" format; what jupytext would have to guess is refused
here, with file and line. What a cell means for the lesson is in ``source``.
"""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import jupytext

from autograder.checking.exercise import Exercise
from autograder.course import CourseError

MARK = re.compile(r"# %%( \[markdown\])?(?: tags=(\[.*\]))?")
ALMOST_A_MARK = re.compile(r"\s*#\s*(%%|In\s*\[|\+ ?(\{.*|\[.*)?$)")
TAGS = {"nbval-ignore-output", "nbval-skip"}
# Without the last one, jupytext makes a shell command of a comment like "# cat".
FORMAT = {"extension": ".py", "format_name": "percent", "comment_magics": False}
# nbgrader's own marks: in a source they would cut text out, or leave a solution in.
NBGRADER_MARK = re.compile(r"(BEGIN|END) (SOLUTION|HIDDEN TESTS|MARK SCHEME)|AUTOTEST ")


class SourceError(CourseError):
    """A fault in a lesson's source, as "file:line: what is wrong"."""

    def __init__(self, path: Path, line: int, what: str) -> None:
        """Name the file as seen from the course's folder."""
        super().__init__(f"{'/'.join(path.parts[-3:])}:{line}: {what}")


@dataclass
class SourceCell:
    """One cell of a lesson.

    kind : "prose", "code", "exercise" or "check"
    text : its source
    line : where it starts in the file, counted from 1
    exercise : for an exercise, its check and its heading: which exercise
    right : for a prediction, which of its options is right, counted from 0
    tells : whether this code tells the answer to the prediction above it
    broken : of a function to be mended, the text that the learner mends
    """

    kind: Literal["prose", "code", "exercise", "check"]
    text: str
    line: int
    tags: list[str] = field(default_factory=list)
    exercise: Exercise | None = None
    right: int | None = None
    tells: bool = False
    broken: str | None = None


def read_cells(path: Path) -> list[SourceCell]:
    """Read a source's cells, all of them "prose" or "code".

    Raises ``SourceError`` if the file cannot be read as text in clear cells.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(path, 1, f"cannot be read: {error}") from None
    rows = text.split("\n")
    starts = _starts(path, rows)
    marks = [_read_mark(path, rows[start], start + 1) for start in starts]
    for (kind, _), start, end in zip(marks, starts, [*starts[1:], None], strict=True):
        _check_rows(path, kind, rows[start + 1 : end], start + 2)
    cells = jupytext.reads(text.lstrip(), fmt=FORMAT).cells
    if len(cells) != len(starts):
        what = f"jupytext finds {len(cells)} cells in it, not {len(starts)}"
        raise SourceError(path, 1, what)
    return [
        SourceCell(kind, cell.source.rstrip("\n"), start + 1, tags)
        for (kind, tags), start, cell in zip(marks, starts, cells, strict=True)
    ]


def _starts(path: Path, rows: list[str]) -> list[int]:
    starts = [index for index, row in enumerate(rows) if row.startswith("# %%")]
    first = starts[0] if starts else len(rows)
    for index, row in enumerate(rows):
        if index < first and row.strip():
            raise SourceError(path, index + 1, "each cell must start with '# %%'")
        if index not in starts and ALMOST_A_MARK.match(row):
            raise SourceError(
                path, index + 1, f"a cell starts with '# %%', not with {row.strip()!r}"
            )
    if not starts:
        raise SourceError(path, 1, "there is no cell: one starts with '# %%'")
    return starts


def _read_mark(
    path: Path, row: str, line: int
) -> tuple[Literal["prose", "code"], list[str]]:
    match = MARK.fullmatch(row.rstrip())
    try:
        tags = json.loads(match[2] or "[]") if match else []
    except ValueError:
        match = None
    if not match:
        raise SourceError(
            path,
            line,
            f"unknown marker {row.strip()!r}: there are '# %%', '# %% [markdown]' and "
            f"'# %% tags=[…]' with tags of {', '.join(sorted(TAGS))}",
        )
    if unknown := sorted({*map(str, tags)} - TAGS):
        raise SourceError(path, line, f"unknown marker: tag {unknown[0]!r}")
    return ("prose" if match[1] else "code"), tags


def _check_rows(path: Path, kind: str, rows: list[str], line: int) -> None:
    """Refuse a cell that is empty, of mixed kind, with a typo or one of nbgrader's."""
    if not any(row.strip(" #") for row in rows):
        raise SourceError(path, line - 1, "an empty cell")
    for number, row in enumerate(rows, line):
        if NBGRADER_MARK.search(row):
            raise SourceError(path, number, f"nbgrader's mark {row.strip()!r}")
        if kind == "prose" and row.strip() and not re.match(r"#( |$)", row):
            raise SourceError(
                path,
                number,
                "a line of prose starts with '# ' (or is '# %%' missing above code?)",
            )
    if kind == "code":
        try:
            compile("\n".join(rows), path.name, "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            number = line - 1 + (getattr(error, "lineno", 1) or 1)
            what = getattr(error, "msg", error)
            raise SourceError(path, number, f"syntax error: {what}") from None
