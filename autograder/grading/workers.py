"""Processes that grade in parallel, each with an engine of its own.

A worker that dies costs nothing: its submission is graded again by a new one. What took
too long while others ran is tried once more at the end, alone.
"""

import contextlib
import itertools
import multiprocessing
import signal
import socket
import threading
import traceback
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import NamedTuple, Protocol

from autograder.checking.registry import load
from autograder.course import Course, CourseError
from autograder.grading import course_copy
from autograder.grading.budget import Budget, TimedOutOnce
from autograder.grading.engine import Engine, sandbox_of
from autograder.grading.inside.isolation import Isolation, Limits
from autograder.grading.judging import Times
from autograder.grading.release import Cell, Release, load_all_releases
from autograder.grading.result import CodeResult
from autograder.grading.sandbox import NoSandbox, Sandbox, SandboxFailure

MAX_DEATHS = 2  # of workers over one submission, until it is given up
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

    @property
    def isolation(self) -> Isolation:
        """What keeps submissions apart."""
        return "namespaces" if self.isolated else "none"


@dataclass(frozen=True)
class GradingTask:
    """One submission's code to judge.

    student : who has handed it in, the first if there are several
    key : under which its verdicts are stored
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
    """A task's verdicts, or why the grader itself failed."""

    task: GradingTask
    code_result: CodeResult | None
    times: Times
    fault: str = ""


class Folders(NamedTuple):
    """The course's folder, and the copy of it that sandboxes show."""

    root: Path
    copy: Path


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


@dataclass
class _Worker:
    """A worker's process, and the task that it works on."""

    process: Process
    task: GradingTask | None = None


