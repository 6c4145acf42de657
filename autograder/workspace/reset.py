"""Start an exercise over in the learner's copy: what ``autograder reset`` does."""

import difflib
from typing import Any

import nbformat
from nbformat import NotebookNode

from autograder.course import Course, CourseError, write_atomically
from autograder.workspace.answer_cell import of_answer, restore, start_over
from autograder.workspace.copies import Copy
from autograder.workspace.outline import read_outlines
from autograder.workspace.progress import reopen
from autograder.workspace.update import read_notebook


def reset(course: Course, exercise: str, *, back: bool = False) -> str:
    """Start an exercise over in the learner's copy, or restore its last answer.

    Returns what was done, as a sentence. Raises ``CourseError`` if there is no such
    exercise, or if the copy cannot be read or written; then it is as it was.
    """
    copy = _copy_with(course, exercise)
    _, notebook = read_notebook(
        copy, copy.mine, "rename it; `attention-course` gives you a new one"
    )
    cell = _answer_cell(notebook, exercise)
    if cell is None:
        raise CourseError(
            f"{copy.relative(copy.mine)} has no cell for {exercise} any more: "
            "`autograder update` brings back what the lesson has"
        )
    stub = _stub(copy, cell, exercise)
    if back and not restore(cell, stub):
        return f"{exercise}: no earlier answer is kept"
    if not back and not start_over(cell, stub):
        return f"{exercise}: the saved notebook holds the stub already"
    if not back:
        _remove_course_version(notebook, cell)
    _clear_check(notebook, exercise)
    try:
        write_atomically(copy.mine, nbformat.writes(notebook).rstrip() + "\n")
    except OSError as error:
        raise copy.not_written(error) from None
    where = f"where {copy.relative(copy.mine)} is open, close its tab or reload it"
    if back:
        return f"{exercise}: your last answer is back; {where}"
    _reopen(copy, exercise)
    return (
        f"{exercise}: the cell holds the stub again, and your answer is kept in it "
        f"(`autograder reset {exercise} --back`); {where}"
    )


def _copy_with(course: Course, exercise: str) -> Copy:
    """Return the learner's copy of the lesson that has an exercise."""
    lessons = read_outlines(course)
    for lesson in lessons:
        if exercise in [each.name for each in lesson.exercises]:
            copy = Copy(course, lesson.lesson)
            if not copy.mine.exists():
                raise CourseError(
                    f"there is no {copy.relative(copy.mine)} yet: "
                    "`attention-course` copies it"
                )
            return copy
    names = [each.name for lesson in lessons for each in lesson.exercises]
    close = difflib.get_close_matches(exercise, names, n=1)
    meant = f"did you mean {close[0]}?" if close else "its heading has the name"
    raise CourseError(f"no exercise is named {exercise!r}: {meant}")


def _answer_cell(notebook: NotebookNode, exercise: str) -> NotebookNode | None:
    """Return an exercise's cell; a copy of it in the same notebook comes second."""
    cells = [
        cell
        for cell in notebook.cells
        if cell.cell_type == "code" and _grade_id(cell) == exercise
    ]
    return next((cell for cell in cells if cell.get("id") == exercise), None) or next(
        iter(cells), None
    )


def _stub(copy: Copy, cell: NotebookNode, exercise: str) -> str:
    """Return an exercise's stub; a copy from before cells kept theirs asks the lesson.

    Raises ``CourseError`` if neither has it.
    """
    stub = of_answer(cell).get("stub")
    for path in (copy.base, copy.newer):
        if isinstance(stub, str):
            break
        try:
            _, original = read_notebook(copy, path, "")
        except CourseError:
            continue
        if lesson_cell := _answer_cell(original, exercise):
            stub = lesson_cell.source
    if not isinstance(stub, str):
        raise CourseError(
            f"the stub of {exercise} is not known: run `make build`, then call again"
        )
    return stub


def _remove_course_version(notebook: NotebookNode, cell: NotebookNode) -> None:
    """Remove the cell below an answer that imports the course's version."""
    line = of_answer(cell).get("course_version")
    below = notebook.cells.index(cell) + 1
    for other in notebook.cells[below : below + 1]:
        if other.cell_type == "code" and other.source.strip() == line:
            notebook.cells.remove(other)


def _clear_check(notebook: NotebookNode, exercise: str) -> None:
    """Remove the output of an exercise's check, which was about another answer."""
    for cell in notebook.cells:
        if cell.cell_type == "code" and _grade_id(cell) == f"check_{exercise}":
            cell.outputs, cell.execution_count = [], None


def _reopen(copy: Copy, exercise: str) -> None:
    try:
        reopen(copy.course.records, exercise)
    except OSError as error:
        raise CourseError(
            f"{exercise} is started over, but its progress could not be written "
            f"({error.strerror}): Home shows it as before"
        ) from None


def _grade_id(cell: NotebookNode) -> Any:
    marks = cell.metadata.get("nbgrader")
    return marks.get("grade_id") if isinstance(marks, dict) else None
