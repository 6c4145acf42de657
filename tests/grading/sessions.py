"""Sessions for tests: a few cells in a child, and calls of what they define."""

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from autograder.checking.call import CallResult
from autograder.grading.release import Cell
from autograder.grading.sandbox import Sandbox
from autograder.grading.session import Budget, Session
from tests.grading.engines import SHORT


def own(text: str) -> Cell:
    """Give a cell of the learner's own."""
    return Cell("own", textwrap.dedent(text))


def solution(name: str, text: str) -> Cell:
    """Give the cell that answers an exercise."""
    return Cell("solution", textwrap.dedent(text), name)


def check(name: str) -> Cell:
    """Give the place at which an answer is kept."""
    return Cell("check", "", name)


@contextmanager
def session_of(
    sandbox: Sandbox, *cells: Cell, budget: Budget = SHORT, last_try: bool = True
) -> Iterator[Session]:
    """Run cells in a child."""
    with Session(sandbox, cells, budget, last_try=last_try) as session:
        yield session


def call(session: Session, name: str, *arguments: Any, **more: Any) -> CallResult:
    """Call an answer.

    more : ``when``, ``bound``; everything else is a keyword of the call
    """
    when, bound = more.pop("when", "check"), more.pop("bound", {})
    return session.call(name, when, arguments, more, bound)


def look(text: str) -> list[Cell]:
    """Give cells whose answer ``look`` runs some statements and returns."""
    body = textwrap.indent(textwrap.dedent(text), "    ")
    return [own(f"def look(*given):\n{body}"), check("look")]


def inside(sandbox: Sandbox, text: str, *arguments: Any) -> Any:
    """Run statements in a child of their own; give what they return."""
    with session_of(sandbox, *look(text)) as session:
        outcome = call(session, "look", *arguments)
    assert outcome.kind == "value", outcome
    return outcome.value
