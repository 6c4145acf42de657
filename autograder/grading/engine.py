"""Grade submissions of one lesson, one after another, each in a sandbox of its own.

    with Engine(course, "01_dot_product_attention") as engine:
        result, times = engine.grade(path, "amara")

``path`` is the submission's file. Whatever it holds, the result is a
``SubmissionResult``; only a fault of this machine raises. What is read of a file is in
``submission``; a whole class is the subject of ``verdicts``.
"""

import contextlib
import gc
import socket
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder.checking.exercise import Exercise
from autograder.checking.registry import bank_file, load
from autograder.course import Course, CourseError
from autograder.course.releases import how_to_drop, known_releases, last_points
from autograder.grading import course_copy
from autograder.grading.budget import Budget, TimedOutOnce
from autograder.grading.child_client import clean_text
from autograder.grading.identity import course_seed
from autograder.grading.inside.isolation import Isolation, Limits
from autograder.grading.judging import (
    Plan,
    Times,
    judge_all,
    no_answer,
    plan_of,
    remembering,
)
from autograder.grading.release import (
    Cell,
    Release,
    checked_exercises,
    load_release,
    with_retired,
)
from autograder.grading.result import (
    CodeResult,
    OptionalExercises,
    SubmissionResult,
)
from autograder.grading.sandbox import (
    Sandbox,
    SandboxClient,
    check_started,
    one_processor,
)
from autograder.grading.session import Session
from autograder.grading.submission import Submission
from autograder.grading.visible import private_files
from autograder.messages.description import one_line

MAX_TROUBLES = 100  # cells with a sentence of their own; the longest lesson has 70


class Engine:
    """Grades submissions of one lesson; starts the sandbox once."""

    def __init__(
        self,
        course: Course,
        lesson: str,
        *,
        isolation: Isolation = "namespaces",
        budget: Budget | None = None,
        limits: Limits | None = None,
        seed: int | None = None,
        worker: int = 0,
        folder: Path | None = None,
        control: socket.socket | None = None,
    ) -> None:
        """Read the lesson; raises ``CourseError`` if it has no built notebook.

        isolation : what keeps submissions apart; "none" is ``--no-sandbox``
        seed : of the cases' inputs; the course's own if not given
        worker : a number that differs between engines that run at the same time
        folder : a copy that ``course_copy`` made for the lesson; made if not given
        control : a connection to a warm parent of that copy; else one is started
        """
        self.release = load_release(course, lesson)
        self.releases = known_releases(course, lesson, self.release.points)
        every = with_retired(self.release, self.releases, last_points(self.releases))
        self.exercises = [remembering(load(name)) for name in every.exercises]
        self.budget = budget or Budget()
        self.seed = course_seed(course) if seed is None else seed
        self.plans: dict[str, Plan] = {}
        self._own_folder = None
        self.sandbox: SandboxClient
        if control and folder:
            library = course_copy.watched_functions(folder, self.exercises)
            self.sandbox = SandboxClient(control, library, worker=worker)
            return
        if folder is None:
            self._own_folder = course_copy.temporary_folder()
            folder = Path(self._own_folder.name)
            cells = every.own_code, every.set_up
            course_copy.make_copy(folder, self.exercises, *cells)
        self.sandbox = sandbox_of(
            course,
            every,
            folder,
            isolation=isolation,
            limits=limits,
            worker=worker,
        )

    def __enter__(self) -> "Engine":
        """Start the sandbox; raises ``NoSandbox`` where that cannot be done."""
        try:
            self.sandbox.start()
            for each in self.exercises:  # while the parent imports
                self.plans[each.name] = plan_of(each, self.seed)
            self.sandbox.__enter__()
            self._try_once()
        except BaseException:
            self._clean_up()
            raise
        gc.freeze()  # to look through PyTorch and the exercises takes 200 ms each time
        return self

    def __exit__(self, *_: Any) -> None:
        """End the sandbox."""
        gc.unfreeze()
        self.sandbox.__exit__()
        self._clean_up()

    def _try_once(self) -> None:
        """Isolate one child: what fails for one fails for all, and is no crash."""
        try:
            child = self.sandbox.fork()
            with contextlib.closing(child.connection):
                check_started(child)
            child.end()
        except BaseException:
            self.sandbox.__exit__()
            raise

    def _clean_up(self) -> None:
        if self._own_folder:
            self._own_folder.cleanup()

    def grade(
        self,
        path: Path,
        student: str = "",
        *,
        dropped: Collection[str] = (),
        worth: Mapping[str, float] | None = None,
        excuse_missing: bool = False,
        optional: OptionalExercises = "extra",
    ) -> tuple[SubmissionResult, Times]:
        """Grade a submission's file; a timeout is tried once more before it counts.

        dropped : exercises that count for nobody
        worth, excuse_missing, optional : see ``Submission.result``

        Raises ``CourseError`` if it has exercises that cannot be judged any more.
        """
        start = time.perf_counter()
        submission = Submission(self.release, student, path, self.releases)
        if unjudgeable := submission.unjudgeable - {*dropped}:
            raise CourseError(unjudgeable_in_words(self.release.lesson, unjudgeable))
        cells = submission.code_cells
        reading = time.perf_counter() - start
        try:
            code_result, times = self.judge(cells)
        except TimedOutOnce:
            code_result, times = self.judge(cells, last_try=True)
        result = submission.result(
            code_result,
            worth=worth,
            excuse_missing=excuse_missing,
            optional=optional,
        )
        return result.without(dropped), with_reading(times, reading)

    def judge(
        self, cells: Sequence[Cell] | None, *, last_try: bool = False
    ) -> tuple[CodeResult, Times]:
        """Judge a submission's code.

        Of exercises that the lesson no longer has, those that the cells check.

        cells : None if they could not be read
        last_try : False raises ``TimedOutOnce`` at the first timeout
        """
        if cells is None:
            return CodeResult(tuple(no_answer(each) for each in self.exercises)), {}
        start = time.perf_counter()
        wanted = {*self.release.exercises, *checked_exercises(cells)}
        exercises = [each for each in self.exercises if each.name in wanted]
        times: Times = {}
        session = Session(self.sandbox, cells, self.budget, last_try=last_try)
        with one_processor(), session:
            times["cells"] = time.perf_counter() - start
            outputs = {i: each for i, each in session.report.outputs.items() if each}
            results = judge_all(session, exercises, self.seed, times, self.plans)
        times["all"] = time.perf_counter() - start
        return CodeResult(results, _troubles(session, exercises), outputs), times


