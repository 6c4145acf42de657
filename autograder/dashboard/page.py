"""The instructor's page: put together from what is counted, and written as one file.

It has no script and loads nothing. Student ids, lines and reasons are untrusted text:
the template escapes them all.
"""

import functools
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from autograder.course import Course, CourseError, write_atomically
from autograder.dashboard import charts, misconceptions, notices, scores, wording
from autograder.dashboard.class_results import ExerciseCell, Roster, make_roster
from autograder.gradebook.grades import StudentGrades
from autograder.grading.journal import Journal
from autograder.grading.release import load_release

FOLDER = Path(__file__).parent
MAX_UNFOLDED_STUDENTS = 100  # a longer table is folded
MAX_OPEN_STUDENTS = 30  # in a bigger class lists of names are folded
MAX_UNFOLDED_ROWS = 12  # misconceptions, and claims, before the rarer ones are folded
MAX_LINE = 160  # characters of a learner's line of code


def write_report(
    course: Course,
    lesson: str,
    output: Path | None = None,
    *,
    grades: Mapping[str, StudentGrades] | None = None,
    written: str | None = None,
) -> Path:
    """Write the page on a lesson's results and return its path.

    output : the file; ``build/report/<lesson>.html`` by default
    grades : what the gradebook has, by student: a person's points count
    written : when, in words; now by default

    Raises ``CourseError`` if nobody has been graded or the file cannot be written.
    """
    with Journal(course) as journal:
        results, times = journal.results(lesson), dict(journal.times(lesson))
    if not results:
        raise CourseError(
            f"nobody has been graded for {lesson} yet: run `autograder grade "
            f"{lesson.partition('_')[0]}`"
        )
    title, cells = _title_and_cells(course, lesson)
    roster = make_roster(lesson, title, results, times, grades or {}, cells)
    if written is None:
        written = f"{datetime.now():%Y-%m-%d, %H:%M}"
    path = output or course.root / "build" / "report" / f"{lesson}.html"
    try:
        write_atomically(path, render_page(roster, written=written))
    except OSError as error:
        raise CourseError(
            f"the report could not be written to {path} ({error.strerror}): make room "
            "or name another file with --output; an earlier report is as it was"
        ) from None
    return path


def _title_and_cells(
    course: Course, lesson: str
) -> tuple[str, dict[str, ExerciseCell]]:
    """Return a lesson's heading, and the cell of each of its exercises."""
    cells = load_release(course, lesson).cells
    first = cells[0].source.lstrip().split("\n")[0] if cells else ""
    exercises = {
        cell.exercise: ExerciseCell(number, cell.id)
        for number, cell in enumerate(cells, 1)
        if cell.role == "solution"
    }
    return first.removeprefix("# ").strip() or lesson, exercises


def render_page(roster: Roster, *, written: str = "") -> str:
    """Return the page of a class as text."""
    summary, columns = scores.summary(roster), scores.histogram(roster)
    rows, counts = (
        scores.exercise_rows(roster),
        misconceptions.count_misconceptions(roster),
    )
    return _template().render(
        roster=roster,
        written=written,
        summary=summary,
        lead=wording.lead(summary, counts),
        bars=charts.histogram_bars(columns, summary),
        scores_in_words=charts.histogram_in_words(columns, summary),
        exercise_rows=rows,
        kinds=charts.KINDS,
        exercises_in_words=charts.exercises_in_words(rows),
        misconceptions=counts,
        misconceptions_in_words=wording.misconceptions_in_words(roster, counts),
        failed_claims=misconceptions.failed_claims(roster),
        blamed_exercises=misconceptions.blamed_exercises(roster),
        stopped_answers=misconceptions.stopped_answers(roster),
        library_calls=notices.library_calls(roster),
        invalid=notices.invalid(roster),
        repairs=notices.repairs(roster),
        repaired=sum(bool(row.result.repairs) for row in roster.rows),
        slowest=notices.slowest(roster),
        max_rows=MAX_UNFOLDED_ROWS,
        max_students=MAX_UNFOLDED_STUDENTS,
        open=len(roster.rows) <= MAX_OPEN_STUDENTS,
    )


@functools.cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=wording.legible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "breakable": breakable,
        "counted": wording.format_count,
        "cut": lambda line: (
            line if len(line) <= MAX_LINE else line[: MAX_LINE - 1] + "…"
        ),
        "number": wording.format_number,
        "parts": charts.bar_parts,
        "remarks": wording.remarks,
        "seconds": wording.format_seconds,
        "share": wording.format_share,
    }
    return environment.get_template("dashboard.html.j2")


def breakable(name: str) -> Markup:
    """Let a long identifier go on in the next line, after an underscore or a dot.

    >>> breakable("a_<b>.c")
    Markup('a_<wbr>&lt;b&gt;.<wbr>c')
    """
    escaped = str(escape(wording.legible(name)))
    return Markup(re.sub("([_.])", r"\1<wbr>", escaped))
