"""Exercises that grade themselves and name the mistake: what a notebook imports."""

from autograder.check import CheckFailed, check

__all__ = ["CheckFailed", "check"]
