"""A class's grades as the text of a file: for people, for Canvas, for Moodle.

The text depends on the grades alone: the same gradebook gives the same bytes.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from autograder.checking.points import format_number
from autograder.course import CourseError, output_file, write_atomically
from autograder.course.releases import how_to_drop
from autograder.gradebook.grades import StudentGrades
from autograder.gradebook.spreadsheet_text import (
    csv_text,
    format_timestamp,
    safe_text,
)
from autograder.gradebook.totals import (
    CourseTotal,
    course_total,
    totals_in_words,
)
from autograder.grading.reading import listed, spelled_out
from autograder.grading.result import SubmissionResult

ExportFormat = Literal["csv", "canvas", "moodle"]
MissingAs = Literal["empty", "zero"]  # what is written for what was not handed in
LessonGrades = Mapping[str, StudentGrades]  # by student
CourseGrades = Mapping[str, LessonGrades]  # by lesson, in the order of their columns
Results = Mapping[str, Sequence[SubmissionResult]]  # by lesson

BYTE_ORDER_MARK = "\ufeff"
MAX_LISTED = 20  # students, in a sentence


@dataclass(frozen=True)
class ExportFile:
    """What to write.

    text : the file's content
    left_out : a sentence for each student who could not be put in
    notes : sentences on the totals
    warnings : sentences on what the file cannot say
    """

    text: str
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def export_file(
    kind: ExportFormat,
    course_grades: CourseGrades,
    missing: MissingAs = "empty",
    results: Results | None = None,
    n_drop: int = 0,
) -> ExportFile:
    """Return the file of a kind.

    missing : what is written for a lesson that a student has not handed in: nothing,
        since a zero is a grade and only the instructor can say that it is one, or 0.
        What was handed in and is not graded yet is empty in any case
    results : adds a column with the names of the misconceptions, for ``csv`` only
    n_drop : adds a total without so many lessons, each student's lowest, but with one
        at least; 0: none

    Raises ``CourseError`` if a grade is no number.
    """
    require_finite(course_grades)
    n_wanted, n_drop = n_drop, min(n_drop, len(course_grades) - 1)
    people = _people(course_grades)
    faults = {person.student: _fault(kind, person) for person in people}
    if kind != "csv":
        people = [person for person in people if not faults[person.student]]
    totals = _course_totals(course_grades, people, missing, n_drop) if n_wanted else []
    notes = tuple(totals_in_words(totals, missing == "zero", n_wanted, n_drop))
    if kind == "csv":  # Excel takes UTF-8 for something else without the mark
        table = plain_table(course_grades, missing, results)
        if n_wanted:
            table = _with_totals(table, totals)
        return ExportFile(BYTE_ORDER_MARK + csv_text(table), notes=notes)
    make_table = canvas_table if kind == "canvas" else moodle_table
    table = make_table(course_grades, people, missing)
    if n_wanted:
        name = f"Total without the lowest {n_drop} (%)" if n_drop else "Total (%)"
        header = [name, "100"] if kind == "canvas" else [name]
        table = _with_percentages(table, header, totals)
        if kind == "moodle":
            table = [[*row[:-1], row[-1] or MOODLE_NO_GRADE] for row in table]
    left_out = tuple(fault for fault in faults.values() if fault)
    warnings = several_maxima(course_grades)
    if kind == "moodle":
        warnings += above_the_maximum(course_grades)
    return ExportFile(csv_text(table), left_out, notes, tuple(warnings))


def handed_in(course_grades: CourseGrades, *, named: bool) -> CourseGrades:
    """Return the lessons to export: those that were named, else those handed in.

    Raises ``CourseError`` if nobody has handed in any: an empty file helps nobody.
    """
    submitted = {
        lesson: lesson_grades
        for lesson, lesson_grades in course_grades.items()
        if any(student.submitted for student in lesson_grades.values())
    }
    if not submitted:
        lessons = ", ".join(course_grades) or "any lesson"
        raise CourseError(
            f"the gradebook has no submission for {lessons}: "
            "grade the class with `autograder grade`, then export"
        )
    return course_grades if named else submitted


def write_export(path: Path, text: str) -> None:
    """Write the file as a whole; raises ``CourseError`` if that cannot be done.

    A link stays a link: the file to which it leads is written.
    """
    try:
        write_atomically(output_file(path), text)
    except OSError as error:
        raise CourseError(
            f"the grades could not be written to {path} ({error.strerror}): make room "
            "or name another file; an earlier one is as it was"
        ) from None


def require_finite(course_grades: CourseGrades) -> None:
    """Raise ``CourseError`` if a grade is infinite or NaN; a database can hold it."""
    for lesson, lesson_grades in course_grades.items():
        for student in lesson_grades.values():
            for value in (student.points, student.max_points, student.late_penalty):
                if not math.isfinite(value):
                    raise CourseError(
                        f"{spelled_out(student.student)}'s grade for {lesson} is no "
                        f"number ({value}): correct it in formgrader, then export again"
                    )


def _fault(kind: ExportFormat, person: StudentGrades) -> str:
    """Return why a student cannot be in a file in which ids must stay as they are."""
    for value in (person.student, person.lms_user_id):
        if not safe_text(value) == spelled_out(value) == value:
            return (
                f"{spelled_out(person.student)!r} is left out: the id "
                f"{spelled_out(value)!r} is not safe in a "
                f"spreadsheet, and {kind.title()} would not find it changed; enter the "
                "grade there"
            )
    if kind == "moodle" and person.student == "0":
        return (
            "'0' is left out: Moodle takes it for an empty cell; enter the grade there"
        )
    return ""


# --- what every table needs of the grades -----------------------------------------


def _people(course_grades: CourseGrades) -> list[StudentGrades]:
    """Return each student once, by id, for what does not depend on the lesson."""
    people: dict[str, StudentGrades] = {}
    for lesson_grades in course_grades.values():
        people |= lesson_grades
    return [people[name] for name in sorted(people)]


def _max_points(lesson_grades: LessonGrades) -> dict[str, float]:
    """Return what each exercise of a lesson is worth, in the order of the lesson."""
    return {
        grade.exercise: grade.max_points
        for student in lesson_grades.values()
        for grade in student.exercises
    }


def _own_maxima(lesson_grades: LessonGrades) -> list[float]:
    """Return the different sums that those who have handed in could earn, sorted.

    Of what nobody has handed in, all that is in the gradebook.
    """
    everybody = lesson_grades.values()
    submitted = {_rounded(each.max_points) for each in everybody if each.submitted}
    if len(submitted) > 1 and not any(e.points for e in everybody if not e.max_points):
        submitted.discard(0.0)  # nothing counts there: no points to lose
    return sorted(submitted or {_rounded(sum(_max_points(lesson_grades).values()))})


def _rounded(points: float) -> float:
    """Return points of which those are the same that are written alike."""
    return round(points, 2)


@dataclass(frozen=True)
class LessonColumn:
    """A lesson's column in a file for a system that knows one maximum for a column.

    title : the lesson's name; with the points, for those who could earn fewer than the
        most
    max_points : what those in it could earn
    is_first : whether who has handed in nothing is in it
    """

    lesson: str
    title: str
    max_points: float
    is_first: bool

    def cell(self, student: StudentGrades | None, missing: MissingAs) -> str:
        """Return a student's points, as text; empty if another column has them."""
        if student is None or not student.submitted:
            return _missing_grade(missing) if self.is_first else ""
        is_own = _rounded(student.max_points) == self.max_points
        return _total(student, missing) if is_own else ""


