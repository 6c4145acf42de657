"""The part of the course that a submission may see: ``course_lib``, and a ``check``.

``course_lib`` is a copy with the modules that the lesson imports. What would answer an
exercise only raises. All else announces that it is called, but for what the lesson's
set-up imports by name, since answers may use that: what a demonstration, a figure or an
experiment needs may answer an exercise with some code around it, and nobody can list
that. ``autograder`` is a stub whose ``check`` does nothing.
The originals are public: this prevents their silent use, no more.
"""

import ast
import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence, Set
from pathlib import Path

import autograder
import course_lib
from autograder.checking.exercise import Exercise
from autograder.checking.registry import exercise_names
from autograder.course import private
from autograder.grading.inside.library import ALSO_RECORDED, CALLED, EVERY, announce
from autograder.grading.lesson_needs import LessonNeeds

OWN = Path(__file__).parent
COURSE_LIB = Path(course_lib.__file__).parent
# The modules that describe the result of one call: the child needs them.
PACKAGE = Path(autograder.__file__).parent
OF_CALLS = "__init__", "call", "own_time", "time_limit", "values", "causes/*"
CALL_MODULES = tuple(
    path.relative_to(PACKAGE).as_posix()
    for pattern in OF_CALLS
    for path in sorted((PACKAGE / "checking").glob(f"{pattern}.py"))
)
WITHHELD = (
    "raise RuntimeError('the course\\'s own {name} cannot be called while {what} is "
    "graded')"
)
ABSENT = (
    "__import__('sys').audit({called!r}, {name!r})\n"
    "raise ImportError('{name} cannot be imported while this lesson is graded: "
    "the lesson does not use it', name={name!r})\n"
)
# Checks of arguments stand in references, and answer no exercise.
CHECKS = ("course_lib.arguments.", "course_lib.nn.arguments.")
OTHERS = "others.json"  # names of modules and functions that no answer needs
STUB = '''"""What a lesson imports from the grader. Grading happens elsewhere."""


class CheckFailed(AssertionError):
    """Never raised here."""


def check(answer=None, *, private=False):
    """Do nothing: the answer is judged outside."""
'''


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """Make a folder for ``make_copy``; remove those of graders that were killed."""
    for folder in Path(tempfile.gettempdir()).glob("grading-*-*"):
        process = folder.name.split("-")[1]
        if process.isdecimal() and not Path("/proc", process).exists():
            shutil.rmtree(folder, ignore_errors=True)
    return tempfile.TemporaryDirectory(prefix=f"grading-{os.getpid()}-")


def make_copy(
    folder: Path,
    exercises: Sequence[Exercise],
    cells: Sequence[str] = (),
    set_up: Sequence[str] = (),
) -> None:
    """Write the engine's inner part and the course's visible part into a folder.

    folder : gets ``engine/inside``, ``course/autograder`` and ``course/course_lib``
    exercises : those that are graded
    cells : the lesson's own code
    set_up : those of them whose imports an answer may use
    """
    skip = shutil.ignore_patterns("__pycache__")
    shutil.copytree(OWN / "inside", folder / "engine" / "inside", ignore=skip)
    stub = folder / "course" / "autograder"
    (stub / "checking").mkdir(parents=True)
    (stub / "__init__.py").write_text(STUB, encoding="utf-8")
    for name in CALL_MODULES:
        (stub / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PACKAGE / name, stub / name)
    needs = LessonNeeds(cells, [each.reference.__module__ for each in exercises])
    others = [name for name in needs.others if not name.startswith(CHECKS)]
    watched = sorted({*others} | demonstrated(needs, set_up))
    withheld = dict.fromkeys(_answers(exercises, others), "this lesson")
    withheld |= {_dotted(exercise): exercise.name for exercise in exercises}
    announced = {*watched, *(name for e in exercises for name in e.library)}
    for path in COURSE_LIB.rglob("*"):
        inner = path.relative_to(COURSE_LIB.parent)
        name = ".".join(inner.with_suffix("").parts).removesuffix(".__init__")
        target = folder / "course" / inner
        if path.suffix == ".py" and name in needs.modules:
            text = path.read_text(encoding="utf-8")
            _write(target, rewritten(text, name, withheld, announced))
        elif path.suffix == ".py":
            _write(target, ABSENT.format(called=CALLED, name=name))
            watched.append(name)
        elif path.suffix == ".json" and ".".join(inner.parent.parts) in needs.modules:
            _write(target, path.read_text(encoding="utf-8"))
    _write(folder / OTHERS, json.dumps(watched))


