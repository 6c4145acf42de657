"""The lessons as they are installed with the packages, and folders made of them.

A folder is made whole or not at all, and is a course folder: ``notebooks/``,
``releases.json``, ``nbgrader_config.py`` and, in ``.attention-course``, the version by
which it was made. ``work/``, beside them, is never touched here.
"""

import re
import shutil
import tempfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from autograder.course import Course, CourseError, write_atomically

PROJECT = "attention-course"
SHARED = f"share/{PROJECT}"  # where the wheel's files go, below the environment
MARK = ".attention-course"
SETTINGS, RELEASES, NOTEBOOKS = "nbgrader_config.py", "releases.json", "notebooks"
# What may lie in a folder that becomes a course: a learner's answers, from elsewhere.
LEARNERS_OWN = {"work", ".DS_Store", "Thumbs.db", "desktop.ini"}


def version() -> str:
    """Return the version that is installed, such as ``0.1.0``."""
    return metadata.version(PROJECT)


def installed_lessons() -> Path:
    """Return the folder with the lessons that belong to the installed packages.

    Raises ``CourseError`` if there is none.
    """
    clone = Path(__file__).resolve().parents[2]
    if (clone / SETTINGS).is_file() and (clone / NOTEBOOKS).is_dir():
        return clone
    for file in metadata.files(PROJECT) or ():
        if file.as_posix().endswith(f"{SHARED}/{RELEASES}"):
            return Path(str(file.locate())).resolve().parent
    raise CourseError(
        f"the lessons are not among the installed files: install {PROJECT} again, or "
        "work in a clone of its repository"
    )


@dataclass(frozen=True)
class Made:
    """What has become of a folder.

    course : the course in it
    news : what to say of it, "" if it was there and is as it was
    """

    course: Course
    news: str = ""


def open_folder(folder: Path) -> Made:
    """Return the course in a folder, which is made or brought up to date.

    A clone of the repository, or a folder made by a newer version, stays as it is.

    Raises ``CourseError`` if it holds something else, or cannot be written; then it
    is as it was.
    """
    folder = folder.expanduser().resolve()
    try:
        if (folder / SETTINGS).is_file():
            return Made(Course(folder), _bring_up_to_date(folder))
        _require_room(folder)
        return Made(_make(folder), f"The course's folder is {folder}")
    except OSError as error:
        raise CourseError(
            f"{error.filename or folder} cannot be written ({error.strerror}): nothing "
            "is half made. Choose another folder with --folder"
        ) from None


def _require_room(folder: Path) -> None:
    """Raise ``CourseError`` if a folder holds what is not a course's."""
    if folder.exists() and not folder.is_dir():
        raise CourseError(f"{folder} is a file: choose a folder with --folder")
    names = {path.name for path in folder.iterdir()} if folder.exists() else set()
    if MARK in names:  # a process that made one was killed
        names -= {MARK, NOTEBOOKS, RELEASES}
        names = {name for name in names if not name.startswith(f"{MARK}-")}
    if others := sorted(names - LEARNERS_OWN):
        raise CourseError(
            f"{folder} holds {others[0]} and is no course folder: choose an empty one, "
            "or one that does not exist yet, with --folder"
        )


def _make(folder: Path) -> Course:
    """Make a course folder; what is named last makes it one, the mark says whose it is.

    What is stopped is taken away again. What is killed is made whole at the next call.
    """
    source = installed_lessons()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        write_atomically(folder / MARK, f"{version()}\n")
        _replace(source, folder)
        settings = (source / SETTINGS).read_text(encoding="utf-8")
        write_atomically(folder / SETTINGS, settings)
    except BaseException:
        shutil.rmtree(folder / NOTEBOOKS, ignore_errors=True)
        for name in (RELEASES, MARK):
            (folder / name).unlink(missing_ok=True)
        raise
    return Course(folder)


def _bring_up_to_date(folder: Path) -> str:
    """Put newer lessons into a folder made by an older version; return what to say."""
    made_by, here = _made_by(folder), version()
    if not made_by:
        return ""  # a clone, or an instructor's own folder: theirs alone
    if _order(made_by) > _order(here):
        return (
            f"This folder was made by version {made_by}, and {here} is running: it "
            f"stays as it is. `uvx {PROJECT}@latest` or `pip install --upgrade "
            f"{PROJECT}` gets the newer one."
        )
    source = installed_lessons()
    if made_by == here and _same(source, folder):
        return ""
    _replace(source, folder)
    return f"The lessons in {folder} are those of version {here} now."


def _replace(source: Path, folder: Path) -> None:
    """Put the lessons in place, then say by which version: all of them, or none."""
    with tempfile.TemporaryDirectory(dir=folder, prefix=f"{MARK}-") as staging:
        new, old = Path(staging, "new"), Path(staging, "old")
        for path in _notebooks(source):
            target = new / path.relative_to(source / NOTEBOOKS)
            target.parent.mkdir(parents=True)
            shutil.copyfile(path, target)
        releases = (source / RELEASES).read_text(encoding="utf-8")
        if (folder / NOTEBOOKS).exists():
            (folder / NOTEBOOKS).rename(old)
        try:
            new.rename(folder / NOTEBOOKS)
        except BaseException:
            if old.exists():
                old.rename(folder / NOTEBOOKS)
            raise
    write_atomically(folder / RELEASES, releases)
    write_atomically(folder / MARK, f"{version()}\n")


def _notebooks(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"{NOTEBOOKS}/[0-9]*/*.ipynb"))


def _same(source: Path, folder: Path) -> bool:
    """Return whether a folder has the lessons of another, byte for byte."""
    theirs, ours = (
        {path.name: path.read_bytes() for path in _notebooks(each)}
        for each in (source, folder)
    )
    return theirs == ours


def _made_by(folder: Path) -> str:
    """Return the version in a folder's mark, "" if it has none."""
    try:
        return (folder / MARK).read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return ""


def _order(name: str) -> tuple[int, ...]:
    """Return what orders versions: their numbers.

    >>> _order("0.10.0") > _order("0.9.3")
    True
    """
    return tuple(int(number) for number in re.findall(r"\d+", name)[:3])
