"""Read a lesson's text source: its cells, and what each one is in the lesson.

In this order:

- ``solution``: a reference as the text of its solution cell, or ``fault``: why not;
- ``check_order``: each exercise occurs once, as heading, cell and check, below the
  exercises that it uses;
- ``LessonSource``: the whole lesson.

What an author can get wrong about an exercise is refused here, with file and line; what
can be wrong with the text itself, in ``cells``.
"""

import ast
import builtins
import importlib
import inspect
import re
import symtable
import textwrap
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TypeGuard

from autograder.checking.exercise import Exercise
from autograder.checking.own_answer import as_answer
from autograder.checking.registry import exercise_names, load
from autograder.course import SETTINGS, Course, private
from autograder.course.shown_code import without_assertions
from autograder.notebooks.cells import (
    NBGRADER_MARK,
    SourceCell,
    SourceError,
    read_cells,
)
from autograder.notebooks.pictures import texts_of_one_name, without_texts
from autograder.notebooks.predictions import with_predictions

BEGIN, END = "    ### BEGIN SOLUTION", "    ### END SOLUTION"
# nbformat allows 64 characters in a cell's id, and a check's begins with "check-".
ID = re.compile(r"[A-Za-z0-9_]{1,58}")


def solution(exercise: Exercise) -> str:
    """Return the source of an exercise's reference, its body marked as the solution.

    The docstring stays outside the marks: it is the contract, which learners see.
    """
    text = as_answer(exercise.reference)
    (function,) = ast.parse(text).body
    assert isinstance(function, ast.FunctionDef)  # `fault` has refused the rest
    rows = text.splitlines()
    end = function.body[0].end_lineno
    return "\n".join([*rows[:end], BEGIN, *rows[end:], END])


def fault(exercise: Exercise, allowed: set[str]) -> str | None:
    """Return why a reference cannot become a solution cell, or None if it can.

    allowed : the names that it may look up outside itself
    """
    try:
        text = as_answer(exercise.reference)
        (function,) = ast.parse(text).body
    except (OSError, TypeError, SyntaxError, ValueError):
        return "is not a function with a source of its own"
    if not isinstance(function, ast.FunctionDef):
        return "is not a function"
    if form_fault := _form_fault(function, text):
        return form_fault
    if not ID.fullmatch(exercise.name):
        return "has a name that cannot be a cell's id: letters, digits, _, at most 58"
    if free := free_names(text) - {exercise.name} - allowed:
        return (
            f"needs the name {min(free)!r}, which is neither imported in the lesson's "
            "set-up cells nor in its `uses`"
        )
    return None


def _form_fault(function: ast.FunctionDef, text: str) -> str | None:
    docstring, *body = function.body
    if function.decorator_list:
        return "is decorated: the learner's function would not be"
    if docstring.lineno == function.lineno:
        return "is written on one line"
    if not ast.get_docstring(function):
        return "has no docstring"
    if not body:
        return "has no body under its docstring"
    if body[0].lineno == docstring.end_lineno:
        return "has code on the line on which its docstring ends"
    if mark := NBGRADER_MARK.search(text):
        return f"holds nbgrader's mark {mark[0]!r}"
    return None


def free_names(source: str) -> set[str]:
    """Return the names that a source looks up outside itself, builtins left out.

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


def bound_names(source: str) -> set[str]:
    """Return the names that a module's text binds at its top level."""
    table = symtable.symtable(source, "<source>", "exec")
    return {
        s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported()
    }


def check_order(path: Path, cells: Iterable[SourceCell], set_up: set[str]) -> None:
    """Raise ``SourceError`` at the first cell that breaks the order.

    set_up : names that the set-up cells of the lesson import
    """
    order = _Order(path, set_up)
    for cell in cells:
        if cell.exercise:
            order.meet(cell, cell.exercise)
    order.finish()


class _Order:
    def __init__(self, path: Path, set_up: set[str]) -> None:
        self.path = path
        self.set_up = set_up
        self.headings: dict[str, int] = {}
        self.done: list[str] = []
        self.open: tuple[str, int] | None = None

    def meet(self, cell: SourceCell, exercise: Exercise) -> None:
        if cell.kind == "prose":
            self._meet_heading(exercise.name, cell.line)
        elif cell.kind == "exercise":
            self._meet_exercise(exercise, cell.line + 1)
        elif cell.kind == "check":
            self._meet_check(exercise.name, cell.line + 1)

    def finish(self) -> None:
        if self.open:
            name, line = self.open
            raise self._fail(line, f"{name} has no check after it")
        for name, line in self.headings.items():
            if name not in self.done:
                raise self._fail(line, f"a heading without its exercise: {name}")

    def _meet_heading(self, name: str, line: int) -> None:
        if name in self.headings:
            raise self._fail(line, f"a second heading for {name}")
        self.headings[name] = line

    def _meet_exercise(self, exercise: Exercise, line: int) -> None:
        name = exercise.name
        if self.open:
            raise self._fail(line, f"{self.open[0]} has no check before it")
        if name in self.done:
            raise self._fail(line, f"exercise {name} stands here twice")
        if name not in self.headings:
            raise self._fail(line, f"no heading '### Exercise: {name}' above it")
        for used in exercise.uses:
            if used not in self.done and used not in self.set_up:
                raise self._fail(
                    line,
                    f"{name} uses {used}, which neither stands above it nor is "
                    "imported in the lesson's set-up cells",
                )
        self.open = name, line

    def _meet_check(self, name: str, line: int) -> None:
        if self.open is None or self.open[0] != name:
            raise self._fail(line, f"check({name}) without its exercise")
        self.done.append(name)
        self.open = None

    def _fail(self, line: int, what: str) -> SourceError:
        return SourceError(self.path, line, what)


