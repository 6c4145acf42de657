"""A graded submission as the notebook that nbgrader's formgrader opens.

The cells are the lesson's with the learner's answers in them; each check shows its
verdicts. Formgrader shows the notebook in the instructor's own session, so nothing that
the learner wrote is active in it: prose becomes plain text, and of outputs only text
and pictures are kept, since whatever ran in the sandbox may have forged them. The
grades themselves are the gradebook's.
"""

import base64
import binascii
import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.checking.result import ExerciseResult
from autograder.course import Course
from autograder.course.releases import ON_TOP, nbgrader_marks
from autograder.gradebook.safe_html import inert_html, verdicts_html, visible
from autograder.grading.reading import json_to_look_at
from autograder.grading.release import Cell, load_release
from autograder.grading.result import SubmissionResult
from autograder.messages.report import DATA_TYPE

METADATA_KEY = "attention_course"  # of the metadata: the result, ids of own cells
MAX_PROSE = 20_000  # characters of a text cell: each may take seven
MAX_TEXT = 10_000  # characters of one output
MAX_PICTURE = 400_000  # characters of one picture, as text
MAX_OUTPUTS = 20  # of one cell
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"  # how each picture begins; then width and height
MAX_PIXELS = 25_000_000  # a small file may unfold to more than a browser can hold
CUT = "\n… (the rest is not kept)\n"


def autograded_notebook(
    course: Course,
    cells: Sequence[Cell],
    result: SubmissionResult,
    outputs: Mapping[int, list[Any]],
) -> str:
    """Return a graded notebook's text; raises ``CourseError`` if the lesson has none.

    cells : of the rebuilt submission; none if it could not be read
    outputs : index of a code cell, among the code cells, to what it displayed
    """
    lesson = _released(course, result.lesson)
    verdicts = {each.exercise: each for each in result.exercises}
    uncounted = {*result.excused, *result.left_out}
    lines = [_unread(lesson, result.reason)] if result.status == "invalid" else []
    index = 0
    for cell in cells or lesson.rebuilt:
        displayed = safe_outputs(outputs.get(index, [])) if cell.is_code else []
        index += cell.is_code
        if cell.role == "check" and cell.exercise in uncounted:
            lines.append(_without_points(lesson, cell))
        else:
            verdict = verdicts.get(cell.exercise)
            on_top = cell.exercise in result.optional
            lines.append(_line(lesson, cell, displayed, verdict, on_top))
    own = json.dumps([cell.id for cell in cells if cell.role == "own"])
    ours = f'"{METADATA_KEY}": {{"result": {result.as_json()}, "own": {own}}}'
    metadata = json.dumps(lesson.metadata)[:-1] + (", " if lesson.metadata else "")
    text = (
        '{"cells": [\n' + ",\n".join(lines) + f'\n],\n"metadata": {metadata}{ours}}},\n'
        '"nbformat": 4,\n"nbformat_minor": 5}\n'
    )
    # A folder's name may hold what is no text; it is part of the result.
    return text.encode("utf-8", "replace").decode()


def unanswered(course: Course, lesson: str) -> dict[str, str]:
    """Return what the cell of each exercise holds before it is answered."""
    cells = _released(course, lesson).rebuilt
    return {each.exercise: each.source for each in cells if each.role == "solution"}


# --- the lesson as it was released ------------------------------------------------


@dataclass(frozen=True)
class _ReleasedNotebook:
    """The lesson's cells by id, also as lines of JSON, and the file's metadata.

    rebuilt : the cells as they are where nothing was handed in
    """

    cells: Mapping[str, dict[str, Any]]
    lines: Mapping[str, str]
    rebuilt: tuple[Cell, ...]
    metadata: Mapping[str, Any]


def _released(course: Course, lesson: str) -> _ReleasedNotebook:
    """Load the released lesson, anew only if it is another file by now."""
    try:
        status = course.learner(lesson).stat()
        return _read_released(course, lesson, status.st_mtime_ns, status.st_size)
    except OSError:
        load_release(course, lesson)  # raises what is wrong, in a sentence
        raise


@functools.lru_cache(maxsize=8)
def _read_released(course: Course, lesson: str, *_: int) -> _ReleasedNotebook:
    rebuilt = load_release(course, lesson).cells
    notebook = json.loads(course.learner(lesson).read_text(encoding="utf-8"))
    cells = {cell["id"]: cell for cell in notebook["cells"]}
    lines = {name: json_to_look_at(cells[name]) for name in cells}
    return _ReleasedNotebook(cells, lines, rebuilt, notebook.get("metadata", {}))


# --- cells ------------------------------------------------------------------------


def _without_points(lesson: _ReleasedNotebook, cell: Cell) -> str:
    """Return the check of an exercise that does not count: no field for points."""
    released = lesson.cells.get(cell.id) or _retired_cell(cell, None)
    marks = {**released["metadata"]["nbgrader"], "grade": False, "points": 0}
    metadata = {**released["metadata"], "nbgrader": marks}
    return json_to_look_at(released | {"metadata": metadata})


