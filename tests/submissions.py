"""Build submissions for the grading engine's tests: right ones, and changes to them.

A submission starts as the learner's notebook of lesson 01 with every exercise answered
rightly. What a test is about is the change that it makes.
"""

import copy
import json
import shutil
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.checking.registry import exercises_of
from autograder.course import Course
from autograder.course.releases import (
    ANSWER_KEY,
    METADATA_KEY,
    OPTIONAL,
    Points,
    release_name,
)
from autograder.demo.sample_class import right_answer
from autograder.gradebook.database import Gradebook
from autograder.grading.release import load_release

LESSON = "01_dot_product_attention"
COURSE = Course.here()
EXERCISES = tuple(exercise.name for exercise in exercises_of(LESSON))
MAX_POINTS = sum(exercise.points for exercise in exercises_of(LESSON))
OPTIONAL_EXERCISES = load_release(COURSE, LESSON).points.optional
# What the lesson is out of in a class; the points of optional exercises are on top.
REQUIRED_POINTS = MAX_POINTS - sum(
    exercise.points
    for exercise in exercises_of(LESSON)
    if exercise.name in OPTIONAL_EXERCISES
)
LEARNER = nbformat.read(COURSE.learner(LESSON), as_version=4)


def open_course(root: Path, *, all_required: bool = False) -> Path:
    """Make a course folder without submissions, with the lesson in its gradebook.

    all_required : whether the lesson is released as before there were optional
        exercises: all of them count alike
    """
    for part in ("notebooks", "solutions"):
        shutil.copytree(COURSE.root / part, root / part)
    shutil.copy(COURSE.root / "nbgrader_config.py", root)
    if all_required:
        require_all(Course(root), LESSON)
    assert Gradebook(Course(root)).open_lesson(LESSON) == []
    return root


def require_all(course: Course, lesson: str) -> None:
    """Release a lesson with all of its exercises required."""
    path = course.learner(lesson)
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        ours = cell["metadata"].get(ANSWER_KEY, {})
        if ours.pop(OPTIONAL, None) and not ours:
            del cell["metadata"][ANSWER_KEY]
    points = Points(load_release(course, lesson).points)
    notebook["metadata"][METADATA_KEY] = release_name(points)
    path.write_text(json.dumps(notebook), encoding="utf-8")


class Submission:
    """A notebook that answers every exercise rightly, to be changed and written.

    notebook : the notebook, free to change; ``write`` writes it unless ``raw`` is set
    raw : the file's bytes, if they are not a notebook's
    absent : whether no file is to be written: there is none, or something else is there
    """

    def __init__(self) -> None:
        self.notebook: NotebookNode = copy.deepcopy(LEARNER)
        self.raw: bytes | None = None
        self.absent = False
        for name in EXERCISES:
            self.answer(name, right_answer(name))

    def cell(self, name: str) -> NotebookNode:
        """Return the cell of an id: ``softmax``, ``check-softmax``, ``attention-4``."""
        return self.notebook.cells[self.index(name)]

    def index(self, name: str) -> int:
        """Return the index of the cell of an id."""
        return [cell.get("id") for cell in self.notebook.cells].index(name)

    def answer(self, name: str, text: str) -> None:
        """Write an answer into an exercise's cell."""
        self.cell(name).source = text

    def own(self, text: str, *, above: str = "", below: str = "") -> NotebookNode:
        """Add a code cell of the learner's own: at the end, or next to a cell."""
        cell = new_code_cell(text, id=f"own-{len(self.notebook.cells)}")
        self._insert(cell, above, below)
        return cell

    def note(self, text: str, *, above: str = "", below: str = "") -> NotebookNode:
        """Add a prose cell of the learner's own."""
        cell = new_markdown_cell(text, id=f"note-{len(self.notebook.cells)}")
        self._insert(cell, above, below)
        return cell

    def text(self) -> str:
        """Return the notebook as the text of a file, without any validation."""
        return json.dumps(self.notebook, indent=1, ensure_ascii=False) + "\n"

    def write(self, folder: Path, student: str) -> Path:
        """Write the file where nbgrader collects it; return its path."""
        path = folder / "submitted" / student / LESSON / f"{LESSON}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = self.text().encode("utf-8", "surrogatepass")
        path.write_bytes(raw if self.raw is None else self.raw)
        return path

    def _insert(self, cell: NotebookNode, above: str, below: str) -> None:
        index = len(self.notebook.cells)
        if above or below:
            index = self.index(above) if above else self.index(below) + 1
        self.notebook.cells.insert(index, cell)
