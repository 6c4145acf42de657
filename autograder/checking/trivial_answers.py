"""Answers that compute nothing: what they pass may not pay by itself.

They know the form of each right result, refuse what is to be refused, and give what is
the same in every draw of the inputs as if they had learned it by heart. Otherwise they
return a constant, an argument as it came, or the results of another draw.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autograder.checking.call import Call, copied, local_runner
from autograder.checking.comparison import first_difference
from autograder.checking.exercise import Case, Exercise, Function
from autograder.checking.judging import JudgedCase, judge_case
from autograder.checking.student import StudentFunction
from autograder.checking.values import is_array, is_tensor

Shape = tuple[int, ...]
Arguments = tuple[Any, ...]


def trivial_answers_that_pass(
    exercise: Exercise, case: Case, seed: int, *, by_heart: bool = True
) -> list[str]:
    """Return the names of the trivial answers that pass a case with this seed.

    by_heart : whether they have learned what is the same in every draw
    """
    other_draw: list[Call] = []
    if by_heart:
        judge_right_answer(exercise, case, seed + 1, other_draw)
    passing = []
    for name, make in TRIVIAL.items():
        answer = _trivial_answer(exercise.reference, make, iter(other_draw))
        student = StudentFunction(exercise, local_runner(answer), [])
        if judge_case(case, student, seed).verdict.status == "ok":
            passing.append(name)
    return passing


def judge_right_answer(
    exercise: Exercise, case: Case, seed: int, calls: list[Call] | None = None
) -> JudgedCase:
    """Judge the reference by one case.

    calls : gets the calls that the case makes
    """
    runner = local_runner(exercise.reference)
    student = StudentFunction(exercise, runner, [] if calls is None else calls)
    return judge_case(case, student, seed)


def _trivial_answer(
    reference: Function,
    make: Callable[[Any, Arguments, Any], Any],
    other_draw: Iterator[Call],
) -> Function:
    """Return an answer to one case.

    make : from the right result's form, the arguments and the same call's result in
        the other draw to a result
    """

    def answer(*arguments: Any, **keywords: Any) -> Any:
        call = next(other_draw, None)
        learned = call.result.value if call else None
        right = reference(*copied(arguments), **copied(keywords))
        if first_difference(learned, right) is None:
            return right
        return make(right, arguments, learned)

    return answer


# What they return: constants


def _constant(numbers: Callable[[Shape], Any]) -> Callable[[Any, Arguments, Any], Any]:
    """Return results of the right form with numbers that depend on the shape only."""

    def make(right: Any, arguments: Arguments = (), learned: Any = None) -> Any:
        if is_array(right) or is_tensor(right):
            array = np.broadcast_to(numbers(tuple(right.shape)), right.shape).copy()
            if is_array(right):
                return array.astype(right.dtype)
            return right.new_tensor(array.tolist()).reshape(right.shape)
        if isinstance(right, list) and all(type(part) is float for part in right):
            return np.broadcast_to(numbers((len(right),)), len(right)).tolist()
        if isinstance(right, (list, tuple)):
            return type(right)(make(part) for part in right)
        if isinstance(right, dict):
            return {key: make(part) for key, part in right.items()}
        if isinstance(right, (bool, int, float, np.generic)):
            return type(right)(np.ravel(numbers(()))[0])
        return type(right)()

    return make


def _uniform(shape: Shape) -> float:
    return 1.0 / max((1, *shape[-1:]))


def _one_hot(position: int) -> Callable[[Shape], np.ndarray]:
    """Return rows with a 1 at one position and zeros elsewhere."""

    def numbers(shape: Shape) -> np.ndarray:
        row = np.zeros(shape[-1:] or (1,))
        row[position : position + 1 or None] = 1.0
        return row if shape else row[0]

    return numbers


def _identity(shape: Shape) -> np.ndarray:
    return np.eye(shape[-2], shape[-1]) if len(shape) > 1 else np.ones(shape)


def _zeros_and_ones(shape: Shape) -> np.ndarray:
    return np.arange(shape[-1] if shape else 1) % 2


def _random(shape: Shape) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape)


def _empty(right: Any, arguments: Arguments, learned: Any) -> Any:
    if isinstance(right, (list, dict, str)):
        return type(right)()
    return _zeros(right, arguments, learned)


_zeros = _constant(np.zeros)

# What they return: what they were given


def _handed_back(which: int) -> Callable[[Any, Arguments, Any], Any]:
    """Return an argument of the right form, the first or the last that there is."""

    def make(right: Any, arguments: Arguments, learned: Any) -> Any:
        offers = [offer for each in arguments for offer in _offers(each)]
        fitting = [offer for offer in offers if _fits(offer, right)]
        if fitting:
            return fitting[which]
        if isinstance(right, tuple):
            return tuple(make(part, arguments, None) for part in right)
        if isinstance(right, dict):
            return {key: make(part, arguments, None) for key, part in right.items()}
        return _zeros(right, arguments, learned)

    return make


def _offers(argument: Any) -> Iterator[Any]:
    """Yield an argument, its parts, and what it is as another kind of sequence."""
    yield argument
    if isinstance(argument, (list, tuple)):
        yield from (list(argument), tuple(argument))
        if all(isinstance(part, str) for part in argument):
            yield "".join(argument)
    if isinstance(argument, dict):
        yield from argument.values()


def _fits(offer: Any, right: Any) -> bool:
    if isinstance(right, (str, list, dict)):
        return type(offer) is type(right)
    return first_difference(offer, right, values=False) is None


def _error(right: Any, arguments: Arguments, learned: Any) -> Any:
    raise ValueError


TRIVIAL: dict[str, Callable[[Any, Arguments, Any], Any]] = {
    "zeros": _zeros,
    "ones": _constant(np.ones),
    "a constant 0.5": _constant(lambda shape: 0.5),
    "a constant −3": _constant(lambda shape: -3.0),
    "uniform weights": _constant(_uniform),
    "all weight on the first": _constant(_one_hot(0)),
    "all weight on the last": _constant(_one_hot(-1)),
    "the identity matrix": _constant(_identity),
    "zeros and ones in turn": _constant(_zeros_and_ones),
    "the same random numbers": _constant(_random),
    "nothing": _empty,
    "the first argument": _handed_back(0),
    "the last argument": _handed_back(-1),
    "an error": _error,
    "the results of another draw": lambda right, arguments, learned: learned,
}
