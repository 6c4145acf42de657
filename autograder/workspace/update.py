"""Bring newer lessons into the notebooks that a learner has worked in.

``merge`` works on notebooks in memory: the newer one is the frame, and what the learner
wrote goes into it. ``update`` does that for the files of ``work/``; the learner's old
file always stays beside the new one.
"""

import os
import warnings
from collections.abc import Callable, Collection, Hashable
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4.nbbase import random_cell_id

from autograder.course import Course, CourseError, write_atomically
from autograder.course.releases import ANSWER_KEY, PAGE_KEY
from autograder.course.shown_code import held_claims, same_for_learners
from autograder.workspace.answer_cell import (
    earlier_answers,
    keep_choice,
    keep_earlier,
    of_answer,
)
from autograder.workspace.copies import Copy, write_new


@dataclass
class Merged:
    """The merged notebook, with an account of the learner's cells.

    notebook : the newer lesson with the learner's answers and own cells
    answers : names of the exercises whose answers were carried over
    own : how many cells of the learner's own were kept
    changed : how many changed cells of the lesson were kept as the learner has them
    stubs : names of the exercises whose stub is newer than the answer that was kept
    replaced : how many cells of the lesson lost a change that the learner had made
    """

    notebook: NotebookNode
    answers: list[str] = field(default_factory=list)
    own: int = 0
    changed: int = 0
    stubs: list[str] = field(default_factory=list)
    replaced: int = 0


def merge(
    newer: NotebookNode, mine: NotebookNode, base: NotebookNode | None = None
) -> Merged:
    """Put what a learner wrote into a newer lesson.

    newer : the lesson as the course has it now
    mine : the learner's notebook
    base : the lesson as it was when the learner got it, if that is still known; without
        it, whatever differs from the newer stub counts as an answer

    Returns the merged notebook and an account. Cells of the lesson come without
    outputs, since those belong to the older text; the learner's own cells keep theirs.
    """
    merged = Merged(deepcopy(newer))
    frame = merged.notebook.cells
    in_base = pair_cells(mine.cells, base.cells) if base else {}
    in_frame = _pair_by_way_of(in_base, base.cells if base else [], mine.cells, frame)
    follow: dict[int, list[NotebookNode]] = {}
    anchor = -1  # the learner's cells above the lesson's first stay above it
    for index, cell in enumerate(mine.cells):
        before = base.cells[in_base[index]] if base and index in in_base else None
        if index in in_frame:
            anchor = in_frame[index]
            _carry(frame[anchor], cell, before, merged)
        elif _is_kept(cell, before, known=base is not None):
            follow.setdefault(anchor, []).append(deepcopy(cell))
            merged.own += 1
    cells = list(follow.get(-1, []))
    for index, cell in enumerate(frame):
        cells += [cell, *follow.get(index, [])]
    _make_ordinary([cell for own in follow.values() for cell in own], frame)
    merged.notebook.cells = cells
    if PAGE_KEY in mine.metadata:
        merged.notebook.metadata[PAGE_KEY] = deepcopy(mine.metadata[PAGE_KEY])
    return merged


def same_content(one: NotebookNode, other: NotebookNode) -> bool:
    """Return whether two notebooks differ in outputs and run numbers at most."""
    return _content(one) == _content(other)


def _content(notebook: NotebookNode) -> list[tuple[Hashable, ...]]:
    return [
        (
            cell.cell_type,
            text_of(cell),
            str(sorted(marks_of(cell).items())),
            str(sorted(of_answer(cell).items())),
        )
        for cell in notebook.cells
    ]


def _carry(
    cell: NotebookNode, mine: NotebookNode, before: NotebookNode | None, merged: Merged
) -> None:
    """Put the learner's text into a cell of the frame where it is theirs to write."""
    if marks_of(cell).get("solution"):
        keep_earlier(cell, earlier_answers(mine))
    if text_of(mine) == text_of(cell):
        keep_choice(cell, mine)
    changed = before is None or text_of(mine) != text_of(before)
    if not changed or text_of(mine) == text_of(cell):
        return
    stub_is_newer = before is not None and not same_for_learners(
        text_of(before), text_of(cell)
    )
    if marks_of(cell).get("solution"):
        cell.source = mine.source
        name = marks_of(cell).get("grade_id", cell.get("id", ""))
        merged.answers.append(name)
        merged.stubs += [name] if stub_is_newer else []
    elif before is None and same_for_learners(text_of(mine), text_of(cell)):
        return
    elif before is None or stub_is_newer or marks_of(cell).get("locked"):
        merged.replaced += 1
    else:
        cell.source = mine.source
        merged.changed += 1