def _line(
    lesson: _ReleasedNotebook,
    cell: Cell,
    outputs: list[dict[str, Any]],
    verdict: ExerciseResult | None,
    on_top: bool,
) -> str:
    """Return a cell as a line of JSON.

    on_top : whether the exercise is optional: its points have another cell
    """
    if cell.role == "own":
        return json_to_look_at(_own_cell(cell, outputs))
    changes: dict[str, Any] = {"outputs": outputs} if outputs else {}
    if cell.role == "solution":
        changes["source"] = cell.source
    elif cell.role == "check":
        changes["outputs"] = verdict_outputs(verdict)
    released = lesson.cells.get(cell.id)
    if on_top and cell.role == "check":
        released = released or _retired_cell(cell, verdict)
        marks = {**released["metadata"]["nbgrader"], "points": 0}
        marks["grade_id"] = ON_TOP + cell.exercise
        changes["metadata"] = {**released["metadata"], "nbgrader": marks}
    if released is None:
        return json_to_look_at(_retired_cell(cell, verdict) | changes)
    if not changes:
        return lesson.lines[cell.id]
    return json_to_look_at(released | changes)


def _retired_cell(cell: Cell, verdict: ExerciseResult | None) -> dict[str, Any]:
    """Return a cell of an exercise that the lesson no longer has."""
    if cell.role == "setup":
        return _own_cell(cell, [])
    points = verdict.max_points if verdict else 0.0
    marks = nbgrader_marks(
        cell.grade_id, points=points if cell.role == "check" else None
    )
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": cell.id,
        "metadata": {"nbgrader": {"cell_type": "code", **marks}},
        "outputs": [],
        "source": cell.source,
    }


def _own_cell(cell: Cell, outputs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a cell of the learner's own."""
    if not cell.is_code:
        return _prose_cell(cell.id, inert_html(cell.source[:MAX_PROSE]))
    code = {"cell_type": "code", "execution_count": None, "outputs": outputs}
    return code | {"id": cell.id, "metadata": {}, "source": cell.source}


def _prose_cell(name: str, source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": source}


def _unread(lesson: _ReleasedNotebook, reason: str) -> str:
    """Return the cell that says why there are no answers, as a line of JSON."""
    name = next(f"unread-{n}" for n in range(1000) if f"unread-{n}" not in lesson.cells)
    source = f"**This notebook could not be graded.**\n\n{inert_html(reason)}"
    return json_to_look_at(_prose_cell(name, source))


# --- outputs ----------------------------------------------------------------------


def verdict_outputs(verdict: ExerciseResult | None) -> list[dict[str, Any]]:
    """Return a check's outputs, in the form that they have under plain nbgrader.

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
    display = {"output_type": "display_data", "data": data, "metadata": {}}
    return [display, value]


def _as_data(verdict: ExerciseResult) -> dict[str, Any]:
    """Return the verdicts as ``check`` leaves them for programs."""
    return {
        "exercise": verdict.exercise,
        "points": verdict.points,
        "max_points": verdict.max_points,
        "cases": {case.case: case.status for case in verdict.cases},
        "solved": verdict.solved,
        "open_fine_points": [case.case for case in verdict.open_fine_points],
        "diagnosis": verdict.diagnosis or None,
        "blamed": list(verdict.blamed),
    }


def safe_outputs(recorded: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the outputs of one cell without what is not of the expected form.

    recorded : as the sandbox has recorded them, see ``inside.shell``
    """
    if type(recorded) is not list:
        return []
    outputs = map(_safe_output, recorded[:MAX_OUTPUTS])
    return [each for each in outputs if each]


def _safe_output(recorded: Any) -> dict[str, Any]:
    """Return an output with its harmless forms; an empty one if it has none."""
    if type(recorded) is not dict:
        return {}
    if type(text := recorded.get("text")) is str:
        text = visible(text[:MAX_TEXT]) + (CUT if recorded.get("cut") is True else "")
        # Both as stdout: nbgrader takes anything on stderr for a failure.
        return {"output_type": "stream", "name": "stdout", "text": text}
    data = recorded.get("data")
    forms = dict(_safe_forms(data)) if type(data) is dict else {}
    display = {"output_type": "display_data", "data": forms, "metadata": {}}
    return display if forms else {}


def _safe_forms(data: dict[Any, Any]) -> Iterator[tuple[str, str]]:
    """Yield the harmless forms of a displayed object."""
    if type(text := data.get("text/plain")) is str:
        yield "text/plain", visible(text[:MAX_TEXT])
    if picture := _safe_picture(data.get("image/png")):
        yield "image/png", picture


def _safe_picture(text: Any) -> str:
    """Return a picture as text, encoded anew; "" for what is none, or too large."""
    if type(text) is not str or len(text) > MAX_PICTURE:
        return ""
    try:
        raw = base64.b64decode(text.replace("\n", ""), validate=True)
    except (binascii.Error, ValueError):
        return ""
    width, height = (int.from_bytes(raw[at : at + 4]) for at in (16, 20))
    if not raw.startswith(PNG) or not 0 < width * height <= MAX_PIXELS:
        return ""
    return base64.b64encode(raw).decode()
