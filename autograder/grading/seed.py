"""The course's secret seed: made once, beside the gradebook, readable by its owner.

The inputs of the cases are drawn from it, so that no answer can be learned by heart,
and the same submission gets the same verdicts for ever.
"""

import contextlib
import os
import re
import secrets
import tempfile
from pathlib import Path

from autograder.course import Course, CourseError

NAME = "gradebook.seed"
BITS = 128
WRITTEN = re.compile(f"[0-9a-f]{{{BITS // 4}}}")  # int() would take "-5" and "ab"


def course_seed(course: Course) -> int:
    """Give the course's seed, and make it if there is none.

    Raises ``CourseError`` if the file cannot be read or written, or holds no seed.
    """
    path = course.root / NAME
    if not os.path.lexists(path):
        _make(path)
    try:
        text = path.read_text(encoding="ascii").strip()
        if not WRITTEN.fullmatch(text):
            raise ValueError
        return int(text, 16)
    except OSError as error:
        raise CourseError(f"{NAME} cannot be read ({error.strerror})") from None
    except ValueError:
        raise CourseError(
            f"{NAME} holds no seed: bring it back from a backup, or delete it to start "
            "anew; grades may then differ from those given before"
        ) from None


def _make(path: Path) -> None:
    """Write the file whole; where another process was quicker, its seed stands."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{NAME}.")
        try:
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(f"{secrets.randbits(BITS):0{BITS // 4}x}\n")
            with contextlib.suppress(FileExistsError):
                os.link(name, path)
        finally:
            Path(name).unlink()
    except OSError as error:
        raise CourseError(f"{NAME} cannot be made ({error.strerror})") from None
