"""nbgrader's two ways to grade, called in one process that stays warm.

What grades then is what the folder's ``nbgrader_config.py`` says: the engine, as in the
course's own, or with ``by_itself`` nbgrader and its kernels.
"""

import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from autograder.course import Course
from autograder.demo.sample_class import LESSON
from autograder.gradebook.database import Gradebook
from tests.plain_nbgrader.process import process

BY_ITSELF = """
c.Autograde.exporter_class = "nbconvert.exporters.NotebookExporter"
"""


def open_lesson(course: Course) -> None:
    """Enter the lesson into a folder's gradebook: nbgrader grades nothing else."""
    Gradebook(course).open_lesson(LESSON)


def by_itself(course: Course) -> None:
    """Remove the engine of a folder's configuration."""
    path = course.root / "nbgrader_config.py"
    path.write_text(path.read_text(encoding="utf-8") + BY_ITSELF, encoding="utf-8")


class WarmNbgrader:
    """nbgrader in a process of its own.

    log : what it says
    """

    def __init__(self, pool: ProcessPoolExecutor, log: Path) -> None:
        self._pool = pool
        self._log = log

    def autograde(self, course: Course, names: str) -> float:
        """Grade the students whose names match, in one call; give its seconds.

        Raises ``RuntimeError`` if nbgrader could not grade one of them.
        """
        seconds = self._pool.submit(_autograde, course.root, names).result()
        submitted = {path.name for path in (course.root / "submitted").glob(names)}
        graded = {path.name for path in (course.root / "autograded").glob(names)}
        if not submitted or submitted - graded:
            raise self._fault(", ".join(sorted(submitted - graded)) or names)
        return seconds

    def click(self, course: Course, student: str) -> float:
        """Do what formgrader's button does for one student; give its seconds."""
        seconds = self._pool.submit(_click, course.root, student).result()
        if seconds is None:
            raise self._fault(student)
        return seconds

    def close(self, course: Course) -> None:
        """End what grades for a folder; the next call starts it again."""
        self._pool.submit(_close, course.root).result()

    def _fault(self, names: str) -> RuntimeError:
        return RuntimeError(f"nbgrader graded no {names}: {self._log} says why")


@contextmanager
def warm_nbgrader(log: Path) -> Iterator[WarmNbgrader]:
    """Start the process and end it.

    log : the file that gets what nbgrader and its kernels print
    """
    with process(log) as pool:
        yield WarmNbgrader(pool, log)


def _config(folder: Path) -> Any:
    from traitlets.config import PyFileConfigLoader

    config = PyFileConfigLoader("nbgrader_config.py", path=str(folder)).load_config()
    config.CourseDirectory.root = str(folder)
    return config


def _autograde(folder: Path, names: str) -> float:
    from nbgrader.converters import Autograde  # nbgrader: two seconds of imports
    from nbgrader.coursedir import CourseDirectory

    config = _config(folder)
    config.CourseDirectory.assignment_id = LESSON
    config.CourseDirectory.student_id = names
    converter = Autograde(coursedir=CourseDirectory(config=config), config=config)
    start = time.perf_counter()
    converter.start()
    return time.perf_counter() - start


def _click(folder: Path, student: str) -> float | None:
    from nbgrader.apps.api import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory

    config = _config(folder)  # formgrader has read it when it was started
    api = NbGraderAPI(CourseDirectory(config=config), config=config)
    start = time.perf_counter()
    result = api.autograde(LESSON, student)
    return time.perf_counter() - start if result["success"] else None


def _close(folder: Path) -> None:
    from autograder.gradebook.service import service

    service(folder).close()
