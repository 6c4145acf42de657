"""The instructor's page on the term, its numbers as data, and all lessons' pages."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from autograder.course import Course, CourseError
from autograder.dashboard.class_results import Roster
from autograder.dashboard.examples import find_examples
from autograder.dashboard.misconceptions import count_misconceptions
from autograder.dashboard.overview import MAX_COSTLY, shared
from autograder.dashboard.page import (
    MAX_UNFOLDED_STUDENTS,
    lesson_page,
    lesson_roster,
    report_path,
)
from autograder.dashboard.rendering import now, render, write_page
from autograder.dashboard.term import N_LESSONS, Term, count_term, rule_in_words
from autograder.dashboard.wording import term_lead
from autograder.gradebook.database import Gradebook
from autograder.gradebook.export import opened_lessons
from autograder.gradebook.grades import StudentGrades

TERM = "term"  # the page's name
MAX_OPEN_BEHIND = 12  # a longer list is folded
MAX_UNFOLDED_ROWS = 5  # misconceptions and exercises, before the rarer ones are folded
STATES = {  # of a cell that has no points to show
    "waiting": "not graded",
    "missing": "missing",
    "open": "still open",
    "excused": "excused",
}


def write_reports(
    course: Course,
    output: Path | None = None,
    *,
    as_json: bool = False,
    written: str | None = None,
    on_left_out: Callable[[str], None] = print,
) -> list[Path]:
    """Write the term's page and all lessons' pages beside it; return the paths.

    output : the term's page alone, into this file, without links to others
    as_json : write the term's numbers, too, beside its page
    written : when, in words; now by default
    on_left_out : is called with a sentence for each lesson whose verdicts are unknown

    Raises ``CourseError`` if nobody has handed in anything, or a file cannot be
    written.
    """
    gradebook, written = Gradebook(course), written or now()
    grades = graded_lessons(gradebook)
    rosters = _rosters(course, grades, on_left_out)
    paths, pages = [], {}
    if output is None:
        for lesson, roster in rosters.items():
            paths.append(report_path(course, lesson))
            pages[lesson] = paths[-1].name
            write_page(paths[-1], lesson_page(course, roster, written))
    term = _term(course, gradebook, grades, rosters)
    path = output or report_path(course, TERM)
    last = rosters.get([*grades][-1])
    n_readable = len(last.readable) if last else 0
    write_page(path, render_term(term, n_readable, pages=pages, written=written))
    paths.append(path)
    if as_json:
        paths.append(path.with_suffix(".json"))
        text = json.dumps(asdict(term), indent=1, ensure_ascii=False)
        write_page(paths[-1], text.encode("utf-8", "replace").decode() + "\n")
    return paths


def graded_lessons(gradebook: Gradebook) -> dict[str, Mapping[str, StudentGrades]]:
    """Return the grades of the lessons that somebody has handed in, in order."""
    lessons = {
        each: gradebook.settled_grades(each) for each in opened_lessons(gradebook)
    }
    grades: dict[str, Mapping[str, StudentGrades]] = {
        lesson: own
        for lesson, own in lessons.items()
        if any(student.submitted for student in own.values())
    }
    if not grades:
        raise CourseError(
            "the gradebook has no submission of any lesson: grade a class "
            "(`autograder grade 01`), then call again"
        )
    return grades


def _rosters(
    course: Course,
    grades: Mapping[str, Mapping[str, StudentGrades]],
    on_left_out: Callable[[str], None],
) -> dict[str, Roster]:
    """Return the lessons whose verdicts are known."""
    rosters = {}
    for lesson, own in grades.items():
        try:
            roster = lesson_roster(course, lesson, own)
        except CourseError as error:
            on_left_out(f"{error}; of {lesson} the term has the points only")
            continue
        if roster.rows:
            rosters[lesson] = roster
    return rosters


def _term(
    course: Course,
    gradebook: Gradebook,
    grades: Mapping[str, Mapping[str, StudentGrades]],
    rosters: Mapping[str, Roster],
) -> Term:
    moment = datetime.now(UTC).replace(tzinfo=None)
    counts = {
        lesson: count_misconceptions(rosters[lesson]) if lesson in rosters else []
        for lesson in grades
    }
    last = [*grades][-1]
    examples = {}
    if last in rosters:
        examples = find_examples(course, rosters[last], shared(counts[last]))
    return count_term(
        grades,
        counts,
        titles={lesson: roster.title for lesson, roster in rosters.items()},
        not_yet_due={each: gradebook.not_yet_due(each, moment) for each in grades},
        examples=examples,
    )


def render_term(
    term: Term,
    n_readable: int,
    *,
    pages: Mapping[str, str] | None = None,
    written: str = "",
) -> str:
    """Return the page of a term as text.

    n_readable : submissions of the last lesson that could be graded
    pages : the file of each lesson's own page
    """
    return render(
        "term.html.j2",
        term=term,
        lead=term_lead(term),
        rule=rule_in_words(),
        labels={each.student: each.label for each in term.students},
        last=term.lessons[-1].lesson if term.lessons else "",
        readable=n_readable,
        pages=pages or {},
        written=written,
        states=STATES,
        n_lessons=N_LESSONS,
        max_open=MAX_OPEN_BEHIND,
        max_costly=MAX_COSTLY,
        max_rows=MAX_UNFOLDED_ROWS,
        max_students=MAX_UNFOLDED_STUDENTS,
    )
