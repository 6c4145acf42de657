"""Students' feedback pages: claims, misconceptions, the answers, what a person wrote.

A page is made of the graded notebook and the gradebook alone. It has no script and
loads nothing; much on it is untrusted text. How it looks is in ``feedback.html.j2``,
the verdicts come from ``safe_html``. One student whose page cannot be made is named,
and the others get theirs.
"""

import functools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from autograder.checking.result import ExerciseResult
from autograder.course import Course, CourseError, write_atomically
from autograder.gradebook.autograded import METADATA_KEY
from autograder.gradebook.folders import (
    AUTOGRADED,
    FEEDBACK,
    autograded_path,
    copy_for_exchange,
    student_folder,
)
from autograder.gradebook.grades import Grade, StudentGrades
from autograder.gradebook.safe_html import (
    format_points,
    format_points_of,
    verdicts_html,
    visible,
)
from autograder.grading.reading import printable_name
from autograder.grading.result import SubmissionResult

CODE_LINE = Markup('<span class="line">{}</span>')


class NoFeedbackPage(CourseError):
    """One student gets no page; the others do."""


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
        except NoFeedbackPage as error:
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
    """Return a student's page; raises ``NoFeedbackPage``."""
    name = printable_name(student)
    path = autograded_path(course, lesson, student)
    if grades is None or not grades.submitted:
        raise NoFeedbackPage(
            f"the gradebook has no grades of {name} for {lesson}: grade first, then "
            "the feedback can be made"
        )
    try:
        return feedback_page(json.loads(path.read_text(encoding="utf-8")), grades)
    except FileNotFoundError:
        raise NoFeedbackPage(
            f"{name} has no graded notebook for {lesson}: grade first, then the "
            "feedback can be made"
        ) from None
    except OSError as error:
        raise NoFeedbackPage(
            f"the graded notebook of {name} cannot be read ({error.strerror}): mend "
            "that or grade again, then the feedback can be made"
        ) from None
    except (ValueError, RecursionError):
        raise NoFeedbackPage(
            f"the graded notebook of {name} is damaged: grade again, then the feedback "
            "can be made"
        ) from None


@dataclass(frozen=True)
class ExerciseSection:
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


def feedback_page(notebook: Mapping[str, Any], grades: StudentGrades) -> str:
    """Return the page of a graded notebook; raises ``ValueError`` if it is none."""
    try:
        data = notebook["metadata"][METADATA_KEY]["result"]
        result = SubmissionResult.from_json(json.dumps(data))
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
        points=format_points_of(grades.points, grades.max_points),
        short=f"{grades.points:g} of {grades.max_points:g}",
        complete=grades.points >= grades.max_points,
        penalty=format_points(grades.late_penalty) if grades.late_penalty else "",
        extension=format_duration(grades.extension_hours),
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
    """Yield each exercise with the learner's code."""
    for cell in cells:
        marks = cell["metadata"].get("nbgrader", {})
        if marks.get("solution") and cell["cell_type"] == "code":
            source = cell["source"]  # JupyterLab saves it as a list of lines
            text = source if isinstance(source, str) else "".join(source)
            yield marks["grade_id"], visible(text)


def _sections(
    result: SubmissionResult, answers: Mapping[str, str], grades: StudentGrades
) -> Iterator[ExerciseSection]:
    """Yield the exercises in the order of the lesson."""
    by_exercise = {grade.exercise: grade for grade in grades.exercises}
    verdicts = {each.exercise: each for each in result.exercises}
    counted = [each.exercise for each in result.counted]
    if grades.submitted and grades.exercises:  # what it lacks does not count
        counted = [name for name in counted if name in by_exercise]
    for name in dict.fromkeys([*counted, *by_exercise]):
        verdict, grade = verdicts.get(name), by_exercise.get(name)
        if grade is None and verdict is not None:
            grade = Grade(name, verdict.max_points, verdict.points)
        assert grade is not None
        graded = verdict if result.status == "graded" else None
        code = answers.get(name, "").rstrip() if graded else ""
        lines = map(CODE_LINE.format, code.split("\n"))
        yield ExerciseSection(
            name,
            points=format_points_of(grade.points, grade.max_points),
            short=f"{grade.points:g} of {grade.max_points:g}",
            claims=_claims(graded),
            by_hand=_by_hand(grade),
            comment=visible(grade.comment),
            verdicts=Markup(verdicts_html(graded)) if graded else Markup(),
            code=Markup("\n").join(lines) if code else Markup(),
        )


def _claims(verdict: ExerciseResult | None) -> str:
    if verdict is None:
        return "not graded"
    if verdict.is_unwritten:
        return "not written yet"
    return f"{verdict.n_holding} of {len(verdict.cases)} hold"


def format_duration(hours: float) -> str:
    """Return a duration in words, "" for none.

    >>> format_duration(48.0), format_duration(25.5), format_duration(0.0)
    ('2 days', '25.5 hours', '')
    """
    number, unit = (hours / 24, "day") if hours % 24 == 0 else (hours, "hour")
    return f"{number:g} {unit}{'' if number == 1 else 's'}" if hours else ""


def _by_hand(grade: Grade) -> str:
    """Return what a person has entered, in words; "" if nobody has."""
    words = ""
    if grade.manual is not None:
        words = f"Graded by hand: {format_points_of(grade.manual, grade.max_points)}"
        if grade.auto is not None and grade.auto != grade.manual:
            words += f" instead of {grade.auto:g}"
        words += ". "
    if grade.extra:
        words += f"Extra credit: {format_points(grade.extra)}."
    return words.strip()
