"""What a cell's metadata keeps for the learner: stub, earlier answers, a prediction.

All of it stands under ``ANSWER_KEY``: the lesson's stub, and the answers that were put
aside, each with its time; of a prediction, the option that was chosen. JupyterLab can
do the same to an open notebook, and what one puts aside the other restores.
"""

from collections.abc import Mapping
from typing import Any

from nbformat import NotebookNode

from autograder.course.releases import ANSWER_KEY
from autograder.workspace.progress import now

MOST_EARLIER = 20  # answers that a cell keeps: the oldest go first


def of_answer(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a cell's metadata says of its answer; empty if that is odd."""
    ours = cell["metadata"].get(ANSWER_KEY)
    return ours if isinstance(ours, Mapping) else {}


def earlier_answers(cell: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the answers that a cell keeps, the newest last; what is odd is left out.

    >>> earlier_answers({"metadata": {"attention": {"earlier": [{"source": 1}]}}})
    []
    """
    ours = of_answer(cell)
    rows = ours.get("earlier")
    return [
        {"time": str(row.get("time", "")), "source": row["source"]}
        for row in (rows if isinstance(rows, list) else [])
        if isinstance(row, Mapping) and isinstance(row.get("source"), str)
    ]


def keep_earlier(cell: NotebookNode, answers: list[dict[str, str]]) -> None:
    """Put earlier answers into a cell's metadata, and leave the rest of it."""
    ours = dict(of_answer(cell))
    ours.pop("earlier", None)
    if answers:
        ours["earlier"] = answers[-MOST_EARLIER:]
    cell.metadata.pop(ANSWER_KEY, None)
    if ours:
        cell.metadata[ANSWER_KEY] = ours


def prediction_of(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a prediction's ``right`` option, and the ``choice`` if one was made.

    It is empty if the cell is no prediction, or what is there is odd.

    >>> prediction_of({"metadata": {"attention": {"prediction": {"right": 1}}}})
    {'right': 1}
    """
    prediction = of_answer(cell).get("prediction")
    return prediction if isinstance(prediction, Mapping) else {}


def keep_choice(cell: NotebookNode, mine: Mapping[str, Any]) -> None:
    """Put the learner's choice into a prediction of the same text, if there is one."""
    lesson, choice = prediction_of(cell), prediction_of(mine).get("choice")
    if lesson and isinstance(choice, int):
        cell.metadata[ANSWER_KEY]["prediction"] = {**lesson, "choice": choice}


def start_over(cell: NotebookNode, stub: str) -> bool:
    """Put the stub into a cell and its answer aside; return whether that was needed."""
    if cell.source == stub:
        return False
    answers = earlier_answers(cell)
    _put_aside(answers, cell.source)
    keep_earlier(cell, answers)
    _write(cell, stub)
    return True


def restore(cell: NotebookNode, stub: str) -> bool:
    """Put the answer back that was put aside last; return whether there is one.

    What stood in the cell is put aside in turn, unless it is the stub.
    """
    answers = earlier_answers(cell)
    if not answers:
        return False
    source = answers.pop()["source"]
    if cell.source not in (stub, source):
        _put_aside(answers, cell.source)
    keep_earlier(cell, answers)
    _write(cell, source)
    return True


def _put_aside(answers: list[dict[str, str]], source: str) -> None:
    if not answers or answers[-1]["source"] != source:
        answers.append({"time": now(), "source": source})


def _write(cell: NotebookNode, source: str) -> None:
    cell.source = source
    cell.outputs, cell.execution_count = [], None
