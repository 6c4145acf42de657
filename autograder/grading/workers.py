"""Processes that grade beside each other, each with an engine of its own.

A worker that dies costs nothing: its submission is graded again by a new one. What took
too long while others ran is tried once more at the end, alone.
"""

import contextlib
import itertools
import multiprocessing
import signal
import threading
import traceback
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Protocol

from autograder.checking.registry import load
from autograder.course import Course, CourseError
from autograder.grading import course_copy
from autograder.grading.engine import Budget, Engine, Limits, TimedOutOnce
from autograder.grading.judging import Times
from autograder.grading.release import Cell, load_release
from autograder.grading.result import CodeResult
from autograder.grading.sandbox import NoSandbox, SandboxFailure

MOST_DEATHS = 2  # of workers over one submission, until it is given up
SPAWN = multiprocessing.get_context("spawn")  # a fork would copy torch's threads


@dataclass(frozen=True)
class Settings:
    """How a class is graded.

    jobs : how many submissions at a time
    isolated : False is ``--no-sandbox``
    idle : seconds without work after which a worker's process ends; None: never
    """

    lesson: str
    seed: int
    jobs: int = 1
    isolated: bool = True
    budget: Budget = field(default_factory=Budget)
    limits: Limits = field(default_factory=Limits)
    idle: float | None = None


@dataclass(frozen=True)
class GradingTask:
    """One submission's code to judge.

    student : who has handed it in, the first if there are several
    key : what its verdicts are kept under
    cells : see ``Engine.judge``
    last_try : whether a timeout counts
    deaths : how many workers have died over it
    """

    student: str
    key: str
    cells: Sequence[Cell] | None
    last_try: bool = False
    deaths: int = 0


@dataclass(frozen=True)
class GradingTaskResult:
    """What came of a task: verdicts, or why the grader itself failed."""

    task: GradingTask
    judged: CodeResult | None
    times: Times
    fault: str = ""


class Process(Protocol):
    """What is asked of a worker's process."""

    @property
    def exitcode(self) -> int | None:
        """Its exit code, or its signal's number below 0; None while it runs."""

    def join(self, timeout: float | None = None) -> None:
        """Wait until it has ended, or the seconds are over."""

    def terminate(self) -> None:
        """Ask it to end."""

    def kill(self) -> None:
        """End it."""


