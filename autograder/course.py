"""Where things are in a course folder, and writing files so that none is left half done.

Nothing here knows what is inside a notebook.
"""

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path


class CourseError(Exception):
    """Something about the course's folder or sources that its user can put right."""


@dataclass(frozen=True)
class Course:
    """A course folder.

    root : the folder that holds ``solutions`` and ``notebooks``
    """

    root: Path

    @classmethod
    def here(cls, start: Path | None = None) -> "Course":
        """Find the course folder that the current folder lies in."""
        place = (start or Path.cwd()).resolve()
        for folder in (place, *place.parents):
            if (folder / "nbgrader_config.py").is_file():
                return cls(folder)
        raise CourseError(
            f"{place} is not inside a course folder (one with nbgrader_config.py): "
            "change into the course's folder and call again"
        )

    @property
    def lessons(self) -> list[str]:
        """Names of all lessons that have a text source, in order."""
        return sorted(path.stem for path in self.root.glob("solutions/[0-9]*/*.py"))

    def source(self, lesson: str) -> Path:
        """Path of a lesson's text source."""
        return self.root / "solutions" / lesson / f"{lesson}.py"

    def teacher(self, lesson: str) -> Path:
        """Path of a lesson's teacher's notebook."""
        return self.root / "solutions" / lesson / f"{lesson}.ipynb"

    def learner(self, lesson: str) -> Path:
        """Path of a lesson's learner's notebook, the original."""
        return self.root / "notebooks" / lesson / f"{lesson}.ipynb"

    def relative(self, path: Path) -> str:
        """Give a path as seen from the root, for messages."""
        return path.relative_to(self.root).as_posix()

    def require(self, lesson: str) -> str:
        """Give back a lesson's name; raises ``CourseError`` if there is none."""
        if lesson not in self.lessons:
            known = ", ".join(self.lessons) or "none yet"
            raise CourseError(f"no lesson named {lesson!r}; there are: {known}")
        return lesson


def write_atomically(path: Path, text: str) -> None:
    """Write a text file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
