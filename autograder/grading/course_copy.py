"""The part of the course that a submission may see: ``course_lib``, and a ``check``.

``course_lib`` is a copy in which the functions that the lesson grades only raise;
``autograder`` is a stub whose ``check`` does nothing. The originals are public: this
prevents their silent use, no more.
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
# The modules that describe the result of one call: the child needs them.
CALL_MODULES = ("checking/__init__.py", "checking/call.py", "checking/values.py")
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
    for folder in Path(tempfile.gettempdir()).glob("grading-*-*"):
        process = folder.name.split("-")[1]
        if process.isdecimal() and not Path("/proc", process).exists():
            shutil.rmtree(folder, ignore_errors=True)
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
    for name in CALL_MODULES:
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
    """Return a module's source in which some functions only raise.

    >>> print(without_bodies("def f(x):\\n    return x\\n", {"f"}))
    def f(x):
        raise RuntimeError("the course's own f cannot be called while f is graded")
    """
    tree = ast.parse(source)
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef) and statement.name in names:
            has_docstring = ast.get_docstring(statement, clean=False)
            docstring = statement.body[:1] if has_docstring else []
            raising = ast.parse(WITHHELD.format(name=statement.name)).body
            statement.body = [*docstring, *raising]
    return ast.unparse(tree)


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


def watched_functions(exercises: Sequence[Exercise]) -> Mapping[str, list[str]]:
    """Return for each exercise the functions that would answer it."""
    return {
        exercise.name: [
            f"{exercise.reference.__module__}.{exercise.name}",
            *exercise.library,
        ]
        for exercise in exercises
    }
