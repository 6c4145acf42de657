"""Families: each makes of a function the same one with one error, and nothing else."""

import numpy as np
import pytest
import torch

from autograder import Exercise, families


def split(x, y):
    """Return a column and a table."""
    return 0.5 * x[:, None], np.outer(x, y)


def exercise():
    return Exercise(
        split, lesson="none", minutes=1, difficulty=1, returns=("column", "table")
    )


X, Y = np.array([1, 2, 3]), np.array([1.0, -1.0])
COLUMN, TABLE = split(X, Y)


def result_of(family, function=split):
    return family(exercise()).wrap(function)(X, Y)


@pytest.mark.parametrize(
    ("family", "expected"),
    [
        (families.squeezed(), (COLUMN[:, 0], TABLE)),
        (families.results_exchanged(), (TABLE, COLUMN)),
        (families.transposed(), (COLUMN.T, TABLE.T)),
        (families.rows_in_one_axis(), (COLUMN, TABLE)),
        (families.cut_to_whole_numbers("x"), (COLUMN.astype(int), TABLE.astype(int))),
        (
            families.cut_to_whole_numbers("x", result="column"),
            (COLUMN.astype(int), TABLE),
        ),
        (families.cut_to_whole_numbers("y"), (COLUMN, TABLE)),  # y holds no such
        (families.as_list(), (COLUMN.tolist(), TABLE.tolist())),
    ],
)
def test_family_changes_the_result(family, expected):
    for actual, right in zip(result_of(family), expected, strict=True):
        assert type(actual) is type(right)
        np.testing.assert_array_equal(actual, right)
        if isinstance(right, np.ndarray):
            assert actual.dtype == right.dtype


def test_family_of_one_result_returns_it_without_a_tuple():
    np.testing.assert_array_equal(result_of(families.one_result_only("table")), TABLE)


def test_family_of_tensors_returns_arrays():
    result = result_of(families.as_numpy(), lambda x, y: torch.ones(2))
    assert type(result) is np.ndarray


def test_rows_in_one_axis_gives_each_result_two_axes():
    wrap = families.rows_in_one_axis()(exercise()).wrap
    for shape, rows in (((3,), 1), ((2, 3), 2), ((2, 2, 3), 4)):
        assert wrap(lambda x, y, shape=shape: torch.ones(shape))(X, Y).shape == (
            rows,
            3,
        )


def test_family_overwrites_an_argument():
    wrong = families.in_place("x", lambda x, y: 2 * x)(exercise())
    x = X.copy()
    column, _ = wrong.function(x, Y)
    np.testing.assert_array_equal(column, COLUMN)
    np.testing.assert_array_equal(x, 2 * X)


def test_family_can_be_put_on_top_of_another_function():
    result = result_of(families.results_exchanged(), lambda x, y: (x + 1, y))
    assert result[0] is Y


def test_sentences_use_the_names_of_the_exercise():
    assert "`table` comes first" in families.results_exchanged()(exercise()).diagnosis
    assert "`column` alone" in families.one_result_only("column")(exercise()).diagnosis
