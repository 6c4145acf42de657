"""Lessons that a learner has from nbgrader's exchange, which lie in no course folder.

``nbgrader fetch_assignment`` and JupyterLab's Assignment List put each into a folder of
its own, most often in the learner's home. What is known of the learner's work on them
is kept beside these folders, in ``.attention-progress/``. Newer text comes from the
exchange, as the class has it; from the installed packages where there is none.
"""

import re
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError
from pathlib import Path

from autograder.course import Course, CourseError
from autograder.course.in_class import settings_texts
from autograder.workspace.installed import installed_lessons

RECORDS = ".attention-progress"
USUAL_EXCHANGE = Path("/usr/local/share/nbgrader/exchange")  # nbgrader's own
SETTING = r"^[ \t]*c\.{}[ \t]*=[ \t]*[\"'](.+?)[\"']"
EXCHANGE = re.compile(SETTING.format(r"Exchange\.root"), re.MULTILINE)
COURSE_ID = re.compile(SETTING.format(r"CourseDirectory\.course_id"), re.MULTILINE)


@dataclass(frozen=True)
class FetchedLessons(Course):
    """The lessons in a folder, each fetched into a folder of its own.

    root : the folder that holds them
    """

    @property
    def work(self) -> Path:
        """The folder with the learner's copies: these are all there is."""
        return self.root

    @property
    def records(self) -> Path:
        """The folder with what is known of the learner's work."""
        return self.root / RECORDS

    @property
    def built_lessons(self) -> list[str]:
        """Names of the lessons that are here, in order."""
        return [
            lesson
            for lesson in Course(installed_lessons()).built_lessons
            if (self.root / lesson / f"{lesson}.ipynb").is_file()
        ]

    def learner(self, lesson: str) -> Path:
        """Path of a lesson as the class has it now."""
        return _released(lesson) or Course(installed_lessons()).learner(lesson)

    def relative(self, path: Path) -> str:
        """Return a path as seen from the root, for messages; whole if it is outside."""
        if path.is_relative_to(self.root):
            return super().relative(path)
        return str(path)


def learners_course() -> Course:
    """Return the course that the current folder belongs to, or its fetched lessons.

    Raises ``CourseError`` if there is neither.
    """
    try:
        return Course.here()
    except CourseError as error:
        if fetched := fetched_lessons(Path.cwd()):
            return fetched
        raise CourseError(
            f"{error}. Lessons that were fetched from nbgrader's exchange have no such "
            "folder: change into one of theirs, or into the folder that holds them. "
            "`attention-course` makes a course folder of your own"
        ) from None


def fetched_lessons(start: Path) -> FetchedLessons | None:
    """Return the fetched lessons of which one lies in a folder, or around it.

    None inside a course folder, whoever has it: what lies there was not fetched.
    """
    with suppress(CourseError):
        Course.here(start)
        return None
    # Without lessons that are known there are none.
    with suppress(CourseError, PackageNotFoundError):
        for folder in (start.absolute(), start.absolute().parent):
            lessons = FetchedLessons(folder)
            if lessons.built_lessons:
                return lessons
    return None


def _released(lesson: str) -> Path | None:
    """Return a lesson in nbgrader's exchange, None if it is not there once."""
    texts = [*settings_texts(None)]
    roots = [match for text in texts for match in EXCHANGE.findall(text)]
    courses = [match for text in texts for match in COURSE_ID.findall(text)]
    exchange = Path(roots[0]) if roots else USUAL_EXCHANGE
    pattern = f"{courses[0] if courses else '*'}/outbound/{lesson}/{lesson}.ipynb"
    with suppress(OSError, ValueError):
        paths = [*exchange.glob(pattern)]
        return paths[0] if len(paths) == 1 else None
    return None
