"""One submission in the sandbox: its cells are run, then its answers can be called.

A crash or an endless loop costs the cell or the call it happens in: a fresh child is
forked from the same cells, without those that end a process. How a child is asked is in
``child_client``.
"""

import contextlib
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from autograder.checking.call import CallResult, Raised, copied
from autograder.checking.result import Flag
from autograder.grading.budget import Budget, TimedOutOnce
from autograder.grading.child_client import (
    BoundFunctions,
    CallReply,
    CellsReport,
    ChildClient,
    ChildLost,
    LostKind,
    PlannedCall,
    When,
    clean_text,
    planned_call,
)
from autograder.grading.own_time import LAST_RESORT, ProcessorQueue
from autograder.grading.release import Cell, Role
from autograder.grading.sandbox import ChildProcess, SandboxClient

NOT_WRITTEN = Raised(("NotImplementedError", "RuntimeError", "Exception"))


_Asked = tuple[str, When, tuple[str, ...]]  # exercise, moment, names that are bound
MAX_HIDDEN_LINE = 200  # the lines of an answer that a hidden case may name


class _CallKind(NamedTuple):
    """Calls that crash or time out together: those of one exercise, judged in one way.

    bound : names that the answer finds bound to functions of ours
    alone : whether only the cells down to the check have run
    """

    exercise: str
    bound: tuple[str, ...]
    alone: bool


