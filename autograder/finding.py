"""Find which exercise ``check`` was called for, by the name the learner wrote.

What an exercise is stands in ``exercise``, where it is kept in ``registry``.
"""

import ast
import difflib
import itertools
import linecache
from types import FrameType
from typing import Any, TypeGuard

from autograder import words
from autograder.exercise import Exercise
from autograder.outcome import plain_function
from autograder.registry import exercise_names, load


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
