"""One submission in the sandbox: its cells are run, then its answers can be called.

A crash or an endless loop costs the cell or the call it happens in: a fresh child is
forked from the same cells, without those that end a process. What is said to a child,
and what it says, is in ``dialogue``.
"""

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.checking.call import CallResult, Raised, copied
from autograder.grading.dialogue import (
    BoundFunctions,
    CellsReport,
    ChildClient,
    ChildLost,
    LostKind,
    When,
    clean,
)
from autograder.grading.release import Cell
from autograder.grading.result import Flag
from autograder.grading.sandbox import ChildProcess, Sandbox

__all__ = ["Budget", "Session", "TimedOutOnce", "When", "clean"]

NOT_WRITTEN = Raised(("NotImplementedError", "RuntimeError", "Exception"))


@dataclass(frozen=True)
class Budget:
    """How long a submission may take, and how often it may fail.

    call : seconds of one call; once an exercise has used them up, its later calls get
        a tenth
    cell, cells : seconds of one cell, and of all of them
    deadly : cells that may end the process before all of the learner's own are left out
    timeouts, crashes : of calls of one exercise, judged in one way, until its other
        calls are not tried
    """

    call: float = 5.0
    cell: float = 20.0
    cells: float = 60.0
    deadly: int = 4
    timeouts: int = 4
    crashes: int = 8


class TimedOutOnce(BaseException):
    """Something took too long while other submissions ran: it is tried once more."""


