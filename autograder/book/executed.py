"""The executed teacher's notebook of a lesson: the one that is there, or a new one.

The notebooks beside the sources carry their outputs. One that is not as its source says
is executed anew, into a cache, which stands for as long as nothing changes that its
cells run.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbformat import NotebookNode

import autograder
import course_lib
from autograder.book.lessons import HOME_LINE
from autograder.course import Course, write_atomically
from autograder.notebooks.assemble import teacher_notebook
from autograder.notebooks.build import as_text, require_data, without_outputs
from autograder.notebooks.execute import execute
from autograder.notebooks.source import LessonSource

COURSE_LIB = Path(course_lib.__file__).parent
AUTOGRADER = Path(autograder.__file__).parent
PARTS = ("checking", "exercises", "messages")  # of the autograder, that cells run
SUFFIXES = {".py", ".js", ".css", ".json"}


def executed_notebook(course: Course, lesson: str, cache: Path) -> NotebookNode:
    """Return a lesson's teacher's notebook with its outputs.

    cache : the folder for what has to be executed

    Raises ``CourseError`` if the source is wrong, a cell fails, or data is missing.
    """
    source = LessonSource(course.source(lesson))
    teacher = teacher_notebook(source)
    text = as_text(teacher)
    key = hashlib.sha256(text.encode())
    for path in _files_that_cells_run():
        key.update(path.name.encode() + path.read_bytes())
    cached = cache / f"{lesson}-{key.hexdigest()[:16]}.ipynb"
    for path in (course.teacher(lesson), cached):
        if notebook := _with_outputs(path, text):
            return notebook
    require_data(course, [lesson])
    print(f"{lesson}: executing the notebook …", flush=True)
    execute(teacher, source, course.root)
    write_atomically(cached, as_text(teacher))
    for old in cache.glob(f"{lesson}-*.ipynb"):
        if old != cached:
            old.unlink()
    return teacher


def _files_that_cells_run() -> Iterator[Path]:
    for folder in (COURSE_LIB, *(AUTOGRADER / part for part in PARTS)):
        files = sorted(folder.rglob("*"))
        yield from (path for path in files if path.suffix in SUFFIXES)


def _with_outputs(path: Path, text: str) -> NotebookNode | None:
    """Return a notebook that was executed and is otherwise as a text says, or None."""
    try:
        written = path.read_text(encoding="utf-8")
        if _without_links(without_outputs(written)) != _without_links(text):
            return None
        notebook = nbformat.reads(written, as_version=4)
    except Exception:
        # Missing, or broken: nbformat raises whatever a broken file makes it stumble
        # over. It is executed anew, which says what is wrong.
        return None
    codes = (cell for cell in notebook.cells if cell.cell_type == "code")
    return notebook if all(cell.execution_count for cell in codes) else None


def _without_links(text: str) -> str:
    """Return a notebook's text without its links to others, which the book drops."""
    notebook = nbformat.reads(text, as_version=4)
    for cell in notebook.cells:  # the first one, the core's last and the last have some
        cell.source = HOME_LINE.sub("", cell.source).rstrip()
    return as_text(notebook)
