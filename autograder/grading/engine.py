"""Grade submissions of one lesson, one after another, each in a sandbox of its own.

    with Engine(course, "01_dot_product_attention") as engine:
        result, times = engine.grade(path, "amara")

``path`` is the submission's file. Whatever it holds, the answer is a ``SubmissionResult``; only a
fault of this machine's raises. What is read of a file is in ``submission``; a whole
class is ``classroom``'s work.
"""

import contextlib
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder.checking.exercise import Exercise
from autograder.checking.judging import NOTEBOOK_SEED
from autograder.checking.registry import load
from autograder.course import Course
from autograder.grading import course_copy
from autograder.grading.identity import course_seed
from autograder.grading.inside.isolation import Limits
from autograder.grading.judging import Times, judge_all, no_answer, remembering
from autograder.grading.release import Cell, Release, load_release
from autograder.grading.result import CodeResult, SubmissionResult
from autograder.grading.sandbox import Sandbox, check_started
from autograder.grading.session import Budget, Session, TimedOutOnce, clean
from autograder.grading.submission import Submission

__all__ = ["NOTEBOOK_SEED", "Budget", "Engine", "Limits", "TimedOutOnce"]


class Engine:
    """Grades submissions of one lesson; starts the sandbox once."""

    def __init__(
        self,
        course: Course,
        lesson: str,
        *,
        isolated: bool = True,
        budget: Budget | None = None,
        limits: Limits | None = None,
        seed: int | None = None,
        worker: int = 0,
        folder: Path | None = None,
    ) -> None:
        """Read the lesson; raises ``CourseError`` if it has no built notebook.

        isolated : False is ``--no-sandbox``
        seed : of the cases' inputs; the course's own if not given
        worker : differs between engines that run at the same time
        folder : with what ``course_copy`` makes for the lesson; made if not given
        """
        self.release: Release = load_release(course, lesson)
        self.exercises = [remembering(load(name)) for name in self.release.exercises]
        self.budget = budget or Budget()
        self.seed = course_seed(course) if seed is None else seed
        self._own_folder = None
        if folder is None:
            self._own_folder = course_copy.temporary_folder()
            folder = Path(self._own_folder.name)
            course_copy.make_copy(folder, self.exercises)
        setup = [c.source for c in self.release.cells if c.role in ("setup", "demo")]
        graded = {exercise.reference.__module__ for exercise in self.exercises}
        self.sandbox = Sandbox(
            folder,
            sorted({*course_copy.modules_of(setup), *graded}),
            course_copy.watched(self.exercises),
            [(c.role, c.source) for c in self.release.cells if c.is_code],
            isolated=isolated,
            limits=limits,
            worker=worker,
        )

    def __enter__(self) -> "Engine":
        """Start the sandbox; raises ``NoSandbox`` where that cannot be done."""
        try:
            self.sandbox.__enter__()
            self._try_once()
        except BaseException:
            self._clean_up()
            raise
        return self

    def __exit__(self, *_: Any) -> None:
        """End the sandbox."""
        self.sandbox.__exit__()
        self._clean_up()

    def _try_once(self) -> None:
        """Shut one child in: what fails for one fails for each, and is no fault."""
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

    def grade(self, path: Path, student: str = "") -> tuple[SubmissionResult, Times]:
        """Grade a submission's file; a timeout is tried once more before it counts."""
        start = time.perf_counter()
        submission = Submission(self.release, student, path)
        cells = submission.cells
        reading = time.perf_counter() - start
        try:
            judged, times = self.judge(cells)
        except TimedOutOnce:
            judged, times = self.judge(cells, last_try=True)
        return submission.result(judged), with_reading(times, reading)

    def judge(
        self, cells: Sequence[Cell] | None, *, last_try: bool = False
    ) -> tuple[CodeResult, Times]:
        """Judge a submission's code.

        cells : role, source and exercise of each; None if they could not be read
        last_try : False raises ``TimedOutOnce`` at the first timeout
        """
        if cells is None:
            return CodeResult(tuple(no_answer(each) for each in self.exercises)), {}
        start = time.perf_counter()
        times: Times = {}
        with Session(self.sandbox, cells, self.budget, last_try=last_try) as session:
            times["cells"] = time.perf_counter() - start
            outputs = session.outputs
            exercises = judge_all(session, self.exercises, self.seed, times)
        times["all"] = time.perf_counter() - start
        troubles = _troubles(session, self.exercises)
        return CodeResult(exercises, troubles, _shown(outputs)), times


def with_reading(times: Times, seconds: float) -> Times:
    """Add the time that reading a submission has taken."""
    return times | {"reading": seconds, "all": times.get("all", 0.0) + seconds}


def _shown(outputs: Mapping[int, list[Any]]) -> dict[int, list[Any]]:
    """Give the outputs as JSON can hold them; what it cannot is left out."""
    found = {}
    for place in sorted(outputs):
        with contextlib.suppress(TypeError, ValueError):
            found[place] = json.loads(clean(json.dumps(outputs[place])))
    return {place: shown for place, shown in found.items() if shown}


def _troubles(session: Session, exercises: Sequence[Exercise]) -> tuple[str, ...]:
    """Say in a sentence each which cells did not run through, and what is no answer."""
    told = []
    ways = {
        "crashed": "ended the whole Python process and was left out",
        "timeout": "did not come to an end and was left out",
    }
    for place in sorted({*session.troubles} | {*session.killed}):
        if not 0 <= place < len(session.cells):
            continue
        cell = session.cells[place]
        first = clean(cell.source.strip().split("\n")[0][:80])
        name = (
            f"the cell of {cell.exercise}"
            if cell.role == "solution"
            else f"the cell `{first}`"
        )
        if place in session.killed:
            told.append(f"{name} {ways[session.killed[place]]}")
        else:
            raised = session.troubles[place]
            told.append(
                f"{name} stopped with {raised.types[0]}: {raised.message[:200]}"
            )
    for each in exercises:
        what, _ = session.answers.get(each.name, ("", ""))
        if what not in ("", "answer"):
            told.append(f"{each.name} is no function at its check, but {what}")
    return tuple(told)
