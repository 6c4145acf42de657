"""Exercises that grade themselves and name the misconception behind a wrong answer.

Lessons import ``check``, banks of exercises ``Exercise``, ``families`` and
``standard_cases``.
"""

from autograder.checking import families, standard_cases
from autograder.checking.exercise import Exercise
from autograder.grammars import compile_when_asked
from autograder.in_notebook.check import CheckFailed, check

__all__ = ["CheckFailed", "Exercise", "check", "families", "standard_cases"]

compile_when_asked()
