"""Misconceptions that fit any exercise: written once, named in each bank.

``exercise.family(squeezed(), results_exchanged())`` adds them to a bank. Each makes of
a function the same one with the error, so that it can come on top of another
(``diagnosis``). The sentences use the exercise's own names.
"""

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np

from autograder.checking.exercise import Exercise, Family, Function, Misconception
from autograder.checking.values import (
    as_array,
    is_array,
    is_one_of,
    is_tensor,
)

Change = Callable[[Any, tuple[Any, ...]], Any]  # of a result, with the arguments


def squeezed() -> Family:
    """Return the family that drops axes of length 1 from the result."""
    return _of_results(
        "axes_of_length_1_dropped",
        "Your result loses its axes of length 1: one row comes back as a vector.",
        "Which shape does the docstring promise for a single one of them?",
        "np.squeeze, or an index such as [0], tidies away axes that are promised.",
        lambda value, _: each_array(value, lambda array: array.squeeze()),
    )


def results_exchanged() -> Family:
    """Return the family that returns the two results in the other order."""

    def family(exercise: Exercise) -> Misconception:
        _, second = (f"`{name}`" for name in exercise.returns)
        return _of_results(
            "results_exchanged",
            f"Your two results are in the other order: {second} comes first.",
            "In which order does the docstring name them?",
            "What is computed first is returned first.",
            lambda value, _: value[::-1] if type(value) is tuple else value,
        )(exercise)

    return family


def one_result_only(name: str) -> Family:
    """Return the family that returns one result alone, not in a tuple."""

    def family(exercise: Exercise) -> Misconception:
        index = exercise.returns.index(name)
        return _of_results(
            f"{name}_alone",
            f"Your result is `{name}` alone.",
            "How many results does the docstring promise, and in which order?",
            "The formula names one of them only; the others are needed to look inside.",
            lambda value, _: value[index] if type(value) is tuple else value,
        )(exercise)

    return family


def transposed() -> Family:
    """Return the family that exchanges the last two axes of the result."""
    return _of_results(
        "result_transposed",
        "Your result has its last two axes exchanged.",
        "What does a row of the result belong to?",
        "A transposition too many, or one too few, is silent where sizes agree.",
        lambda value, _: each_array(
            value, lambda array: np.swapaxes(array, -1, -2) if array.ndim > 1 else array
        ),
    )


def rows_in_one_axis() -> Family:
    """Return the family that puts all rows of the result behind each other."""
    return _of_results(
        "rows_in_one_axis",
        "Your result has one axis of rows, whatever axes come first.",
        "Which shape does the docstring promise for a batch, and for a single row?",
        "reshape(-1, d) makes one loop or one product enough, and is not undone.",
        lambda value, _: each_array(
            value,
            lambda array: array.reshape(-1, array.shape[-1]) if array.ndim else array,
        ),
    )


def cut_to_whole_numbers(*names: str, result: str = "") -> Family:
    """Return the family that cuts the result where these arguments are whole numbers.

    result : which of several
    """

    def family(exercise: Exercise) -> Misconception:
        which = " and ".join(f"`{name}`" for name in names)
        holds = "holds" if len(names) == 1 else "hold"

        def cut(value: Any, arguments: tuple[Any, ...]) -> Any:
            by_name = dict(zip(exercise.parameters, arguments, strict=False))
            arrays = [by_name[each] for each in names if is_array(by_name.get(each))]
            if not any(array.dtype.kind in "iu" for array in arrays):
                return value
            if not result or type(value) is not tuple:
                return each_array(value, _truncated)
            index = exercise.returns.index(result)
            changed = each_array(value[index], _truncated)
            return (*value[:index], changed, *value[index + 1 :])

        return _of_results(
            "cut_to_whole_numbers",
            f"Your {f'`{result}`' if result else 'result'} loses what follows the "
            f"decimal point where {which} {holds} integers.",
            "Which dtype has the array that you write the result into?",
            "np.zeros_like and dtype=x.dtype take over the integers of an argument.",
            cut,
        )(exercise)

    return family


def small_weights_cut(smallest: float = 0.001) -> Family:
    """Return the family that makes small weights 0."""
    return _of_results(
        "small_weights_cut",
        f"Your weights below {smallest} became 0.",
        "To which scores does the softmax give a weight of exactly 0?",
        "Small weights are taken for noise, and are tidied away.",
        lambda value, _: each_array(
            value, lambda array: array * (array >= smallest).astype(array.dtype)
        ),
    )


def as_list(instead_of: str = "an array") -> Family:
    """Return the family that returns lists of numbers for arrays or tensors."""
    return _of_results(
        "list_instead_of_array",
        f"Your numbers come in a list, not in {instead_of}.",
        "Which type does the docstring promise?",
        "A list comprehension is returned as it is.",
        lambda value, _: each_array(value, lambda array: array.tolist()),
    )


def as_numpy() -> Family:
    """Return the family that returns NumPy arrays for tensors."""
    return _of_results(
        "array_instead_of_tensor",
        "Your numbers come in a NumPy array, or as plain numbers, not in a tensor.",
        "Which type does the docstring promise?",
        "What was computed with NumPy, or went through .numpy(), is returned as it is.",
        lambda value, _: each_array(value, lambda array: as_array(array)),
    )


def in_place(
    name: str,
    changed: Callable[..., Any],
    spelling: str = "",
    *,
    where_it_fits: bool = False,
) -> Family:
    """Return the family that overwrites an argument.

    changed : of the arguments, what it holds after the call
    spelling : a word for the name, where a bank has several with other numbers
    where_it_fits : whether that is written only where it has the argument's shape
    """

    def family(exercise: Exercise) -> Misconception:
        position = exercise.parameters.index(name)
        where = " where what is written there has its shape" if where_it_fits else ""

        def wrap(function: Function) -> Function:
            @wraps(function)
            def wrong(*arguments: Any, **keywords: Any) -> Any:
                after = changed(*arguments, **keywords)
                result = function(*arguments, **keywords)
                fits = position < len(arguments) and (
                    not where_it_fits or arguments[position].shape == after.shape
                )
                if fits:
                    arguments[position][...] = after
                return result

            return wrong

        return Misconception(
            f"{name}_changed_in_place{spelling and '_'}{spelling}",
            f"Your call changes `{name}`{where}: the caller's array is overwritten.",
            f"Does your answer write into the array `{name}`, or into a new one?",
            "Operators such as += and *= look like new arrays, and change the old one.",
            wrap(exercise.reference),
            wrap=wrap,
        )

    return family


def _of_results(
    name: str, diagnosis: str, question: str, why: str, change: Change
) -> Family:
    """Return the family that changes what a function returns."""

    def family(exercise: Exercise) -> Misconception:
        def wrap(function: Function) -> Function:
            @wraps(function)
            def wrong(*arguments: Any, **keywords: Any) -> Any:
                value = function(*arguments, **keywords)
                bound = inspect.signature(exercise.reference).bind(
                    *arguments, **keywords
                )
                return change(value, tuple(bound.arguments.values()))

            return wrong

        function = wrap(exercise.reference)
        return Misconception(name, diagnosis, question, why, function, wrap=wrap)

    return family


def _truncated(array: Any) -> Any:
    return array.astype(int)


def each_array(value: Any, change: Callable[[Any], Any]) -> Any:
    """Change each array or tensor of a result."""
    if is_array(value) or is_tensor(value):
        return change(value)
    if is_one_of(value, (list, tuple)):
        parts: Sequence[Any] = [each_array(part, change) for part in value]
        return type(value)(parts)
    if type(value) is dict:
        return {name: each_array(part, change) for name, part in value.items()}
    return value
