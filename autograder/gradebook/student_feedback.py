"""What one student gets to read about a lesson, as data.

``feedback`` makes a page of it, ``summaries`` a message. It comes from the graded
notebook and the gradebook alone. All texts have their invisible characters spelled out;
much in them is untrusted still.
"""

import ast
import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from autograder.checking.points import format_number
from autograder.checking.result import ExerciseResult
from autograder.course import Course, CourseError
from autograder.gradebook.autograded import MAX_TEXT, METADATA_KEY, unanswered
from autograder.gradebook.folders import autograded_path
from autograder.gradebook.grades import Grade, StudentGrades
from autograder.gradebook.safe_html import (
    VerdictSentences,
    format_points,
    format_points_of,
    verdicts_of,
    visible,
)
from autograder.grading.reading import printable_name, spelled_out
from autograder.grading.result import SubmissionResult
from autograder.messages.report import Claim, solved_but

# What to do where no diagnosis asks a question.
AFTER_AN_ERROR = "Begin at that line: run your cell again and read what Python says."
AFTER_A_WRONG_RESULT = (
    "Make this call in a cell of your own, and print what you have after each step."
)
STOPPED = "stopped with "
UNITS = {"day": 86400, "hour": 3600, "minute": 60, "second": 1}
DOCSTRING = '{}"""…"""  # the lesson\'s docstring'
MARKUP = re.compile(r"<[^>]*>")


class NoFeedback(CourseError):
    """There is nothing to say to one student; to the others there is."""


@dataclass(frozen=True)
class CodeLine:
    """A line of an answer; ``stands_for`` is how many it is in the student's file."""

    text: str
    stands_for: int = 1


@dataclass(frozen=True)
class ExerciseFeedback:
    """One exercise.

    summary : in a few words, how many claims hold
    by_hand : what a person has changed about the points, in words
    comment : what a person has written
    needs_review : whether a person is still to decide about it
    is_unwritten : whether there is no answer yet
    verdicts : None where nothing was judged, or nothing is written
    diagnosed : whether the cause is known; the verdicts then end with it
    code : the answer without the lesson's docstring; nothing if there is none
    optional : whether the points are on top of the lesson's
    """

    name: str
    points: float
    max_points: float
    summary: str
    by_hand: str = ""
    comment: str = ""
    needs_review: bool = False
    is_unwritten: bool = False
    verdicts: VerdictSentences | None = None
    diagnosed: bool = False
    code: tuple[CodeLine, ...] = ()
    optional: bool = False

    @property
    def is_not_done(self) -> bool:
        """Whether nothing was written, and need not be."""
        by_person = self.by_hand or self.needs_review
        return self.optional and self.is_unwritten and not by_person

    @property
    def is_full(self) -> bool:
        """Whether no point is left to earn."""
        return self.points >= self.max_points

    @property
    def is_short(self) -> bool:
        """Whether a line says it all, whatever can be unfolded below it."""
        by_person = self.by_hand or self.comment or self.needs_review
        return not by_person and (self.is_full or self.verdicts is None)

    @property
    def first_failure(self) -> Claim | None:
        """The first claim that does not hold and says why."""
        failures = (
            each
            for each in self._claims
            if not (each.holds or each.fine_point) and each.why
        )
        return next(failures, None)

    @property
    def open_fine_points(self) -> list[Claim]:
        """What is left where the exercise is solved; nothing before it is."""
        if any(not (each.holds or each.fine_point) for each in self._claims):
            return []
        return [each for each in self._claims if not each.holds]

    @property
    def other_claims(self) -> list[Claim]:
        """All claims but those."""
        above = [self.first_failure, *self.open_fine_points]
        return [each for each in self._claims if each not in above]

    @property
    def _claims(self) -> Sequence[Claim]:
        return self.verdicts.claims if self.verdicts else ()

    @property
    def next_step(self) -> str:
        """What to do now; "" where the diagnosis asks, or nothing is to be done."""
        if not self.verdicts or self.is_full or self.diagnosed or self.needs_review:
            return ""
        first = self.first_failure
        why = [*self.verdicts.opening, first.why if first else ""]
        if any(STOPPED in each for each in why):
            return AFTER_AN_ERROR
        return AFTER_A_WRONG_RESULT if first else ""


