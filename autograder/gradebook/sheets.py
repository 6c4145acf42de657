"""A class's grades as the text of a file: for people, for Canvas, for Moodle.

The text depends on the grades alone: the same gradebook gives the same bytes.
"""

import csv
import io
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from autograder.course import CourseError, output_file, write_atomically
from autograder.gradebook.grades import Grade, Grades
from autograder.grading.result import Result

MARK = "\ufeff"  # byte order mark
# Moodle keeps five, Canvas shows two; what comes after is the dust of binary fractions.
DECIMALS = 5
FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]")  # some spreadsheets take the wide ones too
# A spreadsheet in much of Europe parts cells at ";", PHP takes "\" for an escape.
PARTING = str.maketrans({";": ",", "\\": "/"})
UNSEEN = ("Cc", "Cs", "Zl", "Zp")  # control characters, halves of pairs, line ends


def number(value: float) -> str:
    """Give points as text: ``.``, no exponent, no binary dust.

    >>> number(0.1 + 0.2), number(7.0), number(1e-9), number(-0.0)
    ('0.3', '7', '0', '0')
    """
    text = f"{value:.{DECIMALS}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def words(text: str) -> str:
    """Give a stranger's text as one line that no spreadsheet takes for a formula.

    >>> words(" =1+1;  x")
    "'=1+1, x"
    """
    seen = (" " if unicodedata.category(each) in UNSEEN else each for each in text)
    line = " ".join("".join(seen).translate(PARTING).split())
    return f"'{line}" if FORMULA.match(line) else line


def moment(timestamp: str) -> str:
    """Give a moment to the second, however a database has written it.

    >>> moment("2026-03-02 09:30:00.123456"), moment("")
    ('2026-03-02 09:30:00', '')
    """
    try:
        return datetime.fromisoformat(timestamp).strftime("%Y-%m-%d %H:%M:%S")
    except ValueError:
        return words(timestamp)


def as_text(rows: Iterable[Sequence[str]]) -> str:
    """Give rows as CSV, a line each, ended as Canvas and Moodle end theirs."""
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator="\n").writerows(rows)
    return file.getvalue()


Book = Mapping[str, Mapping[str, Grades]]  # lesson to student to grades
Missing = Literal["empty", "zero"]  # what stands for what was not handed in


def handed_in(book: Book, *, named: bool) -> Book:
    """Give the lessons to export: those that were named, else those handed in.

    Raises ``CourseError`` if nobody has handed in any: an empty file helps nobody.
    """
    found = {
        lesson: class_
        for lesson, class_ in book.items()
        if any(one.submitted for one in class_.values())
    }
    if not found:
        raise CourseError(
            f"the gradebook has no submission for {', '.join(book) or 'any lesson'}: "
            "grade the class with `autograder grade`, then export"
        )
    return book if named else found


def students(book: Book) -> list[Grades]:
    """Give each student once, by id, for what does not depend on the lesson."""
    found = {name: one for class_ in book.values() for name, one in class_.items()}
    return [found[name] for name in sorted(found)]


def worth(class_: Mapping[str, Grades]) -> dict[str, float]:
    """Give what each exercise of a lesson is worth, in the order of the lesson."""
    return {
        grade.exercise: grade.max_points
        for one in class_.values()
        for grade in one.exercises
    }


def totals(book: Book, student: str, missing: Missing) -> list[str]:
    """Give a student's points for each lesson, as text."""
    return [total(class_.get(student), missing) for class_ in book.values()]


def total(one: Grades | None, missing: Missing) -> str:
    """Give the points that count, as text; empty as long as nothing is graded."""
    if one is None or not one.submitted:
        return absent(missing)
    return number(one.points) if any(map(is_graded, one.exercises)) else ""


def absent(missing: Missing) -> str:
    """Give what stands for what was not handed in."""
    return "0" if missing == "zero" else ""


def is_graded(grade: Grade) -> bool:
    """Say whether an exercise has a grade, by the engine or by hand."""
    return (grade.auto, grade.manual) != (None, None)


def refuse_endless(book: Book) -> None:
    """Raise ``CourseError`` if a grade is no number (inf); a database can hold it."""
    for lesson, class_ in book.items():
        for one in class_.values():
            for value in (one.points, one.max_points, one.late_penalty):
                if not math.isfinite(value):
                    raise CourseError(
                        f"{one.student}'s grade for {lesson} is no number ({value}): "
                        "correct it in formgrader, then export again"
                    )


