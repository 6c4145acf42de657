"""The instructor's path through a term, from the roster to the files for an LMS.

Everything happens in a course folder of its own, with its own journal and gradebook;
the repository's gradebook and submissions are never touched. Each file is where the
command of the same name would put it.
"""

import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from autograder.course import Course, CourseError, write_atomically
from autograder.dashboard.term_page import write_reports
from autograder.demo.diagnoses import AnswerDiagnosis, diagnoses_of, print_term
from autograder.demo.sample_term import (
    DUE,
    EXTENSIONS,
    LESSONS,
    NAMES,
    ROSTER,
    make_term,
)
from autograder.gradebook.database import Gradebook
from autograder.gradebook.export import export
from autograder.gradebook.feedback import write_feedback
from autograder.gradebook.grades import StudentGrades
from autograder.gradebook.roster import read_roster
from autograder.gradebook.service import GradeRecords
from autograder.gradebook.settings import course_id
from autograder.gradebook.sheets import ExportFormat
from autograder.gradebook.summaries import Delivery, write_summaries
from autograder.grading import classroom
from autograder.grading.identity import course_seed
from autograder.grading.journal import Journal
from autograder.grading.result import SubmissionResult
from autograder.grading.sandbox import NoSandbox
from autograder.grading.verdicts import Verdicts
from autograder.grading.workers import Settings, Workers

INTERRUPTED = 130  # the exit code that shells give to Ctrl-C
SENDER = "Ada Lovelace <ada@example.org>"
TABLES: tuple[ExportFormat, ...] = ("csv", "canvas", "moodle")
DATA = "class.json"
FORMGRADER = "cd {folder} && {jupyter} lab --LabApp.default_url=/formgrader"
UNSAFE = (
    "There is no sandbox here (`autograder grade 01` says why). The sample class is "
    "the course's own, so it is graded without one."
)
# What to open, and the command that makes it in a course of yours.
GUIDE = (
    ("build/report/term.html", "the class over the term: begin here", "report"),
    ("{page}", "a student's page", "feedback 01"),
    ("{message}", "a message for a mailer", "summaries 01"),
    ("build/summaries/{lesson}.csv", "all messages, for a mail merge", ""),
    ("build/export/csv.csv", "points and totals", "export --drop-lowest 1"),
    ("build/export/canvas.csv", "totals, as Canvas imports them", "export --to canvas"),
    ("build/export/moodle.csv", "totals, as Moodle imports them", "export --to moodle"),
    (ROSTER, "the class's roster", f"roster {ROSTER}"),
    ("submitted/", "what was handed in", "grade 01"),
    ("gradebook.db, autograded/", "for nbgrader and formgrader", ""),
    (DATA, "each answer's points and diagnosis", ""),
)


def demo(course: Course, console: Console | None = None) -> int:
    """Grade a term in ``build/demo``, print it, and return the exit code."""
    console = console or Console()
    folder = course.root / "build" / "demo"
    console.print(f"A class of {len(NAMES)}, a term of {len(LESSONS)} lessons …")
    try:
        diagnoses, grades = grade_term(course, folder, console)
    except KeyboardInterrupt:
        console.print("Stopped: call it again, and the demo starts over.")
        return INTERRUPTED
    print_term(console, grades, diagnoses)
    _print_guide(console, course, folder)
    return 0


def grade_term(
    course: Course, folder: Path, console: Console
) -> tuple[list[AnswerDiagnosis], dict[str, dict[str, StudentGrades]]]:
    """Make a course folder and take a class through a term.

    folder : where the course folder is made; an earlier one is replaced

    Returns what each answer got, and the grades by lesson and student.
    """
    make_term(course, folder)
    own = Course(folder)
    gradebook = Gradebook(own)
    gradebook.enter_people(read_roster(folder / ROSTER))
    for lesson in LESSONS:
        gradebook.open_lesson(lesson)
        _set_due_date(own, gradebook, lesson)
    results = grade(own, console)
    grades = {lesson: gradebook.grades(lesson) for lesson in LESSONS}
    _write_pages(own, gradebook, grades, results)
    diagnoses = [
        each
        for of_lesson in results.values()
        for result in of_lesson
        for each in diagnoses_of(result)
    ]
    text = json.dumps([vars(each) for each in diagnoses], indent=1, ensure_ascii=False)
    write_atomically(folder / DATA, text + "\n")
    return diagnoses, grades


