"""``autograder export``: the gradebook as a file for a spreadsheet, Canvas or Moodle.

What is in the files, and why, is in ``sheets``. The same gradebook gives the same
bytes: no file says when it was made.
"""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import get_args

from autograder.course import Course, CourseError
from autograder.gradebook.database import Gradebook, connect, is_empty
from autograder.gradebook.sheets import (
    CourseGrades,
    ExportFormat,
    MissingAs,
    Results,
    export_file,
    handed_in,
    write_export,
)


def export(
    course: Course,
    lessons: Sequence[str],
    kind: str,
    output: Path | None = None,
    *,
    missing: MissingAs = "empty",
    results: Results | None = None,
    n_drop: int = 0,
    on_note: Callable[[str], None] = print,
    on_left_out: Callable[[str], None] = lambda line: print(line, file=sys.stderr),
    on_warning: Callable[[str], None] = lambda line: print(line, file=sys.stderr),
) -> Path:
    """Write the grades of a class; return the file.

    lessons : names, or beginnings of them; none: all that somebody has handed in
    kind : ``csv``, ``canvas`` or ``moodle``
    output : the file; ``build/export/<kind>.csv`` by default
    missing, results, n_drop : see ``sheets.export_file``
    on_note : is called with sentences on what was dropped
    on_left_out : is called with a sentence for each student who had to be left out
    on_warning : is called with what the file cannot say

    Raises ``CourseError``, and leaves an earlier file as it is, if the kind or a lesson
    is unknown, nobody has handed anything in, or the file cannot be written.
    """
    checked = _export_format(kind)
    path = output or course.root / f"build/export/{kind}.csv"
    grades = read_course_grades(course, lessons)
    file = export_file(checked, grades, missing, results, n_drop)
    write_export(path, file.text)
    for sentence in file.notes:
        on_note(sentence)
    for sentence in file.left_out:
        on_left_out(sentence)
    for sentence in file.warnings:
        on_warning(sentence)
    return path


def _export_format(kind: str) -> ExportFormat:
    """Return a kind of file that exists; raises ``CourseError`` for another."""
    for each in get_args(ExportFormat):
        if kind == each:
            return each
    raise CourseError(
        f"grades are not exported to {kind!r}; there are: "
        f"{', '.join(get_args(ExportFormat))}"
    )


def read_course_grades(course: Course, lessons: Sequence[str]) -> CourseGrades:
    """Return the grades of lessons; none: of all that somebody has handed in.

    Raises ``CourseError`` if a lesson is unknown, or nobody has handed anything in.
    """
    gradebook = Gradebook(course)
    if lessons:
        names = [course.find_lesson(name, built=True) for name in lessons]
    else:
        names = opened_lessons(gradebook)
    grades = {lesson: gradebook.settled_grades(lesson) for lesson in names}
    return handed_in(grades, named=bool(lessons))


def opened_lessons(gradebook: Gradebook) -> list[str]:
    """Return the lessons that are in the gradebook, in order."""
    if not gradebook.path.exists():
        return []
    with connect(gradebook.path) as connection:
        if is_empty(connection):
            return []
        rows = connection.execute(
            "SELECT a.name FROM assignment a JOIN notebook n "
            "ON n.assignment_id = a.id AND n.name = a.name ORDER BY a.name"
        )
        return [name for (name,) in rows]
