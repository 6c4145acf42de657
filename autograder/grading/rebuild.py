"""Put what a learner wrote into the lesson as it was released.

The lesson gives the cells, their order, ids and roles; the learner gives the text of
the answers, and cells of their own. No source is run or parsed here.

Which submitted cell is which cell of the lesson is found by evidence, from the
strongest to the weakest, since ids and marks may be lost, repeated or exchanged.
``workspace`` pairs the cells of the learner's own copy, where nobody wants to mislead
it, and asks for less.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from autograder.course.releases import cell_digest
from autograder.course.shown_code import (
    held_claims,
    normalised_source,
    same_for_learners,
)
from autograder.grading.reading import SubmittedCell, listed
from autograder.grading.release import Cell, Release

BINDING = re.compile(
    r"^(?:(?:async[ \t]+)?def[ \t]+|class[ \t]+)(\w+)"
    r"|^(\w+)[ \t]*(?::[^=\n]*)?=(?!=)",
    re.MULTILINE,
)
WORD = re.compile(r"\w+")
CELL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")  # what a notebook allows
MAX_NAMED_CELLS = 6  # in one sentence
REPAIRS = {
    "missing": "Cells of the course that were missing are back",
    "moved": "Cells of the course that were moved are back where they belong",
    "marks": "Cells whose grade_id was missing or another one are recognised by their "
    "id or text",
    "prose": "Answers that stood in text cells are taken as code",
    "check": "Checks that were changed are the course's again",
    "given": "Changed cells of the course stand below the course's own",
    "copy": "Copies of exercises and checks are left out",
}


@dataclass(frozen=True)
class Rebuilt:
    """A submission in the lesson's form.

    cells : each cell of the lesson once, in order, with the learner's own in between
    repairs : what was put right, a sentence for each kind of repair
    recognised : exercises of which the learner's file has a cell
    """

    cells: tuple[Cell, ...]
    repairs: tuple[str, ...]
    recognised: frozenset[str] = frozenset()


def rebuild(release: Release, submitted: Sequence[SubmittedCell]) -> Rebuilt:
    """Put a learner's cells into the lesson."""
    rebuilding = _Rebuilding(release, submitted)
    rebuilding.sort_cells()
    matched = (release.cells[j].exercise for j in rebuilding.pairs.values())
    recognised = frozenset(filter(None, matched))
    return Rebuilt(rebuilding.cells(), rebuilding.sentences(), recognised)


def bound_names(source: str) -> set[str]:
    """Return the names that a source binds at the beginning of a line.

    >>> sorted(bound_names("def f(x):\\n    y = 1\\n\\nz = 2"))
    ['f', 'z']
    """
    return {match[1] or match[2] for match in BINDING.finditer(source)}


def match_cells(
    released: Sequence[Cell], submitted: Sequence[SubmittedCell]
) -> dict[int, int]:
    """Return, for the index of a submitted cell, the index of its cell in the lesson.

    A cell that is none of the lesson's has no entry.
    """
    return _Matching(released, submitted).pairs


