"""Small lessons and exercises that exist only in a test."""

import textwrap
from pathlib import Path

from autograder.checking.exercise import Exercise
from autograder.course import Course

LESSON = "90_test"
MODULE = "course_lib.synthetic"
TOP = """\
# %% [markdown]
# # A lesson
#
# After this lesson you can test.

# %%
import numpy as np
"""
DOUBLE = '''\
def double(x):
    """Give twice a number.

    x : any number
    """
    # a comment below the contract
    secret = 2
    return secret * x
'''
TWICE_DOUBLE = '''\
def quadruple(x: np.ndarray) -> np.ndarray:
    """Give four times a number."""
    return double(double(x))
'''


def exercise_from(folder: Path, text: str, name: str, **about) -> Exercise:
    """Make an exercise of a function's text, as if course_lib held it."""
    path = folder / f"{name}_reference.py"
    path.write_text(text, encoding="utf-8")
    names = {"__name__": MODULE}
    exec("import numpy as np, functools, math", names)
    exec(compile(text, path, "exec"), names)
    weights = about.pop("weights", (2, 1))
    about = {"lesson": LESSON, "minutes": 5, "difficulty": 2} | about
    exercise = Exercise(names[name], **about)
    for number, weight in enumerate(weights):

        def case(student, rng):
            """Claim nothing."""

        case.__name__ = f"case_{number}"
        exercise.case("A claim", weight=weight)(case)
    return exercise


class Registry:
    """Stands in for the exercises that ``autograder.notebooks.source`` finds."""

    def __init__(self, folder: Path, monkeypatch) -> None:
        self.folder = folder
        self.exercises: dict[str, Exercise] = {}
        monkeypatch.setattr(
            "autograder.notebooks.source.exercise_names", lambda: [*self.exercises]
        )
        monkeypatch.setattr(
            "autograder.notebooks.source.load", lambda name: self.exercises[name]
        )

    def add(self, text: str, name: str, **about) -> Exercise:
        self.exercises[name] = exercise_from(self.folder, text, name, **about)
        return self.exercises[name]


def exercise_cells(name: str) -> str:
    """Return heading, exercise and check as a lesson's source has them."""
    return textwrap.dedent(
        f"""
        # %% [markdown]
        # ### Exercise: {name}
        #
        # Write it.

        # %%
        from {MODULE} import {name}  # exercise

        # %%
        check({name})
        """
    )


def write_lesson(root: Path, text: str, lesson: str = LESSON) -> Path:
    path = Course(root).source(lesson)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
