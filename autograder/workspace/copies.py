"""The learner's own copies of the lessons, in ``work/``.

A copy is made once and then belongs to the learner: nothing here writes over it, and
``update`` brings a newer lesson in. The lesson as the learner got it stays in
``work/.originals``: only that tells an answer from a stub later on.
"""

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from autograder.course import WORK as WORK
from autograder.course import Course, CourseError, write_atomically
from autograder.course.releases import former_names


@dataclass(frozen=True)
class Copy:
    """One lesson of a course, and the learner's copy of it.

    lesson : the lesson's folder name
    """

    course: Course
    lesson: str

    @property
    def newer(self) -> Path:
        """The lesson as the course has it now."""
        return self.course.learner(self.lesson)

    @property
    def mine(self) -> Path:
        """The learner's copy."""
        return self.course.work / self.lesson / f"{self.lesson}.ipynb"

    @property
    def base(self) -> Path:
        """The lesson as the learner got it."""
        return self.course.records / ".originals" / f"{self.lesson}.ipynb"

    def relative(self, path: Path) -> str:
        """Return a path as seen from the course folder, for messages."""
        return self.course.relative(path)

    def make(self) -> bool:
        """Make the learner's copy if there is none; return whether there was none.

        Raises ``CourseError`` if a file cannot be read or written; then the copy is
        missing, never half there.
        """
        if self.mine.exists():
            return False
        try:
            text = self.newer.read_text(encoding="utf-8")
            json.loads(text)  # half a notebook would stay in work/ for good
            # The original first: without it the copy would look like a full answer.
            write_atomically(self.base, text)
            return write_new(self.mine, text)
        except ValueError as error:
            raise CourseError(
                f"{self.relative(self.newer)} is no notebook ({error}): "
                "`attention-course` puts it back; in a clone, `make build` does"
            ) from None
        except OSError as error:
            raise self.not_written(error) from None

    def not_written(self, error: OSError) -> CourseError:
        """Return the error that the learner's copy was not written and is unchanged."""
        return CourseError(
            f"{self.relative(self.mine)} could not be written ({error.strerror}) and "
            "is as it was: mend that and call again"
        )


def open_workspace(course: Course) -> list[str]:
    """Copy each lesson that ``work/`` does not have yet; return the names of these.

    Raises ``CourseError`` if one cannot be copied.
    """
    return [lesson for lesson in course.built_lessons if Copy(course, lesson).make()]


def older_copies(course: Course) -> list[str]:
    """Return the lessons of which the learner got an older version.

    What cannot be read is left out: ``update`` says what is wrong with it.
    """
    older = []
    for lesson in course.built_lessons:
        copy = Copy(course, lesson)
        try:
            if copy.base.read_bytes() != copy.newer.read_bytes():
                older.append(lesson)
        except OSError:
            continue
    return older


def former_copies(course: Course) -> dict[str, tuple[str, ...]]:
    """Return the former names under which the learner has a copy, with their lessons.

    ``update`` brings what is in such a copy into the lessons of today.
    """
    return {
        former: lessons
        for former, lessons in former_names(course).items()
        if Copy(course, former).mine.exists()
    }


def write_new(path: Path, text: str) -> bool:
    """Write a file whole unless there is one of that name; return whether it did."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        return _name_finished(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _name_finished(temporary: Path, path: Path) -> bool:
    """Name a finished file; a link, unlike a rename, never replaces another file."""
    try:
        path.hardlink_to(temporary)
    except FileExistsError:
        return False
    except OSError:  # a file system without links
        if path.exists():
            return False
        temporary.rename(path)
    return True
