"""The files of ``autograder export`` as export plugins of nbgrader, from its gradebook.

    nbgrader export --exporter autograder.gradebook.plugins.CanvasExportPlugin

The bytes are those of the command for the same gradebook. A reader of its own, since
nbgrader hands over a gradebook that is open, and may be on another database.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from nbgrader.api import BaseCell, Gradebook, Student, SubmittedNotebook
from nbgrader.api import Grade as Score
from nbgrader.api import SubmittedAssignment as Submission
from nbgrader.plugins import ExportPlugin
from sqlalchemy import text
from traitlets import Bool

from autograder.course import CourseError
from autograder.gradebook.grades import Grade, Grades
from autograder.gradebook.opening import GRADED
from autograder.gradebook.sheets import Book, Kind, Missing, handed_in, sheet, write
from autograder.grading.release import CHECK


class _SheetExportPlugin(ExportPlugin):
    """What the three have in common."""

    kind: ClassVar[Kind]
    name: ClassVar[str]
    missing_as_zero = Bool(
        False, help="write 0, not nothing, for what a student has not handed in"
    ).tag(config=True)

    def export(self, gradebook: Gradebook) -> None:
        """Write the file; a fault that the user can mend is one line, exit code 1."""
        try:
            book = _book(gradebook, self.assignment, self.student)
            missing: Missing = "zero" if self.missing_as_zero else "empty"
            made = sheet(self.kind, book, missing)
            write(Path(self.to or self.name), made.text)
        except CourseError as error:
            self.log.error("%s", error)
            raise SystemExit(1) from None
        for sentence in made.left_out:
            self.log.warning("%s", sentence)
        self.log.info("Grades exported to %s", self.to or self.name)


class CsvExportPlugin(_SheetExportPlugin):
    """One row per student, points of each exercise: for a spreadsheet."""

    kind = "csv"
    name = "grades.csv"


class CanvasExportPlugin(_SheetExportPlugin):
    """The file that Canvas imports into its gradebook."""

    kind = "canvas"
    name = "canvas.csv"


class MoodleExportPlugin(_SheetExportPlugin):
    """The file that Moodle imports into its gradebook."""

    kind = "moodle"
    name = "moodle.csv"


def _book(gradebook: Gradebook, lessons: Sequence, students: Sequence) -> Book:
    """Give the grades of the lessons and students that are named, else of all."""
    there = sorted(assignment.name for assignment in gradebook.assignments)
    known = {student.id for student in gradebook.students}
    chosen = [str(name) for name in lessons] or there
    wanted = {str(name) for name in students} or known
    for what, names, all_ in (
        ("assignment", chosen, there),
        ("student", sorted(wanted), known),
    ):
        for name in names:
            if name not in all_:
                raise CourseError(f"the gradebook has no {what} named {name!r}")
    book = {
        name: {
            student: one
            for student, one in _grades(gradebook, name).items()
            if student in wanted
        }
        for name in dict.fromkeys(chosen)
    }
    return handed_in(book, named=bool(lessons))


def _grades(gradebook: Gradebook, lesson: str) -> dict[str, Grades]:
    """Give every student's grades of a lesson, read with a query for each table."""
    blank = _blank(gradebook, lesson)
    scores = _scores(gradebook, blank)
    submissions = _submissions(gradebook, lesson)
    found = {}
    for student in gradebook.db.query(Student):
        timestamp, penalty = submissions.get(student.id, (None, 0.0))
        found[student.id] = Grades(
            student.id,
            tuple({**blank, **scores[student.id]}.values()),
            late_penalty=penalty,
            submitted=student.id in submissions,
            timestamp=str(timestamp or ""),
            first_name=student.first_name or "",
            last_name=student.last_name or "",
            email=student.email or "",
            lms_user_id=student.lms_user_id or "",
        )
    return found


def _blank(gradebook: Gradebook, lesson: str) -> dict[str, Grade]:
    """Give the exercises of a lesson without grades: id of the graded cell to grade."""
    notebooks = gradebook.find_assignment(lesson).notebooks
    cells = gradebook.db.query(BaseCell).filter(
        BaseCell.notebook_id.in_([notebook.id for notebook in notebooks]),
        BaseCell.type.in_(GRADED),
    )
    # as they were entered, which is their order in the lesson; only SQLite knows it
    sqlite = gradebook.engine.dialect.name == "sqlite"
    ordered = cells.order_by(text("base_cell.rowid") if sqlite else BaseCell.name)
    return {
        cell.id: Grade(_exercise(cell, len(notebooks) > 1), cell.max_score)
        for cell in ordered
    }


def _exercise(cell: BaseCell, several: bool) -> str:
    """Give an exercise's name: alone, or after its notebook's if there are several."""
    name = str(cell.name).removeprefix(CHECK)
    return f"{cell.notebook.name}.{name}" if several else name


def _scores(
    gradebook: Gradebook, blank: dict[str, Grade]
) -> dict[str, dict[str, Grade]]:
    rows = (
        gradebook.db.query(
            Submission.student_id,
            Score.cell_id,
            Score.auto_score,
            Score.manual_score,
            Score.extra_credit,
        )
        .select_from(Score)
        .join(SubmittedNotebook, Score.notebook_id == SubmittedNotebook.id)
        .join(Submission, SubmittedNotebook.assignment_id == Submission.id)
        .filter(Score.cell_id.in_(list(blank)))
    )
    found: dict[str, dict[str, Grade]] = defaultdict(dict)
    for student, cell, auto, manual, extra in rows:
        found[student][cell] = replace(
            blank[cell], auto=auto, manual=manual, extra=extra
        )
    return found


def _submissions(gradebook: Gradebook, lesson: str) -> dict[str, tuple]:
    """Give when each student has handed in, and the points taken off for it."""
    rows = gradebook.db.query(
        Submission.student_id, Submission.timestamp, Submission.late_submission_penalty
    ).filter(Submission.assignment_id == gradebook.find_assignment(lesson).id)
    return {student: (moment, penalty) for student, moment, penalty in rows}
