"""Inputs that a bank draws by the shapes of the reference's docstring."""

import numpy as np
import pytest
import torch

from autograder import Exercise
from course_lib.attention import additive_scores
from course_lib.masks import masked_softmax
from course_lib.nn.sequence_to_sequence import gru_step


def exercise(reference):
    return Exercise(reference, lesson="00_x", minutes=5, difficulty=1)


def shapes(arrays):
    return [tuple(each.shape) for each in arrays]


def test_inputs_have_the_shapes_of_the_docstring():
    inputs = exercise(additive_scores).inputs(n=5, m=7, d_q=4, d_k=3, d_hidden=6)
    drawn = inputs(np.random.default_rng(0), (2,), n=1)
    assert shapes(drawn) == [(2, 1, 4), (2, 7, 3), (4, 6), (3, 6), (6,)]
    assert {each.dtype for each in drawn} == {np.dtype(np.float64)}
    additive_scores(*drawn)


def test_inputs_of_torch_are_tensors_and_know_multiples():
    inputs = exercise(gru_step).inputs(d_in=2, d_h=4)
    drawn = inputs(np.random.default_rng(0))
    assert shapes(drawn) == [(2,), (4,), (2, 12), (4, 12), (12,), (12,)]
    assert {each.dtype for each in drawn} == {torch.float32}
    doubles = inputs(np.random.default_rng(0), dtype=np.float64)
    assert {each.dtype for each in doubles} == {torch.float64}


def test_masks_are_for_the_bank_to_draw():
    (scores,) = exercise(masked_softmax).inputs(n=5, m=7)(np.random.default_rng(0))
    assert scores.shape == (5, 7)


def test_axis_without_a_length_is_named():
    inputs = exercise(masked_softmax).inputs(n=5)
    with pytest.raises(KeyError, match="m"):
        inputs(np.random.default_rng(0))
