"""The demo's class, graded as ``autograder grade`` does it, but told in one bar.

The verdicts are in the demo's own journal, the grades in its gradebook.
"""

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from autograder.course import Course, CourseError
from autograder.demo.students import LESSON
from autograder.gradebook.database import Gradebook
from autograder.gradebook.records import Records
from autograder.grading import classroom
from autograder.grading.journal import Journal
from autograder.grading.result import Result
from autograder.grading.sandbox import NoSandbox
from autograder.grading.seed import course_seed
from autograder.grading.verdicts import Verdicts
from autograder.grading.workers import Settings, Workers

UNSAFE = (
    "There is no sandbox here (`autograder grade 01` says why). The sample class is "
    "the course's own, so it is graded without one."
)


def grade(course: Course, console: Console) -> list[Result]:
    """Grade the class of a demo's folder; give the results, sorted by student.

    Raises ``CourseError`` if a grade could not be found or written.
    """
    Gradebook(course).open_lesson(LESSON)
    try:
        return _grade(course, console)
    except NoSandbox:
        console.print(UNSAFE, highlight=False)
        return _grade(course, console, isolated=False)


def _grade(course: Course, console: Console, *, isolated: bool = True) -> list[Result]:
    students = classroom.chosen(course, LESSON)
    jobs = classroom.default_jobs()
    settings = Settings(LESSON, course_seed(course), jobs, isolated)
    with Journal(course) as journal:
        records = Records(course, LESSON, journal, Gradebook(course))
        verdicts = Verdicts(course, settings, journal)
        with Workers(course, settings) as workers, _progress(console) as progress:
            found = verdicts.each(students, workers.each)
            for graded in progress.track(found, total=len(students)):
                if graded.fault:
                    raise CourseError(graded.result.reason)
                records.keep(graded)
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
