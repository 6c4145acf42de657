"""What a docstring's examples call, and what is said where they work."""

import re

import torch

from autograder.checking.examples import example_calls
from autograder.checking.judging import judge
from autograder.checking.registry import load
from autograder.in_notebook.check import local_runner_factory


def test_arguments_of_the_examples_are_recorded():
    first, second = example_calls(load("leak"))
    assert [first.arguments[2], second.arguments[2]] == [0, 0]
    assert first.arguments[1].tolist() == [[1.0], [2.0], [3.0]]


def gates_as_wide_as_x(x, state, w_x, w_h, b_x, b_h):
    """Cut the gates by d_in: they fit in the example, where all sizes are 1."""
    d = w_x.shape[0]
    from_x, from_state = x @ w_x + b_x, state @ w_h + b_h
    reset = torch.sigmoid(from_x[..., :d] + from_state[..., :d])
    update = torch.sigmoid(from_x[..., d : 2 * d] + from_state[..., d : 2 * d])
    candidate = torch.tanh(from_x[..., 2 * d :] + reset * from_state[..., 2 * d :])
    return (1 - update) * candidate + update * state


def test_example_that_works_is_no_call_that_fails():
    result = judge(load("gru_step"), local_runner_factory(gates_as_wide_as_x))
    assert result.evidence == (
        "In 13 of 14 calls, those where d_h ≠ d_in, your `gru_step` ends with a "
        "`RuntimeError`."
    )


def transposed_for_linear(x, state, w_x, w_h, b_x, b_h):
    return torch.nn.functional.linear(x, w_x, b_x) + state


def test_example_that_fails_like_all_others_changes_no_sentence():
    result = judge(load("gru_step"), local_runner_factory(transposed_for_linear))
    assert re.search(r"\) in all \d+ calls\. ", result.evidence)


def squares_in_half_precision(gradients, max_norm):
    """Return what is right to four digits; a fine point fails for another reason."""
    present = [each for each in gradients.values() if each is not None]
    norm = sum(float((each**2).half().sum()) for each in present) ** 0.5
    factor = max_norm / norm if norm > max_norm else 1.0
    clipped = {
        name: None if each is None else each * factor
        for name, each in gradients.items()
    }
    return clipped, norm


def test_no_other_call_is_right_beside_a_fine_point_that_fails():
    answer = local_runner_factory(squares_in_half_precision)
    result = judge(load("clip_gradients"), answer)
    assert result.evidence == (
        "In 11 of 14 calls, your `norm` is right to about 4 digits only."
    )
