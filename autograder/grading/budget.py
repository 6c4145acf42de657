"""What time and processes a submission may use, and the account of them."""

import time
from dataclasses import dataclass

from autograder.checking.own_time import LAST_RESORT, ProcessorQueue
from autograder.grading.child_client import ChildLost


@dataclass(frozen=True)
class Budget:
    """How long a submission may take, and how often it may fail.

    Seconds are of its own time (``own_time``): what else runs plays no part.

    call : seconds of one call; once an exercise has used them up, its later calls get
        a tenth
    cell, cells : seconds of one cell, and of all of them
    deadly : cells that may end the process before all of the learner's own are skipped
    timeouts, crashes : of calls of one exercise, judged in one way, until its other
        calls are not tried
    submission : seconds of one try of everything, the judge's own work too, and running
        the cells again so that a test remembers nothing
    children : processes for one try of everything
    """

    call: float = 5.0
    cell: float = 20.0
    cells: float = 60.0
    deadly: int = 4
    timeouts: int = 4
    crashes: int = 8
    submission: float = 300.0
    children: int = 200


class TimedOutOnce(BaseException):
    """Something took too long while other submissions ran: it is tried once more."""


class Account:
    """What one try of a submission has used of its budget.

    n_children : processes that count
    used_up : what of the budget is used up, in words; "" if nothing
    """

    def __init__(self, budget: Budget, *, last_try: bool) -> None:
        """Begin; the time runs from now on.

        last_try : False raises ``TimedOutOnce`` where time is used up; True gives each
            call and cell twice the time. What the whole may take is the same: nothing
            else of this grader runs meanwhile
        """
        self.budget, self.last_try = budget, last_try
        self.n_children = 0
        self.used_up = ""
        self._reserved = 0.0  # part of the budget, for what is judged later
        self._start, self._our_queue = time.monotonic(), ProcessorQueue("self")
        self._child_queue = ProcessorQueue()
        # In the queue for a processor: children that have ended, and we until now.
        self._waited = -self._our_queue.seconds()

    def reserve(self, n_exercises: int, n_all: int) -> None:
        """Reserve a part of the budget for exercises that are judged later.

        Half of it is shared out evenly, so that one answer cannot use up everything.
        """
        self._reserved = n_exercises / (2 * n_all)

    def begin_child(self, queue: ProcessorQueue) -> None:
        """Leave out from now on what the child waits in its queue."""
        self._child_queue = queue

    def end_child(self) -> None:
        """Record what the child has waited: nobody can ask it once it has ended."""
        self._waited += self._child_queue.seconds_for_others()
        self._child_queue = ProcessorQueue()

    @property
    def seconds_left(self) -> float:
        """Seconds of own time that the submission has left."""
        available = self.budget.submission * (1 - self._reserved)
        left = self._start + available - time.monotonic()
        if left > self.budget.submission / 2:  # so much that the queue does not matter
            return left
        waited = self._waited + self._our_queue.seconds()
        waited += self._child_queue.seconds_for_others()
        return left + min(waited, (LAST_RESORT - 1) * self.budget.submission)

    def seconds_of_cells(self) -> tuple[float, float]:
        """Return what each cell may take, and all of them."""
        factor = 2 if self.last_try else 1
        total_seconds = min(self.budget.cells * factor, self.seconds_left)
        return self.budget.cell * factor, total_seconds

    def seconds_of_call(self, *, is_slow: bool) -> float:
        """Return what a call may take.

        is_slow : whether a call of this exercise has timed out
        """
        seconds = self.budget.call * (2 if self.last_try else 1)
        return min(self.budget.call / 10 if is_slow else seconds, self.seconds_left)

    def require(self, *, new_child: bool) -> None:
        """Raise ``ChildLost`` if the budget is used up; on the first try, time counts.

        How many children there are does not depend on what else runs.

        new_child : whether a child has to be started
        """
        if self.seconds_left <= 0:
            if not self.last_try:
                raise TimedOutOnce
            self.used_up = f"longer than {self.budget.submission:g} seconds"
            raise ChildLost("untried")
        if new_child and self.n_children >= self.budget.children * (1 - self._reserved):
            self.used_up = f"more than {self.budget.children} processes"
            raise ChildLost("untried")
