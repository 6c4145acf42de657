"""A course's folder: its parts, its releases, and what learners get of its code."""

from autograder.course.folder import (
    NO_NOTEBOOK,
    SETTINGS,
    WORK,
    Course,
    CourseError,
    output_file,
    write_atomically,
    write_lines,
    write_together,
)

__all__ = [
    "NO_NOTEBOOK",
    "SETTINGS",
    "WORK",
    "Course",
    "CourseError",
    "output_file",
    "write_atomically",
    "write_lines",
    "write_together",
]