def lesson_columns(course_grades: CourseGrades) -> list[LessonColumn]:
    """Return the columns of the lessons: one for each maximum that students had.

    Whoever was graded on other exercises has other points to earn, and in a column of
    the most would get fewer of them than they have.
    """
    columns = []
    for lesson, lesson_grades in course_grades.items():
        most, *fewer = reversed(_own_maxima(lesson_grades))
        columns.append(LessonColumn(lesson, lesson, most, is_first=True))
        for each in fewer:
            title = f"{lesson} ({format_number(each)} points)"
            columns.append(LessonColumn(lesson, title, each, is_first=False))
    return columns


def several_maxima(course_grades: CourseGrades) -> list[str]:
    """Return a sentence for each lesson in which students had different maxima.

    Canvas and Moodle know one for each column.
    """
    sentences = []
    columns = lesson_columns(course_grades)
    for lesson, lesson_grades in course_grades.items():
        first, *others = [each for each in columns if each.lesson == lesson]
        if not others:
            continue
        submitted = [each for each in lesson_grades.values() if each.submitted]
        own = [  # where nothing counts, there is no column either
            student.exercises for student in submitted if _rounded(student.max_points)
        ]
        graded = [{each.exercise for each in exercises} for exercises in own]
        required = [{e.exercise for e in each if not e.optional} for each in own]
        not_all = set[str]().union(*required) - required[0].intersection(*required)
        names = [name for name in _max_points(lesson_grades) if name in not_all]
        lacking = [n for n in names if not all(n in each for each in graded)]
        optional = [name for name in names if name not in lacking]
        why = []
        if lacking:
            why.append(f"not everybody was graded on {', '.join(lacking)}")
        if optional:
            why.append(f"not everybody was required to do {', '.join(optional)}")
        where = "; ".join(
            f"{column.title!r} has {listed(students, MAX_LISTED)}"
            for column in others
            if (
                students := [
                    spelled_out(each.student)
                    for each in submitted
                    if _rounded(each.max_points) == column.max_points
                ]
            )
        )
        sentences.append(
            f"{lesson}: {'; '.join(why)}. "
            f"{first.title!r} is out of {format_number(first.max_points)} points; who "
            f"could earn fewer is in a column of that maximum: {where}. For one "
            f"column, {how_to_drop(names)}"
        )
    return sentences


