"""What a verdict depends on, as short digests: the key under which it is kept.

The same cells, graded by the same exercises in the same environment with the same seed,
get the same verdicts; whatever else changes, verdicts need not be found anew.
"""

import hashlib
import json
import platform
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

import autograder
import course_lib
from autograder.course import Course
from autograder.grading.dialogue import Cell

PACKAGE = Path(autograder.__file__).parent
LOCK = PACKAGE.parent / "requirements.lock"
DECIDING = ("*.py", "exercises/*.py", "grading/**/*.py")  # not the pages and exports
INSTALLED = ("numpy", "torch")  # where somebody has not followed the lock


def course_version(course: Course, lesson: str) -> str:
    """Give a digest of the lesson, the exercises, the engine and the environment.

    Other machines that grade for this one must have the same.
    """
    found = hashlib.sha256()
    for path in sorted(_sources()):
        _take(found, path.name.encode(), path.read_bytes())
    _take(found, lesson.encode(), course.learner(lesson).read_bytes())
    _take(found, b"lock", LOCK.read_bytes() if LOCK.is_file() else b"")
    names = [platform.python_version(), *map(version, INSTALLED)]
    _take(found, b"installed", " ".join(names).encode())
    return found.hexdigest()


def key(version: str, seed: int, cells: Sequence[Cell] | None, **ways: object) -> str:
    """Give the key of the verdicts on a submission's code.

    version : the course's
    cells : None if the file could not be read
    ways : how it is graded, besides
    """
    given = [version, f"{seed:x}", cells, sorted((k, repr(v)) for k, v in ways.items())]
    return hashlib.sha256(json.dumps(given).encode()).hexdigest()


def _sources() -> Iterator[Path]:
    for pattern in DECIDING:
        yield from PACKAGE.glob(pattern)
    yield from Path(course_lib.__file__).parent.rglob("*.py")


def _take(found: "hashlib._Hash", *parts: bytes) -> None:
    for part in parts:
        found.update(b"%d " % len(part))
        found.update(part)
