"""The files of ``autograder export`` as export plugins of nbgrader, from its gradebook.

    nbgrader export --exporter autograder.gradebook.plugins.CanvasExportPlugin

The bytes are those of the command for the same gradebook. The gradebook is read here in
its own way: nbgrader passes one that is open, and may be in another database.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import ClassVar

from nbgrader.api import BaseCell, Gradebook, Student, SubmittedNotebook
from nbgrader.api import Grade as NbgraderGrade
from nbgrader.api import SubmittedAssignment as NbgraderSubmission
from nbgrader.plugins import ExportPlugin
from sqlalchemy import inspect, text
from traitlets import Bool, CUnicode, Int, Unicode

from autograder.course import CourseError
from autograder.course.releases import ON_TOP, exercise_of
from autograder.gradebook.entrance import guard_log
from autograder.gradebook.grades import (
    SECTION_OF_EACH,
    SECTIONS,
    Grade,
    StudentGrades,
    exercises_of,
)
from autograder.gradebook.opening import GRADED
from autograder.gradebook.sheets import (
    CourseGrades,
    ExportFormat,
    MissingAs,
    export_file,
    handed_in,
    write_export,
)


class _FileExportPlugin(ExportPlugin):
    """What the three plugins have in common."""

    kind: ClassVar[ExportFormat]
    name: ClassVar[str]
    missing_as_zero = Bool(
        False, help="write 0, not nothing, for what a student has not handed in"
    ).tag(config=True)

    drop_lowest = Int(
        0, min=0, help="add a total without so many lessons, each student's lowest"
    ).tag(config=True)

    def export(self, gradebook: Gradebook) -> None:
        """Write the file; a fault that the user can mend is one line, exit code 1."""
        guard_log(self.log)
        try:
            grades = _course_grades(gradebook, self.assignment, self.student)
            missing: MissingAs = "zero" if self.missing_as_zero else "empty"
            file = export_file(self.kind, grades, missing, n_drop=self.drop_lowest)
            write_export(Path(self.to or self.name), file.text)
        except CourseError as error:
            self.log.error("%s", error)
            raise SystemExit(1) from None
        for sentence in file.notes:
            self.log.info("%s", sentence)
        for sentence in (*file.left_out, *file.warnings):
            self.log.warning("%s", sentence)
        self.log.info("Grades exported to %s", self.to or self.name)


class CsvExportPlugin(_FileExportPlugin):
    """One row per student, points of each exercise: for a spreadsheet."""

    kind = "csv"
    name = "grades.csv"


class CanvasExportPlugin(_FileExportPlugin):
    """The file that Canvas imports into its gradebook."""

    kind = "canvas"
    name = "canvas.csv"
    address = Unicode(
        "", help="of Canvas, for `autograder export --to canvas --send`"
    ).tag(config=True)
    course = CUnicode("", help="the course's number in Canvas, for the same").tag(
        config=True
    )


class MoodleExportPlugin(_FileExportPlugin):
    """The file that Moodle imports into its gradebook."""

    kind = "moodle"
    name = "moodle.csv"


def _course_grades(
    gradebook: Gradebook, lessons: Sequence, students: Sequence
) -> CourseGrades:
    """Return the grades of the lessons and students that are named, else of all."""
    all_lessons = sorted(assignment.name for assignment in gradebook.assignments)
    all_students = {student.id for student in gradebook.students}
    chosen_lessons = [str(name) for name in lessons] or all_lessons
    chosen_students = {str(name) for name in students} or all_students
    for what, chosen, known in (
        ("assignment", chosen_lessons, all_lessons),
        ("student", sorted(chosen_students), all_students),
    ):
        for name in chosen:
            if name not in known:
                raise CourseError(f"the gradebook has no {what} named {name!r}")
    grades = {
        lesson: {
            student: each
            for student, each in _lesson_grades(gradebook, lesson).items()
            if student in chosen_students
        }
        for lesson in dict.fromkeys(chosen_lessons)
    }
    return handed_in(grades, named=bool(lessons))


def _lesson_grades(gradebook: Gradebook, lesson: str) -> dict[str, StudentGrades]:
    """Return every student's grades of a lesson, read with a query for each table."""
    ungraded = _ungraded(gradebook, lesson)
    graded = _graded(gradebook, ungraded)
    retired = _retired(gradebook, lesson)
    submissions = _submissions(gradebook, lesson)
    sections = _sections(gradebook)
    grades = {}
    for student in gradebook.db.query(Student):
        timestamp, penalty, extension = submissions.get(student.id, (None, 0.0, None))
        own = graded[student.id] if student.id in submissions else None
        grades[student.id] = StudentGrades(
            student.id,
            exercises_of(ungraded, own, retired),
            late_penalty=penalty,
            submitted=student.id in submissions,
            timestamp=str(timestamp or ""),
            first_name=student.first_name or "",
            last_name=student.last_name or "",
            email=student.email or "",
            lms_user_id=student.lms_user_id or "",
            extension_hours=(extension or timedelta()) / timedelta(hours=1),
            section=sections.get(student.id, ""),
        )
    return grades


