"""A graded submission as the notebook that nbgrader's formgrader opens.

The cells are the lesson's with the learner's answers in them; each check shows its
verdicts. Nothing of what the learner wrote is active in it: prose stands as plain text,
of outputs there are text and pictures. The grades themselves are the gradebook's.
"""

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.course import Course
from autograder.gradebook.folders import write_autograded
from autograder.gradebook.outputs import outputs_of, verdict_outputs
from autograder.gradebook.shown import still
from autograder.grading.master import load_master
from autograder.grading.rebuild import Placed
from autograder.grading.result import ExerciseResult, Result

__all__ = ["autograded_notebook", "write_autograded"]

OURS = "attention_course"  # under this name the result stands in the metadata
LONGEST_PROSE = 20_000  # characters of a text cell: each sign may take seven


def autograded_notebook(
    course: Course,
    cells: Sequence[Placed],
    result: Result,
    outputs: Mapping[int, list[Any]],
) -> str:
    """Give a graded notebook's text; raises ``CourseError`` if the lesson has none.

    cells : of the rebuilt submission; none if it could not be read
    outputs : place of a cell, among those of code, to what it showed
    """
    lesson = _released(course, result.lesson)
    verdicts = {each.exercise: each for each in result.exercises}
    lines = [_unread(lesson, result.reason)] if result.status == "invalid" else []
    place = 0
    for cell in cells or lesson.placed:
        shown = outputs_of(outputs.get(place, [])) if cell.code else []
        place += cell.code
        lines.append(_line(lesson, cell, shown, verdicts.get(cell.exercise)))
    ours = f'"{OURS}": {{"result": {result.as_json()}}}'
    metadata = json.dumps(lesson.metadata)[:-1] + (", " if lesson.metadata else "")
    text = (
        '{"cells": [\n' + ",\n".join(lines) + f'\n],\n"metadata": {metadata}{ours}}},\n'
        '"nbformat": 4,\n"nbformat_minor": 5}\n'
    )
    # A folder's name may hold what is no text; it stands in the result.
    return text.encode("utf-8", "replace").decode()


def _line(
    lesson: "_Released",
    cell: Placed,
    shown: list[dict[str, Any]],
    verdict: ExerciseResult | None,
) -> str:
    """Give a cell as a line of JSON."""
    if cell.role == "own":
        return json.dumps(_own(cell, shown), ensure_ascii=False)
    changes: dict[str, Any] = {"outputs": shown} if shown else {}
    if cell.role == "solution":
        changes["source"] = cell.source
    elif cell.role == "check":
        changes["outputs"] = verdict_outputs(verdict)
    if not changes:
        return lesson.lines[cell.id]
    return json.dumps(lesson.cells[cell.id] | changes, ensure_ascii=False)


def _own(cell: Placed, shown: list[dict[str, Any]]) -> dict[str, Any]:
    """Give a cell of the learner's own."""
    if not cell.code:
        return _prose(cell.id, still(cell.source[:LONGEST_PROSE]))
    code = {"cell_type": "code", "execution_count": None, "outputs": shown}
    return code | {"id": cell.id, "metadata": {}, "source": cell.source}


def _prose(name: str, source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": source}


def _unread(lesson: "_Released", reason: str) -> str:
    """Give the cell that says why there are no answers, as a line of JSON."""
    name = next(f"unread-{n}" for n in range(1000) if f"unread-{n}" not in lesson.cells)
    source = f"**This notebook could not be graded.**\n\n{still(reason)}"
    return json.dumps(_prose(name, source), ensure_ascii=False)


@dataclass(frozen=True)
class _Released:
    """The lesson's cells by id, also as lines of JSON, and what the file says besides.

    placed : the cells as they are where nothing was handed in
    """

    cells: Mapping[str, dict[str, Any]]
    lines: Mapping[str, str]
    placed: tuple[Placed, ...]
    metadata: Mapping[str, Any]


def _released(course: Course, lesson: str) -> _Released:
    """Give the released lesson, read again only if it is another file by now."""
    path = course.learner(lesson)
    try:
        found = path.stat()
        return _read_released(course, lesson, found.st_mtime_ns, found.st_size)
    except OSError:
        load_master(course, lesson)  # says it in a sentence
        raise


@functools.lru_cache(maxsize=8)
def _read_released(course: Course, lesson: str, *_: int) -> _Released:
    master = load_master(course, lesson)
    notebook = json.loads(course.learner(lesson).read_text(encoding="utf-8"))
    cells = {cell["id"]: cell for cell in notebook["cells"]}
    lines = {name: json.dumps(cells[name], ensure_ascii=False) for name in cells}
    placed = tuple(
        Placed(cell.role, cell.id, cell.source, cell.exercise, cell.role != "prose")
        for cell in master.cells
    )
    return _Released(cells, lines, placed, notebook.get("metadata", {}))
