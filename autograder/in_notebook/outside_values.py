"""Values that an answer takes from around it, and not from its arguments."""

import dis
import types
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from autograder.checking.call import plain_function
from autograder.checking.exercise import Exercise
from autograder.checking.result import ExerciseResult
from autograder.checking.values import is_array, is_one_of, is_tensor

DATA = (list, tuple, dict, set, str, int, float, bool)
MOST_NAMES = 3  # so many are listed


def outside_values(answer: Any) -> list[str]:
    """Return the global names that an answer reads and that hold data, in its order.

    Names in capitals are left out: those are for constants.
    """
    function = plain_function(answer)
    if not isinstance(function, types.FunctionType):
        return []
    names = dict.fromkeys(_globals_read(function.__code__))
    values = {
        name: function.__globals__[name]
        for name in names
        if name in function.__globals__ and name != name.upper()
    }
    return [
        name
        for name, value in values.items()
        if is_array(value) or is_tensor(value) or is_one_of(value, DATA)
    ]


def judged_with_outside_values(
    exercise: Exercise, answer: Any, result: ExerciseResult
) -> tuple[ExerciseResult, str]:
    """Return a result, and what a wrong answer takes from around it, in a sentence.

    Where such an answer only raises, its diagnosis is left out: the exception may come
    from those values, and proves no error.
    """
    if result.solved or result.is_unwritten:
        return result, ""
    sentence = from_outside(exercise, answer)
    if sentence and all(call.result.raised for call in result.calls):
        result = replace(result, diagnosis="")
    return result, sentence


def from_outside(exercise: Exercise, answer: Any) -> str:
    """Return a sentence on values that an answer takes from around it, or ""."""
    names = outside_values(answer)[:MOST_NAMES]
    if not names:
        return ""
    one, listed = len(names) == 1, _listed(names)
    return (
        f"Your `{exercise.name}` uses {listed}, which {'is' if one else 'are'} made "
        f"outside of it and no {'argument' if one else 'arguments'}: "
        f"{'it stays' if one else 'they stay'} the same whatever "
        f"{_listed(exercise.parameters)} "
        f"{'is' if len(exercise.parameters) == 1 else 'are'}."
    )


def _listed(names: Sequence[str]) -> str:
    *others, last = [f"`{name}`" for name in names]
    return f"{', '.join(others)} and {last}" if others else last


def _globals_read(code: types.CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _globals_read(constant)
