"""The class that grading is measured on: lesson 01, right, mistaken and half done.

Every student of the demo's class whose file can be read, several times over; a comment
with the student's name makes every submission another, so that none is judged for
another. The broken file is left out: it takes no time here and little in nbgrader.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.course import Course
from autograder.demo.sample_class import (
    LESSON,
    SampleStudent,
    make_folder,
    sample_class,
    submit,
)
from autograder.grading.release import load_release

COPIES = 4
GROUPS = "abc"  # each of them a mix of its own; nbgrader grades a group at a time
UNREADABLE = "pavel"
BEFORE = "softmax"  # above its answer stands the comment of who has answered nothing

Change = Callable[[NotebookNode], NotebookNode]


def students() -> list[SampleStudent]:
    """Return the class; a name says the copy and the group: ``amara-1a``."""
    readable = [each for each in sample_class() if each.name != UNREADABLE]
    return [
        named(student, f"{student.name}-{number}{GROUPS[index % len(GROUPS)]}")
        for number in range(1, COPIES + 1)
        for index, student in enumerate(readable)
    ]


def once() -> list[SampleStudent]:
    """Return the first copy of every student: what nbgrader gets of the class."""
    return [student for student in students() if student.name[-2] == "1"]


def named(student: SampleStudent, name: str) -> SampleStudent:
    """Return a student another name, and a comment with it in each answer."""
    comment = f"# {name}"
    answers = {
        exercise: f"{answer}\n{comment}" for exercise, answer in student.answers.items()
    }
    own_cells = student.own_cells if answers else {BEFORE: comment}
    return replace(student, name=name, answers=answers, own_cells=own_cells)


def class_folder(
    course: Course, folder: Path, handing_in: Sequence[SampleStudent]
) -> Course:
    """Make a course folder with a class's submissions."""
    make_folder(course, folder, handing_in)
    return Course(folder)


def lesson_folder(course: Course, folder: Path, change: Change) -> None:
    """Make a course folder with a changed lesson and no submissions.

    change : makes of the teacher's notebook that which is to be released
    """
    make_folder(course, folder, [])
    path = Course(folder).teacher(LESSON)
    nbformat.write(change(nbformat.read(path, as_version=4)), path)


def hand_in(folder: Path, handing_in: Sequence[SampleStudent]) -> None:
    """Write submissions of the lesson that has been released in a folder."""
    learner = nbformat.read(Course(folder).learner(LESSON), as_version=4)
    for student in handing_in:
        submit(folder, LESSON, learner, student)


def without_demonstrations(course: Course, setup: str = "") -> Change:
    """Return the change that leaves only the code that the engine runs, and the checks.

    setup : lines that are put above the set-up cell's own
    """
    cells = load_release(course, LESSON).cells
    roles = {cell.id: cell.role for cell in cells}

    def change(notebook: NotebookNode) -> NotebookNode:
        changed = copy.deepcopy(notebook)
        cells = [cell for cell in changed.cells if roles.get(cell.id) != "demo"]
        for cell in cells:
            if roles.get(cell.id) == "setup":
                cell.source = setup + cell.source
        changed.cells = cells
        return changed

    return change
