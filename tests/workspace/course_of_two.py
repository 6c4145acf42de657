"""A course of two small lessons whose exercises the real checks know."""

import json
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.course import Course
from autograder.workspace.copies import WORK, open_workspace

FIRST, SECOND = "01_dot_product_attention", "02_self_attention"
EXERCISES = {FIRST: {"softmax": 10, "scaled_scores": 30}, SECOND: {"project": 8}}
FURTHER = {"attention": 10, "self_attention": 20}  # of the first lesson, if it has any
ABOUT = {
    FIRST: "# Dot products\n\n**What is alike?**\n\n**About 80 minutes.**",
    SECOND: "# Self-attention\n\n**Who attends?**\n\n**About 50 minutes.**",
}
RIGHT = """def softmax(x, axis=-1):
    powers = np.exp(1.0 * x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)"""
WRONG = """def softmax(x, axis=-1):
    return np.exp(x) / np.exp(x).sum(axis=axis, keepdims=True)"""
STUB = "def softmax(x, axis=-1):\n    raise NotImplementedError"
RIGHT_SCORES = """def scaled_scores(q, k):
    return 1.0 * q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5"""


def stub(name: str) -> str:
    """Return an exercise's stub."""
    return f"def {name}(x):\n    raise NotImplementedError"


def write_course(root: Path) -> Course:
    """Write the course's release into a folder."""
    (root / "nbgrader_config.py").write_text("")
    for lesson in EXERCISES:
        write_release(Course(root), lesson)
    return Course(root)


def write_release(course: Course, lesson: str, **stubs: str | None) -> None:
    """Write a lesson's learner's notebook.

    stubs : other stubs than the usual ones, None for an exercise that is dropped
    """
    cells = [new_markdown_cell(ABOUT[lesson], id="start-1")]
    for name, minutes in EXERCISES[lesson].items():
        text = stubs.get(name, stub(name))
        if text is None:
            continue
        heading = f"### Exercise: {name} · {minutes} min · ●●○\n\nWrite it."
        cells += [
            new_markdown_cell(heading, id=f"about-{name}"),
            new_code_cell(text, id=name, metadata=_marks(name, text)),
            new_code_cell(f"check({name})", id=f"check-{name}", metadata=_marks(name)),
        ]
    if lesson == SECOND:
        cells += [new_code_cell("1 + 1", id="below")]
        cells += [new_markdown_cell("## In three lines", id="closing")]
    path = course.learner(lesson)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nbformat.writes(new_notebook(cells=cells)) + "\n", encoding="utf-8")


def write_further(course: Course) -> None:
    """Add to the first lesson's release a part *Going further* of two exercises."""
    path = course.learner(FIRST)
    notebook = nbformat.read(path, as_version=4)
    about = notebook.cells[0]
    more = "80 minutes, and 45 more in *Going further*."
    about.source = about.source.replace("80 minutes.", more)
    notebook.cells += [new_markdown_cell("## In three lines", id="closing")]
    notebook.cells += [new_markdown_cell("## Going further\n\nSkip it.", id="further")]
    for name, minutes in FURTHER.items():
        heading = f"### Exercise: {name} · {minutes} min · ●●○ · optional"
        metadata = _marks(name) | {"attention": {"optional": True}}
        notebook.cells += [
            new_markdown_cell(f"## About {name}", id=f"section-{name}"),
            new_markdown_cell(heading, id=f"about-{name}"),
            new_code_cell(stub(name), id=name, metadata=_marks(name, stub(name))),
            new_code_cell(f"check({name})", id=f"check-{name}", metadata=metadata),
        ]
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")


def _marks(name: str, stub_text: str = "") -> dict:
    is_answer = bool(stub_text)
    marks = {
        "cell_type": "code",
        "checksum": "0",
        "grade": not is_answer,
        "grade_id": name if is_answer else f"check_{name}",
        "locked": not is_answer,
        "points": 8,
        "schema_version": 3,
        "solution": is_answer,
    }
    ours = {"attention": {"stub": stub_text}} if is_answer else {}
    return {"nbgrader": marks, **ours}


class Learner:
    """The only learner of the course, with fresh copies in ``work/``."""

    def __init__(self, root: Path, *, further: bool = False) -> None:
        self.course = write_course(root)
        if further:
            write_further(self.course)
        open_workspace(self.course)
        self.work = root / WORK

    def folder(self, lesson: str = FIRST) -> Path:
        """Return the folder in which a lesson's kernel runs."""
        return self.work / lesson

    def notebook(self, lesson: str = FIRST) -> nbformat.NotebookNode:
        """Return the learner's notebook as it is saved."""
        return nbformat.read(self.folder(lesson) / f"{lesson}.ipynb", as_version=4)

    def cell(self, name: str = "softmax", lesson: str = FIRST) -> nbformat.NotebookNode:
        """Return the saved cell of an id."""
        return {cell.id: cell for cell in self.notebook(lesson).cells}[name]

    def save(self, source: str, name: str = "softmax", lesson: str = FIRST) -> None:
        """Save a notebook with another text in a cell, and outputs everywhere."""
        notebook = self.notebook(lesson)
        for cell in notebook.cells:
            if cell.id == name:
                cell.source = source
            if cell.cell_type == "code":
                cell.outputs = [nbformat.v4.new_output("stream", text="old\n")]
        path = self.folder(lesson) / f"{lesson}.ipynb"
        path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")

    def record(self, exercise: str = "softmax") -> dict:
        """Return what is kept of an exercise."""
        path = self.work / ".progress" / f"{exercise}.json"
        return json.loads(path.read_text(encoding="utf-8"))

    @property
    def home(self) -> str:
        """The text of the home page."""
        return (self.work / "home.md").read_text(encoding="utf-8")
