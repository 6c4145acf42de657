"""The instructor's path on a sample class, from the release to the files for an LMS.

Everything happens in a course folder of its own, with its own journal and gradebook;
the repository's gradebook and submissions are never touched.
"""

import json
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from autograder.course import Course, CourseError, write_atomically
from autograder.dashboard.page import write_report
from autograder.demo.diagnoses import AnswerDiagnosis, diagnoses_of, print_class
from autograder.demo.sample_class import (
    LESSON,
    SampleStudent,
    make_folder,
    sample_class,
)
from autograder.gradebook.database import Gradebook
from autograder.gradebook.export import export
from autograder.gradebook.feedback import write_feedback
from autograder.gradebook.service import GradeRecords
from autograder.grading import classroom
from autograder.grading.identity import course_seed
from autograder.grading.journal import Journal
from autograder.grading.result import SubmissionResult
from autograder.grading.sandbox import NoSandbox
from autograder.grading.verdicts import Verdicts
from autograder.grading.workers import Settings, Workers

INTERRUPTED = 130  # the exit code that shells give to Ctrl-C
TABLES = {"csv": "grades.csv", "canvas": "canvas.csv", "moodle": "moodle.csv"}
DASHBOARD, DATA = "dashboard.html", "class.json"
FORMGRADER = "cd {folder} && {jupyter} lab --LabApp.default_url=/formgrader"
UNSAFE = (
    "There is no sandbox here (`autograder grade 01` says why). The sample class is "
    "the course's own, so it is graded without one."
)


def demo(course: Course, console: Console | None = None) -> int:
    """Grade the sample class in ``build/demo``, print it, and return the exit code."""
    console = console or Console()
    folder = course.root / "build" / "demo"
    students = sample_class()
    console.print(f"A sample class of {len(students)} for {LESSON} …")
    try:
        diagnoses = grade_class(course, folder, students, console)
    except KeyboardInterrupt:
        console.print("Stopped: call it again, and the demo starts over.")
        return INTERRUPTED
    print_class(console, f"{LESSON}: the class", diagnoses)
    _print_files(console, course, folder)
    return 0


def grade_class(
    course: Course,
    folder: Path,
    students: Sequence[SampleStudent],
    console: Console,
) -> list[AnswerDiagnosis]:
    """Make a course folder, take a class through it, and return the diagnoses.

    folder : where the course folder is made; an earlier one is replaced
    """
    make_folder(course, folder, students)
    own = Course(folder)
    results = grade(own, console)
    _write_pages(own, results)
    diagnoses = [each for result in results for each in diagnoses_of(result)]
    text = json.dumps([vars(each) for each in diagnoses], indent=1, ensure_ascii=False)
    write_atomically(folder / DATA, text + "\n")
    return diagnoses


def grade(course: Course, console: Console) -> list[SubmissionResult]:
    """Grade the class of a demo's folder; return the results, sorted by student.

    Raises ``CourseError`` if something could not be graded or written.
    """
    Gradebook(course).open_lesson(LESSON)
    try:
        return _grade(course, console)
    except NoSandbox:
        console.print(UNSAFE, highlight=False)
        return _grade(course, console, isolated=False)


def _grade(
    course: Course, console: Console, *, isolated: bool = True
) -> list[SubmissionResult]:
    """Grade as ``autograder grade`` does, but report it in one bar."""
    students = classroom.chosen_students(course, LESSON)
    jobs = classroom.default_jobs()
    settings = Settings(LESSON, course_seed(course), jobs, isolated)
    with Journal(course) as journal:
        records = GradeRecords(course, LESSON, journal, Gradebook(course))
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
        return journal.results(LESSON)


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("student {task.completed} of {task.total}"),
        BarColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def _write_pages(course: Course, results: Sequence[SubmissionResult]) -> None:
    """Write what is made of a graded class: feedback, dashboard, tables."""
    grades = Gradebook(course).grades(LESSON)
    write_feedback(course, LESSON, None, grades, on_left_out=_refuse)
    write_report(course, LESSON, course.root / DASHBOARD, grades=grades)
    by_lesson = {LESSON: results}
    for table, name in TABLES.items():
        path = course.root / name
        export(course, [LESSON], table, path, results=by_lesson, on_left_out=_refuse)


def _refuse(sentence: str) -> NoReturn:
    """Stop where a student would be left out: the sample class gives no reason to."""
    raise CourseError(sentence)


def _print_files(console: Console, course: Course, folder: Path) -> None:
    files = {
        DASHBOARD: "the class at a glance: open this first",
        "feedback/": "a page for each student",
        "gradebook.db": "the grades, for nbgrader and formgrader",
        "autograded/": "each notebook with its verdicts, for formgrader",
        "grades.csv": "points by exercise, for a spreadsheet",
        "canvas.csv": "totals, as Canvas imports them",
        "moodle.csv": "totals, as Moodle imports them",
        DATA: "the table above as data",
    }
    console.print(f"In {course.relative(folder)}:")
    for name, what in files.items():
        console.print(f"  {name:16}{what}", highlight=False)
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
