"""The learner's own copies of the lessons, in ``work/``.

A copy is made once and then belongs to the learner: nothing here writes over it. How a
newer lesson comes in is ``autograder.workspace.update``'s work. The lesson as the learner got it
stays in ``work/.originals``: only that tells an answer from a stub later on.
"""

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from autograder.course import CourseError, write_atomically

WORK = "work"


@dataclass(frozen=True)
class Copy:
    """One lesson of a course folder, and the learner's copy of it.

    root : the course folder
    lesson : the lesson's folder name
    """

    root: Path
    lesson: str

    @property
    def newer(self) -> Path:
        """The lesson as the course has it now."""
        return self.root / "notebooks" / self.lesson / f"{self.lesson}.ipynb"

    @property
    def mine(self) -> Path:
        """The learner's copy."""
        return self.root / WORK / self.lesson / f"{self.lesson}.ipynb"

    @property
    def base(self) -> Path:
        """The lesson as the learner got it."""
        return self.root / WORK / ".originals" / f"{self.lesson}.ipynb"

    def name(self, path: Path) -> str:
        """Give a path as seen from the course folder, for messages."""
        return path.relative_to(self.root).as_posix()

    def make(self) -> bool:
        """Make the learner's copy if there is none. Says whether there was none.

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
                f"{self.name(self.newer)} is no notebook ({error}): run `make build` "
                "to make it anew"
            ) from None
        except OSError as error:
            raise self.not_written(error) from None

    def not_written(self, error: OSError) -> CourseError:
        """Say that the learner's copy could not be written and is as it was."""
        return CourseError(
            f"{self.name(self.mine)} could not be written ({error.strerror}) and is as "
            "it was: mend that and call again"
        )


def built_lessons(root: Path) -> list[str]:
    """Names of the lessons that have a learner's notebook, in order."""
    found = root.glob("notebooks/[0-9]*/*.ipynb")
    return sorted(path.stem for path in found if path.stem == path.parent.name)


def open_workspace(root: Path) -> list[str]:
    """Give the learner a copy of each lesson that ``work/`` does not have yet.

    root : the course folder

    Returns the names of the lessons copied. Raises ``CourseError`` if one cannot be.
    """
    return [lesson for lesson in built_lessons(root) if Copy(root, lesson).make()]


def write_new(path: Path, text: str) -> bool:
    """Write a file whole, unless there is one of that name. Says whether it did."""
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
    """Give a finished file its name; a link, unlike a rename, never replaces one."""
    try:
        path.hardlink_to(temporary)
    except FileExistsError:
        return False
    except OSError:  # a file system without links
        if path.exists():
            return False
        temporary.rename(path)
    return True
