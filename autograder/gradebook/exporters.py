"""Our engine and our feedback page instead of nbgrader's: two nbconvert exporters.

nbgrader's commands and formgrader's buttons call an exporter for each notebook, before
anything in it is parsed; they go on to do everything around it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, get_args

from nbconvert.exporters import HTMLExporter, NotebookExporter
from traitlets import Enum, Float

from autograder.course import Course
from autograder.gradebook.entrance import guard, guard_log
from autograder.gradebook.feedback import student_page
from autograder.gradebook.folders import autograded_path, clear_folder
from autograder.grading.budget import Budget
from autograder.grading.result import OptionalExercises
from autograder.grading.submission import SECRET, TIMESTAMP


class Grader(Protocol):
    """What grades submissions: ``autograder.gradebook.service.Service``."""

    def autograded(self, lesson: str, student: str, expected: Sequence[str]) -> str:
        """Grade a submission, enter its points, return its graded notebook's text.

        expected : students who will be requested, this one included
        """


class AutogradeExporter(NotebookExporter):
    """Grades with the engine where nbgrader would run the notebook in a kernel.

    An object of it serves one call of nbgrader's, for one student or for a class.

    nbgrader calls it twice for each notebook: to clean what was submitted, and to grade
    what it has written of that. All is done the first time; nothing that a student has
    sent is parsed here.
    """

    seconds_per_submission = Float(
        Budget.submission,
        min=1,
        help="how long all of a submission may take; what is left then is a timeout",
    ).tag(config=True)
    optional_exercises = Enum(
        get_args(OptionalExercises),
        default_value="extra",
        help="how optional exercises count: their points are added on top, or as those "
        "of required ones, or not at all",
    ).tag(config=True)
    _expected: list[str] | None = None

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Join one call of nbgrader's, whose converter is ``parent``."""
        super().__init__(*arguments, **options)
        converter: Any = self.parent
        if hasattr(converter, "init_assignment"):
            guard(converter)

    def from_filename(  # type: ignore[override]  # nbconvert says notebook, returns text
        self, filename: str, resources: Any = None, **_: Any
    ) -> tuple[str, Any]:
        """Return the graded notebook's text, and nbconvert's resources."""
        resources = self._init_resources(resources)
        course, lesson, student = _course_lesson_student(self.parent, resources)
        graded = autograded_path(course, lesson, student)
        if Path(filename).resolve() == graded.resolve():
            return graded.read_text(encoding="utf-8"), resources
        # What an earlier call of nbgrader's alone has copied: formgrader would serve a
        # page among it in the instructor's session. An older notebook may not be
        # written over.
        clear_folder(graded.parent, keep={TIMESTAMP, SECRET})
        if self._expected is None:  # later on some are graded already
            self._expected = _students_to_grade(self.parent, course, lesson)
        expected = [*dict.fromkeys([student, *self._expected])]
        return self.grader(course).autograded(lesson, student, expected), resources

    def grader(self, course: Course) -> Grader:
        """Return what grades; started once and kept warm for the next call."""
        # Imported here: whoever only displays notebooks needs no engine.
        from autograder.gradebook.service import service

        return service(course.root, Budget(submission=self.seconds_per_submission))


class FeedbackExporter(HTMLExporter):
    """Makes our feedback page where nbgrader would render the graded notebook."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Join one call of nbgrader's."""
        super().__init__(*arguments, **options)
        guard_log(self.log)

    def from_filename(  # type: ignore[override]  # the same
        self, filename: str, resources: Any = None, **_: Any
    ) -> tuple[str, Any]:
        """Return a student's page, and nbconvert's resources."""
        from autograder.gradebook.database import Gradebook

        resources = self._init_resources(resources)
        course, lesson, student = _course_lesson_student(self.parent, resources)
        grades = Gradebook(course).settled_grades(lesson, [student])
        return student_page(course, lesson, student, grades.get(student)), resources


def _course_lesson_student(converter: Any, resources: Any) -> tuple[Course, str, str]:
    """Return the course folder, the lesson and the student of a call by nbgrader."""
    names = resources["nbgrader"]
    root = Path(converter.coursedir.root)
    return Course(root), names["assignment"], names["student"]


def _students_to_grade(converter: Any, course: Course, lesson: str) -> list[str]:
    """Return the students whose submissions nbgrader is going to have graded."""
    excluded = converter.coursedir.student_id_exclude.split(",")
    students = [Path(folder).parent.name for folder in sorted(converter.assignments)]
    return [
        student
        for student in students
        if student not in excluded
        and (converter.force or not autograded_path(course, lesson, student).exists())
    ]
