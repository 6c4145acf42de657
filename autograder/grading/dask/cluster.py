"""Grade on a running Dask cluster: ``autograder grade LESSON --dask ADDRESS``.

    with Cluster(course, settings, "tcp://host:8786") as cluster:
        for done in cluster.each(tasks): ...

Submissions go there in chunks, and only to workers that have the same course and a
working sandbox. A worker that is lost costs time, never a grade. Who those workers are
is in ``cluster_crew``, what runs on them in ``cluster_worker``.

The course's secret seed and the students' code travel with the tasks, and whoever can
reach a scheduler can run anything on its workers: the cluster must be yours, on a
network that you trust, or use TLS (``tls://…`` and Dask's own configuration).
"""

import asyncio
import contextlib
import itertools
import logging
import sys
import uuid
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from autograder.course import Course, CourseError
from autograder.grading.dask.crew import WorkerPool
from autograder.grading.dask.worker import ChunkResult, GradingRun, traits
from autograder.grading.identity import course_version
from autograder.grading.workers import (
    MOST_DEATHS,
    GradingTask,
    GradingTaskResult,
    Settings,
)

if TYPE_CHECKING:
    from distributed import Client

PATIENCE = 8.0  # seconds until an address counts as one that does not answer
SAME = ("distributed", "dask")  # packages whose versions must be the same everywhere
TOLD = ("distributed", "tornado", "asyncio")  # whose logs would be tracebacks for users


def connect(address: str) -> "Client":
    """Connect to a scheduler; only inside ``quiet``.

    address : such as tcp://host:8786; tls://host:8786 with Dask's own configuration

    Raises ``CourseError`` if that cannot be done.
    """
    from distributed import Client

    _look_at(address)
    with warnings.catch_warnings():  # of versions: what matters has been compared
        warnings.simplefilter("ignore")
        try:
            return Client(address, timeout=PATIENCE, set_as_default=False)
        except Exception as error:
            raise _no_answer(address, error) from None


def _look_at(address: str) -> None:
    """See who is there. A client would wait for ever if it is no scheduler."""
    try:
        peer, versions = asyncio.run(asyncio.wait_for(_ask(address), PATIENCE + 2))
    except Exception as error:
        raise _no_answer(address, error) from None
    if peer.get("type") != "Scheduler":
        raise CourseError(
            f"at {address} there is no Dask scheduler, but a {peer.get('type')}: give "
            "the address that `dask scheduler` prints"
        )
    _compare(address, versions.get("packages", {}))


async def _ask(address: str) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    from distributed import Security
    from distributed.core import rpc

    secured = Security().get_connection_args("client")
    async with rpc(address, timeout=PATIENCE, connection_args=secured) as peer:
        return await peer.identity(), await peer.versions()


def _compare(address: str, theirs: Mapping[str, str]) -> None:
    from distributed.versions import get_versions

    ours = get_versions()["packages"]
    for name in SAME:
        if theirs.get(name) != ours.get(name):
            raise CourseError(
                f"the scheduler at {address} runs {name} {theirs.get(name)}, and here "
                f"it is {ours.get(name)}: call `make setup` on both machines"
            )


