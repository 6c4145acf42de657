"""A wrong answer that reads values of other cells is told which."""

import numpy as np

from autograder.checking.registry import load
from autograder.in_notebook.check import check
from autograder.in_notebook.outside_values import from_outside, outside_values
from course_lib.attention import softmax

weights = np.array([[0.5, 0.5]])
EPSILON = 1e-9


def similarity_attention(x, y):
    return weights @ y


def by_arguments(x, y):
    weights = softmax(x @ np.swapaxes(y, -1, -2)) + 0 * EPSILON
    return np.array([row for row in weights @ y])


def test_values_read_from_outside_are_listed():
    assert outside_values(similarity_attention) == ["weights"]
    assert outside_values(by_arguments) == []
    assert outside_values(np.exp) == []


def test_wrong_answer_with_outside_values_is_told_which(capsys):
    try:
        check(similarity_attention)
    except AssertionError:
        pass
    line = capsys.readouterr().out.splitlines()[1]
    assert line == "→ " + from_outside(
        load("similarity_attention"), similarity_attention
    )
    assert "`weights`" in line
    assert "whatever `x` and `y` are" in line
