"""What a lesson holds, read from its notebook: title, question, minutes, exercises.

The notebook says all of it, points too: nbgrader's, in the cell that checks. Loading a
bank instead may take seconds, since some of them import PyTorch.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.course import Course
from autograder.workspace.copies import Copy

TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
QUESTION = re.compile(r"^\*\*(.+\?)\*\*", re.MULTILINE)
MINUTES = re.compile(r"\*\*About (\d+) minutes")
FURTHER_MINUTES = re.compile(r"\*\*About \d+ minutes, and (\d+) more in ")
HEADING = re.compile(
    r"^### Exercise: (?P<name>\w+) · (?P<minutes>\d+) min · [●○]+"
    r"(?P<optional> · optional)?",
    re.MULTILINE,
)
SECTION = re.compile(r"^#{1,6} (?:Exercise: )?(?P<title>[^·\n]+)", re.MULTILINE)
# As in a lesson's source; to import it from there takes a second.
FURTHER = re.compile(r"^## Going further[ \t]*$", re.MULTILINE)

RIGHT_BELOW = "right below"


@dataclass(frozen=True)
class SectionOutline:
    """What follows below an exercise: a section, or more of the exercise's own.

    title : its heading, or an exercise's name; ``RIGHT_BELOW`` for what has none
    cell : id of its first cell, "" if it has none
    is_last : whether it ends the lesson or its core, and is no exercise
    """

    title: str
    cell: str
    is_last: bool = False


@dataclass(frozen=True)
class ExerciseOutline:
    """An exercise as its heading announces it.

    cell : id of the heading's cell, "" if it has none
    section : what begins right below its check, None if there is nothing, or
        *Going further* begins
    optional : whether it stands in *Going further*
    """

    name: str
    minutes: int
    points: float
    cell: str = ""
    section: SectionOutline | None = None
    optional: bool = False


@dataclass(frozen=True)
class OutlineCell:
    """What is read of a notebook's cell.

    text : its source if it is prose, None if it is code
    check : the exercise that it checks, "" if it checks none
    points : what that is worth to nbgrader
    """

    id: str
    text: str | None
    check: str = ""
    points: float = 0.0


@dataclass(frozen=True)
class LessonOutline:
    """A lesson as its notebook announces it.

    lesson : the folder's name
    question : the question it answers, "" if it names none
    minutes : how long its core takes, reading included
    further : how long *Going further* takes, 0 without one
    further_cell : id of the cell that it begins with, "" if that has none
    """

    lesson: str
    title: str
    question: str = ""
    minutes: int = 0
    exercises: tuple[ExerciseOutline, ...] = ()
    further: int = 0
    further_cell: str = ""

    @property
    def heading(self) -> str:
        """Number and title, such as ``01 Dot-product attention``."""
        return f"{self.lesson.partition('_')[0]} {self.title}"

    @property
    def required(self) -> tuple[ExerciseOutline, ...]:
        """The exercises of its core."""
        return tuple(each for each in self.exercises if not each.optional)

    @property
    def optional(self) -> tuple[ExerciseOutline, ...]:
        """The exercises of *Going further*."""
        return tuple(each for each in self.exercises if each.optional)

    @property
    def points(self) -> float:
        """What the exercises of its core are worth."""
        return sum(each.points for each in self.required)

    @property
    def going_further(self) -> SectionOutline | None:
        """Where *Going further* begins, None if the lesson has no such part."""
        if not self.further and not self.optional:
            return None
        return SectionOutline("Going further", self.further_cell)

    @property
    def notebook(self) -> str:
        """The learner's notebook, as seen from ``work/``."""
        return f"{self.lesson}/{self.lesson}.ipynb"

    def address(self, exercise: ExerciseOutline | SectionOutline) -> str:
        """Return an exercise's or a section's address as seen from ``work/``.

        JupyterLab goes to the cell; other programs open the notebook.
        """
        return (
            f"{self.notebook}#cell-id={exercise.cell}"
            if exercise.cell
            else (self.notebook)
        )


def read_outlines(course: Course) -> list[LessonOutline]:
    """Return the course's lessons, in order."""
    return [read_outline(course, lesson) for lesson in course.built_lessons]


def read_outline(course: Course, lesson: str) -> LessonOutline:
    """Return a lesson as the learner got it, or as the course has it now.

    What can be read in neither has its folder's name for a title, and no exercises.
    """
    copy = Copy(course, lesson)
    for path in (copy.base, copy.newer):
        cells = _read(path)
        if any(cell.text is not None for cell in cells):
            return outline_of(lesson, cells)
    return LessonOutline(lesson, lesson.partition("_")[2].replace("_", " "))


def _read(path: Path) -> list[OutlineCell]:
    """Return a notebook's cells; none if it is unreadable."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        return [outline_cell(cell, cell.get("id", "")) for cell in cells]
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return []


def outline_cell(cell: Mapping[str, Any], name: Any) -> OutlineCell:
    """Return what an outline needs of a notebook's cell.

    name : the cell's id
    """
    is_prose = cell["cell_type"] == "markdown"
    text = "".join(cell["source"]) if is_prose else None
    marks = cell["metadata"].get("nbgrader") or {}
    prefix, _, check = str(marks.get("grade_id", "")).partition("check_")
    if prefix or not check:
        return OutlineCell(str(name), text)
    return OutlineCell(str(name), text, check, float(marks.get("points", 0)))


def outline_of(lesson: str, cells: Sequence[OutlineCell]) -> LessonOutline:
    """Return a lesson as its prose announces it.

    cells : of its notebook, at least one of prose
    """
    first = next(cell.text for cell in cells if cell.text is not None)
    further = (cell.id for cell in cells if FURTHER.search(cell.text or ""))
    exercises = [
        _exercise(match, cell.id, cells)
        for cell in cells
        for match in HEADING.finditer(cell.text or "")
    ]
    return LessonOutline(
        lesson,
        _first(TITLE, first) or lesson,
        _first(QUESTION, first),
        int(_first(MINUTES, first) or 0),
        tuple(exercises),
        int(_first(FURTHER_MINUTES, first) or 0),
        next(further, ""),
    )


def _exercise(
    announced: re.Match[str], heading: str, cells: Sequence[OutlineCell]
) -> ExerciseOutline:
    """Return an exercise and what stands below its check.

    announced : its heading, as ``HEADING`` matches it
    heading : id of the heading's cell
    """
    name, minutes = announced["name"], int(announced["minutes"])
    optional = bool(announced["optional"])
    at = next((i for i, cell in enumerate(cells) if cell.check == name), None)
    if at is None:
        return ExerciseOutline(name, minutes, 0.0, heading, optional=optional)
    end = len(cells)
    if not optional:  # what can be skipped is not what comes next
        later = range(at + 1, end)
        end = next((i for i in later if FURTHER.search(cells[i].text or "")), end)
    titles = [
        (index, match["title"].strip())
        for index in range(at + 1, end)
        if (match := SECTION.search(cells[index].text or ""))
    ]
    is_last = len(titles) < 2 and not any(
        HEADING.search(cells[index].text or "") for index, _ in titles
    )
    section = None
    if titles and titles[0][0] == at + 1:
        section = SectionOutline(titles[0][1], cells[at + 1].id, is_last)
    elif at + 1 < end:
        section = SectionOutline(RIGHT_BELOW, cells[at + 1].id, is_last)
    points = cells[at].points
    return ExerciseOutline(name, minutes, points, heading, section, optional)


def _first(pattern: re.Pattern[str], text: str) -> str:
    match: Any = pattern.search(text)
    return match[1].strip() if match else ""
