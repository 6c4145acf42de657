"""Bring what a learner wrote under a lesson's former name into the lesson of today.

Lessons were renumbered, and one became two (``course.releases.SUCCESSORS``). Each
cell of the learner's goes to one lesson: an answer to the one that has its exercise, a
cell of their own to the one that has the cell above. The old notebook stays under
another name, which is also how it is known that nothing is left to bring.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import nbformat
from nbformat import NotebookNode

from autograder.course import Course, CourseError, write_atomically
from autograder.workspace.answer_cell import earlier_answers, keep_earlier, of_answer
from autograder.workspace.copies import Copy, former_copies
from autograder.workspace.progress import rename_lesson
from autograder.workspace.update import (
    Merged,
    Updated,
    account_of,
    grade_id_of,
    keep_old,
    marks_of,
    merge,
    pair_cells,
    read_base,
    read_mine,
    read_newer,
    same_content,
    text_of,
    unused_old_name,
)


@dataclass(frozen=True)
class Brought:
    """What a lesson of today becomes.

    newer_text, newer : the lesson as the course has it
    merged : that, with what the learner wrote under the former name
    notebook : what is to be written: with what the learner wrote in the copy of today
    present : text of that copy, None if there is none
    is_new : whether what is to be written is not there already
    is_answered : whether the copy of today holds anything of the learner's
    """

    copy: Copy
    newer_text: str
    newer: NotebookNode
    merged: Merged
    notebook: NotebookNode
    present: str | None = None
    is_new: bool = True
    is_answered: bool = False


def bring_former(course: Course) -> list[Updated]:
    """Bring the learner's copies under former names into the lessons of today.

    Returns one entry per lesson of today, or one that names the former lesson where
    that fails; then its copies are as they were.
    """
    updates = []
    for former, lessons in former_copies(course).items():
        old = Copy(course, former)
        try:
            updates += _bring(old, [Copy(course, lesson) for lesson in lessons])
        except CourseError as error:
            updates.append(Updated(former, str(error), failed=True))
    return updates


def _bring(old: Copy, copies: Sequence[Copy]) -> list[Updated]:
    _, mine = read_mine(old)
    _, base = read_base(old)
    newer = [read_newer(copy) for copy in copies]
    shares = _shares(mine, [notebook for _, notebook in newer])
    # Everything is read and compared before anything is written.
    brought = [
        _with_present(old, copy, *of_course, merge(of_course[1], share, base))
        for copy, of_course, share in zip(copies, newer, shares, strict=True)
    ]
    name = unused_old_name(old)
    try:
        for each in brought:
            _write(old, each)
        # Last, so that what was cut short is done again by the next call.
        old.mine.rename(name)
    except OSError as error:
        raise CourseError(
            f"{old.relative(old.mine)} could not be brought into "
            f"{' and '.join(copy.lesson for copy in copies)} ({error.strerror}) and "
            "stays: mend that and call again"
        ) from None
    where = f"your old file is {old.relative(name)}; where it is open, close its tab"
    if others := _other_files(old):
        where += f"; also there, in case your notebook needs it: {others}"
    return [
        Updated(
            each.copy.lesson,
            f"was {old.lesson}; updated, with {account_of(each.copy, each.merged)}; "
            f"{where}",
        )
        for each in brought
    ]


def _shares(mine: NotebookNode, lessons: Sequence[NotebookNode]) -> list[NotebookNode]:
    """Return the learner's notebook in parts, one for each lesson.

    A cell that no lesson has goes where the cell above it goes.
    """
    pairs = [pair_cells(mine.cells, lesson.cells) for lesson in lessons]
    shares = [deepcopy(mine) for _ in lessons]
    for share in shares:
        share.cells = []
    last = 0
    for index, cell in enumerate(mine.cells):
        last = next((n for n, each in enumerate(pairs) if index in each), last)
        shares[last].cells.append(deepcopy(cell))
    return shares


def _with_present(
    old: Copy, copy: Copy, newer_text: str, newer: NotebookNode, merged: Merged
) -> Brought:
    """Add what the learner has written in the copy of today, if there is one.

    Raises ``CourseError`` if both have an answer to the same exercise.
    """
    if not copy.mine.exists():
        return Brought(copy, newer_text, newer, merged, merged.notebook)
    present_text, present = read_mine(copy)
    _, base = read_base(copy)
    base = base or newer
    stubs = _sources(newer), _sources(base), _stubs(present)
    here = {
        name: cell
        for name, cell in _answers(present).items()
        if all(text_of(cell) != each.get(name) for each in stubs)
    }
    there = {
        name: cell
        for name, cell in _answers(merged.notebook).items()
        if text_of(cell) != stubs[0].get(name)
    }
    both = [n for n in there if n in here and text_of(here[n]) != text_of(there[n])]
    if both:
        raise CourseError(
            f"{old.relative(old.mine)} and {copy.relative(copy.mine)} both have an "
            f"answer to {', '.join(both)}: rename the first if you want those in the "
            f"second; if not, `autograder reset {both[0]}` puts the second's aside; "
            "then call again"
        )
    together = merge(merged.notebook, present, base).notebook
    for name, cell in _answers(together).items():
        if name in there and name not in here:
            cell.source = there[name].source
        cells = _answers(merged.notebook), _answers(present)
        _join_earlier(cell, *(each[name] for each in cells if name in each))
    return Brought(
        copy,
        newer_text,
        newer,
        merged,
        together,
        present_text,
        is_new=not same_content(together, present),
        is_answered=not same_content(present, base),
    )


def _answers(notebook: NotebookNode) -> dict[str, NotebookNode]:
    """Return the answers' cells by exercise; of copied cells the first."""
    answers: dict[str, NotebookNode] = {}
    for cell in notebook.cells:
        name = grade_id_of(cell)
        if name and marks_of(cell).get("solution"):
            answers.setdefault(name, cell)
    return answers


def _sources(notebook: NotebookNode) -> dict[str, str]:
    return {name: text_of(cell) for name, cell in _answers(notebook).items()}


def _stubs(notebook: NotebookNode) -> Mapping[str, Any]:
    """Return the stubs that the answers' cells keep themselves."""
    return {
        name: of_answer(cell).get("stub") for name, cell in _answers(notebook).items()
    }


def _join_earlier(cell: NotebookNode, *cells: NotebookNode) -> None:
    """Keep the earlier answers of several cells in one, each once, the newest last."""
    rows = [row for each in cells for row in earlier_answers(each)]
    unique = {(row["time"], row["source"]): row for row in rows}
    keep_earlier(cell, sorted(unique.values(), key=lambda row: row["time"]))


def _write(old: Copy, brought: Brought) -> None:
    """Write a lesson of today, its original and the progress in its exercises."""
    copy = brought.copy
    text = nbformat.writes(brought.notebook).rstrip() + "\n"
    if brought.present is None:
        # The original first: without it the copy would look like a full answer.
        write_atomically(copy.base, brought.newer_text)
        write_atomically(copy.mine, text)
    else:
        if brought.is_new and brought.is_answered:
            keep_old(copy, brought.present)
        if brought.is_new:
            write_atomically(copy.mine, text)
        write_atomically(copy.base, brought.newer_text)
    rename_lesson(copy.course.records, old.lesson, copy.lesson, _answers(brought.newer))


def _other_files(old: Copy) -> str:
    """Return the names of what else the old folder holds, "" if that is nothing."""
    names = [
        path.name
        for path in old.mine.parent.iterdir()
        if not path.name.startswith((".", f"{old.lesson}.before-update-"))
    ]
    return ", ".join(sorted(names))
