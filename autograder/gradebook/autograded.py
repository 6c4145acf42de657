"""A graded submission as the notebook that nbgrader's formgrader opens.

The cells are the lesson's with the learner's answers in them; each check shows its
verdicts. Nothing of what the learner wrote is active in it: prose stands as plain text,
of outputs there are text and pictures. The grades themselves are the gradebook's.
"""

import base64
import binascii
import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.course import Course
from autograder.gradebook.shown import still, verdicts_html, visible
from autograder.grading.rebuild import Placed
from autograder.grading.release import load_master
from autograder.grading.result import ExerciseResult, Result
from autograder.messages.report import DATA_TYPE

LONGEST_TEXT = 10_000  # characters of one output
LONGEST_PICTURE = 400_000  # characters of one picture, as text
MOST_OUTPUTS = 20  # of one cell
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"  # how each picture begins; then width and height
MOST_PIXELS = 25_000_000  # a small file may unfold to more than a browser can hold
CUT = "\n… (the rest is not kept)\n"


def outputs_of(shown: Sequence[Any]) -> list[dict[str, Any]]:
    """Give the outputs of one cell; what is not of the expected form is left out.

    shown : what the sandbox has kept of them, see ``inside.shell``
    """
    if type(shown) is not list:
        return []
    found = (_output(each) for each in shown[:MOST_OUTPUTS] if type(each) is dict)
    return [each for each in found if each]


def verdict_outputs(verdict: ExerciseResult | None) -> list[dict[str, Any]]:
    """Give what a check shows, in the form it has under plain nbgrader.

    There the points are the value of the cell's last line: nbgrader takes a check
    without such a value for full marks.
    """
    points = {"text/plain": str(verdict.points if verdict else 0.0)}
    value = {
        "output_type": "execute_result",
        "execution_count": None,
        "data": points,
        "metadata": {},
    }
    if verdict is None:
        return [value]
    data = {
        "text/plain": visible(verdict.report) or f"{verdict.exercise}: not graded",
        "text/html": verdicts_html(verdict),
        DATA_TYPE: _as_data(verdict),
    }
    shown = {"output_type": "display_data", "data": data, "metadata": {}}
    return [shown, value]


def _as_data(verdict: ExerciseResult) -> dict[str, Any]:
    """Give the verdicts as ``check`` leaves them for programs."""
    return {
        "exercise": verdict.exercise,
        "points": verdict.points,
        "max_points": verdict.max_points,
        "cases": {case.case: case.status for case in verdict.cases},
        "diagnosis": verdict.diagnosis or None,
        "blamed": list(verdict.blamed),
    }


def _output(shown: dict[str, Any]) -> dict[str, Any]:
    if type(text := shown.get("text")) is str:
        text = visible(text[:LONGEST_TEXT]) + (CUT if shown.get("cut") is True else "")
        # Both as stdout: nbgrader takes anything on stderr for a failure.
        return {"output_type": "stream", "name": "stdout", "text": text}
    data = shown.get("data")
    kept = dict(_forms(data)) if type(data) is dict else {}
    found = {"output_type": "display_data", "data": kept, "metadata": {}}
    return found if kept else {}


def _forms(data: dict[Any, Any]) -> Iterator[tuple[str, str]]:
    """Give the harmless forms of a displayed object."""
    if type(text := data.get("text/plain")) is str:
        yield "text/plain", visible(text[:LONGEST_TEXT])
    if picture := _picture(data.get("image/png")):
        yield "image/png", picture


def _picture(text: Any) -> str:
    """Give a picture as text, written anew; "" for what is none, or too large."""
    if type(text) is not str or len(text) > LONGEST_PICTURE:
        return ""
    try:
        raw = base64.b64decode(text.replace("\n", ""), validate=True)
    except (binascii.Error, ValueError):
        return ""
    width, height = (int.from_bytes(raw[at : at + 4]) for at in (16, 20))
    if not raw.startswith(PNG) or not 0 < width * height <= MOST_PIXELS:
        return ""
    return base64.b64encode(raw).decode()


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


# MERGED autograder.gradebook.outputs: A graded notebook's outputs: verdicts, and what the learner's cells showed.
#
#   The sandbox says what they showed, and whatever ran there may have forged it. Only text
#   and pictures are kept: formgrader shows a notebook in the instructor's own session.
#
