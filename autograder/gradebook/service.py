"""Grade for nbgrader: ``nbgrader autograde`` and formgrader's button call this service.

``GradeRecords`` writes what grading gives to where people look: autograded notebooks
and the gradebook. ``autograder grade`` uses it too. ``Service`` grades one submission
at a time; what it starts stays warm, so that a second click costs no start. There
nbgrader itself writes the autograded notebook.
"""

import atexit
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

from autograder.course import Course, CourseError
from autograder.gradebook.autograded import autograded_notebook
from autograder.gradebook.database import Gradebook
from autograder.gradebook.folders import autograded_path, write_autograded
from autograder.gradebook.settings import optional_exercises
from autograder.gradebook.writing import (
    GradebookEntry,
    gradebook_entry,
    student_id_fault,
)
from autograder.grading import classroom
from autograder.grading.budget import Budget
from autograder.grading.identity import course_seed, course_version
from autograder.grading.journal import Journal
from autograder.grading.reading import spelled_out
from autograder.grading.verdicts import GradedSubmission, Verdicts
from autograder.grading.workers import Settings, Workers

BETWEEN_BATCHES = 1.0  # seconds: what is written is then printed
MAX_IDLE = 600.0  # seconds after which a warm worker ends without a request


class GradeRecords:
    """The records of one lesson.

    The gradebook is written in batches; what a killed run has left out, the next one
    adds, since only differences are written.

    fault : why the last batch is not in the gradebook, "" if it is
    """

    def __init__(
        self, course: Course, lesson: str, journal: Journal, gradebook: Gradebook | None
    ) -> None:
        """Keep what to write to.

        gradebook : with the lesson open in it; None if it is not to be written
        """
        self.course = course
        self.lesson = lesson
        self.journal = journal
        self.gradebook = gradebook
        self.fault = ""
        self._batch: list[GradebookEntry] = []
        self._written = monotonic()

    def add(self, graded: GradedSubmission) -> None:
        """Write a submission's autograded notebook now, its grades with a batch."""
        if graded.fault:
            return
        submission = graded.submission
        student, timestamp = submission.student, submission.timestamp
        path = autograded_path(self.course, self.lesson, student)
        is_written = path.is_file() and not graded.is_new
        # The same notebook, handed in again, has another time and another secret.
        write_autograded(
            self.course,
            self.lesson,
            student,
            None if is_written else self.autograded(graded),
            timestamp,
            submission.secret,
        )
        self._batch.append(gradebook_entry(graded.result, timestamp))
        if monotonic() - self._written > BETWEEN_BATCHES:
            self.flush()

    @property
    def n_waiting(self) -> int:
        """How many students' grades go with the next batch."""
        return len(self._batch) if self.gradebook else 0

    def flush(self) -> None:
        """Write the batch; one that could not be written goes with the next."""
        if self.gradebook and self._batch:
            try:
                self.gradebook.enter(self.lesson, self._batch)
                self._batch, self.fault = [], ""
            except CourseError as error:
                self.fault = str(error)
        self._written = monotonic()

    def enter(self, graded: GradedSubmission) -> None:
        """Write a submission's grades now; raises ``CourseError`` if that fails."""
        if self.gradebook:
            entry = gradebook_entry(graded.result, graded.submission.timestamp)
            self.gradebook.enter(self.lesson, [entry])

    def autograded(self, graded: GradedSubmission) -> str:
        """Return the text of a submission's autograded notebook."""
        code_result = graded.code_result or self.journal.verdicts(graded.entry.key)
        outputs = code_result.outputs if code_result else {}
        cells = graded.submission.cells
        return autograded_notebook(self.course, cells, graded.result, outputs)


class Service:
    """Grades submissions of one course folder, one lesson after another."""

    def __init__(self, course: Course, budget: Budget | None = None) -> None:
        """Start nothing yet.

        budget : what a submission may take
        """
        self.course = course
        self.budget = budget or Budget()
        self._version = ""
        self._requested: set[tuple[str, str]] = set()
        self._workers: Workers | None = None

    def autograded(self, lesson: str, student: str, expected: Sequence[str]) -> str:
        """Grade a submission, enter its points, return its autograded notebook's text.

        expected : students who will be requested too: judged side by side with this one

        Raises ``CourseError`` if it cannot be graded here, or not be entered.
        """
        if fault := student_id_fault(student):
            raise CourseError(f"{spelled_out(student)!r} is not graded: {fault}")
        with Journal(self.course) as journal:
            gradebook = Gradebook(self.course)
            gradebook.open_lesson(lesson)
            records = GradeRecords(self.course, lesson, journal, gradebook)
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
    ) -> GradedSubmission:
        jobs = min(classroom.default_jobs(), max(1, len(expected)))
        settings = Settings(
            lesson, course_seed(self.course), jobs, budget=self.budget, idle=MAX_IDLE
        )
        gradebook = Gradebook(self.course)
        verdicts = Verdicts(
            self.course,
            settings,
            journal,
            dropped=gradebook.dropped(lesson),
            excuse_missing=gradebook.excused_students(lesson),
            worth=gradebook.worth(lesson),
            optional=optional_exercises(self.course),
        )
        workers = self._warm_workers(settings)
        others = [
            each
            for each in expected
            if each != student
            and (lesson, each) not in self._requested
            and not student_id_fault(each)
        ]
        self._requested |= {(lesson, each) for each in [student, *others]}
        try:
            by_student = {
                graded.submission.student: graded
                for graded in verdicts.each([student, *others], workers.each)
                if graded.submission.student == student
            }
        except BaseException:  # what was under way would answer the next call
            self.close()
            raise
        return by_student[student]

    def _warm_workers(self, settings: Settings) -> Workers:
        """Return workers that know the lesson as it is now."""
        version = course_version(self.course, settings.lesson)
        if self._workers is None or self._version != version:
            self.close()
            self._workers = Workers(self.course, settings)
            self._version = version
        return self._workers


_services: dict[tuple[Path, Budget], Service] = {}


def service(root: Path, budget: Budget | None = None) -> Service:
    """Return the service of a course folder; this process has one for each budget."""
    key = root, budget or Budget()
    if key not in _services:
        _services[key] = Service(Course(root), key[1])
        atexit.register(_services[key].close)
    return _services[key]
