"""Grade on a running Dask cluster: ``autograder grade LESSON --dask ADDRESS``.

    with Cluster(course, settings, "tcp://host:8786") as cluster:
        for result in cluster.each(tasks): ...

Submissions go there in chunks, and only to workers that have the same course and a
working sandbox. A worker that is lost costs time, never a grade. Which workers are
usable is decided in ``pool``; what runs on them is in ``worker``.

The course's secret seed and the students' code travel with the tasks, and Dask
unpickles what it receives, here as there: whoever reaches the scheduler or a worker can
run anything on all of these machines. They must be yours, on a network that you trust,
or use TLS (``tls://…`` and Dask's own configuration). What ``answer`` checks is meant
for workers that are broken or of another version.
"""

import asyncio
import contextlib
import ipaddress
import itertools
import logging
import sys
import uuid
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from autograder.checking.registry import load
from autograder.course import Course, CourseError
from autograder.grading.dask.answer import ChunkResult
from autograder.grading.dask.pool import WorkerPool
from autograder.grading.dask.worker import GradingRun, traits
from autograder.grading.identity import course_version
from autograder.grading.release import load_all_releases
from autograder.grading.workers import (
    MAX_DEATHS,
    GradingTask,
    GradingTaskResult,
    Settings,
)

if TYPE_CHECKING:
    from distributed import Client

CONNECT_SECONDS = 8.0  # until an address counts as one that does not answer
SAME_VERSIONS = ("distributed", "dask")  # packages that must be the same everywhere
LOGGERS = ("distributed", "tornado", "asyncio")  # their logs would be tracebacks
CHUNK = 8  # submissions at once: some tenths of a second, so that a loss costs little
CHUNKS_AHEAD = 2  # for each of the workers' threads, so that none waits for the next
UNPROTECTED = (
    "{} is not encrypted: who is on that network can read the seed and the "
    "submissions, run programs on these machines and change grades; tls:// keeps them "
    "out"
)
IDLE_SECONDS = 60.0  # until a grader ends whose client was killed


@dataclass(frozen=True)
class RetriedTask:
    """A task that is tried by itself.

    losses : how often its worker was lost; with others, that may not be its own doing
    fault : what failed the first time, "" if nothing has
    avoid : address of the worker on which that was
    """

    task: GradingTask
    losses: int = 0
    fault: str = ""
    avoid: str = ""


