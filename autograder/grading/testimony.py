"""Read what a child says: a stranger's word, checked field by field.

What does not have the expected form is ``Nonsense``, and counts as the child's crash.
How it is asked is in ``dialogue``.
"""

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from autograder.grading.inside import wire
from autograder.outcome import Outcome, Raised

End = Literal["crashed", "timeout"]

LONGEST_TEXT = 2000  # characters of an exception's text, function or line
ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}")  # differs from run to run


class Lost(Exception):
    """The child is gone, or has to go.

    kind : "crashed" or "timeout"
    at : place of the cell that it was in, if it ran cells; -1 before the first
    """

    def __init__(self, kind: End, at: int = -1) -> None:
        """Say how, and where."""
        super().__init__(kind)
        self.kind = kind
        self.at = at


@dataclass(frozen=True)
class Report:
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
class Told:
    """What a call gave: an outcome, and the watched functions seen, with the lines."""

    outcome: Outcome
    seen: tuple[tuple[str, str], ...]


@contextlib.contextmanager
def nonsense_is_a_crash() -> Iterator[None]:
    """Take what cannot be read for the child's crash; raises ``Lost``."""
    try:
        yield
    except (wire.Nonsense, wire.TooBig, TypeError, ValueError, LookupError):
        raise Lost("crashed") from None


def read_report(words: list[Any], cells: int) -> Report:
    """Read what a child tells when its cells have run.

    cells : how many there are
    """
    troubles, outputs, answers = words
    return Report(
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
) -> Told:
    """Read what a call gave.

    given : the arguments it was called with
    changed : those after it, or None if they are as they were
    """
    if kind not in ("value", "raised", "output"):
        raise wire.Nonsense("an outcome of no kind")
    after = given if changed is None else checked(changed, tuple)
    if len(after) != len(given) or (kind == "raised") != (raised is not None):
        raise wire.Nonsense("an outcome that does not fit its call")
    # A function that was lent comes back as nothing that is known here.
    after = tuple(g if callable(g) else a for g, a in zip(given, after, strict=True))
    what = None if raised is None else _raised(raised)
    calls = tuple(
        (checked(name, str), clean(checked(line, str)))
        for name, line in checked(seen, list)
    )
    return Told(Outcome(kind, value, what, after, shares is True), calls)


def _raised(told: Any) -> Raised:
    """Read an exception that a child tells of."""
    kinds, message, function, number, line = checked(told, tuple)
    names = tuple(clean(checked(kind, str))[:100] for kind in checked(kinds, tuple))
    if not names:
        raise wire.Nonsense("an exception without a type")
    texts = [clean(checked(t, str)[:LONGEST_TEXT]) for t in (message, function, line)]
    return Raised(names[:20], texts[0], texts[1], checked(number, int), texts[2])


def read_place(value: Any, cells: int) -> int:
    """Read the place of a cell, of so many."""
    if checked(value, int) not in range(cells):
        raise wire.Nonsense("no cell")
    return value


def checked(value: Any, kind: type) -> Any:
    """Give a value back if it is exactly of a type; raises ``Nonsense``."""
    if type(value) is not kind:
        raise wire.Nonsense(f"no {kind.__name__}")
    return value


def clean(text: str) -> str:
    """Give a text that any file takes and that is the same at every run."""
    whole = text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")
    return ADDRESS.sub("0x…", whole)