@dataclass(frozen=True)
class LessonFeedback:
    """A student's lesson.

    title : of the lesson, with its number
    name : first and last name; "" if the gradebook has none
    handed_in : when, in UTC; "" if that is not known
    penalty : points taken off for being late
    late_by, late_rule : how late it was, and what that costs, in words; "" if not known
    extension : in words, "" for none
    reason : why the file could not be graded; "" if it could
    exercises : those that count, in the order of the lesson
    excused, dropped, left_out : exercises that do not count: for this student, for
        anybody, or since they are optional
    own_cells : texts of the cells that the student has added
    """

    title: str
    student: str
    first_name: str
    name: str
    handed_in: str
    points: float
    max_points: float
    penalty: float
    extension: str
    reason: str
    exercises: tuple[ExerciseFeedback, ...]
    excused: tuple[str, ...]
    dropped: tuple[str, ...]
    repairs: tuple[str, ...]
    troubles: tuple[str, ...]
    own_cells: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    late_by: str = ""
    late_rule: str = ""

    @property
    def unfinished(self) -> list[ExerciseFeedback]:
        """The exercises with points left to earn, but for optional ones not begun."""
        return [e for e in self.exercises if not (e.is_full or e.is_not_done)]

    @property
    def not_done(self) -> list[str]:
        """Names of the optional exercises that are not answered."""
        return [each.name for each in self.exercises if each.is_not_done]

    @property
    def on_top(self) -> float:
        """Points of optional exercises, before any penalty."""
        return sum(each.points for each in self.exercises if each.optional)

    @property
    def unwritten(self) -> list[str]:
        """Names of the exercises that are not answered yet."""
        return [each.name for each in self.unfinished if each.is_unwritten]

    @property
    def under_review(self) -> list[str]:
        """Names of the exercises about which a person is still to decide."""
        return [each.name for each in self.exercises if each.needs_review]


def lesson_title(lesson: str) -> str:
    """Return a lesson's title.

    >>> lesson_title("01_dot_product_attention")
    'Lesson 01: Dot product attention'
    """
    number, _, title = visible(lesson).partition("_")
    return f"Lesson {number}: {title.replace('_', ' ').capitalize()}"


def student_feedback(
    course: Course, lesson: str, student: str, grades: StudentGrades | None
) -> LessonFeedback:
    """Return what there is to say to a student; raises ``NoFeedback``."""
    name = printable_name(student)
    path = autograded_path(course, lesson, student)
    if grades is None or not grades.submitted:
        raise NoFeedback(
            f"the gradebook has no grades of {name} for {lesson}: grade first, then "
            "the feedback can be made"
        )
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        return feedback_of(notebook, grades, _docstrings(course, lesson))
    except FileNotFoundError:
        raise NoFeedback(
            f"{name} has no graded notebook for {lesson}: grade first, then the "
            "feedback can be made"
        ) from None
    except OSError as error:
        raise NoFeedback(
            f"the graded notebook of {name} cannot be read ({error.strerror}): mend "
            "that or grade again, then the feedback can be made"
        ) from None
    except (ValueError, RecursionError):
        raise NoFeedback(
            f"the graded notebook of {name} is damaged: grade again, then the feedback "
            "can be made"
        ) from None


