"""What runs on a Dask worker: a class's tasks, given to warm graders of its own.

What is sent here, and when, is in ``cluster``. Nothing here raises: Dask writes into
logs what a task that fails was called with.
"""

import contextlib
import os
import pickle
import platform
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from importlib.metadata import version
from multiprocessing.connection import Connection
from pathlib import Path

from autograder.course import Course, CourseError
from autograder.grading import workers
from autograder.grading.identity import LOCK, course_version
from autograder.grading.workers import (
    GradingTask,
    GradingTaskResult,
    Process,
    Settings,
    Workers,
)

START = (
    "import sys; from autograder.grading import cluster_grader; "
    "cluster_grader.serve(int(sys.argv[1]))"
)
NUMBERS = 16  # of engines on a machine, each with users of its own for its children
NAME = "\0attention-course-grader-{}"  # without a file: the kernel gives it back


class PlainProcess(subprocess.Popen[bytes]):
    """A process, with the names that ``multiprocessing`` has for what one can do."""

    @property
    def exitcode(self) -> int | None:
        """Its exit code, or its signal's number below 0; None while it runs."""
        return self.poll()

    def join(self, timeout: float | None = None) -> None:
        """Wait until it has ended, or the seconds are over."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(timeout)
            assert self.stdin is not None
            self.stdin.close()


def start(
    theirs: Connection, place: tuple[Path, Path], settings: workers.Settings
) -> PlainProcess:
    """Start a process that grades what comes through a connection until it ends.

    theirs : the process's end of it
    place : see ``workers._work``
    """
    end = theirs.fileno()
    process = PlainProcess(
        [sys.executable, "-c", START, str(end)],
        bufsize=0,
        stdin=subprocess.PIPE,
        pass_fds=[end],
        start_new_session=True,  # Ctrl-C is for the Dask worker, and this ends with it
    )
    assert process.stdin is not None
    with contextlib.suppress(OSError):  # dead already: noticed when no answer comes
        process.stdin.write(pickle.dumps((place, settings)))  # no argument: a secret
    return process


def serve(end: int) -> None:
    """Be such a process, until nobody listens any more.

    end : number of the connection's file
    """
    place, settings = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_end_with_the_worker, daemon=True).start()
    with own_number() as number:
        workers._work(Connection(end), place, settings, number)


def _end_with_the_worker() -> None:
    """End in the middle of whatever is graded once the Dask worker has ended.

    Its end of our input is closed then. The sandbox ends with this process.
    """
    os.read(0, 1)
    os._exit(1)


@contextlib.contextmanager
def own_number() -> Iterator[int]:
    """Give a number that no other process has that grades beside a Dask worker here.

    With more than ``NUMBERS`` of them, some have the same.
    """
    with socket.socket(socket.AF_UNIX) as held:
        for number in range(NUMBERS):
            with contextlib.suppress(OSError):
                held.bind(NAME.format(number))
                break
        else:
            number = os.getpid() % NUMBERS
        yield number


FOLDER = "ATTENTION_COURSE"  # names the course's folder if it is not the current one
LOADED = time.time()  # this worker's code is as it was then
FORGOTTEN = 120.0  # seconds without a question after which a client counts as gone


@dataclass(frozen=True)
class GradingRun:
    """What a worker must know to grade a class as its client would.

    run : names one run of one client
    version : the course's
    traits : what that consists of, as far as a sentence about a difference needs it
    """

    run: str
    version: str
    traits: dict[str, str]
    settings: Settings


@dataclass(frozen=True)
class ChunkResult:
    """What came of some tasks.

    worker : address of the one that answers
    slow : those that took too long, to be tried once more
    left : those to which nothing happened, since the worker refused
    refusal : why it refused to go on, "" if it did not
    """

    worker: str
    done: list[GradingTaskResult] = field(default_factory=list)
    slow: list[GradingTask] = field(default_factory=list)
    left: list[GradingTask] = field(default_factory=list)
    refusal: str = ""


def grade(sent: bytes) -> ChunkResult:
    """Grade tasks on this worker.

    sent : what ``packed`` gave
    """
    answer = ChunkResult(_address())
    try:
        order, tasks = pickle.loads(sent)
    except Exception as error:
        return replace(answer, refusal=f"it does not understand its task ({error!r})")
    try:
        _graders_of(order).grade(tasks, answer)
    except CourseError as error:
        reason = str(error)
    except Exception as error:
        reason = f"it failed ({type(error).__name__}: {error})"
    else:
        return answer
    seen = {each.task.key for each in answer.done} | {each.key for each in answer.slow}
    left = [task for task in tasks if task.key not in seen]
    return replace(answer, left=left, refusal=reason)


def _address() -> str:
    from distributed import get_worker

    return str(get_worker().address)


def packed(order: GradingRun, tasks: Sequence[GradingTask]) -> bytes:
    """Give tasks as a worker takes them: Dask must not look into a student's code."""
    return pickle.dumps((order, list(tasks)))


def dismiss(run: str) -> None:
    """End all graders of a client's run, in the middle of what they do."""
    with _lock:
        graders = _runs.pop(run, None)
    if graders:
        graders.close()


def traits(course: Course, lesson: str) -> dict[str, str]:
    """Give what a course's version consists of, as short words, by name."""
    files = {
        "requirements.lock": LOCK,
        f"the notebook of {lesson}": course.learner(lesson),
    }
    return {
        "Python": platform.python_version(),
        "NumPy": version("numpy"),
        "PyTorch": version("torch"),
        **{name: _digest(path) for name, path in files.items()},
    }


