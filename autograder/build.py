"""Build the notebooks of a lesson from its text source, or check that they are built.

source → teacher's notebook, executed → learner's notebook, by nbgrader's own
``generate_assignment`` in a temporary folder. Both are moved into place whole.
"""

import logging
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config, PyFileConfigLoader

from autograder.assemble import METADATA, teacher_notebook
from autograder.course import Course, CourseError, write_atomically
from autograder.source import LessonSource

CELL_TIMEOUT = 300  # seconds; what trains longer belongs into a command of its own


class BuildError(CourseError):
    """A lesson whose notebook cannot be built."""


def build(course: Course, lesson: str) -> None:
    """Build and execute a lesson's notebooks and put both into place."""
    teacher = teacher_notebook(LessonSource(course.source(course.require(lesson))))
    learner = learner_text(course, lesson, teacher)
    execute(teacher, lesson, course.root)
    write_atomically(course.teacher(lesson), as_text(teacher))
    write_atomically(course.learner(lesson), learner)


def differences(course: Course, lesson: str) -> list[str]:
    """Say in which notebooks of a lesson the committed state differs from the source.

    Outputs are left aside: whether those still hold is nbval's question.
    """
    teacher = teacher_notebook(LessonSource(course.source(course.require(lesson))))
    wanted = {
        course.teacher(lesson): as_text(teacher),
        course.learner(lesson): learner_text(course, lesson, teacher),
    }
    found = []
    for path, text in wanted.items():
        name = course.relative(path)
        if not path.is_file():
            found.append(f"{name} is missing")
        elif where := _first_difference(path, text):
            found.append(f"{name} differs from its source, first {where}")
    return found


def as_text(notebook: NotebookNode) -> str:
    """Give a notebook's text, the same for the same notebook."""
    return nbformat.writes(notebook).rstrip("\n") + "\n"


def execute(notebook: NotebookNode, lesson: str, root: Path) -> None:
    """Run a teacher's notebook in place; refuse errors and anything on stderr."""
    client = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT,
        kernel_name="python3",
        record_timing=False,
        config=Config({"KernelManager": {"transport": "ipc"}}),  # no open ports
        resources={"metadata": {"path": str(root)}},
    )
    try:
        with _environment(PYTHONHASHSEED="0", NBGRADER_EXECUTION=None):
            client.execute()
    except CellExecutionError as error:
        raise BuildError(f"{lesson}: a cell of the lesson fails\n{error}") from None
    notebook.metadata = nbformat.from_dict(METADATA)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr":
                raise BuildError(
                    f"{lesson}: cell {cell.id} writes to stderr: {output.text.strip()}"
                )


def learner_text(course: Course, lesson: str, teacher: NotebookNode) -> str:
    """Give the learner's notebook as nbgrader makes it of a teacher's."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "solutions", lesson, f"{lesson}.ipynb")
        write_atomically(source, as_text(teacher))
        config = _nbgrader_config(course.root)
        config.CourseDirectory.root = folder
        config.CourseDirectory.assignment_id = lesson
        config.GenerateAssignment.no_database = True  # these two lines are --no-db
        config.SaveCells.enabled = False
        coursedir = CourseDirectory(config=config)
        converter = GenerateAssignment(coursedir=coursedir, config=config)
        converter.log.setLevel(logging.ERROR)
        try:
            converter.start()
        except (NbGraderException, SystemExit):
            raise BuildError(f"{lesson}: nbgrader refused the notebook") from None
        released = Path(folder, "notebooks", lesson, f"{lesson}.ipynb")
        return as_text(nbformat.read(released, as_version=4))


def _nbgrader_config(root: Path) -> Config:
    return PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config()


@contextmanager
def _environment(**values: str | None) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    _set_environment(values)
    try:
        yield
    finally:
        _set_environment(before)


def _set_environment(values: dict[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def _first_difference(path: Path, wanted: str) -> str:
    """Say where a committed notebook differs from the wanted text, outputs aside."""
    try:
        committed = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
    except Exception as error:
        return f"because it cannot be read: {error}"
    for cell in committed.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    if as_text(committed) == wanted:
        return ""
    expected = nbformat.reads(wanted, as_version=4)
    for mine, right in zip(committed.cells, expected.cells, strict=False):
        if mine != right:
            return f"in cell {right.id}"
    if len(committed.cells) != len(expected.cells):
        return f"in length: {len(committed.cells)}, not {len(expected.cells)} cells"
    return "in its metadata"
