"""A class's grades as the text of a file: for people, for Canvas, for Moodle.

The text depends on the grades alone: the same gradebook gives the same bytes.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from autograder.course import CourseError, output_file, write_atomically
from autograder.gradebook.book import Book, Missing, refuse_endless, students
from autograder.gradebook.canvas import canvas_table
from autograder.gradebook.grades import Grades
from autograder.gradebook.moodle import moodle_table
from autograder.gradebook.plain_table import Results, plain_table
from autograder.gradebook.spreadsheet import MARK, as_text, words

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
