"""Students' feedback pages: the result, and what to do about each exercise.

What a page says is in ``student_feedback``, how it looks in ``feedback.html.j2``. It
has no script and loads nothing; much on it is untrusted text. One student whose page
cannot be made is named, and the others get theirs.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import jinja2
from markupsafe import Markup

from autograder.checking.points import format_number
from autograder.course import Course, CourseError, write_atomically
from autograder.gradebook.folders import (
    AUTOGRADED,
    FEEDBACK,
    copy_for_exchange,
    student_folder,
)
from autograder.gradebook.grades import StudentGrades
from autograder.gradebook.safe_html import format_points, format_points_of
from autograder.gradebook.student_feedback import (
    LessonFeedback,
    NoFeedback,
    student_feedback,
)
from autograder.messages.report import sentence_html

UNFOLDED = 12  # an answer of so many lines is not folded


def write_feedback(
    course: Course,
    lesson: str,
    students: Sequence[str] | None,
    grades: Mapping[str, StudentGrades],
    on_left_out: Callable[[str], None] = print,
) -> list[Path]:
    """Write students' pages; return their paths.

    students : all that have a graded notebook, if none are named
    grades : by student, as the gradebook has them
    on_left_out : is called with a sentence for each student who gets no page

    Raises ``CourseError`` if a page cannot be written.
    """
    written = []
    for student in _graded_students(course, lesson) if students is None else students:
        try:
            page = student_page(course, lesson, student, grades.get(student))
        except NoFeedback as error:
            on_left_out(str(error))
            continue
        path = student_folder(course, FEEDBACK, lesson, student) / f"{lesson}.html"
        try:
            write_atomically(path, page)
            copy_for_exchange(course, lesson, student)
        except OSError as error:
            raise CourseError(
                f"{course.relative(path)} could not be written ({error.strerror}): "
                "mend that and call again"
            ) from None
        written.append(path)
    return written


def _graded_students(course: Course, lesson: str) -> list[str]:
    """Return the students who have a graded notebook, sorted."""
    paths = (course.root / AUTOGRADED).glob(f"*/{lesson}/{lesson}.ipynb")
    return sorted(path.parts[-3] for path in paths)


def student_page(
    course: Course, lesson: str, student: str, grades: StudentGrades | None
) -> str:
    """Return a student's page; raises ``NoFeedback``."""
    return feedback_page(student_feedback(course, lesson, student, grades))


def feedback_page(feedback: LessonFeedback) -> str:
    """Return the page that says it."""
    return _template().render(feedback=feedback, unfolded=UNFOLDED)


@functools.cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["sentence"] = lambda text: Markup(sentence_html(text))
    environment.filters["points"] = format_points
    environment.filters["number"] = format_number
    environment.globals["points_of"] = format_points_of
    return environment.get_template("feedback.html.j2")
