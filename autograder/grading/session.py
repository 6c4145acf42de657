"""One submission in the sandbox: its cells are run, then its answers can be called.

A crash or an endless loop costs the cell or the call it happens in: a fresh child is
forked from the same cells, without those that end a process (``losses``), while there
is time for it (``budget``). How a child is asked is in ``child_client``.
"""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

from autograder.checking.call import CallResult, Raised, copied
from autograder.checking.result import Flag
from autograder.grading.budget import Account, Budget, TimedOutOnce
from autograder.grading.child_client import (
    Asked,
    BoundFunctions,
    CallReply,
    CellsReport,
    ChildClient,
    ChildLost,
    PlannedCall,
    When,
    clean_text,
    planned_call,
)
from autograder.grading.losses import CallKind, LostCalls, SkippedCells
from autograder.grading.release import Cell, Role
from autograder.grading.sandbox import SandboxClient

NOT_WRITTEN = Raised(("NotImplementedError", "RuntimeError", "Exception"))
MAX_HIDDEN_LINE = 200  # the lines of an answer that a hidden case may name


class _PlannedCalls:
    """The calls of one exercise that follow if its answer is right, and their replies.

    Replies that have been read outlive the child that gave them.
    """

    def __init__(self, calls: Sequence[PlannedCall] = ()) -> None:
        """Store the calls; nobody has been asked yet."""
        self._calls = calls
        self._replies: list[tuple[bytes, CallReply]] = []  # by key, in order

    def from_now(self, call: PlannedCall) -> Sequence[PlannedCall]:
        """Return what to ask for: a call, and those planned after it if it is one."""
        for index, planned in enumerate(self._calls):
            if call.key and planned.key == call.key:
                calls, self._calls = self._calls[index:], ()
                return [call, *calls[1:]]
        return [call]

    def store(self, key: bytes, reply: CallReply) -> None:
        """Store a reply that has been read before its call was made."""
        self._replies.append((key, reply))

    def reply(self, key: bytes) -> CallReply | None:
        """Return the stored reply to a call, or None; those before it are dropped."""
        for index, (each, reply) in enumerate(self._replies):
            if each == key:
                del self._replies[: index + 1]
                return reply
        return None


