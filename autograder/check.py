"""``check``: what a learner runs below an exercise, and what plain nbgrader runs too.

In a notebook it shows the visible cases and raises ``CheckFailed`` if one fails. Under
``nbgrader autograde`` it runs all cases and returns the points earned instead.
"""

import linecache
import os
import re
import sys
from collections import Counter
from typing import Any

from autograder import messages
from autograder.exercise import Exercise
from autograder.judge import Judgement, judge
from autograder.outcome import Runner, run_here
from autograder.registry import exercise_names, load
from autograder.report import Report

AFTER_FAILURES = 2  # so many failed checks, and the learner is offered a way on

_failures: Counter[str] = Counter()


class CheckFailed(AssertionError):
    """A check that did not hold. Its traceback is one line: the report says the rest."""

    def __init__(self, report: Report) -> None:
        """Take the headline as the exception's text."""
        super().__init__(messages.headline(report.judgement))
        self.report = report

    def _render_traceback_(self) -> list[str]:
        """Give Jupyter the lines to show; nbgrader's Validate shows nothing else."""
        if os.environ.get("NBGRADER_EXECUTION") == "validate":
            return [str(self.report)]
        return [f"CheckFailed: {self}"]


class NotAnExercise(TypeError):
    """``check`` was given something that is no answer to an exercise."""

    def _render_traceback_(self) -> list[str]:
        return [f"NotAnExercise: {self}"]


def check(answer: Any) -> float | None:
    """Check an answer: ``check(softmax)``, with the function itself, not a result.

    answer : the function (or partial, or callable object) that answers an exercise

    Returns nothing in a notebook, and the points earned under nbgrader's autograder.
    Raises ``CheckFailed`` if a claim does not hold, ``NotAnExercise`` if the answer is
    not one.
    """
    exercise = _exercise_of(answer)
    grading = os.environ.get("NBGRADER_EXECUTION") == "autograde"
    if is_course_version(exercise, answer):
        return _accept_course_version(exercise, grading)
    cases = [case for case in exercise.cases if grading or case.visible]
    judgement = judge(exercise, make_runner_here(answer), cases=cases)
    if grading:
        _show(Report(judgement))
        return judgement.points
    report = Report(judgement, _notes(judgement))
    _show(report)
    if not judgement.passed:
        raise CheckFailed(report) from None
    return None


def make_runner_here(answer: Any) -> Any:
    """Give what ``judge`` needs to reach a function of this process."""

    def make(names: tuple[str, ...]) -> Runner:
        return run_here(answer, {name: load(name).reference for name in names})

    return make


def is_course_version(exercise: Exercise, answer: Any) -> bool:
    """Say whether an answer is the course's own function."""
    code = getattr(answer, "__code__", None)
    return code is not None and code is exercise.reference.__code__


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
        _failures.pop(exercise.name, None)
        return ()
    _failures[exercise.name] += 1
    if _failures[exercise.name] < AFTER_FAILURES:
        return ()
    module = exercise.reference.__module__
    return (
        "To go on and come back later, put this line into a new cell above the check "
        f"and run both: `from {module} import {exercise.name}`",
    )


def _exercise_of(answer: Any) -> Exercise:
    """Find which exercise an answer belongs to, by the name it is checked under."""
    names = exercise_names()
    frame = sys._getframe(2)
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    written = re.search(r"check\(\s*(\w+)\s*\)", line)
    if written and written[1] in names and callable(answer):
        return load(written[1])
    bound = [n for n, v in frame.f_globals.items() if v is answer and n in names]
    own = getattr(answer, "__name__", "")
    if callable(answer) and (own in names or len(bound) == 1):
        return load(own if own in names else bound[0])
    raise NotAnExercise(_why_not(answer, own, frame.f_globals, names))


def _why_not(
    answer: Any, own: str, variables: dict[str, Any], names: tuple[str, ...]
) -> str:
    if callable(answer):
        return (
            f"check does not know an exercise named {own or type(answer).__name__!r}; "
            f"the exercises are {', '.join(names)}. Give the function the name that "
            "stands in the exercise's heading."
        )
    mine = [name for name in names if callable(variables.get(name))]
    example = mine[-1] if mine else names[-1]
    return (
        f"check needs the function itself, and was given {type(answer).__name__}: "
        f"write check({example}), without calling {example}."
    )


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
