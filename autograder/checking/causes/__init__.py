"""What an exception means, in a sentence or two with the learner's own names."""

from autograder.checking.causes.of_exceptions import cause_of

__all__ = ["cause_of"]
