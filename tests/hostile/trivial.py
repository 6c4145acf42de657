"""Results of the right form that nothing was computed for, in the whole lesson."""

import numpy as np

from autograder.checking.judging import NOTEBOOK_SEED
from autograder.checking.matrix import judge_function
from autograder.checking.registry import load
from autograder.checking.trivial_answers import judge_right_answer
from tests.hostile import hostile
from tests.hostile.lies import FAMILY, twist
from tests.submissions import EXERCISES

# What they have no part in still holds, and pays nothing: arguments stay, errors are
# raised.
NOWHERE_RIGHT = dict.fromkeys(EXERCISES, "any")
OF_THE_FORM = """
def like(answer, make):
    if isinstance(answer, dict):
        return {name: like(part, make) for name, part in answer.items()}
    if isinstance(answer, (tuple, list)):
        return type(answer)(like(part, make) for part in answer)
    return type(answer)(make(answer)) if isinstance(answer, float) else make(answer)


def first_that_fits(given, answer):
    fitting = [each for each in given if np.shape(each) == np.shape(answer)]
    return fitting[0] if fitting else np.zeros(np.shape(answer))
"""


def everywhere(submission, expression, above=""):
    """Return something made of the right answer's form in all exercises."""
    for name in EXERCISES:
        twist(submission, expression, OF_THE_FORM + above, name)


@hostile(FAMILY, lost=NOWHERE_RIGHT)
def answers_with_zeros(submission, world):
    everywhere(submission, "like(answer, lambda part: np.zeros(np.shape(part)))")


@hostile(FAMILY, lost=NOWHERE_RIGHT)
def answers_with_a_constant(submission, world):
    everywhere(submission, "like(answer, lambda part: np.full(np.shape(part), 0.5))")


@hostile(FAMILY, lost=NOWHERE_RIGHT)
def answers_with_uniform_weights(submission, world):
    uniform = "np.full(np.shape(part), 1 / (*np.shape(part), 1)[np.ndim(part) - 1])"
    everywhere(submission, f"like(answer, lambda part: {uniform})")


@hostile(FAMILY, lost=NOWHERE_RIGHT)
def answers_with_the_same_random_numbers(submission, world):
    drawn = "np.random.default_rng(0).normal(size=np.shape(part))"
    everywhere(submission, f"like(answer, lambda part: {drawn})")


@hostile(FAMILY, lost=NOWHERE_RIGHT)
def hands_its_arguments_back(submission, world):
    everywhere(submission, "like(answer, lambda part: first_that_fits(given, part))")


@hostile(FAMILY, lost=NOWHERE_RIGHT)
def raises_the_expected_error_for_everything(submission, world):
    everywhere(submission, "refuse()", "def refuse():\n    raise ValueError")


LEARNED = """
def lists(value):
    if isinstance(value, dict):
        return [(name, lists(part)) for name, part in value.items()]
    if isinstance(value, (tuple, list)):
        return [lists(part) for part in value]
    return np.asarray(value).tolist()


def learned(given, named, answer):
    parts = iter(BOOK.get(str([lists(given), lists(named)]), []))
    fill = lambda part: np.reshape(next(parts, 0.0 * np.asarray(part)), np.shape(part))
    return like(answer, fill)
"""


@hostile(FAMILY, lost=NOWHERE_RIGHT)
def results_of_the_notebooks_cases_learned_by_heart(submission, world):
    tools: dict = {}
    exec("import numpy as np\n" + OF_THE_FORM + LEARNED, tools)
    for name in EXERCISES:
        exercise = load(name)
        result = judge_function(
            exercise, exercise.reference, exercise.cases, NOTEBOOK_SEED
        )
        book = {}
        for call in result.calls:
            parts: list = []
            tools["like"](call.result.value, lambda part, to=parts: to.append(part))
            key = str([tools["lists"](call.arguments), tools["lists"](call.keywords)])
            book[key] = tools["lists"](parts)
        above = OF_THE_FORM + LEARNED + f"BOOK = {book}\n"
        twist(submission, "learned(given, named, answer)", above, name)


LOOKED_UP = """
def offered(given, named):
    arrays = [np.asarray(part, float) for part in (*given, *named.values())]
    means = [part.mean(axis=axis) for part in arrays for axis in range(part.ndim)]
    return np.concatenate([np.ravel(part) for part in (*arrays, *means)])


def shapes(given, named):
    return str([np.shape(part) for part in (*given, *named.values())])


def looked_up(given, named, answer):
    book, offers = BOOK.get(shapes(given, named), []), offered(given, named)
    numbers = iter([factor * offers[i] + constant for i, factor, constant in book])
    row = lambda part: [next(numbers, 0.0) for _ in range(np.size(part))]
    return like(answer, lambda part: np.reshape(row(part), np.shape(part)))
"""
DRAWS = 8  # enough that no number follows a position of an argument by chance
COMPUTED = 0, 0.0, 0.0


def sources(results, offers):
    """Return position, factor and constant of each number that follows an argument.

    The factor is 0 for a number that never changes; all three are for a computed one.

    results, offers : the numbers of a call, a row for each draw of the inputs
    """
    book = []
    for result in results.T:
        with np.errstate(all="ignore"):  # numbers of the arguments that never change
            slopes = (result[1] - result[0]) / (offers[1] - offers[0])
        slopes = np.nan_to_num(slopes, posinf=0.0, neginf=0.0)
        rests = result[:, np.newaxis] - slopes * offers
        position = int(np.ptp(rests, axis=0).argmin())
        follows = np.ptp(rests[:, position]) < 1e-9
        source = position, float(slopes[position]), float(rests[0, position])
        book.append(source if follows else COMPUTED)
    return book


def add_to(book, calls, tools):
    """Add what one call of a case gives in several draws, where it tells more."""
    results: list = [[] for _ in calls]
    for call, row in zip(calls, results, strict=True):
        if call.result.kind == "value":
            tools["like"](call.result.value, lambda part, to=row: to.extend(part.flat))
    offers = [tools["offered"](call.arguments, call.keywords) for call in calls]
    if len({(len(a), len(b)) for a, b in zip(results, offers, strict=True)}) == 1:
        key = tools["shapes"](calls[0].arguments, calls[0].keywords)
        new = sources(np.array(results, float), np.array(offers))
        book[key] = min(new, book.get(key, new), key=lambda each: each.count(COMPUTED))


@hostile(FAMILY, lost=NOWHERE_RIGHT)
def answers_by_indexing_and_look_up(submission, world):
    """Answer whatever follows one position of the arguments, or their means.

    For each case in which the inputs are drawn, by the shapes of the arguments.
    """
    tools: dict = {}
    exec("import numpy as np\n" + OF_THE_FORM + LOOKED_UP, tools)
    for name in EXERCISES:
        exercise, book = load(name), {}
        for case in exercise.cases:
            draws: list = [[] for _ in range(DRAWS)]
            for seed, calls in enumerate(draws):
                judge_right_answer(exercise, case, seed, calls)
            for calls in zip(*draws, strict=False):
                add_to(book, calls, tools)
        above = OF_THE_FORM + LOOKED_UP + f"BOOK = {book}\n"
        twist(submission, "looked_up(given, named, answer)", above, name)
