"""Our engine and our feedback page in the place of nbgrader's: two nbconvert exporters.

nbgrader's commands and formgrader's buttons call an exporter for each notebook, before
anything in it is parsed; they go on to do everything around it.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from nbconvert.exporters import HTMLExporter, NotebookExporter

from autograder.course import Course, CourseError
from autograder.gradebook.feedback import page_of
from autograder.gradebook.folders import clear, graded_path
from autograder.gradebook.writing import id_fault
from autograder.grading.submission import TIMESTAMP


class Grader(Protocol):
    """What grades submissions: ``autograder.gradebook.service.Service``."""

    def autograded(self, lesson: str, student: str, expected: Sequence[str]) -> str:
        """Grade a submission, enter its points, give its graded notebook's text.

        expected : students that are going to be asked for, this one included
        """


class AutogradeExporter(NotebookExporter):
    """Grades with the engine where nbgrader would run the notebook in a kernel.

    An object of it serves one call of nbgrader's, for one student or for a class.

    nbgrader asks twice for each notebook: to clean what was submitted, and to grade
    what it has written of that. All is done the first time; nothing that a student has
    sent is parsed here.
    """

    _expected: list[str] | None = None

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Join one call of nbgrader's; the converter that makes it is ``parent``."""
        super().__init__(*arguments, **options)
        converter: Any = self.parent
        if hasattr(converter, "init_assignment"):
            converter.init_assignment = _only_with_an_id(converter.init_assignment)

    def from_filename(  # type: ignore[override]  # nbconvert says notebook, gives text
        self, filename: str, resources: Any = None, **_: Any
    ) -> tuple[str, Any]:
        """Give the graded notebook's text, and what nbconvert is to do with it."""
        resources = self._init_resources(resources)
        course, lesson, student = _whose(self.parent, resources)
        if resources["nbgrader"]["notebook"] != lesson:
            raise CourseError(f"{lesson} is graded in {lesson}.ipynb only")
        graded = graded_path(course, lesson, student)
        if Path(filename).resolve() == graded.resolve():
            return graded.read_text(encoding="utf-8"), resources
        # nbgrader has copied all that was sent. Formgrader would serve a page among it
        # in the instructor's session; and an older notebook may not be written over.
        clear(graded.parent, keep={TIMESTAMP})
        if self._expected is None:  # later on some are graded already
            self._expected = _to_grade(self.parent, course, lesson)
        expected = [*dict.fromkeys([student, *self._expected])]
        return self.grader(course).autograded(lesson, student, expected), resources

    def grader(self, course: Course) -> Grader:
        """Give what grades; started once and kept warm for the next call."""
        from autograder.gradebook.service import (
            service,  # what only displays needs none
        )

        return service(course.root)


class FeedbackExporter(HTMLExporter):
    """Gives our feedback page where nbgrader would render the graded notebook."""

    def from_filename(  # type: ignore[override]  # the same
        self, filename: str, resources: Any = None, **_: Any
    ) -> tuple[str, Any]:
        """Give a student's page, and what nbconvert is to do with it."""
        from autograder.gradebook.database import Gradebook

        resources = self._init_resources(resources)
        course, lesson, student = _whose(self.parent, resources)
        grades = Gradebook(course).grades(lesson, [student])
        return page_of(course, lesson, student, grades.get(student)), resources


def _only_with_an_id(enter: Callable[..., None]) -> Callable[..., None]:
    """Keep nbgrader from entering a folder that is no student's.

    It enters who has handed in before it asks an exporter for anything, and its page of
    a student holds the name as it is: a script in it would run there.
    """

    def enter_if_safe(lesson: str, student: str) -> None:
        if fault := id_fault(student):
            raise CourseError(f"{student!r} is not graded: {fault}")
        enter(lesson, student)

    return enter_if_safe


def _whose(converter: Any, resources: Any) -> tuple[Course, str, str]:
    """Give the course folder, the lesson and the student of a call by nbgrader."""
    told = resources["nbgrader"]
    root = Path(converter.coursedir.root)
    return Course(root), told["assignment"], told["student"]


def _to_grade(converter: Any, course: Course, lesson: str) -> list[str]:
    """Give the students whose submissions nbgrader is going to ask for."""
    left_out = converter.coursedir.student_id_exclude.split(",")
    students = [Path(folder).parent.name for folder in sorted(converter.assignments)]
    return [
        student
        for student in students
        if student not in left_out
        and (converter.force or not graded_path(course, lesson, student).exists())
    ]