def _ungraded(gradebook: Gradebook, lesson: str) -> dict[str, Grade]:
    """Return a lesson's exercises without grades: id of the graded cell to grade."""
    notebooks = gradebook.find_assignment(lesson).notebooks
    cells = gradebook.db.query(BaseCell).filter(
        BaseCell.notebook_id.in_([notebook.id for notebook in notebooks]),
        BaseCell.type.in_(GRADED),
    )
    dropped = _dropped(gradebook)
    # as they were entered, which is their order in the lesson; only SQLite knows it
    sqlite = gradebook.engine.dialect.name == "sqlite"
    ordered = cells.order_by(text("base_cell.rowid") if sqlite else BaseCell.name)
    return {
        cell.id: Grade(
            _exercise_name(cell, len(notebooks) > 1),
            cell.max_score,
            optional=str(cell.name).startswith(ON_TOP),
        )
        for cell in ordered
        if (cell.notebook_id, exercise_of(str(cell.name))) not in dropped
    }


def _retired(gradebook: Gradebook, lesson: str) -> set[str]:
    """Return the ids of a lesson's graded cells that it no longer has."""
    retired = set()
    for notebook in gradebook.find_assignment(lesson).notebooks:
        current = {cell.name for cell in notebook.source_cells}
        cells = [*notebook.grade_cells, *notebook.task_cells] if current else []
        retired |= {cell.id for cell in cells if cell.name not in current}
    return retired


def _dropped(gradebook: Gradebook) -> set[tuple[str, str]]:
    """Return the exercises that count for nobody, with their notebooks' ids."""
    if not inspect(gradebook.engine).has_table("dropped_exercise"):
        return set()
    rows = gradebook.db.execute(text("SELECT notebook_id, name FROM dropped_exercise"))
    return {(notebook, name) for notebook, name in rows}


def _exercise_name(cell: BaseCell, several: bool) -> str:
    """Return an exercise's name, after its notebook's if there are several."""
    name = exercise_of(str(cell.name))
    return f"{cell.notebook.name}.{name}" if several else name


def _graded(
    gradebook: Gradebook, ungraded: dict[str, Grade]
) -> dict[str, dict[str, Grade]]:
    """Return the grades that exist, by student and id of the graded cell."""
    rows = (
        gradebook.db.query(
            NbgraderSubmission.student_id,
            NbgraderGrade.cell_id,
            NbgraderGrade.auto_score,
            NbgraderGrade.manual_score,
            NbgraderGrade.extra_credit,
        )
        .select_from(NbgraderGrade)
        .join(SubmittedNotebook, NbgraderGrade.notebook_id == SubmittedNotebook.id)
        .join(
            NbgraderSubmission, SubmittedNotebook.assignment_id == NbgraderSubmission.id
        )
        .filter(NbgraderGrade.cell_id.in_(list(ungraded)))
    )
    grades: dict[str, dict[str, Grade]] = defaultdict(dict)
    for student, cell, auto, manual, extra in rows:
        grades[student][cell] = replace(
            ungraded[cell], auto=auto, manual=manual, extra=extra
        )
    return grades


def _sections(gradebook: Gradebook) -> dict[str, str]:
    """Return the sections of those who have one, by student."""
    if not inspect(gradebook.engine).has_table(SECTIONS):
        return {}
    rows = gradebook.db.execute(text(SECTION_OF_EACH))
    return {student: section for student, section in rows}


def _submissions(gradebook: Gradebook, lesson: str) -> dict[str, tuple]:
    """Return when each student has handed in, the points taken off, the extension."""
    rows = gradebook.db.query(
        NbgraderSubmission.student_id,
        NbgraderSubmission.timestamp,
        NbgraderSubmission.late_submission_penalty,
        NbgraderSubmission.extension,
    ).filter(NbgraderSubmission.assignment_id == gradebook.find_assignment(lesson).id)
    return {student: tuple(row) for student, *row in rows}
