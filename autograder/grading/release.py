"""The released lesson as grading needs it: its cells in order, and what each is for.

It comes from the learner's original in ``notebooks/``, which the course builds; what a
learner hands in is the subject of ``reading`` and ``rebuild``.
"""

import ast
import functools
import json
import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any, Literal

from autograder.checking.own_answer import as_answer, as_stub
from autograder.checking.registry import UnknownExercise, exercise_names, load
from autograder.course import Course, CourseError, private
from autograder.course.releases import (
    ANSWER_KEY,
    CHECK,
    OPTIONAL,
    Points,
    cell_digest,
    kept_cells,
    known_releases,
    last_points,
)

Role = Literal["setup", "solution", "check", "demo", "prose", "own"]
RETIRED_IMPORTS = "imports-of-earlier-releases"  # a cell's id


@dataclass(frozen=True)
class Cell:
    """One cell of a notebook, released or rebuilt.

    role : "setup" for imports above the first exercise, "demo" for other code of the
        lesson, "own" for the learner's own cells
    exercise : of a solution and a check
    id : as in the notebook; verdicts do not depend on it
    is_code : only code can run
    to_mend : whether it is there to be changed, as broken functions are
    is_retired : whether the lesson no longer has it: where it stood is not known
    """

    role: Role
    source: str
    exercise: str = ""
    id: str = ""
    is_code: bool = True
    to_mend: bool = False
    is_retired: bool = False

    @property
    def grade_id(self) -> str:
        """nbgrader's name for the cell; "" if it is not graded."""
        return f"{CHECK}{self.exercise}" if self.role == "check" else self.exercise


@dataclass(frozen=True)
class Release:
    """A lesson as it was released.

    points : of each exercise, as the notebook says, and which are optional
    earlier : digests of cells of earlier releases (``releases.cell_digest``)
    """

    lesson: str
    cells: tuple[Cell, ...]
    points: Points = field(default_factory=Points)
    earlier: frozenset[str] = frozenset()

    @property
    def exercises(self) -> tuple[str, ...]:
        """Names of the exercises in the order of the notebook."""
        return tuple(cell.exercise for cell in self.cells if cell.role == "solution")

    @property
    def set_up(self) -> list[str]:
        """Texts of the cells of imports above the first exercise."""
        return [cell.source for cell in self.cells if cell.role == "setup"]

    @property
    def own_code(self) -> list[str]:
        """Texts of the lesson's own code: its set-up and its demonstrations."""
        return [cell.source for cell in self.cells if cell.role in ("setup", "demo")]


def load_release(course: Course, lesson: str) -> Release:
    """Load a lesson's released notebook; raises ``CourseError`` if there is none.

    The course's private exercises are those that this process knows from then on.
    """
    private.use(course.root)
    path = course.learner(lesson)
    make = "run `make build` to make it anew"
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        cells = _mark_setup([_read_cell(cell) for cell in notebook["cells"]])
        points = Points(
            filter(None, map(_points, notebook["cells"])),
            [*filter(None, map(_optional, notebook["cells"]))],
        )
    except FileNotFoundError:
        raise CourseError(
            f"{course.relative(path)} is missing: run `make build` to make it"
        ) from None
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise CourseError(
            f"{course.relative(path)} cannot be graded with ({reason}): {make}"
        ) from None
    earlier = kept_cells(course) - {cell_digest(cell.source) for cell in cells}
    release = Release(lesson, tuple(cells), points, earlier)
    if fault := _fault(release):
        raise CourseError(f"{course.relative(path)} {fault}: {make}")
    return release


def load_all_releases(course: Course, lesson: str) -> Release:
    """Load a lesson with what any of its releases had; raises ``CourseError``."""
    release = load_release(course, lesson)
    releases = known_releases(course, lesson, release.points)
    return with_retired(release, releases, last_points(releases))


def with_retired(
    release: Release, releases: Mapping[str, Points], exercises: Collection[str]
) -> Release:
    """Return the lesson with the cells of exercises that it no longer has.

    releases : of the lesson, the oldest first
    exercises : those wanted, of any release; what cannot be judged any more is left out

    Each stands right above the exercise above which it stood last: it may need what is
    further above, and whatever the learner has added there.
    """
    last = last_points(releases)
    retired = {
        name: last[name]
        for name in exercises
        if name not in release.exercises and name in last and can_judge(name)
    }
    if not retired:
        return release
    names, cells = {*retired}, list(release.cells)
    for points in reversed([*releases.values()]):
        at = len(cells)
        for name in reversed([*points]):
            if name in names:
                names.remove(name)
                cells[at:at] = _cells_of(name, cells)
            solutions = [c.exercise if c.role == "solution" else "" for c in cells]
            at = solutions.index(name) if name in solutions else at
    _insert_imports(cells, retired)
    worth = Points({**release.points, **retired}, release.points.optional)
    return replace(release, cells=tuple(cells), points=worth)


def can_judge(exercise: str) -> bool:
    """Return whether the course can still judge an exercise."""
    try:
        load(exercise)
    except (UnknownExercise, ImportError, AttributeError):
        return False
    return True