class Session:
    """One submission's cells and answers.

    report : of the child, on the cells
    killed : index of a cell to "crashed" or "timeout", if it ended the child
    used_up : what of its budget it has used up, in words; "" if nothing
    named : kinds and lines of the exceptions that hidden cases have named: the judge's
    hidden : whether the calls are those of a hidden case: the judge sets it. A child
        that has seen an input of one gets no call of a visible case any more, whose
        messages could tell it
    flags : calls of library functions in place of an answer
    called : exercises whose answers have been called
    forms : exercise to the forms of its functions, as the first child reports them
    """

    def __init__(
        self,
        sandbox: SandboxClient,
        cells: Sequence[Cell],
        budget: Budget,
        *,
        last_try: bool = True,
    ) -> None:
        """Store the cells; nothing runs yet.

        last_try : False raises ``TimedOutOnce`` at the first timeout; True gives each
            call and cell twice the time and accepts the timeout as the result. What the
            whole may take is the same: nothing else of this grader runs meanwhile
        """
        self.sandbox = sandbox
        self.cells = list(cells)
        self.budget = budget
        self.last_try = last_try
        self.report = CellsReport()
        self.killed: dict[int, LostKind] = {}
        self.used_up = ""
        self.hidden = False
        self.named: set[tuple[tuple[str, ...], int]] = set()
        self.flags: set[Flag] = set()
        self._watched = {name for each in sandbox.library.values() for name in each}
        self.called: set[str] = set()
        self.forms: dict[str, list[str]] | None = None
        self._start, self._queue = time.monotonic(), ProcessorQueue("self")
        # In the queue for a processor: children that have ended, and we until now.
        self._waited = -self._queue.seconds()
        self._n_children = 0
        self._reserved = 0.0
        self._child: ChildProcess | None = None
        self._client: ChildClient | None = None
        self._planned: Sequence[PlannedCall] = ()
        self._replies: list[tuple[bytes, CallReply]] = []  # to planned calls, by key
        self._asked: _Asked | None = None
        self._child_has_seen_hidden = False
        self._cells_to_run = self.cells  # fewer while an exercise is judged alone
        self._own = {i for i, cell in enumerate(cells) if cell.role == "own"}
        self._without_own = False
        self._hopeless: LostKind | None = None
        self._alone = False
        self._slow: set[str] = set()
        self._losses: Counter[tuple[_CallKind, LostKind]] = Counter()

    def __enter__(self) -> "Session":
        """Run the cells."""
        with contextlib.suppress(ChildLost):
            self._ready_child()
        return self

    def __exit__(self, *_: object) -> None:
        """End the child."""
        self._end_child()

    def reserve(self, n_exercises: int, n_all: int) -> None:
        """Reserve a part of the budget for exercises that are judged later.

        Half of it is shared out evenly, so that one answer cannot use up everything.
        """
        self._reserved = n_exercises / (2 * n_all)

    @property
    def _seconds_left(self) -> float:
        available = self.budget.submission * (1 - self._reserved)
        left = self._start + available - time.monotonic()
        if left > self.budget.submission / 2:  # so much that the queue does not matter
            return left
        waited = self._waited + self._queue.seconds()
        if self._client is not None:
            waited += self._client.queue.seconds_for_others()
        return left + min(waited, (LAST_RESORT - 1) * self.budget.submission)

    def _require_budget(self) -> None:
        """Raise ``ChildLost`` if the budget is used up; on the first try, time counts.

        How many children there are does not depend on what else runs.
        """
        if self._seconds_left <= 0:
            if not self.last_try:
                raise TimedOutOnce
            self.used_up = f"longer than {self.budget.submission:g} seconds"
            raise ChildLost("untried")
        if self._child is None:
            if self._n_children >= self.budget.children * (1 - self._reserved):
                self.used_up = f"more than {self.budget.children} processes"
                raise ChildLost("untried")

    def answer_moments(self, exercise: str) -> tuple[When, ...]:
        """Return when there are answers: at the check, at the end if another."""
        at_check, at_end = self.report.answers.get(exercise, ("", ""))
        both: tuple[tuple[When, str], ...] = (("check", at_check), ("end", at_end))
        return tuple(when for when, kind in both if kind == "answer") or ("check",)

    def goes_on_below(self, exercise: str) -> bool:
        """Return whether own cells of the learner stand below an exercise's check."""
        check = self._index_of("check", exercise)
        return check is not None and any(index > check for index in self._own)

    def _index_of(self, role: Role, exercise: str) -> int | None:
        """Return the index of an exercise's solution or check."""
        for index, cell in enumerate(self.cells):
            if cell.role == role and cell.exercise == exercise:
                return index
        return None

    @contextlib.contextmanager
    def alone(self, exercise: str) -> Iterator[None]:
        """Use a fresh child that has run no cell below an exercise's check.

        Neither those cells nor the answers to other exercises have touched it.
        """
        report, check = self.report, self._index_of("check", exercise)
        self._end_child()
        self._cells_to_run = self.cells if check is None else self.cells[: check + 1]
        self._alone = True
        try:
            yield
        finally:
            self._end_child()
            self._alone = False
            self._cells_to_run, self.report = self.cells, report

    def forget(self) -> None:
        """Make the next call the first of a new child.

        A test that is judged may not know what the functions before have returned. The
        new child is none of those that a submission may have, but its cells take their
        time: where the submission's ends, the call is not tried.
        """
        if self._client is None:
            return
        self._end_child()
        self._n_children -= 1
        with contextlib.suppress(ChildLost):
            self._ready_child()

    def plan(self, calls: Sequence[PlannedCall]) -> None:
        """Store the calls of one exercise that will follow if its answer is right.

        With the first of them all are asked for. What is called instead goes its own
        way; what is not called, since an earlier claim has failed, is computed in vain.
        """
        self._planned, self._replies = calls, []

    def call(
        self,
        exercise: str,
        when: When,
        arguments: tuple[object, ...],
        keywords: dict[str, object],
        bound: BoundFunctions,
    ) -> CallResult:
        """Call an answer.

        bound : names that the answer finds bound to functions of ours

        A crash counts when it happens again in a fresh child: an earlier call may have
        caused it.
        """
        call = planned_call(copied(arguments), keywords)
        call_kind = _CallKind(exercise, tuple(bound), self._alone)
        lost_kind = self._ending_without_try(call_kind)
        for _ in range(0 if lost_kind else 2):
            try:
                return self._call(exercise, when, call, bound)
            except ChildLost as lost:
                self._end_child()
                lost_kind = lost.kind
                self._losses[call_kind, lost_kind] += 1
            if lost_kind == "timeout":
                if not self.last_try:
                    raise TimedOutOnce
                self._slow.add(exercise)
            if lost_kind != "crashed":
                break
        return CallResult(lost_kind or "crashed", arguments=call.arguments)

    def _ending_without_try(self, call_kind: _CallKind) -> LostKind | None:
        """Return how all further calls of a kind end without being tried."""
        if self._hopeless:
            return self._hopeless
        if self._losses[call_kind, "timeout"] >= self.budget.timeouts:
            return "timeout"
        crashes = self._losses[call_kind, "crashed"]
        return "crashed" if crashes >= self.budget.crashes else None

    def _call(
        self,
        exercise: str,
        when: When,
        call: PlannedCall,
        bound: BoundFunctions,
    ) -> CallResult:
        if self._child_has_seen_hidden and not self.hidden:
            self._end_child()
        self._require_budget()
        self._ready_child()
        if "answer" not in self.report.answers.get(exercise, ()):
            return self._no_answer(exercise, call.arguments)
        asked = exercise, when, tuple(bound)
        reply = self._planned_reply(call, asked)
        if reply is None:
            calls = self._from_now(call)
            self._asked = asked
            client = self._ready_child()
            self._child_has_seen_hidden = self.hidden
            client.call(exercise, when, calls, bound)
            reply = client.reply(self._seconds_of_call(exercise))
        self.called.add(exercise)
        self._flag(exercise, reply.library_calls)
        raised = reply.result.raised
        if raised and self.hidden:
            number = raised.line_number if self._has_line(exercise, raised) else 0
            raised = replace(raised, line_number=number, cause="")
            return replace(reply.result, raised=raised)
        return reply.result

    def _seconds_of_call(self, exercise: str) -> float:
        seconds = self.budget.call * (2 if self.last_try else 1)
        if exercise in self._slow:
            seconds = self.budget.call / 10
        return min(seconds, self._seconds_left)

    def _from_now(self, call: PlannedCall) -> Sequence[PlannedCall]:
        """Return the planned calls from this one on; it alone if it is none of them."""
        for index, planned in enumerate(self._planned):
            if call.key and planned.key == call.key:
                calls, self._planned = self._planned[index:], ()
                return [call, *calls[1:]]
        return [call]

    def _planned_reply(self, call: PlannedCall, asked: _Asked) -> CallReply | None:
        """Return the reply to a call that has been asked for already, or None.

        Replies to other calls are kept. A child that does not live to give them has
        failed in nothing that is judged.
        """
        for index, (key, reply) in enumerate(self._replies):
            if key == call.key:
                del self._replies[: index + 1]
                return reply
        client, same = self._client, asked == self._asked
        while client and client.asked:
            key = client.asked[0].key if same else b""
            try:
                reply = client.reply(self._seconds_of_call(asked[0]))
            except ChildLost:
                if call.key and key == call.key:
                    raise
                self._end_child()
                break
            if call.key and key == call.key:
                self._replies.clear()
                return reply
            if key:
                self._replies.append((key, reply))
        return None

    def _flag(self, exercise: str, library_calls: Sequence[tuple[str, str]]) -> None:
        """Add what an answer has called in place of its own work.

        With a hidden input a child could choose what to name: then it adds one function
        to an exercise that has no flag, and no line.
        """
        for function, line in library_calls:
            flagged = any(flag.exercise == exercise for flag in self.flags)
            if function in self._watched and not (self.hidden and flagged):
                line = "" if self.hidden else line
                self.flags.add(Flag(exercise, function, line))

    def _has_line(self, exercise: str, raised: Raised) -> bool:
        """Return whether the line that a child has named stands in the answer's cell.

        A child that has a hidden input may name any: the choice of one of these tells
        little.
        """
        for cell in self.cells:
            if cell.role == "solution" and cell.exercise == exercise:
                lines = cell.source.split("\n")[:MAX_HIDDEN_LINE]
                index = raised.line_number - 1
                if 0 <= index < len(lines):
                    return clean_text(lines[index].strip()).startswith(raised.line)
        return False

    def _no_answer(self, exercise: str, arguments: tuple[object, ...]) -> CallResult:
        index = self._index_of("solution", exercise)
        if index in self.killed:
            return CallResult(self.killed[index], arguments=arguments)
        raised = self.report.troubles.get(index) if index is not None else None
        return CallResult("raised", None, raised or NOT_WRITTEN, arguments)

    def _ready_child(self) -> ChildClient:
        """Return a child that has run the cells; raises ``ChildLost`` if none does."""
        while self._client is None:
            if self._hopeless:
                raise ChildLost(self._hopeless)
            self._require_budget()
            self._child = self.sandbox.fork()
            self._n_children += 1
            skipped = {*self.killed} | (self._own if self._without_own else set())
            factor = 2 if self.last_try else 1
            total_seconds = min(self.budget.cells * factor, self._seconds_left)
            seconds = self.budget.cell * factor, total_seconds
            try:
                client = ChildClient(self._child)
                self.report = client.run(
                    self._cells_to_run,
                    sorted(skipped),
                    *seconds,
                    with_forms=self.forms is None,
                )
                self.forms = self.report.forms if self.forms is None else self.forms
                self._client = client
            except ChildLost as lost:
                self._end_child()
                if lost.kind == "timeout" and not self.last_try:
                    raise TimedOutOnce from None
                self._require_budget()  # else it is no cell's fault
                self._skip_cell(lost)
        return self._client

    def _skip_cell(self, lost: ChildLost) -> None:
        """Skip a cell that ended the child, from now on."""
        index = lost.cell_index
        if index < 0 and not self._without_own:  # no single cell takes too long
            self._without_own = True
            return
        if index < 0 or index in self.killed:  # it is no cell that ends it
            self._hopeless = lost.kind
            return
        self.killed[index] = lost.kind
        # An own cell may have made others end the process.
        if len(self.killed) == self.budget.deadly:
            self._without_own = True
            for innocent in {*self.killed} - self._own:
                del self.killed[innocent]

    def _end_child(self) -> None:
        if self._client is not None:
            self._waited += self._client.queue.seconds_for_others()
        self._client = None
        if self._child is not None:
            child, self._child = self._child, None
            self._child_has_seen_hidden = False
            child.end()
