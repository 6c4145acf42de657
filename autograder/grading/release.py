"""The released lesson as grading needs it: its cells in order, and what each is for.

It comes from the learner's original in ``notebooks/``, which the course builds; what a
learner hands in is ``reading``'s and ``rebuild``'s work.
"""

import ast
import json
from dataclasses import dataclass
from typing import Any, Literal

from autograder.checking.registry import exercise_names
from autograder.course import Course, CourseError

Role = Literal["setup", "solution", "check", "demo", "prose"]
CHECK = "check_"  # a check's grade_id is this and the exercise's name


@dataclass(frozen=True)
class MasterCell:
    """One cell of the lesson.

    role : "setup" for imports above the first exercise, "demo" for other given code
    exercise : for a solution and a check, which exercise
    """

    role: Role
    id: str
    source: str
    exercise: str = ""

    @property
    def grade_id(self) -> str:
        """The mark that nbgrader knows it by; "" if it is not graded."""
        return f"{CHECK}{self.exercise}" if self.role == "check" else self.exercise


@dataclass(frozen=True)
class Master:
    """A lesson as it was released."""

    lesson: str
    cells: tuple[MasterCell, ...]

    @property
    def exercises(self) -> tuple[str, ...]:
        """Names of the exercises in the order of the notebook."""
        return tuple(cell.exercise for cell in self.cells if cell.role == "solution")


def load_master(course: Course, lesson: str) -> Master:
    """Read a lesson's released notebook; raises ``CourseError`` if there is none."""
    path = course.learner(lesson)
    again = "run `make build` to make it anew"
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        cells = [_read(cell) for cell in notebook["cells"]]
    except FileNotFoundError:
        raise CourseError(
            f"{course.relative(path)} is missing: run `make build` to make it"
        ) from None
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        what = f"{type(error).__name__}: {error}"
        raise CourseError(
            f"{course.relative(path)} cannot be graded with ({what}): {again}"
        ) from None
    master = Master(lesson, tuple(_with_setup(cells)))
    if wrong := _fault(master):
        raise CourseError(f"{course.relative(path)} {wrong}: {again}")
    return master


def _read(cell: dict[str, Any]) -> MasterCell:
    """Read one cell; code that is not graded is a demonstration so far."""
    source = cell["source"]
    source = source if isinstance(source, str) else "".join(source)
    marks = cell["metadata"].get("nbgrader", {})
    grade_id = marks.get("grade_id", "")
    if marks.get("grade"):
        if not grade_id.startswith(CHECK):
            raise ValueError(f"{grade_id} has points, and is no check")
        return MasterCell("check", cell["id"], source, grade_id.removeprefix(CHECK))
    if marks.get("solution"):
        return MasterCell("solution", cell["id"], source, grade_id)
    role: Role = "demo" if cell["cell_type"] == "code" else "prose"
    return MasterCell(role, cell["id"], source)


def _with_setup(cells: list[MasterCell]) -> list[MasterCell]:
    """Mark the cells of imports that stand above the first exercise as set-up."""
    roles = [cell.role for cell in cells]
    first = roles.index("solution") if "solution" in roles else len(cells)
    return [
        MasterCell("setup", cell.id, cell.source)
        if cell.role == "demo" and place < first and _only_imports(cell.source)
        else cell
        for place, cell in enumerate(cells)
    ]


def _only_imports(source: str) -> bool:
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError):
        return False  # a magic: not set-up
    return bool(body) and all(isinstance(s, ast.Import | ast.ImportFrom) for s in body)


def _fault(master: Master) -> str:
    """Say what makes a lesson unfit as a master, "" if nothing does."""
    solutions = list(master.exercises)
    checks = [cell.exercise for cell in master.cells if cell.role == "check"]
    ids = [cell.id for cell in master.cells]
    for name in [*solutions, *checks]:
        if name not in exercise_names():
            return f"grades {name!r}, which is no exercise of the course"
        if solutions.count(name) != 1 or checks.count(name) != 1:
            return f"does not have one cell and one check for {name}"
    if len({*ids}) < len(ids):
        return "has an id twice"
    return ""