def feedback_of(
    notebook: Mapping[str, Any],
    grades: StudentGrades,
    docstrings: Mapping[str, str] | None = None,
) -> LessonFeedback:
    """Return what a graded notebook says; raises ``ValueError`` if it is none.

    docstrings : the lesson's, by exercise, as they stand in the cells
    """
    try:
        ours = notebook["metadata"][METADATA_KEY]
        result = SubmissionResult.from_json(json.dumps(ours["result"]))
        answers = dict(_answers(notebook["cells"]))
        exercises = tuple(_exercises(result, answers, grades, docstrings or {}))
        own_cells = tuple(_own_cells(notebook["cells"], ours.get("own", ())))
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"no graded notebook: {error}") from None
    counted = {each.name for each in exercises}
    gone = [e.exercise for e in result.exercises if e.exercise not in counted]
    return LessonFeedback(
        title=lesson_title(result.lesson),
        student=spelled_out(grades.student),
        first_name=visible(grades.first_name),
        name=visible(f"{grades.first_name} {grades.last_name}".strip()),
        handed_in=visible(grades.timestamp).partition(".")[0],
        points=grades.points,
        max_points=grades.max_points,
        penalty=grades.late_penalty,
        extension=format_duration(grades.extension_hours),
        reason=visible(result.reason) if result.status == "invalid" else "",
        exercises=exercises,
        excused=tuple(name for name in gone if name in result.excused),
        dropped=tuple(
            name for name in gone if name not in (*result.excused, *result.left_out)
        ),
        left_out=tuple(name for name in gone if name in result.left_out),
        repairs=tuple(map(visible, result.repairs)),
        troubles=tuple(map(visible, result.troubles)),
        own_cells=own_cells,
        late_by=format_lateness(grades.seconds_late),
        late_rule=visible(grades.late_rule),
    )


