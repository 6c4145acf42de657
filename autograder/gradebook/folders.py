"""Students' folders for graded notebooks and feedback, and which files may be there.

They are nbgrader's: ``autograded/<student>/<lesson>/`` and ``feedback/…``. What is in
the files is the work of ``autograded`` and ``feedback``.
"""

import shutil
from collections.abc import Collection
from pathlib import Path

from autograder.course import Course, CourseError, write_atomically
from autograder.gradebook.lateness import parse_timestamp
from autograder.grading.reading import Unreadable, printable_name, read_bytes
from autograder.grading.submission import (
    MAX_TIMESTAMP_BYTES,
    SECRET,
    TIMESTAMP,
    read_secret,
)

AUTOGRADED, FEEDBACK = "autograded", "feedback"
READ_ONLY = 0o444  # as nbgrader leaves a graded notebook


def student_folder(course: Course, step: str, lesson: str, student: str) -> Path:
    """Return a student's folder; raises ``CourseError`` for no folder's name."""
    if student in ("", ".", "..") or "/" in student or "\0" in student:
        raise CourseError(
            f"{printable_name(student)!r} is no name of a student's folder: take one "
            "of submitted/"
        )
    return course.root / step / student / lesson


def autograded_path(course: Course, lesson: str, student: str) -> Path:
    """Return the path of a student's graded notebook."""
    return student_folder(course, AUTOGRADED, lesson, student) / f"{lesson}.ipynb"


def write_autograded(
    course: Course,
    lesson: str,
    student: str,
    text: str | None,
    timestamp: str | None = None,
    secret: str = "",
) -> None:
    """Write a graded notebook; raises ``CourseError``, and the old one stays.

    text : None if the notebook is there and stays as it is
    timestamp : when it was handed in, as ``timestamp.txt`` of the submission says
    secret : what nbgrader's exchange calls its feedback by, "" if there is none

    - No other file that was handed in is kept: formgrader would serve a student's page
      in the instructor's session.
    - A file that would not change is not written.
    """
    path = autograded_path(course, lesson, student)
    files = {} if text is None else {path: text}
    if timestamp and parse_timestamp(timestamp):  # formgrader stops at what is no time
        files[path.with_name(TIMESTAMP)] = f"{timestamp}\n"
    if secret:
        files[path.with_name(SECRET)] = secret
    try:
        for file, content in files.items():
            if not _holds(file, content):
                write_atomically(file, content)
            file.chmod(READ_ONLY)
        clear_folder(path.parent, keep={path.name, *(file.name for file in files)})
    except OSError as error:
        raise CourseError(
            f"{course.relative(path)} could not be written ({error.strerror}): "
            "mend that and grade again"
        ) from None


def copy_for_exchange(course: Course, lesson: str, student: str) -> None:
    """Put beside a feedback page what ``nbgrader release_feedback`` asks for.

    It is that of the graded submission: a later one may be collected already.
    """
    graded = student_folder(course, AUTOGRADED, lesson, student)
    trusted_root = course.root / AUTOGRADED
    try:
        raw = read_bytes(graded / TIMESTAMP, trusted_root, MAX_TIMESTAMP_BYTES)
    except Unreadable:
        raw = b""
    for name, text in (
        (TIMESTAMP, raw.decode("utf-8", "replace")),
        (SECRET, read_secret(graded, trusted_root)),
    ):
        path = student_folder(course, FEEDBACK, lesson, student) / name
        if text:
            write_atomically(path, text)
        else:
            path.unlink(missing_ok=True)


def _holds(path: Path, text: str) -> bool:
    """Return whether an ordinary file holds a text already."""
    try:
        return not path.is_symlink() and path.read_bytes() == text.encode()
    except FileNotFoundError:
        return False


def clear_folder(folder: Path, keep: Collection[str]) -> None:
    """Remove all files and folders but those of some names. No link is followed."""
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.name in keep and path.is_file() and not path.is_symlink():
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