def above_the_maximum(course_grades: CourseGrades) -> list[str]:
    """Return a sentence on who has more points than Moodle lets in, if any.

    Its ``grade_item::update_final_grade`` lowers a grade to the item's maximum, unless
    the site has ``unlimitedgrades``.
    """
    above = [
        f"{lesson}: {listed(students, MAX_LISTED)}"
        for lesson, lesson_grades in course_grades.items()
        if (
            students := [
                spelled_out(name)
                for name, each in lesson_grades.items()
                if _rounded(each.points) > _rounded(each.max_points)
            ]
        )
    ]
    if not above:
        return []
    return [
        "more points than the maximum, by optional exercises or extra credit "
        f"({'; '.join(above)}): Moodle lowers them to the maximum of the grade item, "
        "unless the site allows unlimited grades"
    ]


def _totals(
    columns: Sequence[LessonColumn],
    course_grades: CourseGrades,
    student: str,
    missing: MissingAs,
) -> list[str]:
    """Return a student's points in each column, as text."""
    return [
        column.cell(course_grades[column.lesson].get(student), missing)
        for column in columns
    ]


def _total(student: StudentGrades | None, missing: MissingAs) -> str:
    """Return the points that count, as text; empty as long as nothing is graded."""
    if student is None or not student.submitted:
        return _missing_grade(missing)
    return format_number(student.points) if student.is_graded else ""


def _missing_grade(missing: MissingAs) -> str:
    return "0" if missing == "zero" else ""


def _course_totals(
    course_grades: CourseGrades,
    people: Sequence[StudentGrades],
    missing: MissingAs,
    n_drop: int,
) -> list[CourseTotal]:
    """Return each student's total without the lowest lessons."""
    everybodys = {lesson: _max_points(each) for lesson, each in course_grades.items()}
    totals = []
    for person in people:
        grades = {
            lesson: each.get(person.student) for lesson, each in course_grades.items()
        }
        own = {
            lesson: _own_maximum(student, everybodys[lesson])
            for lesson, student in grades.items()
        }
        zero = missing == "zero"
        totals.append(course_total(grades, own, n_drop, missing_is_zero=zero))
    return totals


def _own_maximum(
    student: StudentGrades | None, everybodys: Mapping[str, float]
) -> float:
    """Return what a student could earn; of who is not in the lesson, all there is."""
    return student.max_points if student else sum(everybodys.values())


