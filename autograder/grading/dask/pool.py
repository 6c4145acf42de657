"""The workers of a Dask cluster: who is there, who may grade, and what they answer.

Which submission goes to them when is decided in ``cluster``.
"""

import contextlib
import queue
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from autograder.checking.exercise import Exercise
from autograder.course import CourseError
from autograder.grading.dask import worker as worker_module
from autograder.grading.dask.answer import ChunkResult, OddAnswer, read
from autograder.grading.dask.worker import GradingRun, packed
from autograder.grading.judging import no_answer
from autograder.grading.reading import listed
from autograder.grading.workers import GradingTask

if TYPE_CHECKING:
    from distributed import Client, Future

# Seconds:
REFRESH = 1.0  # between two questions to the scheduler about its workers
SILENCE = 60.0  # until a scheduler that does not answer counts as gone
JOINING = 5.0  # for workers to join where there are none yet
RESTART = 30.0  # for workers to come back where none is left
FIRST_PROBE = 150.0  # for the first worker to have tried its sandbox
OTHER_PROBES = 15.0  # for the others after it; whoever is later gets work later
ENDING = 5.0  # for calling everything off
GRACE = 60.0  # for a submission beyond its budget, the start of a sandbox included
MAX_NAMED_WORKERS = 3  # in a sentence
# It is judged at once, but only where there is a sandbox.
PROBE = GradingTask("", "probe", None)


@dataclass(frozen=True)
class PendingTasks:
    """Tasks under way.

    workers : addresses of those that may do them
    probe : the worker that is only asked whether it can; "" if these are a class's
    sent_at : when, in seconds of ``time.monotonic``
    """

    tasks: tuple[GradingTask, ...]
    workers: frozenset[str]
    probe: str = ""
    sent_at: float = field(default_factory=time.monotonic)


