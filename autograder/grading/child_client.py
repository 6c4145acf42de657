"""The client of one child: have it run cells and call answers, answer its callbacks.

What a child says is untrusted: its replies are read field by field as plain data of an
expected form, and whatever else they are counts as the child's crash. Texts are cut and
cleaned here, so that all that is written about them can be stored. A reply can be
wrong, but do no harm. How often a submission may fail, and what then, is decided in
``session``.
"""

import contextlib
import re
import resource
import secrets
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from autograder.checking.call import CallResult, Raised, silenced
from autograder.checking.own_time import LAST_RESORT, ProcessorQueue, TimeLeft
from autograder.checking.time_limit import TimeLimitExceeded, time_limit
from autograder.grading.inside import wire
from autograder.grading.release import Cell
from autograder.grading.sandbox import ChildProcess, SandboxFailure
from autograder.grading.sender import ask_for_sender, sender

LostKind = Literal["crashed", "timeout", "untried"]
When = Literal["check", "end"]
BoundFunctions = Mapping[str, Callable[..., Any]]
Asked = tuple[str, When, tuple[str, ...]]  # exercise, moment, names that are bound

MAX_TEXT_LENGTH = 2000  # characters of an exception's text
MAX_LINE_LENGTH = 500  # of a line of code
MAX_NAME_LENGTH = 200  # of a function or a type
MAX_TYPES = 20  # of an exception: its class and the bases
MAX_LINES = 1 << 20  # of a cell: it has no more bytes
MAX_LIBRARY_CALLS = 1000  # functions that one call may have called; few are watched
MAX_OUTPUTS = 20  # of one cell, as ``inside.shell`` records them
ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}")  # differs from run to run
MAX_CALLBACKS = 10_000  # functions of ours that one call may call
# What they may take together, since they run with our rights: processor time, which
# does not depend on what else runs, and by the clock ten times that as a last resort.
CALLBACK_SECONDS = 8.0
MAX_CALLBACK_BYTES = 1 << 15  # of arguments: what NumPy computes is not interrupted
TOO_MUCH = f"arguments of more than {MAX_CALLBACK_BYTES:,} bytes: use smaller ones"
MAX_CALLBACK_MEMORY = 96 << 20  # bytes that one of them may take
SEND_SECONDS = 3.0  # until a child has read a message: it waits for nothing else


class ChildLost(Exception):
    """The child is gone, or has to go.

    kind : "crashed" or "timeout"; "untried" if there was no time left to start one
    cell_index : of the cell that it was in, if it ran cells; -1 before the first
    """

    def __init__(self, kind: LostKind, cell_index: int = -1) -> None:
        """Record how it ended, and in which cell."""
        super().__init__(kind)
        self.kind = kind
        self.cell_index = cell_index


@dataclass(frozen=True)
class CellsReport:
    """What a child reports when the cells have run.

    troubles : index of a cell to the exception that ended it
    outputs : index of a cell to its outputs, in the form that ``inside.shell`` has
    answers : exercise to the kind of its value at its check, and at the end if
        that is another: "answer", "" for nothing, or the name of a type
    forms : exercise to the forms of the functions in its cells (``inside.form``)
    """

    troubles: dict[int, Raised] = field(default_factory=dict)
    outputs: dict[int, list[Any]] = field(default_factory=dict)
    answers: dict[str, tuple[str, str]] = field(default_factory=dict)
    forms: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class CallReply:
    """A child's reply to a call.

    library_calls : watched functions that the answer called, with the calling lines
    """

    result: CallResult
    library_calls: tuple[tuple[str, str], ...]


def clean_text(text: str) -> str:
    """Return a text that any file takes and that is the same at every run."""
    encodable = text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")
    return ADDRESS.sub("0x…", encodable)


@contextlib.contextmanager
def treat_malformed_as_crash() -> Iterator[None]:
    """Raise ``ChildLost`` where a reply cannot be read."""
    try:
        yield
    except (wire.MalformedMessage, wire.TooLarge, TypeError, ValueError, LookupError):
        raise ChildLost("crashed") from None


