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

import contextlib
import itertools
import sys
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from autograder.course import Course
from autograder.grading.cluster_connection import connect, quiet
from autograder.grading.cluster_crew import Crew
from autograder.grading.cluster_worker import Answer, Order, traits
from autograder.grading.identity import course_version
from autograder.grading.workers import MOST_DEATHS, Done, Settings, Task

CHUNK = 8  # submissions at once: some tenths of a second, so that a loss costs little
AHEAD = 2  # chunks for each of the workers' threads, so that none waits for the next
IDLE = 60.0  # seconds until a grader ends whose client was killed


@dataclass(frozen=True)
class _Alone:
    """A task that is tried by itself.

    losses : how often its worker was lost; with others, that may not be its own doing
    fault : what failed the first time, "" if nothing has
    avoid : address of the worker where that was
    """

    task: Task
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
        self._order = Order(
            uuid.uuid4().hex,
            course_version(course, settings.lesson),
            traits(course, settings.lesson),
            replace(settings, jobs=1, idle=IDLE),
        )
        self._alone: deque[_Alone] = deque()

    def __enter__(self) -> "Cluster":
        """Find out which workers can grade; raises ``CourseError`` if none can."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(quiet())
            client = connect(self.address)
            self._crew = Crew(client, self.address, self._order, self._say)
            stack.callback(self._crew.end)
            self._crew.muster()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: Any) -> None:
        """Call off what is under way, and end the graders on the workers."""
        self._stack.close()

    def each(self, tasks: Iterable[Task]) -> Iterator[Done]:
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

    def _together(self, tasks: Iterator[Task]) -> Iterator[Done]:
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

    def _by_itself(self, one: _Alone) -> Iterator[Done]:
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

    def _sorted(self, answer: Answer, one: _Alone | None = None) -> Iterator[Done]:
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
                yield Done(task, None, {}, f"the grader died ({answer.refusal})")
            else:
                self._set_aside(one, task, losses=losses)

    def _set_aside(self, one: _Alone | None, task: Task, **changes: Any) -> None:
        self._alone.append(replace(one or _Alone(task), task=task, **changes))


def _print(sentence: str) -> None:
    print(sentence, file=sys.stderr)
