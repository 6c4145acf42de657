"""A course folder of one small lesson, and its only learner."""

import errno
import os

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.course import Course
from autograder.workspace.copies import Copy, open_workspace
from autograder.workspace.home import HOME
from autograder.workspace.update import update

LESSON = "01_dot_product_attention"
OTHER = "02_self_attention"
ANSWER = "def softmax(x):\n    return x / x.sum()"


def nbgrader(grade_id, *, solution=False):
    return {
        "grade": not solution,
        "grade_id": grade_id,
        "locked": not solution,
        "points": 1,
        "schema_version": 3,
        "solution": solution,
        "cell_type": "code",
        "checksum": "0",
    }


def stub(name, docstring="Say what."):
    return f'def {name}(x):\n    """{docstring}"""\n    raise NotImplementedError'


def lesson_cells(**changed):
    """Return cells of a small lesson; ``changed`` has other texts, None for none."""
    cells = {
        "title": "# Dot-product attention",
        "try_it": "temperature = 1.0",
        "softmax": stub("softmax"),
        "check_softmax": "check(softmax)",
        "between": "Now the scores.",
        "scores": stub("scores"),
        "check_scores": "check(scores)",
        "end": "Three lines that sum it up.",
    }
    cells |= changed
    return [make_cell(name, text) for name, text in cells.items() if text is not None]


def make_cell(name, text):
    metadata = {}
    if name in ("softmax", "scores"):
        metadata["nbgrader"] = nbgrader(name, solution=True)
    elif name.startswith("check_"):
        metadata["nbgrader"] = nbgrader(name)
    prose = name in ("title", "between", "end")
    new = new_markdown_cell if prose else new_code_cell
    return new(text, id=name.replace("_", "-"), metadata=metadata)


def write_notebook(path, cells):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nbformat.writes(new_notebook(cells=cells)) + "\n", encoding="utf-8")


class Class:
    """A course folder and its only learner."""

    def __init__(self, root):
        self.course = Course(root)
        (root / "nbgrader_config.py").write_text("")

    def release(self, lesson=LESSON, **changed):
        write_notebook(Copy(self.course, lesson).newer, lesson_cells(**changed))

    @property
    def path(self):
        return Copy(self.course, LESSON).mine

    @property
    def cells(self):
        return nbformat.read(self.path, as_version=4).cells

    @property
    def texts(self):
        return [cell.source for cell in self.cells]

    def write(self, **texts):
        """Type into cells, as JupyterLab would save them: with outputs."""
        cells = self.cells
        for cell in cells:
            cell.source = texts.get(cell.id.replace("-", "_"), cell.source)
            if cell.cell_type == "code":
                cell.execution_count = 3
                cell.outputs = [nbformat.v4.new_output("stream", text="old\n")]
        write_notebook(self.path, cells)

    def insert(self, cell, after):
        cells = self.cells
        ids = [each.id for each in cells]
        cells.insert(ids.index(after) + 1 if after in ids else 0, cell)
        write_notebook(self.path, cells)

    def update(self):
        """Update and return the line about the lesson."""
        (row,) = [row for row in update(self.course) if row.lesson == LESSON]
        return row

    def files(self):
        """Return each file in ``work/`` but the home page, and when it was written."""
        paths = [
            path
            for path in (self.course.root / "work").rglob("*")
            if path.is_file() and path.name != HOME
        ]
        return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in paths}


def opened_course(root):
    """Return a course folder whose learner has opened the lesson once."""
    made = Class(root)
    made.release()
    open_workspace(made.course)
    return made


class FullDisk:
    """The module ``os`` on a disk without space at the last moment."""

    def __getattr__(self, name):
        return getattr(os, name)

    def fsync(self, handle):
        raise OSError(errno.ENOSPC, "No space left on device")
