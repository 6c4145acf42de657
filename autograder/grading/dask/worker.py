"""What runs on a Dask worker: a class's tasks, given to warm graders of its own.

What is sent here, and when, is decided in ``cluster``. Nothing here raises: Dask would
log what a task that fails was called with.

A Dask worker runs tasks in threads, and may have no children of ``multiprocessing``'s.
An engine wants a main thread, for its alarms and because its sandbox ends with the
thread that has started it: so each grader gets a plain process.
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
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.metadata import version
from multiprocessing.connection import Connection
from pathlib import Path

from autograder.course import Course, CourseError, private
from autograder.grading.dask.answer import ChunkResult, written
from autograder.grading.identity import LOCK, course_version, private_digest
from autograder.grading.inside import seccomp
from autograder.grading.release import Release
from autograder.grading.workers import (
    Folders,
    GradingTask,
    GradingTaskResult,
    Process,
    Settings,
    Workers,
    work,
)

START = (
    "import sys; from autograder.grading.dask import worker; "
    "worker.serve(int(sys.argv[1]))"
)
N_NUMBERS = 16  # of engines on a machine, each with users of its own for its children
SOCKET_NAME = "\0attention-course-grader-{}"  # abstract: the kernel frees it
FOLDER = "ATTENTION_COURSE"  # names the course's folder if it is not the current one
LOADED = time.time()  # this worker's code is as it was then
IDLE_SECONDS = 120.0  # without a request, after which a client counts as gone


@dataclass(frozen=True)
class GradingRun:
    """What a worker must know to grade a class as its client would.

    id : of one run of one client
    version : the course's
    traits : what that consists of, as far as a sentence about a difference needs it
    """

    id: str
    version: str
    traits: dict[str, str]
    settings: Settings


def packed(run: GradingRun, tasks: Sequence[GradingTask]) -> bytes:
    """Return tasks as ``grade`` takes them: Dask must not parse a student's code."""
    return pickle.dumps((run, list(tasks)))


def grade(message: bytes) -> str:
    """Grade tasks on this worker; return what ``answer.read`` takes.

    message : from ``packed``
    """
    return written(_chunk_result(message))


def _chunk_result(message: bytes) -> ChunkResult:
    """Return the results, and why not all tasks have one, if that is so."""
    chunk_result = ChunkResult(_address(), note=_note())
    try:
        run, tasks = pickle.loads(message)
    except Exception as error:  # of another version
        refusal = f"it does not understand its task ({error!r})"
        return replace(chunk_result, refusal=refusal)
    try:
        _graders_of(run).grade(tasks, chunk_result)
    except CourseError as error:
        return replace(chunk_result, refusal=str(error))
    except Exception as error:
        refusal = f"it failed ({type(error).__name__}: {error})"
        return replace(chunk_result, refusal=refusal)
    return chunk_result


def _note() -> str:
    if platform.machine() in seccomp.MACHINES:
        return ""
    return f"system calls are not filtered there ({platform.machine()})"


def _address() -> str:
    from distributed import get_worker

    return str(get_worker().address)


def dismiss(run_id: str) -> None:
    """End all graders of a client's run, in the middle of what they do."""
    with _lock:
        graders = _runs.pop(run_id, None)
    if graders:
        graders.close()


def traits(course: Course, lesson: str) -> dict[str, str]:
    """Return what a course's version consists of, as short words, by name."""
    files = {
        "requirements.lock": LOCK,
        f"the notebook of {lesson}": course.learner(lesson),
    }
    return {
        "Python": platform.python_version(),
        "NumPy": version("numpy"),
        "PyTorch": version("torch"),
        **{name: _digest(path) for name, path in files.items()},
        **_private_traits(course, lesson),
    }


def _private_traits(course: Course, lesson: str) -> dict[str, str]:
    """Return a word for the banks and references of a private lesson."""
    if not private.NAME.fullmatch(lesson):
        return {}
    digest = private_digest(course).hex()[:8] if course.private.is_dir() else "none"
    return {f"the folder {private.FOLDER}": digest}


def _digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()[:8] if path.is_file() else "none"


class GraderPool:
    """The graders of one run: as many as this worker has threads that ask at once."""

    def __init__(self, run: GradingRun) -> None:
        """Start without graders."""
        self.run = run
        self.last_request = time.monotonic()
        self._idle: list[DaskGrader] = []
        self._all: list[DaskGrader] = []
        self._closed = False

    def grade(self, tasks: Sequence[GradingTask], chunk_result: ChunkResult) -> None:
        """Grade; each result is added to the chunk's."""
        grader = self._acquire()
        try:
            for result in grader.once(tasks, chunk_result.slow):
                chunk_result.results.append(result)
        except BaseException:  # its process is in the middle of something
            with _lock:
                self._all.remove(grader)
            grader.__exit__()
            raise
        with _lock:
            self.last_request = time.monotonic()
            self._idle.append(grader)
            closed = self._closed
        if closed:
            self.close()

    def _acquire(self) -> "DaskGrader":
        with _lock:
            self.last_request = time.monotonic()
            if self._idle:
                return self._idle.pop()
        grader = DaskGrader(self.run)
        with _lock:
            self._all.append(grader)
            grader.dismissed = self._closed
        return grader

    def close(self) -> None:
        """End those that are idle; busy ones are killed, and end by themselves."""
        with _lock:
            self._closed = True
            idle, self._idle = self._idle, []
            self._all = [each for each in self._all if each not in idle]
            busy = [*self._all]
        for grader in busy:
            grader.kill()
        for grader in idle:
            grader.__exit__()

    @property
    def is_abandoned(self) -> bool:
        """Whether there has been no request for long."""
        busy = len(self._all) > len(self._idle)
        return not busy and time.monotonic() > self.last_request + IDLE_SECONDS


