"""The instructor's page on one lesson: put together from what is counted."""

from collections.abc import Mapping
from pathlib import Path

from autograder.course import Course, CourseError
from autograder.dashboard import (
    charts,
    misconceptions,
    notices,
    overview,
    scores,
    wording,
)
from autograder.dashboard.class_results import ExerciseCell, Roster, make_roster
from autograder.dashboard.examples import find_examples
from autograder.dashboard.rendering import now, render, write_page
from autograder.gradebook.grades import StudentGrades
from autograder.grading.journal import Journal
from autograder.grading.release import load_release

MAX_UNFOLDED_STUDENTS = 100  # a longer table is folded
MAX_OPEN_STUDENTS = 30  # in a bigger class lists of names are folded
MAX_ON_PAPER = 10  # students: a longer list is not printed, the table says the same
MAX_UNFOLDED_ROWS = 12  # misconceptions, and claims, before the rarer ones are folded


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
    roster = lesson_roster(course, lesson, grades or {})
    if not roster.rows:
        raise CourseError(
            f"nobody has been graded for {lesson} yet: run `autograder grade "
            f"{lesson.partition('_')[0]}`"
        )
    path = output or report_path(course, lesson)
    write_page(path, lesson_page(course, roster, written or now()))
    return path


def report_path(course: Course, name: str) -> Path:
    """Return where a lesson's page is written, or the term's."""
    return course.root / "build" / "report" / f"{name}.html"


def lesson_roster(
    course: Course, lesson: str, grades: Mapping[str, StudentGrades]
) -> Roster:
    """Return what is known of a lesson's class; no rows if nobody has been graded."""
    with Journal(course) as journal:
        results, times = journal.results(lesson), dict(journal.times(lesson))
    title, cells = _title_and_cells(course, lesson) if results else (lesson, {})
    return make_roster(lesson, title, results, times, grades, cells)


def lesson_page(course: Course, roster: Roster, written: str) -> str:
    """Return the page of a class as text, with examples of its graded notebooks."""
    counts = misconceptions.count_misconceptions(roster)
    examples = find_examples(course, roster, overview.shared(counts))
    return render_page(roster, written=written, examples=examples)


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


def render_page(
    roster: Roster, *, written: str = "", examples: overview.Examples | None = None
) -> str:
    """Return the page of a class as text."""
    summary, columns = scores.summary(roster), scores.histogram(roster)
    rows, counts = (
        scores.exercise_rows(roster),
        misconceptions.count_misconceptions(roster),
    )
    return render(
        "dashboard.html.j2",
        roster=roster,
        written=written,
        summary=summary,
        lead=wording.lead(summary, counts),
        topics=overview.topics(counts, examples or {}),
        costly=overview.costly_exercises(rows),
        attention=overview.attention(roster),
        sections=scores.section_rows(roster),
        bars=charts.histogram_bars(columns, summary),
        scores_in_words=charts.histogram_in_words(columns, summary),
        exercise_rows=rows,
        kinds=charts.KINDS,
        exercises_in_words=charts.exercises_in_words(rows),
        misconceptions=counts,
        misconceptions_in_words=wording.misconceptions_in_words(roster, counts),
        misconceptions_of=misconceptions.by_student(counts),
        failed_claims=misconceptions.failed_claims(roster),
        open_fine_points=misconceptions.open_fine_points(roster),
        blamed_exercises=misconceptions.blamed_exercises(roster),
        stopped_answers=misconceptions.stopped_answers(roster),
        library_calls=notices.library_calls(roster),
        own_answers=notices.own_answers(roster),
        invalid=notices.invalid(roster),
        repairs=notices.repairs(roster),
        repaired=sum(bool(row.result.repairs) for row in roster.rows),
        slowest=notices.slowest(roster),
        max_rows=MAX_UNFOLDED_ROWS,
        max_on_paper=MAX_ON_PAPER,
        max_students=MAX_UNFOLDED_STUDENTS,
        open=len(roster.rows) <= MAX_OPEN_STUDENTS,
    )
