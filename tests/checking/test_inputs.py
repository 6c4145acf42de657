"""Inputs that a bank draws by the shapes of the reference's docstring."""

import numpy as np
import pytest
import torch

from autograder import Exercise
from course_lib.attention import additive_scores
from course_lib.heads import multi_head_attention
from course_lib.masks import masked_softmax
from course_lib.nn.sequence_to_sequence import gru_step
from course_lib.self_attention import self_attention


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


def test_scaled_parameters_are_divided_by_root_of_first_axis():
    sizes = {"n": 2, "d_model": 16, "d_k": 3, "d_v": 5}
    plain = exercise(self_attention).inputs(**sizes)(np.random.default_rng(0))
    inputs = exercise(self_attention).inputs(**sizes, scaled=("w_q", "w_v"))
    x, w_q, w_k, w_v = inputs(np.random.default_rng(0))
    np.testing.assert_array_equal(w_q * 4, plain[1])
    np.testing.assert_array_equal(w_v * 4, plain[3])
    np.testing.assert_array_equal(x, plain[0])
    np.testing.assert_array_equal(w_k, plain[2])


def test_scaled_argument_without_a_shape_is_refused():
    with pytest.raises(ValueError, match=r"no shape of w_o$"):
        exercise(self_attention).inputs(scaled=("w_q", "w_o"))


def test_multiples_of_another_size_are_known():
    sizes = {"n": 5, "m": 7, "d_model": 6, "d_memory": 9, "d_k": 4, "d_v": 3}
    inputs = exercise(multi_head_attention).inputs(**sizes, n_heads=2, d_out=8)
    drawn = inputs(np.random.default_rng(0), n_heads=5)
    assert shapes(drawn) == [(5, 6), (7, 9), (6, 20), (9, 20), (9, 15), (15, 8)]
    multi_head_attention(*drawn, 5)


def test_alike_is_the_length_of_all_axes_that_are_not_named():
    inputs = exercise(additive_scores).inputs(n=5, m=7, d_q=4, d_k=3, d_hidden=6)
    drawn = inputs(np.random.default_rng(0), alike=2, m=9)
    assert shapes(drawn) == [(2, 2), (9, 2), (2, 2), (2, 2), (2,)]


def test_whole_numbers_are_floats_unless_integers_are_asked_for():
    inputs = exercise(masked_softmax).inputs(n=50, m=70)
    (scores,) = inputs(np.random.default_rng(0), whole=(1, 9))
    assert {*scores.flat} == {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0}
    assert scores.dtype == np.float64
    (scores,) = inputs(np.random.default_rng(0), dtype=int, whole=(1, 9))
    assert scores.dtype == np.int64
