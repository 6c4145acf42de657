"""Enter a lesson into the gradebook, as ``nbgrader generate_assignment`` would.

nbgrader itself refuses a lesson whose exercises have changed once somebody has handed
it in. Here what is new is added, and what is gone keeps the grades that it has.
"""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

from autograder.checking.points import format_number
from autograder.course import Course, CourseError
from autograder.course.releases import CHECK, ON_TOP, exercise_of, how_to_drop
from autograder.gradebook.settings import optional_exercises
from autograder.grading.release import load_release

GRADED = ("GradeCell", "TaskCell")  # nbgrader's types of cells that have a grade
COMMENTED = ("SolutionCell", "TaskCell")  # and of those that have a comment
CELL_TABLES = ("grade_cells", "solution_cells", "task_cells")
DROPPED_TABLE = (
    "CREATE TABLE IF NOT EXISTS dropped_exercise (notebook_id VARCHAR(32), "
    "name VARCHAR(128), max_score FLOAT, PRIMARY KEY (notebook_id, name))"
)
NEW_ID = "lower(hex(randomblob(16)))"  # of the form of nbgrader's ids

Rows = dict[str, tuple[Any, ...]]


@dataclass(frozen=True)
class OpenedLesson:
    """A lesson that the gradebook has: the ids to which its grades belong.

    due : when it is to be handed in at the latest, if there is such a time
    graded : exercise to the id of the cell whose grade is its own, in order
    commented : exercise to the id of the cell whose comment is its own
    dropped : exercises that count for nobody
    retired : ids of graded cells that the lesson no longer has; who was graded on them
        keeps them
    on_top : optional exercise to the id of the cell whose grade is its own, and for
        which there is nothing to lose: the greatest score is 0
    exercises : id of each graded cell to its exercise, in order
    """

    assignment: str
    notebook: str
    due: str | None
    graded: Mapping[str, str]
    commented: Mapping[str, str]
    dropped: frozenset[str] = frozenset()
    retired: frozenset[str] = frozenset()
    on_top: Mapping[str, str] = field(default_factory=dict)
    exercises: Mapping[str, str] = field(default_factory=dict)

    def cells_of(self, exercise: str) -> list[str]:
        """Return the ids of an exercise's graded cells: required, and on top."""
        return [
            each[exercise] for each in (self.graded, self.on_top) if exercise in each
        ]


def find_opened_lesson(connection: sqlite3.Connection, lesson: str) -> OpenedLesson:
    """Return a lesson's ids; raises ``CourseError`` if the gradebook has it not."""
    row = connection.execute(
        "SELECT a.id, n.id, a.duedate FROM assignment a "
        "JOIN notebook n ON n.assignment_id = a.id AND n.name = a.name "
        "WHERE a.name = ?",
        (lesson,),
    ).fetchone()
    if not row:
        raise not_opened_error(lesson)
    assignment, notebook, due = row
    cells = connection.execute(
        "SELECT name, id, type FROM base_cell WHERE notebook_id = ? ORDER BY rowid",
        (notebook,),
    ).fetchall()
    graded = {name: cell for name, cell, kind in cells if kind in GRADED}
    on_top = [name for name in graded if name.startswith(ON_TOP)]
    query = "SELECT name FROM source_cell WHERE notebook_id = ?"
    current = {name for (name,) in connection.execute(query, (notebook,))}
    return OpenedLesson(
        assignment,
        notebook,
        due,
        graded={
            name.removeprefix(CHECK): cell
            for name, cell in graded.items()
            if name not in on_top
        },
        commented={name: cell for name, cell, kind in cells if kind in COMMENTED},
        dropped=frozenset(dropped_exercises(connection, notebook)),
        retired=frozenset(
            cell for name, cell in graded.items() if current and name not in current
        ),
        on_top={exercise_of(name): graded[name] for name in on_top},
        exercises={cell: exercise_of(name) for name, cell in graded.items()},
    )


def dropped_exercises(
    connection: sqlite3.Connection, notebook: str
) -> dict[str, float]:
    """Return the exercises of a notebook that count for nobody, and their points."""
    query = "SELECT 1 FROM sqlite_master WHERE name = 'dropped_exercise'"
    if not connection.execute(query).fetchone():
        return {}
    query = "SELECT name, max_score FROM dropped_exercise WHERE notebook_id = ?"
    return dict(connection.execute(query, (notebook,)).fetchall())


