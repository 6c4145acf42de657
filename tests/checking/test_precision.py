"""To how many digits a result has to be right, and what is noted of float32."""

import numpy as np
import pytest
import torch

from autograder.checking.exercise import Exercise
from tests.checking.tiny_exercises import double, judged, statuses, tiny


def with_less_precise_inputs(dtype):
    exercise = tiny()
    exercise.spec(lambda x: 2 * x.astype(float))

    @exercise.case("Less precise numbers")
    def less_precise(student, rng):
        student.agrees(rng.normal(size=5).astype(dtype))

    return exercise


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_a_result_may_be_as_precise_as_its_inputs(dtype):
    def stored_in_float64(x):
        twice = np.zeros(x.shape)
        for index, number in np.ndenumerate(x):
            twice[index] = dtype(1.1) * number * dtype(2 / 1.1)
        return twice

    exercise = with_less_precise_inputs(dtype)
    assert judged(exercise, double).passed
    assert judged(exercise, lambda x: 2 * x.astype(float)).passed
    assert statuses(judged(exercise, stored_in_float64))[-1] == "ok"


def test_precision_may_not_fall_below_that_of_the_inputs():
    def rounded(x, dtype=np.float16):
        return (2 * x).astype(np.float16).astype(dtype)

    exercise = with_less_precise_inputs(np.float32)
    failure = judged(exercise, rounded).cases[-1].failure
    assert failure.difference.kind == "precision"
    failure = judged(exercise, lambda x: rounded(x, float)).cases[-1].failure
    assert failure.difference.kind == "value"


def test_low_precision_does_not_hide_in_parts_of_a_result():
    def parts(x):
        return {"twice": [2 * x], "sum": x.sum()}

    exercise = Exercise(parts, lesson="none", minutes=1, difficulty=1)
    exercise.spec(parts)

    @exercise.case("One array")
    def one_array(student, rng):
        student.agrees(rng.normal(size=4))

    assert judged(exercise, parts).passed
    low = judged(exercise, lambda x: {"twice": [np.float16(2 * x)], "sum": x.sum()})
    assert low.cases[0].failure.difference.kind == "precision"
    assert low.cases[0].failure.difference.path == ("twice", 0)
    low = judged(exercise, lambda x: {"twice": [2 * x], "sum": np.float16(x.sum())})
    assert low.cases[0].failure.difference.path == ("sum",)


def test_precision_is_measured_by_arrays_inside_arguments_too():
    def total(parameters):
        return parameters["w"].sum(axis=0)

    exercise = Exercise(total, lesson="none", minutes=1, difficulty=1)
    exercise.spec(total)

    @exercise.case("Parameters in a dictionary")
    def in_a_dictionary(student, rng):
        student.agrees({"w": rng.normal(size=(4, 3)).astype(np.float32)})

    assert judged(exercise, total).passed
    assert judged(exercise, lambda p: p["w"].astype(float).sum(axis=0)).passed


@pytest.mark.parametrize(("dtype", "enough"), [(np.float32, True), (np.float16, False)])
def test_arrays_of_whole_numbers_call_for_single_precision(dtype, enough):
    def halves(x):
        return x / 2

    exercise = Exercise(halves, lesson="test", minutes=1, difficulty=1)
    exercise.spec(halves)

    @exercise.case("Whole numbers have halves")
    def whole_numbers(student, rng):
        student.agrees(rng.integers(100, size=(2, 3)))

    assert judged(exercise, lambda x: (x / 2).astype(dtype)).passed is enough


def test_whole_number_arguments_call_for_full_precision():
    def steps(n):
        return np.arange(n) / 3

    exercise = Exercise(steps, lesson="none", minutes=1, difficulty=1)
    exercise.spec(steps)

    @exercise.case("Five steps")
    def five(student, rng):
        student.agrees(5)

    result = judged(exercise, lambda n: steps(n).astype(np.float16))
    assert result.cases[0].failure.difference.kind == "precision"
    assert result.cases[0].failure.difference.expected == "float64"
    assert judged(exercise, lambda n: steps(n).astype(np.float32)).is_single


def with_drawn_numbers(make, **terms):
    """Return an exercise of one case: three functions of drawn numbers are right.

    make : draws the numbers
    """
    exercise = Exercise(
        lambda x: x / 3, lesson="none", minutes=5, difficulty=1, **terms
    )
    exercise.spec(lambda x: x / 3)

    @exercise.case("A third")
    def a_third(student, rng):
        student.agrees(make(rng))

    @exercise.case("The sum of the thirds")
    def sum_of_thirds(student, rng):
        x = make(rng)
        student.expect(student(x).sum(), x.sum() / 3, "the sum")

    @exercise.case("In a list")
    def in_a_list(student, rng):
        x = make(rng)
        student.expect(student(x).tolist(), (x / 3).tolist())

    return exercise


def array(rng):
    return rng.normal(size=9)


def tensor(rng):
    return torch.from_numpy(array(rng))


def in_float32(x):
    return x.astype(np.float32) / 3 if isinstance(x, np.ndarray) else x.float() / 3


def back_in_float64(x):
    return (
        in_float32(x).astype(float)
        if isinstance(x, np.ndarray)
        else in_float32(x).double()
    )


@pytest.mark.parametrize("make", [array, tensor])
@pytest.mark.parametrize("answer", [in_float32, back_in_float64])
def test_float32_inside_is_right_and_noted(make, answer):
    result = judged(with_drawn_numbers(make), answer)
    assert result.passed
    assert [verdict.is_single for verdict in result.cases] == [True] * 3
    assert result.is_single


@pytest.mark.parametrize("make", [array, tensor])
@pytest.mark.parametrize("answer", [in_float32, back_in_float64])
def test_float32_inside_is_wrong_where_digits_are_the_subject(make, answer):
    result = judged(with_drawn_numbers(make, precise=True), answer)
    assert statuses(result) == ["wrong"] * 3
    assert not result.is_single


def test_one_case_may_be_about_digits():
    exercise = with_drawn_numbers(array)

    @exercise.case("All digits", precise=True)
    def all_digits(student, rng):
        student.agrees(array(rng))

    result = judged(exercise, in_float32)
    assert statuses(result) == ["ok"] * 3 + ["wrong"]


def test_full_precision_is_not_noted():
    assert not judged(with_drawn_numbers(array), lambda x: x / 3).is_single
    assert not judged(with_less_precise_inputs(np.float32), double).is_single


@pytest.mark.parametrize(
    "answer",
    [
        lambda x: x.astype(np.float16) / 3,
        lambda x: (x.astype(np.float16) / 3).astype(float),
        lambda x: x / 3 * (1 + 3e-5),
        lambda x: x / 3 + 1e-4 * (x == x[0]),
    ],
)
def test_fewer_digits_than_those_of_float32_are_wrong(answer):
    assert statuses(judged(with_drawn_numbers(array), answer))[0] == "wrong"
