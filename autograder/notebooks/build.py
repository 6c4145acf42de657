"""Build the notebooks of a lesson from its text source, or check that they are built.

source → teacher's notebook, run by ``execute`` → learner's notebook, as ``release``
makes it. Both are moved into place whole, or neither is.
"""

import logging
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from traitlets.config import PyFileConfigLoader

from autograder.course import Course, CourseError, write_atomically, write_together
from autograder.notebooks.assemble import teacher_notebook
from autograder.notebooks.execute import execute
from autograder.notebooks.source import LessonSource


def as_text(notebook: NotebookNode) -> str:
    """Give a notebook's text, the same for the same notebook."""
    return nbformat.writes(notebook).rstrip("\n") + "\n"


def learner_text(root: Path, lesson: str, teacher: NotebookNode) -> str:
    """Give the learner's notebook as nbgrader makes it of a teacher's.

    root : the course's folder, for its ``nbgrader_config.py``
    """
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "solutions", lesson, f"{lesson}.ipynb")
        write_atomically(source, as_text(teacher))
        config = PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config()
        config.CourseDirectory.root = folder
        config.CourseDirectory.assignment_id = lesson
        config.GenerateAssignment.no_database = True  # these two lines are --no-db
        config.SaveCells.enabled = False
        coursedir = CourseDirectory(config=config)
        converter = GenerateAssignment(coursedir=coursedir, config=config)
        with _errors(converter.log) as errors:
            try:
                converter.start()
            except (NbGraderException, SystemExit):
                why = _reason(errors)
                raise CourseError(f"{lesson}: nbgrader refuses it: {why}") from None
        released = Path(folder, "notebooks", lesson, f"{lesson}.ipynb")
        return as_text(nbformat.read(released, as_version=4))


@contextmanager
def _errors(log: logging.Logger) -> Iterator[list[str]]:
    """Collect what is logged as an error, and let nothing of it through."""
    found: list[str] = []
    handler = logging.Handler(logging.ERROR)
    handler.emit = lambda record: found.append(record.getMessage())  # type: ignore[method-assign]
    before = log.propagate, log.level
    log.propagate = False
    log.setLevel(logging.ERROR)
    log.addHandler(handler)
    try:
        yield found
    finally:
        log.removeHandler(handler)
        log.propagate, log.level = before


def _reason(errors: list[str]) -> str:
    """Find the sentence that names the fault among what nbgrader logs about it."""
    for text in errors:
        # The exception under a traceback begins on the first line that is not indented.
        if found := re.match(r"Traceback .*?\n(?=\S)(.+)", text, re.DOTALL):
            return " ".join(found[1].split())
    return errors[0] if errors else "it does not say why"


def build(course: Course, lesson: str) -> None:
    """Build and execute a lesson's notebooks and put both into place.

    Raises ``CourseError`` if that cannot be done; then both are as they were.
    """
    source = LessonSource(course.source(lesson))
    teacher = teacher_notebook(source)
    try:
        learner = learner_text(course.root, lesson, teacher)
        execute(teacher, source, course.root)
        write_together(
            {course.teacher(lesson): as_text(teacher), course.learner(lesson): learner}
        )
    except OSError as error:
        raise CourseError(
            f"{lesson}: {error}. Its notebooks are as they were"
        ) from None


def differences(course: Course, lesson: str) -> list[str]:
    """Say in which notebooks of a lesson the committed state differs from the source.

    Outputs of the teacher's are left aside: whether they hold is nbval's question.
    """
    teacher = teacher_notebook(LessonSource(course.source(lesson)))
    wanted = {
        course.teacher(lesson): as_text(teacher),
        course.learner(lesson): learner_text(course.root, lesson, teacher),
    }
    found = []
    for path, text in wanted.items():
        name = course.relative(path)
        if not path.is_file():
            found.append(f"{name} is missing")
            continue
        try:
            committed = path.read_text(encoding="utf-8")
            if path == course.teacher(lesson):
                committed = _without_outputs(committed)
            if committed != text:
                where = _first_difference(committed, text)
                found.append(f"{name} differs from its source, first {where}")
        except Exception as error:
            # nbformat raises whatever the broken file makes it stumble over.
            found.append(f"{name} cannot be read: {type(error).__name__}: {error}")
    return found


def strays(course: Course) -> list[str]:
    """Say which lessons have notebooks, but no text source that they come from."""
    folders = {
        path.parent
        for place in ("solutions", "notebooks")
        for path in course.root.glob(f"{place}/[0-9]*/*.ipynb")
    }
    return [
        f"{course.relative(folder)} holds a notebook, but there is no source "
        f"{course.relative(course.source(folder.name))}: remove it"
        for folder in sorted(folders)
        if folder.name not in course.lessons
    ]


def _without_outputs(text: str) -> str:
    """Take the outputs out of a notebook's text, and leave the rest as it is."""
    notebook = nbformat.reads(text, as_version=4)
    if as_text(notebook) != text:
        return text  # not as the builder writes it
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return as_text(notebook)


def _first_difference(committed: str, wanted: str) -> str:
    found = nbformat.reads(committed, as_version=4)
    expected = nbformat.reads(wanted, as_version=4)
    for mine, right in zip(found.cells, expected.cells, strict=False):
        if mine != right:
            return f"in cell {right.id}"
    if len(found.cells) != len(expected.cells):
        return f"in length: {len(found.cells)}, not {len(expected.cells)} cells"
    return "in how it is written" if found == expected else "in its metadata"


# MERGED autograder.release: Make a learner's notebook of a teacher's, with nbgrader's ``generate_assignment``.
#
#   All of it happens in a temporary folder: nbgrader sees neither the course's files nor
#   its gradebook, and leaves nothing behind.
#
