"""Students' folders for graded notebooks and feedback, and which files may be there.

They are nbgrader's: ``autograded/<student>/<lesson>/`` and ``feedback/…``. What is in
the files is the work of ``autograded`` and ``feedback``.
"""

import shutil
from collections.abc import Collection
from pathlib import Path

from autograder.course import Course, CourseError, write_atomically
from autograder.gradebook.lateness import parse_timestamp
from autograder.grading.reading import printable_name
from autograder.grading.submission import TIMESTAMP

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
    course: Course, lesson: str, student: str, text: str, timestamp: str | None = None
) -> None:
    """Write a graded notebook; raises ``CourseError``, and the old one stays.

    timestamp : when it was handed in, as ``timestamp.txt`` of the submission says

    - No other file that was handed in is kept: formgrader would serve a student's page
      in the instructor's session.
    - A file that would not change is not written.
    """
    path = autograded_path(course, lesson, student)
    files = {path: text}
    if timestamp and parse_timestamp(timestamp):  # formgrader stops at what is no time
        files[path.with_name(TIMESTAMP)] = f"{timestamp}\n"
    try:
        for file, content in files.items():
            if not _holds(file, content):
                write_atomically(file, content)
            file.chmod(READ_ONLY)
        clear_folder(path.parent, keep={file.name for file in files})
    except OSError as error:
        raise CourseError(
            f"{course.relative(path)} could not be written ({error.strerror}): "
            "mend that and grade again"
        ) from None


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