def checked_exercises(cells: Iterable[Cell]) -> tuple[str, ...]:
    """Return the exercises that cells check, in their order."""
    return tuple(cell.exercise for cell in cells if cell.role == "check")


def _cells_of(name: str, others: Collection[Cell]) -> list[Cell]:
    """Return the cells of an exercise that the lesson no longer has, as they were."""
    taken = {cell.id for cell in others}
    ids = [
        each if each not in taken else f"{each}-2" for each in (name, f"check-{name}")
    ]
    return [
        Cell("solution", _stub(name), name, ids[0], is_retired=True),
        Cell("check", f"check({name})", name, ids[1], is_retired=True),
    ]


def _insert_imports(cells: list[Cell], retired: Collection[str]) -> None:
    """Insert what the lesson's set-up has imported for retired exercises."""
    own = {cell.exercise for cell in cells}
    lines = dict.fromkeys(
        line
        for name in retired
        for imported, line in _imports_for(name).items()
        if imported not in own
    )
    last = max((i for i, c in enumerate(cells) if c.role == "setup"), default=-1)
    if text := "\n".join(sorted(lines)):
        cells.insert(last + 1, Cell("setup", text, id=RETIRED_IMPORTS, is_retired=True))


@functools.cache
def _imports_for(exercise: str) -> Mapping[str, str]:
    """Return the names that an exercise's answer takes from its lesson, as imports."""
    loaded = load(exercise)
    nodes = ast.walk(ast.parse(as_answer(loaded.reference)))
    names = {node.id for node in nodes if isinstance(node, ast.Name)} - {exercise}
    known = vars(sys.modules[loaded.reference.__module__])
    lines = {}
    for name in sorted(names & known.keys()):
        value = known[name]
        if isinstance(value, ModuleType):
            lines[name] = f"import {value.__name__} as {name}"
        elif hasattr(sys.modules.get(getattr(value, "__module__", "")), name):
            lines[name] = f"from {value.__module__} import {name}"
    return lines


@functools.cache
def _stub(name: str) -> str:
    return as_stub(load(name).reference)


def _read_cell(cell: dict[str, Any]) -> Cell:
    """Read one cell; code that is not graded is a demonstration so far."""
    source = cell["source"]
    source = source if isinstance(source, str) else "".join(source)
    marks = cell["metadata"].get("nbgrader", {})
    grade_id = marks.get("grade_id", "")
    if marks.get("grade"):
        if not grade_id.startswith(CHECK):
            raise ValueError(f"{grade_id} has points, and is no check")
        return Cell("check", source, grade_id.removeprefix(CHECK), cell["id"])
    if marks.get("solution"):
        return Cell("solution", source, grade_id, cell["id"])
    if cell["cell_type"] == "code":
        to_mend = "mend" in cell["metadata"].get(ANSWER_KEY, {})
        return Cell("demo", source, id=cell["id"], to_mend=to_mend)
    return Cell("prose", source, id=cell["id"], is_code=False)


def _points(cell: dict[str, Any]) -> tuple[str, float] | None:
    """Return the exercise that a check is of and its points; None for another cell."""
    marks = cell["metadata"].get("nbgrader", {})
    if not marks.get("grade"):
        return None
    return marks["grade_id"].removeprefix(CHECK), float(marks["points"])


def _optional(cell: dict[str, Any]) -> str:
    """Return the exercise that a check is of if it is optional, else ""."""
    is_optional = cell["metadata"].get(ANSWER_KEY, {}).get(OPTIONAL)
    points = _points(cell) if is_optional else None
    return points[0] if points else ""


def _mark_setup(cells: list[Cell]) -> list[Cell]:
    """Return the cells; those of imports above the first exercise are the set-up."""
    roles = [cell.role for cell in cells]
    first = roles.index("solution") if "solution" in roles else len(cells)
    return [
        replace(cell, role="setup")
        if cell.role == "demo" and index < first and _only_imports(cell.source)
        else cell
        for index, cell in enumerate(cells)
    ]


def _only_imports(source: str) -> bool:
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError):
        return False  # a magic: not set-up
    return bool(body) and all(isinstance(s, ast.Import | ast.ImportFrom) for s in body)


def _fault(release: Release) -> str:
    """Return what makes a lesson unfit for grading; "" if nothing does."""
    solutions = list(release.exercises)
    checks = [cell.exercise for cell in release.cells if cell.role == "check"]
    ids = [cell.id for cell in release.cells]
    for name in [*solutions, *checks]:
        if name not in exercise_names():
            where = "of the course"
            if private.NAME.fullmatch(release.lesson):
                where += f", and is not in {private.FOLDER}/{private.EXERCISES} either"
            return f"grades {name!r}, which is no exercise {where}"
        if solutions.count(name) != 1 or checks.count(name) != 1:
            return f"does not have one cell and one check for {name}"
    if len({*ids}) < len(ids):
        return "has an id twice"
    return ""
