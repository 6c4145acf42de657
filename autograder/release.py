"""Make a learner's notebook of a teacher's, with nbgrader's ``generate_assignment``.

All of it happens in a temporary folder: nbgrader sees neither the course's files nor
its gradebook, and leaves nothing behind.
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

from autograder.course import CourseError, write_atomically


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
