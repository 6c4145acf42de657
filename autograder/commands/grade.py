"""``autograder grade``: a class.

Verdicts come from ``grading.verdicts``, and ``gradebook.service`` writes the grades;
here a class's progress is printed, and Ctrl-C stops cleanly.
"""

import difflib
import platform
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rich import progress as bars
from rich.console import Console
from rich.text import Text

from autograder.checking.points import format_number
from autograder.checking.result import ExerciseResult
from autograder.commands import terminal
from autograder.course import Course, CourseError, output_file
from autograder.gradebook.database import Gradebook
from autograder.gradebook.grades import Grade, StudentGrades
from autograder.gradebook.service import GradeRecords
from autograder.gradebook.settings import optional_exercises, seconds_per_submission
from autograder.gradebook.student_feedback import format_lateness
from autograder.gradebook.writing import student_id_fault
from autograder.grading import classroom
from autograder.grading.budget import Budget
from autograder.grading.identity import course_seed, renew_seed
from autograder.grading.inside import seccomp
from autograder.grading.journal import Journal
from autograder.grading.reading import spelled_out
from autograder.grading.result import SubmissionResult
from autograder.grading.verdicts import GradedSubmission, Verdicts
from autograder.grading.workers import (
    GradingTask,
    GradingTaskResult,
    Settings,
    Workers,
    interrupts_ignored,
)
from autograder.messages.report import solved_but

INTERRUPTED = 130
UNSAFE = (
    "--no-sandbox: submissions run with your rights; they can read and change whatever "
    "you can, this gradebook and the other submissions too"
)

UNFILTERED = (
    f"system calls are not filtered on this machine ({platform.machine()}): the "
    "sandbox holds as far as its kernel has no faults; `autograder doctor` says more"
)


@dataclass(frozen=True)
class GradeOptions:
    """How a class is to be graded.

    jobs : submissions at a time
    student : the only one to grade, "" for all
    isolated : False is ``--no-sandbox``
    anew : judge again what the journal knows
    new_inputs : replace the course's seed first
    gradebook : whether to write the gradebook
    cluster : address of a Dask scheduler, "" to grade here
    output : file for the results
    seconds : that all of a submission may take; None: as nbgrader's configuration says
    excuse_missing : whether exercises that a submission does not contain are excused;
        None: as it was said before
    """

    jobs: int = 1
    student: str = ""
    isolated: bool = True
    anew: bool = False
    new_inputs: bool = False
    gradebook: bool = True
    cluster: str = ""
    output: str = ""
    seconds: float | None = None
    excuse_missing: bool | None = None


def grade(course: Course, lesson: str, options: GradeOptions) -> int:
    """Grade a class and print it as it goes; return the exit code.

    0: everything is graded. 1: something is not, and stderr says what. 130: Ctrl-C;
    what was graded until then is kept, and the next call goes on from there.
    """
    lesson = course.find_lesson(lesson, built=True)
    students = classroom.chosen_students(course, lesson, options.student)
    if options.new_inputs and options.student:
        raise CourseError(
            "--new-inputs is for a whole class, so that all have the same: leave "
            "--student out"
        )
    path = course.root / f"build/grading/{lesson}.jsonl"
    if options.output:
        path = output_file(Path(options.output))
    with Journal(course) as journal:
        classroom.write_results(path, journal, lesson)  # fails early if it must fail
        if options.new_inputs:  # a call that failed above leaves the seed
            renew_seed(course)
        run = _Run(course, lesson, students, options, journal)
        code = run.grade()
        gone: set[str] = set()
        if not options.student and code != INTERRUPTED:
            gone = {entry.student for entry in journal.latest(lesson)} - {*students}
            run.verdicts.forget(gone)
        if run.n_new or gone:
            classroom.write_results(path, journal, lesson)
    run.print_summary(path)
    return code or int(run.is_incomplete)


def budget_of(course: Course, seconds: float | None) -> Budget:
    """Return what a submission may take."""
    return Budget(submission=seconds or seconds_per_submission(course))


class Judges(Protocol):
    """Judges tasks: processes of this machine, or a cluster."""

    def each(self, tasks: Iterable[GradingTask]) -> Iterator[GradingTaskResult]:
        """Yield results in the order in which they finish."""


