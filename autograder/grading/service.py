"""Grade for nbgrader: ``nbgrader autograde`` and formgrader's button ask here.

What is started once stays warm, so that a second click costs no start. nbgrader itself
writes the autograded notebook; its gradebook is written here.
"""

import atexit
from collections.abc import Sequence
from pathlib import Path

from autograder.course import Course, CourseError
from autograder.gradebook.database import Gradebook, id_fault
from autograder.gradebook.records import Records
from autograder.grading import classroom
from autograder.grading.identity import course_version
from autograder.grading.journal import Journal
from autograder.grading.seed import course_seed
from autograder.grading.verdicts import Graded, Verdicts
from autograder.grading.workers import Settings, Workers

IDLE = 600.0  # seconds after which a warm worker ends that nobody has asked
_services: dict[Path, "Service"] = {}


def service(root: Path) -> "Service":
    """Give the service of a course folder; this process keeps one for each."""
    if root not in _services:
        _services[root] = Service(Course(root))
        atexit.register(_services[root].close)
    return _services[root]


class Service:
    """Grades submissions of one course folder, one lesson after another."""

    def __init__(self, course: Course) -> None:
        """Start nothing yet."""
        self.course = course
        self._version = ""
        self._asked: set[tuple[str, str]] = set()
        self._workers: Workers | None = None

    def autograded(self, lesson: str, student: str, expected: Sequence[str]) -> str:
        """Grade a submission, enter its points, give its autograded notebook's text.

        expected : students that are going to be asked for: judged with this one, side
            by side

        Raises ``CourseError`` if it cannot be graded here, or not be entered.
        """
        if fault := id_fault(student):
            raise CourseError(f"{student!r} is not graded: {fault}")
        with Journal(self.course) as journal:
            gradebook = Gradebook(self.course)
            gradebook.open_lesson(lesson)
            records = Records(self.course, lesson, journal, gradebook)
            graded = self._graded(lesson, journal, student, expected)
            if graded.fault:
                raise CourseError(f"the grader itself failed: {graded.fault}")
            records.enter(graded)
            return records.autograded(graded)

    def close(self) -> None:
        """End what has been started."""
        if self._workers:
            self._workers.__exit__()
        self._workers = None

    def _graded(
        self, lesson: str, journal: Journal, student: str, expected: Sequence[str]
    ) -> Graded:
        jobs = min(classroom.default_jobs(), max(1, len(expected)))
        settings = Settings(lesson, course_seed(self.course), jobs, idle=IDLE)
        verdicts = Verdicts(self.course, settings, journal)
        workers = self._warm(settings)
        others = [
            each
            for each in expected
            if each != student
            and (lesson, each) not in self._asked
            and not id_fault(each)
        ]
        self._asked |= {(lesson, each) for each in [student, *others]}
        try:
            found = {
                graded.submission.student: graded
                for graded in verdicts.each([student, *others], workers.each)
                if graded.submission.student == student
            }
        except BaseException:  # what was under way would answer the next call
            self.close()
            raise
        return found[student]

    def _warm(self, settings: Settings) -> Workers:
        """Give workers that know the lesson as it is now."""
        version = course_version(self.course, settings.lesson)
        if self._workers is None or self._version != version:
            self.close()
            self._workers = Workers(self.course, settings)
            self._version = version
        return self._workers
