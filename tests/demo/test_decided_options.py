"""The demo's wrong answers read like a learner's: what one choice needs is left."""

import inspect

import numpy as np
import pytest

from autograder.checking.call import local_runner
from autograder.checking.diagnosis import same_result
from autograder.checking.registry import exercises_of
from autograder.demo.decided_options import with_options_decided
from autograder.demo.sample_class import wrong_answer

pytestmark = pytest.mark.thorough

SOURCE = inspect.cleandoc(
    """
    def f(x, *, by="two", order="first", axis=-1):
        table = {"two": 2, "three": 3}
        table |= {"none": 1}
        if order == "last" or by in ("four", "five"):
            return x
        y = x.sum(axis=axis)
        return y * table.get(by, 9) if order != "never" else None
    """
)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["y = x.sum(axis=-1)", "return y * 2"]),
        ({"by": "none"}, ["return x.sum(axis=-1)"]),
        ({"by": "six", "axis": None}, ["y = x.sum(axis=None)", "return y * 9"]),
        ({"by": "four"}, ["return x"]),
        ({"order": "last"}, ["return x"]),
        ({"order": "never"}, ["return None"]),
    ],
)
def test_only_what_the_choice_needs_is_left(options, expected):
    first, *lines = with_options_decided(SOURCE, options).splitlines()
    assert first == "def f(x):"
    assert [line.strip() for line in lines] == expected


@pytest.mark.parametrize("lesson", ["01_dot_product_attention", "04_masking"])
def test_answers_of_a_lesson_give_what_the_options_give(lesson):
    rng = np.random.default_rng(0)
    for exercise in exercises_of(lesson):
        inputs = exercise.usual_inputs(rng)
        for each in exercise.misconceptions:
            if each.kind != "option":
                continue
            names = dict(vars(inspect.getmodule(exercise.variants_function)))
            names |= {"np": np}
            exec(wrong_answer(exercise.name, each.name), names)
            results = [
                local_runner(function)(inputs, {})
                for function in (names[exercise.name], each.function)
            ]
            assert same_result(*results), (exercise.name, each.name)
