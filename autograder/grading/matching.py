"""Find which of a learner's cells is which cell of the lesson.

Marks may be lost, repeated or exchanged, so evidence is asked for from the strongest
to the weakest. No source is parsed here. ``autograder.merge`` pairs the cells of the
learner's own copy, where nobody wants to mislead it, and asks for less.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence

from autograder.grading.master import MasterCell
from autograder.grading.reading import Written

BOUND = re.compile(
    r"^(?:(?:async[ \t]+)?def[ \t]+|class[ \t]+)(\w+)"
    r"|^(\w+)[ \t]*(?::[^=\n]*)?=(?!=)",
    re.MULTILINE,
)


def plain(source: str) -> str:
    """Give a text without what an editor may change on its own."""
    return "\n".join(row.rstrip() for row in source.strip().split("\n"))


def bound_names(source: str) -> set[str]:
    """Give names that a source binds at the beginning of a line.

    >>> sorted(bound_names("def f(x):\\n    y = 1\\n\\nz = 2"))
    ['f', 'z']
    """
    return {match[1] or match[2] for match in BOUND.finditer(source)}


def match(cells: Sequence[MasterCell], written: Sequence[Written]) -> dict[int, int]:
    """Say for places among the learner's cells which place in the lesson they have."""
    return _Match(cells, written).found


def moved(places: Sequence[int]) -> list[int]:
    """Give the fewest places without which the rest are in order.

    >>> moved([0, 4, 1, 2, 3])
    [4]
    """
    ends: list[int] = []  # for each length, the smallest end of an ordered run
    lengths = []
    for place in places:
        length = bisect_left(ends, place)
        ends[length : length + 1] = [place]
        lengths.append(length)
    wanted, found = len(ends) - 1, []
    for place, length in zip(reversed(places), reversed(lengths), strict=True):
        if length == wanted:
            wanted -= 1
        else:
            found.append(place)
    return sorted(found)


class _Match:
    """The evidence on each pair of cells.

    found : the learner's place to the lesson's
    """

    def __init__(self, cells: Sequence[MasterCell], written: Sequence[Written]) -> None:
        self.cells = cells
        self.written = written
        self.wanted = [plain(cell.source) for cell in cells]
        self.texts = [plain(mine.source) for mine in written]
        self.names = [bound_names(mine.source) for mine in written]
        self.found: dict[int, int] = {}
        for evidence in (
            lambda at, to: self.id(at, to) and self.grade_id(at, to),
            lambda at, to: self.id(at, to) and self.text(at, to),
            lambda at, to: self.any_mark(at, to) and self.defines(at, to),
            self.grade_id,
            lambda at, to: self.text(at, to) and not self.is_solution(to),
            lambda at, to: self.id(at, to) and self.kind(at, to),
            lambda at, to: self.id(at, to) and bool(self.cells[to].exercise),
            lambda at, to: self.defines(at, to) and self.kind(at, to),
        ):
            self.ask(evidence)

    def ask(self, evidence: Callable[[int, int], bool]) -> None:
        """Match what is still free and has this evidence."""
        for to in range(len(self.cells)):
            if to in self.found.values():
                continue
            free = (at for at in range(len(self.written)) if at not in self.found)
            candidates = [at for at in free if evidence(at, to)]
            if candidates:
                self.found[self.best(candidates, to)] = to

    def best(self, candidates: list[int], to: int) -> int:
        """Choose among equals: an answer before a stub, and then the first.

        With no mark at all, the last of those that stand where the cell should be: an
        earlier one is a draft.
        """
        answers = [at for at in candidates if self.texts[at] != self.wanted[to]]
        if self.is_solution(to) and answers:
            if not any(self.any_mark(at, to) for at in answers):
                return self.last_in_place(answers, to)
            return answers[0]
        return candidates[0]

    def last_in_place(self, candidates: list[int], to: int) -> int:
        above = [at for at, found in self.found.items() if found < to]
        below = [at for at, found in self.found.items() if found > to]
        start = max(above, key=lambda at: self.found[at], default=-1)
        end = min(below, key=lambda at: self.found[at], default=len(self.written))
        in_place = [at for at in candidates if start < at < end]
        return in_place[-1] if in_place else candidates[0]

    def is_solution(self, to: int) -> bool:
        return self.cells[to].role == "solution"

    def id(self, at: int, to: int) -> bool:
        return self.written[at].id == self.cells[to].id

    def grade_id(self, at: int, to: int) -> bool:
        return self.written[at].grade_id == self.cells[to].grade_id != ""

    def any_mark(self, at: int, to: int) -> bool:
        return self.id(at, to) or self.grade_id(at, to)

    def kind(self, at: int, to: int) -> bool:
        is_code = self.written[at].kind == "code"
        return is_code == (self.cells[to].role != "prose")

    def text(self, at: int, to: int) -> bool:
        return self.kind(at, to) and self.texts[at] == self.wanted[to]

    def defines(self, at: int, to: int) -> bool:
        return self.is_solution(to) and self.cells[to].exercise in self.names[at]