class _NoAssertions(ast.NodeTransformer):
    """Leaves assertions out, but those of functions and classes."""

    def visit_Assert(self, _: ast.Assert) -> None:
        return None

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        return node


def _is_whole_without_assertions(code: str) -> bool:
    """Return whether the rows that learners get are the code without assertions."""
    try:
        rows = ast.parse(without_assertions(code))
    except SyntaxError:
        return False
    return ast.dump(rows) == ast.dump(_NoAssertions().visit(ast.parse(code)))


def _imports_private(node: ast.AST) -> TypeGuard[ast.Import | ast.ImportFrom]:
    if isinstance(node, ast.ImportFrom):
        names = [f"{node.module}.{alias.name}" for alias in node.names]
    elif isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    else:
        return False
    return any(f"{name}.".startswith(f"{private.PACKAGE}.") for name in names)


EXERCISE = re.compile(r"from (course_lib[\w.]*) import (\w+)\s+# exercise")
CHECK = re.compile(r"check\((\w+)\)")
# The teacher reads the function of ``parts``, the learner mends that of ``broken``.
MEND = re.compile(r"from (course_lib[\w.]*)\.parts import (\w+)\s+# mend")
HEADING = re.compile(r"^### Exercise: (\w+)[ \t]*$", re.MULTILINE)
# Below it stands what can be skipped: its exercises are optional.
FURTHER = re.compile(r"^## Going further[ \t]*$", re.MULTILINE)
ALMOST_A_HEADING = re.compile(r"^#+ *exercise\b", re.MULTILINE | re.IGNORECASE)
# A comment behind an import from the library, or one that looks like "exercise".
ALMOST_A_MARKER = re.compile(
    r"\s*(?:from\s+course_lib\b[^#]*|(?:from|import)\s[^#]*(?=#\s*exer))(#.*)",
    re.IGNORECASE,
)


def course_of(path: Path) -> Course:
    """Return the course of a lesson's text source; its exercises are known then."""
    above = path.parents[2]  # …/solutions/02_self_attention/02_self_attention.py
    is_course = (above / SETTINGS).is_file()  # and may be called private, too
    if above.name == private.FOLDER and not is_course:
        private.use(above.parent)
        return Course(above.parent)
    return Course(above)


