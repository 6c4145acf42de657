"""Answers that compute nothing: what they pass may not pay by itself.

They know the form of each right result, refuse what is to be refused, and give what is
the same in every draw of the inputs as if they had learned it by heart. Otherwise they
return a constant, an argument as it came or parts of it, or the results of another
draw.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from autograder.checking.call import Call, CallResult, copied, local_runner
from autograder.checking.comparison import first_difference
from autograder.checking.exercise import Case, Exercise, Function
from autograder.checking.judging import JudgedCase, judge_case
from autograder.checking.learners_tests import trivial_tests
from autograder.checking.remembered import key_of, remembered, remembering
from autograder.checking.student import StudentFunction
from autograder.checking.values import as_array, is_array, is_tensor, leaves

Shape = tuple[int, ...]
Arguments = tuple[Any, ...]
# From the right result's form, the arguments, and the same call in other draws of the
# inputs (none without learning) to a result.
Make = Callable[[Any, Arguments, list[Call]], Any]
NUMBERS = (bool, int, float, np.generic)
OTHER_DRAWS = 7  # enough that no number follows a position of an argument by chance


def trivial_answers_that_pass(
    exercise: Exercise, case: Case, seed: int, *, by_heart: bool = True
) -> list[str]:
    """Return the names of the trivial answers that pass a case with this seed.

    by_heart : whether they have learned what is the same in every draw
    """
    if exercise.is_test:
        tests = trivial_tests()
        return [name for name in tests if _passes(exercise, case, seed, tests[name])]
    draws: list[list[Call]] = []
    for number in range(1, OTHER_DRAWS + 1 if by_heart else 1):
        draws.append([])
        judge_right_answer(exercise, case, seed + number, draws[-1])
    makes = dict(TRIVIAL)
    if is_selection(exercise):
        del makes[PICKED]
    passing = []
    with remembering():  # all get the same calls
        for name, make in makes.items():
            answer = _trivial_answer(exercise.reference, make, draws)
            if _passes(exercise, case, seed, answer):
                passing.append(name)
    return passing


def _passes(exercise: Exercise, case: Case, seed: int, answer: Function) -> bool:
    student = StudentFunction(exercise, local_runner(answer), [])
    return judge_case(case, student, seed).verdict.status == "ok"


def is_selection(exercise: Exercise) -> bool:
    """Decide whether to put numbers in their positions is the exercise's very work."""
    calls = []
    for number in range(OTHER_DRAWS + 1):
        try:
            inputs = exercise.usual_inputs(np.random.default_rng(number))
        except TypeError:  # it has none
            return False
        right = exercise.reference(*copied(inputs))
        calls.append(Call(inputs, result=CallResult("value", right)))
    if first_difference(calls[0].result.value, right) is None:  # nothing to select
        return False
    return first_difference(_picked(right, inputs, calls[:-1]), right) is None


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
    reference: Function, make: Make, draws: list[list[Call]]
) -> Function:
    """Return an answer to one case.

    draws : the case's calls in each of the other draws
    """
    made = 0

    def answer(*arguments: Any, **keywords: Any) -> Any:
        nonlocal made
        others = [calls[made] for calls in draws if made < len(calls)]
        made += 1
        right = remembered(
            (reference, "right"),
            key_of(arguments, keywords),
            lambda: reference(*copied(arguments), **copied(keywords)),
        )
        if others and first_difference(others[0].result.value, right) is None:
            return right
        return make(right, arguments, others)

    return answer


# What they return: constants


def _constant(numbers: Callable[[Shape], Any]) -> Callable[..., Any]:
    """Return results of the right form with numbers that depend on the shape only."""

    def make(right: Any, arguments: Arguments = (), others: Any = ()) -> Any:
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
        if isinstance(right, NUMBERS):
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


def _empty(right: Any, arguments: Arguments, others: list[Call]) -> Any:
    if isinstance(right, (list, dict, str)):
        return type(right)()
    return _zeros(right)


_zeros = _constant(np.zeros)

# What they return: what they were given


def _handed_back(which: int) -> Make:
    """Return an argument of the right form, the first or the last that there is."""

    def make(right: Any, arguments: Arguments, others: list[Call]) -> Any:
        offers = [offer for each in arguments for offer in _offers(each)]
        fitting = [offer for offer in offers if _fits(offer, right)]
        if fitting:
            return fitting[which]
        if isinstance(right, tuple):
            return tuple(make(part, arguments, []) for part in right)
        if isinstance(right, dict):
            return {key: make(part, arguments, []) for key, part in right.items()}
        return _zeros(right)

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


# What they return: parts of what they were given


