"""``autograder grade``: grade a class, tell how it goes, stop cleanly.

What is graded, and where that is kept, is in ``verdicts`` and ``gradebook.service``.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rich import progress as bars
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from autograder.checking.result import ExerciseResult
from autograder.course import Course, CourseError, output_file
from autograder.gradebook.database import Gradebook
from autograder.gradebook.service import GradeRecords
from autograder.gradebook.writing import student_id_fault
from autograder.grading import classroom
from autograder.grading.engine import Engine
from autograder.grading.identity import course_seed
from autograder.grading.journal import Journal
from autograder.grading.result import SubmissionResult
from autograder.grading.verdicts import GradedSubmission, Verdicts
from autograder.grading.workers import (
    GradingTask,
    GradingTaskResult,
    Settings,
    Workers,
    interrupts_ignored,
)


def line(result: SubmissionResult) -> str:
    """Give one student's row: points, what stands out, and why nothing was graded."""
    row = f"{result.student:20} {result.points:5g} of {result.max_points:g}"
    if result.status == "invalid":
        return f"{row}  invalid: {result.reason}"
    marks = [f"{e.exercise}: {_short(e)}" for e in result.exercises if _short(e)]
    return f"{row}  {'; '.join(marks)}".rstrip()


def _short(exercise: ExerciseResult) -> str:
    """Say in a few words what is wrong with an exercise; nothing if all is well."""
    told = []
    if exercise.points < exercise.max_points:
        failed = [case.status for case in exercise.cases if case.status != "ok"]
        told.append(exercise.diagnosis or max(failed, key=failed.count))
    if exercise.flags:
        told.append("review")
    return ", ".join(told)


def judge(course: Course, path: Path, lesson: str, isolated: bool) -> int:
    """Grade one notebook file and print each verdict in words; give the exit code."""
    name = (
        course.find_lesson(lesson, built=True) if lesson else _lesson_of(course, path)
    )
    with Engine(course, name, isolated=isolated) as engine:
        result, times = engine.grade(path.absolute(), path.parent.name)
    print(told(result))
    print(f"Graded in {times.get('all', 0.0):.2f} s.")
    return 0


def told(result: SubmissionResult) -> str:
    """Give a whole result in words."""
    rows = [f"{result.lesson}: {result.points:g} of {result.max_points:g} points"]
    if result.status == "invalid":
        return f"{rows[0]}\nNothing could be graded: {result.reason}"
    rows += [f"Put right: {repair}" for repair in result.repairs]
    rows += [f"Cells: {trouble}" for trouble in result.troubles]
    for exercise in result.exercises:
        rows += [
            "",
            f"{exercise.points:g} of {exercise.max_points:g}: {exercise.report}",
        ]
        rows += [
            f"  [{case.status}] {case.case}: {case.points:g} of {case.max_points:g}"
            for case in exercise.cases
        ]
        rows += [_flag(flag.what, flag.line) for flag in exercise.flags]
    return "\n".join(rows)


def _flag(what: str, line: str) -> str:
    where = f" in `{line}`" if line else ""
    return f"  For your review: the answer calls {what}{where}"


def _lesson_of(course: Course, path: Path) -> str:
    """Find which lesson a notebook belongs to, by its name or its folder's."""
    for name in (path.stem, path.parent.name):
        if name in course.lessons:
            return name
    if not path.is_file():
        what = "is a folder: name its notebook" if path.is_dir() else "is not there"
        raise CourseError(f"{path} {what}")
    raise CourseError(
        f"{path.name} does not say which lesson it is: name it with --lesson; there "
        f"are: {', '.join(course.lessons)}"
    )


INTERRUPTED = 130
UNSAFE = (
    "--no-sandbox: submissions run with your rights; they can read and change whatever "
    "you can, this gradebook and the other submissions too"
)


class Judges(Protocol):
    """Whatever can judge tasks: processes of this machine, or a cluster."""

    def each(self, tasks: Iterable[GradingTask]) -> Iterator[GradingTaskResult]:
        """Judge; give what is found as it comes."""


@dataclass(frozen=True)
class GradeOptions:
    """How a class is to be graded.

    jobs : submissions at a time
    student : the only one to grade, "" for all
    isolated : False is ``--no-sandbox``
    anew : judge again what the journal knows
    gradebook : whether to write the gradebook
    cluster : address of a Dask scheduler, "" to grade here
    output : file for the results
    """

    jobs: int = 1
    student: str = ""
    isolated: bool = True
    anew: bool = False
    gradebook: bool = True
    cluster: str = ""
    output: str = ""


