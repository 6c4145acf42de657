"""``check``: what a learner runs below an exercise, and what plain nbgrader runs too.

In a notebook it shows the visible cases and raises ``CheckFailed`` if one fails. Under
``nbgrader autograde`` it runs all cases and returns the points earned instead. Which
exercise is meant follows from the name that the learner wrote between the brackets.
"""

import ast
import contextlib
import difflib
import itertools
import linecache
import os
import re
import sys
import textwrap
import types
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any, TypeGuard

from autograder.checking.call import Runner, local_runner, plain_function, silenced
from autograder.checking.exercise import Exercise
from autograder.checking.judging import RunnerFactory, judge
from autograder.checking.own_answer import is_above_an_answer
from autograder.checking.points import format_number, format_number_of
from autograder.checking.registry import exercise_names, load
from autograder.checking.result import ExerciseResult
from autograder.checking.way_on import course_version, makes_possible
from autograder.course import Course, CourseError
from autograder.course.in_class import in_class
from autograder.in_notebook.newest_cell import (
    defining_cell,
    defining_text,
    is_bound_above,
    older_version,
    watch_cells,
)
from autograder.in_notebook.outside_values import judged_with_outside_values
from autograder.in_notebook.startup import print_anywhere
from autograder.messages.description import describe
from autograder.messages.report import CheckReport, CourseVersion, MadePossible, Note
from autograder.messages.stopped import RUN_ABOVE, missing_name

CALL_SECONDS = 5.0  # a call takes milliseconds: this one is in an endless loop
FAILURES_BEFORE_OFFER = 2  # so many failed checks, and the learner is offered a way on
NOT_YOUR_OWN = (
    "is the course's own version. You can go on with it; only your own version counts "
    "as solved."
)
JUDGED_LATER = (
    "{name} is judged when you hand the notebook in, and not here. Try your function "
    "on small examples of your own."
)
COURSE_VERSION = re.compile(r"from course_lib[.\w]* import (\w+)")  # a cell of one line


class NotAnExercise(TypeError):
    """``check`` was called with something that is no answer to an exercise."""

    def _render_traceback_(self) -> list[str]:
        return [f"NotAnExercise: {self}"]


class CheckFailed(AssertionError):
    """A check that did not hold. Its traceback is one line, the report says more."""

    def __init__(self, report: CheckReport) -> None:
        """Use the report's headline as the exception's text."""
        super().__init__(report.headline)
        self.report = report

    def _render_traceback_(self) -> list[str]:
        """Return what Jupyter shows; nbgrader's Validate shows nothing else."""
        if os.environ.get("NBGRADER_EXECUTION") == "validate":
            return [_wrapped(str(self.report))]
        return [f"CheckFailed: {self}"]


class NotRunYet(NameError):
    """An answer could not be judged, for want of what the cells above it make."""

    def _render_traceback_(self) -> list[str]:
        return [f"NotRunYet: {self}"]


class CheckStopped(KeyboardInterrupt):
    """The learner pressed Stop during a check."""

    def _render_traceback_(self) -> list[str]:
        return [f"CheckStopped: {self}"]


def check(answer: Any = None, *, private: bool = False) -> float | None:
    """Check an answer: ``check(softmax)``, with the function itself, not a result.

    answer : the function (or partial, or callable object) that answers an exercise
    private : whether only the instructor can judge it; elsewhere it is not judged

    Returns nothing in a notebook, and the points earned under nbgrader's autograder.
    Raises ``CheckFailed`` if a claim does not hold, ``NotAnExercise`` if the answer is
    not one, ``NotRunYet`` if cells above have to run first.
    """
    grading = os.environ.get("NBGRADER_EXECUTION") == "autograde"
    if private and not _is_here(answer, sys._getframe(1)):
        return 0.0 if grading else None
    exercise = find_exercise(answer, sys._getframe(1))
    if is_course_version(exercise, answer):
        print(f"{exercise.name}: this {NOT_YOUR_OWN}")
        return 0.0 if grading else None
    cases = [case for case in exercise.cases if grading or case.visible]
    try:
        with silenced():
            result = judge(
                exercise,
                local_runner_factory(answer),
                cases=cases,
                text=defining_text(answer),
            )
    except KeyboardInterrupt:
        raise CheckStopped(f"{exercise.name} was being checked") from None
    if not grading:
        _refuse_missing_name(exercise, result, answer)
    judged = "" if grading else defining_cell(answer)
    notes: tuple[Note, ...] = () if grading else _notes(exercise, result, judged)
    warning = older = "" if grading else older_version(exercise.name, answer)
    if not grading and not older:
        result, warning = judged_with_outside_values(exercise, answer, result)
    report = CheckReport(
        exercise,
        result,
        notes,
        warning,
        judged,
        together=not grading,
        older=bool(older),
    )
    if "NBGRADER_EXECUTION" not in os.environ:
        # Here, so that lessons start no later for it.
        from autograder.workspace.after_check import keep_result

        is_stub = result.is_unwritten and not report.unwritten_use()
        report.notes += keep_result(exercise, result, is_stub=is_stub)
    if _in_jupyter():
        from IPython.display import display

        display(report)
    else:
        print_anywhere()
        print(report)
    if grading:
        return result.points
    if not result.solved:
        raise CheckFailed(report) from None
    return None


