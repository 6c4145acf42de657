"""The child: runs one submission's cells, then answers calls of its functions.

Whatever it says may be a lie, since the submission's code shares its process; nothing
that it could give away is here.

Messages to the child:
    ["run", cells, left_out]: each cell is (role, text, exercise)
    ["call", token, exercise, when, arguments, keywords, {name: function's number}]
    ["answer", "value", value] or ["answer", "raised", types, text]
Messages from it:
    ["at", place] before each cell, ["ran", troubles, outputs, answers]
    ["callback", token, number, arguments, keywords]
    ["outcome", token, kind, value, raised, changed, shares memory, calls seen]
"""

import builtins
import os
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from autograder.checking.call import (
    CallResult,
    Raised,
    describe_exception,
    local_runner,
    namespace,
)

from . import library, shell, wire
from .selection import chosen

LONGEST_MESSAGE = 2000  # characters of an exception's text
MOST_SHOWN = wire.MAX_CHILD_TREE_BYTES * 3 // 4  # bytes of all that the cells show
CellToRun = tuple[str, str, str]


def serve(connection: socket.socket, seen: library.Seen) -> None:
    """Serve one submission until the connection ends.

    seen : notices calls of library functions
    """
    shell.forget_randomness()
    sys.path.insert(0, "")  # as in Jupyter: a cell may write a module and import it
    child = SubmissionRunner(connection, seen)
    answers: dict[str, Callable[..., None]] = {"run": child.run, "call": child.call}
    while True:
        try:
            what, *rest = wire.unpack(wire.receive(connection))
        except EOFError:
            return
        answers[what](*rest)


class SubmissionRunner:
    """One submission: its names, and its answers as they were at each check."""

    def __init__(self, connection: socket.socket, seen: library.Seen) -> None:
        """Start without cells."""
        self.connection = connection
        self.seen = seen
        self.shell = shell.make_shell()
        self.at_check: dict[str, dict[str, Any]] = {}
        self.at_end: dict[str, Any] = {}
        self.names = self.shell.user_ns  # a cell may give the shell another dictionary
        self.process = os.getpid()
        self.token = b""
        self.restored = ("", "")
        self.room = MOST_SHOWN
        self.talking = threading.Lock()

    def run(self, cells: Sequence[CellToRun], left_out: Sequence[int]) -> None:
        """Run the cells that are to run, in order, and say how that went."""
        left = [place for place in range(len(cells)) if place not in left_out]
        places = {left[at] for at in chosen([cells[place][:2] for place in left])}
        troubles: dict[int, Any] = {}
        shown: dict[int, Any] = {}
        for place, (role, text, exercise) in enumerate(cells):
            if role == "check":
                self.at_check[exercise] = dict(self.names)
            elif place in places:
                self._run_cell(place, text, troubles, shown)
        for place in [p for p, raised in troubles.items() if "NameError" in raised[0]]:
            del troubles[place]  # what it needed may stand further below
            self._run_cell(place, cells[place][1], troubles, shown)
        self.at_end = dict(self.names)
        answers = {exercise: self._answers(exercise) for exercise in self.at_check}
        try:
            self._say("ran", troubles, shown, answers)
        except wire.TooLarge:  # of so many troubles none is worth an answer
            self._say("ran", {}, {}, answers)

    def call(
        self,
        token: bytes,
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
        self.token = token
        before = self._packed(given)
        self.seen.begin(exercise, self.names)
        try:
            answer = self._names_then(exercise, when)[exercise]
            outcome = local_runner(answer, names)(given, named)
            if outcome.raised and library.is_ours(namespace(answer)):
                outcome = _without_place(outcome, outcome.raised)
        except BaseException as error:
            raised = describe_exception(error, self.names)
            outcome = CallResult("raised", None, raised, given)
        if os.getpid() != self.process:
            os._exit(0)  # the answer has forked: one of the two has to speak
        calls = self.seen.end()
        after = outcome.arguments
        changed = after if self._packed(after) != before else None
        told = outcome.raised and _plain(outcome.raised)
        rest = told, changed, outcome.shares_memory, calls
        try:
            self._say("outcome", token, outcome.kind, outcome.value, *rest)
        except wire.TooLarge:
            self._say("outcome", token, "output", None, None, None, False, calls)

    def _run_cell(self, place: int, text: str, troubles: dict, shown: dict) -> None:
        self._say("at", place)
        error, outputs = shell.run_cell(self.shell, text)
        shown[place] = self._that_fit(outputs)
        if error is not None:
            troubles[place] = _plain(describe_exception(error, self.names))

    def _that_fit(self, outputs: list[dict]) -> list[dict]:
        """Give what a cell showed, as long as the report has room for it."""
        try:
            size = len(wire.pack(outputs))
        except wire.TooLarge:
            size = self.room + 1
        if size > self.room:
            return [{"name": "stdout", "text": "", "cut": True}]
        self.room -= size
        return outputs

    def _answers(self, exercise: str) -> tuple[str, str]:
        """Say what an exercise is at its check, and at the end if that is another."""
        at_check = self.at_check[exercise].get(exercise)
        at_end = self.at_end.get(exercise)
        return _what(at_check), "" if at_end is at_check else _what(at_end)

    def _names_then(self, exercise: str, when: str) -> dict[str, Any]:
        return self.at_check[exercise] if when == "check" else self.at_end

    def _restore(self, exercise: str, when: str) -> None:
        """Bring the names back as they were, where a later cell changed them."""
        if self.restored != (exercise, when):
            self.restored = exercise, when
            self.names.update(self.at_end)
            self.names.update(self._names_then(exercise, when))

    def _taken(self, value: Any) -> Any:
        return self._function(value.number) if type(value) is wire.Callback else value

    def _function(self, number: int) -> Callable[..., Any]:
        """Give a function that asks the other side."""

        def ask(*arguments: Any, **keywords: Any) -> Any:
            with self.talking:
                self._say("callback", self.token, number, arguments, keywords)
                _, kind, *rest = wire.unpack(wire.receive(self.connection))
            if kind == "raised":
                raise _exception(*rest)
            return rest[0]

        ask.number = number  # type: ignore[attr-defined]
        return ask

    def _packed(self, value: Any) -> bytes:
        try:
            return wire.pack(value, lambda function: getattr(function, "number", None))
        except wire.TooLarge:
            return b"too big"

    def _say(self, *words: Any) -> None:
        frame = wire.pack(list(words), max_tree_bytes=wire.MAX_CHILD_TREE_BYTES)
        wire.send(self.connection, frame)


def _what(value: Any) -> str:
    """Say what stands under an exercise's name: "answer", "" or the name of a type."""
    if value is None:
        return ""
    if isinstance(value, type) or not callable(value):
        return type(value).__name__ if not isinstance(value, type) else "class"
    return "answer"


def _without_place(outcome: CallResult, raised: Raised) -> CallResult:
    """Leave out the line: it is not the learner's."""
    bare = Raised(raised.types, raised.message)
    return replace(outcome, raised=bare)


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
