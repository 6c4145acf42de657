"""The child: runs one submission's cells, then answers calls of its functions.

Whatever it says may be a lie, since the submission's code shares its process; nothing
that it could give away is here.

Messages to the child:
    ["run", cells, left_out]: each cell is (role, text, exercise)
    ["call", exercise, when, arguments, keywords, {name: function's number}]
    ["answer", "value", value] or ["answer", "raised", types, text]
Messages from it:
    ["at", place] before each cell, ["ran", troubles, outputs, answers]
    ["callback", number, arguments, keywords]
    ["outcome", kind, value, raised, arguments if changed, shares memory, calls seen]
"""

import builtins
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

from autograder.outcome import Outcome, Raised, described, run_here

from . import library, shell, wire
from .selection import chosen

LONGEST_MESSAGE = 2000  # characters of an exception's text
Cell = tuple[str, str, str]


def serve(connection: socket.socket, watched: dict[str, list[str]]) -> None:
    """Serve one submission until the connection ends.

    watched : for each exercise the functions that would answer it
    """
    shell.forget_randomness()
    sys.path.insert(0, "")  # as in Jupyter: a cell may write a module and import it
    child = Child(connection, library.watch(watched))
    while True:
        try:
            what, *rest = wire.unpack(wire.receive(connection))
        except EOFError:
            return
        {"run": child.run, "call": child.call}[what](*rest)


class Child:
    """One submission: its names, and its answers as they were at each check."""

    def __init__(self, connection: socket.socket, seen: library.Seen) -> None:
        """Start without cells."""
        self.connection = connection
        self.seen = seen
        self.shell = shell.make_shell()
        self.at_check: dict[str, dict[str, Any]] = {}
        self.at_end: dict[str, Any] = {}
        self.restored = ("", "")
        self.talking = threading.Lock()

    def run(self, cells: Sequence[Cell], left_out: Sequence[int]) -> None:
        """Run the cells that are to run, in order, and say how that went."""
        places = {*chosen([(role, text) for role, text, _ in cells])} - {*left_out}
        troubles: dict[int, Any] = {}
        shown: dict[int, Any] = {}
        for place, (role, text, exercise) in enumerate(cells):
            if role == "check":
                self.at_check[exercise] = dict(self.shell.user_ns)
            elif place in places:
                self._run_cell(place, text, troubles, shown)
        for place in [p for p, raised in troubles.items() if "NameError" in raised[0]]:
            del troubles[place]  # what it needed may stand further below
            self._run_cell(place, cells[place][1], troubles, shown)
        self.at_end = dict(self.shell.user_ns)
        answers = {exercise: self._answers(exercise) for exercise in self.at_check}
        self._say("ran", troubles, shown, answers)

    def call(
        self,
        exercise: str,
        when: str,
        arguments: tuple[Any, ...],
        keywords: dict[str, Any],
        bound: dict[str, int],
    ) -> None:
        """Call an answer, with some names bound to functions of the other side."""
        given = tuple(self._taken(value) for value in arguments)
        named = {name: self._taken(value) for name, value in keywords.items()}
        names = {name: self._function(number) for name, number in bound.items()}
        self._restore(exercise, when)
        before = self._packed(given)
        self.seen.begin(exercise, self.shell.user_ns)
        try:
            answer = self._names(exercise, when)[exercise]
            outcome = run_here(answer, names)(given, named)
        except BaseException as error:
            outcome = Outcome("raised", None, described(error, self.shell.user_ns))
        calls = self.seen.end()
        after = outcome.arguments
        changed = after if self._packed(after) != before else None
        raised = outcome.raised and _plain(outcome.raised)
        rest = raised, changed, outcome.shares_memory, calls
        try:
            self._say("outcome", outcome.kind, outcome.value, *rest)
        except wire.TooBig:
            self._say("outcome", "output", None, None, None, False, calls)

    def _run_cell(self, place: int, text: str, troubles: dict, shown: dict) -> None:
        self._say("at", place)
        error, outputs = shell.run_cell(self.shell, text)
        shown[place] = outputs
        if error is not None:
            troubles[place] = _plain(described(error, self.shell.user_ns))

    def _answers(self, exercise: str) -> tuple[str, str]:
        """Say what an exercise is at its check, and at the end if that is another."""
        at_check = self.at_check[exercise].get(exercise)
        at_end = self.at_end.get(exercise)
        return _what(at_check), "" if at_end is at_check else _what(at_end)

    def _names(self, exercise: str, when: str) -> dict[str, Any]:
        return self.at_check[exercise] if when == "check" else self.at_end

    def _restore(self, exercise: str, when: str) -> None:
        """Bring the names back as they were, where a later cell changed them."""
        if self.restored != (exercise, when):
            self.restored = exercise, when
            self.shell.user_ns.update(self.at_end)
            self.shell.user_ns.update(self._names(exercise, when))

    def _taken(self, value: Any) -> Any:
        return self._function(value.number) if type(value) is wire.Callback else value

    def _function(self, number: int) -> Callable[..., Any]:
        """Give a function that asks the other side."""

        def ask(*arguments: Any, **keywords: Any) -> Any:
            with self.talking:
                self._say("callback", number, arguments, keywords)
                _, kind, *rest = wire.unpack(wire.receive(self.connection))
            if kind == "raised":
                raise _exception(*rest)
            return rest[0]

        ask.number = number  # type: ignore[attr-defined]
        return ask

    def _packed(self, value: Any) -> bytes:
        try:
            return wire.pack(value, lambda function: getattr(function, "number", None))
        except wire.TooBig:
            return b"too big"

    def _say(self, *words: Any) -> None:
        wire.send(self.connection, wire.pack(list(words)))


def _what(value: Any) -> str:
    """Say what stands under an exercise's name: "answer", "" or the name of a type."""
    if value is None:
        return ""
    if isinstance(value, type) or not callable(value):
        return type(value).__name__ if not isinstance(value, type) else "class"
    return "answer"


def _plain(raised: Raised) -> tuple[Any, ...]:
    message, function = raised.message[:LONGEST_MESSAGE], raised.function[:200]
    return raised.types, message, function, raised.line_number, raised.line[:500]


def _exception(kinds: Sequence[str], text: str) -> BaseException:
    """Make an exception of a kind that Python has itself."""
    for name in kinds:
        kind = getattr(builtins, name, None)
        if isinstance(kind, type) and issubclass(kind, Exception):
            return kind(text)
    return RuntimeError(text)
