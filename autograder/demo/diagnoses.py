"""What grading says about each answer, in the few words that a table has room for.

The whole explanation is on the feedback pages.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from autograder.checking.points import format_number
from autograder.checking.result import ExerciseResult
from autograder.gradebook.grades import StudentGrades
from autograder.grading.result import SubmissionResult
from autograder.messages.report import solved_but

BROKEN_FILE = "broken file: {}"
STOPPED = {  # statuses of a call without a result
    "timeout": "takes too long",
    "memory": "needs too much memory",
    "output": "returns too much",
    "crashed": "ends the whole process",
}
MAX_WIDTH = 100  # columns of the terminal


@dataclass(frozen=True)
class AnswerDiagnosis:
    """What one student got for one exercise.

    diagnosis : a misconception's name, or words on what happened; None if all is right
    """

    student: str
    lesson: str
    exercise: str
    points: float
    max_points: float
    diagnosis: str | None


def diagnoses_of(result: SubmissionResult) -> Iterator[AnswerDiagnosis]:
    """Yield what grading says about each answer of a submission."""
    reason = ""
    if result.status == "invalid":
        # Without the file's name, which is the same for everybody.
        words = result.reason.removeprefix(f"{result.lesson}.ipynb ")
        reason = BROKEN_FILE.format(words.rstrip("."))
    for each in result.exercises:
        diagnosis = reason or in_words(each) or None
        points = each.points, each.max_points
        yield AnswerDiagnosis(
            result.student, result.lesson, each.exercise, *points, diagnosis
        )


def in_words(exercise: ExerciseResult) -> str:
    """Return what grading says about one exercise; "" if the answer is right."""
    calls = dict.fromkeys(f"calls {flag.what}" for flag in exercise.flags)
    review = [f"for review: it {' and '.join(calls)}"] if calls else []
    return "; ".join(filter(None, [_failure(exercise), *review]))


def _failure(exercise: ExerciseResult) -> str:
    """Return the misconception's name, or what happened if it has none."""
    statuses = {case.status for case in exercise.claims} - {"ok"}
    if exercise.solved and exercise.open_fine_points:
        return solved_but(exercise)
    if exercise.diagnosis:
        return exercise.diagnosis
    if exercise.blamed:
        verb = "is" if len(exercise.blamed) == 1 else "are"
        part = " in part" if statuses else ""
        return f"{' and '.join(exercise.blamed)} {verb} to blame{part}"
    if not statuses:
        return ""
    if statuses == {"missing"}:
        return "not written yet"
    if exercise.flags and statuses == {"error"}:  # the call was refused
        return ""
    stopped = re.search(r"stopped with \w+", exercise.report)
    if "error" in statuses and stopped:
        return stopped[0]
    in_order = (case.status for case in exercise.claims if case.status in STOPPED)
    return next((STOPPED[status] for status in in_order), "no known misconception")


def print_term(
    console: Console,
    grades: Mapping[str, Mapping[str, StudentGrades]],
    diagnoses: Sequence[AnswerDiagnosis],
) -> None:
    """Print the class as a table: a line per student, a column per lesson.

    grades : by lesson and student
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("student", no_wrap=True)
    for lesson, of_class in grades.items():
        most = max(each.max_points for each in of_class.values())
        heading = f"{lesson[:2]}\n/{format_number(most)}"
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("total", justify="right", no_wrap=True)
    table.add_column("what was diagnosed", overflow="fold")
    for student, *row in rows_of(grades, diagnoses):
        table.add_row(escape(student), *map(escape, row))
    console.print(table, width=min(console.width, MAX_WIDTH))


def rows_of(
    grades: Mapping[str, Mapping[str, StudentGrades]],
    diagnoses: Sequence[AnswerDiagnosis],
) -> Iterator[list[str]]:
    """Yield students' rows: name, points of each lesson, total, diagnoses."""
    words = defaultdict[str, list[str]](list)
    for each in diagnoses:
        if each.diagnosis and each.points < each.max_points:
            words[each.student].append(each.diagnosis.partition(":")[0])
    for student, first in next(iter(grades.values())).items():
        name = f"{first.first_name} {first.last_name}".strip() or student
        own = [of_class[student] for of_class in grades.values()]
        points = [format_number(each.points) if each.submitted else "–" for each in own]
        total = format_number(sum(each.points for each in own))
        yield [name, *points, total, ", ".join(dict.fromkeys(words[student]))]
