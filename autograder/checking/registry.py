"""Find exercises: one module of ``autograder.exercises`` each, named as its function.

A module is imported when its exercise is loaded: ``import autograder`` needs none.
"""

import functools
import importlib
from pathlib import Path

import autograder
from autograder.checking.exercise import Exercise

FOLDER = Path(autograder.__file__).with_name("exercises")


class UnknownExercise(LookupError):
    """No module of that name among the exercises."""


@functools.cache
def exercise_names() -> tuple[str, ...]:
    """Return the names of all exercises, sorted, without importing them."""
    names = (path.stem for path in FOLDER.glob("*.py"))
    return tuple(sorted(name for name in names if name != "__init__"))


def load(name: str) -> Exercise:
    """Return the exercise of that name; raises ``UnknownExercise``."""
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
    """Return all exercises, or those of one lesson."""
    exercises = [load(name) for name in exercise_names()]
    return [each for each in exercises if lesson in (None, each.lesson)]