def _is_kept(cell: NotebookNode, before: NotebookNode | None, known: bool) -> bool:
    """Return whether a cell that the newer lesson lacks holds the learner's work.

    It does unless it is an unchanged cell that the lesson had and has no longer.
    """
    if known:
        changed = before is None or text_of(cell) != text_of(before)
        return changed or bool(earlier_answers(cell))
    if held_claims(cell.get("id", ""), cell.source):
        return False
    return bool(marks_of(cell).get("solution")) or not marks_of(cell)


def _make_ordinary(own: list[NotebookNode], frame: list[NotebookNode]) -> None:
    """Remove the lesson's marks from the learner's own cells, which copies carry.

    nbgrader refuses a notebook with the same grade_id twice.
    """
    taken = {cell.id for cell in frame}
    for cell in own:
        cell.metadata.pop("nbgrader", None)
        earlier = earlier_answers(cell)
        cell.metadata.pop(ANSWER_KEY, None)
        keep_earlier(cell, earlier)
        if cell.get("id") in (None, *taken):
            cell.id = random_cell_id()
        taken.add(cell.id)


def pair_cells(mine: list[NotebookNode], others: list[NotebookNode]) -> dict[int, int]:
    """Find which of the learner's cells is which of the lesson's, each at most once.

    A copied cell keeps its grade_id but gets an id of its own, so both are asked first.
    Other cells are known by their text before their id: an id counts the cells of its
    section, and is another cell's once one above is gone. Some editors drop the ids.
    """

    def same_text(cell: NotebookNode) -> Hashable:
        return cell.cell_type, text_of(cell)

    keys: tuple[Callable[[NotebookNode], Hashable], ...] = (
        lambda cell: (cell.get("id"), grade_id_of(cell)) if grade_id_of(cell) else None,
        grade_id_of,
        lambda cell: (cell.get("id"), same_text(cell)) if cell.get("id") else None,
        same_text,
        lambda cell: cell.get("id"),
    )
    pairs: dict[int, int] = {}
    for key in keys:
        free: dict[Hashable, int] = {}
        for index, cell in enumerate(others):
            if index not in pairs.values() and key(cell) is not None:
                free.setdefault(key(cell), index)
        for index, cell in enumerate(mine):
            if index not in pairs and key(cell) in free:
                pairs[index] = free.pop(key(cell))
    return pairs


def _pair_by_way_of(
    in_base: dict[int, int],
    base: list[NotebookNode],
    mine: list[NotebookNode],
    frame: list[NotebookNode],
) -> dict[int, int]:
    """Pair the learner's cells with those of a newer lesson, as ``pair_cells`` does.

    A cell that the learner has changed is known by the text that it had before.
    """
    base_in_frame = pair_cells(base, frame)
    pairs = {i: base_in_frame[j] for i, j in in_base.items() if j in base_in_frame}
    mine_left = [i for i in range(len(mine)) if i not in in_base]
    frame_left = [j for j in range(len(frame)) if j not in pairs.values()]
    rest = pair_cells([mine[i] for i in mine_left], [frame[j] for j in frame_left])
    return pairs | {mine_left[i]: frame_left[j] for i, j in rest.items()}


def text_of(cell: NotebookNode) -> str:
    """Return a cell's text without what an editor may change on its own."""
    return "\n".join(row.rstrip() for row in cell.source.strip().splitlines())


def marks_of(cell: NotebookNode) -> dict:
    """Return nbgrader's marks of a cell; empty if they are odd."""
    marks = cell.metadata.get("nbgrader")
    return marks if isinstance(marks, dict) else {}


def grade_id_of(cell: NotebookNode) -> str | None:
    """Return the name by which nbgrader knows a cell."""
    name = marks_of(cell).get("grade_id")
    return name if isinstance(name, str) else None


@dataclass(frozen=True)
class Updated:
    """What ``update`` did to one lesson, as a line, and whether it failed."""

    lesson: str
    line: str
    failed: bool = False

    def __str__(self) -> str:
        return f"{self.lesson}: {self.line}"


def update(course: Course, *, done: Collection[str] = ()) -> list[Updated]:
    """Bring newer lessons into the learner's copies and keep what the learner wrote.

    done : lessons to leave out, since they have been brought up to date already

    Returns one entry per lesson. A lesson that fails is left as it was, and the others
    are updated all the same.
    """
    updates = []
    for lesson in course.built_lessons:
        if lesson in done:
            continue
        try:
            updates.append(Updated(lesson, _update(Copy(course, lesson))))
        except CourseError as error:
            updates.append(Updated(lesson, str(error), failed=True))
    return updates