def _is_here(answer: Any, frame: FrameType) -> bool:
    """Return whether a private exercise can be judged here; if not, print when it is.

    Raises ``NotAnExercise`` for what is no function.
    """
    with contextlib.suppress(CourseError, OSError):
        Course.here()  # an instructor's folder has it
    argument = _argument(frame)
    if not callable(answer):
        raise NotAnExercise(_not_a_function(answer, argument, frame))
    own = getattr(plain_function(answer), "__name__", "")
    name = argument.id if isinstance(argument, ast.Name) else own
    if name in exercise_names():
        return True
    print(JUDGED_LATER.format(name=name or "This exercise"))
    return False


def _refuse_missing_name(
    exercise: Exercise, result: ExerciseResult, answer: Any
) -> None:
    """Raise ``NotRunYet`` if an answer lacks only a name that cells above it bind.

    An exercise of another lesson is one that this notebook does not have.
    """
    name = missing_name(result)
    if not name or name == exercise.name:
        return
    is_ours = name in (*exercise_names(), "np")
    is_above = is_bound_above(name, answer)
    if not is_ours and not is_above:
        return
    if name in exercise_names() and not is_above:
        lesson = load(name).lesson
        if lesson != exercise.lesson:
            raise NotRunYet(
                f"{name} is an exercise of lesson {lesson[:2]}, and this notebook does "
                "not have it: copy your function into a cell above, or write out here "
                "what it does."
            ) from None
    raise NotRunYet(f"{name} is not there yet: {RUN_ABOVE}, then this one.") from None


def local_runner_factory(answer: Any) -> RunnerFactory:
    """Return what ``judge`` needs to call a function of this process."""

    def make(names: tuple[str, ...]) -> Runner:
        right = {name: load(name).reference for name in names}
        return local_runner(answer, right, seconds=CALL_SECONDS)

    return make


def is_course_version(exercise: Exercise, answer: Any) -> bool:
    """Decide whether an answer is the course's own function, or a partial of it."""
    function = plain_function(answer)
    if not isinstance(function, types.FunctionType):
        return False
    code, own = function.__code__, exercise.reference.__code__
    # By file and name, not identity: a library that is loaded again is the course's.
    return code is own or (
        code.co_filename == own.co_filename and code.co_qualname == own.co_qualname
    )


_failures: Counter[tuple[str, bool]] = Counter()  # by exercise, and whether unwritten
_failed_last: dict[str, str] = {}  # the answer's text, by exercise


def _notes(exercise: Exercise, result: ExerciseResult, judged: str) -> tuple[Note, ...]:
    """Offer the course's version once a check has failed often enough.

    judged : text of the answer's cell, "" if not known; to check the same again is no
        other attempt
    """
    if result.solved:
        for is_unwritten in (False, True):
            del _failures[exercise.name, is_unwritten]
        _failed_last.pop(exercise.name, None)
        return _after_solving(exercise, result)
    # Checking the stub first is no attempt, so the two are counted apart.
    attempt = exercise.name, result.is_unwritten
    is_same = bool(judged) and _failed_last.get(exercise.name) == judged
    if result.is_unwritten or not is_same:
        _failures[attempt] += 1
    _failed_last[exercise.name] = judged
    has_answer = result.is_unwritten and is_above_an_answer(exercise.name, judged)
    if has_answer or _failures[attempt] < FAILURES_BEFORE_OFFER:
        return ()
    return (CourseVersion(exercise.name, course_version(exercise)),)


def _after_solving(exercise: Exercise, result: ExerciseResult) -> tuple[Note, ...]:
    """Return what a solved exercise makes possible and, in a class, what it is worth.

    Who calls an earlier answer that fails is told of that one instead.
    """
    notes: list[Note] = []
    if (sentence := makes_possible(exercise.name)) and not result.blamed:
        notes.append(MadePossible(sentence))
    if in_class(_course_root()):
        notes.append(_worth(exercise, result))
    return tuple(notes)


