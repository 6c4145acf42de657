"""What has ended children, and is not tried any more: cells, and calls of an answer."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from autograder.grading.budget import Budget
from autograder.grading.child_client import ChildLost, LostKind
from autograder.grading.release import Cell


class SkippedCells:
    """The cells that a child does not run, for one of them has ended an earlier child.

    endings : index of a cell to "crashed" or "timeout", if it ended its child
    without_own : whether all of the learner's own cells are skipped
    no_child : how every child ends, whatever it skips; None while one may live
    """

    def __init__(self, cells: Sequence[Cell], budget: Budget) -> None:
        """Skip none yet."""
        self.endings: dict[int, LostKind] = {}
        self.without_own = False
        self.no_child: LostKind | None = None
        self._own = {i for i, cell in enumerate(cells) if cell.role == "own"}
        self._budget = budget

    @property
    def indices(self) -> list[int]:
        """Indices of the cells to skip."""
        return sorted({*self.endings} | (self._own if self.without_own else set()))

    def blame(self, lost: ChildLost) -> None:
        """Skip what ended a child, from now on."""
        index = lost.cell_index
        if index < 0 and not self.without_own:  # no single cell takes too long
            self.without_own = True
            return
        if index < 0 or index in self.endings:  # it is no cell that ends it
            self.no_child = lost.kind
            return
        self.endings[index] = lost.kind
        # An own cell may have made others end the process.
        if len(self.endings) == self._budget.deadly:
            self.without_own = True
            for innocent in {*self.endings} - self._own:
                del self.endings[innocent]


class CallKind(NamedTuple):
    """Calls that crash or time out together: those of one exercise, judged in one way.

    bound : names that the answer finds bound to functions of ours
    alone : whether only the cells down to the check have run
    """

    exercise: str
    bound: tuple[str, ...]
    alone: bool


class LostCalls:
    """How often calls of each kind have ended a child."""

    def __init__(self, budget: Budget) -> None:
        """Count from 0."""
        self._counts: Counter[tuple[CallKind, LostKind]] = Counter()
        self._budget = budget

    def add(self, call_kind: CallKind, lost_kind: LostKind) -> None:
        """Count one more."""
        self._counts[call_kind, lost_kind] += 1

    def ending(self, call_kind: CallKind) -> LostKind | None:
        """Return how all further calls of a kind end without being tried, if so."""
        if self._counts[call_kind, "timeout"] >= self._budget.timeouts:
            return "timeout"
        crashes = self._counts[call_kind, "crashed"]
        return "crashed" if crashes >= self._budget.crashes else None

    def has_timed_out(self, exercise: str) -> bool:
        """Return whether a call of an exercise has timed out, judged in any way."""
        return any(
            call_kind.exercise == exercise and lost_kind == "timeout"
            for call_kind, lost_kind in self._counts
        )
