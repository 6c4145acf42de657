"""Bring newer lessons into ``work/``: files and accounts.

What goes into a merged notebook is decided in ``autograder.merge``. The learner's old
file stays beside the new one, whatever happens.
"""

import warnings
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.course import CourseError, write_atomically
from autograder.merge import Merged, merge, same_content
from autograder.workspace import Copy, built_lessons, write_new

UNREADABLE = (OSError, ValueError, TypeError, LookupError, AttributeError)


@dataclass(frozen=True)
class Updated:
    """What ``update`` did to one lesson, as a line, and whether it failed."""

    lesson: str
    line: str
    failed: bool = False

    def __str__(self) -> str:
        return f"{self.lesson}: {self.line}"


def update(root: Path) -> list[Updated]:
    """Bring newer lessons into the learner's copies and keep what the learner wrote.

    root : the course folder

    Returns one entry per lesson. A lesson that fails is left as it was, and the others
    are updated all the same.
    """
    done = []
    for lesson in built_lessons(root):
        try:
            done.append(Updated(lesson, _update(Copy(root, lesson))))
        except CourseError as error:
            done.append(Updated(lesson, str(error), failed=True))
    return done


def _update(copy: Copy) -> str:
    if copy.make():
        return f"copied to {copy.name(copy.mine)}"
    newer_text, newer = _read(copy, copy.newer, "run `make build` to make it anew")
    base_text, base = _read_base(copy)
    if base_text == newer_text:
        return "nothing new"
    mine_text, mine = _read(
        copy, copy.mine, "rename it, and `make lab` gives you a fresh copy"
    )
    merged = merge(newer, mine, base)
    try:
        if same_content(merged.notebook, mine):
            write_atomically(copy.base, newer_text)
            return _account(copy, merged, None) if merged.stubs else "nothing new"
        old = _keep_old(copy, mine_text)
        write_atomically(copy.mine, nbformat.writes(merged.notebook).rstrip() + "\n")
        # Last, so that an update that was cut short is done again by the next one.
        write_atomically(copy.base, newer_text)
    except OSError as error:
        raise copy.not_written(error) from None
    return _account(copy, merged, old)


def _account(copy: Copy, merged: Merged, old: Path | None) -> str:
    """Say what became of the learner's text; old is where the old file is, if any."""
    kept = [f"your answers to {', '.join(merged.answers)}"] if merged.answers else []
    kept += [f"{_cells(merged.own)} of your own"] if merged.own else []
    kept += [f"{_cells(merged.changed)} as you changed it"] if merged.changed else []
    done = "updated" if old else "your notebook stays as it is"
    parts = [f"{done}, with {', '.join(kept) or 'nothing of yours to keep'}"]
    if merged.stubs:
        parts.append(
            f"the course has changed the text of {', '.join(merged.stubs)} since you "
            f"answered: compare your answer with {copy.name(copy.newer)}"
        )
    if merged.replaced:
        parts.append(
            f"{_cells(merged.replaced)} of the lesson that you had changed: now the "
            "course's text again"
        )
    if old:
        parts.append(f"your old file is {copy.name(old)}")
        parts.append("where it is open, choose File → Reload Notebook from Disk")
    return "; ".join(parts)


def _cells(count: int) -> str:
    return f"{count} cell{'' if count == 1 else 's'}"


def _keep_old(copy: Copy, text: str) -> Path:
    """Put the learner's old text beside the notebook, under the first free number."""
    number = 1
    while True:
        path = copy.mine.with_name(f"{copy.lesson}.before-update-{number}.ipynb")
        if write_new(path, text):
            return path
        number += 1


def _read_base(copy: Copy) -> tuple[str | None, NotebookNode | None]:
    """Read the original; one that is gone or broken costs no more than precision."""
    try:
        return _read(copy, copy.base, "")
    except CourseError:
        return None, None


def _read(copy: Copy, path: Path, help_: str) -> tuple[str, NotebookNode]:
    """Give a notebook's text and the notebook; raises ``CourseError`` if it is none."""
    try:
        text = path.read_text(encoding="utf-8")
        with warnings.catch_warnings(action="ignore"):  # nbformat's notes on old files
            # Not nbformat.reads: it logs what is invalid and goes on.
            notebook = nbformat.convert(nbformat.reader.reads(text), 4)
            nbformat.validate(notebook)
    except (*UNREADABLE, RecursionError, nbformat.ValidationError) as error:
        reason = str(error).splitlines()[0][:100] if str(error) else type(error)
        raise CourseError(
            f"{copy.name(path)} cannot be read and is left alone ({reason}): {help_}"
        ) from None
    return text, notebook