def _no_answer(address: str, error: Exception) -> CourseError:
    """Say what is wrong with an address."""
    if isinstance(error, TimeoutError | OSError):
        why = "nobody answers there, or not as one would"
    else:  # of Dask's own, about the address or the configuration of TLS
        why = " ".join(f"{error or type(error).__name__}".split())[:300]
    return CourseError(
        f"there is no Dask scheduler at {address!r} ({why}): give the address that "
        "`dask scheduler` prints, such as tcp://host:8786"
    )


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep Dask's own words from stderr: what matters is said in sentences.

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
        for name in [*TOLD, *logging.root.manager.loggerDict]
        if name.partition(".")[0] in TOLD
    ]
    before = [(logger, logger.level) for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        with dask.config.set(
            {"distributed.admin.large-graph-warning-threshold": "1GB"}
        ):
            yield
    finally:
        for logger, level in before:
            logger.setLevel(level)


CHUNK = 8  # submissions at once: some tenths of a second, so that a loss costs little
AHEAD = 2  # chunks for each of the workers' threads, so that none waits for the next
IDLE = 60.0  # seconds until a grader ends whose client was killed


@dataclass(frozen=True)
class RetriedTask:
    """A task that is tried by itself.

    losses : how often its worker was lost; with others, that may not be its own doing
    fault : what failed the first time, "" if nothing has
    avoid : address of the worker where that was
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
        """Say what is graded, how, where; nothing is asked yet.

        address : of the scheduler, such as tcp://host:8786
        say : gets a sentence about workers that cannot be used; stderr if not given
        """
        self.address = address
        self._say = say or _print
        self._order = GradingRun(
            uuid.uuid4().hex,
            course_version(course, settings.lesson),
            traits(course, settings.lesson),
            replace(settings, jobs=1, idle=IDLE),
        )
        self._alone: deque[RetriedTask] = deque()

    def __enter__(self) -> "Cluster":
        """Find out which workers can grade; raises ``CourseError`` if none can."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(quiet())
            client = connect(self.address)
            self._crew = WorkerPool(client, self.address, self._order, self._say)
            stack.callback(self._crew.end)
            self._crew.muster()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: Any) -> None:
        """Call off what is under way, and end the graders on the workers."""
        self._stack.close()

    def each(self, tasks: Iterable[GradingTask]) -> Iterator[GradingTaskResult]:
        """Grade; give results as they come. Those that took too long come last.

        tasks : taken some at a time, a little before they are needed

        Raises ``CourseError`` if the scheduler or the last worker is lost.
        """
        try:
            yield from self._together(iter(tasks))
            while self._alone:
                yield from self._by_itself(self._alone.popleft())
        finally:
            self._alone.clear()
            self._crew.call_off()

    def _together(self, tasks: Iterator[GradingTask]) -> Iterator[GradingTaskResult]:
        """Grade in chunks: small ones first, or a small class would be one worker's."""
        sent, more = 0, True
        while more or self._crew.busy:
            room = AHEAD * sum(self._crew.fit.values())
            if more and self._crew.busy < room:
                chunk = [*itertools.islice(tasks, min(CHUNK, 1 + sent // room))]
                more = bool(chunk)
                if chunk:
                    self._crew.send(chunk, self._crew.fit)
                    sent += 1
                continue
            answer = self._crew.take()
            if answer:
                yield from self._sorted(answer)

    def _by_itself(self, one: RetriedTask) -> Iterator[GradingTaskResult]:
        """Grade one while nothing else runs: then it alone can be what fails."""
        while not self._crew.fit:
            self._crew.take()
        first = self._crew.last
        places = sorted(self._crew.fit, key=lambda it: (it == one.avoid, it != first))
        self._crew.send([one.task], places[:1])
        while self._crew.busy:
            answer = self._crew.take()
            if answer:
                yield from self._sorted(answer, one)

    def _sorted(
        self, answer: ChunkResult, one: RetriedTask | None = None
    ) -> Iterator[GradingTaskResult]:
        """Give what is final, and set aside what is to be tried by itself."""
        for done in answer.done:
            if done.fault and not (one and one.fault):  # elsewhere it may go well
                task = replace(done.task, deaths=0)
                self._set_aside(one, task, fault=done.fault, avoid=answer.worker)
            else:
                yield done
        for task in answer.slow:
            self._set_aside(one, task)
        if answer.worker and answer.refusal:
            self._crew.refuse(answer.worker, answer.refusal)
        losses = (one.losses if one else 0) + (not answer.worker)
        for task in answer.left:
            if losses > MOST_DEATHS:
                yield GradingTaskResult(
                    task, None, {}, f"the grader died ({answer.refusal})"
                )
            else:
                self._set_aside(one, task, losses=losses)

    def _set_aside(
        self, one: RetriedTask | None, task: GradingTask, **changes: Any
    ) -> None:
        self._alone.append(replace(one or RetriedTask(task), task=task, **changes))


def _print(sentence: str) -> None:
    print(sentence, file=sys.stderr)


# MERGED autograder.grading.cluster_connection: Get hold of a Dask scheduler, or say in one sentence why there is none.
