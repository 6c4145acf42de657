"""The instructor's page: put together from what is counted, and written as one file.

It has no script and loads nothing. Student ids, lines and reasons are strangers' text:
the template escapes whatever it is given.
"""

import functools
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from autograder.course import Course, CourseError, write_atomically
from autograder.dashboard import (
    charts,
    mistakes,
    notices,
    scores,
    wording,
)
from autograder.dashboard import (
    wording as sentences,
)
from autograder.dashboard.class_results import Place, Roster, roster
from autograder.gradebook.grades import Grades
from autograder.grading.journal import Journal
from autograder.grading.release import load_master

FOLDER = Path(__file__).parent
FOLD = 100  # students; a longer table is folded
OPEN = 30  # students; in a bigger class lists of names are folded
MOST = 12  # mistakes, and claims, before the rarer ones are folded
LINE = 160  # characters of a learner's line of code


def report(
    course: Course,
    lesson: str,
    output: Path | None = None,
    *,
    grades: Mapping[str, Grades] | None = None,
    written: str | None = None,
) -> Path:
    """Write the page on a lesson's results and give its path.

    output : the file; ``build/report/<lesson>.html`` if not given
    grades : what the gradebook has, by student: a person's points count
    written : when, in words; now if not given

    Raises ``CourseError`` if nobody has been graded or the file cannot be written.
    """
    with Journal(course) as journal:
        results, times = journal.results(lesson), dict(journal.times(lesson))
    if not results:
        raise CourseError(
            f"nobody has been graded for {lesson} yet: run `autograder grade "
            f"{lesson.partition('_')[0]}`"
        )
    title, places = _lesson(course, lesson)
    group = roster(lesson, title, results, times, grades or {}, places)
    if written is None:
        written = f"{datetime.now():%Y-%m-%d, %H:%M}"
    path = output or course.root / "build" / "report" / f"{lesson}.html"
    try:
        write_atomically(path, page(group, written=written))
    except OSError as error:
        raise CourseError(
            f"the report could not be written to {path} ({error.strerror}): make room "
            "or give another place; what stood there is as it was"
        ) from None
    return path


def page(group: Roster, *, written: str = "") -> str:
    """Give the page of a class as text."""
    summary, columns = scores.summary(group), scores.histogram(group)
    rows, known = scores.exercise_rows(group), mistakes.mistakes(group)
    return _template().render(
        roster=group,
        written=written,
        summary=summary,
        lead=sentences.lead(summary, known),
        bars=charts.bars(columns, summary),
        scores_in_words=charts.histogram_in_words(columns, summary),
        rows=rows,
        kinds=charts.KINDS,
        exercises_in_words=charts.exercises_in_words(rows),
        mistakes=known,
        mistakes_in_words=sentences.mistakes_in_words(group, known),
        failures=mistakes.failures(group),
        blames=mistakes.blames(group),
        endings=mistakes.endings(group),
        reviews=notices.reviews(group),
        invalid=notices.invalid(group),
        repairs=notices.repairs(group),
        repaired=sum(bool(entry.result.repairs) for entry in group.entries),
        slowest=notices.slowest(group),
        most=MOST,
        fold=FOLD,
        open=len(group.entries) <= OPEN,
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
        "counted": wording.counted,
        "cut": lambda line: line if len(line) <= LINE else line[: LINE - 1] + "…",
        "number": wording.number,
        "parts": charts.parts,
        "remarks": sentences.remarks,
        "seconds": wording.seconds,
        "share": wording.share,
    }
    return environment.get_template("dashboard.html.j2")


def breakable(name: str) -> Markup:
    """Let a long identifier go on in the next line, after an underscore or a dot.

    >>> breakable("a_<b>.c")
    Markup('a_<wbr>&lt;b&gt;.<wbr>c')
    """
    whole = str(escape(wording.legible(name)))
    return Markup(re.sub("([_.])", r"\1<wbr>", whole))


def _lesson(course: Course, lesson: str) -> tuple[str, dict[str, Place]]:
    """Give a lesson's heading, and where its exercises are."""
    cells = load_master(course, lesson).cells
    first = cells[0].source.lstrip().split("\n")[0] if cells else ""
    places = {
        cell.exercise: Place(number, cell.id)
        for number, cell in enumerate(cells, 1)
        if cell.role == "solution"
    }
    return first.removeprefix("# ").strip() or lesson, places