class _Matching:
    """The evidence on each pair of cells.

    pairs : index of a submitted cell (i) to the index of its released one (j)
    """

    def __init__(
        self, released: Sequence[Cell], submitted: Sequence[SubmittedCell]
    ) -> None:
        self.released = released
        self.submitted = submitted
        self.released_texts = [normalised_source(cell.source) for cell in released]
        self.submitted_texts = [normalised_source(cell.source) for cell in submitted]
        self.names = [bound_names(cell.source) for cell in submitted]
        self.by_id: dict[str, list[int]] = {}
        for i, cell in enumerate(submitted):
            self.by_id.setdefault(cell.id, []).append(i)
        self.pairs: dict[int, int] = {}
        same_id = self.with_same_id
        for candidates, evidence in (
            (same_id, self.same_grade_id),
            (same_id, self.same_text),
            (self.all, lambda i, j: self.any_mark(i, j) and self.defines(i, j)),
            (self.all, self.same_grade_id),
            (self.all, lambda i, j: self.same_text(i, j) and not self.is_solution(j)),
            (same_id, self.same_kind),
            (same_id, lambda i, j: bool(self.released[j].exercise)),
            (self.all, lambda i, j: self.defines(i, j) and self.same_kind(i, j)),
        ):
            self.match_by(candidates, evidence)

    def match_by(
        self,
        candidates: Callable[[int], Iterable[int]],
        evidence: Callable[[int, int], bool],
    ) -> None:
        """Match what is still free and has this evidence."""
        for j in sorted({*range(len(self.released))} - {*self.pairs.values()}):
            free = (i for i in candidates(j) if i not in self.pairs)
            chosen = [i for i in free if evidence(i, j)]
            if chosen:
                self.pairs[self.best(chosen, j)] = j

    def all(self, _: int) -> Iterable[int]:
        return range(len(self.submitted))

    def with_same_id(self, j: int) -> Iterable[int]:
        return self.by_id.get(self.released[j].id, ())

    def best(self, candidates: list[int], j: int) -> int:
        """Choose among equals: an answer before a stub, and then the first.

        With no mark at all, the last of those that stand where the cell should be: an
        earlier one is a draft.
        """
        stub = self.released_texts[j]
        answers = [i for i in candidates if self.submitted_texts[i] != stub]
        if self.is_solution(j) and answers:
            if not any(self.any_mark(i, j) for i in answers):
                return self.last_in_order(answers, j)
            return answers[0]
        return candidates[0]

    def last_in_order(self, candidates: list[int], j: int) -> int:
        above = [i for i, matched in self.pairs.items() if matched < j]
        below = [i for i, matched in self.pairs.items() if matched > j]
        start = max(above, key=lambda i: self.pairs[i], default=-1)
        end = min(below, key=lambda i: self.pairs[i], default=len(self.submitted))
        in_order = [i for i in candidates if start < i < end]
        return in_order[-1] if in_order else candidates[0]

    def is_solution(self, j: int) -> bool:
        return self.released[j].role == "solution"

    def same_id(self, i: int, j: int) -> bool:
        return self.submitted[i].id == self.released[j].id

    def same_grade_id(self, i: int, j: int) -> bool:
        return self.submitted[i].grade_id == self.released[j].grade_id != ""

    def any_mark(self, i: int, j: int) -> bool:
        return self.same_id(i, j) or self.same_grade_id(i, j)

    def same_kind(self, i: int, j: int) -> bool:
        return (self.submitted[i].kind == "code") == self.released[j].is_code

    def same_text(self, i: int, j: int) -> bool:
        return (
            self.same_kind(i, j) and self.submitted_texts[i] == self.released_texts[j]
        )

    def defines(self, i: int, j: int) -> bool:
        return self.is_solution(j) and self.released[j].exercise in self.names[i]


