"""The instructor's path on a sample class: release, autograde, feedback, export.

Everything happens in a course folder of its own; the repository's gradebook and
submissions are never touched.
"""

import csv
import json
import shutil
from collections.abc import Sequence
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import nbformat
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from autograder.course import Course, CourseError, write_atomically
from autograder.demo import steps
from autograder.demo.results import Result, as_data
from autograder.demo.students import LESSON, Student, sample_class
from autograder.demo.submissions import submit
from autograder.demo.table import print_class
from autograder.demo.workers import Workers, workers

STOPPED = 130  # the exit code that shells give to Ctrl-C


def demo(course: Course, console: Console | None = None) -> int:
    """Grade the sample class in ``build/demo``, print it, and give the exit code."""
    console = console or Console()
    folder = course.root / "build" / "demo"
    students = sample_class()
    console.print(f"A sample class of {len(students)} for {LESSON}, with nbgrader …")
    try:
        results = grade_class(course, folder, students, console)
    except BrokenProcessPool:
        log = course.relative(folder / "nbgrader.log")
        raise CourseError(
            f"a grading process was killed, perhaps for want of memory: {log} may say "
            "more"
        ) from None
    except KeyboardInterrupt:
        console.print("Stopped: call it again, and the demo starts over.")
        return STOPPED
    print_class(console, f"{LESSON}: the class", results)
    _print_places(console, course.relative(folder))
    return 0


def grade_class(
    course: Course, folder: Path, students: Sequence[Student], console: Console
) -> list[Result]:
    """Make a course folder, take a class through it, and give what was found.

    folder : where the course folder is made; an earlier one is replaced
    """
    make_folder(course, folder, students)
    found: dict[str, list[Result]] = {}
    with workers(folder / "nbgrader.log", steps.warm_up) as processes:
        processes.run(steps.release, folder, LESSON)
        for results in _graded(processes, folder, students, console):
            found[results[0].student] = results
        processes.run(steps.export, folder, folder / "grades.csv")
    ordered = [result for student in students for result in found[student.name]]
    _add_remarks(folder / "grades.csv", ordered)
    data = [as_data(result) for result in ordered]
    text = json.dumps(data, indent=1, ensure_ascii=False)
    write_atomically(folder / "class.json", text + "\n")
    return ordered


def make_folder(course: Course, folder: Path, students: Sequence[Student]) -> None:
    """Make a course folder with the lesson and the students' submissions."""
    for path in (course.teacher(LESSON), course.learner(LESSON)):
        if not path.is_file():
            raise CourseError(
                f"{course.relative(path)} is missing: run `make build` first, which "
                "makes the notebooks"
            )
    try:
        if folder.exists():
            shutil.rmtree(folder)
        source = folder / "solutions" / LESSON
        source.mkdir(parents=True)
        shutil.copy(course.root / "nbgrader_config.py", folder)
        shutil.copy(course.teacher(LESSON), source)
    except OSError as error:
        raise CourseError(
            f"{error.filename} cannot be written or replaced ({error.strerror}): mend "
            "that and call again"
        ) from None
    learner = nbformat.read(course.learner(LESSON), as_version=4)
    for student in students:
        submit(folder, LESSON, learner, student)


def _graded(
    processes: Workers, folder: Path, students: Sequence[Student], console: Console
) -> Sequence[list[Result]]:
    tasks = [(folder, LESSON, student.name) for student in students]
    progress = Progress(
        TextColumn("student {task.completed} of {task.total}"),
        BarColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with progress:
        each = processes.each(steps.grade, tasks)
        return list(progress.track(each, total=len(tasks)))


def _add_remarks(path: Path, results: Sequence[Result]) -> None:
    """Add what was diagnosed to each student's line, each thing once.

    nbgrader writes the lines in the order in which the students came to be graded.
    """
    found: dict[str, list[str]] = {}
    for result in results:
        found.setdefault(result.student, []).append(result.diagnosis or "")
    with path.open(encoding="utf-8", newline="") as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    for student, words in found.items():
        rows[student]["remark"] = "; ".join(filter(None, dict.fromkeys(words)))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*next(iter(rows.values()))])
        writer.writeheader()
        writer.writerows(rows[student] for student in found)


def _print_places(console: Console, folder: str) -> None:
    places = {
        "gradebook.db": "the gradebook, for nbgrader and formgrader",
        "feedback/": "a page for each student",
        "grades.csv": "the totals, for a learning management system",
        "class.json": "the table above as data",
        "nbgrader.log": "what nbgrader said",
    }
    console.print(f"In {folder}:")
    for name, what in places.items():
        console.print(f"  {name:14}{what}", highlight=False)
