"""How a learner goes on: by what a solved exercise makes possible, or without it."""

import functools
import tomllib

from autograder.checking.exercise import Exercise
from autograder.checking.registry import FOLDER

SENTENCES = "makes_possible.toml"


@functools.cache
def _sentences() -> dict[str, str]:
    text = (FOLDER / SENTENCES).read_text(encoding="utf-8")
    return tomllib.loads(text)


def makes_possible(name: str) -> str:
    """Return a sentence on what an exercise's answer makes possible, "" without one.

    The sentences stand together, in the lessons' order, beside the exercises.
    """
    sentence = _sentences().get(name, "")
    return "" if sentence.startswith("TODO") else sentence


def course_version(exercise: Exercise) -> str:
    """Return the line that imports the course's own version of an answer."""
    return f"from {exercise.reference.__module__} import {exercise.name}"
