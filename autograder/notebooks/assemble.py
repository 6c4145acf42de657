"""Assemble a teacher's notebook, not yet executed, from a lesson's cells.

Ids are stable: an exercise's name for its cell, ``check-name`` for its check, and the
section's title with a number for the rest.
"""

import re
from collections import Counter
from collections.abc import Iterable
from functools import partial

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.checking.way_on import course_version
from autograder.course import Course
from autograder.course.releases import (
    ANSWER_KEY,
    CHECK,
    METADATA_KEY,
    OPTIONAL,
    Points,
    nbgrader_marks,
    release_name,
)
from autograder.notebooks.cells import SourceCell
from autograder.notebooks.citations import with_links
from autograder.notebooks.functions_table import with_functions
from autograder.notebooks.source import FURTHER, HEADING, LessonSource, solution

METADATA = {
    "kernelspec": {
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "name": "python3",
    },
    "language_info": {"name": "python"},
}
TITLE = re.compile(r"^##? (.+)", re.MULTILINE)
SOURCE_TITLE = re.compile(r"^# # (.+)", re.MULTILINE)
PICTURE_TAG = "nbval-ignore-output"


def teacher_notebook(source: LessonSource) -> NotebookNode:
    """Return the teacher's notebook of a lesson, without outputs."""
    ids, optional = _Ids(), source.optional
    cells = [_cell(cell, ids, optional) for cell in source.cells]
    course = source.course
    for cell in cells:
        if cell.cell_type == "markdown":
            link = partial(_link, course, text="{}")
            cell.source = with_functions(cell.source, course, link)
    if source.is_private:
        _without_what_learners_lack(cells)
    else:
        _add_links(cells, source)
    name = release_name(points_of(source))
    notebook = new_notebook(cells=cells, metadata=METADATA | {METADATA_KEY: name})
    notebook.nbformat_minor = 5
    nbformat.validate(notebook)
    return notebook


def _add_links(cells: list[NotebookNode], source: LessonSource) -> None:
    """Add links to the learner's home and to the neighbours, to cells of prose."""
    if cells[0].cell_type == "markdown":
        cells[0].source += f"\n\n{_links(source)}"
    further = [i for i, cell in enumerate(cells) if FURTHER.search(cell.source)]
    for last in {len(cells) - 1, *(index - 1 for index in further)}:
        if last > 0 and cells[last].cell_type == "markdown":
            # In the last cell, not one of its own: a learner's copy keeps its cells.
            cells[last].source += f"\n\n{_links(source, onward=True)}"


def _without_what_learners_lack(cells: Iterable[NotebookNode]) -> None:
    """Let a private lesson's checks and answers do without bank and reference.

    A check says by itself that it is private, and there is no course's version. Such a
    lesson is handed out alone, so there are no links to others either.
    """
    for cell in cells:
        marks = cell.metadata.get("nbgrader", {})
        if marks.get("grade"):
            name = marks["grade_id"].removeprefix(CHECK)
            cell.source = f"check({name}, private=True)"
        elif marks.get("solution"):
            del cell.metadata[ANSWER_KEY]


def points_of(source: LessonSource) -> Points:
    """Return the points of a lesson's exercises, and which are optional."""
    exercises = (each.exercise for each in source.cells if each.kind == "check")
    points = {exercise.name: exercise.points for exercise in exercises if exercise}
    return Points(points, source.optional)


def _links(source: LessonSource, *, onward: bool = False) -> str:
    """Return the links to the learner's home and to the lessons before and after.

    onward : whether to leave out the lesson before
    """
    course = source.course
    lessons = course.public_lessons
    here = lessons.index(source.path.stem)
    links = ["[Home](../home.md)"]
    if here > 0 and not onward:
        links.append(_link(course, lessons[here - 1], "← {}"))
    if here + 1 < len(lessons):
        links.append(_link(course, lessons[here + 1], "{} →"))
    return " · ".join(links)


def _link(course: Course, lesson: str, text: str) -> str:
    text_source = course.source(lesson).read_text(encoding="utf-8", errors="replace")
    title = SOURCE_TITLE.search(text_source)
    number, _, name = lesson.partition("_")
    heading = f"{number} {title[1].strip() if title else name.replace('_', ' ')}"
    return f"[{text.format(heading)}](../{lesson}/{lesson}.ipynb)"


class _Ids:
    """The cells' ids: unique, and the same at every build."""

    def __init__(self) -> None:
        self.section = "start"
        self.counts: Counter[str] = Counter()  # of titles, which may be repeated

    def next(self, cell: SourceCell) -> str:
        if cell.kind == "exercise" and cell.exercise:
            return cell.exercise.name
        if cell.kind == "check" and cell.exercise:
            return f"check-{cell.exercise.name}"
        titles = TITLE.findall(cell.text) if cell.kind == "prose" else []
        for title in titles[-1:]:
            slug = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
            self.section = slug[:50].rstrip("-") or self.section
        self.counts[self.section] += 1
        return f"{self.section}-{self.counts[self.section]}"


def _cell(cell: SourceCell, ids: _Ids, optional: frozenset[str]) -> NotebookNode:
    name = ids.next(cell)
    is_optional = cell.exercise is not None and cell.exercise.name in optional
    metadata: dict = {"tags": cell.tags} if cell.tags else {}
    if cell.kind == "prose":
        if cell.right is not None:
            metadata[ANSWER_KEY] = {"prediction": {"right": cell.right}}
            if cell.tells:  # the answer to the prediction before it
                metadata[ANSWER_KEY]["tells"] = True
        text = with_links(_with_heading(cell, is_optional))
        return new_markdown_cell(text, id=name, metadata=metadata)
    text = cell.text
    if cell.kind == "exercise" and cell.exercise:
        metadata["nbgrader"] = nbgrader_marks(cell.exercise.name)
        metadata[ANSWER_KEY] = {"course_version": course_version(cell.exercise)}
        text = solution(cell.exercise)
    elif cell.kind == "check" and cell.exercise:
        grade_id = f"{CHECK}{cell.exercise.name}"
        metadata["nbgrader"] = nbgrader_marks(grade_id, points=cell.exercise.points)
        if is_optional:
            metadata[ANSWER_KEY] = {OPTIONAL: True}
    elif cell.broken is not None:
        metadata[ANSWER_KEY] = {"mend": cell.broken}
    elif _draws(text):
        metadata["tags"] = list(dict.fromkeys([*cell.tags, PICTURE_TAG]))
    if cell.tells:
        metadata.setdefault(ANSWER_KEY, {})["tells"] = True
    return new_code_cell(text, id=name, metadata=metadata)


def _with_heading(cell: SourceCell, is_optional: bool) -> str:
    """Add to an exercise's heading minutes and dots, and whether it is optional."""
    exercise = cell.exercise
    if exercise is None:
        return cell.text
    dots = "●" * exercise.difficulty + "○" * (3 - exercise.difficulty)
    heading = f"### Exercise: {exercise.name} · {exercise.minutes} min · {dots}"
    heading += f" · {OPTIONAL}" if is_optional else ""
    return HEADING.sub(heading, cell.text)


def _draws(text: str) -> bool:
    """Return whether a cell draws: a picture's bytes differ between machines."""
    return bool(re.search(r"^figures\.\w+\(", text, re.MULTILINE))
