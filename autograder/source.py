"""Read a lesson's text source: its cells, each with its line, and what each one is.

Everything that an author can get wrong in a source is refused here, with file and line.
Making notebooks of the cells is ``assemble``'s work.
"""

import ast
import builtins
import inspect
import re
import symtable
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import jupytext

from autograder.course import CourseError
from autograder.exercise import Exercise
from autograder.registry import exercise_names, load

EXERCISE = re.compile(r"from (course_lib[\w.]*) import (\w+)\s+# exercise")
CHECK = re.compile(r"check\((\w+)\)")
HEADING = re.compile(r"^### Exercise: (\w+)\s*$", re.MULTILINE)
TAGS = {"nbval-ignore-output", "nbval-skip"}


class SourceError(CourseError):
    """A fault in a lesson's source, as "file:line: what is wrong"."""


@dataclass
class Cell:
    """One cell of a lesson.

    kind : "prose", "code", "exercise" or "check"
    text : its source
    line : where it starts in the file, counted from 1
    exercise : for an exercise, its check and its heading: which exercise
    """

    kind: Literal["prose", "code", "exercise", "check"]
    text: str
    line: int
    tags: list[str] = field(default_factory=list)
    exercise: Exercise | None = None


class LessonSource:
    """The cells of one lesson, read and found to be in order."""

    def __init__(self, path: Path) -> None:
        """Read the source; raises ``SourceError`` on anything unclear in it."""
        self.path = path
        self.lesson = path.stem
        self.cells = self._cells()
        self._set_up = self._set_up_names()
        self._check_order()
        for cell in self.cells:
            if cell.kind == "exercise" and cell.exercise:
                self._check_reference(cell.exercise, cell.line)

    @property
    def exercises(self) -> list[Exercise]:
        """The lesson's exercises, in order."""
        return [c.exercise for c in self.cells if c.kind == "exercise" and c.exercise]

    def names_for(self, exercise: Exercise) -> set[str]:
        """Names that an answer may look up: set-up cells and what it ``uses``."""
        return self._set_up | set(exercise.uses)

    def _fail(self, line: int, what: str) -> SourceError:
        return SourceError(f"{self.path.parent.name}/{self.path.name}:{line}: {what}")

    def _cells(self) -> list[Cell]:
        text = self.path.read_text(encoding="utf-8")
        marks = [m.start() for m in re.finditer(r"^# %%", text, re.MULTILINE)]
        lines = [text.count("\n", 0, mark) + 1 for mark in marks]
        notebook = jupytext.reads(text, fmt="py:percent")
        if len(notebook.cells) != len(lines) or (marks and text[: marks[0]].strip()):
            raise self._fail(1, "each cell must start with a line '# %%'")
        return [
            self._cell(cell.cell_type, cell.source, line, dict(cell.metadata))
            for cell, line in zip(notebook.cells, lines, strict=True)
        ]

    def _cell(self, kind: str, text: str, line: int, metadata: dict) -> Cell:
        tags = list(metadata.pop("tags", []))
        strange = sorted({*metadata, *(set(tags) - TAGS)})
        if strange or kind not in ("markdown", "code"):
            raise self._fail(line, f"unknown marker {(strange or [kind])[0]!r}")
        if kind == "markdown":
            return Cell("prose", text, line, tags, self._heading(text, line))
        if match := EXERCISE.fullmatch(text.strip()):
            return Cell("exercise", text, line, tags, self._named(*match.groups(), line))
        if match := CHECK.fullmatch(text.strip()):
            return Cell("check", text, line, tags, self._load(match[1], line))
        self._check_code(text, line)
        return Cell("code", text, line, tags)

    def _check_code(self, text: str, line: int) -> None:
        try:
            ast.parse(text)
        except SyntaxError as error:
            at = line + (error.lineno or 1)
            raise self._fail(at, f"syntax error: {error.msg}") from None
        for offset, row in enumerate(text.splitlines(), 1):
            at = line + offset
            if re.match(r"from course_lib[\w.]* import .*#", row):
                comment = row[row.index("#") :]
                raise self._fail(
                    at,
                    f"unknown marker {comment!r}: an exercise is one cell with "
                    "the one line 'from course_lib.module import name  # exercise'",
                )
            if re.match(r"\s*check\(", row):
                raise self._fail(at, "a check stands in a cell of its own: check(name)")

    def _heading(self, text: str, line: int) -> Exercise | None:
        found = HEADING.findall(text)
        if len(found) > 1:
            raise self._fail(line, "one exercise heading per cell")
        if not found and "### Exercise" in text:
            raise self._fail(
                line,
                "an exercise heading is the line '### Exercise: name'; minutes and "
                "difficulty come from the exercise's module",
            )
        return self._load(found[0], line) if found else None

    def _load(self, name: str, line: int) -> Exercise:
        if name not in exercise_names():
            raise self._fail(
                line, f"no exercise named {name!r}: there is no {name}.py among them"
            )
        return load(name)

    def _named(self, module: str, name: str, line: int) -> Exercise:
        exercise = self._load(name, line)
        if exercise.reference.__module__ != module:
            raise self._fail(
                line, f"{name} is in {exercise.reference.__module__}, not in {module}"
            )
        if exercise.lesson != self.lesson:
            raise self._fail(line, f"{name} says it belongs to {exercise.lesson}")
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

    def _check_order(self) -> None:
        """Each exercise once: heading, then its cell, then its check, after its uses."""
        open_: Cell | None = None
        headings: set[str] = set()
        done: list[str] = []
        for cell in self.cells:
            name = cell.exercise.name if cell.exercise else ""
            if cell.kind == "prose" and name:
                if name in headings:
                    raise self._fail(cell.line, f"a second heading for {name}")
                headings.add(name)
            elif cell.kind == "exercise":
                self._check_start(cell, name, open_, headings, done)
                open_ = cell
            elif cell.kind == "check":
                if open_ is None or open_.exercise is not cell.exercise:
                    raise self._fail(cell.line, f"check({name}) without its exercise")
                done.append(name)
                open_ = None
        if open_ and open_.exercise:
            raise self._fail(open_.line, f"{open_.exercise.name} has no check after it")
        if left := headings - set(done):
            raise self._fail(1, f"a heading without its exercise: {min(left)}")

    def _check_start(
        self,
        cell: Cell,
        name: str,
        open_: Cell | None,
        headings: set[str],
        done: list[str],
    ) -> None:
        if open_ and open_.exercise:
            raise self._fail(cell.line, f"{open_.exercise.name} has no check before it")
        if name in done:
            raise self._fail(cell.line, f"exercise {name} stands here twice")
        if name not in headings:
            raise self._fail(cell.line, f"no heading '### Exercise: {name}' above it")
        uses = cell.exercise.uses if cell.exercise else ()
        for used in uses:
            if used not in done and used not in self._set_up:
                raise self._fail(cell.line, f"{name} uses {used}, which comes later")

    def _check_reference(self, exercise: Exercise, line: int) -> None:
        text = textwrap.dedent(inspect.getsource(exercise.reference))
        (function,) = ast.parse(text).body
        if not isinstance(function, ast.FunctionDef):
            raise self._fail(line, f"{exercise.name} is not a function")
        if function.decorator_list:
            raise self._fail(line, f"{exercise.name} is decorated: learners cannot see")
        if function.body[0].lineno == function.lineno:
            raise self._fail(line, f"{exercise.name} is written on one line")
        if not ast.get_docstring(function):
            raise self._fail(line, f"{exercise.name} has no docstring")
        if len(function.body) == 1:
            raise self._fail(line, f"{exercise.name} has no body under its docstring")
        free = free_names(text) - {exercise.name} - self.names_for(exercise)
        if free:
            raise self._fail(
                line,
                f"{exercise.name} needs the name {min(free)!r}, which is neither "
                "imported in the lesson's set-up cells nor in its `uses`",
            )


def free_names(source: str) -> set[str]:
    """Names that a piece of source looks up outside itself, builtins left out.

    >>> free_names("def f(x):\\n    return np.sum(x) + len(x)\\n")
    {'np'}
    """
    tables = [symtable.symtable(source, "<source>", "exec")]
    own = {s.get_name() for s in tables[0].get_symbols() if s.is_assigned()}
    names = set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        top = table.get_type() == "module"
        names |= {
            symbol.get_name()
            for symbol in table.get_symbols()
            if symbol.is_referenced() and (symbol.is_global() or top)
        }
    return {n for n in names if n not in own and not hasattr(builtins, n)}