class Workers:
    """Runs tasks in several processes; ends them however it is left."""

    def __init__(self, course: Course, settings: Settings) -> None:
        """Say what is graded, how; nothing starts yet."""
        self.course = course
        self.settings = settings
        self._running: dict[Connection, tuple[Process, GradingTask | None]] = {}
        self._started = 0
        self._worked = False
        # Of ours, not of a worker's: one that is killed cannot tidy up.
        self._folder = course_copy.temporary_folder()

    def __enter__(self) -> "Workers":
        """Give the workers; each process starts with its first task."""
        return self

    def __exit__(self, *_: Any) -> None:
        """End all processes; their sandboxes end with them."""
        for process, _task in self._running.values():
            process.terminate()
        for connection, (process, _task) in self._running.items():
            process.join(5)
            process.kill()
            connection.close()
        self._folder.cleanup()

    def each(self, tasks: Iterable[GradingTask]) -> Iterator[GradingTaskResult]:
        """Grade; give results as they come. Those that took too long come last.

        tasks : taken one by one, a little before they are needed
        """
        slow: list[GradingTask] = []
        yield from self._batch(iter(tasks), slow, self.settings.jobs)
        yield from self._batch(iter(slow), [], 1)

    def _batch(
        self, tasks: Iterator[GradingTask], slow: list[GradingTask], most: int
    ) -> Iterator[GradingTaskResult]:
        left: deque[GradingTask] = deque()
        while True:
            left.extend(itertools.islice(tasks, max(0, most - len(left))))
            while left and self._busy() < most:
                self._give(left.popleft())
            if not self._busy():
                return
            left.extend(itertools.islice(tasks, max(0, most - len(left))))
            found = []
            for connection in wait(self._answering()):
                assert isinstance(connection, Connection)
                found.append(self._take(connection, left))
                if left and self._busy() < most:  # before anybody looks at the answer
                    self._give(left.popleft())
            for done in filter(None, found):
                if done.fault == TimedOutOnce.__name__:
                    slow.append(replace(done.task, last_try=True, deaths=0))
                else:
                    yield done

    def _answering(self) -> list[Connection]:
        return [c for c, (_, task) in self._running.items() if task is not None]

    def _busy(self) -> int:
        return len(self._answering())

    def _give(self, task: GradingTask) -> None:
        idle = [c for c, (_, current) in self._running.items() if current is None]
        connection = idle[0] if idle else self._start()
        self._running[connection] = self._running[connection][0], task
        with contextlib.suppress(OSError):  # a dead one is noticed when its answer ends
            connection.send(task)

    def _take(
        self, connection: Connection, left: deque[GradingTask]
    ) -> GradingTaskResult | None:
        """Take a worker's answer; if it has died, put its task back."""
        process, task = self._running[connection]
        assert task is not None
        try:
            done = connection.recv()
        except (EOFError, OSError):
            done = None
        if isinstance(done, GradingTaskResult):
            self._worked = True
            self._running[connection] = process, None
            return done
        # Where others have worked, what fails is this one: memory may be short.
        if done and not (self._worked and isinstance(done, NoSandbox)):
            raise done
        del self._running[connection]
        connection.close()
        process.join()
        if task.deaths < MOST_DEATHS:
            left.appendleft(replace(task, deaths=task.deaths + 1))
            return None
        return GradingTaskResult(
            task, None, {}, f"the grader died ({done or process.exitcode})"
        )

    def _start(self) -> Connection:
        if not self._started:
            exercises = map(
                load, load_release(self.course, self.settings.lesson).exercises
            )
            course_copy.make_copy(Path(self._folder.name), [*exercises])
        own, theirs = SPAWN.Pipe()
        process = self._process(theirs, (self.course.root, Path(self._folder.name)))
        theirs.close()
        self._started += 1
        self._running[own] = process, None
        return own

    def _process(self, theirs: Connection, place: tuple[Path, Path]) -> Process:
        """Start a process that works; on a Dask worker it is one of another kind."""
        arguments = theirs, place, self.settings, self._started
        process = SPAWN.Process(target=_work, args=arguments, daemon=True)
        with deaf():  # inherited: Ctrl-C is ours to answer
            process.start()
        return process


@contextlib.contextmanager
def deaf() -> Iterator[None]:
    """Ignore Ctrl-C for a while."""
    if threading.current_thread() is not threading.main_thread():
        yield  # nobody else may set signals
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _work(
    connection: Connection, place: tuple[Path, Path], settings: Settings, number: int
) -> None:
    """Grade what comes until nothing does: the body of a worker's process.

    place : the course's folder, and the one that sandboxes show
    """
    try:
        with _engine(*place, settings, number) as engine:
            while connection.poll(settings.idle):
                connection.send(_graded(engine, connection.recv()))
    except (EOFError, ConnectionError, KeyboardInterrupt):  # nobody listens any more
        return
    except (
        SandboxFailure
    ) as error:  # a new worker gets a new sandbox, and this task again
        raise SystemExit(f"a sandbox had to be given up: {error}") from None
    except CourseError as error:
        connection.send(type(error)(str(error)))


def _engine(root: Path, folder: Path, settings: Settings, number: int) -> Engine:
    return Engine(
        Course(root),
        settings.lesson,
        folder=folder,
        isolated=settings.isolated,
        budget=settings.budget,
        limits=settings.limits,
        seed=settings.seed,
        worker=number,
    )


def _graded(engine: Engine, task: GradingTask) -> GradingTaskResult:
    try:
        judged = engine.judge(task.cells, last_try=task.last_try)
    except TimedOutOnce:
        return GradingTaskResult(task, None, {}, TimedOutOnce.__name__)
    except (CourseError, SandboxFailure):
        raise
    except Exception:
        return GradingTaskResult(task, None, {}, traceback.format_exc())
    return GradingTaskResult(task, *judged)
