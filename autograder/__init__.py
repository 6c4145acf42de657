"""Exercises that grade themselves and name the misconception behind a wrong answer.

Lessons import ``check``, banks of exercises ``Exercise`` and ``families``.
"""

from autograder.check import CheckFailed, check
from autograder.checking import families
from autograder.checking.exercise import Exercise

__all__ = ["CheckFailed", "Exercise", "check", "families"]
