"""The corpus of hostile and broken submissions: what each does, and what it must get.

A case is a function that changes a right submission of lesson 01. ``hostile`` says what
the engine must make of it: every exercise that is not named there must get full marks.
``test_hostile`` grades them all and looks at what is left outside.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.submissions import Submission


@dataclass(frozen=True)
class World:
    """What a hostile submission may want to reach, made anew for the test run.

    folder : a course folder with submissions, a gradebook, a seed and solutions
    secret : a text that stands in each file there that no submission may read
    port : a TCP and UDP port on 127.0.0.1 where a server counts what it gets
    socket : the path of a unix socket that counts what it gets
    submission : where this submission's file will stand
    """

    folder: Path
    secret: str
    port: int
    socket: Path
    submission: Path


@dataclass(frozen=True)
class Hostile:
    """One case.

    name : the function's name, unique in the corpus
    family : the row of the list it belongs to
    build : changes the submission; may write other files into the world's folder
    lost : exercise to the status that its failing verdicts have; it gets 0 points
        unless ``fails`` says otherwise. "any" if the status may be any but ok
    fails : exercise to the names of its cases that fail; it keeps the points of the
        others
    invalid : a piece of the reason, if the whole file cannot be graded
    flagged : exercises that must be flagged for review
    pasted : exercises whose answers must be marked as in the solutions
    long : takes long until it is stopped: only the thorough tests grade it
    """

    name: str
    family: str
    build: Callable[[Submission, World], None]
    lost: Mapping[str, str] = field(default_factory=dict)
    fails: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    invalid: str = ""
    flagged: tuple[str, ...] = ()
    long: bool = False
    pasted: tuple[str, ...] = ()


CASES: dict[str, Hostile] = {}


def hostile(
    family: str,
    *,
    lost: Mapping[str, str] | None = None,
    fails: Mapping[str, tuple[str, ...]] | None = None,
    invalid: str = "",
    flagged: tuple[str, ...] = (),
    long: bool = False,
    pasted: tuple[str, ...] = (),
) -> Callable[[Callable[[Submission, World], None]], Callable]:
    """Add the decorated builder to the corpus."""

    def add(build: Callable[[Submission, World], None]) -> Callable:
        name = build.__name__
        if name in CASES:
            raise ValueError(f"two hostile cases are called {name}")
        expected = lost or {}, fails or {}, invalid, flagged, long, pasted
        CASES[name] = Hostile(name, family, build, *expected)
        return build

    return add
