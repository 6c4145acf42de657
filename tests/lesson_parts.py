"""A lesson's core and *Going further*: what each holds, takes and needs.

The rules are functions over a lesson's source, so that tests can break them: each
returns what breaks it, in sentences.
"""

import ast
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from autograder.notebooks.cells import SourceCell
from autograder.notebooks.predictions import question_and_options
from autograder.notebooks.source import (
    FURTHER,
    LessonSource,
    bound_names,
    free_names,
    solution,
)

MINUTES = re.compile(
    r"\*\*About (?P<core>\d+) minutes"
    r"(?:, and (?P<further>\d+) more in \*Going further\*)?\.\*\*"
)
SUMMARY = re.compile(r"^## In three lines[ \t]*$", re.MULTILINE)
SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
# Of a core in minutes, and of all cores in hours: what the course promises.
MOST_MINUTES, MOST_HOURS = 90, 20
OF_NOTEBOOKS = {"display"}  # a name that every notebook has
FEWEST_PREDICTIONS = 20  # of which one can say that each option is right equally often


class Parts(NamedTuple):
    """The cells of a lesson by part.

    core : those above *Going further*
    further : those below, by section; the first is what stands right below the heading
    """

    core: list[SourceCell]
    further: list[list[SourceCell]]

    @classmethod
    def of(cls, source: LessonSource) -> "Parts":
        core: list[SourceCell] = []
        further: list[list[SourceCell]] = []
        for cell in source.cells:
            is_prose = cell.kind == "prose"
            if is_prose and (FURTHER.search(cell.text) or further):
                if SECTION.search(cell.text):
                    further.append([])
            (further[-1] if further else core).append(cell)
        return cls(core, further)


def minutes_of(source: LessonSource) -> tuple[int, int]:
    """Return the minutes that a first cell announces, of the core and further."""
    match = MINUTES.search(source.cells[0].text)
    assert match, (
        f"{source.lesson}: the first cell says '**About 70 minutes, and 45 more in "
        "*Going further*.**', or '**About 35 minutes.**'"
    )
    return int(match["core"]), int(match["further"] or 0)


def wrong_minutes(source: LessonSource) -> Iterator[str]:
    """Yield what is wrong with the minutes in a lesson's first cell."""
    core, further = minutes_of(source)
    required, everything = (
        sum(each.minutes for each in source.exercises if each.name not in leave_out)
        for leave_out in (source.optional, ())
    )
    if core > MOST_MINUTES:
        yield f"a core of {core} minutes is longer than {MOST_MINUTES}: move, cut"
    if core < required:
        yield f"the exercises of the core take {required} minutes, it says {core}"
    if core + further < everything:
        yield f"all exercises take {everything} minutes, it says {core} + {further}"
    if bool(further) != bool(Parts.of(source).further):
        yield "*Going further* has minutes in the first cell if and only if it exists"


def wrong_end(source: LessonSource) -> Iterator[str]:
    """Yield where the summary of a lesson's core does not end it."""
    at = [i for i, cell in enumerate(source.cells) if SUMMARY.search(cell.text)]
    if at != [len(Parts.of(source).core) - 1]:
        yield "one cell with '## In three lines' is the last one of the core"
    headings = [cell for cell in source.cells if FURTHER.search(cell.text)]
    if len(headings) > 1 or any(not FURTHER.match(cell.text) for cell in headings):
        yield "one cell begins with '## Going further'"


def names_of_others(source: LessonSource) -> Iterator[str]:
    """Yield each name that a part uses and that the core and itself do not bind.

    A name of the core that another further section binds anew is not the core's, unless
    the section imports it.
    """
    core, further = Parts.of(source)
    bound = names_bound(core)
    for cell in core:
        for name in sorted(_used(cell) - bound):
            yield f"line {cell.line}: the core uses {name}, which it does not bind"
    changed: dict[str, str] = {}
    for section in further:
        title = SECTION.findall(section[0].text)[-1]
        own: set[str] = set()
        for cell in section:
            for name in sorted(_used(cell) - own):
                if name in changed:
                    yield (
                        f"line {cell.line}: *{title}* uses {name}, which "
                        f"*{changed[name]}* binds"
                    )
                elif name not in bound:
                    yield (
                        f"line {cell.line}: *{title}* uses {name}, which neither the "
                        "core nor the section binds"
                    )
            own |= names_bound([cell])
        changed |= dict.fromkeys(own - _imported(section), title)


def names_bound(cells: Iterable[SourceCell]) -> set[str]:
    """Return what cells bind at their top level, an exercise's answer too."""
    names: set[str] = set()
    for cell in cells:
        if cell.kind == "exercise" and cell.exercise:
            names.add(cell.exercise.name)
        elif cell.kind == "code":
            names |= bound_names(cell.text)
    return names


def _imported(cells: Iterable[SourceCell]) -> set[str]:
    """Return what cells bind by imports at their top level."""
    return {
        alias.asname or alias.name.partition(".")[0]
        for cell in cells
        if cell.kind == "code"
        for statement in ast.parse(cell.text).body
        if isinstance(statement, ast.Import | ast.ImportFrom)
        for alias in statement.names
    }


def _used(cell: SourceCell) -> set[str]:
    if cell.kind == "exercise" and cell.exercise:
        own = free_names(solution(cell.exercise)) | {*cell.exercise.uses}
        return own - {cell.exercise.name}
    if cell.kind != "code":
        return set()
    return free_names(cell.text) - bound_names(cell.text) - OF_NOTEBOOKS


def uneven_answers(sources: Sequence[LessonSource]) -> Iterator[str]:
    """Yield where the first, the second or a later option is right too often or seldom.

    Of n predictions with k options, each is right in n / k; they may differ from that
    by what chance does in two of three cases, a standard deviation.
    """
    right: Counter[tuple[int, int]] = Counter()
    for source in sources:
        for cell in source.cells:
            if cell.kind == "prose" and cell.right is not None:
                _, options = question_and_options(cell.text)
                right[len(options), cell.right] += 1
    for n_options in sorted({n for n, _ in right}):
        counts = [right[n_options, index] for index in range(n_options)]
        total, share = sum(counts), 1 / n_options
        most = math.sqrt(total * share * (1 - share))
        far = any(abs(count - total * share) > most for count in counts)
        if total >= FEWEST_PREDICTIONS and far:
            yield (
                f"of {total} predictions with {n_options} options, the first, second … "
                f"is right in {counts}: {total * share:.0f} ± {most:.0f} each should be"
            )
