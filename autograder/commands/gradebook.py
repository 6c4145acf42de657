"""``autograder open``, ``roster``, ``feedback``, ``report`` and ``export``.

Each returns an exit code: 0 if all was done, 1 if something was left out, which stderr
names. What cannot be done at all raises ``CourseError``.
"""

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.checking.points import format_number
from autograder.commands import terminal
from autograder.course import Course, CourseError, output_file
from autograder.course.releases import kept_releases
from autograder.gradebook.database import Gradebook
from autograder.gradebook.roster import read_roster
from autograder.gradebook.sheets import MissingAs
from autograder.gradebook.summaries import Delivery, write_summaries
from autograder.gradebook.writing import gradebook_entry
from autograder.grading import classroom
from autograder.grading.journal import Journal
from autograder.grading.reading import spelled_out
from autograder.grading.release import load_release
from autograder.grading.result import SubmissionResult

MAX_LISTED = 20  # students
NOT_IN_THE_GRADEBOOK = (
    "{} is not in the gradebook: correct the name, or grade the submission first "
    "(`autograder grade`)"
)


def open_lesson(course: Course, lesson: str) -> int:
    """Enter a lesson into the gradebook."""
    name = course.find_lesson(lesson, built=True)
    gradebook = Gradebook(course)
    for sentence in gradebook.open_lesson(name):
        terminal.warn(sentence)
    terminal.say(f"{name} is open in {gradebook.path}")
    return 0


def extend(course: Course, student: str, lesson: str, hours: float) -> int:
    """Extend a student's time for a lesson."""
    name = course.find_lesson(lesson, built=True)
    gradebook = Gradebook(course)
    until = gradebook.extend(name, student, hours * 3600)
    grades = gradebook.grades(name, [student])[student]
    line = f"{spelled_out(student)} has until {until:%Y-%m-%d %H:%M:%S} UTC for {name}"
    if grades.submitted:
        line += f"; the late penalty is {format_number(grades.late_penalty)}"
    terminal.say(line)
    return 0


def drop(course: Course, exercise: str, lesson: str, *, undo: bool) -> int:
    """Let an exercise count for nobody, or for everybody again."""
    name = _lesson_with(course, exercise, lesson)
    gradebook = Gradebook(course)
    for sentence in gradebook.open_lesson(name):
        terminal.warn(sentence)
    dropped = gradebook.dropped(name)
    if undo != (exercise in dropped):
        state = "does not count already" if exercise in dropped else "counts already"
        terminal.say(f"{exercise} {state} in {name}")
        return 0
    dropped = dropped - {exercise} if undo else dropped | {exercise}
    with Journal(course) as journal:
        entries = [*journal.latest(name)]
        results = [SubmissionResult.from_json(each.line) for each in entries]
        results = [each.without(dropped) for each in results]
        graded = [gradebook_entry(each, None) for each in results if each.exercises]
        n_changed = gradebook.drop(name, exercise, graded, undo=undo)
        for entry, result in zip(entries, results, strict=True):
            if entry.line != (line := result.as_json()):
                journal.add_result(name, replace(entry, line=line))
        path = course.root / f"build/grading/{name}.jsonl"
        classroom.write_results(path, journal, name)
    what = "counts again" if undo else "no longer counts"
    students = terminal.counted(n_changed, "student")
    terminal.say(
        f"{exercise} {what} in {name}; the grades of {students} have changed. Make "
        "feedback, report and exports anew."
    )
    judged = {entry.student for entry in graded}
    grades = gradebook.grades(name).items()
    unknown = [who for who, each in grades if each.submitted and who not in judged]
    if undo and unknown:
        students = terminal.counted(len(unknown), "student")
        terminal.warn(
            f"the journal has no verdicts on {students} ({_listed(unknown)}), who get "
            f"back only what they had of {exercise}: "
            f"run `autograder grade {name[:2]}`, which judges them again"
        )
    return 0


