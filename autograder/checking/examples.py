"""The calls of a docstring's examples: what a learner tries first.

A sentence about every call would be wrong if the example in sight worked.
"""

import contextlib
import doctest
import functools
import inspect
import io
from typing import Any, NamedTuple

from autograder.checking.call import Call, copied
from autograder.checking.exercise import Exercise, Function


class Inputs(NamedTuple):
    """What a call of an example hands over."""

    arguments: tuple[Any, ...]
    keywords: dict[str, Any]


def example_calls(exercise: Exercise) -> list[Call]:
    """Return the calls of the exercise's examples, without results."""
    return [
        Call(copied(arguments), copied(keywords), precise=exercise.precise)
        for arguments, keywords in _inputs(exercise.reference)
    ]


@functools.cache
def _inputs(function: Function) -> tuple[Inputs, ...]:
    """Run a function's examples and record what it is called with."""
    inputs: list[Inputs] = []

    @functools.wraps(function)
    def recorded(*arguments: Any, **keywords: Any) -> Any:
        inputs.append(Inputs(copied(arguments), copied(keywords)))
        return function(*arguments, **keywords)

    names = {**getattr(function, "__globals__", {}), function.__name__: recorded}
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(function) or "")
    with contextlib.redirect_stdout(io.StringIO()):
        for example in examples:
            with contextlib.suppress(Exception):  # an example may end in one
                exec(compile(example.source, "<example>", "exec"), names)
    return tuple(inputs)
