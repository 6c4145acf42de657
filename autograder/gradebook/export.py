"""``autograder export``: the gradebook as a file for a spreadsheet, Canvas or Moodle.

What stands in the files, and why, is in ``sheets``. The same gradebook gives the same
bytes: no file says when it was made.
"""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import get_args

from autograder.course import Course, CourseError
from autograder.gradebook.database import Gradebook, connected, is_empty
from autograder.gradebook.sheets import (
    CourseGrades,
    ExportFormat,
    MissingAs,
    Results,
    handed_in,
    sheet,
    write,
)


def export(
    course: Course,
    lessons: Sequence[str],
    kind: str,
    output: Path | None = None,
    *,
    missing: MissingAs = "empty",
    results: Results | None = None,
    tell: Callable[[str], None] = lambda line: print(line, file=sys.stderr),
) -> Path:
    """Write the grades of a class; give the file.

    lessons : names, or beginnings of them; none: all that somebody has handed in
    kind : ``csv``, ``canvas`` or ``moodle``
    output : the file; ``build/export/<kind>.csv`` if there is none
    missing, results : see ``sheets.sheet``
    tell : gets a sentence for each student who had to be left out

    Raises ``CourseError``, and leaves what stood in the file, if the kind or a lesson
    is unknown, nobody has handed anything in, or the file cannot be written.
    """
    known = known_kind(kind)
    path = output or course.root / f"build/export/{kind}.csv"
    made = sheet(known, _book(course, lessons), missing, results)
    write(path, made.text)
    for sentence in made.left_out:
        tell(sentence)
    return path


def known_kind(kind: str) -> ExportFormat:
    """Give back a kind of file; raises ``CourseError`` if there is no such kind."""
    for known in get_args(ExportFormat):
        if kind == known:
            return known
    raise CourseError(
        f"grades are not exported to {kind!r}; there are: {', '.join(get_args(Kind))}"
    )


def lessons_of(gradebook: Gradebook) -> list[str]:
    """Give the lessons that are in the gradebook, in order."""
    if not gradebook.path.exists():
        return []
    with connected(gradebook.path) as connection:
        if is_empty(connection):
            return []
        rows = connection.execute(
            "SELECT a.name FROM assignment a JOIN notebook n "
            "ON n.assignment_id = a.id AND n.name = a.name ORDER BY a.name"
        )
        return [name for (name,) in rows]


def _book(course: Course, lessons: Sequence[str]) -> CourseGrades:
    gradebook = Gradebook(course)
    if lessons:
        chosen = [course.find_lesson(name, built=True) for name in lessons]
    else:
        chosen = lessons_of(gradebook)
    book = {lesson: gradebook.grades(lesson) for lesson in chosen}
    return handed_in(book, named=bool(lessons))
