"""A sample class, taken from release to feedback by the engine: ``autograder demo``."""