Results = Mapping[str, Sequence[Result]]  # by lesson


def plain_table(
    book: Book, missing: Missing, results: Results | None
) -> list[list[str]]:
    """Give the table, its header first.

    results : adds a column for each lesson with the names of the known mistakes
    """
    people = students(book)
    rows = [["student", "last_name", "first_name", "email"]]
    for each in people:
        texts = (each.student, each.last_name, each.first_name, each.email)
        rows.append([words(text) for text in texts])
    for lesson, class_ in book.items():
        points = worth(class_)
        mistakes = None if results is None else _mistakes(results.get(lesson, ()))
        rows[0] += _heads(lesson, points, mistakes)
        for person, row in zip(people, rows[1:], strict=True):
            nothing = Grades(person.student, (), submitted=False)
            one = class_.get(person.student, nothing)
            row += _cells(one, points, missing, mistakes)
    return rows


def _heads(
    lesson: str, points: Mapping[str, float], mistakes: Mapping[str, str] | None
) -> list[str]:
    """Give the names of a lesson's columns; a dot tells an exercise from the rest."""
    rest = ["points", "max", "late penalty", "by hand", "submitted (UTC)"]
    if mistakes is not None:
        rest.append("mistakes")
    heads = [f"{lesson}.{exercise}" for exercise in points]
    return [words(head) for head in heads + [f"{lesson} {name}" for name in rest]]


def _cells(
    one: Grades,
    points: Mapping[str, float],
    missing: Missing,
    mistakes: Mapping[str, str] | None,
) -> list[str]:
    """Give what stands in a lesson's columns for a student."""
    given = {grade.exercise: grade for grade in one.exercises if is_graded(grade)}
    if one.submitted:
        cells = [number(given[name].points) if name in given else "" for name in points]
    else:
        cells = [absent(missing)] * len(points)
    cells += [total(one, missing), number(sum(points.values()))]
    cells.append(number(one.late_penalty) if one.submitted else "")
    by_hand = ", ".join(name for name in given if _by_hand(given[name]))
    cells += [words(by_hand), moment(one.timestamp)]
    return cells if mistakes is None else [*cells, mistakes.get(one.student, "")]


def _by_hand(grade: Grade) -> bool:
    return grade.manual is not None or bool(grade.extra)


def _mistakes(results: Iterable[Result]) -> dict[str, str]:
    """Give the known mistakes of each student, in the order of the exercises."""
    return {
        result.student: words(
            ", ".join(each.diagnosis for each in result.exercises if each.diagnosis)
        )
        for result in results
    }


COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
POINTS_POSSIBLE = "    Points Possible"  # spaces and all, as Canvas writes it


def canvas_table(
    book: Book, people: Iterable[Grades], missing: Missing
) -> list[list[str]]:
    """Give the table; a student's id is the login with which Canvas knows them."""
    most = [number(sum(worth(class_).values())) for class_ in book.values()]
    rows = [[*COLUMNS, *map(words, book)], [POINTS_POSSIBLE, "", "", "", "", *most]]
    for each in people:
        found = [_name(each), *_ids(each), each.student, ""]
        rows.append(found + totals(book, each.student, missing))
    return rows


def _ids(one: Grades) -> list[str]:
    """Give ID and SIS User ID: a user id of digits alone is Canvas's own number."""
    own = one.lms_user_id.isascii() and one.lms_user_id.isdigit()
    return [one.lms_user_id, ""] if own else ["", one.lms_user_id]


def _name(one: Grades) -> str:
    """Give the name as Canvas lists it; the id where the gradebook has no name."""
    names = [name for name in (one.last_name, one.first_name) if name]
    name = words(", ".join(names) or one.student)
    # Canvas takes a row that begins with these words for the one above
    return "" if POINTS_POSSIBLE.strip() in name else name


NO_GRADE = "-"


def moodle_table(
    book: Book, people: Sequence[Grades], missing: Missing
) -> list[list[str]]:
    """Give the table; a student's id is the user name in Moodle."""
    columns = {
        "Username": [each.student for each in people],
        "First name": [words(each.first_name) for each in people],
        "Last name": [words(each.last_name) for each in people],
    }
    for head, values in (
        ("ID number", [each.lms_user_id for each in people]),
        ("Email address", [words(each.email) for each in people]),
    ):
        if not {"", "0"} & {*values}:
            columns[head] = values
    rows = [[*columns, *map(words, book)]]
    for each, *found in zip(people, *columns.values(), strict=True):
        points = totals(book, each.student, missing)
        rows.append([*found, *(point or NO_GRADE for point in points)])
    return rows