class _Run:
    """One run of ``autograder grade``, and what it prints."""

    def __init__(
        self,
        course: Course,
        lesson: str,
        students: Sequence[str],
        options: GradeOptions,
        journal: Journal,
    ) -> None:
        self.course, self.lesson, self.options = course, lesson, options
        self.settings = Settings(
            lesson,
            course_seed(course),
            options.jobs,
            options.isolated,
            budget_of(course, options.seconds),
        )
        gradebook = self._gradebook()
        self.records = GradeRecords(course, lesson, journal, gradebook)
        self.verdicts = Verdicts(
            course,
            self.settings,
            journal,
            anew=options.anew,
            dropped=gradebook.dropped(lesson) if gradebook else (),
            excuse_missing=self._excused(gradebook, students),
            worth=gradebook.worth(lesson) if gradebook else {},
            optional=optional_exercises(course),
        )
        faults = {student: student_id_fault(student) for student in students}
        self.faults = {student: fault for student, fault in faults.items() if fault}
        self.students = [each for each in students if each not in self.faults]
        self.n_known = self.n_invalid = self.n_flagged = self.n_copied = 0
        self.unknown_students = _not_on_the_roster(gradebook, self.students)
        self._waits = bool(gradebook and gradebook.has_more_than_verdicts(lesson))
        self._unprinted: list[SubmissionResult] = []
        self.start = time.monotonic()

    def _gradebook(self) -> Gradebook | None:
        if not self.options.gradebook:
            return None
        gradebook = Gradebook(self.course)
        for sentence in gradebook.open_lesson(self.lesson):
            terminal.warn(sentence)
        return gradebook

    def _excused(
        self, gradebook: Gradebook | None, students: Sequence[str]
    ) -> Collection[str]:
        """Return who is excused from what is missing; keep it if it is new."""
        excuse = self.options.excuse_missing
        if gradebook is None:
            return students if excuse else ()
        if excuse is not None:
            gradebook.excuse_missing(self.lesson, students, excuse=excuse)
        return gradebook.excused_students(self.lesson)

    def grade(self) -> int:
        """Grade all students; return 0, or 130 after Ctrl-C."""
        if not self.options.isolated:
            terminal.warn(UNSAFE)
        elif platform.machine() not in seccomp.MACHINES and not self.options.cluster:
            terminal.warn(UNFILTERED)
        for student, fault in self.faults.items():
            terminal.warn(f"{spelled_out(student)!r} is not graded: {fault}")
        for sentence in self.unknown_students:
            terminal.warn(sentence)
        code = 0
        try:
            with _progress() as progress, self._judges() as judges:
                bar = progress.add_task(self.lesson, total=len(self.students))
                for graded in self.verdicts.each(self.students, judges.each):
                    self._add(graded)
                    progress.advance(bar)
        except KeyboardInterrupt:
            code = INTERRUPTED
        with interrupts_ignored():  # a second Ctrl-C would leave half a batch behind
            self.records.flush()
            self._print()
        return code

    def _judges(self) -> AbstractContextManager[Judges]:
        if self.options.cluster:
            from autograder.grading.dask.cluster import Cluster  # Dask: an extra

            cluster = self.options.cluster
            return Cluster(self.course, self.settings, cluster, terminal.warn)
        return Workers(self.course, self.settings)

    def _add(self, graded: GradedSubmission) -> None:
        if graded.fault:
            self.faults[graded.submission.student] = graded.fault
            terminal.warn(graded.fault)
        self.records.add(graded)
        result = graded.result
        self.n_known += not graded.is_new
        self.n_invalid += result.status == "invalid"
        self.n_flagged += bool(result.flags)
        self.n_copied += bool(result.as_in_solutions)
        if graded.submission.choice:
            who = spelled_out(result.student)
            terminal.warn(f"{who}: {graded.submission.choice}")
        self._unprinted.append(result)
        if not self._waits or not self.records.n_waiting:
            self._print()

    def _print(self) -> None:
        """Print the rows of whose grades are written, as the gradebook has them."""
        gradebook, grades = self.records.gradebook, {}
        if gradebook and self._waits and not self.records.fault:
            students = [result.student for result in self._unprinted]
            grades = gradebook.grades(self.lesson, students)
        for result in self._unprinted:
            terminal.say(line(result, grades.get(result.student)), flush=True)
        self._unprinted.clear()

    @property
    def n_graded(self) -> int:
        """How many have a result, though Ctrl-C came before it was printed."""
        return len(self.verdicts.recorded)

    @property
    def n_new(self) -> int:
        """How many have a result that they had not before."""
        return self.n_graded - self.n_known

    @property
    def is_incomplete(self) -> bool:
        """Whether something is not graded, or not written."""
        return bool(self.faults or self.records.fault)

    def print_summary(self, path: Path) -> None:
        """Print how it has gone, and how to go on."""
        seconds = time.monotonic() - self.start
        per_second = self.n_new / seconds if seconds else 0.0
        submissions = terminal.counted(self.n_graded, "submission")
        terminal.say(
            f"{submissions} in {seconds:.1f} s ({per_second:.1f}/s), "
            f"{self.n_known} of them as before, {self.n_invalid} "
            f"invalid, {self.n_flagged} for review, {self.n_copied} with answers as in "
            f"the solutions. Written: {path}"
        )
        for note in self.records.gradebook.notes if self.records.gradebook else ():
            terminal.warn(note)
        n_left = len(self.students) - self.n_graded
        command = f"`autograder grade {self.lesson[:2]}`"
        if n_left:
            terminal.warn(
                f"Stopped with {n_left} left: what is graded is kept; {command} goes "
                "on."
            )
        if self.records.fault:
            terminal.warn(
                f"{self.records.fault}. The verdicts are kept: mend that, and "
                f"{command} writes the grades without grading anew."
            )


