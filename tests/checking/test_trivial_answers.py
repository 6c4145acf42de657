"""Answers that compute nothing: what they return, and that no bank pays for them."""

import copy
import functools
import re

import numpy as np
import pytest

from autograder.checking import judging
from autograder.checking.call import copied, local_runner
from autograder.checking.exercise import Exercise
from autograder.checking.judging import NOTEBOOK_SEED, judge_case
from autograder.checking.learners_tests import trivial_tests
from autograder.checking.matrix import judge_function
from autograder.checking.registry import exercise_names, load
from autograder.checking.student import StudentFunction
from autograder.checking.trivial_answers import (
    PICKED,
    TRIVIAL,
    trivial_answers_that_pass,
)


def parts(x, word=("a", "b")):
    return np.zeros((2, 3)), 1.5, [*word], {"text": "".join(word)}, 7, True


X = np.ones((2, 3))
RETURNED = {
    "a constant 0.5": (X / 2, 0.5, ["", ""], {"text": ""}, 0, True),
    "zeros and ones in turn": (
        np.array([[0.0, 1, 0]] * 2),
        0.0,
        ["", ""],
        {"text": ""},
        0,
        False,
    ),
    "all weight on the first": (
        np.array([[1.0, 0, 0]] * 2),
        1.0,
        ["", ""],
        {"text": ""},
        1,
        True,
    ),
    "zeros": (0 * X, 0.0, ["", ""], {"text": ""}, 0, False),
    "ones": (X, 1.0, ["", ""], {"text": ""}, 1, True),
    "uniform weights": (X / 3, 1.0, ["", ""], {"text": ""}, 1, True),
    "all weight on the last": (
        np.array([[0.0, 0, 1]] * 2),
        1.0,
        ["", ""],
        {"text": ""},
        1,
        True,
    ),
    "the identity matrix": (np.eye(2, 3), 1.0, ["", ""], {"text": ""}, 1, True),
    "the first argument": (X, 0.0, ["a", "b"], {"text": "ab"}, 0, False),
}


@pytest.mark.parametrize("name", RETURNED)
def test_trivial_answer_has_the_right_form(name):
    returned = TRIVIAL[name](parts(X), (X, ("a", "b")), [])
    for actual, expected in zip(returned, RETURNED[name], strict=True):
        assert type(actual) is type(expected)
        np.testing.assert_array_equal(actual, expected)


def exercise_with(run, reference):
    made = Exercise(reference, lesson="none", minutes=1, difficulty=1)
    made.spec(reference)
    made.case("It holds")(run)
    return made, made.cases[0]


def test_same_example_in_each_draw_is_learned_by_heart():
    def literal(student, rng):
        student.agrees(np.arange(3.0))
        student.agrees(rng.normal(size=3) * 0)

    passing = trivial_answers_that_pass(*exercise_with(literal, np.exp), seed=1)
    assert passing == [*TRIVIAL]


def test_drawn_example_is_not():
    def drawn(student, rng):
        student.agrees(rng.normal(size=3))

    assert trivial_answers_that_pass(*exercise_with(drawn, np.exp), seed=1) == []


def test_results_compared_with_one_another_may_be_any():
    def reversed_rows(student, rng):
        x = rng.normal(size=(4, 2))
        before = student(x)
        student.expect(student(x[::-1]), before[::-1])

    exercise, case = exercise_with(reversed_rows, np.exp)
    passing = trivial_answers_that_pass(exercise, case, seed=1)
    assert {"zeros", "uniform weights", "the results of another draw"} <= {*passing}
    assert "the same random numbers" not in passing


def test_errors_that_are_asked_for_are_given():
    def refused(student, rng):
        student.raises(ValueError, rng.normal(size=3))

    def refuse(x):
        raise np.linalg.LinAlgError("no")

    passing = trivial_answers_that_pass(*exercise_with(refused, refuse), seed=1)
    assert passing == [*TRIVIAL]