class WorkerPool:
    """The workers of a cluster, as far as they can grade.

    usable : address to number of threads, of those that are there now
    last : address of the one that has answered last
    """

    def __init__(
        self,
        client: "Client",
        address: str,
        run: GradingRun,
        exercises: Sequence[Exercise],
        say: Callable[[str], None],
    ) -> None:
        """Store the client; nothing is asked yet.

        address : the scheduler's, for sentences
        exercises : those of the lesson
        say : gets a sentence about workers that are not used
        """
        self.usable: dict[str, int] = {}
        self.last = ""
        self._client = client
        self._address = address
        self._run = run
        self._expected = [*map(no_answer, exercises)]
        self._say = say
        self._alive: dict[str, int] = {}
        # Address to why a worker is not used: "" if it is, None until it has answered.
        self._refusals: dict[str, str | None] = {}
        self._pending: dict[Future, PendingTasks] = {}
        self._lost: deque[PendingTasks] = deque()
        self._finished: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self._probed = False
        self._scheduler_alive_at = self._workers_alive_at = time.monotonic()
        self._answered_at = time.monotonic()
        self._next_refresh = 0.0

    @property
    def n_pending(self) -> int:
        """How many chunks are under way, besides probes."""
        return sum(not each.probe for each in self._pending.values()) + len(self._lost)

    def probe(self) -> None:
        """Ask all workers; wait until they have answered, or some of them for long.

        Raises ``CourseError`` if none is usable.
        """
        start = time.monotonic()
        self._refresh()
        while not self._is_decided(time.monotonic() - start):
            self.receive()
        if not self.usable:
            raise CourseError(self._no_worker())
        self._probed = True
        for reason in self._reasons():
            self._say(f"not used: {reason}")

    def _is_decided(self, waited: float) -> bool:
        if not self._alive:
            return waited > JOINING
        if None not in self._refusals.values():
            return True
        return waited > (OTHER_PROBES if self.usable else FIRST_PROBE)

    def send(
        self,
        tasks: Sequence[GradingTask],
        workers: Collection[str],
        probe: str = "",
    ) -> None:
        """Send tasks to be graded by one of these workers."""
        pending = PendingTasks((*tasks,), frozenset(workers), probe)
        if not self.n_pending:
            self._answered_at = pending.sent_at
        try:
            future = self._client.submit(
                *_call("grade", packed(self._run, tasks)),
                key=f"grade-{uuid.uuid4().hex}",
                workers=[*workers],
            )
            self._pending[future] = pending
            future.add_done_callback(self._finished.put)
        except Exception:  # the client has closed meanwhile
            raise self._scheduler_gone() from None

    def receive(self) -> ChunkResult | None:
        """Return the result of a class's tasks, if one arrives soon.

        Without a ``worker`` nobody has answered: they were lost on the way. Raises
        ``CourseError`` if the scheduler is gone, or the last usable worker for long.
        """
        if time.monotonic() >= self._next_refresh:
            self._refresh()
        if self._lost:
            return _lost(self._lost.popleft(), "its worker was lost")
        try:
            future = self._finished.get(timeout=REFRESH)
        except queue.Empty:
            self._give_up_silent()
            return None
        pending = self._pending.pop(future, None)
        if pending is None:  # called off meanwhile
            return None
        chunk_result = self._result_of(future, pending)
        self.last = chunk_result.worker or self.last
        if pending.probe:
            self._add_probe(pending.probe, chunk_result)
            return None
        self._answered_at = time.monotonic()
        return chunk_result

    def _give_up_silent(self) -> None:
        """Refuse the workers that are busy with the class, if none answers for long.

        One that has stopped as a whole is the scheduler's to notice; here it is one
        whose grader hangs.
        """
        chunks = {f: p for f, p in self._pending.items() if not p.probe}
        budget = self._run.settings.budget.submission + GRACE
        patience = budget * max((len(p.tasks) for p in chunks.values()), default=1)
        if not chunks or time.monotonic() < self._answered_at + patience:
            return
        keys = {future.key for future in chunks}
        busy: dict[str, list[str]] = {}
        with contextlib.suppress(Exception):  # then nobody is to blame
            busy = self._client.sync(
                self._client.scheduler.processing, callback_timeout=ENDING
            )
        for worker in sorted(self.usable):
            if not keys.isdisjoint(busy.get(worker, ())):
                self.refuse(worker, f"it has not answered for {patience:.0f} seconds")
        for future, pending in chunks.items():
            del self._pending[future]
            future.cancel(force=True)
            self._lost.append(pending)

    def refuse(self, worker: str, reason: str) -> None:
        """Send nothing to a worker any more, and say so once."""
        if self._refusals.get(worker):
            return
        if worker in self._refusals:
            self._refusals[worker] = reason
        self.usable.pop(worker, None)
        if self._probed:
            self._say(f"not used: {worker}: {reason}")

    def call_off(self) -> None:
        """Cancel what is under way for the class."""
        futures = [f for f, pending in self._pending.items() if not pending.probe]
        for future in futures:
            del self._pending[future]
        self._lost.clear()
        if self._client.status == "running":
            _within(ENDING, lambda: self._client.cancel(futures, force=True))

    def end(self) -> None:
        """End everything, the graders on the workers too; takes seconds at most."""
        self.call_off()
        workers = [worker for worker in self._refusals if worker in self._alive]
        if self._client.status == "running" and workers:
            _within(
                ENDING,
                lambda: self._client.run(
                    *_call("dismiss", self._run.id), workers=workers, on_error="ignore"
                ),
            )
        self._pending.clear()
        _within(ENDING, lambda: self._client.close(ENDING))

    def _result_of(self, future: "Future", pending: PendingTasks) -> ChunkResult:
        from distributed import KilledWorker

        if future.status == "cancelled":  # by the end of the scheduler, or its restart
            self._refresh()
            return _lost(pending, "the cluster was restarted")
        try:
            answer = future.result(timeout=SILENCE)
        except KilledWorker:
            return _lost(pending, "its workers died")
        except Exception as error:
            return _lost(pending, f"{type(error).__name__}: {error}")
        try:
            chunk_result = read(answer, pending.tasks, self._expected)
            if chunk_result.worker not in pending.workers:
                raise OddAnswer("the address of another one")
        except OddAnswer as error:
            lost = _lost(pending, f"it answers with {error}: restart it")
            return replace(lost, worker=self._who_answered(future))
        return chunk_result

    def _who_answered(self, future: "Future") -> str:
        """Return the address of the worker whose answer this is, "" if unknown."""
        with contextlib.suppress(Exception):
            holders = self._client.sync(
                self._client.scheduler.who_has,
                keys=[future.key],
                callback_timeout=ENDING,
            )
            return str(holders[future.key][0])
        return ""

    def _add_probe(self, worker: str, chunk_result: ChunkResult) -> None:
        """Record whether a worker can grade."""
        if worker not in self._alive:
            return
        faults = (each.fault for each in chunk_result.results)
        reason = chunk_result.refusal or next(faults, "")
        if reason:
            self.refuse(worker, reason)
        else:
            self._refusals[worker] = ""
            self.usable[worker] = self._alive[worker]
            if chunk_result.note:
                self._say(f"{worker}: {chunk_result.note}")

    def _refresh(self) -> None:
        """Update who has joined, and who has gone."""
        now = time.monotonic()
        self._next_refresh = now + REFRESH
        if self._client.status != "running":
            raise self._scheduler_gone()
        try:
            self._alive = self._client.sync(
                self._client.scheduler.ncores, callback_timeout=ENDING
            )
        except Exception:
            if now > self._scheduler_alive_at + SILENCE:
                raise self._scheduler_gone() from None
            return
        self._scheduler_alive_at = now
        self._refusals = {k: v for k, v in self._refusals.items() if k in self._alive}
        for worker in self._alive.keys() - self._refusals.keys():
            self._refusals[worker] = None
            self.send([PROBE], [worker], probe=worker)
        self.usable = {k: n for k, n in self._alive.items() if self._refusals[k] == ""}
        self._cancel_orphans()
        probes = [pending for pending in self._pending.values() if pending.probe]
        if self.usable or any(now < probe.sent_at + FIRST_PROBE for probe in probes):
            self._workers_alive_at = now
        elif self._probed and now > self._workers_alive_at + RESTART:
            raise CourseError(f"{self._no_worker()}. What was graded is kept")

    def _cancel_orphans(self) -> None:
        """Cancel what waits for workers that are gone."""
        for future, pending in [*self._pending.items()]:
            if pending.workers.isdisjoint(self._alive):
                del self._pending[future]
                future.cancel()
                if not pending.probe:
                    self._lost.append(pending)

    def _scheduler_gone(self) -> CourseError:
        return CourseError(
            f"the Dask scheduler at {self._address} is gone; what was graded is "
            "kept: start it again, and the same command goes on from there"
        )

    def _no_worker(self) -> str:
        """Return why there is no worker."""
        if not self._alive:
            return (
                f"there is no worker at {self._address}: start some in the course's "
                f"folder with `dask worker {self._address} --nthreads 1`"
            )
        reasons = "; ".join(self._reasons()) or "all are busy with other work"
        return f"no worker at {self._address} can grade: {reasons}"

    def _reasons(self) -> list[str]:
        """Return which workers are not used, those with the same reason together."""
        workers_of: dict[str, list[str]] = {}
        for worker, reason in sorted(self._refusals.items()):
            if reason:
                workers_of.setdefault(reason, []).append(worker)
        return [
            f"{listed(each, MAX_NAMED_WORKERS)}: {reason}"
            for reason, each in workers_of.items()
        ]


def _call(
    name: str, argument: object
) -> tuple[Callable[..., Any], str, dict[str, Any]]:
    """Return a call of a function of ``worker`` as Dask is to make it.

    Not the function itself: a Dask worker ends as a whole at one that it cannot import,
    and it may be somebody else's.
    """
    path = worker_module.__name__
    text = f"__import__('importlib').import_module({path!r}).{name}(argument)"
    return eval, text, {"argument": argument}


def _lost(pending: PendingTasks, reason: str) -> ChunkResult:
    return ChunkResult("", ungraded=[*pending.tasks], refusal=reason)


def _within(seconds: float, action: Callable[[], object]) -> None:
    """Do something, and wait so long at most; what it raises is ignored."""

    def run() -> None:
        with contextlib.suppress(Exception):
            action()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
