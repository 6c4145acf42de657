"""Where the time of one submission goes, and what the engine's process grows by.

One engine in a process of its own, as a worker has it, grades the class several times;
of these rounds the one with the median time is told. An empty session (a child that is
forked, runs no cell and ends) is timed with and without isolation in turns; what
isolation costs is the difference of the medians.
"""

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from unittest.mock import patch

import psutil

from autograder.course import Course
from autograder.demo.sample_class import LESSON
from autograder.grading import classroom
from autograder.grading.budget import Budget
from autograder.grading.engine import Engine
from autograder.grading.identity import course_seed
from autograder.grading.session import Session

ROUNDS = 5  # of the whole class
FORKS = 20  # after each round, with isolation and as many without
EARLY = 10  # submissions after which memory is read first
MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Stages:
    """Milliseconds of one submission: means over a class; forks are medians.

    reading : reading the file and rebuilding the notebook
    fork : of an empty session, with its end, not isolated
    isolation : what an empty session takes longer if it is isolated
    cells : running the cells, and what the child's end takes longer after them
    call_count, calls : calls of answers, and their time, as the judge waits for it
    judging : the rest: cases, diagnoses, reports
    memory : MB of the engine's process after ``EARLY`` submissions and after all
    parent : MB of the warm parent, the same
    """

    submissions: int
    reading: float
    fork: float
    isolation: float
    cells: float
    call_count: float
    calls: float
    judging: float
    whole: float
    memory: tuple[float, float]
    parent: tuple[float, float]


def measure(course: Course, rounds: int = ROUNDS) -> Stages:
    """Measure on a class's folder, in so many rounds."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(_measure, course.root, rounds).result()


def _handed_in(course: Course) -> list[Path]:
    students = classroom.chosen_students(course, LESSON)
    return [classroom.submission_path(course, LESSON, student) for student in students]


@dataclass
class _Clock:
    seconds: float = 0.0
    count: int = 0

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **keywords: Any) -> Any:
            start = time.perf_counter()
            try:
                return function(*arguments, **keywords)
            finally:
                self.seconds += time.perf_counter() - start
                self.count += 1

        return timed


@dataclass(frozen=True)
class _Round:
    """One round of the class: the means of a submission, in milliseconds."""

    whole: float
    reading: float
    entering: float
    calls: float
    ends: float
    call_count: float


def _measure(root: Path, count: int) -> Stages:
    course = Course(root)
    todo = _handed_in(course)
    seed = course_seed(course)
    with (
        Engine(course, LESSON, seed=seed) as engine,
        Engine(course, LESSON, seed=seed, isolation="none", worker=1) as bare,
    ):
        for path in todo[:EARLY]:
            engine.grade(path, path.parents[1].name)
        early = _memory(engine)
        rounds, forks = [], []
        for _ in range(count):
            rounds.append(_round(engine, todo))
            forks += [(_empty(bare), _empty(engine)) for _ in range(FORKS)]
        late = _memory(engine)
    alone, isolated = (statistics.median(times) for times in zip(*forks, strict=True))
    rounds.sort(key=lambda each: each.whole)
    usual = rounds[count // 2]  # a machine that is stopped for a while spoils one
    known = usual.reading + usual.entering + usual.ends + usual.calls
    return Stages(
        submissions=EARLY + count * len(todo),
        reading=usual.reading,
        fork=alone,
        isolation=isolated - alone,
        cells=usual.entering + usual.ends - isolated,
        call_count=usual.call_count,
        calls=usual.calls,
        judging=usual.whole - known,
        whole=usual.whole,
        memory=(early[0], late[0]),
        parent=(early[1], late[1]),
    )


def _round(engine: Engine, todo: Sequence[Path]) -> _Round:
    with _clocks() as (calls, ends):
        times = [engine.grade(path, path.parents[1].name)[1] for path in todo]
    whole, reading, entering = (
        1000 * statistics.fmean(each[name] for each in times)
        for name in ("all", "reading", "cells")
    )
    count = len(todo)
    called, ended = 1000 * calls.seconds / count, 1000 * ends.seconds / count
    return _Round(whole, reading, entering, called, ended, calls.count / count)


@contextmanager
def _clocks() -> Iterator[tuple[_Clock, _Clock]]:
    """Time all calls of answers, and the ends of all sessions."""
    calls, ends = _Clock(), _Clock()
    with (
        patch.object(Session, "call", calls.around(Session.call)),
        patch.object(Session, "__exit__", ends.around(Session.__exit__)),
    ):
        yield calls, ends


def _empty(engine: Engine) -> float:
    """Return the milliseconds of an empty session."""
    start = time.perf_counter()
    with Session(engine.sandbox, [], Budget()):
        pass
    return 1000 * (time.perf_counter() - start)


def _memory(engine: Engine) -> tuple[float, float]:
    """Return the MB that the engine's process and the warm parent hold."""
    behind = psutil.Process(engine.sandbox.process)
    family = [behind, *behind.children(recursive=True)]
    parent = max(process.memory_info().rss for process in family)
    return psutil.Process().memory_info().rss / MEGABYTE, parent / MEGABYTE