def drop_exercise(
    connection: sqlite3.Connection,
    lesson: OpenedLesson,
    exercise: str,
    *,
    undo: bool,
) -> None:
    """Let an exercise count for nobody, or for everybody again; not the grades.

    nbgrader's number for the assignment is the sum of its cells' greatest scores.
    """
    connection.execute(DROPPED_TABLE)
    cell = lesson.cells_of(exercise)[0]
    values = {
        "cell": cell,
        "notebook": lesson.notebook,
        "name": exercise,
    }
    if undo:
        statements = (
            "UPDATE grade_cells SET max_score = (SELECT max_score "
            "FROM dropped_exercise WHERE notebook_id = :notebook AND name = :name) "
            "WHERE id = :cell",
            "DELETE FROM dropped_exercise WHERE notebook_id = :notebook "
            "AND name = :name",
        )
    else:
        statements = (
            "INSERT INTO dropped_exercise SELECT :notebook, :name, max_score "
            "FROM grade_cells WHERE id = :cell",
            "UPDATE grade_cells SET max_score = 0 WHERE id = :cell",
        )
    for statement in statements:
        connection.execute(statement, values)


def not_opened_error(lesson: str) -> CourseError:
    """Return the error for a lesson that is not in the gradebook."""
    return CourseError(
        f"{lesson} is not in the gradebook: run `autograder open {lesson}` to enter it"
    )


@dataclass
class GradebookCells:
    """What the gradebook stores of a notebook's cells, by their names.

    As nbgrader's ``SaveCells`` stores it, and nothing else: tests compare the two.

    graded : the greatest score, and the cell's type
    solutions : nothing but the name
    sources : type, whether it is locked, source and checksum
    optional : exercises that the lesson does not require, and their points
    """

    kernelspec: str
    graded: Rows = field(default_factory=dict)
    solutions: Rows = field(default_factory=dict)
    sources: Rows = field(default_factory=dict)
    optional: dict[str, float] = field(default_factory=dict, compare=False)

    def with_required(self, stored: "GradebookCells") -> "GradebookCells":
        """Return the cells with those of optional exercises that were required.

        Earlier releases have them, for today's points.
        """
        former = {
            CHECK + name: (worth, "code")
            for name, worth in self.optional.items()
            if CHECK + name in stored.graded
        }
        return replace(self, graded={**self.graded, **former})

    def restricted_to(self, others: "GradebookCells") -> "GradebookCells":
        """Return these cells without grades and comments that the others have not."""
        return replace(
            self,
            graded={n: row for n, row in self.graded.items() if n in others.graded},
            solutions={n: () for n in self.solutions if n in others.solutions},
        )


def without_dropped(
    connection: sqlite3.Connection, notebook: str, cells: GradebookCells
) -> GradebookCells:
    """Return the cells as the gradebook is to have them: what is dropped is worth 0."""
    names = {CHECK + name for name in dropped_exercises(connection, notebook)}
    graded = {
        name: (0.0, *row[1:]) if name in names else row
        for name, row in cells.graded.items()
    }
    return replace(cells, graded=graded)


def _dropped_with_other_points(
    connection: sqlite3.Connection, notebook: str, cells: GradebookCells
) -> dict[str, float]:
    """Return what dropped exercises are worth now, of those where that is new."""
    return {
        name: float(cells.graded[CHECK + name][0])
        for name, before in dropped_exercises(connection, notebook).items()
        if CHECK + name in cells.graded and cells.graded[CHECK + name][0] != before
    }


def released_cells(course: Course, lesson: str) -> GradebookCells:
    """Return what the lesson's released notebook has; raises ``CourseError``.

    An optional exercise has a cell of its own, unless it counts as a required one.
    """
    # raises a sentence where something is wrong with it
    optional = load_release(course, lesson).points.optional
    setting = optional_exercises(course) if optional else "extra"
    if setting == "required":
        optional = frozenset()
    notebook = json.loads(course.learner(lesson).read_text(encoding="utf-8"))
    cells = GradebookCells(json.dumps(notebook["metadata"].get("kernelspec", {})))
    for cell in notebook["cells"]:
        marks = cell["metadata"].get("nbgrader", {})
        graded, solution = marks.get("grade"), marks.get("solution")
        exercise = marks.get("grade_id", "").removeprefix(CHECK)
        if graded and exercise in optional:
            cells.optional[exercise] = float(marks["points"])
            if setting == "left out":
                continue
            marks = {**marks, "grade_id": ON_TOP + exercise, "points": 0}
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


