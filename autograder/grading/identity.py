"""What a verdict depends on: the course's secret seed, and the key of stored verdicts.

The same cells, graded by the same exercises in the same environment with the same seed,
get the same verdicts; whatever else changes, nothing need be judged again.

The inputs of the cases are drawn from the seed, so that no answer can be learned by
heart. It is made once, next to the gradebook, and only its owner may read it. All
submissions have the same inputs, whenever they are graded: points tell a class a little
about them each time, and ``renew_seed`` makes that worthless.
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
from autograder.checking.registry import is_private
from autograder.course import Course, CourseError, private
from autograder.grading.release import Cell, load_all_releases

SEED_FILE = "gradebook.seed"
SEED_BEFORE = f"{SEED_FILE}.before"
SEED_BITS = 128
SEED_TEXT = re.compile(f"[0-9a-f]{{{SEED_BITS // 4}}}")  # int() would take "-5", "ab"
PACKAGES = Path(autograder.__file__).parent, Path(course_lib.__file__).parent
LOCK = PACKAGES[0].parent / "requirements.lock"
# Everything decides but what is named here: a folder that is added later does, too. So
# do figures and experiments: lessons import them, and what they import is shown.
NOT_DECIDING = frozenset(
    {
        *("autograder/adapters", "autograder/book", "autograder/commands"),
        *("autograder/dashboard", "autograder/demo", "autograder/gradebook"),
        *("autograder/notebooks", "autograder/similarity", "autograder/workspace"),
    }
)
SUFFIXES = ".py", ".json"  # of what a submission can import, or what it reads
INSTALLED = ("numpy", "torch")  # where somebody has not followed the lock


def course_seed(course: Course) -> int:
    """Return the course's seed; make it if there is none.

    Raises ``CourseError`` if the file cannot be read or written, or holds no seed.
    """
    path = course.root / SEED_FILE
    if not os.path.lexists(path):
        make_seed(path)
    return read_seed(path)


def read_seed(path: Path) -> int:
    """Return the seed in a file; raises ``CourseError`` if there is none."""
    try:
        text = path.read_text(encoding="ascii").strip()
        if not SEED_TEXT.fullmatch(text):
            raise ValueError
        return int(text, 16)
    except OSError as error:
        raise CourseError(f"{path.name} cannot be read ({error.strerror})") from None
    except ValueError:
        raise CourseError(
            f"{path.name} holds no seed: bring it back from a backup, or delete it to "
            "start anew; grades may then differ from those given before"
        ) from None


def fresh_seed() -> int:
    """Return a seed that nobody can guess."""
    return secrets.randbits(SEED_BITS)


def renew_seed(course: Course) -> None:
    """Replace the course's seed, and with it all hidden inputs; the old one is kept.

    Raises ``CourseError`` as ``course_seed`` does.
    """
    course_seed(course)  # a damaged one stays for somebody to look at
    make_seed(course.root / SEED_FILE, replace=True)


def make_seed(path: Path, *, replace: bool = False) -> None:
    """Write the file whole; where another process was quicker, its seed stands.

    replace : keeps the present one as ``SEED_BEFORE`` and takes its name
    """
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(f"{fresh_seed():0{SEED_BITS // 4}x}\n")
            if replace:
                before = path.with_name(SEED_BEFORE)
                before.unlink(missing_ok=True)
                os.link(path, before)
                Path(name).replace(path)
            else:
                with contextlib.suppress(FileExistsError):
                    os.link(name, path)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        raise CourseError(f"{path.name} cannot be made ({error.strerror})") from None


def course_version(course: Course, lesson: str) -> str:
    """Return a digest of the lesson, the exercises, the engine and the environment.

    Other machines that grade for this one must have the same.
    """
    digest = hashlib.sha256(digest_of(PACKAGES))
    _add(digest, lesson.encode(), course.learner(lesson).read_bytes())
    _add(digest, b"lock", LOCK.read_bytes() if LOCK.is_file() else b"")
    cells = load_all_releases(course, lesson).cells
    retired = {cell.exercise for cell in cells if cell.is_retired} - {""}  # no imports
    if any(map(is_private, {cell.exercise for cell in cells})):
        _add(digest, b"private", private_digest(course))
    for name in sorted(retired):  # of earlier releases; most lessons have none
        _add(digest, b"retired", name.encode())
    versions = [platform.python_version(), *map(version, INSTALLED)]
    _add(digest, b"installed", " ".join(versions).encode())
    return digest.hexdigest()


def private_digest(course: Course) -> bytes:
    """Return a digest of the private banks and references."""
    parts = private.EXERCISES, private.REFERENCES
    return digest_of(course.private / part for part in parts)


def verdict_key(
    version: str, seed: int, cells: Sequence[Cell] | None, **options: object
) -> str:
    """Return the key of the verdicts on a submission's code.

    version : the course's
    cells : None if the file could not be read
    options : further ones of the grading, such as ``isolated``
    """
    code = None
    if cells is not None:
        code = [[cell.role, cell.source, cell.exercise] for cell in cells]
    settings = sorted((name, repr(value)) for name, value in options.items())
    parts = [version, f"{seed:x}", code, settings]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def digest_of(packages: Iterable[Path]) -> bytes:
    """Return a digest of the modules that verdicts depend on.

    packages : folders of packages
    """
    digest = hashlib.sha256()
    for name, path in sorted(_sources(packages)):
        _add(digest, name.encode(), path.read_bytes())
    return digest.digest()


def _sources(packages: Iterable[Path]) -> Iterator[tuple[str, Path]]:
    """Yield the files that verdicts depend on, with their names.

    A module's name is its path, the package's folder first: ``autograder/course.py``.
    """
    for package in packages:
        for path in package.rglob("*.*"):
            if path.suffix not in SUFFIXES:
                continue
            name = path.relative_to(package.parent)
            folders = {folder.as_posix() for folder in name.parents}
            if not folders & NOT_DECIDING:
                yield name.as_posix(), path


def _add(digest: "hashlib._Hash", *parts: bytes) -> None:
    for part in parts:
        digest.update(b"%d " % len(part))
        digest.update(part)