def grade(course: Course, lesson: str, wishes: GradeOptions) -> int:
    """Grade a class and print it as it goes; give the exit code.

    0: everything is graded. 1: something is not, and stderr says what. 130: Ctrl-C;
    what was graded until then is kept, and the next call goes on from there.
    """
    lesson = course.find_lesson(lesson, built=True)
    students = classroom.chosen_students(course, lesson, wishes.student)
    path = course.root / f"build/grading/{lesson}.jsonl"
    if wishes.output:
        path = output_file(Path(wishes.output))
    with Journal(course) as journal:
        classroom.write_results(path, journal, lesson)  # what hinders it is known early
        run = _Run(course, lesson, students, wishes, journal)
        code = run.grade()
        gone: set[str] = set()
        if not wishes.student and code != INTERRUPTED:
            gone = {kept.student for kept in journal.latest(lesson)} - {*students}
            run.verdicts.forget(gone)
        if run.fresh or gone:
            classroom.write_results(path, journal, lesson)
    run.end(path)
    return code or int(run.incomplete)


class _Run:
    """One run of ``autograder grade``, and what it tells."""

    def __init__(
        self,
        course: Course,
        lesson: str,
        students: Sequence[str],
        wishes: GradeOptions,
        journal: Journal,
    ) -> None:
        self.out = Console(soft_wrap=True, highlight=False)
        self.words = Console(stderr=True, soft_wrap=True, highlight=False)
        self.course, self.lesson, self.wishes = course, lesson, wishes
        self.settings = Settings(
            lesson, course_seed(course), wishes.jobs, wishes.isolated
        )
        self.verdicts = Verdicts(course, self.settings, journal, anew=wishes.anew)
        self.records = GradeRecords(course, lesson, journal, self._gradebook())
        self.faults = {
            each: fault for each in students if (fault := student_id_fault(each))
        }
        self.students = [each for each in students if each not in self.faults]
        self.fresh = self.count = self.unread = self.review = 0
        self.start = time.monotonic()

    def _gradebook(self) -> Gradebook | None:
        if not self.wishes.gradebook:
            return None
        gradebook = Gradebook(self.course)
        for sentence in gradebook.open_lesson(self.lesson):
            self.words.print(escape(sentence))
        return gradebook

    def grade(self) -> int:
        """Grade all students; give 0, or 130 after Ctrl-C."""
        if not self.wishes.isolated:
            self.words.print(UNSAFE, style="bold")
        for student, fault in self.faults.items():
            self.words.print(escape(f"{student!r} is not graded: {fault}"))
        code = 0
        try:
            with _progress(self.words) as progress, self._judges() as judges:
                bar = progress.add_task(self.lesson, total=len(self.students))
                for graded in self.verdicts.each(self.students, judges.each):
                    self._keep(graded)
                    progress.advance(bar)
        except KeyboardInterrupt:
            code = INTERRUPTED
        with (
            interrupts_ignored()
        ):  # a second Ctrl-C must not leave the gradebook half a batch behind
            self.records.flush()
        return code

    def _judges(self) -> AbstractContextManager[Judges]:
        if self.wishes.cluster:
            from autograder.grading.dask.cluster import Cluster  # Dask: an extra

            return Cluster(self.course, self.settings, self.wishes.cluster)
        return Workers(self.course, self.settings)

    def _keep(self, graded: GradedSubmission) -> None:
        if graded.fault:
            self.faults[graded.submission.student] = graded.fault
            self.words.print(escape(graded.fault))
        self.records.add(graded)
        result = graded.result
        self.count += 1
        self.fresh += graded.is_new
        self.unread += result.status == "invalid"
        self.review += bool(result.flags)
        print(line(result), flush=graded.is_new)

    @property
    def incomplete(self) -> bool:
        """Whether something is not graded, or not written."""
        return bool(self.faults or self.records.fault)

    def end(self, path: Path) -> None:
        """Print how it has gone, and how to go on."""
        seconds = time.monotonic() - self.start
        rate = self.fresh / seconds if seconds else 0.0
        before = self.count - self.fresh
        self.out.print(
            f"{self.count} submissions in {seconds:.1f} s ({rate:.1f}/s), "
            f"{before} of them as before, {self.unread} invalid, {self.review} for "
            f"review. Written: {escape(str(path))}"
        )
        for note in self.records.gradebook.notes if self.records.gradebook else ():
            self.words.print(escape(note))
        left = len(self.students) - self.count
        again = f"`autograder grade {self.lesson[:2]}`"
        if left:
            self.words.print(
                f"Stopped with {left} left: what is graded is kept; {again} goes on."
            )
        if self.records.fault:
            self.words.print(
                f"{escape(self.records.fault)}. The verdicts are kept: mend that, and "
                f"{again} writes the grades without grading anew."
            )


class _Rate(bars.ProgressColumn):
    """Submissions per second so far."""

    def render(self, task: bars.Task) -> Text:
        return Text(f"{task.finished_speed or task.speed or 0:.1f}/s")


def _progress(console: Console) -> bars.Progress:
    return bars.Progress(
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        _Rate(),
        bars.TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


# MERGED autograder.grading.commands: ``autograder judge``, and how a result reads in one line or in full.
#
#   What a class gets is ``run``'s work.
#