def _set_due_date(course: Course, gradebook: Gradebook, lesson: str) -> None:
    """Set it as ``nbgrader db assignment add`` does, and extend it for some."""
    from nbgrader.api import Gradebook as NbgraderGradebook  # a second of imports

    database = f"sqlite:///{gradebook.path}"
    with NbgraderGradebook(database, course_id(course)) as book:
        book.update_or_create_assignment(lesson, duedate=DUE[lesson])
    for (student, of_lesson), longer in EXTENSIONS.items():
        if of_lesson == lesson:
            gradebook.extend(lesson, student, longer.total_seconds())


def grade(course: Course, console: Console) -> dict[str, list[SubmissionResult]]:
    """Grade a demo's folder; return each lesson's results, sorted by student.

    Raises ``CourseError`` if something could not be graded or written.
    """
    try:
        return {each: _grade(course, each, console) for each in LESSONS}
    except NoSandbox:
        console.print(UNSAFE, highlight=False)
        return {each: _grade(course, each, console, isolated=False) for each in LESSONS}


def _grade(
    course: Course, lesson: str, console: Console, *, isolated: bool = True
) -> list[SubmissionResult]:
    """Grade as ``autograder grade`` does, but report it in one bar."""
    students = classroom.chosen_students(course, lesson)
    jobs = classroom.default_jobs()
    settings = Settings(lesson, course_seed(course), jobs, isolated)
    with Journal(course) as journal:
        records = GradeRecords(course, lesson, journal, Gradebook(course))
        verdicts = Verdicts(course, settings, journal)
        with Workers(course, settings) as workers, _progress(console) as progress:
            each_graded = verdicts.each(students, workers.each)
            for graded in progress.track(each_graded, total=len(students)):
                if graded.fault:
                    raise CourseError(graded.result.reason)
                records.add(graded)
        records.flush()
        if records.fault:
            raise CourseError(records.fault)
        return journal.results(lesson)


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("student {task.completed} of {task.total}"),
        BarColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def _write_pages(
    course: Course,
    gradebook: Gradebook,
    grades: Mapping[str, Mapping[str, StudentGrades]],
    results: Mapping[str, Sequence[SubmissionResult]],
) -> None:
    """Write what is made of a graded term: pages, messages, tables."""
    for lesson, of_class in grades.items():
        due = gradebook.due_dates(lesson, [*of_class])
        write_feedback(course, lesson, None, of_class, on_left_out=_refuse)
        write_summaries(course, lesson, of_class, due, Delivery(SENDER), _refuse)
    write_reports(course, on_left_out=_refuse)
    for table in TABLES:
        export(
            course,
            LESSONS,
            table,
            results=results,
            n_drop=1,
            on_note=lambda sentence: None,
            on_left_out=_refuse,
        )


def _refuse(sentence: str) -> NoReturn:
    """Stop where a student would be left out: the sample class gives no reason to."""
    raise CourseError(sentence)


def _print_guide(console: Console, course: Course, folder: Path) -> None:
    student, lesson = "gudrun", LESSONS[0]
    paths = {
        "lesson": lesson,
        "page": f"feedback/{student}/{lesson}/{lesson}.html",
        "message": f"build/summaries/{lesson}/{student}.eml",
    }
    console.print(
        f"In {course.relative(folder)}, a course folder like yours, and the command "
        "behind each:",
        highlight=False,
    )
    for path, what, command in GUIDE:
        made_by = f" (autograder {command})" if command else ""
        line = f"  {path.format(**paths)}\n      {what}{made_by}"
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    console.print("To see it in formgrader:")
    command = _formgrader(course, folder)
    console.print(f"  {command}", highlight=False, markup=False, soft_wrap=True)


def _formgrader(course: Course, folder: Path) -> str:
    """Return the command that opens formgrader on the folder, run from the root."""
    jupyter = Path(sys.executable).with_name("jupyter")
    if jupyter.is_relative_to(course.root):
        jupyter = Path(os.path.relpath(jupyter, folder))
    folder_name, program = map(shlex.quote, (course.relative(folder), str(jupyter)))
    command = FORMGRADER.format(folder=folder_name, jupyter=program)
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    return command + " --allow-root" * is_root  # else Jupyter refuses root
