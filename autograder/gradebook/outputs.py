"""A graded notebook's outputs: verdicts, and what the learner's cells showed.

The sandbox says what they showed, and whatever ran there may have forged it. Only text
and pictures are kept: formgrader shows a notebook in the instructor's own session.
"""

import base64
import binascii
from collections.abc import Iterator, Sequence
from typing import Any

from autograder.gradebook.shown import verdicts_html, visible
from autograder.grading.result import ExerciseResult
from autograder.report import DATA_TYPE

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