def _digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()[:8] if path.is_file() else "none"


class GraderPool:
    """Those of one run: as many as this worker has threads that ask at once."""

    def __init__(self, order: GradingRun) -> None:
        self.order = order
        self.asked = time.monotonic()
        self._idle: list[DaskGrader] = []
        self._all: list[DaskGrader] = []
        self._closed = False

    def grade(self, tasks: Sequence[GradingTask], answer: ChunkResult) -> None:
        """Grade; what comes of it comes into the answer."""
        grader = self._take()
        try:
            for done in grader.once(tasks, answer.slow):
                answer.done.append(done)
        except BaseException:  # its process is in the middle of something
            with _lock:
                self._all.remove(grader)
            grader.__exit__()
            raise
        with _lock:
            self.asked = time.monotonic()
            self._idle.append(grader)
            closed = self._closed
        if closed:
            self.close()

    def _take(self) -> "DaskGrader":
        with _lock:
            self.asked = time.monotonic()
            if self._idle:
                return self._idle.pop()
        grader = DaskGrader(self.order)
        with _lock:
            self._all.append(grader)
            grader.dismissed = self._closed
        return grader

    def close(self) -> None:
        """End those that wait now; those at work are killed, and end by themselves."""
        with _lock:
            self._closed = True
            idle, self._idle = self._idle, []
            self._all = [each for each in self._all if each not in idle]
            at_work = [*self._all]
        for grader in at_work:
            grader.kill()
        for grader in idle:
            grader.__exit__()

    @property
    def forgotten(self) -> bool:
        """Whether nobody has asked for long."""
        at_work = len(self._all) > len(self._idle)
        return not at_work and time.monotonic() > self.asked + FORGOTTEN


class DaskGrader(Workers):
    """One process that grades, and starts anew if it dies."""

    def __init__(self, order: GradingRun) -> None:
        super().__init__(_course(), order.settings)
        self.order = order
        self.dismissed = False

    def once(
        self, tasks: Sequence[GradingTask], slow: list[GradingTask]
    ) -> Iterator[GradingTaskResult]:
        """Grade one after another; ``slow`` gets those that took too long."""
        return self._batch(iter(tasks), slow, 1)

    def kill(self) -> None:
        """End its process, from another thread."""
        self.dismissed = True
        for process, _ in [*self._running.values()]:
            process.kill()

    def _start(self) -> Connection:
        _compare(self.order, self.course)
        started = super()._start()
        if self.dismissed:  # meanwhile, perhaps, when there was nothing to kill yet
            raise CourseError("its client has gone")
        return started

    def _process(self, theirs: Connection, place: tuple[Path, Path]) -> Process:
        return start(theirs, place, self.settings)


_lock = threading.Lock()
_runs: dict[str, GraderPool] = {}


def _graders_of(order: GradingRun) -> GraderPool:
    """Give the graders of a run; those that a client has left behind are ended."""
    with _lock:
        old = [run for run, graders in _runs.items() if graders.forgotten]
        left = [_runs.pop(run) for run in old if run != order.run]
        graders = _runs.setdefault(order.run, GraderPool(order))
    for each in left:
        each.close()
    return graders


def _course() -> Course:
    """Find this worker's course; raises ``CourseError`` if there is none."""
    place = Path(os.environ.get(FOLDER, "."))
    try:
        return Course.here(place)
    except CourseError:
        raise CourseError(
            f"it runs outside of a course folder, in {place.resolve()}: start it in "
            f"one, or say with the environment variable {FOLDER} where it is"
        ) from None


def _compare(order: GradingRun, course: Course) -> None:
    """Raise ``CourseError`` if this worker would not grade as its client does."""
    lesson = order.settings.lesson
    try:
        own = course_version(course, lesson)
    except OSError as error:
        raise CourseError(f"it has no {lesson} ({error})") from None
    if own != order.version:
        raise CourseError(_difference(order.traits, traits(course, lesson)))
    if _outdated():
        raise CourseError("its code has changed since it was started: restart it")


def _difference(wanted: Mapping[str, str], own: Mapping[str, str]) -> str:
    """Say in which way this worker's course is not the client's."""
    told = [
        f"{name} ({own.get(name)}, not {trait})"
        for name, trait in wanted.items()
        if own.get(name) != trait
    ]
    where = ", ".join(told) or "the code of autograder or course_lib"
    return (
        f"its course differs from this one in {where}: bring both to the same version "
        "with `make setup`, and restart it"
    )


def _outdated() -> bool:
    """Say whether a file of ours is newer than what this process has loaded of it."""
    ours = [
        module
        for name, module in [*sys.modules.items()]
        if name.partition(".")[0] == "autograder"
    ]
    files = [Path(module.__file__) for module in ours if module.__file__]
    return any(file.stat().st_mtime > LOADED for file in files if file.exists())


# MERGED autograder.grading.cluster_grader: The process that grades beside a Dask worker.
#
#   A Dask worker runs tasks in threads, and may have no children of ``multiprocessing``'s.
#   An engine wants a main thread, for its alarms and because its sandbox ends with the
#   thread that has started it: so it gets a plain process. Nothing here knows Dask.
#
