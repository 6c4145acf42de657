"""Refuse a lesson whose headings, exercises and checks do not follow one another.

Each exercise stands in a lesson once: its heading, then its cell, then its check, and
all that below the exercises which it ``uses``.
"""

from collections.abc import Iterable
from pathlib import Path

from autograder.cells import Cell, SourceError
from autograder.exercise import Exercise


def check_order(path: Path, cells: Iterable[Cell], set_up: set[str]) -> None:
    """Raise ``SourceError`` at the first cell that stands in the wrong place.

    set_up : names that the set-up cells of the lesson import
    """
    order = _Order(path, set_up)
    for cell in cells:
        if cell.exercise:
            order.meet(cell, cell.exercise)
    order.finish()


class _Order:
    def __init__(self, path: Path, set_up: set[str]) -> None:
        self.path = path
        self.set_up = set_up
        self.headings: dict[str, int] = {}
        self.done: list[str] = []
        self.open: tuple[str, int] | None = None

    def meet(self, cell: Cell, exercise: Exercise) -> None:
        if cell.kind == "prose":
            self._meet_heading(exercise.name, cell.line)
        elif cell.kind == "exercise":
            self._meet_exercise(exercise, cell.line + 1)
        elif cell.kind == "check":
            self._meet_check(exercise.name, cell.line + 1)

    def finish(self) -> None:
        if self.open:
            name, line = self.open
            raise self._fail(line, f"{name} has no check after it")
        for name, line in self.headings.items():
            if name not in self.done:
                raise self._fail(line, f"a heading without its exercise: {name}")

    def _meet_heading(self, name: str, line: int) -> None:
        if name in self.headings:
            raise self._fail(line, f"a second heading for {name}")
        self.headings[name] = line

    def _meet_exercise(self, exercise: Exercise, line: int) -> None:
        name = exercise.name
        if self.open:
            raise self._fail(line, f"{self.open[0]} has no check before it")
        if name in self.done:
            raise self._fail(line, f"exercise {name} stands here twice")
        if name not in self.headings:
            raise self._fail(line, f"no heading '### Exercise: {name}' above it")
        for used in exercise.uses:
            if used not in self.done and used not in self.set_up:
                raise self._fail(
                    line,
                    f"{name} uses {used}, which neither stands above it nor is "
                    "imported in the lesson's set-up cells",
                )
        self.open = name, line

    def _meet_check(self, name: str, line: int) -> None:
        if self.open is None or self.open[0] != name:
            raise self._fail(line, f"check({name}) without its exercise")
        self.done.append(name)
        self.open = None

    def _fail(self, line: int, what: str) -> SourceError:
        return SourceError(self.path, line, what)
