"""Make students' submissions from the learner's notebook.

They go where nbgrader collects them: ``submitted/<student>/<lesson>/``.
"""

import copy
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from autograder.demo.students import Student


def submit(folder: Path, lesson: str, learner: NotebookNode, student: Student) -> Path:
    """Write a student's submission into a course folder and give its path.

    learner : the learner's notebook, which stays as it is
    """
    text = student.saved(nbformat.writes(answered(learner, student)))
    path = folder / "submitted" / student.name / lesson / f"{lesson}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_bytes(text.encode())  # write_text would change the line ends
    return path


def answered(learner: NotebookNode, student: Student) -> NotebookNode:
    """Give the learner's notebook with a student's answers and own cells in it."""
    notebook = copy.deepcopy(learner)
    answers, own_cells = dict(student.answers), dict(student.own_cells)
    cells = []
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        if name in own_cells:
            cells.append(new_code_cell(own_cells.pop(name), id=f"own-{name}"))
        if name in answers:
            cell.source = answers.pop(name)
        cells.append(cell)
    if left := [*answers, *own_cells]:
        raise LookupError(f"the notebook has no exercise {', '.join(left)}")
    notebook.cells = cells
    return notebook
