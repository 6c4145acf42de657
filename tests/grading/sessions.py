"""Sessions for tests: a few cells in a child, and calls of what they define."""

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from autograder.checking.call import CallResult
from autograder.grading.budget import Budget
from autograder.grading.release import Cell
from autograder.grading.sandbox import Sandbox
from autograder.grading.session import Session
from tests.grading.engines import SHORT

QUICK = Budget(call=0.4, cell=0.6)


def own(text: str) -> Cell:
    """Return a cell of the learner's own."""
    return Cell("own", textwrap.dedent(text))


def solution(name: str, text: str) -> Cell:
    """Return the cell that answers an exercise."""
    return Cell("solution", textwrap.dedent(text), name)


def check(name: str) -> Cell:
    """Return the check of an exercise."""
    return Cell("check", "", name)


@contextmanager
def session_of(
    sandbox: Sandbox, *cells: Cell, budget: Budget = SHORT, last_try: bool = True
) -> Iterator[Session]:
    """Run cells in a child."""
    with Session(sandbox, cells, budget, last_try=last_try) as session:
        yield session


def call(session: Session, name: str, *arguments: Any, **keywords: Any) -> CallResult:
    """Call an answer.

    keywords : those of the call, and ``when`` and ``bound``
    """
    when, bound = keywords.pop("when", "check"), keywords.pop("bound", {})
    return session.call(name, when, arguments, keywords, bound)


def value(session: Session, name: str, *arguments: Any, **keywords: Any) -> Any:
    """Call an answer; return the value that it has to give."""
    result = call(session, name, *arguments, **keywords)
    assert result.kind == "value", result
    return result.value


def look(text: str) -> list[Cell]:
    """Return cells whose answer ``look`` runs some statements and returns."""
    body = textwrap.indent(textwrap.dedent(text), "    ")
    return [own(f"def look(*given):\n{body}"), check("look")]


def inside(sandbox: Sandbox, text: str, *arguments: Any) -> Any:
    """Run statements in a child of their own; return their value."""
    with session_of(sandbox, *look(text)) as session:
        return value(session, "look", *arguments)
