"""The demo's wrong answers are the code that a misconception's edits make."""

import numpy as np
import pytest

from autograder.checking.call import local_runner
from autograder.checking.diagnosis import same_result
from autograder.checking.registry import exercises_of
from autograder.demo.sample_class import wrong_answer

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize("lesson", ["01_dot_product_attention", "04_masking"])
def test_answers_of_a_lesson_give_what_the_edits_give(lesson):
    rng = np.random.default_rng(0)
    for exercise in exercises_of(lesson):
        inputs = exercise.usual_inputs(rng)
        for each in exercise.misconceptions:
            if not each.code:
                continue
            names = dict(each.code.names)
            exec(wrong_answer(exercise.name, each.name), names)
            results = [
                local_runner(function)(inputs, {})
                for function in (names[exercise.name], each.function)
            ]
            assert same_result(*results), (exercise.name, each.name)
