"""What grading found out about one answer, and how to read it in a graded notebook.

The diagnosis is what ``check`` left as data in the outputs. Points are not read here:
they are the gradebook's.
"""

import re
from dataclasses import dataclass
from typing import Any

from nbformat import NotebookNode

from autograder.report import DATA_TYPE

CHECK = "check_"  # the graded cell of an exercise is called check_<exercise>


@dataclass(frozen=True)
class Result:
    """What one student got for one exercise.

    diagnosis : a misconception's name, or words on what happened; None if all is right
    """

    student: str
    exercise: str
    points: float
    max_points: float
    diagnosis: str | None


def graded_exercises(notebook: NotebookNode) -> list[str]:
    """Give the names of the exercises that a notebook grades, in its order."""
    cells = [cell.metadata.get("nbgrader", {}) for cell in notebook.cells]
    return [cell["grade_id"].removeprefix(CHECK) for cell in cells if cell.get("grade")]


def diagnosis(notebook: NotebookNode, exercise: str) -> str | None:
    """Say what was found about one exercise; None if the answer is right."""
    checks = _cells(notebook, CHECK + exercise)
    if not checks:
        return "the cell of its check is missing"
    outputs = checks[-1].get("outputs", [])
    reports = [o["data"] for o in outputs if DATA_TYPE in o.get("data", {})]
    if not reports:
        answers = _cells(notebook, exercise)
        return _without_report([o for c in answers for o in c.outputs] + outputs)
    try:
        return _in_words(reports[-1][DATA_TYPE], reports[-1]["text/plain"])
    except (LookupError, TypeError, AttributeError):  # the student's kernel wrote it
        return "what its check left cannot be read"


def as_data(result: Result) -> dict[str, Any]:
    """Give a result as it stands in ``class.json``."""
    return dict(vars(result))


def _in_words(data: dict[str, Any], text: str) -> str | None:
    """Name the mistake, or say what happened to an answer whose mistake has no name."""
    statuses = {*data["cases"].values()}
    if data["diagnosis"]:
        return str(data["diagnosis"])
    if data["blamed"]:
        return _blamed(data["blamed"], whole=statuses == {"ok"})
    if statuses == {"ok"}:
        return None
    if statuses == {"missing"}:
        return "not written yet"
    if "error" in statuses and (stopped := re.search(r"stopped with \w+", text)):
        return stopped[0]
    return "no known mistake"


def _blamed(names: list[str], *, whole: bool) -> str:
    verb = "is" if len(names) == 1 else "are"
    return f"{' and '.join(names)} {verb} to blame{'' if whole else ' in part'}"


def _without_report(outputs: list[NotebookNode]) -> str:
    """Say why ``check`` left no report: an error, or what it printed instead."""
    for output in outputs:
        if output.output_type == "error":
            return f"stopped with {output.ename}"
    printed = "".join(o.text for o in outputs if o.get("name") == "stdout")
    return printed.split(". ")[0].partition(": ")[2] or "the check says nothing"


def _cells(notebook: NotebookNode, grade_id: str) -> list[NotebookNode]:
    return [
        cell
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get("grade_id") == grade_id
    ]
