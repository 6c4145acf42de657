"""The workers of a Dask cluster: who is there, who may grade, and what they answer.

Which submission goes to them when is the work of ``cluster``.
"""

import contextlib
import queue
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autograder.course import CourseError
from autograder.grading.dask.worker import (
    ChunkResult,
    GradingRun,
    dismiss,
    grade,
    packed,
)
from autograder.grading.workers import GradingTask

if TYPE_CHECKING:
    from distributed import Client, Future

LOOK = 1.0  # seconds between two looks at who is there
SILENCE = 60.0  # seconds until a scheduler that does not answer counts as gone
JOINING = 5.0  # seconds for workers to come where there are none yet
RESTART = 30.0  # seconds for workers to come back where none is left
TRYING = 150.0  # seconds for the first worker to have tried its sandbox
OTHERS = 15.0  # seconds for the others after it; whoever is later gets work later
ENDING = 5.0  # seconds for calling everything off
NAMED = 3  # workers named in a sentence
PROBE = GradingTask(
    "", "probe", None
)  # judged at once, but only where there is a sandbox


@dataclass(frozen=True)
class PendingTasks:
    """Tasks under way.

    workers : addresses of those that may do them
    probe : the worker that is only asked whether it can; "" if these are a class's
    """

    tasks: tuple[GradingTask, ...]
    workers: frozenset[str]
    probe: str = ""