class Session:
    """One submission's cells and answers.

    report : of the child, on the cells
    account : what it has used of its budget
    skipped : cells that do not run, since they ended a child
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
            call and cell twice the time and accepts the timeout as the result
        """
        self.sandbox = sandbox
        self.cells = list(cells)
        self.last_try = last_try
        self.account = Account(budget, last_try=last_try)
        self.skipped = SkippedCells(cells, budget)
        self.report = CellsReport()
        self.hidden = False
        self.named: set[tuple[tuple[str, ...], int]] = set()
        self.flags: set[Flag] = set()
        self.called: set[str] = set()
        self.forms: dict[str, list[str]] | None = None
        self._watched = {name for each in sandbox.library.values() for name in each}
        self._client: ChildClient | None = None
        self._planned = _PlannedCalls()
        self._lost_calls = LostCalls(budget)
        self._alone = ""  # the exercise that is judged alone, if one is

    def __enter__(self) -> "Session":
        """Run the cells."""
        with contextlib.suppress(ChildLost):
            self._ready_child()
        return self

    def __exit__(self, *_: object) -> None:
        """End the child."""
        self._end_child()

    def answer_moments(self, exercise: str) -> tuple[When, ...]:
        """Return when there are answers: at the check, at the end if another."""
        at_check, at_end = self.report.answers.get(exercise, ("", ""))
        both: tuple[tuple[When, str], ...] = (("check", at_check), ("end", at_end))
        return tuple(when for when, kind in both if kind == "answer") or ("check",)

    def goes_on_below(self, exercise: str) -> bool:
        """Return whether own cells of the learner stand below an exercise's check."""
        check = self._index_of("check", exercise)
        below = [] if check is None else self.cells[check + 1 :]
        return any(cell.role == "own" for cell in below)

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
        report = self.report
        self._end_child()
        self._alone = exercise
        try:
            yield
        finally:
            self._end_child()
            self._alone, self.report = "", report

    @property
    def _cells_to_run(self) -> Sequence[Cell]:
        check = self._index_of("check", self._alone) if self._alone else None
        return self.cells if check is None else self.cells[: check + 1]

    def forget(self) -> None:
        """Make the next call the first of a new child.

        A test that is judged may not know what the functions before have returned. The
        new child is none of those that a submission may have, but its cells take their
        time: where the submission's ends, the call is not tried.
        """
        if self._client is None:
            return
        self._end_child()
        self.account.n_children -= 1
        with contextlib.suppress(ChildLost):
            self._ready_child()

    def plan(self, calls: Sequence[PlannedCall]) -> None:
        """Store the calls of one exercise that will follow if its answer is right.

        With the first of them all are asked for. What is called instead goes its own
        way; what is not called, since an earlier claim has failed, is computed in vain.
        """
        self._planned = _PlannedCalls(calls)

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
        call_kind = CallKind(exercise, tuple(bound), bool(self._alone))
        lost_kind = self.skipped.no_child or self._lost_calls.ending(call_kind)
        for _ in range(0 if lost_kind else 2):
            try:
                return self._call(exercise, when, call, bound)
            except ChildLost as lost:
                self._end_child()
                lost_kind = lost.kind
                self._lost_calls.add(call_kind, lost_kind)
            if lost_kind == "timeout" and not self.last_try:
                raise TimedOutOnce
            if lost_kind != "crashed":
                break
        return CallResult(lost_kind or "crashed", arguments=call.arguments)

    def _call(
        self,
        exercise: str,
        when: When,
        call: PlannedCall,
        bound: BoundFunctions,
    ) -> CallResult:
        if self._client and self._client.has_seen_hidden and not self.hidden:
            self._end_child()
        self.account.require(new_child=self._client is None)
        self._ready_child()
        if "answer" not in self.report.answers.get(exercise, ()):
            return self._no_answer(exercise, call.arguments)
        reply = self._planned.reply(call.key)
        reply = reply or self._awaited_reply(call, (exercise, when, tuple(bound)))
        if reply is None:
            calls = self._planned.from_now(call)
            client = self._ready_child()
            client.has_seen_hidden = self.hidden
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
        is_slow = self._lost_calls.has_timed_out(exercise)
        return self.account.seconds_of_call(is_slow=is_slow)

    def _awaited_reply(self, call: PlannedCall, asked: Asked) -> CallReply | None:
        """Return the reply to a call that the child has been asked for, or None.

        Replies to other calls are stored. A child that does not live to give them has
        failed in nothing that is judged.
        """
        client = self._client
        while client and client.asked:
            key = client.asked[0].key if client.asked_of == asked else b""
            is_awaited = key != b"" and key == call.key
            try:
                reply = client.reply(self._seconds_of_call(asked[0]))
            except ChildLost:
                if is_awaited:
                    raise
                self._end_child()
                break
            if key:
                self._planned.store(key, reply)
            if is_awaited:
                return self._planned.reply(key)
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
        if index in self.skipped.endings:
            return CallResult(self.skipped.endings[index], arguments=arguments)
        raised = self.report.troubles.get(index) if index is not None else None
        return CallResult("raised", None, raised or NOT_WRITTEN, arguments)

    def _ready_child(self) -> ChildClient:
        """Return a child that has run the cells; raises ``ChildLost`` if none does."""
        while self._client is None:
            if self.skipped.no_child:
                raise ChildLost(self.skipped.no_child)
            self.account.require(new_child=True)
            self._start_child()
        return self._client

    def _start_child(self) -> None:
        """Run the cells in a new child; if it ends, skip the cell that ended it."""
        client = self._client = ChildClient(self.sandbox.fork())
        self.account.n_children += 1
        self.account.begin_child(client.queue)
        try:
            self.report = client.run(
                self._cells_to_run,
                self.skipped.indices,
                *self.account.seconds_of_cells(),
                with_forms=self.forms is None,
            )
        except ChildLost as lost:
            self._end_child()
            if lost.kind == "timeout" and not self.last_try:
                raise TimedOutOnce from None
            self.account.require(new_child=True)  # else it is no cell's fault
            self.skipped.blame(lost)
            return
        self.forms = self.report.forms if self.forms is None else self.forms

    def _end_child(self) -> None:
        if self._client is not None:
            client, self._client = self._client, None
            self.account.end_child()
            client.child.end()
