"""A class as nbgrader collects it, and the files of its results.

``submitted/<student>/<lesson>/<lesson>.ipynb`` → ``build/grading/<lesson>.jsonl``, a
line for each student, in the order of their names. The times are in a file of their
own, so that the results of the same submissions are the same bytes.
"""

import json
import os
from pathlib import Path

from autograder.course import Course, CourseError, write_lines
from autograder.grading.inside.isolation import Limits
from autograder.grading.journal import Journal
from autograder.grading.reading import spelled_out
from autograder.grading.submission import SUBMITTED, notebooks_in


def students_of(course: Course, lesson: str) -> list[str]:
    """Return the students who have handed something in for a lesson, sorted.

    Raises ``CourseError`` if there is nobody, or the folder cannot be read.
    """
    folder = course.root / SUBMITTED
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if not entry.name.startswith(".")]
        students = [name for name in names if os.path.lexists(folder / name / lesson)]
    except FileNotFoundError:
        students = []
    except OSError as error:
        raise CourseError(f"{SUBMITTED}/ cannot be read ({error.strerror})") from None
    if not students:
        raise CourseError(
            f"nobody has submitted {lesson}: a submission is the file {SUBMITTED}/"
            f"<student>/{lesson}/{lesson}.ipynb"
        )
    return sorted(students)


def chosen_students(course: Course, lesson: str, student: str = "") -> list[str]:
    """Return the students to grade: the class, or one."""
    students = students_of(course, lesson)
    if student and student not in students:
        known = ", ".join(map(spelled_out, students[:20])) + (
            " …" if len(students) > 20 else ""
        )
        raise CourseError(
            f"{spelled_out(student)} has submitted nothing for {lesson}; there are: "
            f"{known}"
        )
    return [student] if student else students


def submission_path(course: Course, lesson: str, student: str) -> Path:
    """Return the path of a student's notebook: the lesson's name, or the only notebook.

    A file that was renamed ("01 (1).ipynb") is still the student's work. Which one was
    taken where that is not plain, ``submission.choice_of_notebook`` says.
    """
    folder = course.root / SUBMITTED / student / lesson
    path = folder / f"{lesson}.ipynb"
    if os.path.lexists(path):
        return path
    notebooks = notebooks_in(folder)
    return notebooks[0] if len(notebooks) == 1 else path


def default_jobs() -> int:
    """Return how many submissions to grade at a time on this machine.

    One for each processor, as long as all their limits on memory fit together.
    """
    limits = Limits()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    worst = limits.memory * limits.processes + 2 * limits.disk
    return max(1, min(processors(), memory // worst))


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # macOS


def write_results(path: Path, journal: Journal, lesson: str) -> None:
    """Write a class's results and times, a line of JSON for each student.

    path : of the results; the times are in a file next to it

    Raises ``CourseError`` if that cannot be done.
    """
    rows = (
        json.dumps({"student": name, "seconds": seconds})
        for name, seconds in journal.times(lesson)
    )
    try:
        write_lines(path, (entry.line for entry in journal.latest(lesson)))
        write_lines(path.with_suffix(".times.jsonl"), rows)
    except OSError as error:
        raise CourseError(
            f"the results could not be written to {path} ({error.strerror}); what "
            "stood there is as it was"
        ) from None
