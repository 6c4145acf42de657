"""Students' folders for graded notebooks and feedback, and what may stand in them.

They are nbgrader's: ``autograded/<student>/<lesson>/`` and ``feedback/…``. What is in
the files is ``autograded``'s and ``feedback``'s work.
"""

import re
import shutil
import warnings
from collections.abc import Collection
from datetime import datetime, timedelta
from pathlib import Path

from autograder.course import Course, CourseError, write_atomically
from autograder.grading.reading import shown
from autograder.grading.submission import TIMESTAMP

LONGEST = 64  # characters of a moment's text
USUAL = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{6})?)(?: UTC)?", re.ASCII)
EPOCH = datetime(1970, 1, 1)  # from which SQLAlchemy counts what it writes of durations
TWO_DAYS = (datetime(2000, 1, 1), datetime(2001, 2, 2))


def parsed(text: str) -> datetime | None:
    """Read a timestamp as nbgrader's ``parse_utc`` does; None if it is none.

    Unlike there, a text that names no whole day is none: with today's date for what is
    missing, the same submission would be late on one day and not on another.

    >>> parsed("2026-03-01T12:00:00+01:00")
    datetime.datetime(2026, 3, 1, 11, 0)
    >>> parsed("yesterday")
    """
    text = text.strip()
    if not text or len(text) > LONGEST:
        return None
    try:
        if usual := USUAL.fullmatch(text):
            return datetime.fromisoformat(usual[1])
        return _freely_parsed(text)
    except Exception:  # dateutil raises all sorts of things over a stranger's text
        return None


def _freely_parsed(text: str) -> datetime | None:
    import dateutil.parser  # type: ignore[import-untyped]  # it comes without types
    import dateutil.tz  # type: ignore[import-untyped]  # the same

    zone: object = None
    parts = text.split(" ")
    if len(parts) == 3:
        text, name = f"{parts[0]} {parts[1]} TZ", parts[2]
        if re.fullmatch(r"[+-]?\d+", name):
            zone = int(name)  # seconds, whatever was meant: formgrader compares
        elif name[0].isalpha() and ".." not in name:  # it would open any file
            zone = dateutil.tz.gettz(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of zones that it does not know
        one, other = (
            dateutil.parser.parse(text, tzinfos={"TZ": zone}, default=day)
            for day in TWO_DAYS
        )
    if one != other:
        return None
    shift = one.utcoffset()
    return one if shift is None else (one - shift).replace(tzinfo=None)


def stored(moment: datetime) -> str:
    """Give a moment as SQLAlchemy writes it into SQLite."""
    return moment.isoformat(" ", "microseconds")


def seconds_late(
    handed_in: str | None, due: str | None, extension: str | None
) -> float:
    """Give how much too late something is, from the texts in the database."""
    if not handed_in or not due:
        return 0.0
    longer = datetime.fromisoformat(extension) - EPOCH if extension else timedelta()
    late = datetime.fromisoformat(handed_in) - datetime.fromisoformat(due) - longer
    return max(0.0, late.total_seconds())


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


# MERGED autograder.gradebook.moments: When something was handed in: texts from outside, and as nbgrader's database has it.
#
#   All moments are UTC without saying so, as nbgrader keeps them.
#
