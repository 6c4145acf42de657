"""Grade a lesson's submissions as nbgrader collects them, and write the results down.

``submitted/<student>/<lesson>/<lesson>.ipynb`` → ``build/grading/<lesson>.jsonl``, a
line for each student, in the order of their names; the times stand in a file beside it,
so that the results of the same submissions are the same bytes.
"""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from autograder.course import Course, CourseError, write_atomically
from autograder.grading.engine import SUBMITTED
from autograder.grading.inside.namespaces import Limits
from autograder.grading.master import load_master
from autograder.grading.result import Result
from autograder.grading.seed import course_seed
from autograder.grading.workers import Done, Settings, Task, Workers


def students_of(course: Course, lesson: str) -> list[str]:
    """Give the students who have handed something in for a lesson, sorted.

    Raises ``CourseError`` if there is nobody, or the folder cannot be read.
    """
    folder = course.root / SUBMITTED
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if not entry.name.startswith(".")]
        found = [name for name in names if os.path.lexists(folder / name / lesson)]
    except FileNotFoundError:
        found = []
    except OSError as error:
        raise CourseError(f"{SUBMITTED}/ cannot be read ({error.strerror})") from None
    if not found:
        raise CourseError(
            f"nobody has submitted {lesson}: a submission is the file {SUBMITTED}/"
            f"<student>/{lesson}/{lesson}.ipynb"
        )
    return sorted(found)


def tasks(course: Course, lesson: str, student: str = "") -> list[Task]:
    """Give the submissions to grade: the class's, or one student's."""
    students = students_of(course, lesson)
    if student and student not in students:
        known = ", ".join(students[:20]) + (" …" if len(students) > 20 else "")
        raise CourseError(
            f"{student} has submitted nothing for {lesson}; there are: {known}"
        )
    chosen = [student] if student else students
    return [Task(name, submission(course, lesson, name)) for name in chosen]


def submission(course: Course, lesson: str, student: str) -> Path:
    """Give where a student's notebook is: under its own name, or alone under another.

    A file that was renamed ("01 (1).ipynb") is still the student's work.
    """
    folder = course.root / SUBMITTED / student / lesson
    path = folder / f"{lesson}.ipynb"
    if os.path.lexists(path) or folder.is_symlink() or folder.parent.is_symlink():
        return path
    try:
        others = [
            entry
            for entry in folder.iterdir()
            if entry.suffix.lower() == ".ipynb" and not entry.name.startswith(".")
        ]
    except OSError:
        return path
    return others[0] if len(others) == 1 else path


def default_jobs() -> int:
    """Give how many submissions to grade at a time on this machine.

    One for each processor, as long as all their limits on memory fit together.
    """
    limits = Limits()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    worst = limits.memory * limits.processes + 2 * limits.disk
    return max(1, min(len(os.sched_getaffinity(0)), memory // worst))


@contextmanager
def grading(
    course: Course, lesson: str, jobs: int, isolated: bool
) -> Iterator[Workers]:
    """Start what grades a lesson; raises ``CourseError`` if it has no notebook."""
    load_master(course, lesson)
    settings = Settings(lesson, course_seed(course), jobs, isolated)
    with Workers(course, settings) as workers:
        yield workers


class Results:
    """The results of a class so far; written whole, with those of earlier runs.

    path : of the results; the times stand beside it
    """

    def __init__(self, path: Path) -> None:
        """Take what an earlier run has written there."""
        self.path = path
        self.times_path = path.with_suffix(".times.jsonl")
        self._lines = _read(path)
        self._times = _read(self.times_path)

    def add(self, done: Done) -> None:
        """Take one result."""
        assert done.result is not None
        student = done.task.student
        self._lines[student] = done.result.as_json()
        rounded = {name: round(seconds, 4) for name, seconds in done.times.items()}
        self._times[student] = json.dumps({"student": student, "seconds": rounded})

    def keep(self, students: Sequence[str]) -> None:
        """Forget who has no submission any more."""
        for lines in (self._lines, self._times):
            for student in {*lines} - {*students}:
                del lines[student]

    def write(self) -> None:
        """Write both files; raises ``CourseError`` if that cannot be done."""
        try:
            for path, lines in (
                (self.path, self._lines),
                (self.times_path, self._times),
            ):
                ordered = [lines[student] for student in sorted(lines)]
                write_atomically(path, "".join(line + "\n" for line in ordered))
        except OSError as error:
            raise CourseError(
                f"the results could not be written to {self.path} ({error.strerror}); "
                "what stood there is as it was"
            ) from None


def _read(path: Path) -> dict[str, str]:
    """Give the lines of an earlier run by student; broken ones are done anew."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return {}
    found = {}
    for line in text.split("\n"):
        try:
            found[str(json.loads(line)["student"])] = line
        except (ValueError, LookupError, TypeError):
            continue
    return found


def invalid(done: Done, lesson: str) -> Result:
    """Give the result of a submission over which the grader itself failed."""
    last = done.fault.strip().split("\n")[-1]
    reason = f"the grader itself failed, please report this: {last}"
    return Result(done.task.student, lesson, "invalid", (), reason)
