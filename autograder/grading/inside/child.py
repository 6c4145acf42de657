"""The child: runs one submission's cells, then answers calls of its functions.

Whatever it says may be a lie, since the submission's code shares its process; nothing
that it could give away is here.

Messages to the child:
    ["run", cells, skipped, with forms]: each cell is (role, source, exercise)
    ["call", token, exercise, when, [(arguments, keywords), …], {name: number}]
        one call after the other, with names bound to functions of these numbers
    ["answer", "value", value] or ["answer", "raised", types, text]
Messages from it:
    ["at", index] before each cell, ["ran", troubles, outputs, answers, forms]
    ["callback", token, number, arguments, keywords]
    ["outcome", token, kind, value, raised, changed arguments, shares memory,
     library calls] after each call
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
from .form import forms_of
from .selection import chosen_cells, texts_behind

MAX_MESSAGE_LENGTH = 2000  # characters of an exception's text
MAX_OUTPUT_BYTES = wire.FROM_CELLS.tree * 3 // 4  # of all cells
CellToRun = tuple[str, str, str]  # role, source, exercise


def serve(connection: socket.socket, library_calls: library.LibraryCalls) -> None:
    """Serve one submission until the connection ends."""
    shell.forget_randomness()
    sys.path.insert(0, "")  # as in Jupyter: a cell may write a module and import it
    runner = SubmissionRunner(connection, library_calls)
    requests: dict[str, Callable[..., None]] = {"run": runner.run, "call": runner.call}
    while True:
        try:
            word, *fields = wire.unpack(wire.receive(connection))
        except EOFError:
            return
        requests[word](*fields)


class SubmissionRunner:
    """One submission: its names, and its answers as they were at each check."""

    def __init__(
        self, connection: socket.socket, library_calls: library.LibraryCalls
    ) -> None:
        """Start without cells."""
        self.connection = connection
        self.library_calls = library_calls
        self.shell = shell.make_shell()
        self.at_check: dict[str, dict[str, Any]] = {}
        self.at_end: dict[str, Any] = {}
        self.names = self.shell.user_ns  # a cell may give the shell another dictionary
        self.process = os.getpid()
        self.token = b""
        self.restored = ("", "")
        self.output_room = MAX_OUTPUT_BYTES
        self.callback_lock = threading.Lock()

    def run(
        self,
        cells: Sequence[CellToRun],
        skipped: Sequence[int],
        with_forms: bool = False,
    ) -> None:
        """Run the chosen cells in order; report troubles, outputs and answers."""
        candidates = [i for i in range(len(cells)) if i not in skipped]
        sources = [(role, text) for role, text, _ in map(cells.__getitem__, candidates)]
        chosen = {candidates[i] for i in chosen_cells(sources)}
        self.library_calls.start(self.names, texts_behind(cells))
        forms = (
            forms_of(cells) if with_forms else {}
        )  # before a cell can change what that is
        troubles: dict[int, Raised] = {}
        outputs: dict[int, list[dict]] = {}
        for index, (role, source, exercise) in enumerate(cells):
            if role == "check":
                self.at_check[exercise] = dict(self.names)
            elif index in chosen:
                self.library_calls.cell = exercise
                self._run_cell(index, source, troubles, outputs)
        for index in [i for i, each in troubles.items() if "NameError" in each.types]:
            del troubles[index]  # a cell further below may bind the name
            _, source, self.library_calls.cell = cells[index]
            self._run_cell(index, source, troubles, outputs)
        self.at_end = dict(self.names)
        answers = {exercise: self._answer_kinds(exercise) for exercise in self.at_check}
        try:
            raised = {index: _as_tuple(each) for index, each in troubles.items()}
            self._send("ran", raised, outputs, answers, forms)
        except wire.TooLarge:  # of so many troubles none is worth an answer
            self._send("ran", {}, {}, answers, {})

    def call(
        self,
        token: bytes,
        exercise: str,
        when: str,
        calls: Sequence[tuple[tuple[Any, ...], dict[str, Any]]],
        bound: dict[str, int],
    ) -> None:
        """Call an answer again and again, and report after each call.

        bound : names that it finds bound to functions of the other side
        """
        self.token = token
        for arguments, keywords in calls:
            self._call(exercise, when, arguments, keywords, bound)

    def _call(
        self,
        exercise: str,
        when: str,
        arguments: tuple[Any, ...],
        keywords: dict[str, Any],
        bound: dict[str, int],
    ) -> None:
        positional = tuple(self._received(value) for value in arguments)
        named = {name: self._received(value) for name, value in keywords.items()}
        names = {name: self._function(number) for name, number in bound.items()}
        self._restore(exercise, when)
        packed_before = self._packed(positional)
        self.library_calls.begin(exercise)
        try:
            answer = self._names_at(exercise, when)[exercise]
            result = local_runner(answer, names)(positional, named)
            if result.raised and self.library_calls.is_of_a_library(namespace(answer)):
                result = _without_line(result, result.raised)
        except BaseException as error:
            raised = describe_exception(error, self.names)
            result = CallResult("raised", None, raised, positional)
        if os.getpid() != self.process:
            os._exit(0)  # the answer has forked: only one of the two may reply
        calls = self.library_calls.end()
        after = result.arguments
        changed = after if self._packed(after) != packed_before else None
        exception = result.raised and _as_tuple(result.raised)
        rest = exception, changed, result.shares_memory, calls
        try:
            self._send("outcome", self.token, result.kind, result.value, *rest)
        except wire.TooLarge:
            rest = None, None, False, calls
            self._send("outcome", self.token, "output", None, *rest)

    def _run_cell(
        self,
        index: int,
        source: str,
        troubles: dict[int, Raised],
        outputs: dict[int, list[dict]],
    ) -> None:
        self._send("at", index)
        error, cell_outputs = shell.run_cell(self.shell, source)
        outputs[index] = self._that_fit(cell_outputs)
        if error is not None:
            troubles[index] = describe_exception(error, self.names)

    def _that_fit(self, outputs: list[dict]) -> list[dict]:
        """Return a cell's outputs, as long as the report has room for them."""
        try:
            size = len(wire.pack(outputs))
        except wire.TooLarge:
            size = self.output_room + 1
        if size > self.output_room:
            return [{"name": "stdout", "text": "", "cut": True}]
        self.output_room -= size
        return outputs

    def _answer_kinds(self, exercise: str) -> tuple[str, str]:
        """Return what an exercise is at its check, and at the end if another."""
        at_check = self.at_check[exercise].get(exercise)
        at_end = self.at_end.get(exercise)
        return _kind(at_check), "" if at_end is at_check else _kind(at_end)

    def _names_at(self, exercise: str, when: str) -> dict[str, Any]:
        return self.at_check[exercise] if when == "check" else self.at_end

    def _restore(self, exercise: str, when: str) -> None:
        """Restore the names as they were, if a later cell has changed them."""
        if self.restored != (exercise, when):
            self.restored = exercise, when
            self.names.update(self.at_end)
            self.names.update(self._names_at(exercise, when))

    def _received(self, value: Any) -> Any:
        return self._function(value.number) if type(value) is wire.Callback else value

    def _function(self, number: int) -> Callable[..., Any]:
        """Return a function that calls one of the other side's."""

        def ask(*arguments: Any, **keywords: Any) -> Any:
            with self.callback_lock:
                self._send("callback", self.token, number, arguments, keywords)
                _, kind, *fields = wire.unpack(wire.receive(self.connection))
            if kind == "raised":
                raise _exception(*fields)
            return fields[0]

        ask.number = number  # type: ignore[attr-defined]
        return ask

    def _packed(self, value: Any) -> bytes:
        try:
            return wire.pack(value, lambda function: getattr(function, "number", None))
        except wire.TooLarge:
            return b"too big"

    def _send(self, *words: Any) -> None:
        limits = wire.FROM_CELLS if words[0] in ("at", "ran") else wire.FROM_CALL
        frame = wire.pack(list(words), limits=limits)
        wire.send(self.connection, frame)


def _kind(value: Any) -> str:
    """Return the kind of an exercise's value: "answer", "" or the name of a type."""
    if value is None:
        return ""
    if isinstance(value, type):
        return "class"
    return "answer" if callable(value) else type(value).__name__


def _without_line(result: CallResult, raised: Raised) -> CallResult:
    """Return the result without the line, which is not the learner's."""
    return replace(result, raised=Raised(raised.types, raised.message))


def _as_tuple(raised: Raised) -> tuple[Any, ...]:
    message, function = raised.message[:MAX_MESSAGE_LENGTH], raised.function[:200]
    line, cause = raised.line[:500], raised.cause
    return raised.types, message, function, raised.line_number, line, cause


def _exception(kinds: Sequence[str], text: str) -> BaseException:
    """Return an exception of a kind that Python has itself."""
    for name in kinds:
        kind = getattr(builtins, name, None)
        if isinstance(kind, type) and issubclass(kind, Exception):
            return kind(text)
    return RuntimeError(text)
