"""Alternative texts: written beside the picture in the source, named in the notebooks.

An author writes what a picture shows above its call::

    alt = "The arrow of kitten lies close to cat, far from bird."
    figures.arrows_in_the_plane(arrows, alt=alt)

The notebooks have ``figures.arrows_in_the_plane(arrows, alt="01-3f2a")``, which tells
nobody what comes out. The name is the lesson's number and the beginning of the text's
hash; the figures find the text by it in ``course_lib/figures/alternatives/01.json``.
"""

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from autograder.course import Course
from autograder.notebooks.cells import SourceCell, SourceError

WIDTH = 88  # of a row of code
CALL = re.compile(r"(figures\.\w+\()(.+)\)")
FORM = (
    'an alternative text is a literal: alt = "…", above the call in the picture\'s '
    "cell, which has alt=alt"
)


def with_names(path: Path, cell: SourceCell) -> tuple[SourceCell, dict[str, str]]:
    """Return a cell of code that names its alternative texts, and these by name.

    Raises ``SourceError`` for a text that is computed, or is not above its picture.
    """
    rows, texts = cell.text.split("\n"), {}
    above: tuple[ast.stmt, str] | None = None
    gone: set[int] = set()
    for statement in ast.parse(cell.text).body:
        names = [n for n in ast.walk(statement) if getattr(n, "id", "") == "alt"]
        if not above and (text := _literal(statement)):
            above = statement, text
        elif above and any(map(_is_argument, ast.walk(statement))) and len(names) == 1:
            name = name_of(path.stem, above[1])
            texts[name] = above[1]
            gone |= _rows_of(above[0])
            for row in _rows_of(statement):
                rows[row] = _within(rows[row].replace("alt=alt", f'alt="{name}"'))
            above = None
        elif names:
            raise SourceError(path, cell.line + statement.lineno, FORM)
    if above:
        raise SourceError(path, cell.line + above[0].lineno, FORM)
    remaining = [row for index, row in enumerate(rows) if index not in gone]
    return replace(cell, text="\n".join(remaining)), texts


def name_of(lesson: str, text: str) -> str:
    """Return the name of an alternative text.

    >>> name_of("01_attention", "Three dots.")
    '01-e35e'
    """
    number = lesson.partition("_")[0]
    return f"{number}-{sha256(text.encode()).hexdigest()[:4]}"


def texts_path(course: Course, lesson: str) -> Path:
    """Return the file of a lesson's alternative texts."""
    number = lesson.partition("_")[0]
    return course.root / "course_lib" / "figures" / "alternatives" / f"{number}.json"


def as_json(texts: Mapping[str, str]) -> str:
    """Return alternative texts by name as the file has them."""
    return json.dumps(texts, indent=1, ensure_ascii=False) + "\n"


def _literal(statement: ast.stmt) -> str:
    """Return the alternative text that a statement binds, or "" if it binds none."""
    match statement:
        case ast.Assign(targets=[ast.Name("alt")], value=ast.Constant(str(text))):
            return text
    return ""


def _rows_of(statement: ast.stmt) -> set[int]:
    return {*range(statement.lineno - 1, statement.end_lineno or 0)}


def _is_argument(node: ast.AST) -> bool:
    match node:
        case ast.keyword("alt", ast.Name("alt")):
            return True
    return False


def _within(row: str) -> str:
    """Return a call in several rows if it is too long for one."""
    call = CALL.fullmatch(row)
    if len(row) <= WIDTH or not call:
        return row
    return f"{call[1]}\n    {call[2]}\n)"