class Cluster:
    """Runs tasks on the workers of a Dask cluster, as ``Workers`` does here."""

    def __init__(
        self,
        course: Course,
        settings: Settings,
        address: str,
        say: Callable[[str], None] | None = None,
    ) -> None:
        """Store what is graded, how, and on which cluster; nothing is asked yet.

        address : of the scheduler, such as tcp://host:8786
        say : gets a sentence about workers that cannot be used; stderr if not given
        """
        self.address = address
        self._say = say or _print_to_stderr
        release = load_all_releases(course, settings.lesson)
        self._exercises = [load(name) for name in release.exercises]
        self._run = GradingRun(
            uuid.uuid4().hex,
            course_version(course, settings.lesson),
            traits(course, settings.lesson),
            replace(settings, jobs=1, idle=IDLE_SECONDS),
        )
        self._retries: deque[RetriedTask] = deque()

    def __enter__(self) -> "Cluster":
        """Find out which workers can grade; raises ``CourseError`` if none can."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(quiet())
            client = connect(self.address)
            if not _is_protected(self.address):
                self._say(UNPROTECTED.format(self.address))
            self._pool = WorkerPool(
                client, self.address, self._run, self._exercises, self._say
            )
            stack.callback(self._pool.end)
            self._pool.probe()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        """Call off what is under way, and end the graders on the workers."""
        self._stack.close()

    def each(self, tasks: Iterable[GradingTask]) -> Iterator[GradingTaskResult]:
        """Yield results in the order in which they finish; slow tasks come last.

        tasks : taken some at a time, a little before they are needed

        Raises ``CourseError`` if the scheduler or the last worker is lost.
        """
        try:
            yield from self._in_chunks(iter(tasks))
            while self._retries:
                yield from self._retry(self._retries.popleft())
        finally:
            self._retries.clear()
            self._pool.call_off()

    def _in_chunks(self, tasks: Iterator[GradingTask]) -> Iterator[GradingTaskResult]:
        """Grade in chunks: small ones first, or one worker would get a small class."""
        n_sent, more = 0, True
        while more or self._pool.n_pending:
            room = CHUNKS_AHEAD * sum(self._pool.usable.values())
            if more and self._pool.n_pending < room:
                chunk = [*itertools.islice(tasks, min(CHUNK, 1 + n_sent // room))]
                more = bool(chunk)
                if chunk:
                    self._pool.send(chunk, self._pool.usable)
                    n_sent += 1
                continue
            chunk_result = self._pool.receive()
            if chunk_result:
                yield from self._final(chunk_result)

    def _retry(self, retried: RetriedTask) -> Iterator[GradingTaskResult]:
        """Grade one task while nothing else runs: then only it can be what fails."""
        while not self._pool.usable:
            self._pool.receive()
        last = self._pool.last
        workers = sorted(
            self._pool.usable, key=lambda it: (it == retried.avoid, it != last)
        )
        self._pool.send([retried.task], workers[:1])
        while self._pool.n_pending:
            chunk_result = self._pool.receive()
            if chunk_result:
                yield from self._final(chunk_result, retried)

    def _final(
        self, chunk_result: ChunkResult, retried: RetriedTask | None = None
    ) -> Iterator[GradingTaskResult]:
        """Yield what is final, and set aside what is to be tried by itself."""
        for result in chunk_result.results:
            # Elsewhere it may succeed.
            if result.fault and not (retried and retried.fault):
                task = replace(result.task, deaths=0)
                fault, worker = result.fault, chunk_result.worker
                self._set_aside(retried, task, fault=fault, avoid=worker)
            else:
                yield result
        for task in chunk_result.slow:
            self._set_aside(retried, task)
        if chunk_result.worker and chunk_result.refusal:
            self._pool.refuse(chunk_result.worker, chunk_result.refusal)
        losses = (retried.losses if retried else 0) + (not chunk_result.worker)
        for task in chunk_result.ungraded:
            if losses > MAX_DEATHS:
                fault = f"the grader died ({chunk_result.refusal})"
                yield GradingTaskResult(task, None, {}, fault)
            else:
                self._set_aside(retried, task, losses=losses)

    def _set_aside(
        self, retried: RetriedTask | None, task: GradingTask, **changes: Any
    ) -> None:
        self._retries.append(
            replace(retried or RetriedTask(task), task=task, **changes)
        )


def _is_protected(address: str) -> bool:
    """Return whether nobody on the network can read or change what is sent."""
    protocol, _, rest = address.rpartition("://")
    host = rest.rpartition(":")[0].strip("[]")
    if host == "localhost" or protocol == "tls":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _print_to_stderr(sentence: str) -> None:
    print(sentence, file=sys.stderr)


def connect(address: str) -> "Client":
    """Connect to a scheduler; only inside ``quiet``.

    address : such as tcp://host:8786; tls://host:8786 with Dask's own configuration

    Raises ``CourseError`` if that cannot be done.
    """
    from distributed import Client

    _check_scheduler(address)
    with warnings.catch_warnings():  # of versions: those that matter are the same
        warnings.simplefilter("ignore")
        try:
            return Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except Exception as error:
            raise _no_scheduler(address, error) from None


def _check_scheduler(address: str) -> None:
    """Check who answers. A client would wait for ever if it is no scheduler."""
    try:
        peer, versions = asyncio.run(
            asyncio.wait_for(_ask(address), CONNECT_SECONDS + 2)
        )
    except Exception as error:
        raise _no_scheduler(address, error) from None
    if peer.get("type") != "Scheduler":
        raise CourseError(
            f"at {address} there is no Dask scheduler, but a {peer.get('type')}: give "
            "the address that `dask scheduler` prints"
        )
    _compare_versions(address, versions.get("packages", {}))


async def _ask(address: str) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    from distributed import Security
    from distributed.core import rpc

    secured = Security().get_connection_args("client")
    async with rpc(address, timeout=CONNECT_SECONDS, connection_args=secured) as peer:
        return await peer.identity(), await peer.versions()


def _compare_versions(address: str, theirs: Mapping[str, str]) -> None:
    from distributed.versions import get_versions

    ours = get_versions()["packages"]
    for name in SAME_VERSIONS:
        if theirs.get(name) != ours.get(name):
            raise CourseError(
                f"the scheduler at {address} runs {name} {theirs.get(name)}, and here "
                f"it is {ours.get(name)}: call `make setup` on both machines"
            )


def _no_scheduler(address: str, error: Exception) -> CourseError:
    """Return what is wrong with an address."""
    if isinstance(error, TimeoutError | OSError):
        reason = "nobody answers there, or not as one would"
    else:  # of Dask's own, about the address or the configuration of TLS
        reason = " ".join(f"{error or type(error).__name__}".split())[:300]
    return CourseError(
        f"there is no Dask scheduler at {address!r} ({reason}): give the address that "
        "`dask scheduler` prints, such as tcp://host:8786"
    )


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep Dask's logs from stderr: what matters is raised or printed as a sentence.

    Raises ``CourseError`` if Dask is not installed.
    """
    try:
        import dask
        import distributed  # noqa: F401 (gives its loggers their levels)
    except ImportError:
        raise CourseError(
            "--dask needs the package distributed: install it with `pip install "
            "'attention-course[dask]'`, or call `make setup`"
        ) from None
    loggers = [
        logging.getLogger(name)
        for name in [*LOGGERS, *logging.root.manager.loggerDict]
        if name.partition(".")[0] in LOGGERS
    ]
    levels = [(logger, logger.level) for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        with dask.config.set(
            {"distributed.admin.large-graph-warning-threshold": "1GB"}
        ):
            yield
    finally:
        for logger, level in levels:
            logger.setLevel(level)
