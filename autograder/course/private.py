"""The private lessons and exercises of a course: an instructor's own, in ``private/``.

That folder is laid out as the course is, and stays with whoever grades:

- ``solutions/90_name/90_name.py``: lessons' text sources, with numbers from 90 on;
- ``exercises/name.py``: the banks, found among those of ``autograder.exercises``;
- ``references/module.py``: the references, modules of ``course_lib.private``;
- ``answers/name.py``: what tests the banks;
- ``releases.json``: the releases of these lessons.

One folder at a time is in use in a process: that of the course that it works on.
"""

import re
from pathlib import Path

FOLDER = "private"
PACKAGE = "course_lib.private"
SOLUTIONS, EXERCISES, REFERENCES = "solutions", "exercises", "references"
ANSWERS = "answers"
FIRST_NUMBER = 90  # the course's own lessons stay below
NAME = re.compile(r"9\d_[a-z0-9_]+")  # of a lesson

_in_use: Path | None = None


def use(root: Path) -> None:
    """Let this process know the private exercises of a course, and no others.

    root : the course's folder
    """
    global _in_use
    path = root.resolve() / FOLDER
    # A link that leads nowhere counts: who looks for an exercise is told of it.
    _in_use = path if path.is_dir() or path.is_symlink() else None


def folder() -> Path | None:
    """Return the private folder in use, None if there is none."""
    return _in_use


def has_lesson(lesson: str) -> bool:
    """Return whether a lesson is one of the private folder in use."""
    return _in_use is not None and (_in_use / SOLUTIONS / lesson).is_dir()
