"""What a lesson holds, read from its notebook: title, question, minutes, exercises.

The notebook says all of it. Loading a bank instead may take seconds, since some of them
import PyTorch.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.course import Course
from autograder.workspace.copies import Copy

TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
QUESTION = re.compile(r"^\*\*(.+\?)\*\*", re.MULTILINE)
MINUTES = re.compile(r"\*\*About (\d+) minutes")
HEADING = re.compile(
    r"^### Exercise: (?P<name>\w+) · (?P<minutes>\d+) min · [●○]+ · "
    r"(?P<points>\d+(\.\d+)?) points",
    re.MULTILINE,
)


@dataclass(frozen=True)
class ExerciseOutline:
    """An exercise as its heading announces it.

    cell : id of the heading's cell, "" if it has none
    """

    name: str
    minutes: int
    points: float
    cell: str = ""


@dataclass(frozen=True)
class LessonOutline:
    """A lesson as its notebook announces it.

    lesson : the folder's name
    question : the question it answers, "" if it names none
    minutes : how long it takes, reading included
    """

    lesson: str
    title: str
    question: str = ""
    minutes: int = 0
    exercises: tuple[ExerciseOutline, ...] = ()

    @property
    def heading(self) -> str:
        """Number and title, such as ``01 Dot-product attention``."""
        return f"{self.lesson.partition('_')[0]} {self.title}"

    @property
    def points(self) -> float:
        """What its exercises are worth."""
        return sum(each.points for each in self.exercises)

    @property
    def notebook(self) -> str:
        """The learner's notebook, as seen from ``work/``."""
        return f"{self.lesson}/{self.lesson}.ipynb"

    def address(self, exercise: ExerciseOutline) -> str:
        """Return the exercise's address as seen from ``work/``.

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
        cells = _read_prose(path)
        if cells:
            return outline_of(lesson, cells)
    return LessonOutline(lesson, lesson.partition("_")[2].replace("_", " "))


def _read_prose(path: Path) -> list[tuple[str, str]]:
    """Return id and text of a notebook's Markdown cells; none if it is unreadable."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        return [
            (str(cell.get("id", "")), "".join(cell["source"]))
            for cell in cells
            if cell["cell_type"] == "markdown"
        ]
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return []


def outline_of(lesson: str, cells: list[tuple[str, str]]) -> LessonOutline:
    """Return a lesson as its prose announces it.

    cells : id and text of each Markdown cell, at least one
    """
    first = cells[0][1]
    exercises = [
        ExerciseOutline(
            match["name"], int(match["minutes"]), float(match["points"]), cell
        )
        for cell, text in cells
        for match in HEADING.finditer(text)
    ]
    return LessonOutline(
        lesson,
        _first(TITLE, first) or lesson,
        _first(QUESTION, first),
        int(_first(MINUTES, first) or 0),
        tuple(exercises),
    )


def _first(pattern: re.Pattern[str], text: str) -> str:
    match: Any = pattern.search(text)
    return match[1].strip() if match else ""