def stored_cells(connection: sqlite3.Connection, notebook: str) -> GradebookCells:
    """Return what the gradebook has of a notebook."""

    def rows(query: str) -> Iterator[tuple[str, tuple[Any, ...]]]:
        for name, *row in connection.execute(query, (notebook,)):
            yield name, tuple(row)

    ((kernelspec, _),) = rows("SELECT kernelspec FROM notebook WHERE id = ?")
    return GradebookCells(
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


def is_current(
    connection: sqlite3.Connection, lesson: str, cells: GradebookCells
) -> bool:
    """Return whether the gradebook has a lesson as it was released."""
    notebook = _notebook_id(connection, lesson)
    if not notebook:
        return False
    stored = stored_cells(connection, notebook)
    if _is_handed_in(connection, notebook):
        cells = cells.with_required(stored)
        stored = stored.restricted_to(cells)
    if _dropped_with_other_points(connection, notebook, cells):
        return False
    return without_dropped(connection, notebook, cells) == stored


def enter_lesson(
    connection: sqlite3.Connection, lesson: str, course_id: str, cells: GradebookCells
) -> list[str]:
    """Enter a lesson, or what has changed in it; return sentences to print."""
    if course_id:
        connection.execute("INSERT OR IGNORE INTO course (id) VALUES (?)", (course_id,))
    notebook = _notebook_id(connection, lesson)
    notebook = notebook or _add_lesson(connection, lesson, course_id)
    before = stored_cells(connection, notebook)
    is_handed_in = _is_handed_in(connection, notebook)
    if is_handed_in:
        cells = cells.with_required(before)
    _update_dropped(connection, notebook, cells)
    cells = without_dropped(connection, notebook, cells)
    _write_cells(connection, notebook, cells)
    sentences = []
    if is_handed_in:
        _add_open_comments(connection, notebook)
        sentences += _new_exercises(lesson, before, cells)
        sentences += _new_points(lesson, before, cells)
    else:
        _drop_others(connection, notebook, cells)
    _drop_sources(connection, notebook, cells)
    _sort_cells(connection, notebook, cells)
    return sentences + retired_exercises(connection, lesson, cells)


def enter_retired(
    connection: sqlite3.Connection, notebook: str, points: Mapping[str, float]
) -> None:
    """Enter exercises that the lesson no longer has, for who is graded on them.

    points : by the name of the graded cell

    They have no source, by which it is known that they are gone.
    """
    cells = GradebookCells("")
    for name, worth in points.items():
        cells.graded[name] = (worth, "code")
        cells.solutions[exercise_of(name)] = ()
    _update_dropped(connection, notebook, cells)
    cells = without_dropped(connection, notebook, cells)
    _write_graded(connection, notebook, cells)
    _add_open_comments(connection, notebook)


def _update_dropped(
    connection: sqlite3.Connection, notebook: str, cells: GradebookCells
) -> None:
    """Keep what dropped exercises are worth now."""
    for name, worth in _dropped_with_other_points(connection, notebook, cells).items():
        connection.execute(
            "UPDATE dropped_exercise SET max_score = ? "
            "WHERE notebook_id = ? AND name = ?",
            (worth, notebook, name),
        )


def _new_exercises(
    lesson: str, before: GradebookCells, cells: GradebookCells
) -> list[str]:
    """Return sentences on what the gradebook did not have, or in another form."""
    known = {exercise_of(name) for name in before.graded}
    new = [name for name in cells.graded if name not in before.graded]
    sentences = []
    for names, state, what in (
        (
            [name for name in new if exercise_of(name) not in known],
            "new",
            "counts for those whose release has it",
        ),
        (
            [n for n in new if n.startswith(ON_TOP) and exercise_of(n) in known],
            "optional",
            "its points are added on top for those in whose release it is optional, "
            "once graded",
        ),
        (
            [n for n in new if not n.startswith(ON_TOP) and exercise_of(n) in known],
            "required",
            "its points are to be earned, once graded again",
        ),
    ):
        if names:
            listed = ", ".join(map(exercise_of, names))
            sentences.append(f"{state} in {lesson}: {listed}; {what}")
    return sentences


def _new_points(
    lesson: str, before: GradebookCells, cells: GradebookCells
) -> list[str]:
    """Return a sentence on exercises with other points than before, if any."""
    changed = [
        f"{name.removeprefix(CHECK)} {format_number(before.graded[name][0])} → "
        f"{format_number(row[0])}"
        for name, row in cells.graded.items()
        if name in before.graded and before.graded[name][0] != row[0]
    ]
    if not changed:
        return []
    return [
        f"other points in {lesson}: {', '.join(changed)}; they count for everybody who "
        "has the exercise, once graded again"
    ]


def retired_exercises(
    connection: sqlite3.Connection, lesson: str, cells: GradebookCells
) -> list[str]:
    """Return a sentence on what the gradebook has and the lesson no longer, if any.

    What is dropped needs none.
    """
    notebook = _notebook_id(connection, lesson)
    stored = stored_cells(connection, notebook).graded
    gone = {*map(exercise_of, stored)} - {*map(exercise_of, cells.graded)}
    gone -= cells.optional.keys() | dropped_exercises(connection, notebook).keys()
    names = sorted(gone)
    if not names:
        return []
    return [
        f"no longer in {lesson}: {', '.join(names)}; counts for those whose release "
        "had it, and they are judged on it; "
        f"{how_to_drop(names)}"
    ]


def _notebook_id(connection: sqlite3.Connection, lesson: str) -> str:
    """Return the id of a lesson's notebook, "" if the gradebook has not the lesson."""
    query = (
        "SELECT n.id FROM notebook n JOIN assignment a ON a.id = n.assignment_id "
        "WHERE a.name = ? AND n.name = a.name"
    )
    row = connection.execute(query, (lesson,)).fetchone()
    return row[0] if row else ""


def _is_handed_in(connection: sqlite3.Connection, notebook: str) -> bool:
    """Return whether the gradebook has a submission of a notebook."""
    query = "SELECT EXISTS (SELECT 1 FROM submitted_notebook WHERE notebook_id = ?)"
    return bool(connection.execute(query, (notebook,)).fetchone()[0])


def _add_lesson(connection: sqlite3.Connection, lesson: str, course_id: str) -> str:
    """Enter a lesson and its notebook without cells; return the notebook's id."""
    connection.execute(
        "INSERT OR IGNORE INTO assignment (id, name, course_id) VALUES (?, ?, ?)",
        (uuid4().hex, lesson, course_id),
    )
    connection.execute(
        "INSERT INTO notebook (id, name, assignment_id) "
        "SELECT ?, name, id FROM assignment WHERE name = ?",
        (uuid4().hex, lesson),
    )
    return _notebook_id(connection, lesson)


def _write_cells(
    connection: sqlite3.Connection, notebook: str, cells: GradebookCells
) -> None:
    """Write the cells; those whose names are there keep their ids."""
    connection.execute(
        "UPDATE notebook SET kernelspec = ? WHERE id = ?", (cells.kernelspec, notebook)
    )
    _write_graded(connection, notebook, cells)
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


def _write_graded(
    connection: sqlite3.Connection, notebook: str, cells: GradebookCells
) -> None:
    """Write the cells that have a grade or a comment."""
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


def _base_cell(
    connection: sqlite3.Connection, notebook: str, name: str, kind: str
) -> str:
    """Return the id of a cell, which is added if it is new."""
    connection.execute(
        "INSERT OR IGNORE INTO base_cell (id, name, notebook_id, type) "
        f"VALUES ({NEW_ID}, ?, ?, ?)",
        (name, notebook, kind),
    )
    query = "SELECT id FROM base_cell WHERE name = ? AND notebook_id = ? AND type = ?"
    return connection.execute(query, (name, notebook, kind)).fetchone()[0]


def _add_open_comments(connection: sqlite3.Connection, notebook: str) -> None:
    """Add an empty comment of each new cell to each submission.

    A grade is added where the exercise counts: by grading.
    """
    connection.execute(
        "INSERT OR IGNORE INTO comment (id, notebook_id, cell_id) "
        f"SELECT {NEW_ID}, n.id, c.id FROM submitted_notebook n "
        "JOIN base_cell c USING (notebook_id) "
        "WHERE c.notebook_id = ? AND c.type = 'SolutionCell'",
        (notebook,),
    )


def _drop_others(
    connection: sqlite3.Connection, notebook: str, cells: GradebookCells
) -> None:
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
        for table in ("base_cell", *CELL_TABLES):
            connection.executemany(f"DELETE FROM {table} WHERE id = ?", gone)


def _drop_sources(
    connection: sqlite3.Connection, notebook: str, cells: GradebookCells
) -> None:
    """Remove the sources of cells that are gone: by that it is known that they are."""
    connection.execute(
        "DELETE FROM source_cell WHERE notebook_id = ? "
        "AND name NOT IN (SELECT value FROM json_each(?))",
        (notebook, json.dumps([*cells.sources])),
    )


def _sort_cells(
    connection: sqlite3.Connection, notebook: str, cells: GradebookCells
) -> None:
    """Put the cells in the order of the lesson, then those that it no longer has.

    Whoever reads the gradebook has no other order than that of the rows.
    """
    rows = connection.execute(
        "SELECT id, name, type FROM base_cell WHERE notebook_id = ? ORDER BY rowid",
        (notebook,),
    ).fetchall()
    in_lesson = [("GradeCell", name) for name in cells.graded]
    in_lesson += [("SolutionCell", name) for name in cells.solutions]
    order = {cell: index for index, cell in enumerate(in_lesson)}
    # Beside an optional exercise's cell stands that of the same exercise, as required.
    order |= {
        (kind, CHECK + exercise_of(name)): index
        for (kind, name), index in order.items()
        if kind == "GradeCell" and name.startswith(ON_TOP)
    }
    indices = {cell: order.get((kind, name), len(order)) for cell, name, kind in rows}
    for cell in sorted(indices, key=lambda cell: indices[cell]):
        connection.execute(
            "UPDATE base_cell SET rowid = (SELECT max(rowid) + 1 FROM base_cell) "
            "WHERE id = ?",
            (cell,),
        )