class WorkerPool:
    """The workers of a cluster, as far as they have been found fit.

    fit : address to number of threads, of those that are there now
    last : address of the one that has answered last
    """

    def __init__(
        self,
        client: "Client",
        address: str,
        order: GradingRun,
        say: Callable[[str], None],
    ) -> None:
        """Take over a client.

        address : the scheduler's, for sentences
        say : gets a sentence about workers that are not used
        """
        self.fit: dict[str, int] = {}
        self.last = ""
        self._client = client
        self._address = address
        self._order = order
        self._say = say
        self._alive: dict[str, int] = {}
        self._known: dict[str, str | None] = {}  # "" if fit, else why not; None: asked
        self._sent: dict[Future, PendingTasks] = {}
        self._lost: deque[PendingTasks] = deque()
        self._ready: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self._mustered = False
        self._heard = self._crewed = time.monotonic()
        self._next_look = 0.0

    @property
    def busy(self) -> int:
        """How many questions are under way, besides those about a sandbox."""
        return sum(not sent.probe for sent in self._sent.values()) + len(self._lost)

    def muster(self) -> None:
        """Ask all workers; wait until they have answered, or some of them for long.

        Raises ``CourseError`` if nobody is fit.
        """
        start = time.monotonic()
        self._look()
        while not self._is_decided(time.monotonic() - start):
            self.take()
        if not self.fit:
            raise CourseError(self._nobody())
        self._mustered = True
        for reason in self._reasons():
            self._say(f"not used: {reason}")

    def _is_decided(self, waited: float) -> bool:
        if not self._alive:
            return waited > JOINING
        if None not in self._known.values():
            return True
        return waited > (OTHERS if self.fit else TRYING)

    def send(
        self, tasks: Sequence[GradingTask], workers: Collection[str], probe: str = ""
    ) -> None:
        """Have tasks graded by one of these workers."""
        sent = PendingTasks((*tasks,), frozenset(workers), probe)
        try:
            future = self._client.submit(
                grade,
                packed(self._order, tasks),
                key=f"grade-{uuid.uuid4().hex}",
                workers=[*workers],
            )
            self._sent[future] = sent
            future.add_done_callback(self._ready.put)
        except Exception:  # the client has closed meanwhile
            raise self._gone() from None

    def take(self) -> ChunkResult | None:
        """Give an answer about a class's tasks, if one comes soon.

        Without a ``worker`` nobody has answered: they were lost on the way. Raises
        ``CourseError`` if the scheduler is gone, or the last fit worker for long.
        """
        if time.monotonic() >= self._next_look:
            self._look()
        if self._lost:
            return _lost(self._lost.popleft(), "its worker was lost")
        try:
            future = self._ready.get(timeout=LOOK)
        except queue.Empty:
            return None
        sent = self._sent.pop(future, None)
        if sent is None:  # called off meanwhile
            return None
        answer = self._answer(future, sent)
        self.last = answer.worker or self.last
        if sent.probe:
            self._learn(sent.probe, answer)
            return None
        return answer

    def refuse(self, worker: str, why: str) -> None:
        """Give a worker nothing any more."""
        if worker in self._known:
            self._known[worker] = why
        self.fit.pop(worker, None)
        if self._mustered:
            self._say(f"not used: {worker}: {why}")

    def call_off(self) -> None:
        """Forget what is under way for the class."""
        futures = [future for future, sent in self._sent.items() if not sent.probe]
        for future in futures:
            del self._sent[future]
        self._lost.clear()
        if self._client.status == "running":
            _within(ENDING, lambda: self._client.cancel(futures, force=True))

    def end(self) -> None:
        """End everything, the graders on the workers too; takes seconds at most."""
        self.call_off()
        there = [worker for worker in self._known if worker in self._alive]
        if self._client.status == "running" and there:
            _within(
                ENDING,
                lambda: self._client.run(
                    dismiss, self._order.run, workers=there, on_error="ignore"
                ),
            )
        self._sent.clear()
        _within(ENDING, lambda: self._client.close(ENDING))

    def _answer(self, future: "Future", sent: PendingTasks) -> ChunkResult:
        from distributed import KilledWorker

        if future.status == "cancelled":  # by the end of the scheduler, or its restart
            self._look()
            return _lost(sent, "the cluster was restarted")
        try:
            answer = future.result(timeout=SILENCE)
        except KilledWorker:
            return _lost(sent, "its workers died")
        except Exception as error:
            return _lost(sent, f"{type(error).__name__}: {error}")
        assert isinstance(answer, ChunkResult)
        return answer

    def _learn(self, worker: str, answer: ChunkResult) -> None:
        """Take the answer to the question whether a worker can grade."""
        if worker not in self._alive:
            return
        why = answer.refusal or next((each.fault for each in answer.done), "")
        if why:
            self.refuse(worker, why)
        else:
            self._known[worker] = ""
            self.fit[worker] = self._alive[worker]

    def _look(self) -> None:
        """See who has come, and who has gone."""
        now = time.monotonic()
        self._next_look = now + LOOK
        if self._client.status != "running":
            raise self._gone()
        try:
            self._alive = self._client.sync(
                self._client.scheduler.ncores, callback_timeout=ENDING
            )
        except Exception:
            if now > self._heard + SILENCE:
                raise self._gone() from None
            return
        self._heard = now
        self._known = {k: why for k, why in self._known.items() if k in self._alive}
        for worker in self._alive.keys() - self._known.keys():
            self._known[worker] = None
            self.send([PROBE], [worker], probe=worker)
        self.fit = {k: n for k, n in self._alive.items() if self._known[k] == ""}
        self._miss()
        if self.fit or None in self._known.values():
            self._crewed = now
        elif self._mustered and now > self._crewed + RESTART:
            raise CourseError(f"{self._nobody()}. What was graded is kept")

    def _miss(self) -> None:
        """Call off what waits for workers that are gone."""
        for future, sent in [*self._sent.items()]:
            if sent.workers.isdisjoint(self._alive):
                del self._sent[future]
                future.cancel()
                if not sent.probe:
                    self._lost.append(sent)

    def _gone(self) -> CourseError:
        return CourseError(
            f"the Dask scheduler at {self._address} is gone; what was graded is "
            "kept: start it again, and the same command goes on from there"
        )

    def _nobody(self) -> str:
        """Say why there is no worker."""
        if not self._alive:
            return (
                f"there is no worker at {self._address}: start some in the course's "
                f"folder with `dask worker {self._address} --nthreads 1`"
            )
        reasons = "; ".join(self._reasons()) or "all are busy with other work"
        return f"no worker at {self._address} can grade: {reasons}"

    def _reasons(self) -> list[str]:
        """Say which workers are not used, those with the same reason together."""
        found: dict[str, list[str]] = {}
        for worker, why in sorted(self._known.items()):
            if why:
                found.setdefault(why, []).append(worker)
        return [f"{_names(workers)}: {why}" for why, workers in found.items()]


def _names(workers: Sequence[str]) -> str:
    more = len(workers) - NAMED
    return ", ".join(workers[:NAMED]) + (f" and {more} more" if more > 0 else "")


def _lost(sent: PendingTasks, why: str) -> ChunkResult:
    return ChunkResult("", left=[*sent.tasks], refusal=why)


def _within(seconds: float, do: Callable[[], object]) -> None:
    """Do something, and wait for its end so long at most; what it raises is lost."""

    def run() -> None:
        with contextlib.suppress(Exception):
            do()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