def _lesson_with(course: Course, exercise: str, lesson: str) -> str:
    """Return the lesson of an exercise, of today or of an earlier release."""
    releases = kept_releases(course)
    lessons = (
        [course.find_lesson(lesson, built=True)] if lesson else course.built_lessons
    )
    matches = [
        each
        for each in lessons
        if exercise in load_release(course, each).points
        or any(exercise in points for points in releases.get(each, {}).values())
    ]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise CourseError(
            f"{exercise} is in {' and '.join(matches)}: say which with --lesson"
        )
    known = dict.fromkeys(
        e for each in lessons for e in load_release(course, each).points
    )
    raise CourseError(
        f"no lesson has the exercise {exercise}; there are: {', '.join(known)}"
    )


def feedback(course: Course, lesson: str, student: str) -> int:
    """Write the feedback pages of a class, or of one student."""
    from autograder.gradebook.feedback import write_feedback

    name = course.find_lesson(lesson, built=True)
    chosen = [student] if student else None
    grades = Gradebook(course).settled_grades(name, chosen)
    if student and student not in grades:
        raise CourseError(NOT_IN_THE_GRADEBOOK.format(spelled_out(student)))
    left_out: list[str] = []
    written = write_feedback(course, name, chosen, grades, on_left_out=left_out.append)
    pages = terminal.counted(len(written), "page")
    terminal.say(f"{pages} in feedback/<student>/{name}/{name}.html")
    for sentence in left_out:
        terminal.warn(sentence)
    return int(bool(left_out))


def summaries(course: Course, lesson: str, student: str, delivery: Delivery) -> int:
    """Write the messages of a class, or of one student."""
    name = course.find_lesson(lesson, built=True)
    gradebook = Gradebook(course)
    grades = gradebook.settled_grades(name, [student] if student else None)
    if student and student not in grades:
        raise CourseError(NOT_IN_THE_GRADEBOOK.format(spelled_out(student)))
    left_out: list[str] = []
    written = write_summaries(
        course,
        name,
        grades,
        gradebook.due_dates(name, [*grades]),
        delivery,
        left_out.append,
        whole_class=not student,
    )
    table = "" if student else f", the whole class in build/summaries/{name}.csv"
    messages = terminal.counted(len(written), "message")
    terminal.say(f"{messages} in build/summaries/{name}/*.eml{table}")
    for sentence in left_out:
        terminal.warn(sentence)
    return int(bool(left_out))


def roster(course: Course, path: Path, id_column: str) -> int:
    """Enter the roster of a class; return 0."""
    people = read_roster(path, id_column)
    gradebook = Gradebook(course)
    changes = gradebook.enter_people(people)
    students = terminal.counted(len(people), "student")
    terminal.say(
        f"{students} in {path}: {changes.new} new, {changes.changed} changed. Written: "
        f"{gradebook.path}"
    )
    if changes.absent:
        terminal.say(
            f"{len(changes.absent)} in the gradebook and not in the file stay: "
            f"{_listed(changes.absent)}"
        )
    return 0


def _listed(students: Sequence[str]) -> str:
    """Return the names of students, not all if there are many."""
    more = " …" if len(students) > MAX_LISTED else ""
    return ", ".join(map(spelled_out, students[:MAX_LISTED])) + more


def report(course: Course, lesson: str, output: str, as_json: bool = False) -> int:
    """Write the instructor's page on a lesson; on the term and all lessons without one.

    A lesson's page has the engine's points if there is no gradebook.
    """
    from autograder.dashboard.page import write_report

    path = output_file(Path(output)) if output else None
    if not lesson:
        return _term_report(course, path, as_json)
    if as_json:
        raise CourseError("--json is for the term: leave the lesson out")
    name = course.find_lesson(lesson, built=True)
    grades, code = {}, 0
    try:
        grades = Gradebook(course).settled_grades(name)
    except CourseError as error:
        terminal.warn(f"{error}; the report has the grader's points only")
        code = 1
    page = write_report(course, name, path, grades=grades)
    terminal.say(f"Written: {page}")
    return code