def _not_on_the_roster(
    gradebook: Gradebook | None, students: Sequence[str]
) -> list[str]:
    """Return a sentence for each folder that is no student of a roster; often a typo.

    Where nobody in the gradebook has a name, no roster was entered.
    """
    people = gradebook.people() if gradebook else {}
    if not any(each.first_name or each.last_name for each in people.values()):
        return []
    sentences = []
    for student in students:
        if student not in people:
            close = difflib.get_close_matches(student, people, n=1)
            meant = f" (do you mean {spelled_out(close[0])!r}?)" if close else ""
            sentences.append(
                f"{spelled_out(student)!r} is not on the roster{meant}: it is graded, "
                "and becomes a student of the gradebook"
            )
    return sentences


class _SpeedColumn(bars.ProgressColumn):
    """Submissions per second so far."""

    def render(self, task: bars.Task) -> Text:
        return Text(f"{task.finished_speed or task.speed or 0:.1f}/s")


def _progress() -> bars.Progress:
    console = Console(stderr=True)
    return bars.Progress(
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        _SpeedColumn(),
        bars.TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def line(result: SubmissionResult, grades: StudentGrades | None = None) -> str:
    """Return a student's row: points, what stands out, and why nothing was graded.

    grades : as the gradebook has them, if it has: penalties and a person's count there
    """
    points, max_points = result.points, result.max_points
    marks = []
    if grades and grades.submitted:
        points, max_points = grades.points, grades.max_points
        marks += changes_by_people(grades)
    who, worth = spelled_out(result.student), format_number(max_points)
    row = f"{who:20} {format_number(points):>5} of {worth}"
    if result.status == "invalid":
        marks.append(f"invalid: {result.reason}")
        return f"{row}  {'; '.join(marks)}"
    remarks = [
        (each.exercise, _remarks(each))
        for each in result.counted
        if each.exercise not in result.not_done
    ]
    marks += [f"{exercise}: {remark}" for exercise, remark in remarks if remark]
    if on_top := _on_top(result):
        marks.append(on_top)
    marks += ["the notebook: review"] * any(not flag.exercise for flag in result.flags)
    if copied := result.as_in_solutions:
        marks.append(f"as in the solutions: {', '.join(copied)}")
    return f"{row}  {'; '.join(marks)}".rstrip()


def _on_top(result: SubmissionResult) -> str:
    """Return which optional exercises are done, or not, in a few words."""
    done = [
        f"{each.exercise} +{format_number(each.points)}"
        for each in result.counted
        if each.exercise in result.optional and each.exercise not in result.not_done
    ]
    done += [f"{name} not done" for name in result.not_done]
    return f"optional: {', '.join(done)}" if done else ""


def _remarks(exercise: ExerciseResult) -> str:
    """Return in a few words what is wrong with an exercise; "" if nothing is."""
    remarks = []
    if exercise.points < exercise.max_points:
        failed = [case.status for case in exercise.claims if case.status != "ok"]
        if exercise.solved and exercise.open_fine_points:
            remarks.append(solved_but(exercise))
        else:
            remarks.append(exercise.diagnosis or max(failed, key=failed.count))
    if any(flag.exercise for flag in exercise.flags):
        remarks.append("review")
    return ", ".join(remarks)


def changes_by_people(grades: StudentGrades) -> list[str]:
    """Return why the points are not those of the verdicts, in a few words each."""
    marks = [_by_hand(each) for each in grades.exercises if each.by_hand]
    if grades.late_penalty:
        by = format_lateness(grades.seconds_late)
        marks.append(f"late{by and f' by {by}'}: −{format_number(grades.late_penalty)}")
    return marks


def _by_hand(grade: Grade) -> str:
    """Return that a grade is a person's; and if it is older than the engine's points.

    Formgrader clears its mark when a person grades, and the engine sets it when its
    points change under such a grade.
    """
    if grade.manual is None or grade.auto is None or not grade.needs_manual_grade:
        return f"{grade.exercise}: by hand"
    return (
        f"{grade.exercise}: {format_number(grade.manual)} by hand, older than the "
        f"answer's {format_number(grade.auto)}: decide again in formgrader"
    )
