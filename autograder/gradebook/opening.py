"""Enter a lesson into the gradebook, as ``nbgrader generate_assignment`` would.

nbgrader itself refuses a lesson whose exercises have changed once somebody has handed
it in. Here what is new is added, and what is gone keeps the grades that it has.
"""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from autograder.course import Course, CourseError
from autograder.grading.release import CHECK, load_master

GRADED = ("GradeCell", "TaskCell")  # nbgrader's types of cells that have a grade
COMMENTED = ("SolutionCell", "TaskCell")  # and of those that have a comment


@dataclass(frozen=True)
class Opened:
    """A lesson's ids in the gradebook.

    due : when it is to be handed in at the latest, if that is said
    graded : exercise to the id of the cell whose grade is its own, in order
    commented : exercise to the id of the cell whose comment is its own
    """

    assignment: str
    notebook: str
    due: str | None
    graded: Mapping[str, str]
    commented: Mapping[str, str]


def find_opened(connection: sqlite3.Connection, lesson: str) -> Opened:
    """Give a lesson's ids; raises ``CourseError`` if it is not in the gradebook."""
    found = connection.execute(
        "SELECT a.id, n.id, a.duedate FROM assignment a "
        "JOIN notebook n ON n.assignment_id = a.id AND n.name = a.name "
        "WHERE a.name = ?",
        (lesson,),
    ).fetchone()
    if not found:
        raise not_opened(lesson)
    assignment, notebook, due = found
    cells = connection.execute(
        "SELECT name, id, type FROM base_cell WHERE notebook_id = ? ORDER BY rowid",
        (notebook,),
    ).fetchall()
    return Opened(
        assignment,
        notebook,
        due,
        {
            name.removeprefix(CHECK): cell
            for name, cell, kind in cells
            if kind in GRADED
        },
        {name: cell for name, cell, kind in cells if kind in COMMENTED},
    )


def not_opened(lesson: str) -> CourseError:
    """Give the fault of a lesson that is not in the gradebook."""
    return CourseError(
        f"{lesson} is not in the gradebook: run `autograder open {lesson}` to enter it"
    )


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


NEW_ID = "lower(hex(randomblob(16)))"  # of the form of nbgrader's ids
TABLES_OF_CELLS = ("grade_cells", "solution_cells", "task_cells")


def is_current(connection: sqlite3.Connection, lesson: str, cells: Cells) -> bool:
    """Say whether the gradebook has a lesson as it was released."""
    notebook = notebook_id(connection, lesson)
    if not notebook:
        return False
    held = held_cells(connection, notebook)
    return cells == (held.only(cells) if is_handed_in(connection, notebook) else held)


def retired(connection: sqlite3.Connection, lesson: str, cells: Cells) -> list[str]:
    """Say which exercises the gradebook has and the lesson no longer."""
    held = held_cells(connection, notebook_id(connection, lesson))
    gone = [
        name.removeprefix(CHECK) for name in held.graded if name not in cells.graded
    ]
    if not gone:
        return []
    return [
        f"no longer in {lesson}: {', '.join(gone)}; what was graded of it stays in the "
        "gradebook, and counts"
    ]


def enter_lesson(
    connection: sqlite3.Connection, lesson: str, course_id: str, cells: Cells
) -> list[str]:
    """Enter a lesson, or what has changed in it; give what there is to say of it."""
    if course_id:
        connection.execute("INSERT OR IGNORE INTO course (id) VALUES (?)", (course_id,))
    notebook = notebook_id(connection, lesson) or _added(connection, lesson, course_id)
    before = held_cells(connection, notebook)
    _write(connection, notebook, cells)
    said = []
    if is_handed_in(connection, notebook):
        _add_open_grades(connection, notebook)
        if new := [name for name in cells.graded if name not in before.graded]:
            names = ", ".join(name.removeprefix(CHECK) for name in new)
            said.append(f"new in {lesson}: {names}; grade the class again")
    else:
        _drop_others(connection, notebook, cells)
    _sort(connection, notebook, cells)
    return said + retired(connection, lesson, cells)


def _added(connection: sqlite3.Connection, lesson: str, course_id: str) -> str:
    """Enter a lesson and its notebook without cells; give the notebook's id."""
    connection.execute(
        "INSERT OR IGNORE INTO assignment (id, name, course_id) VALUES (?, ?, ?)",
        (uuid4().hex, lesson, course_id),
    )
    connection.execute(
        "INSERT INTO notebook (id, name, assignment_id) "
        "SELECT ?, name, id FROM assignment WHERE name = ?",
        (uuid4().hex, lesson),
    )
    return notebook_id(connection, lesson)