def _term_report(course: Course, path: Path | None, as_json: bool) -> int:
    from autograder.dashboard.term_page import write_reports

    left_out: list[str] = []
    paths = write_reports(course, path, as_json=as_json, on_left_out=left_out.append)
    for sentence in left_out:
        terminal.warn(sentence)
    for each in paths:
        terminal.say(f"Written: {each}")
    return int(bool(left_out))


def export(
    course: Course,
    lessons: list[str],
    kind: str,
    missing: MissingAs,
    output: str,
    n_drop: int = 0,
) -> int:
    """Write the grades as a file for other systems."""
    from autograder.gradebook.export import export as write_export

    left_out: list[str] = []
    known = course.built_lessons
    with Journal(course) as journal:
        results = {lesson: journal.results(lesson) for lesson in known}
    path = write_export(
        course,
        lessons,
        kind,
        Path(output) if output else None,
        missing=missing,
        results=results,
        n_drop=n_drop,
        on_note=terminal.say,
        on_left_out=left_out.append,
        on_warning=terminal.warn,
    )
    for sentence in left_out:
        terminal.warn(sentence)
    terminal.say(f"Written: {path}")
    return int(bool(left_out))


@dataclass(frozen=True)
class CanvasOptions:
    """How grades are sent to Canvas.

    address, course : of Canvas, and the course's number there; "": as configured
    yes : whether to send; otherwise it is said what would be
    overwrite : whether grades that somebody has set there are replaced
    """

    address: str = ""
    course: str = ""
    yes: bool = False
    overwrite: bool = False


def send_to_canvas(
    course: Course, lessons: list[str], missing: MissingAs, options: CanvasOptions
) -> int:
    """Send the grades that have changed to Canvas, or say which ones would be sent."""
    from autograder.gradebook import canvas_send
    from autograder.gradebook.canvas_api import Canvas
    from autograder.gradebook.export import read_course_grades

    address, number = _canvas_of(course, options)
    grades = read_course_grades(course, lessons)
    canvas = Canvas(address, os.environ.get("CANVAS_TOKEN", ""))
    lock = canvas_send.one_sender(course.root)
    with lock if options.yes else contextlib.nullcontext():
        sender = canvas_send.Sender(course, canvas, number, overwrite=options.overwrite)
        plan = sender.plan(grades, missing)
        for sentence in (*plan.left_out, *plan.notes):
            terminal.warn(sentence)
        left_out = list(plan.left_out)
        if not options.yes:
            for change in plan.changes:
                terminal.say(str(change))
            n_changes = terminal.counted(len(plan.changes), "grade")
            terminal.say(
                f"{n_changes} to send, {plan.n_same} in Canvas already"
                + ("; nothing is sent without --yes" if plan.changes else "")
            )
            return int(bool(left_out))

        def leave_out(sentence: str) -> None:
            left_out.append(sentence)
            terminal.warn(sentence)

        try:
            n_sent = sender.send(
                plan, lambda line: terminal.say(line, flush=True), leave_out
            )
        except KeyboardInterrupt:
            terminal.warn("stopped: the next call goes on from there")
            return 130
    terminal.say(
        f"{terminal.counted(n_sent, 'grade')} sent, {plan.n_same} in Canvas already"
    )
    return int(bool(left_out))


def _canvas_of(course: Course, options: CanvasOptions) -> tuple[str, str]:
    """Return Canvas's address and the course's number there; raises ``CourseError``."""
    from autograder.gradebook.settings import canvas_course

    address, number = canvas_course(course)
    address, number = options.address or address, options.course or number
    if not (address and number):
        raise CourseError(
            "no Canvas is named: set c.CanvasExportPlugin.address and "
            "c.CanvasExportPlugin.course in nbgrader_config.py, or say --address "
            "https://canvas.example.edu --course 1234"
        )
    return address, number
