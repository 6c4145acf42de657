"""One true sentence about wrong results that no misconception explains."""

from autograder.checking.evidence.ignored import ignored_arguments
from autograder.checking.evidence.sentence import evidence

__all__ = ["evidence", "ignored_arguments"]
