"""A right result that is also written over an argument of its shape is refused."""

import functools

import pytest

from autograder.checking.judging import judge
from autograder.checking.registry import load
from autograder.checking.values import is_array, is_tensor
from autograder.in_notebook.check import local_runner_factory

ARGUMENTS = {
    "bilinear_scores": "q k",
    "cross_attention": "x memory",
    "decoder_step": "x",
    "multi_head_attention": "x memory",
    "prune": "memory",
    "scaled_scores": "q k",
    "self_attention": "x",
    "similarity_attention": "x y",
    "tiled_attention": "q k v",
}


def first_array(result):
    return result[0] if type(result) is tuple else result


@pytest.mark.parametrize("name", ARGUMENTS)
def test_result_written_over_an_argument_is_refused(name):
    exercise = load(name)
    for argument in ARGUMENTS[name].split():
        position = exercise.parameters.index(argument)

        @functools.wraps(exercise.reference)
        def answer(*arguments, at=position):
            result = exercise.reference(*arguments)
            old, new = arguments[at], first_array(result)
            assert is_array(old) or is_tensor(old)
            if old.shape == new.shape and old.dtype == new.dtype:
                old[...] = new
            return result

        case = next(case for case in exercise.cases if case.name == "arguments_stay")
        result = judge(exercise, local_runner_factory(answer), cases=[case])
        assert not result.solved, argument
