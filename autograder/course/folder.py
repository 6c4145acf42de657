"""Where things are in a course folder, and writing files so that none is half done.

Nothing here knows what is inside a notebook.
"""

import difflib
import itertools
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.course import private

NO_NOTEBOOK = "there is no lesson in notebooks/ yet: run `make build`, then call again"
NO_SOURCE = (
    "there is no lesson yet: write solutions/NN_name/NN_name.py, then call again"
)
WORK = "work"
SETTINGS = "nbgrader_config.py"  # what makes a folder a course's
OF_STUDENTS = ("submitted", "autograded", "feedback")  # folders of a course


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
        """Return the course whose folder the current folder, or ``start``, lies in.

        Its private exercises, if it has some, are those that this process knows.
        """
        current = (start or Path.cwd()).resolve()
        folders = [
            folder
            for folder in (current, *current.parents)
            if (folder / SETTINGS).is_file()
        ]
        for index, folder in enumerate(folders):
            # What a student hands in may look like a course, whose settings are run.
            outer = folders[index + 1 :]
            if not any(folder.relative_to(o).parts[0] in OF_STUDENTS for o in outer):
                private.use(folder)
                return cls(folder)
        raise CourseError(
            f"{current} is not inside a course folder (one with nbgrader_config.py): "
            "change into the course's folder and call again"
        )

    @property
    def work(self) -> Path:
        """The folder with the learner's own copies of the lessons."""
        return self.root / WORK

    @property
    def records(self) -> Path:
        """The folder with what is known of the learner's work."""
        return self.work

    @property
    def private(self) -> Path:
        """The folder with an instructor's own lessons, if there is one."""
        return self.root / private.FOLDER

    @property
    def lessons(self) -> list[str]:
        """Names of all lessons, in order: folders with a text source of that name."""
        return [*self.public_lessons, *self.private_lessons]

    @property
    def public_lessons(self) -> list[str]:
        """Names of the lessons that everybody may have, in order."""
        return self._lessons_in(self.root)

    @property
    def private_lessons(self) -> list[str]:
        """Names of the instructor's own lessons, in order."""
        lessons = self._lessons_in(self.private)
        for lesson in lessons:
            file = self.relative(self.source(lesson))
            if not private.NAME.fullmatch(lesson):
                raise CourseError(
                    f"{file}:1: {lesson} cannot be a private lesson's name: take a "
                    f"number from {private.FIRST_NUMBER} on, such as 90_exam"
                )
            if (self.root / private.SOLUTIONS / lesson).is_dir():
                raise CourseError(
                    f"{file}:1: the course has a lesson {lesson} too, in "
                    f"{private.SOLUTIONS}/{lesson}: give yours another name"
                )
        return lessons

    def _lessons_in(self, folder: Path) -> list[str]:
        sources = sorted(folder.glob(f"{private.SOLUTIONS}/[0-9]*/*.py"))
        lessons = [path.stem for path in sources if path.stem == path.parent.name]
        for path in sources:
            if path.parent.name not in lessons:
                raise CourseError(
                    f"{self.relative(path)} is no lesson's source: in that folder it "
                    f"must be called {path.parent.name}.py"
                )
        return lessons

    def is_private(self, lesson: str) -> bool:
        """Return whether a lesson is one of the instructor's own."""
        return (self.private / private.SOLUTIONS / lesson).is_dir()

    @property
    def built_lessons(self) -> list[str]:
        """Names of the lessons that have a learner's notebook, in order."""
        notebooks = self.root.glob("notebooks/[0-9]*/*.ipynb")
        return sorted(path.stem for path in notebooks if path.stem == path.parent.name)

    def find_lesson(self, name: str, *, built: bool = False) -> str:
        """Return the lesson that a name means.

        name : its number ("1" or "01"), the beginning of its name or all of it
        built : search the learners' notebooks, not the text sources

        Raises ``CourseError`` if that means no lesson or several, or if there is none.
        """
        lessons = self.built_lessons if built else self.lessons
        if not lessons:
            raise CourseError(NO_NOTEBOOK if built else NO_SOURCE)
        if name in lessons:
            return name
        if name.isdecimal():
            matches = [each for each in lessons if _number(each) == int(name)]
        else:
            matches = [each for each in lessons if name and each.startswith(name)]
        if len(matches) > 1:
            raise CourseError(
                f"{name!r} may be {' or '.join(matches)}: write more of the name"
            )
        if not matches:
            close = difflib.get_close_matches(name, lessons, n=1)
            meant = f" (do you mean {close[0]}?)" if close else ""
            raise CourseError(
                f"no lesson named {name!r}{meant}; there are: {', '.join(lessons)}"
            )
        return matches[0]

    def source(self, lesson: str) -> Path:
        """Path of a lesson's text source."""
        return self._solution(lesson) / f"{lesson}.py"

    def teacher(self, lesson: str) -> Path:
        """Path of a lesson's teacher's notebook."""
        return self._solution(lesson) / f"{lesson}.ipynb"

    def _solution(self, lesson: str) -> Path:
        above = self.private if self.is_private(lesson) else self.root
        return above / private.SOLUTIONS / lesson

    def learner(self, lesson: str) -> Path:
        """Path of a lesson's learner's notebook, the original."""
        return self.root / "notebooks" / lesson / f"{lesson}.ipynb"

    def relative(self, path: Path) -> str:
        """Return a path as seen from the root, for messages."""
        return path.relative_to(self.root).as_posix()