class LessonSource:
    """The cells of one lesson, read and in order.

    is_private : whether it is an instructor's own, which learners have as a notebook
        alone
    set_up : names that the cells of imports before the first exercise bind
    texts : the alternative texts of its pictures, by the digests of their cells
    """

    def __init__(self, path: Path) -> None:
        """Read the source; raises ``SourceError`` on anything unclear in it."""
        self.path = path
        self.lesson = path.stem
        self.course = course_of(path)
        self.is_private = self.course.is_private(self.lesson)
        self.texts: dict[str, str] = {}
        cells = [self._with_meaning(cell) for cell in read_cells(path)]
        self.cells = with_predictions(path, cells)
        self.set_up = self._set_up_names()
        check_order(path, self.cells, self.set_up)
        for cell in self.cells:
            if cell.kind == "exercise" and cell.exercise:
                name, allowed = cell.exercise.name, self.names_for(cell.exercise)
                if wrong := fault(cell.exercise, allowed):
                    raise self.fail(cell.line + 1, f"{name} {wrong}")

    @property
    def exercises(self) -> list[Exercise]:
        """The lesson's exercises, in order."""
        return [c.exercise for c in self.cells if c.kind == "exercise" and c.exercise]

    @property
    def optional(self) -> frozenset[str]:
        """Names of the exercises that stand below the heading *Going further*."""
        is_further, names = False, []
        for cell in self.cells:
            if cell.kind == "prose" and FURTHER.search(cell.text):
                is_further = True
            if is_further and cell.kind == "exercise" and cell.exercise:
                names.append(cell.exercise.name)
        return frozenset(names)

    def names_for(self, exercise: Exercise) -> set[str]:
        """Return the names that an answer may look up: of set-up cells and ``uses``."""
        return self.set_up | set(exercise.uses)

    def fail(self, line: int, what: str) -> SourceError:
        """Return the error to raise about a line of this source."""
        return SourceError(self.path, line, what)

    def _with_meaning(self, cell: SourceCell) -> SourceCell:
        """Return a cell with its kind, and its exercise if it belongs to one."""
        if cell.kind == "prose":
            return replace(cell, exercise=self._heading(cell))
        if match := EXERCISE.fullmatch(cell.text.strip()):
            exercise = self._named(match[1], match[2], cell.line + 1)
            return replace(cell, kind="exercise", exercise=exercise)
        if match := CHECK.fullmatch(cell.text.strip()):
            exercise = self._load(match[1], cell.line + 1)
            return replace(cell, kind="check", exercise=exercise)
        if match := MEND.fullmatch(cell.text.strip()):
            texts = (
                self._part(f"{match[1]}.{m}", match[2], cell.line + 1)
                for m in ("parts", "broken")
            )
            right, broken = texts
            return replace(cell, text=right, broken=broken)
        self._check_code(cell)
        return self._without_texts(cell)

    def _without_texts(self, cell: SourceCell) -> SourceCell:
        """Note a picture's alternative text, and return its cell without it.

        Where a picture above has the same code, the cell keeps a name of the text.
        """
        without, texts = without_texts(self.path, cell)
        if self.is_private:
            return cell  # with its texts: learners' files do not have them
        if any(self.texts.get(key, text) != text for key, text in texts.items()):
            without, texts = without_texts(self.path, cell, is_named=True)
        self.texts |= texts
        if twins := texts_of_one_name(self.path, self.texts.values()):
            one, other = twins
            raise self.fail(
                cell.line,
                f"two alternative texts get the same name: change a word in {one!r} or "
                f"in {other!r}",
            )
        return without

    def _part(self, module: str, name: str, line: int) -> str:
        """Return the source of a function that is mended, or of its broken version."""
        try:
            function = getattr(importlib.import_module(module), name)
            return textwrap.dedent(inspect.getsource(function)).rstrip("\n")
        except (AttributeError, ImportError, OSError, TypeError):
            raise self.fail(line, f"{module} has no function {name!r}") from None

    def _check_code(self, cell: SourceCell) -> None:
        for number, row in enumerate(cell.text.splitlines(), cell.line + 1):
            if match := ALMOST_A_MARKER.match(row):
                raise self.fail(
                    number,
                    f"unknown marker {match[1]!r}: an exercise is one cell with "
                    "the one line 'from course_lib.module import name  # exercise'",
                )
        if not _is_whole_without_assertions(cell.text):
            raise self.fail(
                cell.line,
                "without its assertions this cell would not run: in a loop that holds "
                "nothing else, write assert all(…)",
            )
        for node in ast.walk(ast.parse(cell.text)):
            if _imports_private(node):
                raise self.fail(
                    cell.line + node.lineno,
                    f"learners do not have {private.PACKAGE}: a cell imports from it "
                    "in an exercise's one line alone",
                )
            called = node.func if isinstance(node, ast.Call) else None
            if isinstance(called, ast.Name) and called.id == "check":
                raise self.fail(
                    cell.line + called.lineno,
                    "a check stands in a cell of its own: check(name)",
                )

    def _heading(self, cell: SourceCell) -> Exercise | None:
        headings = list(HEADING.finditer(cell.text))
        almost = list(ALMOST_A_HEADING.finditer(cell.text))
        if len(headings) > 1:
            line = self._line(cell, headings[1])
            raise self.fail(line, "one exercise heading per cell")
        if len(almost) > len(headings):
            (wrong, *_) = [m for m in almost if not HEADING.match(cell.text, m.start())]
            raise self.fail(
                self._line(cell, wrong),
                "an exercise heading is the line '### Exercise: name'; minutes and "
                "difficulty come from the exercise's module",
            )
        if not headings:
            return None
        return self._load(headings[0][1], self._line(cell, headings[0]))

    @staticmethod
    def _line(cell: SourceCell, match: re.Match[str]) -> int:
        return cell.line + 1 + cell.text.count("\n", 0, match.start())

    def _load(self, name: str, line: int) -> Exercise:
        if name not in exercise_names():
            among = f"in {private.FOLDER}/{private.EXERCISES}"
            among = among if self.is_private else "among them"
            raise self.fail(
                line, f"no exercise named {name!r}: there is no {name}.py {among}"
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
        """Return the names that cells of imports bind before the first exercise."""
        names = set()
        for cell in self.cells:
            if cell.kind == "exercise":
                break
            body = ast.parse(cell.text).body if cell.kind == "code" else []
            if body and all(isinstance(s, ast.Import | ast.ImportFrom) for s in body):
                for alias in (alias for s in body for alias in s.names):  # type: ignore[attr-defined]
                    names.add(alias.asname or alias.name.split(".")[0])
        return names
