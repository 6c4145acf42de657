"""Results that are kept while many answers get the same calls."""

import numpy as np
import pytest
import torch

from autograder.checking.matrix import matrix
from autograder.checking.registry import load
from autograder.checking.remembered import key_of, remembered, remembering

ROWS = np.arange(6.0).reshape(2, 3)
APART = [
    0,
    0.0,
    -0.0,
    False,
    "0",
    (0,),
    [0],
    {0: 0},
    np.float64(0),
    np.zeros(2),
    -np.zeros(2),
    np.zeros(2, np.float32),
    np.zeros((2, 1)),
    ROWS,
    np.asfortranarray(ROWS),
    torch.zeros(2),
    torch.zeros(2, requires_grad=True),
    torch.zeros(2, dtype=torch.float64),
]


def test_inputs_that_differ_have_keys_that_differ():
    with remembering():
        keys = [key_of((each,), {}) for each in APART] + [key_of((), {"x": 0})]
        assert keys[0] == key_of((0,), {})
    assert len({key for key in keys if key}) == sum(key is not None for key in keys)
    assert sum(key is None for key in keys) <= 1  # a scalar of NumPy is not kept


@pytest.mark.parametrize("inside", [True, False])
def test_result_is_made_once_inside_the_block(inside):
    made = []

    def twice():
        for _ in range(2):
            remembered("f", key_of((ROWS,), {}), lambda: made.append(1))

    if inside:
        with remembering():
            twice()
    else:
        twice()
    assert len(made) == (1 if inside else 2)


def test_calls_with_functions_are_made_each_time():
    with remembering():
        assert key_of((len,), {}) is None


def test_matrix_is_the_same_with_and_without_memory(monkeypatch):
    with_memory = matrix(load("scaled_scores"))
    monkeypatch.setattr("autograder.checking.diagnosis.key_of", lambda *_: None)
    monkeypatch.setattr("autograder.checking.student.key_of", lambda *_: None)
    monkeypatch.setattr("autograder.checking.matrix.key_of", lambda *_: None)
    assert matrix(load("scaled_scores")) == with_memory