_lock = threading.Lock()
_runs: dict[str, GraderPool] = {}


def _graders_of(run: GradingRun) -> GraderPool:
    """Return the graders of a run; end those that a client has abandoned."""
    with _lock:
        abandoned = [name for name, graders in _runs.items() if graders.is_abandoned]
        ended = [_runs.pop(name) for name in abandoned if name != run.id]
        graders = _runs.setdefault(run.id, GraderPool(run))
    for each in ended:
        each.close()
    return graders


class DaskGrader(Workers):
    """One process that grades, and is started again if it dies."""

    def __init__(self, run: GradingRun) -> None:
        """Find the course; nothing starts yet."""
        super().__init__(_course(), run.settings)
        self.run = run
        self.dismissed = False

    def once(
        self, tasks: Sequence[GradingTask], slow: list[GradingTask]
    ) -> Iterator[GradingTaskResult]:
        """Grade one after another; ``slow`` gets those that took too long."""
        return self._grade(iter(tasks), slow, 1)

    def kill(self) -> None:
        """End its process, from another thread."""
        self.dismissed = True
        for worker in [*self._workers.values()]:
            worker.process.kill()

    def _start(self) -> Connection:
        _compare(self.run, self.course)
        connection = super()._start()
        if self.dismissed:  # perhaps before there was anything to kill
            raise CourseError("its client has gone")
        return connection

    def _start_sandbox(self, release: Release, folders: Folders) -> None:
        """Start none here: it would end with the thread that has started it."""

    def _start_process(self, theirs: Connection, folders: Folders) -> Process:
        return start(theirs, folders, self.settings)


def _course() -> Course:
    """Find this worker's course; raises ``CourseError`` if there is none."""
    folder = Path(os.environ.get(FOLDER, "."))
    try:
        return Course.here(folder)
    except CourseError:
        raise CourseError(
            f"it runs outside of a course folder, in {folder.resolve()}: start it in "
            f"one, or set the environment variable {FOLDER} to its path"
        ) from None


def _compare(run: GradingRun, course: Course) -> None:
    """Raise ``CourseError`` if this worker would not grade as its client does."""
    lesson = run.settings.lesson
    try:
        own_version = course_version(course, lesson)
    except OSError as error:
        raise CourseError(f"it has no {lesson} ({error})") from None
    if own_version != run.version:
        raise CourseError(_difference(run.traits, traits(course, lesson)))
    if _is_outdated():
        raise CourseError("its code has changed since it was started: restart it")


def _difference(expected: Mapping[str, str], own: Mapping[str, str]) -> str:
    """Return a sentence on how this worker's course differs from the client's."""
    differences = [
        f"{name} ({own.get(name)}, not {trait})"
        for name, trait in expected.items()
        if own.get(name) != trait
    ]
    where = ", ".join(differences) or "the code of autograder or course_lib"
    return (
        f"its course differs from this one in {where}: bring both to the same version "
        "with `make setup`, and restart it"
    )


def _is_outdated() -> bool:
    """Return whether a file of ours is newer than what this process has loaded."""
    modules = [
        module
        for name, module in [*sys.modules.items()]
        if name.partition(".")[0] == "autograder"
    ]
    files = [Path(module.__file__) for module in modules if module.__file__]
    return any(file.stat().st_mtime > LOADED for file in files if file.exists())


class PlainProcess(subprocess.Popen[bytes]):
    """A process with the interface of one of ``multiprocessing``'s."""

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


def start(theirs: Connection, folders: Folders, settings: Settings) -> PlainProcess:
    """Start a process that grades what comes through a connection until it ends.

    theirs : the process's end of it
    """
    descriptor = theirs.fileno()
    process = PlainProcess(
        [sys.executable, "-c", START, str(descriptor)],
        bufsize=0,
        stdin=subprocess.PIPE,
        pass_fds=[descriptor],
        start_new_session=True,  # Ctrl-C is for the Dask worker, and this ends with it
    )
    assert process.stdin is not None
    with contextlib.suppress(OSError):  # dead already: noticed when no answer comes
        # The seed is a secret: no argument of the command.
        process.stdin.write(pickle.dumps((folders, settings)))
    return process


def serve(descriptor: int) -> None:
    """Be such a process, until its client is gone.

    descriptor : the connection's file descriptor
    """
    folders, settings = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_end_with_the_worker, daemon=True).start()
    with own_number() as number:
        work(Connection(descriptor), folders, settings, number)


def _end_with_the_worker() -> None:
    """Exit, whatever is graded at the moment, once the Dask worker has ended.

    Its end of our input is closed then. The sandbox ends with this process.
    """
    os.read(0, 1)
    os._exit(1)


@contextlib.contextmanager
def own_number() -> Iterator[int]:
    """Reserve a number that no other grader of this machine's Dask workers has.

    With more than ``N_NUMBERS`` graders, some share one.
    """
    with socket.socket(socket.AF_UNIX) as lock:
        for number in range(N_NUMBERS):
            with contextlib.suppress(OSError):
                lock.bind(SOCKET_NAME.format(number))
                break
        else:
            number = os.getpid() % N_NUMBERS
        yield number
