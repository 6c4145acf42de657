"""One submission in the sandbox: its cells are run, then its answers can be called.

A crash or an endless loop costs the cell or the call it happens in: a fresh child is
forked from the same cells, without those that end a process. Times are kept out here.
What a child says is looked at as a stranger's word: it can only be wrong, not harm.
"""

import contextlib
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from autograder.grading.inside import wire
from autograder.grading.result import Flag
from autograder.grading.sandbox import Broken, Child, Sandbox
from autograder.outcome import Outcome, Raised, copied, quiet

Cell = tuple[str, str, str]  # role, text, exercise
When = Literal["check", "end"]
Functions = Mapping[str, Callable[..., Any]]

ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}")  # differs from run to run
NOT_WRITTEN = Raised(("NotImplementedError", "RuntimeError", "Exception"))


@dataclass(frozen=True)
class Budget:
    """How long a submission may take, and how often it may fail.

    call : seconds of one call; once an exercise has used them up, its later calls get
        a tenth
    cell : seconds of one cell
    callbacks : functions of ours that one call may call
    deadly : cells that may end the process before all of the learner's own are left out
    timeouts : calls that may not end before the rest is given up
    children : processes for one submission
    """

    call: float = 5.0
    cell: float = 20.0
    callbacks: int = 10_000
    deadly: int = 6
    timeouts: int = 12
    children: int = 60


class TooSlow(BaseException):
    """Something took too long while other submissions ran: it is tried once more."""


class _Lost(Exception):
    """The child is gone, or has to go.

    kind : "crashed" or "timeout"
    """

    def __init__(self, kind: Literal["crashed", "timeout"]) -> None:
        super().__init__(kind)
        self.kind = kind


