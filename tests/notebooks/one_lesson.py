"""The text of a lesson to build, and what is built of it."""

import nbformat

from autograder.course import Course
from tests.synthetic import (
    LESSON,
    TOP,
    exercise_cells,
)

HERE = Course.here()
TEXT = TOP + "\nfrom stub import check\n" + exercise_cells("double")


def files(root):
    """Return all files of a folder with their bytes."""
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


def notebooks(folder):
    paths = folder.teacher(LESSON), folder.learner(LESSON)
    return [nbformat.read(path, as_version=4) for path in paths]


def cell(notebook, name):
    (cell,) = [cell for cell in notebook.cells if cell.id == name]
    return cell
