"""Students' feedback pages as files; what is on a page is ``feedback_page``'s work.

One student whose page cannot be made is named, and the others get theirs.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from autograder.course import Course, CourseError, write_atomically
from autograder.gradebook.feedback_page import feedback_page
from autograder.gradebook.folders import AUTOGRADED, FEEDBACK, folder_of, graded_path
from autograder.gradebook.grades import Grades
from autograder.grading.untrusted_file import shown

__all__ = ["feedback_page", "graded_students", "page_of", "write_feedback"]

DAMAGED = (
    "the graded notebook of {} is damaged: grade again, then the feedback can be made"
)


def write_feedback(
    course: Course,
    lesson: str,
    students: Sequence[str] | None,
    grades: Mapping[str, Grades],
    tell: Callable[[str], None] = print,
) -> list[Path]:
    """Write students' pages; give where they are.

    students : all that have a graded notebook, if none are named
    grades : by student, as the gradebook has them
    tell : takes a sentence for each student who gets no page

    Raises ``CourseError`` if a page cannot be written.
    """
    written = []
    for student in graded_students(course, lesson) if students is None else students:
        try:
            page = page_of(course, lesson, student, grades.get(student))
        except Unshown as error:
            tell(str(error))
            continue
        path = folder_of(course, FEEDBACK, lesson, student) / f"{lesson}.html"
        try:
            write_atomically(path, page)
        except OSError as error:
            raise CourseError(
                f"{course.relative(path)} could not be written ({error.strerror}): "
                "mend that and call again"
            ) from None
        written.append(path)
    return written


class Unshown(CourseError):
    """One student gets no page; the others do."""


def graded_students(course: Course, lesson: str) -> list[str]:
    """Give the students who have a graded notebook, sorted."""
    found = (course.root / AUTOGRADED).glob(f"*/{lesson}/{lesson}.ipynb")
    return sorted(path.parts[-3] for path in found)


def page_of(course: Course, lesson: str, student: str, grades: Grades | None) -> str:
    """Give a student's page; raises ``Unshown``."""
    name = shown(student)
    path = graded_path(course, lesson, student)
    if grades is None or not grades.submitted:
        raise Unshown(
            f"the gradebook has no grades of {name} for {lesson}: grade first, then "
            "the feedback can be made"
        )
    try:
        return feedback_page(json.loads(path.read_text(encoding="utf-8")), grades)
    except FileNotFoundError:
        raise Unshown(
            f"{name} has no graded notebook for {lesson}: grade first, then the "
            "feedback can be made"
        ) from None
    except OSError as error:
        raise Unshown(
            f"the graded notebook of {name} cannot be read ({error.strerror})"
        ) from None
    except (ValueError, RecursionError):
        raise Unshown(DAMAGED.format(name)) from None
