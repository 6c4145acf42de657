"""Read a lesson's text source: its cells, and what each one is in the lesson.

What an author can get wrong about an exercise is refused here, with file and line; what
can be wrong with the text itself, in ``cells``; with the order of things, in ``order``.
Making notebooks is ``assemble``'s work.
"""

import ast
import re
from dataclasses import replace
from pathlib import Path

from autograder.cells import Cell, SourceError, read_cells
from autograder.exercise import Exercise
from autograder.order import check_order
from autograder.reference import fault
from autograder.registry import exercise_names, load

EXERCISE = re.compile(r"from (course_lib[\w.]*) import (\w+)\s+# exercise")
CHECK = re.compile(r"check\((\w+)\)")
HEADING = re.compile(r"^### Exercise: (\w+)[ \t]*$", re.MULTILINE)
ALMOST_A_HEADING = re.compile(r"^#+ *exercise\b", re.MULTILINE | re.IGNORECASE)
# A comment behind an import from the library, or one that looks like "exercise".
ALMOST_A_MARKER = re.compile(
    r"\s*(?:from\s+course_lib\b[^#]*|(?:from|import)\s[^#]*(?=#\s*exer))(#.*)",
    re.IGNORECASE,
)


class LessonSource:
    """The cells of one lesson, read and found to be in order."""

    def __init__(self, path: Path) -> None:
        """Read the source; raises ``SourceError`` on anything unclear in it."""
        self.path = path
        self.lesson = path.stem
        self.cells = [self._with_meaning(cell) for cell in read_cells(path)]
        self._set_up = self._set_up_names()
        check_order(path, self.cells, self._set_up)
        for cell in self.cells:
            if cell.kind == "exercise" and cell.exercise:
                name, allowed = cell.exercise.name, self.names_for(cell.exercise)
                if wrong := fault(cell.exercise, allowed):
                    raise self.fail(cell.line + 1, f"{name} {wrong}")

    @property
    def exercises(self) -> list[Exercise]:
        """The lesson's exercises, in order."""
        return [c.exercise for c in self.cells if c.kind == "exercise" and c.exercise]

    def names_for(self, exercise: Exercise) -> set[str]:
        """Names that an answer may look up: set-up cells and what it ``uses``."""
        return self._set_up | set(exercise.uses)

    def fail(self, line: int, what: str) -> SourceError:
        """Give the error to raise about a line of this source."""
        return SourceError(self.path, line, what)

    def _with_meaning(self, cell: Cell) -> Cell:
        """Say of a cell whether it is an exercise, its check or its heading."""
        if cell.kind == "prose":
            return replace(cell, exercise=self._heading(cell))
        if match := EXERCISE.fullmatch(cell.text.strip()):
            found = self._named(match[1], match[2], cell.line + 1)
            return replace(cell, kind="exercise", exercise=found)
        if match := CHECK.fullmatch(cell.text.strip()):
            found = self._load(match[1], cell.line + 1)
            return replace(cell, kind="check", exercise=found)
        self._check_code(cell)
        return cell

    def _check_code(self, cell: Cell) -> None:
        for at, row in enumerate(cell.text.splitlines(), cell.line + 1):
            if match := ALMOST_A_MARKER.match(row):
                raise self.fail(
                    at,
                    f"unknown marker {match[1]!r}: an exercise is one cell with "
                    "the one line 'from course_lib.module import name  # exercise'",
                )
        for node in ast.walk(ast.parse(cell.text)):
            called = node.func if isinstance(node, ast.Call) else None
            if isinstance(called, ast.Name) and called.id == "check":
                raise self.fail(
                    cell.line + called.lineno,
                    "a check stands in a cell of its own: check(name)",
                )

    def _heading(self, cell: Cell) -> Exercise | None:
        found = list(HEADING.finditer(cell.text))
        almost = list(ALMOST_A_HEADING.finditer(cell.text))
        if len(found) > 1:
            raise self.fail(self._line(cell, found[1]), "one exercise heading per cell")
        if len(almost) > len(found):
            (wrong, *_) = [m for m in almost if not HEADING.match(cell.text, m.start())]
            raise self.fail(
                self._line(cell, wrong),
                "an exercise heading is the line '### Exercise: name'; minutes and "
                "difficulty come from the exercise's module",
            )
        return self._load(found[0][1], self._line(cell, found[0])) if found else None

    @staticmethod
    def _line(cell: Cell, match: re.Match[str]) -> int:
        return cell.line + 1 + cell.text.count("\n", 0, match.start())

    def _load(self, name: str, line: int) -> Exercise:
        if name not in exercise_names():
            raise self.fail(
                line, f"no exercise named {name!r}: there is no {name}.py among them"
            )
        return load(name)

    def _named(self, module: str, name: str, line: int) -> Exercise:
        exercise = self._load(name, line)
        if exercise.reference.__module__ != module:
            raise self.fail(
                line, f"{name} is in {exercise.reference.__module__}, not in {module}"
            )
        if exercise.lesson != self.lesson:
            raise self.fail(line, f"{name} says it belongs to {exercise.lesson}")
        return exercise

    def _set_up_names(self) -> set[str]:
        """Give the names that cells of imports bind before the first exercise."""
        names = set()
        for cell in self.cells:
            if cell.kind == "exercise":
                break
            body = ast.parse(cell.text).body if cell.kind == "code" else []
            if body and all(isinstance(s, ast.Import | ast.ImportFrom) for s in body):
                for alias in (alias for s in body for alias in s.names):  # type: ignore[attr-defined]
                    names.add(alias.asname or alias.name.split(".")[0])
        return names
