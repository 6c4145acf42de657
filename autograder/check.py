"""``check``: what a learner runs below an exercise, and what plain nbgrader runs too.

In a notebook it shows the visible cases and raises ``CheckFailed`` if one fails. Under
``nbgrader autograde`` it runs all cases and returns the points earned instead.
"""

import ast
import difflib
import itertools
import linecache
import os
import sys
import textwrap
import types
from collections import Counter
from types import FrameType
from typing import Any, TypeGuard

from autograder.checking.call import Runner, local_runner, plain_function, silenced
from autograder.checking.exercise import Exercise
from autograder.checking.judging import Judgement, RunnerFactory, judge
from autograder.checking.registry import exercise_names, load
from autograder.messages import description as words
from autograder.messages import report as messages
from autograder.messages.report import Report


class NotAnExercise(TypeError):
    """``check`` was given something that is no answer to an exercise."""

    def _render_traceback_(self) -> list[str]:
        return [f"NotAnExercise: {self}"]


def exercise_of(answer: Any, frame: FrameType) -> Exercise:
    """Give the exercise that an answer belongs to; raises ``NotAnExercise``.

    answer : what check was called with
    frame : where check was called: its source and variables
    """
    names = exercise_names()
    written = _written_argument(frame)
    name = written.id if isinstance(written, ast.Name) else ""
    if not callable(answer):
        raise NotAnExercise(_no_function(answer, written, frame))
    if isinstance(answer, type):
        raise NotAnExercise(
            f"check needs a function, and {answer.__name__} is a class: make an object "
            "of it that can be called, and check that object."
        )
    variables = {**frame.f_globals, **frame.f_locals}
    bound = [kept for kept in names if variables.get(kept) is answer]
    own = _own_name(answer)
    for kept in (name, own, bound[0] if len(bound) == 1 else ""):
        if kept in names:
            return load(kept)
    raise NotAnExercise(_unknown(name or own, names))


def _written_argument(frame: FrameType) -> ast.expr | None:
    """Give what stands between the brackets of the call that a frame is in."""
    place = frame.f_lasti // 2
    spans = itertools.islice(frame.f_code.co_positions(), place, place + 1)
    first, last, start, end = next(spans, (None,) * 4)
    if first is None or last is None:
        return None
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)
    text = [line.encode() for line in lines[first - 1 : last]]
    if not text:
        return None
    text[-1] = text[-1][:end]
    text[0] = text[0][start:]
    try:
        call = ast.parse(b"".join(text), mode="eval").body
    except SyntaxError:
        return None
    given = [*call.args, *(k.value for k in call.keywords)] if _is_call(call) else []
    return given[0] if given else None


def _is_call(written: Any) -> TypeGuard[ast.Call]:
    return isinstance(written, ast.Call)


def _own_name(answer: Any) -> str:
    """Give the name a function was defined under, or that of an object's class."""
    name = getattr(plain_function(answer), "__name__", type(answer).__name__)
    return name if isinstance(name, str) else ""


def _no_function(answer: Any, written: ast.expr | None, frame: FrameType) -> str:
    """Say how to call check, where it was given something else than a function."""
    names = exercise_names()
    was = words.form(answer)
    if _is_call(written) and isinstance(written.func, ast.Name):
        called = written.func.id
        return (
            f"check needs the function itself, and was given what it returned, {was}. "
            f"Write check({called}), without brackets after {called}."
        )
    if isinstance(answer, str) and answer in names:
        return (
            "check needs the function itself, and was given its name in quotes. "
            f"Write check({answer})."
        )
    if isinstance(written, ast.Name) and written.id in names:
        return (
            f"{written.id} is {was} here, no longer a function. Run the cell that "
            f"defines {written.id} again, and give the result another name."
        )
    known = [name for name in names if callable(frame.f_globals.get(name))]
    example = f", such as check({known[0]})" if known else ""
    return (
        f"check needs a function, and was given {was}. Write the name of the exercise "
        f"between the brackets{example}."
    )


def _unknown(name: str, names: tuple[str, ...]) -> str:
    if name.isidentifier():
        close = difflib.get_close_matches(name, names, n=1)
        meant = f" Did you mean {close[0]}?" if close else ""
        return (
            f"check knows no exercise named {name}.{meant} Give your function the name "
            "in the exercise's heading."
        )
    return (
        "check cannot tell which exercise this function answers. Give it the name in "
        "the exercise's heading, and check it by that name."
    )


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
        with silenced():
            judgement = judge(exercise, local_runner_factory(answer), cases=cases)
    except KeyboardInterrupt:
        raise CheckStopped(f"{exercise.name} was being checked") from None
    report = Report(judgement, () if grading else _notes(judgement))
    _show(report)
    if grading:
        return judgement.points
    if not judgement.passed:
        raise CheckFailed(report) from None
    return None


def local_runner_factory(answer: Any) -> RunnerFactory:
    """Give what ``judge`` needs to reach a function of this process."""

    def make(names: tuple[str, ...]) -> Runner:
        right = {name: load(name).reference for name in names}
        return local_runner(answer, right, seconds=CALL_SECONDS)

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


# MERGED autograder.finding: Find which exercise ``check`` was called for, by the name the learner wrote.
#
#   What an exercise is stands in ``exercise``, where it is kept in ``registry``.
#