def _number(lesson: str) -> int:
    """Return the number that a lesson's name begins with."""
    return int("".join(itertools.takewhile(str.isdecimal, lesson)))


def output_file(path: Path) -> Path:
    """Return the file that a user has named for output, behind all links.

    Raises ``CourseError`` for what exists and is no file: a folder, a device.
    """
    if path.exists() and not path.is_file():
        what = "a folder" if path.is_dir() else "no ordinary file"
        raise CourseError(f"{path} is {what}: name a file, and call again")
    return Path(os.path.realpath(path))


def write_atomically(path: Path, text: str, *, mode: int = 0o644) -> None:
    """Write a text file whole or not at all."""
    write_lines(path, [text], end="", mode=mode)


def write_lines(
    path: Path, lines: Iterable[str], end: str = "\n", *, mode: int = 0o644
) -> None:
    """Write a text file whole or not at all, with no more than a line in memory."""
    new = _staged(path, (f"{line}{end}" for line in lines), mode)
    try:
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def write_together(texts: Mapping[Path, str | bytes]) -> None:
    """Write files, all of them whole or none: after an error the old ones stand.

    texts : path to content
    """
    new: dict[Path, Path] = {}
    old: dict[Path, Path] = {}
    try:
        for path, text in texts.items():
            new[path] = _staged(path, [text])
            if path.exists():
                old[path] = _unnamed(path)
                shutil.copy2(path, old[path])
        _replace_all(new, old)
    finally:
        for temporary in [*new.values(), *old.values()]:
            temporary.unlink(missing_ok=True)


def _replace_all(new: Mapping[Path, Path], old: Mapping[Path, Path]) -> None:
    """Rename all staged files, or none. Renaming back needs no room on the disk."""
    try:
        for path, temporary in new.items():
            temporary.replace(path)
    except BaseException:
        for path, temporary in new.items():
            if path in old:
                old[path].replace(path)
            elif not temporary.exists():
                path.unlink(missing_ok=True)
        raise


def _unnamed(path: Path) -> Path:
    """Make an empty file beside the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    return Path(name)


def _staged(path: Path, parts: Iterable[str | bytes], mode: int = 0o644) -> Path:
    """Write content to an unnamed file beside the path, all the way to the disk."""
    temporary = _unnamed(path)
    try:
        with temporary.open("wb") as file:
            for part in parts:
                file.write(part if isinstance(part, bytes) else part.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(mode)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary
