"""A wrong shape is told in the docstring's names of sizes."""

import numpy as np
import pytest

from tests.checking.evidence.sentences import (
    USUAL,
    queries_and_keys,
    scores,
    sentence_on,
)

BATCHES = [*USUAL, *queries_and_keys(((2,), 5, 7, 4), ((3, 2), 4, 6, 3))]


def products(q, k):
    return q[..., :, None, :] + k[..., None, :, :]


@pytest.mark.parametrize(
    ("answer", "inputs", "expected"),
    [
        (products, USUAL, "the shape (n, m, d_k) where (n, m) is right"),
        (products, BATCHES, "the shape (…, n, m, d_k) where (…, n, m) is right"),
        (
            lambda q, k: np.swapaxes(scores(q, k), -1, -2) ** 2,
            USUAL,
            "the shape (m, n) where (n, m) is right",
        ),
        (
            lambda q, k: np.concatenate([scores(q, q), scores(q, k)], axis=-1) + 1,
            USUAL,
            "the shape (n, m + n) where (n, m) is right",
        ),
        (
            lambda q, k: scores(q, k).ravel() + 1,
            BATCHES,
            "as many numbers as is right, but in a single axis",
        ),
        (
            lambda q, k: scores(q, k).ravel() + 1,
            USUAL,
            "the shape (m · n,) where (n, m) is right",
        ),
    ],
)
def test_wrong_shape_is_told_in_names(answer, inputs, expected):
    assert expected in sentence_on(scores, answer, inputs)


def test_shape_that_has_two_names_is_not_told():
    inputs = [*queries_and_keys(((), 4, 6, 4), ((), 3, 5, 3))]
    sentence = sentence_on(scores, lambda q, k: products(q, k) + 1, inputs)
    assert sentence == "Your result has 3 axes where 2 are right."