def _update(copy: Copy) -> str:
    if copy.make():
        return f"copied to {copy.relative(copy.mine)}"
    newer_text, newer = read_newer(copy)
    base_text, base = read_base(copy)
    if base_text == newer_text:
        return "nothing new"
    mine_text, mine = read_mine(copy)
    merged = merge(newer, mine, base)
    try:
        if same_content(merged.notebook, mine):
            write_atomically(copy.base, newer_text)
            return _account(copy, merged, None) if merged.stubs else "nothing new"
        old = keep_old(copy, mine_text)
        write_atomically(copy.mine, nbformat.writes(merged.notebook).rstrip() + "\n")
        # Last, so that an update that was cut short is done again by the next one.
        write_atomically(copy.base, newer_text)
    except OSError as error:
        raise copy.not_written(error) from None
    return _account(copy, merged, old)


def _account(copy: Copy, merged: Merged, old: Path | None) -> str:
    """Return a sentence on the learner's text; old : the old file, if there is one."""
    done = "updated" if old else "your notebook stays as it is"
    sentences = [f"{done}, with {account_of(copy, merged)}"]
    if old:
        sentences.append(f"your old file is {copy.relative(old)}")
        sentences.append("where it is open, choose File → Reload Notebook from Disk")
    return "; ".join(sentences)


def account_of(copy: Copy, merged: Merged) -> str:
    """Return words on what of the learner's a merged notebook has, and what not."""
    parts = [f"your answers to {', '.join(merged.answers)}"] if merged.answers else []
    parts += [f"{_cells(merged.own)} of your own"] if merged.own else []
    parts += [f"{_cells(merged.changed)} as you changed it"] if merged.changed else []
    sentences = [", ".join(parts) or "nothing of yours to keep"]
    if merged.stubs:
        sentences.append(
            f"the course has changed the text of {', '.join(merged.stubs)} since you "
            f"answered: compare your answer with {copy.relative(copy.newer)}"
        )
    if merged.replaced:
        sentences.append(
            f"{_cells(merged.replaced)} of the lesson that had another text: now the "
            "course's"
        )
    return "; ".join(sentences)


def _cells(count: int) -> str:
    return f"{count} cell{'' if count == 1 else 's'}"


def unused_old_name(copy: Copy) -> Path:
    """Return the first free name for an old file, beside the learner's notebook."""
    number = 1
    while os.path.lexists(path := _old_name(copy, number)):
        number += 1
    return path


def _old_name(copy: Copy, number: int) -> Path:
    return copy.mine.with_name(f"{copy.lesson}.before-update-{number}.ipynb")


def keep_old(copy: Copy, text: str) -> Path:
    """Write the learner's old text beside the notebook, under the first free number."""
    number = 1
    while True:
        if write_new(path := _old_name(copy, number), text):
            return path
        number += 1


def read_base(copy: Copy) -> tuple[str | None, NotebookNode | None]:
    """Return the original; one that is gone or broken costs no more than precision."""
    try:
        return read_notebook(copy, copy.base, "")
    except CourseError:
        return None, None


def read_newer(copy: Copy) -> tuple[str, NotebookNode]:
    """Return the lesson as the course has it now; raises ``CourseError``."""
    return read_notebook(copy, copy.newer, "run `make build` to make it anew")


def read_mine(copy: Copy) -> tuple[str, NotebookNode]:
    """Return the learner's notebook; raises ``CourseError``."""
    return read_notebook(
        copy, copy.mine, "rename it; `attention-course` gives you a new one"
    )


def read_notebook(copy: Copy, path: Path, remedy: str) -> tuple[str, NotebookNode]:
    """Return a notebook and its text.

    remedy : what the learner can do if it cannot be read

    Raises ``CourseError``, which names the file and the remedy, if it is no notebook.
    """
    try:
        if not path.is_file():  # to read a pipe would wait for ever
            raise OSError("it is no file")
        text = path.read_text(encoding="utf-8")
        with warnings.catch_warnings(action="ignore"):  # nbformat's notes on old files
            # Not nbformat.reads: it logs what is invalid and goes on.
            notebook = nbformat.convert(nbformat.reader.reads(text), 4)
            nbformat.validate(notebook)
    except Exception as error:  # nbformat raises any kind where a version is odd
        reason = str(error).splitlines()[0][:100] if str(error) else type(error)
        raise CourseError(
            f"{copy.relative(path)} cannot be read and is left alone ({reason}): "
            f"{remedy}"
        ) from None
    return text, notebook
