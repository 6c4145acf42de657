"""Talk with one child: have it run cells, have it call answers, answer its callbacks.

What a child says is a stranger's word: it is read as plain data of an expected form,
and whatever else it is counts as the child's end. It can be wrong, but do no harm.
How often a submission may fail, and what then, is ``session``'s work.
"""

import contextlib
import re
import resource
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from autograder.checking.call import CallResult, Raised, silenced
from autograder.grading.inside import wire
from autograder.grading.release import Cell
from autograder.grading.sandbox import ChildProcess, SandboxFailure

LostKind = Literal["crashed", "timeout"]

LONGEST_TEXT = 2000  # characters of an exception's text, function or line
ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}")  # differs from run to run


class ChildLost(Exception):
    """The child is gone, or has to go.

    kind : "crashed" or "timeout"
    at : place of the cell that it was in, if it ran cells; -1 before the first
    """

    def __init__(self, kind: LostKind, at: int = -1) -> None:
        """Say how, and where."""
        super().__init__(kind)
        self.kind = kind
        self.at = at


@dataclass(frozen=True)
class CellsReport:
    """What a child tells when the cells have run.

    troubles : place of a cell to the exception that ended it
    outputs : place of a cell to what it showed
    answers : exercise to what stands under its name at its check, and at the end if
        that is another: "answer", "" for nothing, or the name of a type
    """

    troubles: dict[int, Raised] = field(default_factory=dict)
    outputs: dict[int, list[Any]] = field(default_factory=dict)
    answers: dict[str, tuple[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class CallReply:
    """What a call gave: an outcome, and the watched functions seen, with the lines."""

    outcome: CallResult
    seen: tuple[tuple[str, str], ...]


@contextlib.contextmanager
def nonsense_is_a_crash() -> Iterator[None]:
    """Take what cannot be read for the child's crash; raises ``ChildLost``."""
    try:
        yield
    except (wire.MalformedMessage, wire.TooLarge, TypeError, ValueError, LookupError):
        raise ChildLost("crashed") from None


def read_report(words: list[Any], cells: int) -> CellsReport:
    """Read what a child tells when its cells have run.

    cells : how many there are
    """
    troubles, outputs, answers = words
    return CellsReport(
        {read_place(p, cells): _raised(r) for p, r in checked(troubles, dict).items()},
        {
            read_place(p, cells): checked(o, list)
            for p, o in checked(outputs, dict).items()
        },
        {
            checked(name, str): (checked(one, str), checked(other, str))
            for name, (one, other) in checked(answers, dict).items()
        },
    )


def read_told(
    given: tuple[Any, ...],
    kind: Any,
    value: Any,
    raised: Any,
    changed: Any,
    shares: Any,
    seen: Any,
) -> CallReply:
    """Read what a call gave.

    given : the arguments it was called with
    changed : those after it, or None if they are as they were
    """
    if kind not in ("value", "raised", "output"):
        raise wire.MalformedMessage("an outcome of no kind")
    after = given if changed is None else checked(changed, tuple)
    if len(after) != len(given) or (kind == "raised") != (raised is not None):
        raise wire.MalformedMessage("an outcome that does not fit its call")
    # A function that was lent comes back as nothing that is known here.
    after = tuple(g if callable(g) else a for g, a in zip(given, after, strict=True))
    what = None if raised is None else _raised(raised)
    calls = tuple(
        (checked(name, str), clean(checked(line, str)))
        for name, line in checked(seen, list)
    )
    return CallReply(CallResult(kind, value, what, after, shares is True), calls)


def _raised(told: Any) -> Raised:
    """Read an exception that a child tells of."""
    kinds, message, function, number, line = checked(told, tuple)
    names = tuple(clean(checked(kind, str))[:100] for kind in checked(kinds, tuple))
    if not names:
        raise wire.MalformedMessage("an exception without a type")
    texts = [clean(checked(t, str)[:LONGEST_TEXT]) for t in (message, function, line)]
    return Raised(names[:20], texts[0], texts[1], checked(number, int), texts[2])


def read_place(value: Any, cells: int) -> int:
    """Read the place of a cell, of so many."""
    if checked(value, int) not in range(cells):
        raise wire.MalformedMessage("no cell")
    return value


def checked(value: Any, kind: type) -> Any:
    """Give a value back if it is exactly of a type; raises ``MalformedMessage``."""
    if type(value) is not kind:
        raise wire.MalformedMessage(f"no {kind.__name__}")
    return value


def clean(text: str) -> str:
    """Give a text that any file takes and that is the same at every run."""
    whole = text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")
    return ADDRESS.sub("0x…", whole)


When = Literal["check", "end"]
BoundFunctions = Mapping[str, Callable[..., Any]]

MOST_CALLBACKS = 10_000  # functions of ours that one call may call
CALLBACK_SECONDS = 2.0  # that they may take together: they run with our rights
LONGEST_CALLBACK = 1 << 17  # bytes of arguments
MOST_MEMORY = 512 << 20  # bytes that one of them may take
LONGEST_MESSAGE = 2000  # characters of an exception's text
SEND_SECONDS = 3.0  # until a child has read what it is told: it waits for nothing else


class ChildClient:
    """One child, spoken with."""

    def __init__(self, child: ChildProcess) -> None:
        """Take a child that has just been forked."""
        self.child = child

    def run(
        self,
        cells: Sequence[Cell],
        left_out: Sequence[int],
        seconds: float,
        in_all: float,
    ) -> CellsReport:
        """Have the cells run; raises ``ChildLost`` if the child ends, saying where.

        seconds, in_all : of each cell, and of all of them; over the latter the place is
            not said, for it may be any cell that takes too long
        """
        at, end = -1, time.monotonic() + in_all
        try:
            self._send(
                "run", [(c.role, c.source, c.exercise) for c in cells], list(left_out)
            )
            for _ in range(2 * len(cells) + 1):  # a cell runs twice at most
                deadline = min(time.monotonic() + seconds, end)
                what, *rest = self._receive(deadline, starting=at < 0)
                with nonsense_is_a_crash():
                    if what == "ran":
                        return read_report(rest, len(cells))
                    at = read_place(rest[0], len(cells))
        except ChildLost as lost:
            raise ChildLost(lost.kind, at if time.monotonic() < end else -1) from None
        raise ChildLost("crashed", at)

    def call(
        self,
        exercise: str,
        when: When,
        call: tuple[tuple[Any, ...], dict[str, Any]],
        bound: BoundFunctions,
        seconds: float,
    ) -> CallReply:
        """Have an answer called; raises ``ChildLost`` if the child ends or is too slow."""
        functions: list[Callable[..., Any]] = [*bound.values()]
        numbers = {name: place for place, name in enumerate(bound)}

        def number(function: Any) -> int:
            functions.append(function)
            return len(functions) - 1

        token = secrets.token_bytes(8)  # an earlier call cannot answer this one
        asked = ["call", token, exercise, when, *call, numbers]
        self._send_frame(wire.pack(asked, number))
        deadline, ours = time.monotonic() + seconds, 0.0
        for _ in range(MOST_CALLBACKS):
            what, *rest = self._receive(deadline)
            with nonsense_is_a_crash():
                if _answers_another(what, rest[0], token):
                    continue
                if what == "outcome":
                    return read_told(call[0], *rest[1:])
            start = time.monotonic()
            self._answer(functions, rest[1:])
            ours += time.monotonic() - start
            deadline += time.monotonic() - start
            if ours > CALLBACK_SECONDS:
                break
        raise ChildLost("timeout")

    def _answer(self, functions: list[Callable[..., Any]], asked: list[Any]) -> None:
        """Answer a call of one of our functions."""
        with nonsense_is_a_crash():
            number, arguments, keywords = asked
            function = functions[checked(number, int)]
            arguments, keywords = checked(arguments, tuple), checked(keywords, dict)
            if len(wire.pack([arguments, keywords])) > LONGEST_CALLBACK:
                raise wire.MalformedMessage("too much to work on")
        try:
            with silenced(), _little_memory():
                value = function(*arguments, **keywords)
            frame = wire.pack(["answer", "value", value])
        except Exception as error:
            kinds = [kind.__name__ for kind in type(error).__mro__]
            message = str(error)[:LONGEST_MESSAGE]
            frame = wire.pack(["answer", "raised", kinds, message])
        self._send_frame(frame)

    def _send(self, *words: Any) -> None:
        self._send_frame(wire.pack(list(words)))

    def _send_frame(self, frame: bytes) -> None:
        """Send; raises ``ChildLost`` if the child does not read."""
        try:
            self.child.connection.settimeout(SEND_SECONDS)
            wire.send(self.child.connection, frame)
        except TimeoutError:
            raise ChildLost("timeout") from None
        except OSError:
            pass  # it is gone, and may have said something before: that is still read

    def _receive(self, deadline: float, starting: bool = False) -> list[Any]:
        """Give the child's next message, a list that begins with a word.

        starting : before its first cell; only then can it say that it was not shut in
        """
        try:
            longest = wire.LONGEST_TOLD
            frame = wire.receive(self.child.connection, deadline, longest)
            message = wire.unpack(frame)
        except TimeoutError:
            raise ChildLost("timeout") from None
        except (EOFError, OSError, wire.MalformedMessage):
            raise ChildLost("crashed") from None
        if type(message) is not list or not message or type(message[0]) is not str:
            raise ChildLost("crashed")
        if message[0] == "failed" and starting:
            raise SandboxFailure(f"a child could not be shut in: {message[-1]}")
        return message


@contextlib.contextmanager
def _little_memory() -> Iterator[None]:
    """Bound what a function of ours may take for a stranger's arguments."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    used = pages * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    least = min(limit for limit in (soft, hard, used + MOST_MEMORY) if limit >= 0)
    resource.setrlimit(resource.RLIMIT_AS, (least, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _answers_another(what: str, given: Any, token: bytes) -> bool:
    """Say whether a message belongs to an earlier call, whose end was told twice."""
    if what not in ("outcome", "callback"):
        raise wire.MalformedMessage("a word that no call asks for")
    return checked(given, bytes) != token


# MERGED autograder.grading.testimony: Read what a child says: a stranger's word, checked field by field.
#
#   What does not have the expected form is ``MalformedMessage``, and counts as the child's crash.
#   How it is asked is in ``dialogue``.
#