Kind = Literal["csv", "canvas", "moodle"]


@dataclass(frozen=True)
class Sheet:
    """What to write.

    text : the file's content
    left_out : a sentence for each student who could not be put in
    """

    text: str
    left_out: tuple[str, ...] = ()


def sheet(
    kind: Kind, book: Book, missing: Missing = "empty", results: Results | None = None
) -> Sheet:
    """Give the file of a kind.

    book : the lessons in the order of their columns
    missing : what stands for a lesson that a student has not handed in: nothing, since
        a zero is a grade and only the instructor can say that it is one, or 0. What was
        handed in and is not graded yet is empty in any case
    results : adds a column with the names of the known mistakes, for ``csv`` only

    Raises ``CourseError`` if a grade is no number.
    """
    refuse_endless(book)
    if kind == "csv":  # Excel takes UTF-8 for something else without the mark
        return Sheet(MARK + as_text(plain_table(book, missing, results)))
    people = students(book)
    faults = {person.student: _fault(kind, person) for person in people}
    kept = [person for person in people if not faults[person.student]]
    table = canvas_table if kind == "canvas" else moodle_table
    text = as_text(table(book, kept, missing))
    return Sheet(text, tuple(fault for fault in faults.values() if fault))


def write(path: Path, text: str) -> None:
    """Write the file whole; raises ``CourseError`` if that cannot be done.

    A link stays a link: what it points to is written.
    """
    try:
        write_atomically(output_file(path), text)
    except OSError as error:
        raise CourseError(
            f"the grades could not be written to {path} ({error.strerror}); "
            "what stood there is as it was"
        ) from None


def _fault(kind: Kind, one: Grades) -> str:
    """Say why a student cannot be in a file whose ids must stand as they are."""
    for value in (one.student, one.lms_user_id):
        if words(value) != value:
            return (
                f"{one.student!r} is left out: the id {value!r} is not safe in a "
                f"spreadsheet, and {kind.title()} would not find it changed; enter the "
                "grade there"
            )
    if kind == "moodle" and one.student == "0":
        return (
            "'0' is left out: Moodle takes it for an empty cell; enter the grade there"
        )
    return ""


# MERGED autograder.gradebook.spreadsheet: Cells and lines of a CSV file that a spreadsheet opens without harm.
#
#   What the columns mean is not decided here.
#
# MERGED autograder.gradebook.book: The grades of a class in several lessons, and what every table needs of them.
# MERGED autograder.gradebook.plain_table: The table of grades for people: a row per student, a column per exercise.
# MERGED autograder.gradebook.canvas: The table that Canvas imports into its gradebook.
#
#   Taken from its own importer and exporter, which say more than the pages for instructors
#   (github.com/instructure/canvas-lms, ``lib/gradebook_importer.rb``, ``_exporter.rb``):
#
#   - The columns are Student, ID, SIS User ID, SIS Login ID, Section; whatever follows is
#     an assignment, found by its exact title, and made if there is none of that title.
#   - The row Points Possible says what each assignment is worth.
#   - A student is found by the first that fits: ID, which is Canvas's own number, SIS User
#     ID, SIS Login ID, name. Text in ID is read up to its first letter, "12b" as 12.
#   - An empty cell is no grade, and takes away one that is there; Canvas shows what will
#     change, and asks, before it does.
#   - UTF-8 and commas; Canvas writes no byte order mark unless told to.
#
# MERGED autograder.gradebook.moodle: The table that Moodle imports into its gradebook.
#
#   Taken from docs.moodle.org/en/Grade_import and from the importer itself
#   (github.com/moodle/moodle, ``grade/import/csv/classes/load_data.php``):
#
#   - The instructor says which column finds the student (user name, ID number or email
#     address) and which column is which grade item; other columns are ignored.
#   - "-" is no grade. An empty cell is one too in an item that exists, but 0 in a new one.
#   - A row whose cell for finding the student is empty, or "0", goes to the student of the
#     row *above*. Hence such a column is there only if everybody has a value.
#   - One student whom Moodle does not know stops the import; nothing is changed then.
#   - Feedback that is imported without its grade takes the grade away: there is none here.
#   - UTF-8 and commas, as its own exports have it; a byte order mark is dropped.
#