def test_numbers_from_their_positions_are_found_in_each_draw():
    def rows(student, rng):
        x, bias = rng.normal(size=(3, 2)), rng.normal(size=2)
        student.agrees(x, bias)

    def select(x, bias):
        return 100.0 * x[[2, 0]] + 1, x.mean(axis=0), bias

    passing = trivial_answers_that_pass(*exercise_with(rows, select), seed=1)
    assert passing == [PICKED]
    summed = exercise_with(rows, lambda x, bias: x[0] + bias)
    assert trivial_answers_that_pass(*summed, seed=1) == []


def test_bias_alone_and_rows_that_a_1_points_at_are_found():
    def drawn(student, rng):
        order = rng.permutation(4)
        student.agrees(np.eye(4)[order], rng.normal(size=(4, 3)))

    passing = trivial_answers_that_pass(
        *exercise_with(drawn, lambda q, v: q @ v), seed=1
    )
    assert passing == ["the rows of the last argument that a 1 points at"]

    def biased(student, rng):
        student.agrees(rng.normal(size=(4, 3)), rng.normal(size=3))

    passing = trivial_answers_that_pass(
        *exercise_with(biased, lambda x, bias: 0 * x + bias), seed=1
    )
    assert "the last argument, spread out" in passing


# Letters, one by one, their stand-ins, and what stands in <…> as a whole, which is no
# letter.
LETTERS = re.compile("<[^<>]*>|[a-zA-Z\ue000-\ue033]")
STAND_INS = [chr(0xE000 + number) for number in range(52)]


def renamed(value, renaming):
    """Return a value with other letters in all its texts."""
    if isinstance(value, str):
        return LETTERS.sub(lambda match: renaming.get(match[0], match[0]), value)
    if isinstance(value, dict):
        return dict(renamed([*value.items()], renaming))
    if isinstance(value, (list, tuple)):
        return type(value)(renamed(part, renaming) for part in value)
    return value


def texts(value):
    """Return all texts inside a value, one after the other."""
    if isinstance(value, dict):
        value = value.items()
    if isinstance(value, (list, tuple, type({}.items()))):
        return "".join(map(texts, value))
    return value if isinstance(value, str) else ""


def without_letters(arguments):
    """Yield arguments with stand-ins for their letters, and who stands for which.

    The letters are in their own order, then in that in which they are first met.
    """
    letters = [each for each in LETTERS.findall(texts(arguments)) if len(each) == 1]
    for order in (sorted({*letters}), [*dict.fromkeys(letters)]):
        renaming = dict(zip(order, STAND_INS, strict=False))
        yield repr(renamed(arguments, renaming)), renaming


@functools.cache
def in_the_notebook(name):
    """Return the results of the visible cases in the notebook, without letters."""
    exercise, results = load(name), {}
    visible = [case for case in exercise.cases if case.visible]
    judged = judge_function(exercise, exercise.reference, visible, NOTEBOOK_SEED)
    for call in judged.calls:
        for key, renaming in without_letters(call.arguments):
            results[key] = renamed(call.result.value, renaming)
    return results


def looked_up(name, arguments):
    """Return what the visible cases showed for such arguments, in these letters."""
    for key, renaming in without_letters(arguments):
        if key in in_the_notebook(name):
            letters = {stand_in: letter for letter, stand_in in renaming.items()}
            return renamed(copy.deepcopy(in_the_notebook(name)[key]), letters)
    return None


@pytest.mark.thorough  # test_bank_pays_for_computing_only looks at each case alone
@pytest.mark.parametrize("name", exercise_names())
def test_answer_that_computes_nothing_earns_nothing(name):
    """Whatever the answer returns where no visible case has shown the result."""
    exercise = copy.copy(load(name))
    exercise.spec(exercise.reference)  # which answers faster

    def earned(answer):
        judged = [
            judge_case(case, StudentFunction(exercise, local_runner(answer), []), 1)
            for case in exercise.cases
        ]
        verdicts = judging.with_points(judged)
        return [each.case for each in verdicts if each.points]

    if exercise.is_test:  # what the reference raises is its answer
        assert [*map(earned, trivial_tests().values())] == [[]] * len(trivial_tests())
        return
    for make in TRIVIAL.values():

        def answer(*arguments, make=make, **keywords):
            right = exercise.reference(*copied(arguments), **copied(keywords))
            result = None if keywords else looked_up(name, arguments)
            return make(right, arguments, []) if result is None else result

        assert earned(answer) == []