class Session:
    """One submission's cells and answers.

    troubles : place of a cell to the exception that ended it
    killed : place of a cell to "crashed" or "timeout", if it ended the child
    outputs : place of a cell to what it showed
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

        last_try : False raises ``TooSlow`` at the first timeout; True gives twice the
            time and takes the timeout for the outcome
        """
        self.sandbox = sandbox
        self.cells = list(cells)
        self.budget = budget
        self.last_try = last_try
        self.troubles: dict[int, Raised] = {}
        self.killed: dict[int, Literal["crashed", "timeout"]] = {}
        self.outputs: dict[int, list[Any]] = {}
        self.flags: set[Flag] = set()
        self.answers: dict[str, tuple[str, str]] = {}
        self._child: Child | None = None
        self._children = 0
        self._timeouts = 0
        self._slow: set[str] = set()
        self._at = -1
        self._without_own = False

    def __enter__(self) -> "Session":
        """Run the cells."""
        with contextlib.suppress(_Lost):
            self._ready()
        return self

    def __exit__(self, *_: Any) -> None:
        """End the child."""
        self._drop()

    def places(self, exercise: str) -> tuple[When, ...]:
        """Say where there are answers: at the check, at the end if that is another."""
        both: tuple[tuple[When, str], ...] = (
            ("check", self.answers.get(exercise, ("", ""))[0]),
            ("end", self.answers.get(exercise, ("", ""))[1]),
        )
        return tuple(when for when, what in both if what == "answer") or ("check",)

    def call(
        self,
        exercise: str,
        when: When,
        arguments: tuple[Any, ...],
        keywords: dict[str, Any],
        bound: Functions,
    ) -> Outcome:
        """Call an answer; give what came of it.

        bound : names that the answer finds bound to functions of ours
        """
        given = copied(arguments)
        try:
            child = self._ready()
            if "answer" not in self.answers.get(exercise, ()):
                return self._no_answer(exercise, given)
            return self._call(child, exercise, when, (given, keywords), bound)
        except _Lost as lost:
            self._drop()
            if lost.kind == "timeout":
                self._slow.add(exercise)
                self._timeouts += 1
            return Outcome(lost.kind, arguments=given)

    def solution(self, exercise: str) -> int | None:
        """Give the place of an exercise's solution cell."""
        for place, (role, _, name) in enumerate(self.cells):
            if role == "solution" and name == exercise:
                return place
        return None

    def _no_answer(self, exercise: str, given: tuple[Any, ...]) -> Outcome:
        place = self.solution(exercise)
        if place in self.killed:
            return Outcome(self.killed[place], arguments=given)
        raised = self.troubles.get(place, NOT_WRITTEN) if place is not None else None
        return Outcome("raised", None, raised or NOT_WRITTEN, given)

    def _ready(self) -> Child:
        """Give a child that has run the cells; raises ``_Lost`` if none does."""
        while self._child is None:
            if self._children >= self.budget.children:
                raise _Lost("crashed")
            if self._timeouts >= self.budget.timeouts:
                raise _Lost("timeout")
            self._children += 1
            self._child = self.sandbox.fork()
            try:
                self._run_cells(self._child)
            except _Lost as lost:
                self._drop()
                self._leave_out(self._at, lost)
        return self._child

    def _leave_out(self, place: int, lost: _Lost) -> None:
        """Leave a cell out that ended the child, for good."""
        if place < 0 or place in self.killed:  # it is no cell that ends it
            self._children = self.budget.children
            raise lost
        self.killed[place] = lost.kind
        if len(self.killed) == self.budget.deadly:  # own cells may strike later
            self._without_own = True
            own = {place for place, cell in enumerate(self.cells) if cell[0] == "own"}
            for innocent in {*self.killed} - own:
                del self.killed[innocent]

    def _run_cells(self, child: Child) -> None:
        """Run the cells; raises ``_Lost`` if the child ends, and leaves where."""
        self._at = -1
        seconds = self.budget.cell * (2 if self.last_try else 1)
        own = {place for place, cell in enumerate(self.cells) if cell[0] == "own"}
        left_out = {*self.killed} | (own if self._without_own else set())
        self._send(child, "run", self.cells, sorted(left_out))
        for _ in range(2 * len(self.cells) + 1):  # each cell runs twice at most
            what, *rest = self._receive(child, time.monotonic() + seconds)
            with _nonsense_is_a_crash():
                if what == "ran":
                    return self._take_report(rest)
                self._at = _checked(rest[0], int)
        raise _Lost("crashed")

    def _take_report(self, report: list[Any]) -> None:
        with _nonsense_is_a_crash():
            troubles, outputs, answers = report
            self.troubles = {
                _checked(place, int): _raised(raised)
                for place, raised in _checked(troubles, dict).items()
            }
            self.outputs = _checked(outputs, dict)
            self.answers = {
                _checked(name, str): (_checked(one, str), _checked(other, str))
                for name, (one, other) in _checked(answers, dict).items()
            }

    def _call(
        self,
        child: Child,
        exercise: str,
        when: When,
        call: tuple[tuple[Any, ...], dict[str, Any]],
        bound: Functions,
    ) -> Outcome:
        functions: list[Callable[..., Any]] = [*bound.values()]
        numbers = {name: place for place, name in enumerate(bound)}

        def number(function: Any) -> int:
            functions.append(function)
            return len(functions) - 1

        frame = wire.pack(["call", exercise, when, *call, numbers], number)
        self._send_frame(child, frame)
        deadline = time.monotonic() + self._seconds(exercise)
        for _ in range(self.budget.callbacks + 1):
            what, *rest = self._receive(child, deadline)
            if what == "outcome":
                with _nonsense_is_a_crash():
                    return self._outcome(exercise, call[0], *rest)
            start = time.monotonic()
            self._answer(child, functions, rest)
            deadline += time.monotonic() - start
        raise _Lost("timeout")

    def _seconds(self, exercise: str) -> float:
        if exercise in self._slow:
            return self.budget.call / 10
        return self.budget.call * (2 if self.last_try else 1)

    def _answer(
        self, child: Child, functions: list[Callable[..., Any]], asked: list[Any]
    ) -> None:
        """Answer a call of one of our functions."""
        with _nonsense_is_a_crash():
            number, arguments, keywords = asked
            function = functions[_checked(number, int)]
            arguments, keywords = _checked(arguments, tuple), _checked(keywords, dict)
        try:
            with quiet():
                value = function(*arguments, **keywords)
            frame = wire.pack(["answer", "value", value])
        except Exception as error:
            kinds = [kind.__name__ for kind in type(error).__mro__]
            frame = wire.pack(["answer", "raised", kinds, str(error)])
        self._send_frame(child, frame)

    def _outcome(
        self,
        exercise: str,
        given: tuple[Any, ...],
        kind: Any,
        value: Any,
        raised: Any,
        changed: Any,
        shares: Any,
        seen: Any,
    ) -> Outcome:
        if kind not in ("value", "raised", "output"):
            raise wire.Nonsense("an outcome of no kind")
        after = given if changed is None else _checked(changed, tuple)
        if len(after) != len(given) or (kind == "raised") != (raised is not None):
            raise wire.Nonsense("an outcome that does not fit its call")
        for function, line in _checked(seen, list):
            self._flag(exercise, _checked(function, str), _checked(line, str))
        told = None if raised is None else _raised(raised)
        return Outcome(kind, value, told, after, shares is True)

    def _flag(self, exercise: str, function: str, line: str) -> None:
        known = {name for names in self.sandbox.library.values() for name in names}
        if function in known:
            self.flags.add(Flag(exercise, function, clean(line)))

    def _send(self, child: Child, *words: Any) -> None:
        self._send_frame(child, wire.pack(list(words)))

    def _send_frame(self, child: Child, frame: bytes) -> None:
        """Send; a child that does not read, or is gone, is lost."""
        try:
            child.connection.settimeout(self.budget.cell)
            wire.send(child.connection, frame)
        except OSError:  # what it said before it went is still to be read
            pass

    def _receive(self, child: Child, deadline: float) -> list[Any]:
        """Give the child's next message, a list that begins with a word."""
        try:
            message = wire.unpack(wire.receive(child.connection, deadline))
        except TimeoutError:
            if not self.last_try:
                self._drop()
                raise TooSlow from None
            raise _Lost("timeout") from None
        except (EOFError, OSError, wire.Nonsense):
            raise _Lost("crashed") from None
        if type(message) is not list or not message or type(message[0]) is not str:
            raise _Lost("crashed")
        if message[0] == "failed":
            raise Broken(f"a child could not be shut in: {message[-1]}")
        return message

    def _drop(self) -> None:
        if self._child is not None:
            child, self._child = self._child, None
            child.end()


@contextlib.contextmanager
def _nonsense_is_a_crash() -> Any:
    try:
        yield
    except (wire.Nonsense, TypeError, ValueError, LookupError):
        raise _Lost("crashed") from None


def _checked(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise wire.Nonsense(f"no {kind.__name__}")
    return value


def _raised(told: Any) -> Raised:
    """Read an exception that a child tells of."""
    kinds, message, function, number, line = _checked(told, tuple)
    names = tuple(clean(_checked(kind, str))[:100] for kind in _checked(kinds, tuple))
    if not names:
        raise wire.Nonsense("an exception without a type")
    texts = [clean(_checked(text, str)) for text in (message, function, line)]
    return Raised(names[:20], texts[0], texts[1], _checked(number, int), texts[2])


def clean(text: str) -> str:
    """Give a text that any file takes and that is the same at every run."""
    whole = text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")
    return ADDRESS.sub("0x…", whole)
