"""``check``: what a learner runs below an exercise, and what plain nbgrader runs too.

In a notebook it shows the visible cases and raises ``CheckFailed`` if one fails. Under
``nbgrader autograde`` it runs all cases and returns the points earned instead.
"""

import os
import sys
import textwrap
import types
from collections import Counter
from typing import Any

from autograder import messages
from autograder.exercise import Exercise
from autograder.finding import NotAnExercise, exercise_of
from autograder.judge import Judgement, MakeRunner, judge
from autograder.outcome import Runner, plain_function, quiet, run_here
from autograder.registry import load
from autograder.report import Report

__all__ = ["CheckFailed", "NotAnExercise", "check", "make_runner_here"]

CALL_SECONDS = 5.0  # a call takes milliseconds: this one is in an endless loop
AFTER_FAILURES = 2  # so many failed checks, and the learner is offered a way on

_failures: Counter[tuple[str, bool]] = Counter()


class CheckFailed(AssertionError):
    """A check that did not hold. Its traceback is one line, the report says more."""

    def __init__(self, report: Report) -> None:
        """Take the headline as the exception's text."""
        super().__init__(messages.headline(report.judgement))
        self.report = report

    def _render_traceback_(self) -> list[str]:
        """Give Jupyter the lines to show; nbgrader's Validate shows nothing else."""
        if os.environ.get("NBGRADER_EXECUTION") == "validate":
            return [_wrapped(str(self.report))]
        return [f"CheckFailed: {self}"]


class CheckStopped(KeyboardInterrupt):
    """The learner pressed Stop during a check."""

    def _render_traceback_(self) -> list[str]:
        return [f"CheckStopped: {self}"]


def check(answer: Any = None) -> float | None:
    """Check an answer: ``check(softmax)``, with the function itself, not a result.

    answer : the function (or partial, or callable object) that answers an exercise

    Returns nothing in a notebook, and the points earned under nbgrader's autograder.
    Raises ``CheckFailed`` if a claim does not hold, ``NotAnExercise`` if the answer is
    not one.
    """
    exercise = exercise_of(answer, sys._getframe(1))
    grading = os.environ.get("NBGRADER_EXECUTION") == "autograde"
    if is_course_version(exercise, answer):
        return _accept_course_version(exercise, grading)
    cases = [case for case in exercise.cases if grading or case.visible]
    try:
        with quiet():
            judgement = judge(exercise, make_runner_here(answer), cases=cases)
    except KeyboardInterrupt:
        raise CheckStopped(f"{exercise.name} was being checked") from None
    report = Report(judgement, () if grading else _notes(judgement))
    _show(report)
    if grading:
        return judgement.points
    if not judgement.passed:
        raise CheckFailed(report) from None
    return None


def make_runner_here(answer: Any) -> MakeRunner:
    """Give what ``judge`` needs to reach a function of this process."""

    def make(names: tuple[str, ...]) -> Runner:
        right = {name: load(name).reference for name in names}
        return run_here(answer, right, seconds=CALL_SECONDS)

    return make


def is_course_version(exercise: Exercise, answer: Any) -> bool:
    """Say whether an answer is the course's own function, or a partial of it."""
    function = plain_function(answer)
    if not isinstance(function, types.FunctionType):
        return False
    code, own = function.__code__, exercise.reference.__code__
    # By place, not identity: a library that is loaded again is still the course's.
    return code is own or (
        code.co_filename == own.co_filename and code.co_qualname == own.co_qualname
    )


def _accept_course_version(exercise: Exercise, grading: bool) -> float | None:
    _show_text(
        f"{exercise.name}: this is the course's own version. You can go on with it; "
        "points are for a version that you wrote yourself."
    )
    return 0.0 if grading else None


def _notes(judgement: Judgement) -> tuple[str, ...]:
    """Offer the course's version once a check has failed often enough."""
    exercise = judgement.exercise
    if judgement.passed:
        for attempt in [kept for kept in _failures if kept[0] == exercise.name]:
            del _failures[attempt]
        return ()
    # Looking at the stub first is no attempt, so the two are counted apart.
    attempt = exercise.name, messages.not_written(judgement)
    _failures[attempt] += 1
    if _failures[attempt] < AFTER_FAILURES:
        return ()
    module = exercise.reference.__module__
    return (
        "To go on and come back later, put this line into a new cell between your "
        f"answer and the check, and run both: `from {module} import {exercise.name}`",
    )


def _wrapped(text: str) -> str:
    """Break long lines, for nbgrader's dialog does not; keep their indentation."""
    rows = []
    for row in text.splitlines():
        margin = " " * (len(row) - len(row.lstrip()))
        more = margin + ("" if row.lstrip()[:1] not in ("✓", "✗", "→") else "  ")
        rows += textwrap.wrap(row, 88, initial_indent="", subsequent_indent=more)
    return "\n".join(rows)


def _show(report: Report) -> None:
    if _in_jupyter():
        from IPython.display import display

        display(report)
    else:
        print(report)


def _show_text(sentence: str) -> None:
    print(sentence)


def _in_jupyter() -> bool:
    """Say whether a Jupyter kernel runs this, without importing IPython."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return hasattr(shell, "kernel")