def _answers(cells: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield each exercise with the student's code."""
    for cell in cells:
        marks = cell["metadata"].get("nbgrader", {})
        if marks.get("solution") and cell["cell_type"] == "code":
            yield marks["grade_id"], _text(cell)


def _own_cells(cells: Sequence[Mapping[str, Any]], own: Sequence[str]) -> Iterator[str]:
    """Yield the texts of the student's own cells, prose as it was written."""
    for cell in cells:
        if cell.get("id") in own and (text := _text(cell)):
            if cell["cell_type"] == "markdown":  # as ``inert_html`` has left it
                text = html.unescape(MARKUP.sub("", text))
            yield text[:MAX_TEXT] + (" …" if len(text) > MAX_TEXT else "")


def _text(cell: Mapping[str, Any]) -> str:
    source = cell["source"]  # JupyterLab saves it as a list of lines
    return visible(source if isinstance(source, str) else "".join(source)).rstrip()


def _exercises(
    result: SubmissionResult,
    answers: Mapping[str, str],
    grades: StudentGrades,
    docstrings: Mapping[str, str],
) -> Iterator[ExerciseFeedback]:
    """Yield the exercises in the order of the lesson."""
    by_exercise = {grade.exercise: grade for grade in grades.exercises}
    results = {each.exercise: each for each in result.exercises}
    counted = [each.exercise for each in result.counted]
    if grades.submitted and grades.exercises:  # what it lacks does not count
        counted = [name for name in counted if name in by_exercise]
    for name in dict.fromkeys([*counted, *by_exercise]):
        judged, grade = results.get(name), by_exercise.get(name)
        if grade is None and judged is not None:
            grade = Grade(name, judged.max_points, judged.points)
        assert grade is not None
        optional = grade.optional or name in result.optional
        if optional and judged is not None:
            grade = replace(grade, max_points=judged.max_points)
        if result.status != "graded":
            judged = None
        is_unwritten = judged is not None and judged.is_unwritten
        answer = judged if not is_unwritten else None
        code = answers.get(name, "") if answer else ""
        verdicts = verdicts_of(answer) if answer else None
        yield ExerciseFeedback(
            name,
            grade.points,
            grade.max_points,
            _summary(judged, optional=optional),
            _by_hand(grade),
            visible(grade.comment),
            grade.needs_manual_grade,
            is_unwritten,
            verdicts,
            bool(verdicts and verdicts.diagnosis),
            code_lines(code, docstrings.get(name, "")),
            optional,
        )


def _summary(result: ExerciseResult | None, *, optional: bool = False) -> str:
    if optional:
        is_unwritten = result is not None and result.is_unwritten
        return f"optional, {'not done' if is_unwritten else _summary(result)}"
    if result is None:
        return "not graded"
    if result.is_unwritten:
        return "not written yet"
    if result.solved and result.blamed:
        names = " and ".join(f"`{name}`" for name in result.blamed)
        return f"right with the course's {names}"
    if result.passed:
        return "all claims hold"
    if result.solved:
        return solved_but(result)
    return f"{result.n_holding} of {len(result.claims)} claims hold"


def _by_hand(grade: Grade) -> str:
    """Return what a person has entered, in words; "" if nobody has."""
    words = ""
    if grade.manual is not None:
        words = f"Graded by hand: {format_points_of(grade.manual, grade.max_points)}"
        if grade.auto is not None and grade.auto != grade.manual:
            words += f" instead of {format_number(grade.auto)}"
        words += ". "
    if grade.extra:
        words += f"Extra credit: {format_points(grade.extra)}."
    return words.strip()


def format_duration(hours: float) -> str:
    """Return a duration in words, "" for none.

    >>> format_duration(48.0), format_duration(25.5), format_duration(0.0)
    ('2 days', '25.5 hours', '')
    """
    number, unit = (hours / 24, "day") if hours % 24 == 0 else (hours, "hour")
    return f"{number:g} {unit}{'' if number == 1 else 's'}" if hours else ""


def format_lateness(seconds: float) -> str:
    """Return how late something is, in its two largest units; "" if it is not.

    >>> format_lateness(259_261.0), format_lateness(3600.0), format_lateness(0.0)
    ('3 days and 1 minute', '1 hour', '')
    """
    left, parts = max(1, int(seconds)) if seconds > 0 else 0, []
    for unit, size in UNITS.items():
        number, left = divmod(left, size)
        if number:
            parts.append(f"{number} {unit}{'' if number == 1 else 's'}")
    return " and ".join(parts[:2])


# --- the answer's code --------------------------------------------------------------


def _docstrings(course: Course, lesson: str) -> dict[str, str]:
    """Return the docstrings that the lesson has released, as they stand in the cells.

    Where there is no release any more, answers are shown with what was in them.
    """
    try:
        cells = unanswered(course, lesson)
    except (CourseError, OSError):
        return {}
    return {name: _docstring(source) for name, source in cells.items()}


def _docstring(source: str) -> str:
    """Return the lines of the docstring in a cell of ours; "" if there is none.

    >>> _docstring('def f(x):\\n    \"\"\"Return x.\"\"\"\\n    return x')
    '    \"\"\"Return x.\"\"\"'
    """
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.FunctionDef) and ast.get_docstring(statement):
            first = statement.body[0]
            return "\n".join(source.splitlines()[first.lineno - 1 : first.end_lineno])
    return ""


def code_lines(answer: str, docstring: str) -> tuple[CodeLine, ...]:
    """Return the lines of an answer; the lesson's own docstring becomes one.

    A student's own docstring stays. Nothing is parsed: the text is a student's.
    """
    lines = [line.rstrip() for line in answer.splitlines()]
    wanted = [line.rstrip() for line in docstring.splitlines()]
    n = len(wanted)
    at = next((i for i in range(len(lines)) if n and lines[i : i + n] == wanted), None)
    if at is None:
        return tuple(map(CodeLine, lines))
    indent = wanted[0][: len(wanted[0]) - len(wanted[0].lstrip())]
    shortened = CodeLine(DOCSTRING.format(indent), n)
    return (
        *map(CodeLine, lines[:at]),
        shortened,
        *map(CodeLine, lines[at + n :]),
    )