class Session:
    """One submission's cells and answers.

    report : what became of the cells
    killed : place of a cell to "crashed" or "timeout", if it ended the child
    flags : calls of library functions in place of an answer
    """

    def __init__(
        self,
        sandbox: Sandbox,
        cells: Sequence[Cell],
        budget: Budget,
        *,
        last_try: bool = True,
    ) -> None:
        """Take the cells; nothing runs yet.

        last_try : False raises ``TimedOutOnce`` at the first timeout; True gives twice the
            time and takes the timeout for the outcome
        """
        self.sandbox = sandbox
        self.cells = list(cells)
        self.budget = budget
        self.last_try = last_try
        self.report = CellsReport()
        self.killed: dict[int, LostKind] = {}
        self.flags: set[Flag] = set()
        self._child: ChildProcess | None = None
        self._run = self.cells  # those above a check, while it is looked at alone
        self._own = {place for place, cell in enumerate(cells) if cell.role == "own"}
        self._without_own = False
        self._hopeless: LostKind | None = None
        self._alone = False
        self._slow: set[str] = set()
        self._ends: Counter[tuple[Any, ...]] = Counter()  # by way of judging, and kind

    def __enter__(self) -> "Session":
        """Run the cells."""
        with contextlib.suppress(ChildLost):
            self._ready()
        return self

    def __exit__(self, *_: Any) -> None:
        """End the child."""
        self._drop()

    @property
    def troubles(self) -> dict[int, Raised]:
        """Place of a cell to the exception that ended it."""
        return self.report.troubles

    @property
    def outputs(self) -> dict[int, list[Any]]:
        """Place of a cell to what it showed."""
        return self.report.outputs

    @property
    def answers(self) -> dict[str, tuple[str, str]]:
        """Exercise to what stands under its name, at its check and at the end."""
        return self.report.answers

    def places(self, exercise: str) -> tuple[When, ...]:
        """Say where there are answers: at the check, at the end if that is another."""
        at_check, at_end = self.answers.get(exercise, ("", ""))
        both: tuple[tuple[When, str], ...] = (("check", at_check), ("end", at_end))
        return tuple(when for when, what in both if what == "answer") or ("check",)

    def place(self, role: str, exercise: str) -> int | None:
        """Give the place of an exercise's solution or check."""
        for place, cell in enumerate(self.cells):
            if cell.role == role and cell.exercise == exercise:
                return place
        return None

    def goes_on_below(self, exercise: str) -> bool:
        """Say whether cells of the learner's own stand below an exercise's check."""
        check = self.place("check", exercise)
        return check is not None and any(place > check for place in self._own)

    @contextlib.contextmanager
    def alone(self, exercise: str) -> Iterator[None]:
        """Have a fresh child that has run no cell below an exercise's check.

        Neither those cells nor the answers to other exercises have touched it.
        """
        before, check = self.report, self.place("check", exercise)
        self._drop()
        self._run = self.cells if check is None else self.cells[: check + 1]
        self._alone = True
        try:
            yield
        finally:
            self._drop()
            self._alone = False
            self._run, self.report = self.cells, before

    def call(
        self,
        exercise: str,
        when: When,
        arguments: tuple[Any, ...],
        keywords: dict[str, Any],
        bound: BoundFunctions,
    ) -> CallResult:
        """Call an answer; give what came of it.

        bound : names that the answer finds bound to functions of ours

        A crash counts when it comes again in a fresh child: what an earlier call has
        left behind may strike in a later one.
        """
        given = copied(arguments)
        way = exercise, tuple(bound), self._alone
        kind = self._given_up(way)
        for _ in range(0 if kind else 2):
            try:
                return self._call(exercise, when, (given, keywords), bound)
            except ChildLost as lost:
                self._drop()
                kind = lost.kind
                self._ends[*way, kind] += 1
            if kind == "timeout":
                if not self.last_try:
                    raise TimedOutOnce
                self._slow.add(exercise)
                break
        return CallResult(kind or "crashed", arguments=given)

    def _given_up(self, way: tuple[Any, ...]) -> LostKind | None:
        """Say how calls end of an exercise judged in a way, once none is tried."""
        if self._hopeless:
            return self._hopeless
        if self._ends[*way, "timeout"] >= self.budget.timeouts:
            return "timeout"
        crashes = self._ends[*way, "crashed"]
        return "crashed" if crashes >= self.budget.crashes else None

    def _call(
        self,
        exercise: str,
        when: When,
        call: tuple[tuple[Any, ...], dict[str, Any]],
        bound: BoundFunctions,
    ) -> CallResult:
        child = self._ready()
        if "answer" not in self.answers.get(exercise, ()):
            return self._no_answer(exercise, call[0])
        seconds = self.budget.call * (2 if self.last_try else 1)
        if exercise in self._slow:
            seconds = self.budget.call / 10
        told = ChildClient(child).call(exercise, when, call, bound, seconds)
        known = {name for names in self.sandbox.library.values() for name in names}
        self.flags |= {Flag(exercise, *seen) for seen in told.seen if seen[0] in known}
        return told.outcome

    def _no_answer(self, exercise: str, given: tuple[Any, ...]) -> CallResult:
        place = self.place("solution", exercise)
        if place in self.killed:
            return CallResult(self.killed[place], arguments=given)
        raised = self.troubles.get(place) if place is not None else None
        return CallResult("raised", None, raised or NOT_WRITTEN, given)

    def _ready(self) -> ChildProcess:
        """Give a child that has run the cells; raises ``ChildLost`` if none does."""
        while self._child is None:
            if self._hopeless:
                raise ChildLost(self._hopeless)
            self._child = self.sandbox.fork()
            left_out = {*self.killed} | (self._own if self._without_own else set())
            times = 2 if self.last_try else 1
            seconds = self.budget.cell * times, self.budget.cells * times
            try:
                dialogue = ChildClient(self._child)
                self.report = dialogue.run(self._run, sorted(left_out), *seconds)
            except ChildLost as lost:
                self._drop()
                if lost.kind == "timeout" and not self.last_try:
                    raise TimedOutOnce from None
                self._leave_out(lost)
        return self._child

    def _leave_out(self, lost: ChildLost) -> None:
        """Leave a cell out that ended the child, for good."""
        if lost.at < 0 and not self._without_own:  # no one cell takes too long
            self._without_own = True
            return
        if lost.at < 0 or lost.at in self.killed:  # it is no cell that ends it
            self._hopeless = lost.kind
            return
        self.killed[lost.at] = lost.kind
        if len(self.killed) == self.budget.deadly:  # own cells may strike later
            self._without_own = True
            for innocent in {*self.killed} - self._own:
                del self.killed[innocent]

    def _drop(self) -> None:
        if self._child is not None:
            child, self._child = self._child, None
            child.end()
