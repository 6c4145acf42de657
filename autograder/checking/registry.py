"""Find exercises: one module of ``autograder.exercises`` each, named as its function.

What an exercise is stands in ``exercise``.
"""

import functools
import importlib
import pkgutil

from autograder import exercises
from autograder.checking.exercise import Exercise


class UnknownExercise(LookupError):
    """No module of that name among the exercises."""


@functools.cache
def exercise_names() -> tuple[str, ...]:
    """Give the names of all exercises, sorted, without importing them."""
    return tuple(sorted(module.name for module in _modules()))


def load(name: str) -> Exercise:
    """Give the exercise of that name; raises ``UnknownExercise``."""
    if name not in exercise_names():
        known = ", ".join(exercise_names())
        raise UnknownExercise(f"no exercise named {name!r}; there are: {known}")
    exercise = importlib.import_module(f"autograder.exercises.{name}").exercise
    if not isinstance(exercise, Exercise) or exercise.name != name:
        raise UnknownExercise(
            f"autograder/exercises/{name}.py must define `exercise`, an Exercise whose "
            f"reference is called {name}"
        )
    return exercise


def exercises_of(lesson: str | None = None) -> list[Exercise]:
    """Give all exercises, or those of one lesson."""
    found = [load(name) for name in exercise_names()]
    return [kept for kept in found if lesson in (None, kept.lesson)]


def _modules() -> list[pkgutil.ModuleInfo]:
    return list(pkgutil.iter_modules(exercises.__path__))
