"""Find the verdicts on a class: in the journal, or by having them judged.

What is found is in the journal before anybody hears of it. Where grades are written to
is the work of ``autograder.gradebook``.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter

from autograder.course import Course
from autograder.grading import classroom
from autograder.grading.engine import with_reading
from autograder.grading.identity import course_version, key
from autograder.grading.journal import Journal, JournalEntry
from autograder.grading.release import load_release
from autograder.grading.result import CodeResult, SubmissionResult
from autograder.grading.submission import Submission
from autograder.grading.workers import GradingTask, GradingTaskResult, Settings

Judge = Callable[[Iterable[GradingTask]], Iterator[GradingTaskResult]]


@dataclass(frozen=True)
class GradedSubmission:
    """What came of one submission.

    kept : as it stands in the journal
    fresh : False if the journal had this very result of this very file before
    fault : why the grader itself failed, if it did; there are no verdicts then
    judged : the verdicts; None after a fault, and where nothing is fresh
    """

    submission: Submission
    kept: JournalEntry
    fresh: bool
    fault: str = ""
    judged: CodeResult | None = None

    @cached_property
    def result(self) -> SubmissionResult:
        """The result, as data."""
        return SubmissionResult.from_json(self.kept.line)


class Verdicts:
    """Finds the verdicts of one lesson."""

    def __init__(
        self,
        course: Course,
        settings: Settings,
        journal: Journal,
        *,
        anew: bool = False,
    ) -> None:
        """Read the lesson; raises ``CourseError`` if it has no built notebook.

        anew : have everything judged, whatever the journal knows
        """
        self.course = course
        self.lesson = settings.lesson
        self.release = load_release(course, settings.lesson)
        self.journal = journal
        self.anew = anew
        self._seed = settings.seed
        self._ways = {
            "isolated": settings.isolated,
            "budget": settings.budget,
            "limits": settings.limits,
        }
        self.version = course_version(course, settings.lesson)
        self._version = key(self.version, self._seed, None, **self._ways)
        self._waiting: dict[str, list[tuple[Submission, float]]] = {}
        self._found: deque[GradedSubmission] = deque()

    def each(self, students: Sequence[str], judge: Judge) -> Iterator[GradedSubmission]:
        """Give what comes of each student's submission, as it comes.

        judge : what judges those that nobody knows yet, such as ``Workers.each``
        """
        for done in judge(self._tasks(students)):
            self._take(done)
            yield from self._those_found()
        yield from self._those_found()

    def _those_found(self) -> Iterator[GradedSubmission]:
        while self._found:
            yield self._found.popleft()

    def _tasks(self, students: Sequence[str]) -> Iterator[GradingTask]:
        """Give what is to be judged; the same code once, whoever has written it."""
        for student in students:
            start = perf_counter()
            path = classroom.submission(self.course, self.lesson, student)
            submission = Submission(self.release, student, path)
            name = self._key(submission)
            if not self.anew and self._is_known(submission, name):
                continue
            waiting = submission, perf_counter() - start
            if name in self._waiting:
                self._waiting[name].append(waiting)
            else:
                self._waiting[name] = [waiting]
                yield GradingTask(student, name, submission.code_cells)

    def _key(self, submission: Submission) -> str:
        name = self.journal.key_of(submission.digest, self._version)
        if not name:
            name = key(self._version, self._seed, submission.code_cells)
            self.journal.add_file(submission.digest, self._version, name)
        return name

    def _is_known(self, submission: Submission, name: str) -> bool:
        before = self.journal.kept(self.lesson, submission.student)
        if before and (before.digest, before.key) == (submission.digest, name):
            self._found.append(GradedSubmission(submission, before, fresh=False))
            return True
        judged = self.journal.verdicts(name)
        if judged:
            self._keep(submission, name, judged)
        return judged is not None

    def _take(self, done: GradingTaskResult) -> None:
        """Keep what a worker has found, for all who have written the same."""
        waiting = self._waiting.pop(done.task.key)
        if done.judged:
            reading = waiting[0][1]
            times = with_reading(done.times, reading)
            self.journal.add_verdicts(done.task.key, done.judged, times)
        for submission, _ in waiting:
            if done.judged:
                self._keep(submission, done.task.key, done.judged)
            else:
                self._keep_fault(submission, done.fault)

    def _keep(self, submission: Submission, name: str, judged: CodeResult) -> None:
        line = submission.result(judged).as_json()
        kept = JournalEntry(submission.student, submission.digest, name, line)
        if kept != self.journal.kept(self.lesson, kept.student):
            self.journal.add_result(self.lesson, kept)
        self._found.append(
            GradedSubmission(submission, kept, fresh=True, judged=judged)
        )

    def _keep_fault(self, submission: Submission, fault: str) -> None:
        """Write a fault of the grader's down without a key: it is tried again."""
        last = fault.strip().split("\n")[-1]
        reason = f"the grader itself failed, please report this: {last}"
        result = SubmissionResult(
            submission.student, self.lesson, "invalid", (), reason
        )
        kept = JournalEntry(submission.student, submission.digest, "", result.as_json())
        self.journal.add_result(self.lesson, kept)
        self._found.append(GradedSubmission(submission, kept, fresh=True, fault=fault))

    def forget(self, students: Iterable[str]) -> None:
        """Say that these students have no submission any more."""
        for student in students:
            self.journal.add_result(self.lesson, JournalEntry(student, "", "", ""))
