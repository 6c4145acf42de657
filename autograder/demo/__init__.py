"""A sample class, graded from release to feedback: ``autograder demo``."""