def _course_root() -> Path | None:
    try:
        return Course.here().root
    except (CourseError, OSError):  # the current folder may be gone
        return None


def _worth(exercise: Exercise, result: ExerciseResult) -> str:
    """Return how many points visible claims are worth, of how many."""
    rest = exercise.points - result.max_points
    if not rest and result.passed:
        return f"All {format_number(exercise.points)} points are yours."
    return (
        f"These claims give {format_number_of(result.points, exercise.points)} "
        "points; grading tries more inputs for the rest."
    )


def _wrapped(text: str) -> str:
    """Break long lines, for nbgrader's dialog does not; keep their indentation."""
    rows = []
    for row in text.splitlines():
        margin = " " * (len(row) - len(row.lstrip()))
        more = margin + ("" if row.lstrip()[:1] not in ("✓", "✗", "–", "→") else "  ")
        rows += textwrap.wrap(row, 88, initial_indent="", subsequent_indent=more)
    return "\n".join(rows)


def _in_jupyter() -> bool:
    """Decide whether a Jupyter kernel runs this, without importing IPython."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return hasattr(shell, "kernel")


def find_exercise(answer: Any, frame: FrameType) -> Exercise:
    """Return the exercise that an answer belongs to; raises ``NotAnExercise``.

    answer : what check was called with
    frame : where check was called: its source and variables

    The name is, in this order, the one between the brackets, the function's own, or
    that of the only variable bound to it.
    """
    names = exercise_names()
    argument = _argument(frame)
    if not callable(answer):
        raise NotAnExercise(_not_a_function(answer, argument, frame))
    if isinstance(answer, type):
        raise NotAnExercise(
            f"check needs a function, and {answer.__name__} is a class: make an object "
            "of it that can be called, and check that object."
        )
    variables = {**frame.f_globals, **frame.f_locals}
    bound = [name for name in names if variables.get(name) is answer]
    written = argument.id if isinstance(argument, ast.Name) else ""
    own = getattr(plain_function(answer), "__name__", type(answer).__name__)
    own = own if isinstance(own, str) else ""
    for name in (written, own, bound[0] if len(bound) == 1 else ""):
        if name in names:
            return load(name)
    raise NotAnExercise(_unknown_exercise(written or own, names))


def _argument(frame: FrameType) -> ast.expr | None:
    """Return the first argument, as written, of the call that a frame is in."""
    instruction = frame.f_lasti // 2
    positions = itertools.islice(
        frame.f_code.co_positions(), instruction, instruction + 1
    )
    first, last, start, end = next(positions, (None,) * 4)
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
    if not _is_call(call):
        return None
    return next(iter([*call.args, *(each.value for each in call.keywords)]), None)


def _is_call(expression: Any) -> TypeGuard[ast.Call]:
    return isinstance(expression, ast.Call)


def _not_a_function(answer: Any, argument: ast.expr | None, frame: FrameType) -> str:
    """Return how to call check, where it was called without a function."""
    names = exercise_names()
    description = describe(answer)
    if _is_call(argument) and isinstance(argument.func, ast.Name):
        called = argument.func.id
        return (
            "check needs the function itself, and was given what it returned, "
            f"{description}. Write check({called}), without brackets after {called}."
        )
    if isinstance(answer, str) and answer in names:
        return (
            "check needs the function itself, and was given its name in quotes. "
            f"Write check({answer})."
        )
    if isinstance(argument, ast.Name) and argument.id in names:
        return (
            f"{argument.id} is {description} here, no longer a function. Run the cell "
            f"that defines {argument.id} again, and give the result another name."
        )
    defined = [name for name in names if callable(frame.f_globals.get(name))]
    example = f", such as check({defined[0]})" if defined else ""
    return (
        f"check needs a function, and was given {description}. Write the name of the "
        f"exercise between the brackets{example}."
    )


def _unknown_exercise(name: str, names: tuple[str, ...]) -> str:
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


def _note_course_version(text: str) -> None:
    """Note in a learner's progress that a cell gets the course's version."""
    match = COURSE_VERSION.fullmatch(text)
    if not match or "NBGRADER_EXECUTION" in os.environ:
        return
    # Whatever happens here, the cell has run: the learner can go on.
    with contextlib.suppress(Exception):
        name = match[1]
        if name in exercise_names() and text == course_version(load(name)):
            from autograder.workspace.after_check import put_off

            put_off(name)


watch_cells(_note_course_version)
