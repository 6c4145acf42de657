"""How long ``nbgrader autograde`` takes by itself, in a process that is warm already.

nbgrader grades one student after another. A process of its own does so here, which has
imported nbgrader and graded a student before any second is counted, so neither its
start nor its first steps are held against it. What is counted is the converter that
``nbgrader autograde`` runs, on several students in one call.
"""

import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from autograder.course import Course
from autograder.demo.sample_class import LESSON
from tests.benchmarks import sample
from tests.plain_nbgrader import steps
from tests.plain_nbgrader.process import process

FIRST = "the-first"  # a student whose grading is not counted


class Nbgrader:
    """nbgrader in a process of its own.

    log : what it says
    """

    def __init__(self, pool: ProcessPoolExecutor, log: Path) -> None:
        self._pool = pool
        self._log = log

    def prepare(self, course: Course, folder: Path, change: sample.Change) -> None:
        """Release a changed lesson in a new folder, with the class's submissions."""
        sample.lesson_folder(course, folder, change)
        self._pool.submit(steps.release, folder, LESSON).result()
        students = sample.once()
        first = replace(students[0], name=FIRST)
        sample.hand_in(folder, [first, *students])
        self.autograde(folder, FIRST)

    def autograde(self, folder: Path, names: str) -> float:
        """Grade the students whose names match; give how many that is per second.

        Raises ``RuntimeError`` if nbgrader could not grade one of them.
        """
        seconds = self._pool.submit(_autograde, folder, names).result()
        submitted = {path.name for path in (folder / "submitted").glob(names)}
        graded = {path.name for path in (folder / "autograded").glob(names)}
        if not submitted or submitted - graded:
            lost = ", ".join(sorted(submitted - graded)) or names
            raise RuntimeError(f"nbgrader graded no {lost}: {self._log} says why")
        return len(submitted) / seconds


@contextmanager
def nbgrader(log: Path) -> Iterator[Nbgrader]:
    """Start the process and end it.

    log : the file that gets what nbgrader and its kernels print
    """
    with process(log) as pool:
        yield Nbgrader(pool, log)


def _autograde(folder: Path, names: str) -> float:
    """Return the seconds that nbgrader takes, without imports and configuration."""
    converter = steps.autograder(folder, LESSON, names)
    start = time.perf_counter()
    converter.start()
    return time.perf_counter() - start