def _spread(which: int) -> Make:
    """Return an argument, or its first rows, again and again: a bias alone, say."""

    def make(right: Any, arguments: Arguments, others: list[Call]) -> Any:
        def numbers(shape: Shape) -> Any:
            fitting = [
                rows
                for offer in _arrays(arguments)
                for rows in (offer, offer[: shape[-2]] if len(shape) > 1 else offer)
                if offer.ndim and _fits_last_axes(rows, shape)
            ]
            return fitting[which] if fitting else 0.0

        return _constant(numbers)(right)

    return make


def _fits_last_axes(rows: np.ndarray, shape: Shape) -> bool:
    return rows.ndim <= len(shape) and rows.shape == shape[len(shape) - rows.ndim :]


def _pointed_at(right: Any, arguments: Arguments, others: list[Call]) -> Any:
    """Return rows of the last argument whose keys are largest where the first is.

    With two arguments the first one's largest numbers are the rows' positions.
    """
    offers = [offer for offer in _arrays(arguments) if offer.ndim and offer.size]

    def numbers(shape: Shape) -> Any:
        if len(offers) < 2 or offers[-1].ndim != 2:
            return 0.0
        rows = offers[0].argmax(axis=-1)
        if len(offers) > 2:
            keys = offers[1].argmax(axis=-1)
            rows = (rows[..., np.newaxis] == keys).argmax(axis=-1)
        values = offers[-1]
        chosen = values[np.minimum(rows, len(values) - 1)]
        one_hot = np.eye(len(values))[np.minimum(rows, len(values) - 1)]
        fitting = [each for each in (chosen, one_hot) if each.shape == shape]
        return fitting[0] if fitting else 0.0

    return _constant(numbers)(right)


def _picked(right: Any, arguments: Arguments, others: list[Call]) -> Any:
    """Return each number that in all draws comes from one position in the arguments.

    There is a number, or the mean along an axis; what comes from it is a multiple of it
    plus a constant. All other numbers are 0.
    """
    results = [*(_flat(each.result.value) for each in others), _flat(right)]
    positions = [
        *(_positions(each.arguments) for each in others),
        _positions(arguments),
    ]
    forms = {str([path for path, _ in leaves(each.result.value)]) for each in others}
    forms |= {str([path for path, _ in leaves(right)])}
    sizes = {
        (result.size, position.size)
        for result, position in zip(results, positions, strict=True)
    }
    if len(others) < OTHER_DRAWS or len(forms) > 1 or len(sizes) > 1:
        return _zeros(right)
    with np.errstate(all="ignore"):
        wanted, offered = (_directions(np.stack(each)) for each in (results, positions))
        likeness = wanted.T @ offered
        if not {*results[-1]} <= {0.0, 1.0}:  # "not" is a computation, "minus" is none
            likeness = abs(likeness)
        follows = (likeness > 1 - 1e-9).any(axis=1)
    constant = (np.stack(results) == results[-1]).all(axis=0)
    parts = iter(np.where(follows | constant, results[-1], 0.0))

    def numbers(shape: Shape) -> np.ndarray:
        return np.reshape([*islice(parts, int(np.prod(shape)))], shape)

    return _constant(numbers)(right)


def _directions(numbers: np.ndarray) -> np.ndarray:
    """Return how each column goes up and down, without its mean and its size."""
    changes = numbers - numbers.mean(axis=0)
    return np.nan_to_num(changes / np.linalg.norm(changes, axis=0), posinf=0, neginf=0)


def _arrays(value: Any) -> list[np.ndarray]:
    """Return the numbers in a value, array by array."""
    return [
        as_array(leaf)
        for _, leaf in leaves(value)
        if is_array(leaf) or is_tensor(leaf) or isinstance(leaf, NUMBERS)
    ]


def _flat(value: Any) -> np.ndarray:
    """Return all numbers in a value in a row."""
    return np.concatenate([np.zeros(0), *(each.ravel() for each in _arrays(value))])


def _positions(arguments: Arguments) -> np.ndarray:
    """Return the numbers of the arguments in a row, and their means along each axis."""
    arrays = [each for each in _arrays(arguments) if each.size]
    means = [each.mean(axis=axis) for each in arrays for axis in range(each.ndim)]
    return _flat([*arrays, *means])


def _of_another_draw(right: Any, arguments: Arguments, others: list[Call]) -> Any:
    return others[0].result.value if others else None


def _error(right: Any, arguments: Arguments, others: list[Call]) -> Any:
    raise ValueError


PICKED = "numbers of the arguments, each from its position"
TRIVIAL: dict[str, Make] = {
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
    "the results of another draw": _of_another_draw,
    "the first argument, spread out": _spread(0),
    "the last argument, spread out": _spread(-1),
    "the rows of the last argument that a 1 points at": _pointed_at,
    PICKED: _picked,
}
