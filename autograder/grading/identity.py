"""What a verdict depends on, as short digests: the key under which it is kept.

The same cells, graded by the same exercises in the same environment with the same seed,
get the same verdicts; whatever else changes, verdicts need not be found anew.
"""

import contextlib
import hashlib
import json
import os
import platform
import re
import secrets
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

import autograder
import course_lib
from autograder.course import Course, CourseError
from autograder.grading.release import Cell

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


PACKAGES = Path(autograder.__file__).parent, Path(course_lib.__file__).parent
LOCK = PACKAGES[0].parent / "requirements.lock"
# Everything decides but what is named here: a folder that is added later does, too.
NOT_DECIDING = frozenset(
    {
        *("autograder/commands", "autograder/dashboard", "autograder/demo"),
        *("autograder/gradebook", "autograder/notebooks", "autograder/workspace"),
        *("course_lib/corpora", "course_lib/experiments", "course_lib/figures"),
    }
)
INSTALLED = ("numpy", "torch")  # where somebody has not followed the lock


def course_version(course: Course, lesson: str) -> str:
    """Give a digest of the lesson, the exercises, the engine and the environment.

    Other machines that grade for this one must have the same.
    """
    found = hashlib.sha256(digest_of(PACKAGES))
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
    code = cells and [[cell.role, cell.source, cell.exercise] for cell in cells]
    given = [version, f"{seed:x}", code, sorted((k, repr(v)) for k, v in ways.items())]
    return hashlib.sha256(json.dumps(given).encode()).hexdigest()


def digest_of(packages: Iterable[Path]) -> bytes:
    """Return a digest of the modules that verdicts depend on.

    packages : folders of packages
    """
    digest = hashlib.sha256()
    for name, path in sorted(_sources(packages)):
        _take(digest, name.encode(), path.read_bytes())
    return digest.digest()


def _sources(packages: Iterable[Path]) -> Iterator[tuple[str, Path]]:
    """Yield the modules that verdicts depend on: their names and their files.

    A module's name is its path, the package's folder first: ``autograder/course.py``.
    """
    for package in packages:
        for path in package.rglob("*.py"):
            name = path.relative_to(package.parent)
            folders = {folder.as_posix() for folder in name.parents}
            if not folders & NOT_DECIDING:
                yield name.as_posix(), path


def _take(found: "hashlib._Hash", *parts: bytes) -> None:
    for part in parts:
        found.update(b"%d " % len(part))
        found.update(part)


# MERGED autograder.grading.seed: The course's secret seed: made once, beside the gradebook, readable by its owner.
#
#   The inputs of the cases are drawn from it, so that no answer can be learned by heart,
#   and the same submission gets the same verdicts for ever.
#