def read_cells_report(fields: list[Any], n_cells: int) -> CellsReport:
    """Read what a child reports when its cells have run."""
    troubles, outputs, answers, forms = fields
    return CellsReport(
        {
            read_cell_index(index, n_cells): _read_exception(raised)
            for index, raised in require_type(troubles, dict).items()
        },
        {
            read_cell_index(index, n_cells): _read_outputs(each)
            for index, each in require_type(outputs, dict).items()
        },
        {
            read_text(name, MAX_NAME_LENGTH): _read_answer_kinds(*kinds)
            for name, kinds in require_type(answers, dict).items()
        },
        {
            read_text(name, MAX_NAME_LENGTH): [
                read_text(each, MAX_NAME_LENGTH) for each in require_type(listed, list)
            ]
            for name, listed in require_type(forms, dict).items()
        },
    )


def _read_answer_kinds(at_check: Any, at_end: Any) -> tuple[str, str]:
    """Read the kinds of an exercise's value at its check and at the end."""
    return read_text(at_check, MAX_NAME_LENGTH), read_text(at_end, MAX_NAME_LENGTH)


def _read_outputs(recorded: Any) -> list[dict[str, Any]]:
    """Read what a cell has displayed."""
    return [_read_output(each) for each in require_type(recorded, list)[:MAX_OUTPUTS]]


def _read_output(output: Any) -> dict[str, Any]:
    """Read a text that was printed, or the forms of a displayed object."""
    fields = require_type(output, dict)
    if "data" in fields:
        forms = require_type(fields["data"], dict).items()
        return {"data": {read_text(kind): read_text(text) for kind, text in forms}}
    read = {name: read_text(fields[name]) for name in ("name", "text")}
    return read | ({"cut": True} if fields.get("cut") is True else {})


def read_call_reply(
    arguments: tuple[Any, ...],
    kind: Any,
    value: Any,
    raised: Any,
    arguments_after: Any,
    shares_memory: Any,
    library_calls: Any,
) -> CallReply:
    """Read the reply to a call.

    arguments : those that it was called with
    arguments_after : those after the call, or None if they are as they were
    """
    if kind not in ("value", "raised", "output"):
        raise wire.MalformedMessage("a result of no kind")
    after = (
        arguments if arguments_after is None else require_type(arguments_after, tuple)
    )
    if len(after) != len(arguments) or (kind == "raised") != (raised is not None):
        raise wire.MalformedMessage("a result that does not fit its call")
    # A function that was lent comes back as nothing that is known here.
    pairs = zip(arguments, after, strict=True)
    after = tuple(before if callable(before) else each for before, each in pairs)
    exception = None if raised is None else _read_exception(raised)
    if len(require_type(library_calls, list)) > MAX_LIBRARY_CALLS:
        raise wire.MalformedMessage("more calls than there are functions")
    calls: dict[str, str] = {}
    for name, line in library_calls:
        calls[read_text(name, MAX_NAME_LENGTH)] = read_text(line, MAX_LINE_LENGTH)
    result = CallResult(kind, value, exception, after, shares_memory is True)
    return CallReply(result, tuple(calls.items()))


def _read_exception(raised: Any) -> Raised:
    """Read an exception that a child reports."""
    kinds, message, function, line_number, line, cause = require_type(raised, tuple)
    kinds = require_type(kinds, tuple)[:MAX_TYPES]
    names = tuple(read_text(kind, MAX_NAME_LENGTH) for kind in kinds)
    if not names:
        raise wire.MalformedMessage("an exception without a type")
    no_line = require_type(line_number, int) not in range(MAX_LINES)
    return Raised(
        names,
        read_text(message, MAX_TEXT_LENGTH),
        read_text(function, MAX_NAME_LENGTH),
        0 if no_line else line_number,
        read_text(line, MAX_LINE_LENGTH),
        read_text(cause, MAX_LINE_LENGTH),
    )


def read_text(value: Any, max_length: int | None = None) -> str:
    """Read a text, cut to so many characters, as any file takes it."""
    return clean_text(require_type(value, str)[:max_length])


