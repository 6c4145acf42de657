"""The verdicts on a class: from the journal, or judged now.

They are in the journal before anybody else gets them. Where grades are written to is
the subject of ``autograder.gradebook``.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import NamedTuple

from autograder.checking.result import ExerciseResult
from autograder.course import Course
from autograder.course.releases import known_releases, last_points
from autograder.grading import classroom
from autograder.grading.engine import unjudgeable_in_words, with_reading
from autograder.grading.identity import course_version, verdict_key
from autograder.grading.journal import Journal, JournalEntry
from autograder.grading.reading import spelled_out
from autograder.grading.release import load_release
from autograder.grading.result import (
    CodeResult,
    OptionalExercises,
    SubmissionResult,
)
from autograder.grading.submission import Submission
from autograder.grading.workers import GradingTask, GradingTaskResult, Settings

Judge = Callable[[Iterable[GradingTask]], Iterator[GradingTaskResult]]


@dataclass(frozen=True)
class GradedSubmission:
    """A submission with its result.

    entry : as it is in the journal
    is_new : False if the journal had this very result of this very file before
    fault : why the grader itself failed, if it did; there are no verdicts then
    code_result : the verdicts; None after a fault, and where nothing is new
    """

    submission: Submission
    entry: JournalEntry
    is_new: bool
    fault: str = ""
    code_result: CodeResult | None = None

    @cached_property
    def result(self) -> SubmissionResult:
        """The result, as data."""
        return SubmissionResult.from_json(self.entry.line)


class _Reading(NamedTuple):
    """A submission without verdicts so far, and the seconds that reading it took."""

    submission: Submission
    seconds: float


class Verdicts:
    """Finds the verdicts of one lesson."""

    def __init__(
        self,
        course: Course,
        settings: Settings,
        journal: Journal,
        *,
        anew: bool = False,
        dropped: Collection[str] = (),
        excuse_missing: Collection[str] = (),
        worth: Mapping[str, float] | None = None,
        optional: OptionalExercises = "extra",
    ) -> None:
        """Load the lesson; raises ``CourseError`` if it has no built notebook.

        anew : judge everything, whatever the journal knows
        dropped : exercises that count for nobody
        excuse_missing : students who are excused from what their files do not contain
        worth : points of exercises; of those that the lesson no longer has, this is
            what verdicts count for, or else what they had in the last release
        optional : how optional exercises count
        """
        self.course = course
        self.lesson = settings.lesson
        self.release = load_release(course, settings.lesson)
        self.releases = known_releases(course, settings.lesson, self.release.points)
        self.journal = journal
        self.anew = anew
        self.dropped = dropped
        self.excuse_missing = excuse_missing
        self.optional: OptionalExercises = optional
        self.worth = last_points(self.releases) | {**(worth or {})}
        self._seed = settings.seed
        self.version = course_version(course, settings.lesson)
        self._version = verdict_key(
            self.version,
            self._seed,
            None,
            isolated=settings.isolated,
            budget=settings.budget,
            limits=settings.limits,
            releases=self.releases,
        )
        self.recorded: set[str] = set()  # students whose result the journal has
        self._waiting: dict[str, list[_Reading]] = {}
        self._graded: deque[GradedSubmission] = deque()

    def each(self, students: Sequence[str], judge: Judge) -> Iterator[GradedSubmission]:
        """Yield each student's graded submission, in the order in which they finish.

        judge : judges those without verdicts in the journal, such as ``Workers.each``
        """
        for task_result in judge(self._tasks(students)):
            self._add(task_result)
            yield from self._finished()
        yield from self._finished()

    def _finished(self) -> Iterator[GradedSubmission]:
        while self._graded:
            yield self._graded.popleft()

    def _tasks(self, students: Sequence[str]) -> Iterator[GradingTask]:
        """Yield what is to be judged; the same code once, whoever has written it."""
        for student in students:
            start = perf_counter()
            path = classroom.submission_path(self.course, self.lesson, student)
            submission = Submission(self.release, student, path, self.releases)
            if unjudgeable := self._unjudgeable(submission):
                reason = unjudgeable_in_words(self.lesson, unjudgeable)
                fault = f"{spelled_out(student)!r} is not graded: {reason}"
                self._add_fault(submission, fault, reason)
                continue
            key = self._key(submission)
            if not self.anew and self._is_known(submission, key):
                continue
            reading = _Reading(submission, perf_counter() - start)
            if key in self._waiting:
                self._waiting[key].append(reading)
            else:
                self._waiting[key] = [reading]
                yield GradingTask(student, key, submission.code_cells)

    def _key(self, submission: Submission) -> str:
        key = self.journal.key_of(submission.digest, self._version)
        if not key:
            key = verdict_key(self._version, self._seed, submission.code_cells)
            self.journal.add_file(submission.digest, self._version, key)
        return key

    def _unjudgeable(self, submission: Submission) -> Collection[str]:
        """Return what should count for a submission, and has no verdict any more."""
        if not (unjudgeable := submission.unjudgeable - {*self.dropped}):
            return ()
        earlier = self._earlier(submission)
        return unjudgeable - {each.exercise for each in earlier}

    def _earlier(self, submission: Submission) -> tuple[ExerciseResult, ...]:
        """Return the verdicts that the same file got before.

        None are where its own release can be judged as a whole: none is needed.
        """
        if not submission.unjudgeable:
            return ()
        before = self.journal.latest_of(self.lesson, submission.student)
        if before is None or before.digest != submission.digest:
            return ()
        return SubmissionResult.from_json(before.line).exercises

    def _is_known(self, submission: Submission, key: str) -> bool:
        """Return whether the journal has the verdicts; if so, they are used."""
        entry = self.journal.latest_of(self.lesson, submission.student)
        if entry and (entry.digest, entry.key) == (submission.digest, key):
            graded = GradedSubmission(submission, entry, is_new=False)
            if self._is_counted_alike(graded):
                self.recorded.add(submission.student)
                self._graded.append(graded)
                return True
        code_result = self.journal.verdicts(key)
        if code_result:
            self._add_result(submission, key, code_result)
        return code_result is not None

    def _is_counted_alike(self, graded: GradedSubmission) -> bool:
        """Return whether the same exercises count for a submission as before."""
        result, student = graded.result, graded.submission.student
        if result != result.without(self.dropped):
            return False
        retired = [e for e in result.exercises if e.exercise not in self.release.points]
        if retired != self._as_worth_now(retired):
            return False
        names = [each.exercise for each in result.exercises]
        submission = graded.submission
        if result.optional != submission.optional(names, self.optional, "extra"):
            return False
        if result.left_out != submission.optional(names, self.optional, "left out"):
            return False
        if not result.excused and student not in self.excuse_missing:
            return True
        return result.excused == graded.submission.excused(
            names, excuse_missing=student in self.excuse_missing
        )

    def _as_worth_now(self, earlier: Iterable[ExerciseResult]) -> list[ExerciseResult]:
        """Return earlier verdicts with the points that the exercises had last."""
        return [
            each.out_of(self.worth.get(each.exercise, each.max_points))
            for each in earlier
        ]

    def _add(self, task_result: GradingTaskResult) -> None:
        """Add what a worker has judged, for all who have written the same."""
        key, code_result = task_result.task.key, task_result.code_result
        fault, readings = task_result.fault, self._waiting.pop(key)
        if code_result:
            times = with_reading(task_result.times, readings[0].seconds)
            try:
                self.journal.add_verdicts(key, code_result, times)
            except ValueError as error:  # what cannot be stored stops no class
                code_result, fault = None, f"{type(error).__name__}: {error}"
        for reading in readings:
            if code_result:
                self._add_result(reading.submission, key, code_result)
            else:
                self._add_fault(reading.submission, fault)

    def _add_result(
        self, submission: Submission, key: str, code_result: CodeResult
    ) -> None:
        before = self.journal.latest_of(self.lesson, submission.student)
        result = submission.result(
            code_result,
            self._earlier(submission),
            worth=self.worth,
            excuse_missing=submission.student in self.excuse_missing,
            optional=self.optional,
        )
        line = result.without(self.dropped).as_json()
        entry = JournalEntry(submission.student, submission.digest, key, line)
        if entry != before:
            self.journal.add_result(self.lesson, entry)
        self.recorded.add(submission.student)
        graded = GradedSubmission(
            submission, entry, is_new=True, code_result=code_result
        )
        self._graded.append(graded)

    def _add_fault(self, submission: Submission, fault: str, reason: str = "") -> None:
        """Add a fault of the grader without a key, so that it is tried again."""
        last_line = fault.strip().split("\n")[-1]
        reason = reason or f"the grader itself failed, please report this: {last_line}"
        result = SubmissionResult(
            submission.student, self.lesson, "invalid", (), reason
        )
        entry = JournalEntry(
            submission.student, submission.digest, "", result.as_json()
        )
        self.journal.add_result(self.lesson, entry)
        self.recorded.add(submission.student)
        self._graded.append(
            GradedSubmission(submission, entry, is_new=True, fault=fault)
        )

    def forget(self, students: Iterable[str]) -> None:
        """Record that these students have no submission any more."""
        for student in students:
            self.journal.add_result(self.lesson, JournalEntry(student, "", "", ""))
