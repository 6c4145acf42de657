"""Grade for nbgrader: ``nbgrader autograde`` and formgrader's button ask here.

What is started once stays warm, so that a second click costs no start. nbgrader itself
writes the autograded notebook; its gradebook is written here.
"""

import atexit
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

from autograder.course import Course, CourseError
from autograder.gradebook.autograded import autograded_notebook
from autograder.gradebook.database import Gradebook
from autograder.gradebook.folders import graded_path, write_autograded
from autograder.gradebook.writing import Entry, entry_of, id_fault
from autograder.grading import classroom
from autograder.grading.identity import course_seed, course_version
from autograder.grading.journal import Journal
from autograder.grading.verdicts import Graded, Verdicts
from autograder.grading.workers import Settings, Workers

BETWEEN_BATCHES = 5.0  # seconds


class Records:
    """The records of one lesson.

    fault : why the last batch is not in the gradebook, "" if it is
    """

    def __init__(
        self, course: Course, lesson: str, journal: Journal, gradebook: Gradebook | None
    ) -> None:
        """Take the gradebook, if it is to be written; the lesson is open there."""
        self.course = course
        self.lesson = lesson
        self.journal = journal
        self.gradebook = gradebook
        self.fault = ""
        self._batch: list[Entry] = []
        self._written = monotonic()

    def keep(self, graded: Graded) -> None:
        """Write a submission's autograded notebook, and its grades with a batch."""
        if graded.fault:
            return
        student = graded.submission.student
        timestamp = graded.submission.timestamp
        if graded.fresh or not graded_path(self.course, self.lesson, student).is_file():
            text = self.autograded(graded)
            write_autograded(self.course, self.lesson, student, text, timestamp)
        self._batch.append(entry_of(graded.result, timestamp))
        if monotonic() - self._written > BETWEEN_BATCHES:
            self.flush()

    def enter(self, graded: Graded) -> None:
        """Write a submission's grades now; raises ``CourseError`` if that fails."""
        if self.gradebook:
            entry = entry_of(graded.result, graded.submission.timestamp)
            self.gradebook.enter(self.lesson, [entry])

    def autograded(self, graded: Graded) -> str:
        """Give the text of a submission's autograded notebook."""
        judged = graded.judged or self.journal.verdicts(graded.kept.key)
        outputs = judged.outputs if judged else {}
        placed = graded.submission.placed
        return autograded_notebook(self.course, placed, graded.result, outputs)

    def flush(self) -> None:
        """Write the batch; one that could not be written goes with the next."""
        if self.gradebook and self._batch:
            try:
                self.gradebook.enter(self.lesson, self._batch)
                self._batch, self.fault = [], ""
            except CourseError as error:
                self.fault = str(error)
        self._written = monotonic()


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


# MERGED autograder.gradebook.records: Write what came of a class to where people look: autograded notebooks, gradebook.
#
#   The gradebook is written in batches; whatever a killed run has left out, the next one
#   adds, since only differences are written.
#
