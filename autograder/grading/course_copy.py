"""The part of the course that a submission may see: ``course_lib``, and a ``check``.

``course_lib`` is a copy in which the functions that the lesson grades have no body any
more; ``autograder`` is a stub whose ``check`` does nothing. The originals are public:
this keeps them from being used silently, no more.
"""

import ast
import inspect
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import autograder
import course_lib
from autograder.checking.exercise import Exercise

OWN = Path(__file__).parent
COURSE_LIB = Path(course_lib.__file__).parent
# The modules that say what one call gave: the child describes outcomes with them.
OUTCOMES = ("checking/__init__.py", "checking/call.py", "checking/values.py")
WITHHELD = (
    "raise RuntimeError('the course\\'s own {name} cannot be called while {name} is "
    "graded')"
)
STUB = '''"""What a lesson imports from the grader. Grading happens elsewhere."""


class CheckFailed(AssertionError):
    """Never raised here."""


def check(answer=None):
    """Do nothing: the answer is judged outside."""
'''


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """Make a folder for ``make_copy``; remove those of graders that were killed."""
    for left in Path(tempfile.gettempdir()).glob("grading-*-*"):
        process = left.name.split("-")[1]
        if process.isdecimal() and not Path("/proc", process).exists():
            shutil.rmtree(left, ignore_errors=True)
    return tempfile.TemporaryDirectory(prefix=f"grading-{os.getpid()}-")


def make_copy(folder: Path, exercises: Sequence[Exercise]) -> None:
    """Write the engine's inner part and the course's visible part into a folder.

    folder : gets ``engine/inside``, ``course/autograder`` and ``course/course_lib``
    exercises : those that are graded
    """
    skip = shutil.ignore_patterns("__pycache__")
    shutil.copytree(OWN / "inside", folder / "engine" / "inside", ignore=skip)
    stub = folder / "course" / "autograder"
    (stub / "checking").mkdir(parents=True)
    (stub / "__init__.py").write_text(STUB, encoding="utf-8")
    for name in OUTCOMES:
        shutil.copy(Path(autograder.__file__).parent / name, stub / name)
    target = folder / "course" / "course_lib"
    shutil.copytree(COURSE_LIB, target, ignore=skip)
    withheld: dict[Path, set[str]] = {}
    for exercise in exercises:
        source = Path(inspect.getfile(exercise.reference))
        if source.is_relative_to(COURSE_LIB):
            names = withheld.setdefault(source.relative_to(COURSE_LIB), set())
            names.add(exercise.name)
    for path, names in withheld.items():
        text = (target / path).read_text(encoding="utf-8")
        (target / path).write_text(without_bodies(text, names), encoding="utf-8")


def without_bodies(source: str, names: set[str]) -> str:
    """Give a module's source in which some functions only raise.

    >>> print(without_bodies("def f(x):\\n    return x\\n", {"f"}))
    def f(x):
        raise RuntimeError("the course's own f cannot be called while f is graded")
    """
    tree = ast.parse(source)
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef) and statement.name in names:
            written = ast.get_docstring(statement, clean=False)
            raising = ast.parse(WITHHELD.format(name=statement.name)).body
            kept = statement.body[:1] if written else []
            statement.body = [*kept, *raising]
    return ast.unparse(tree)


def modules_of(setup: Sequence[str]) -> list[str]:
    """Give the modules that a lesson's own cells import: the warm parent has them.

    >>> modules_of(["import numpy as np\\nfrom course_lib import figures"])
    ['course_lib', 'course_lib.figures', 'numpy']
    """
    found: set[str] = set()
    for text in setup:
        for statement in ast.walk(ast.parse(text)):
            if isinstance(statement, ast.Import):
                found |= {alias.name for alias in statement.names}
            elif isinstance(statement, ast.ImportFrom) and statement.module:
                found.add(statement.module)
                found |= _submodules(statement)
    return sorted(found - {"autograder", "__future__"})


def _submodules(statement: ast.ImportFrom) -> set[str]:
    if statement.module != "course_lib":
        return set()
    return {f"course_lib.{alias.name}" for alias in statement.names}


def watched(exercises: Sequence[Exercise]) -> Mapping[str, list[str]]:
    """Give for each exercise the functions that would answer it."""
    return {
        exercise.name: [
            f"{exercise.reference.__module__}.{exercise.name}",
            *exercise.library,
        ]
        for exercise in exercises
    }