def sandbox_of(
    course: Course,
    release: Release,
    folder: Path,
    *,
    isolation: Isolation = "namespaces",
    limits: Limits | None = None,
    worker: int = 0,
    children: int = 1,
) -> Sandbox:
    """Return a sandbox for a lesson, not yet started.

    folder : a copy that ``course_copy`` made for the lesson
    children : how many submissions will run at the same time
    """
    exercises = [load(name) for name in release.exercises]
    graded = {
        module
        for exercise in exercises
        if not course_copy.is_unseen(module := exercise.reference.__module__)
    }
    return Sandbox(
        folder,
        sorted({*course_copy.modules_of(release.own_code), *graded}),
        course_copy.watched_functions(folder, exercises),
        [(c.role, c.source) for c in release.cells if c.is_code],
        isolation=isolation,
        limits=limits,
        worker=worker,
        private=private_files(course),
        children=children,
    )


def unjudgeable_in_words(lesson: str, exercises: Collection[str]) -> str:
    """Return a sentence on exercises of a release that cannot be judged any more."""
    names = sorted(exercises)
    files = " and ".join(map(bank_file, names))
    return (
        f"its release of {lesson} had {', '.join(names)}, which the course can no "
        f"longer judge: bring back {files} with the reference; otherwise "
        f"{how_to_drop(names)}"
    )


def with_reading(times: Times, seconds: float) -> Times:
    """Return the times with the seconds that reading a submission took."""
    return times | {"reading": seconds, "all": times.get("all", 0.0) + seconds}


def _troubles(session: Session, exercises: Sequence[Exercise]) -> tuple[str, ...]:
    """Return a sentence on each cell that did not finish, and on what is no answer."""
    sentences = []
    endings = {
        "crashed": "ended the whole Python process and was left out",
        "timeout": "did not come to an end and was left out",
    }
    report = session.report
    for index in sorted({*report.troubles} | {*session.skipped.endings}):
        if not 0 <= index < len(session.cells):
            continue
        cell = session.cells[index]
        name = f"the cell of {cell.exercise}"
        if cell.role != "solution":
            first_line = clean_text(one_line(cell.source.strip().split("\n")[0][:80]))
            name = f"the cell `{first_line}`"
        if index in session.skipped.endings:
            sentences.append(f"{name} {endings[session.skipped.endings[index]]}")
        else:
            raised = report.troubles[index]
            parts = [*filter(None, map(one_line, (raised.types[0], raised.message)))]
            sentences.append(f"{name} stopped with {': '.join(parts)}")
            if cell.role == "solution" and raised.line_number:
                if "SyntaxError" not in raised.types:
                    sentences[-1] += f" (nothing below line {raised.line_number} ran)"
    if len(sentences) > MAX_TROUBLES:
        more = len(sentences) - MAX_TROUBLES
        sentences[MAX_TROUBLES:] = [f"{more} more cells did not come to their end"]
    if used_up := session.account.used_up:
        sentences.append(
            f"grading the whole notebook takes {used_up}: what was left by then counts "
            "as a timeout"
        )
    for each in exercises:
        kind, _ = report.answers.get(each.name, ("", ""))
        if kind not in ("", "answer"):
            sentences.append(
                f"{each.name} is no function at its check, but {one_line(kind)}"
            )
    return tuple(sentences)