def _write(connection: sqlite3.Connection, notebook: str, cells: Cells) -> None:
    """Write the cells; those of names that are there keep their ids."""
    connection.execute(
        "UPDATE notebook SET kernelspec = ? WHERE id = ?", (cells.kernelspec, notebook)
    )
    for name, row in cells.graded.items():
        cell = _base_cell(connection, notebook, name, "GradeCell")
        connection.execute(
            "INSERT OR REPLACE INTO grade_cells (id, max_score, cell_type) "
            "VALUES (?, ?, ?)",
            (cell, *row),
        )
    for name in cells.solutions:
        cell = _base_cell(connection, notebook, name, "SolutionCell")
        connection.execute("INSERT OR IGNORE INTO solution_cells VALUES (?)", (cell,))
    for name, row in cells.sources.items():
        connection.execute(
            "INSERT INTO source_cell "
            "(id, name, notebook_id, cell_type, locked, source, checksum) "
            f"VALUES ({NEW_ID}, ?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (name, notebook_id) DO UPDATE SET "
            "cell_type = excluded.cell_type, locked = excluded.locked, "
            "source = excluded.source, checksum = excluded.checksum",
            (name, notebook, *row),
        )


def _base_cell(
    connection: sqlite3.Connection, notebook: str, name: str, kind: str
) -> str:
    """Give the id of a cell, which is added if there is none."""
    connection.execute(
        "INSERT OR IGNORE INTO base_cell (id, name, notebook_id, type) "
        f"VALUES ({NEW_ID}, ?, ?, ?)",
        (name, notebook, kind),
    )
    wanted = "SELECT id FROM base_cell WHERE name = ? AND notebook_id = ? AND type = ?"
    return connection.execute(wanted, (name, notebook, kind)).fetchone()[0]


def _add_open_grades(connection: sqlite3.Connection, notebook: str) -> None:
    """Give each submission a grade and a comment, still to come, of each new cell."""
    for table, column, value, kind in (
        ("grade", "needs_manual_grade", "1", "GradeCell"),
        ("comment", "auto_comment", "NULL", "SolutionCell"),
    ):
        connection.execute(
            f"INSERT OR IGNORE INTO {table} (id, notebook_id, cell_id, {column}) "
            f"SELECT {NEW_ID}, n.id, c.id, {value} FROM submitted_notebook n "
            "JOIN base_cell c USING (notebook_id) "
            "WHERE c.notebook_id = ? AND c.type = ?",
            (notebook, kind),
        )


def _drop_others(connection: sqlite3.Connection, notebook: str, cells: Cells) -> None:
    """Remove the cells that are gone, as nbgrader does while nobody has handed in."""
    for kind, rows in (
        ("GradeCell", cells.graded),
        ("SolutionCell", cells.solutions),
        ("TaskCell", {}),
    ):
        gone = connection.execute(
            "SELECT id FROM base_cell WHERE notebook_id = ? AND type = ? "
            "AND name NOT IN (SELECT value FROM json_each(?))",
            (notebook, kind, json.dumps([*rows])),
        ).fetchall()
        for table in ("base_cell", *TABLES_OF_CELLS):
            connection.executemany(f"DELETE FROM {table} WHERE id = ?", gone)
    connection.execute(
        "DELETE FROM source_cell WHERE notebook_id = ? "
        "AND name NOT IN (SELECT value FROM json_each(?))",
        (notebook, json.dumps([*cells.sources])),
    )


def _sort(connection: sqlite3.Connection, notebook: str, cells: Cells) -> None:
    """Put the cells in the order of the lesson, then those that it no longer has.

    Whoever reads the gradebook has no other order than that of the rows.
    """
    rows = connection.execute(
        "SELECT id, name, type FROM base_cell WHERE notebook_id = ? ORDER BY rowid",
        (notebook,),
    ).fetchall()
    order = [("GradeCell", name) for name in cells.graded]
    order += [("SolutionCell", name) for name in cells.solutions]
    known = {place: number for number, place in enumerate(order)}
    places = {row[0]: known.get((row[2], row[1]), len(known)) for row in rows}
    for cell in sorted(places, key=lambda cell: places[cell]):
        connection.execute(
            "UPDATE base_cell SET rowid = (SELECT max(rowid) + 1 FROM base_cell) "
            "WHERE id = ?",
            (cell,),
        )


# MERGED autograder.gradebook.opened: A lesson that the gradebook has: where its grades belong.
# MERGED autograder.gradebook.lesson_cells: A lesson's cells, as it was released and as the gradebook has them.
#
#   What nbgrader's ``SaveCells`` keeps of a notebook, and nothing else: tests hold the two
#   together. What is done with a difference is ``opening``'s work.
#
