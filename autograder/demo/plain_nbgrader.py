"""Release, grade, give feedback and export with nbgrader as it is.

``autograde`` is the seam: whatever grades a submission gives the same results. A step
may change the current folder and the environment of its process; ``workers`` keeps
that away from the caller. nbgrader's own ``NbGraderAPI`` is not used: it swallows
Ctrl-C.
"""

import html
import json
import logging
from pathlib import Path
from textwrap import shorten

import nbformat
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback
from nbgrader.converters.base import BaseConverter, NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import CsvExportPlugin
from traitlets.config import Config, PyFileConfigLoader

from autograder.course import CourseError, write_atomically
from autograder.demo.results import CHECK, Result, diagnosis, graded_exercises

LONGEST = 120  # characters of what nbgrader said, in a reason
LOCK_TIMEOUT = 60  # seconds that one process waits while another writes the gradebook


def release(folder: Path, lesson: str) -> None:
    """Make the learner's notebook of a lesson and enter it into the gradebook."""
    try:
        _converter(GenerateAssignment, folder, lesson).start()
    except (NbGraderException, SystemExit):
        raise CourseError(f"{lesson}: nbgrader cannot release the lesson") from None


def autograde(folder: Path, lesson: str, student: str) -> list[Result]:
    """Grade one student's submission and enter the points into the gradebook.

    A submission that cannot be graded gets 0 points, and the reason as its diagnosis.
    """
    log = _Log()
    converter = _converter(Autograde, folder, lesson, student)
    converter.log.addHandler(log)
    try:
        converter.start()
    except (NbGraderException, SystemExit):
        reason = _fault(_notebook(folder, "submitted", lesson, student)) or log.reason
        _enter_zeros(folder, lesson, student)
        return _results(folder, lesson, student, reason)
    finally:
        converter.log.removeHandler(log)
    return _results(folder, lesson, student)


def feedback(folder: Path, lesson: str, student: str, reason: str = "") -> None:
    """Write a student's feedback page.

    reason : why there is no autograded notebook, where there is none
    """
    if _notebook(folder, "autograded", lesson, student).is_file():
        try:
            return _converter(GenerateFeedback, folder, lesson, student).start()
        except (NbGraderException, SystemExit):
            reason = "nbgrader cannot make a page of the graded notebook"
    page = _notebook(folder, "feedback", lesson, student).with_suffix(".html")
    text = html.escape(f"{lesson}: {reason}.")
    write_atomically(page, f'<!doctype html><meta charset="utf-8"><p>{text}</p>\n')


def export(folder: Path, path: Path) -> None:
    """Write the gradebook's grades as nbgrader exports them."""
    plugin = CsvExportPlugin()
    plugin.to = str(path)
    with gradebook(folder) as book:
        plugin.export(book)


def gradebook(folder: Path) -> Gradebook:
    """Open a course folder's gradebook, which is to be closed again."""
    course = CourseDirectory(config=_config(folder))
    return Gradebook(course.db_url, course.course_id)


def _config(folder: Path) -> Config:
    config = PyFileConfigLoader("nbgrader_config.py", path=str(folder)).load_config()
    config.CourseDirectory.root = str(folder)
    database = f"sqlite:///{folder / 'gradebook.db'}?timeout={LOCK_TIMEOUT}"
    config.CourseDirectory.db_url = database
    return config


def _converter(
    kind: type[BaseConverter], folder: Path, lesson: str, student: str = ""
) -> BaseConverter:
    config = _config(folder)
    config.CourseDirectory.assignment_id = lesson
    if student:
        config.CourseDirectory.student_id = student
    converter = kind(coursedir=CourseDirectory(config=config), config=config)
    converter.force = True
    return converter


def _notebook(folder: Path, step: str, lesson: str, student: str) -> Path:
    return folder / step / student / lesson / f"{lesson}.ipynb"


def _results(folder: Path, lesson: str, student: str, reason: str = "") -> list[Result]:
    released = nbformat.read(
        folder / "notebooks" / lesson / f"{lesson}.ipynb", as_version=4
    )
    graded = None
    if not reason:
        path = _notebook(folder, "autograded", lesson, student)
        graded = nbformat.read(path, as_version=4)
    found = []
    with gradebook(folder) as book:
        for exercise in graded_exercises(released):
            grade = book.find_grade(CHECK + exercise, lesson, lesson, student)
            words = diagnosis(graded, exercise) if graded else reason
            points = float(grade.score), float(grade.max_score)
            found.append(Result(student, exercise, *points, words))
    return found


def _enter_zeros(folder: Path, lesson: str, student: str) -> None:
    """Enter 0 points, as nbgrader does for a missing notebook: no grade stays open."""
    with gradebook(folder) as book:
        submission = book.update_or_create_submission(lesson, student)
        for notebook in submission.notebooks:
            for grade in notebook.grades:
                grade.auto_score = 0.0
                grade.needs_manual_grade = False
        book.db.commit()


def _fault(path: Path) -> str:
    """Say why a file is no notebook, or nothing if it can be read as one."""
    try:
        json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        return f"broken file: the notebook's text is damaged at line {error.lineno}"
    except (OSError, ValueError) as error:
        return f"broken file: {error}"
    return ""


class _Log(logging.Handler):
    """Keeps what nbgrader says about a failure."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self._errors: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self._errors.append(record.getMessage().strip())

    @property
    def reason(self) -> str:
        """The exception that stopped nbgrader, or else the first thing it said."""
        traces = [text for text in self._errors if text.startswith("Traceback")]
        said = traces[0].splitlines()[-1] if traces else "".join(self._errors[:1])
        return f"not graded: {shorten(said or 'nbgrader stopped', LONGEST)}"
