"""One true sentence about wrong results that no misconception explains."""

from autograder.checking.evidence.sentence import evidence

__all__ = ["evidence"]
