"""Students' feedback pages as files; what is on a page is ``feedback_page``'s work.

One student whose page cannot be made is named, and the others get theirs.
"""

import functools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from autograder.course import Course, CourseError, write_atomically
from autograder.gradebook.autograded import OURS
from autograder.gradebook.folders import AUTOGRADED, FEEDBACK, folder_of, graded_path
from autograder.gradebook.grades import Grade, Grades
from autograder.gradebook.shown import points, points_of, verdicts_html, visible
from autograder.grading.reading import shown
from autograder.grading.result import ExerciseResult, Result

LINE = Markup('<span class="line">{}</span>')


@dataclass(frozen=True)
class Section:
    """What the page says of one exercise.

    points : how many of how many count, in words
    short : the same as numbers
    claims : in a few words, how many of them hold
    by_hand : what a person has changed about the points
    comment : what a person has written
    verdicts, code : HTML; "" if there is none
    """

    name: str
    points: str
    short: str
    claims: str
    by_hand: str
    comment: str
    verdicts: Markup
    code: Markup

    @property
    def empty(self) -> bool:
        """Whether there is no more to say than the points."""
        return not (self.by_hand or self.comment or self.verdicts)


def feedback_page(notebook: Mapping[str, Any], grades: Grades) -> str:
    """Give the page of a graded notebook; raises ``ValueError`` if it is none."""
    try:
        result = Result.from_json(json.dumps(notebook["metadata"][OURS]["result"]))
        answers = dict(_answers(notebook["cells"]))
        sections = [*_sections(result, answers, grades)]
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"no graded notebook: {error}") from None
    number, _, title = visible(result.lesson).partition("_")
    return _template().render(
        title=f"Lesson {number}: {title.replace('_', ' ').capitalize()}",
        student=visible(grades.student),
        name=visible(f"{grades.first_name} {grades.last_name}".strip()),
        timestamp=visible(grades.timestamp),
        points=points_of(grades.points, grades.max_points),
        short=f"{grades.points:g} of {grades.max_points:g}",
        complete=grades.points >= grades.max_points,
        penalty=points(grades.late_penalty) if grades.late_penalty else "",
        late=f"{grades.late_penalty:g}",
        reason=visible(result.reason) if result.status == "invalid" else "",
        sections=sections,
        repairs=[visible(each) for each in result.repairs],
        troubles=[visible(each) for each in result.troubles],
    )


@functools.cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("feedback.html.j2")


def _answers(cells: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Give each exercise with the learner's code."""
    for cell in cells:
        marks = cell["metadata"].get("nbgrader", {})
        if marks.get("solution") and cell["cell_type"] == "code":
            source = cell["source"]  # JupyterLab saves it as a list of lines
            text = source if isinstance(source, str) else "".join(source)
            yield marks["grade_id"], visible(text)


def _sections(
    result: Result, answers: Mapping[str, str], grades: Grades
) -> Iterator[Section]:
    """Give the exercises in the order of the lesson."""
    given = {grade.exercise: grade for grade in grades.exercises}
    verdicts = {each.exercise: each for each in result.exercises}
    for name in dict.fromkeys([*verdicts, *given]):
        verdict, grade = verdicts.get(name), given.get(name)
        if grade is None and verdict is not None:
            grade = Grade(name, verdict.max_points, verdict.points)
        assert grade is not None
        graded = verdict if result.status == "graded" else None
        code = answers.get(name, "").rstrip() if graded else ""
        yield Section(
            name,
            points_of(grade.points, grade.max_points),
            f"{grade.points:g} of {grade.max_points:g}",
            _claims(graded),
            _by_hand(grade),
            visible(grade.comment),
            Markup(verdicts_html(graded)) if graded else Markup(),
            Markup("\n").join(map(LINE.format, code.split("\n"))) if code else Markup(),
        )


def _claims(verdict: ExerciseResult | None) -> str:
    if verdict is None:
        return "not graded"
    if {case.status for case in verdict.cases} == {"missing"}:
        return "not written yet"
    held = sum(case.status == "ok" for case in verdict.cases)
    return f"{held} of {len(verdict.cases)} hold"


def _by_hand(grade: Grade) -> str:
    """Say what a person has given; nothing if nobody has."""
    told = ""
    if grade.manual is not None:
        told = f"Graded by hand: {points_of(grade.manual, grade.max_points)}"
        if grade.auto is not None and grade.auto != grade.manual:
            told += f" instead of {grade.auto:g}"
        told += ". "
    if grade.extra:
        told += f"Extra credit: {points(grade.extra)}."
    return told.strip()


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


# MERGED autograder.gradebook.feedback_page: A student's feedback page: claims, known mistakes, the answers, what a person wrote.
#
#   It is made of the graded notebook and the gradebook alone. The page has no script and
#   loads nothing; much in it is a stranger's text. How it looks is in
#   ``feedback.html.j2``; the verdicts' own piece is ``shown``'s, the files ``feedback``'s.
#