def _with_percentages(
    table: list[list[str]], header: Sequence[str], totals: Sequence[CourseTotal]
) -> list[list[str]]:
    """Return a table with a column of the totals.

    header : the column's cells above those of students
    """
    cells = [*header, *(_optional_number(total.percentage) for total in totals)]
    return [[*row, cell] for row, cell in zip(table, cells, strict=True)]


def _optional_number(value: float | None) -> str:
    return "" if value is None else format_number(value)


# --- the table for people: a row per student, a column per exercise ---------------


def plain_table(
    course_grades: CourseGrades, missing: MissingAs, results: Results | None
) -> list[list[str]]:
    """Return the table, its header first.

    results : adds a column for each lesson with the names of the misconceptions
    """
    people = _people(course_grades)
    rows = [["student", "last_name", "first_name", "email"]]
    for each in people:
        texts = (spelled_out(each.student), each.last_name, each.first_name, each.email)
        rows.append([safe_text(text) for text in texts])
    if any(each.section for each in people):
        rows[0].append("section")
        for each, row in zip(people, rows[1:], strict=True):
            row.append(safe_text(each.section))
    for lesson, lesson_grades in course_grades.items():
        max_points = _max_points(lesson_grades)
        named = None if results is None else _misconceptions(results.get(lesson, ()))
        rows[0] += _header(lesson, max_points, with_misconceptions=named is not None)
        for person, row in zip(people, rows[1:], strict=True):
            row += _row(lesson_grades.get(person.student), max_points, missing)
            if named is not None:
                row.append(named.get(person.student, ""))
    return rows


def _with_totals(
    table: list[list[str]], totals: Sequence[CourseTotal]
) -> list[list[str]]:
    """Return the table with what was dropped, and what the rest makes."""
    header, *rows = table
    columns = ["dropped", "total", "total max", "total (%)"]
    return [
        [*header, *columns],
        *(
            [
                *row,
                safe_text(", ".join(total.dropped)),
                _optional_number(total.points),
                format_number(total.max_points),
                _optional_number(total.percentage),
            ]
            for row, total in zip(rows, totals, strict=True)
        ),
    ]


def _header(
    lesson: str, exercises: Iterable[str], *, with_misconceptions: bool
) -> list[str]:
    """Return the names of a lesson's columns; a dot tells an exercise from the rest."""
    rest = ["points", "max", "late penalty", "by hand", "submitted (UTC)"]
    rest.append("extension (hours)")
    if with_misconceptions:
        rest.append("misconceptions")
    columns = [f"{lesson}.{exercise}" for exercise in exercises]
    columns += [f"{lesson} {name}" for name in rest]
    return [safe_text(column) for column in columns]


def _row(
    student: StudentGrades | None, max_points: Mapping[str, float], missing: MissingAs
) -> list[str]:
    """Return a student's cells in a lesson's columns, but for the misconceptions."""
    worth = _own_maximum(student, max_points)
    student = student or StudentGrades("", (), submitted=False)
    graded = {each.exercise: each for each in student.exercises if each.is_graded}
    if student.submitted:
        cells = [
            format_number(graded[name].points) if name in graded else ""
            for name in max_points
        ]
    else:
        cells = [_missing_grade(missing)] * len(max_points)
    cells += [_total(student, missing), format_number(worth)]
    cells.append(format_number(student.late_penalty) if student.submitted else "")
    by_hand = (name for name, grade in graded.items() if grade.by_hand)
    cells += [safe_text(", ".join(by_hand)), format_timestamp(student.timestamp)]
    hours = student.extension_hours
    return [*cells, format_number(hours) if hours else ""]


def _misconceptions(results: Iterable[SubmissionResult]) -> dict[str, str]:
    """Return the misconceptions of each student, in the order of the exercises."""
    return {
        result.student: safe_text(
            ", ".join(name for each in result.exercises for name in each.misconceptions)
        )
        for result in results
    }


# --- Canvas -----------------------------------------------------------------------

CANVAS_COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
POINTS_POSSIBLE = "    Points Possible"  # spaces and all, as Canvas writes it


