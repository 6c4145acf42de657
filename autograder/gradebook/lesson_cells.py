"""A lesson's cells, as it was released and as the gradebook has them.

What nbgrader's ``SaveCells`` keeps of a notebook, and nothing else: tests hold the two
together. What is done with a difference is ``opening``'s work.
"""

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from autograder.course import Course
from autograder.grading.master import load_master

Rows = dict[str, tuple[Any, ...]]


@dataclass
class Cells:
    """What the gradebook keeps of a notebook's cells, by their names.

    graded : the greatest score, and the cell's type
    solutions : nothing but the name
    sources : type, whether it is locked, source and checksum
    """

    kernelspec: str
    graded: Rows = field(default_factory=dict)
    solutions: Rows = field(default_factory=dict)
    sources: Rows = field(default_factory=dict)

    def only(self, others: "Cells") -> "Cells":
        """Give these cells without those that the others have not."""
        return Cells(
            self.kernelspec,
            *(
                {name: row for name, row in ours.items() if name in theirs}
                for ours, theirs in (
                    (self.graded, others.graded),
                    (self.solutions, others.solutions),
                    (self.sources, others.sources),
                )
            ),
        )


def released_cells(course: Course, lesson: str) -> Cells:
    """Give what the lesson's released notebook has; raises ``CourseError``."""
    load_master(course, lesson)  # says in a sentence what is wrong with it
    notebook = json.loads(course.learner(lesson).read_text(encoding="utf-8"))
    cells = Cells(json.dumps(notebook["metadata"].get("kernelspec", {})))
    for cell in notebook["cells"]:
        marks = cell["metadata"].get("nbgrader", {})
        graded, solution = marks.get("grade"), marks.get("solution")
        locked = not solution and bool(graded or marks.get("locked"))
        if not (graded or solution or locked):
            continue
        name, kind, text = marks["grade_id"], cell["cell_type"], "".join(cell["source"])
        cells.sources[name] = (kind, locked, text, marks.get("checksum"))
        if graded:
            cells.graded[name] = (float(marks["points"]), kind)
        if solution:
            cells.solutions[name] = ()
    return cells


def held_cells(connection: sqlite3.Connection, notebook: str) -> Cells:
    """Give what the gradebook has of a notebook."""

    def rows(wanted: str) -> Iterator[tuple[str, tuple[Any, ...]]]:
        for name, *row in connection.execute(wanted, (notebook,)):
            yield name, tuple(row)

    ((kernelspec, _),) = rows("SELECT kernelspec FROM notebook WHERE id = ?")
    return Cells(
        kernelspec,
        dict(
            rows(
                "SELECT name, max_score, cell_type FROM base_cell "
                "JOIN grade_cells USING (id) WHERE notebook_id = ? "
                "ORDER BY base_cell.rowid"
            )
        ),
        dict(
            rows(
                "SELECT name FROM base_cell JOIN solution_cells USING (id) "
                "WHERE notebook_id = ?"
            )
        ),
        dict(
            rows(
                "SELECT name, cell_type, locked, source, checksum FROM source_cell "
                "WHERE notebook_id = ?"
            )
        ),
    )


def notebook_id(connection: sqlite3.Connection, lesson: str) -> str:
    """Give the id of a lesson's notebook, "" if the gradebook has not the lesson."""
    wanted = (
        "SELECT n.id FROM notebook n JOIN assignment a ON a.id = n.assignment_id "
        "WHERE a.name = ? AND n.name = a.name"
    )
    row = connection.execute(wanted, (lesson,)).fetchone()
    return row[0] if row else ""


def is_handed_in(connection: sqlite3.Connection, notebook: str) -> bool:
    """Say whether the gradebook has a submission of a notebook."""
    wanted = "SELECT EXISTS (SELECT 1 FROM submitted_notebook WHERE notebook_id = ?)"
    return bool(connection.execute(wanted, (notebook,)).fetchone()[0])