def demonstrated(needs: LessonNeeds, set_up: Sequence[str]) -> set[str]:
    """Return what the lesson needs, and no answer does: it announces its calls.

    An answer may use what the set-up imports by name, with what that needs in its turn;
    of a module that it imports as a whole, such as the figures, nothing.
    """
    needed = needs.definitions - LessonNeeds(set_up).definitions
    return {name for name in needed if not name.startswith(CHECKS)}


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _answers(exercises: Sequence[Exercise], others: Sequence[str]) -> set[str]:
    """Return those of the functions that the lesson does not need that are answers.

    They answer an exercise of another lesson, or stand in one's ``library``.
    """
    library = {name for exercise in exercises for name in exercise.library}
    known = exercise_names()
    return {n for n in others if n in library or n.rpartition(".")[2] in known}


def _dotted(exercise: Exercise) -> str:
    return f"{exercise.reference.__module__}.{exercise.name}"


def rewritten(
    text: str, module: str, withheld: Mapping[str, str], announced: Set[str]
) -> str:
    """Return a module's text in which functions only raise, or announce their calls.

    module : its dotted name
    withheld : dotted names to what is graded, as the error says; announced, too
    announced : dotted names
    """
    tree = ast.parse(text)
    changed = False
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            name = f"{module}.{statement.name}"
            if name in withheld:
                _withhold(statement, withheld[name])
            if name in withheld or name in announced:
                announce(statement, name)
                changed = True
    return ast.unparse(ast.fix_missing_locations(tree)) if changed else text


def _withhold(definition: ast.FunctionDef | ast.ClassDef, what: str) -> None:
    """Make a function, or each method of a class, only raise: ``what`` is graded."""
    inner = definition.body if isinstance(definition, ast.ClassDef) else [definition]
    for function in inner:
        if not isinstance(function, ast.FunctionDef):
            continue
        has_docstring = ast.get_docstring(function, clean=False)
        docstring = function.body[:1] if has_docstring else []
        raising = ast.parse(WITHHELD.format(name=definition.name, what=what)).body
        function.body = [*docstring, *raising]


def modules_of(setup: Sequence[str]) -> list[str]:
    """Return the modules that a lesson's own cells import, for the warm parent.

    >>> modules_of(["import numpy as np\\nfrom course_lib import figures"])
    ['course_lib', 'course_lib.figures', 'numpy']
    """
    modules: set[str] = set()
    for text in setup:
        for statement in ast.walk(ast.parse(text)):
            if isinstance(statement, ast.Import):
                modules |= {alias.name for alias in statement.names}
            elif isinstance(statement, ast.ImportFrom) and statement.module:
                modules.add(statement.module)
                if statement.module == "course_lib":
                    modules |= {f"course_lib.{alias.name}" for alias in statement.names}
    return sorted(modules - {"autograder", "__future__"})


def is_unseen(module: str) -> bool:
    """Return whether a module is a private reference's: no copy has it."""
    return module == private.PACKAGE or module.startswith(f"{private.PACKAGE}.")


def watched_functions(
    folder: Path, exercises: Sequence[Exercise]
) -> Mapping[str, list[str]]:
    """Return for each exercise the functions that would answer it.

    folder : the copy; what no answer needs is watched in every exercise
    """
    others = json.loads((folder / OTHERS).read_text(encoding="utf-8"))
    copied = [each for each in exercises if not is_unseen(each.reference.__module__)]
    every = [*map(_dotted, copied), *others, *ALSO_RECORDED]
    return {each.name: [*each.library] for each in exercises} | {EVERY: every}
