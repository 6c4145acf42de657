"""Find exercises: one module of ``autograder.exercises`` each, named as its function.

A module is imported when its exercise is loaded: ``import autograder`` needs none. An
instructor's private exercises are found in the folder that ``course.private`` has in
use, as modules of the same package, and their references as modules of
``course_lib.private``, a package that no file makes.
"""

import functools
import importlib
import linecache
import sys
import traceback
from pathlib import Path
from types import ModuleType

import autograder
from autograder.checking.edits import EditError
from autograder.checking.exercise import Exercise
from autograder.course import CourseError, private

FOLDER = Path(autograder.__file__).with_name("exercises")
BANKS = "autograder.exercises"
PUBLIC_BANKS = "autograder/exercises"
PRIVATE_BANKS = f"{private.FOLDER}/{private.EXERCISES}"


class UnknownExercise(LookupError):
    """No module of that name among the exercises."""


@functools.cache
def public_names() -> tuple[str, ...]:
    """Return the names of the course's own exercises, sorted; none is imported."""
    return tuple(sorted(_modules_in(FOLDER)))


def private_names() -> tuple[str, ...]:
    """Return the names of the private exercises, sorted; none is imported.

    Raises ``CourseError`` if the private folder is a link that leads nowhere.
    """
    folder = private.folder()
    if folder is None:
        return ()
    if not folder.is_dir():
        raise CourseError(
            f"{private.FOLDER} leads to {folder.readlink()}, and no folder is there: "
            "bring it back, or remove the link"
        )
    return tuple(sorted(_modules_in(folder / private.EXERCISES)))


def exercise_names() -> tuple[str, ...]:
    """Return the names of all exercises, sorted, without importing them."""
    return tuple(sorted({*public_names(), *private_names()}))


def is_private(name: str) -> bool:
    """Return whether an exercise is an instructor's private one."""
    return name in private_names()


def bank_file(name: str) -> str:
    """Return the path of an exercise's bank, below the course's folder."""
    return f"{PRIVATE_BANKS if is_private(name) else PUBLIC_BANKS}/{name}.py"


def load(name: str) -> Exercise:
    """Return the exercise of that name; raises ``UnknownExercise``.

    Of a private one, all that is wrong with its modules is a ``CourseError``.
    """
    if is_private(name):
        return _load_private(name)
    if name not in public_names():
        known = ", ".join(exercise_names())
        raise UnknownExercise(f"no exercise named {name!r}; there are: {known}")
    exercise = importlib.import_module(f"{BANKS}.{name}").exercise
    if not isinstance(exercise, Exercise) or exercise.name != name:
        raise UnknownExercise(
            f"{bank_file(name)} must define `exercise`, an Exercise whose "
            f"reference is called {name}"
        )
    return exercise


def exercises_of(lesson: str | None = None) -> list[Exercise]:
    """Return all exercises of the course, or those of one lesson.

    Private ones are returned for their own lesson alone.
    """
    is_private_lesson = lesson is not None and private.has_lesson(lesson)
    names = private_names() if is_private_lesson else public_names()
    exercises = [load(name) for name in names]
    return [each for each in exercises if lesson in (None, each.lesson)]


def _modules_in(folder: Path) -> list[str]:
    return [path.stem for path in folder.glob("*.py") if path.stem != "__init__"]


# Private exercises


def _load_private(name: str) -> Exercise:
    file = bank_file(name)
    if name in public_names():
        raise CourseError(
            f"{file}:1: the course has an exercise {name!r} too, in "
            f"{PUBLIC_BANKS}/{name}.py: give yours another name"
        )
    _make_importable()
    try:
        module = importlib.import_module(f"{BANKS}.{name}")
    except Exception as error:
        raise import_fault(file, error) from None
    exercise = getattr(module, "exercise", None)
    if not isinstance(exercise, Exercise) or exercise.name != name:
        raise CourseError(
            f"{file}:1: it must define `exercise`, an Exercise whose reference is "
            f"called {name}"
        )
    if not private.NAME.fullmatch(exercise.lesson):
        raise CourseError(
            f"{file}:{_line_with(module, 'lesson=')}: {exercise.lesson!r} is no "
            "private lesson: a private exercise belongs to one, of a number from "
            f"{private.FIRST_NUMBER} on"
        )
    return exercise


def _make_importable() -> None:
    """Let private banks and references be imported, and forget another folder's."""
    folder = private.folder()
    assert folder is not None  # or there would be no private exercise
    banks, references = (
        str(folder / each) for each in (private.EXERCISES, private.REFERENCES)
    )
    package = sys.modules.get(private.PACKAGE)
    if package is not None and package.__path__ == [references]:
        return
    paths = importlib.import_module(BANKS).__path__
    del paths[1:]
    for each in [*sys.modules]:
        module, _, bank = each.rpartition(".")
        is_bank = module == BANKS and bank not in public_names()
        if is_bank or each == private.PACKAGE or module == private.PACKAGE:
            del sys.modules[each]
    paths.append(banks)
    parent, _, own = private.PACKAGE.rpartition(".")
    package = ModuleType(private.PACKAGE, "References of private exercises.")
    package.__path__ = [references]
    sys.modules[private.PACKAGE] = package
    setattr(importlib.import_module(parent), own, package)
    importlib.invalidate_caches()


def _line_with(module: ModuleType, text: str) -> int:
    """Return the number of the first row of a module that holds a text."""
    rows = linecache.getlines(module.__file__ or "")
    return next((number for number, row in enumerate(rows, 1) if text in row), 1)


def import_fault(file: str, error: Exception) -> CourseError:
    """Return the error that a file cannot be imported, with the line that stops it.

    file : its path below the course's folder; where what it imports from the private
        folder is at fault, that is named
    """
    frames = [(each.filename, each.lineno or 1) for each in _frames(error)]
    if isinstance(error, SyntaxError) and error.filename:
        frames.append((error.filename, error.lineno or 1))
    folder = private.folder()
    own = [(file, *each) for each in frames if each[0].endswith(file)]
    if folder:
        inner = folder.resolve()
        own += [
            (f"{private.FOLDER}/{path.relative_to(inner).as_posix()}", name, line)
            for name, line in frames
            if (path := Path(name).resolve()).is_relative_to(inner)
        ]
    file, name, line = own[-1] if own else (file, "", 1)
    if isinstance(error, EditError) and error.row:
        rows = enumerate(linecache.getlines(name), 1)
        below = (n for n, row in rows if n > line and row.startswith(error.row))
        line = next(below, line)
    what = f"{type(error).__name__}: {error}"
    return CourseError(f"{file}:{line}: cannot be imported: {what}{_remedy(error)}")


def _frames(error: Exception) -> traceback.StackSummary:
    return traceback.extract_tb(error.__traceback__)


def _remedy(error: Exception) -> str:
    """Return where a reference that is missing has to be written."""
    name = getattr(error, "name", None) or ""
    if not isinstance(error, ImportError) or not name.startswith(f"{private.PACKAGE}."):
        return ""
    module = name.removeprefix(f"{private.PACKAGE}.")
    return f": write it in {private.FOLDER}/{private.REFERENCES}/{module}.py"