def canvas_table(
    course_grades: CourseGrades, people: Iterable[StudentGrades], missing: MissingAs
) -> list[list[str]]:
    """Return the table that Canvas imports into its gradebook.

    A student's id is the login with which Canvas knows them. What holds comes from
    Canvas's own importer and exporter, which say more than the pages for instructors
    (github.com/instructure/canvas-lms, ``lib/gradebook_importer.rb`` and
    ``gradebook_exporter.rb``):

    - The columns are Student, ID, SIS User ID, SIS Login ID, Section; whatever follows
      is an assignment, found by its exact title, and made if none has that title.
    - The row Points Possible says what each assignment is worth.
    - A student is found by the first that fits: ID, which is Canvas's own number, SIS
      User ID, SIS Login ID, name. Text in ID is read up to its first letter, and
      without zeros before it: "12b" and "012" as 12. An ID that nobody of the course
      has is passed over.
    - An empty cell is no grade, and takes away one that is there; Canvas shows what
      will change, and asks, before it does.
    - UTF-8 and commas; Canvas writes no byte order mark unless told to.
    """
    columns = lesson_columns(course_grades)
    max_points = [format_number(each.max_points) for each in columns]
    rows = [
        [*CANVAS_COLUMNS, *(safe_text(each.title) for each in columns)],
        [POINTS_POSSIBLE, "", "", "", "", *max_points],
    ]
    for person in people:
        cells = [_canvas_name(person), *_canvas_ids(person), person.student]
        cells.append(safe_text(person.section))
        rows.append(cells + _totals(columns, course_grades, person.student, missing))
    return rows


def _canvas_name(person: StudentGrades) -> str:
    """Return the name as Canvas lists it; the id where the gradebook has no name."""
    names = [name for name in (person.last_name, person.first_name) if name]
    name = safe_text(", ".join(names) or spelled_out(person.student))
    # Canvas takes a row that begins with these words for the one above
    return "" if POINTS_POSSIBLE.strip() in name else name


def _canvas_ids(person: StudentGrades) -> list[str]:
    """Return ID and SIS User ID: digits alone may be either, other text only this."""
    number = person.lms_user_id
    may_be_own = number.isascii() and number.isdigit() and number[0] != "0"
    return [number if may_be_own else "", number]


# --- Moodle -----------------------------------------------------------------------

MOODLE_NO_GRADE = "-"


def moodle_table(
    course_grades: CourseGrades, people: Sequence[StudentGrades], missing: MissingAs
) -> list[list[str]]:
    """Return the table that Moodle imports into its gradebook.

    A student's id is the user name in Moodle. What holds comes from
    docs.moodle.org/en/Grade_import and from the importer itself
    (github.com/moodle/moodle, ``grade/import/csv/classes/load_data.php``):

    - The instructor says which column finds the student (user name, ID number or email
      address) and which column is which grade item; other columns are ignored.
    - "-" is no grade. An empty cell is one too in an item that exists, but 0 in a new
      one.
    - A row whose cell for finding the student is empty, or "0", goes to the student of
      the row *above*. Hence such a column is there only if everybody has a value.
    - One student whom Moodle does not know stops the import; nothing is changed then.
    - Feedback that is imported without its grade takes the grade away: there is none
      here.
    - UTF-8 and commas, as its own exports have it; a byte order mark is dropped.
    """
    columns = {
        "Username": [person.student for person in people],
        "First name": [safe_text(person.first_name) for person in people],
        "Last name": [safe_text(person.last_name) for person in people],
    }
    for column, values in (
        ("ID number", [person.lms_user_id for person in people]),
        ("Email address", [safe_text(person.email) for person in people]),
    ):
        if not {"", "0"} & {*values}:
            columns[column] = values
    lessons = lesson_columns(course_grades)
    rows = [[*columns, *(safe_text(each.title) for each in lessons)]]
    for person, *cells in zip(people, *columns.values(), strict=True):
        totals = _totals(lessons, course_grades, person.student, missing)
        rows.append([*cells, *(total or MOODLE_NO_GRADE for total in totals)])
    return rows
