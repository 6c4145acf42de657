"""Put what a learner wrote into the lesson as it was released.

The lesson gives the cells, their order, ids and roles; the learner gives the text of
the answers, and cells of their own. No source is run or parsed here.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from autograder.grading.reading import Written
from autograder.grading.release import Master, MasterCell

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


MOST_NAMES = 6  # of cells in one sentence
ID = re.compile(r"[A-Za-z0-9_-]{1,64}")  # what a notebook allows
REPAIRS = {
    "missing": "Cells of the course that were missing are back",
    "moved": "Cells of the course that were moved are back in their places",
    "marks": "Cells whose grade_id was missing or another one are recognised by their "
    "id or text",
    "prose": "Answers that stood in text cells are taken as code",
    "check": "Checks that were changed are the course's again",
    "given": "Changed cells of the course stand below the course's own",
    "copy": "Copies of exercises and checks are left out",
}


@dataclass(frozen=True)
class Placed:
    """One cell of the rebuilt notebook.

    role : "own" for the learner's own cells, else as in the lesson
    code : whether it is code; only that can run
    """

    role: Literal["setup", "solution", "check", "demo", "prose", "own"]
    id: str
    source: str
    exercise: str = ""
    code: bool = True


@dataclass(frozen=True)
class Rebuilt:
    """A submission in the lesson's form.

    cells : each cell of the lesson once, in order, with the learner's own in between
    repairs : what was put right, a sentence for each kind of repair
    """

    cells: tuple[Placed, ...]
    repairs: tuple[str, ...]


def rebuild(master: Master, written: Sequence[Written]) -> Rebuilt:
    """Put a learner's cells into the lesson."""
    building = _Building(master, written)
    building.place_all()
    return Rebuilt(building.cells(), building.sentences())


class _Building:
    """Works through the learner's cells in their order.

    own : the learner's own cells below each place of the lesson; -1 is above the first
    """

    def __init__(self, master: Master, written: Sequence[Written]) -> None:
        self.master = master.cells
        self.written = written
        self.found = match(self.master, written)
        self.answers: dict[int, str] = {}
        self.own: dict[int, list[Placed]] = defaultdict(list)
        self.repairs: dict[str, list[str]] = defaultdict(list)

    def place_all(self) -> None:
        last = -1
        for at, mine in enumerate(self.written):
            if at in self.found:
                last = self.found[at]
                self.place_known(mine, self.master[last], last)
            elif not self.is_copy(mine):
                self.add_own(last, mine)
        places = [self.found[at] for at in sorted(self.found)]
        for kind, to in [("moved", to) for to in moved(places)] + [
            ("missing", to) for to in range(len(self.master)) if to not in places
        ]:
            self.repairs[kind].append(self.master[to].id)

    def place_known(self, mine: Written, cell: MasterCell, to: int) -> None:
        """Take from a cell of the lesson what the learner may have written there."""
        changed = plain(mine.source) != plain(cell.source)
        if cell.exercise and mine.grade_id != cell.grade_id:
            self.repairs["marks"].append(cell.id)
        if cell.role == "solution":
            self.answers[to] = mine.source if changed else cell.source
            if mine.kind != "code":
                self.repairs["prose"].append(cell.id)
        elif cell.role == "check":
            if changed or mine.kind != "code":
                self.repairs["check"].append(cell.id)
            if _adds_to(mine.source, cell.source):
                self.add_own(to - 1, mine)  # an answer typed below its check counts
        elif changed:
            self.add_own(to, mine)
            if cell.role != "prose":  # to write into the text is nobody's fault
                self.repairs["given"].append(cell.id)

    def is_copy(self, mine: Written) -> bool:
        """Say whether a further cell is a copy of the course's that must not run.

        A copied stub would hide the answer above it.
        """
        text = plain(mine.source)
        for to, cell in enumerate(self.master):
            if not cell.exercise:
                continue
            marked = mine.grade_id == cell.grade_id
            if cell.role == "check" and marked:
                copied = not _adds_to(mine.source, cell.source)
            else:
                copied = text == plain(cell.source)
                copied |= marked and text == plain(self.answers.get(to, ""))
            if copied and (marked or mine.kind == "code"):
                self.repairs["copy"].append(cell.id)
                return True
        return False

    def add_own(self, below: int, mine: Written) -> None:
        if mine.source.strip():
            code = mine.kind == "code"
            self.own[below].append(Placed("own", mine.id, mine.source, code=code))

    def cells(self) -> tuple[Placed, ...]:
        cells = list(self.own[-1])
        for to, cell in enumerate(self.master):
            source = self.answers.get(to, cell.source)
            code = cell.role != "prose"
            cells.append(Placed(cell.role, cell.id, source, cell.exercise, code))
            cells += self.own[to]
        return tuple(self.with_ids(cells))

    def with_ids(self, cells: list[Placed]) -> list[Placed]:
        """Give own cells ids that a notebook allows, each once."""
        taken = {cell.id for cell in self.master}
        number, named = 0, []
        for cell in cells:
            name = cell.id
            if cell.role == "own" and (name in taken or not ID.fullmatch(name)):
                while (name := f"own-{number}") in taken:
                    number += 1
            taken.add(name)
            named.append(replace(cell, id=name))
        return named

    def sentences(self) -> tuple[str, ...]:
        order = {cell.id: place for place, cell in enumerate(self.master)}
        return tuple(
            f"{text}: {_listed(sorted({*self.repairs[kind]}, key=order.__getitem__))}."
            for kind, text in REPAIRS.items()
            if self.repairs[kind]
        )


def _adds_to(source: str, given: str) -> bool:
    """Say whether a text holds more than the given lines, comments and blanks."""
    known = {row.strip() for row in given.split("\n")}
    rows = (row.strip() for row in source.split("\n"))
    return any(row and row not in known and row[0] != "#" for row in rows)


def _listed(names: list[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


# MERGED autograder.grading.matching: Find which of a learner's cells is which cell of the lesson.
#
#   Marks may be lost, repeated or exchanged, so evidence is asked for from the strongest
#   to the weakest. No source is parsed here. ``autograder.merge`` pairs the cells of the
#   learner's own copy, where nobody wants to mislead it, and asks for less.
#