def read_cell_index(value: Any, n_cells: int) -> int:
    """Read the index of a cell, of so many."""
    if require_type(value, int) not in range(n_cells):
        raise wire.MalformedMessage("no cell")
    return value


def require_type(value: Any, kind: type) -> Any:
    """Return a value of exactly this type; raises ``MalformedMessage``."""
    if type(value) is not kind:
        raise wire.MalformedMessage(f"no {kind.__name__}")
    return value


class PlannedCall(NamedTuple):
    """A call that a right answer gets, known before it is asked for.

    key : the arguments' bytes
    """

    key: bytes
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]


LONGEST_KEY = 1 << 16  # bytes; longer arguments come from an answer, not from a case


def planned_call(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> PlannedCall:
    """Return a call with its key: none if the arguments are long or no plain data."""
    return PlannedCall(key_of(arguments, keywords), arguments, keywords)


def key_of(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bytes:
    """Return the arguments' bytes; none if they are long or no plain data."""
    try:
        frame = wire.pack([arguments, sorted(keywords.items())], _refuse)
    except (wire.TooLarge, TypeError):
        return b""
    return frame if len(frame) < LONGEST_KEY else b""


def _refuse(function: Any) -> int:
    raise TypeError("a function has no bytes")


class ChildClient:
    """Asks one child that has just been forked.

    asked : the calls that it has been asked for, and to which it has not replied
    asked_of : exercise, moment, and the names that are bound, of these
    has_seen_hidden : whether one had a hidden case's input, as the session sets it
    queue : how long it has waited for a processor
    """

    def __init__(self, child: ChildProcess) -> None:
        """Keep the child."""
        self.child = child
        self.asked: deque[PlannedCall] = deque()
        self.asked_of: Asked | None = None
        self.has_seen_hidden = False
        self._token = b""
        self._functions: list[Callable[..., Any]] = []
        self.queue = ProcessorQueue()
        ask_for_sender(child.connection)

    def run(
        self,
        cells: Sequence[Cell],
        skipped: Sequence[int],
        seconds: float,
        total_seconds: float,
        *,
        with_forms: bool = True,
    ) -> CellsReport:
        """Run the cells in the child; raises ``ChildLost`` if it ends.

        skipped : indices of cells that do not run
        seconds, total_seconds : of each cell, and of all of them; over the latter the
            error has no cell, for any of them may have taken too long
        with_forms : whether the report has the answers' forms
        """
        index, total = -1, TimeLeft(total_seconds, self.queue)
        try:
            sources = [(cell.role, cell.source, cell.exercise) for cell in cells]
            self._send(wire.pack(["run", sources, list(skipped), with_forms]))
            for _ in range(2 * len(cells) + 1):  # a cell runs twice at most
                left = partial(_least, TimeLeft(seconds, self.queue), total)
                word, *fields = self._receive(left, wire.FROM_CELLS, index < 0)
                with treat_malformed_as_crash():
                    if word == "ran":
                        return read_cells_report(fields, len(cells))
                    index = read_cell_index(fields[0], len(cells))
        except ChildLost as lost:
            index = index if total() > 0 else -1
            raise ChildLost(lost.kind, index) from None
        raise ChildLost("crashed", index)

    def call(
        self,
        exercise: str,
        when: When,
        calls: Sequence[PlannedCall],
        bound: BoundFunctions,
    ) -> None:
        """Ask for calls of an answer, one after the other; ``reply`` has the results.

        All earlier ones have to be replied to. Several at once save the two processes
        from waiting for each other.

        bound : names that the answer finds bound to functions of ours
        """
        functions: list[Callable[..., Any]] = [*bound.values()]
        numbers = {name: number for number, name in enumerate(bound)}

        def number_of(function: Any) -> int:
            functions.append(function)
            return len(functions) - 1

        self._token = secrets.token_bytes(8)  # an earlier call cannot answer these
        arguments = [(each.arguments, each.keywords) for each in calls]
        request = ["call", self._token, exercise, when, arguments, numbers]
        self._send(wire.pack(request, number_of))
        self.asked.extend(calls)
        self.asked_of = exercise, when, tuple(bound)
        self._functions = functions

    def reply(self, seconds: float) -> CallReply:
        """Return the reply to the next call; raises ``ChildLost`` if there is none.

        seconds : that it may take from now on
        """
        arguments = self.asked[0].arguments
        left, used, waited = TimeLeft(seconds, self.queue), 0.0, 0.0
        for _ in range(MAX_CALLBACKS):
            word, *fields = self._receive(left, wire.FROM_CALL)
            with treat_malformed_as_crash():
                if _is_stale(word, fields[0], self._token):
                    continue
                if word == "outcome":
                    reply = read_call_reply(arguments, *fields[1:])
                    self.asked.popleft()
                    return reply
            start, start_of_work = time.monotonic(), time.thread_time()
            most = LAST_RESORT * CALLBACK_SECONDS - waited
            self._answer_callback(self._functions, fields[1:], most)
            used += time.thread_time() - start_of_work
            waited += time.monotonic() - start
            left.extend(time.monotonic() - start)
            if used > CALLBACK_SECONDS or waited > LAST_RESORT * CALLBACK_SECONDS:
                break
        raise ChildLost("timeout")

    def _answer_callback(
        self, functions: list[Callable[..., Any]], request: list[Any], seconds: float
    ) -> None:
        """Answer a call of one of our functions.

        seconds : by the clock, that it may take
        """
        with treat_malformed_as_crash():
            number, arguments, keywords = request
            function = functions[require_type(number, int)]
            arguments = require_type(arguments, tuple)
            keywords = require_type(keywords, dict)
            size = len(wire.pack([arguments, keywords]))
        try:
            if size > MAX_CALLBACK_BYTES:
                raise ValueError(TOO_MUCH)
            with silenced(), _limited_memory(), time_limit(seconds, 1):
                value = function(*arguments, **keywords)
            frame = wire.pack(["answer", "value", value])
        except TimeLimitExceeded:
            raise ChildLost("timeout") from None
        except Exception as error:
            kinds = [kind.__name__ for kind in type(error).__mro__]
            message = str(error)[:MAX_TEXT_LENGTH]
            frame = wire.pack(["answer", "raised", kinds, message])
        self._send(frame)

    def _send(self, frame: bytes) -> None:
        """Send; raises ``ChildLost`` if the child does not read."""
        try:
            self.child.connection.settimeout(SEND_SECONDS)
            wire.send(self.child.connection, frame)
        except TimeoutError:
            raise ChildLost("timeout") from None
        except OSError:
            pass  # it is gone, and may have sent something before: that is still read

    def _receive(
        self,
        seconds_left: Callable[[], float],
        limits: wire.FrameLimits,
        starting: bool = False,
    ) -> list[Any]:
        """Return the child's next message, a list that begins with a word.

        starting : before its first cell; only then can it say that it was not isolated
        """
        try:
            if not self.queue.process:
                self.queue.process = sender(self.child.connection, seconds_left)
            frame = wire.receive(self.child.connection, seconds_left, limits)
            message = wire.unpack(frame)
        except TimeoutError:
            raise ChildLost("timeout") from None
        except (EOFError, OSError, wire.MalformedMessage):
            raise ChildLost("crashed") from None
        if type(message) is not list or not message or type(message[0]) is not str:
            raise ChildLost("crashed")
        if message[0] == "failed" and starting:
            raise SandboxFailure(f"a child could not be isolated: {message[-1]}")
        return message


def _least(*seconds_left: Callable[[], float]) -> float:
    return min(each() for each in seconds_left)


@contextlib.contextmanager
def _limited_memory() -> Iterator[None]:
    """Limit the memory of a function of ours that untrusted arguments reach."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    used = pages * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    limits = (soft, hard, used + MAX_CALLBACK_MEMORY)
    lowest = min(limit for limit in limits if limit >= 0)
    resource.setrlimit(resource.RLIMIT_AS, (lowest, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _is_stale(word: str, token_received: Any, token: bytes) -> bool:
    """Return whether a message belongs to an earlier call, which replied twice."""
    if word not in ("outcome", "callback"):
        raise wire.MalformedMessage("a word that no call asks for")
    return require_type(token_received, bytes) != token
