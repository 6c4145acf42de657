"""Students' folders for graded notebooks and feedback, and what may stand in them.

They are nbgrader's: ``autograded/<student>/<lesson>/`` and ``feedback/…``. What is in
the files is ``autograded``'s and ``feedback``'s work.
"""

import shutil
from collections.abc import Collection
from pathlib import Path

from autograder.course import Course, CourseError, write_atomically
from autograder.gradebook.moments import parsed
from autograder.grading.submission import TIMESTAMP
from autograder.grading.untrusted_file import shown

AUTOGRADED, FEEDBACK = "autograded", "feedback"
READ_ONLY = 0o444  # as nbgrader leaves a graded notebook


def folder_of(course: Course, step: str, lesson: str, student: str) -> Path:
    """Give a student's folder; raises ``CourseError`` for what is no folder's name."""
    if student in ("", ".", "..") or "/" in student or "\0" in student:
        raise CourseError(f"{shown(student)!r} is no name of a student's folder")
    return course.root / step / student / lesson


def graded_path(course: Course, lesson: str, student: str) -> Path:
    """Give where a student's graded notebook stands."""
    return folder_of(course, AUTOGRADED, lesson, student) / f"{lesson}.ipynb"


def write_autograded(
    course: Course, lesson: str, student: str, text: str, timestamp: str | None = None
) -> None:
    """Write a graded notebook; raises ``CourseError``, and what stood there stands.

    timestamp : when it was handed in, as ``timestamp.txt`` of the submission says

    Of the other files that were handed in none is there: formgrader would serve a page
    of the student's in the instructor's session. What is unchanged stays as it is.
    """
    path = graded_path(course, lesson, student)
    files = {path: text}
    if timestamp and parsed(timestamp):  # formgrader stops at a time it cannot read
        files[path.with_name(TIMESTAMP)] = f"{timestamp}\n"
    try:
        for place, wanted in files.items():
            if not _holds(place, wanted):
                write_atomically(place, wanted)
            place.chmod(READ_ONLY)
        clear(path.parent, keep={place.name for place in files})
    except OSError as error:
        raise CourseError(
            f"{course.relative(path)} could not be written ({error.strerror}): "
            "mend that and grade again"
        ) from None


def clear(folder: Path, keep: Collection[str]) -> None:
    """Remove what stands in a folder, but for some names. No link is followed."""
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.name in keep and path.is_file() and not path.is_symlink():
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _holds(path: Path, text: str) -> bool:
    """Say whether an ordinary file holds a text already."""
    try:
        return not path.is_symlink() and path.read_bytes() == text.encode()
    except FileNotFoundError:
        return False