class Workers:
    """Runs tasks in several processes; ends them however it is left."""

    def __init__(self, course: Course, settings: Settings) -> None:
        """Store what is graded, and how; nothing starts yet."""
        self.course = course
        self.settings = settings
        self._workers: dict[Connection, _Worker] = {}
        self._started = 0
        self._worked = False
        # Of this process, not of a worker: one that is killed cannot clean up.
        self._folder = course_copy.temporary_folder()
        self._sandbox: Sandbox | None = None
        self._sharing = True

    def __enter__(self) -> "Workers":
        """Return the workers; each process starts with its first task."""
        return self

    def __exit__(self, *_: object) -> None:
        """End all processes; their sandboxes end with them."""
        for worker in self._workers.values():
            worker.process.terminate()
        for connection, worker in self._workers.items():
            worker.process.join(5)
            worker.process.kill()
            connection.close()
        if self._sandbox:
            self._sandbox.__exit__()
        self._folder.cleanup()

    def each(self, tasks: Iterable[GradingTask]) -> Iterator[GradingTaskResult]:
        """Yield results in the order in which they finish; slow tasks come last.

        tasks : taken one by one, a little before they are needed
        """
        slow: list[GradingTask] = []
        yield from self._grade(iter(tasks), slow, self.settings.jobs)
        yield from self._grade(iter(slow), [], 1)

    def _grade(
        self, tasks: Iterator[GradingTask], slow: list[GradingTask], jobs: int
    ) -> Iterator[GradingTaskResult]:
        """Yield results; ``slow`` gets the tasks that are to be tried again alone."""
        queue: deque[GradingTask] = deque()
        while True:
            queue.extend(itertools.islice(tasks, max(0, jobs - len(queue))))
            while queue and self._n_busy() < jobs:
                self._send(queue.popleft())
            if not self._n_busy():
                return
            queue.extend(itertools.islice(tasks, max(0, jobs - len(queue))))
            results = []
            for connection in wait(self._busy()):
                assert isinstance(connection, Connection)
                results.append(self._receive(connection, queue))
                if queue and self._n_busy() < jobs:  # before the result is used
                    self._send(queue.popleft())
            for result in filter(None, results):
                if result.fault == TimedOutOnce.__name__:
                    slow.append(replace(result.task, last_try=True, deaths=0))
                else:
                    yield result

    def _busy(self) -> list[Connection]:
        return [c for c, worker in self._workers.items() if worker.task is not None]

    def _n_busy(self) -> int:
        return len(self._busy())

    def _send(self, task: GradingTask) -> None:
        idle = [c for c, worker in self._workers.items() if worker.task is None]
        connection = idle[0] if idle else self._start()
        self._workers[connection].task = task
        with contextlib.suppress(OSError):  # a dead one is noticed when its answer ends
            connection.send(task)

    def _receive(
        self, connection: Connection, queue: deque[GradingTask]
    ) -> GradingTaskResult | None:
        """Return a worker's result; if it has died, put its task back."""
        worker = self._workers[connection]
        task = worker.task
        assert task is not None
        try:
            result = connection.recv()
        except (EOFError, OSError):
            result = None
        if isinstance(result, GradingTaskResult):
            self._worked = True
            worker.task = None
            return result
        # Where others have worked, only this one fails: memory may be short.
        if result and not (self._worked and isinstance(result, NoSandbox)):
            raise self._sandbox.fault(result) if self._sandbox else result
        self._sharing = False
        del self._workers[connection]
        connection.close()
        worker.process.join()
        if task.deaths < MAX_DEATHS:
            queue.appendleft(replace(task, deaths=task.deaths + 1))
            return None
        reason = result or worker.process.exitcode
        return GradingTaskResult(task, None, {}, f"the grader died ({reason})")

    def _start(self) -> Connection:
        """Start a worker; return the connection to it."""
        folders = Folders(self.course.root, Path(self._folder.name))
        if not self._started:
            release = load_all_releases(self.course, self.settings.lesson)
            exercises = [load(name) for name in release.exercises]
            course_copy.make_copy(
                folders.copy, exercises, release.own_code, release.set_up
            )
            self._sandbox = self._start_sandbox(release, folders)
        own, theirs = SPAWN.Pipe()
        process = self._start_process(theirs, folders)
        theirs.close()
        self._started += 1
        self._workers[own] = _Worker(process)
        return own

    def _start_sandbox(self, release: Release, folders: Folders) -> Sandbox | None:
        """Start the warm parent that the workers share, before they import anything.

        Once a worker has died, new ones start their own: whatever was wrong with it,
        or with the parent, is not theirs.
        """
        sandbox = sandbox_of(
            self.course,
            release,
            folders.copy,
            isolation=self.settings.isolation,
            limits=self.settings.limits,
            children=self.settings.jobs,
        )
        sandbox.start()
        return sandbox

    def _start_process(self, theirs: Connection, folders: Folders) -> Process:
        """Start a process that works; on a Dask worker it is one of another kind."""
        shared = self._sandbox.share() if self._sandbox and self._sharing else None
        arguments = theirs, folders, self.settings, self._started, shared
        process = SPAWN.Process(target=work, args=arguments, daemon=True)
        with interrupts_ignored():  # inherited: Ctrl-C is for this process only
            process.start()
        if shared:
            shared.close()
        return process


@contextlib.contextmanager
def interrupts_ignored() -> Iterator[None]:
    """Ignore Ctrl-C for a while."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set signals
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def work(
    connection: Connection,
    folders: Folders,
    settings: Settings,
    number: int,
    shared: socket.socket | None = None,
) -> None:
    """Grade each task that arrives: the body of a worker's process.

    number : differs between workers that run at the same time
    shared : connection to a warm parent; without, this process starts its own
    """
    try:
        with Engine(
            Course(folders.root),
            settings.lesson,
            folder=folders.copy,
            isolation=settings.isolation,
            budget=settings.budget,
            limits=settings.limits,
            seed=settings.seed,
            worker=number,
            control=shared,
        ) as engine:
            while connection.poll(settings.idle):
                connection.send(_judged(engine, connection.recv()))
    except (EOFError, ConnectionError, KeyboardInterrupt):  # the other end is closed
        return
    except SandboxFailure as error:  # a new worker gets a new sandbox, and this task
        raise SystemExit(f"a sandbox had to be given up: {error}") from None
    except CourseError as error:
        connection.send(type(error)(str(error)))


def _judged(engine: Engine, task: GradingTask) -> GradingTaskResult:
    try:
        code_result, times = engine.judge(task.cells, last_try=task.last_try)
    except TimedOutOnce:
        return GradingTaskResult(task, None, {}, TimedOutOnce.__name__)
    except (CourseError, SandboxFailure):
        raise
    except Exception:
        return GradingTaskResult(task, None, {}, traceback.format_exc())
    return GradingTaskResult(task, code_result, times)
