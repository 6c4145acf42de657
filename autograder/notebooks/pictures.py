"""Alternative texts: written beside the picture in the source, not in the notebooks.

An author writes what a picture shows above its call::

    alt = "The arrow of kitten lies close to cat, far from bird."
    figures.arrows_in_the_plane(arrows, alt=alt)

The notebooks have ``figures.arrows_in_the_plane(arrows)``, which tells nobody what
comes out. The figures find the text by the code of the cell that runs, of which
``course_lib/figures/alternatives/01.json`` has the digest.
"""

import ast
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from autograder.course import Course
from autograder.course.shown_code import without_assertions
from autograder.notebooks.cells import SourceCell, SourceError

WIDTH = 88  # of a row of code
ARGUMENT = re.compile(r",\s*alt=alt(?=\s*\))|\s*\balt=alt\b,?")
IN_ROWS = re.compile(r"^(\w[\w.]*\()\n    (.+)\n\)$", re.MULTILINE)
FORM = (
    'an alternative text is a literal: alt = "…", above the call in the picture\'s '
    "cell, which has alt=alt"
)


def without_texts(
    path: Path, cell: SourceCell, *, is_named: bool = False
) -> tuple[SourceCell, dict[str, str]]:
    """Return a cell of code without its alternative text, and that by digests.

    is_named : whether the cell gets a short name for its text, as in ``alt="01-3f2a"``;
        two pictures of a lesson with the same code could not be told apart without one
    Learners have the cell without its assertions: that one has a digest of its own.
    Raises ``SourceError`` for a text that is computed, or is not above its picture, and
    for a second one.
    """
    rows, text = cell.text.split("\n"), ""
    above: ast.stmt | None = None
    picture: ast.stmt | None = None
    for statement in ast.parse(cell.text).body:
        names = [n for n in ast.walk(statement) if getattr(n, "id", "") == "alt"]
        if not above and (text := _literal(statement)):
            above = statement
        elif above and not picture and len(names) == 1:
            if not any(map(_is_argument, ast.walk(statement))):
                raise SourceError(path, cell.line + statement.lineno, FORM)
            picture = statement
        elif names:
            raise SourceError(path, cell.line + statement.lineno, FORM)
    if above is None:
        return cell, {}
    if picture is None:
        raise SourceError(path, cell.line + above.lineno, FORM)
    # Here, for matplotlib comes along, and few who read a lesson's source need it.
    from course_lib.figures.alternatives import digest, name_of

    first, last = picture.lineno - 1, picture.end_lineno or 0
    call = "\n".join(rows[first:last])
    if is_named:
        call = call.replace("alt=alt", f'alt="{name_of(path.stem, text)}"')
    call = ARGUMENT.sub("", call)
    gone = range(above.lineno - 1, above.end_lineno or 0)
    before = [row for index, row in enumerate(rows[:first]) if index not in gone]
    code = "\n".join([*before, IN_ROWS.sub(_in_one_row, call), *rows[last:]])
    texts = {digest(each): text for each in (code, without_assertions(code))}
    return replace(cell, text=code), texts


def texts_of_one_name(path: Path, texts: Iterable[str]) -> tuple[str, str] | None:
    """Return two alternative texts of a lesson with the same short name; None if none.

    A cell that has only the name, as in older copies, would show either.
    """
    if not (different := sorted(set(texts))):
        return None
    from course_lib.figures.alternatives import name_of

    by_name: dict[str, str] = {}
    for text in different:
        if (other := by_name.setdefault(name_of(path.stem, text), text)) != text:
            return other, text
    return None


def _in_one_row(call: re.Match[str]) -> str:
    """Return a call in one row if it is short enough for that."""
    row = f"{call[1]}{call[2]})"
    return row if len(row) <= WIDTH and not call[2].endswith(",") else call[0]


def texts_path(course: Course, lesson: str) -> Path:
    """Return the file of a lesson's alternative texts."""
    number = lesson.partition("_")[0]
    return course.root / "course_lib" / "figures" / "alternatives" / f"{number}.json"


def as_json(texts: Mapping[str, str]) -> str:
    """Return alternative texts by digest as the file has them."""
    return json.dumps(texts, indent=1, ensure_ascii=False) + "\n"


def _literal(statement: ast.stmt) -> str:
    """Return the alternative text that a statement binds, or "" if it binds none."""
    match statement:
        case ast.Assign(targets=[ast.Name("alt")], value=ast.Constant(str(text))):
            return text
    return ""


def _is_argument(node: ast.AST) -> bool:
    match node:
        case ast.keyword("alt", ast.Name("alt")):
            return True
    return False