class _Rebuilding:
    """Works through the learner's cells in their order.

    added : the learner's own cells, and the lesson's of earlier releases, below each
        index of the lesson; -1 is above the first
    """

    def __init__(self, release: Release, submitted: Sequence[SubmittedCell]) -> None:
        self.released = release.cells
        self.earlier = release.earlier
        self.submitted = submitted
        self.pairs = match_cells(self.released, submitted)
        self.answers: dict[int, str] = {}
        self.added: dict[int, list[Cell]] = defaultdict(list)
        self.repairs: dict[str, list[str]] = defaultdict(list)

    def sort_cells(self) -> None:
        """Sort each submitted cell: the lesson's, a copy of it, or the learner's.

        Assertions of an older copy, in cells of their own, are left out.
        """
        above = -1
        for i, mine in enumerate(self.submitted):
            if i in self.pairs:
                above = self.pairs[i]
                self.add_matched(mine, above)
            elif self.is_earlier(mine):
                self.add_earlier(above, mine)
            elif not self.is_copy(mine) and not held_claims(mine.id, mine.source):
                self.add_own(above, mine)
        matched = [self.pairs[i] for i in sorted(self.pairs)]
        missing = [
            j
            for j, cell in enumerate(self.released)
            if j not in matched and not (cell.is_retired and cell.role == "setup")
        ]
        placed = [j for j in matched if not self.released[j].is_retired]
        for kind, indices in (("moved", moved(placed)), ("missing", missing)):
            self.repairs[kind] += [self.released[j].id for j in indices]

    def add_matched(self, mine: SubmittedCell, j: int) -> None:
        """Add what the learner may have written into a cell of the lesson."""
        cell = self.released[j]
        changed = normalised_source(mine.source) != normalised_source(cell.source)
        if cell.exercise and mine.grade_id != cell.grade_id:
            self.repairs["marks"].append(cell.id)
        if cell.role == "solution":
            self.answers[j] = mine.source if changed else cell.source
            if mine.kind != "code":
                self.repairs["prose"].append(cell.id)
        elif cell.role == "check":
            if changed or mine.kind != "code":
                self.repairs["check"].append(cell.id)
            if _adds_to(mine.source, cell.source):
                self.add_own(j - 1, mine)  # an answer typed below its check counts
        elif changed and self.is_earlier(mine):
            self.add_earlier(j, mine)
        elif changed and not (
            cell.role == "demo" and same_for_learners(mine.source, cell.source)
        ):
            self.add_own(j, mine)
            # To write into the text is nobody's fault, and to mend is asked for.
            if cell.role != "prose" and not cell.to_mend:
                self.repairs["given"].append(cell.id)

    def is_earlier(self, mine: SubmittedCell) -> bool:
        """Return whether a cell is one of an earlier release, as it was."""
        return bool(self.earlier) and cell_digest(mine.source) in self.earlier

    def add_earlier(self, above: int, mine: SubmittedCell) -> None:
        """Add code of an earlier release: an answer may use what it defines.

        What has to do with an exercise is left out: it may bind the exercise's name.
        """
        exercises = {cell.exercise for cell in self.released}
        if mine.kind == "code" and not exercises & {*WORD.findall(mine.source)}:
            cell = Cell("demo", mine.source, id=mine.id, is_retired=True)
            self.added[above].append(cell)

    def is_copy(self, mine: SubmittedCell) -> bool:
        """Return whether a further cell is a copy of the course's that must not run.

        A copied stub would hide the answer above it.
        """
        text = normalised_source(mine.source)
        for j, cell in enumerate(self.released):
            if not cell.exercise:
                continue
            marked = mine.grade_id == cell.grade_id
            if cell.role == "check" and marked:
                copied = not _adds_to(mine.source, cell.source)
            else:
                copied = text == normalised_source(cell.source)
                copied |= marked and text == normalised_source(self.answers.get(j, ""))
            if copied and (marked or mine.kind == "code"):
                self.repairs["copy"].append(cell.id)
                return True
        return False

    def add_own(self, above: int, mine: SubmittedCell) -> None:
        """Add a cell of the learner's own below a cell of the lesson."""
        if mine.source.strip():
            is_code = mine.kind == "code"
            cell = Cell("own", mine.source, id=mine.id, is_code=is_code)
            self.added[above].append(cell)

    def cells(self) -> tuple[Cell, ...]:
        cells = list(self.added[-1])
        for j, cell in enumerate(self.released):
            cells.append(replace(cell, source=self.answers.get(j, cell.source)))
            cells += self.added[j]
        return tuple(self.with_ids(cells))

    def with_ids(self, cells: list[Cell]) -> list[Cell]:
        """Return the cells; added ones have ids that a notebook allows, each once."""
        added = {id(cell) for cells in self.added.values() for cell in cells}
        taken = {cell.id for cell in self.released}
        number, with_ids = 0, []
        for cell in cells:
            name = cell.id
            is_added = id(cell) in added
            if is_added and (name in taken or not CELL_ID.fullmatch(name)):
                while (name := f"own-{number}") in taken:
                    number += 1
            taken.add(name)
            with_ids.append(replace(cell, id=name))
        return with_ids

    def sentences(self) -> tuple[str, ...]:
        order = {cell.id: j for j, cell in enumerate(self.released)}
        names = {
            text: sorted({*self.repairs[kind]}, key=order.__getitem__)
            for kind, text in REPAIRS.items()
            if self.repairs[kind]
        }
        return tuple(
            f"{text}: {listed(each, MAX_NAMED_CELLS)}." for text, each in names.items()
        )


def moved(indices: Sequence[int]) -> list[int]:
    """Return the fewest indices without which the rest are in order.

    >>> moved([0, 4, 1, 2, 3])
    [4]
    """
    ends: list[int] = []  # for each length, the smallest end of an ordered run
    lengths = []
    for index in indices:
        length = bisect_left(ends, index)
        ends[length : length + 1] = [index]
        lengths.append(length)
    next_length, out_of_order = len(ends) - 1, []
    for index, length in zip(reversed(indices), reversed(lengths), strict=True):
        if length == next_length:
            next_length -= 1
        else:
            out_of_order.append(index)
    return sorted(out_of_order)


def _adds_to(source: str, released: str) -> bool:
    """Return whether a text holds more than the released lines, comments and blanks."""
    known = {row.strip() for row in released.split("\n")}
    rows = (row.strip() for row in source.split("\n"))
    return any(row and row not in known and row[0] != "#" for row in rows)
