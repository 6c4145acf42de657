"""In which calls an answer fails."""

import numpy as np
import pytest

from tests.checking.evidence.sentences import (
    RNG,
    USUAL,
    mix,
    queries_and_keys,
    scores,
    sentence_on,
    with_q,
)


def fails(where, wrong=lambda s: np.sin(s + s**2)):
    """Return an answer that is wrong where a function of q and k says so."""
    return lambda q, k: wrong(scores(q, k)) if where(q, k) else scores(q, k)


BATCHES = [*USUAL, *queries_and_keys(((2,), 5, 7, 4), ((3, 2), 4, 6, 3))]
SQUARE = [*BATCHES, *queries_and_keys(((), 4, 4, 3), ((), 6, 6, 5))]
WHOLE = [*BATCHES, *((q.round().astype(int), k, {}) for q, k, _ in USUAL[:2])]
LARGE = [*BATCHES, *((300 + q, k, {}) for q, k, _ in USUAL[:2])]
ONE = [*BATCHES, *queries_and_keys(((), 1, 7, 4), ((2,), 1, 5, 3))]
CONDITIONS = {
    "a batch": (
        lambda q, k: q.ndim > 2,
        BATCHES,
        "Of 5 calls, only the 2 with a batch in front go wrong.",
    ),
    "no batch": (
        lambda q, k: q.ndim == 2,
        BATCHES,
        "Of 5 calls, only the 3 without a batch in front go wrong.",
    ),
    "two axes in front": (
        lambda q, k: q.ndim > 3,
        BATCHES,
        "Of 5 calls, only the one with two or more axes in front goes wrong.",
    ),
    "n = m": (
        lambda q, k: q.shape[-2] == k.shape[-2],
        SQUARE,
        "Of 7 calls, only the 2 where m = n go wrong.",
    ),
    "n ≠ m": (
        lambda q, k: q.shape[-2] != k.shape[-2],
        SQUARE,
        "Of 7 calls, only the 5 where m ≠ n go wrong.",
    ),
    "whole numbers": (
        lambda q, k: q.dtype.kind == "i",
        WHOLE,
        "Of 7 calls, only the 2 where `q` holds integers go wrong.",
    ),
    "large numbers": (
        lambda q, k: q.max() > 100,
        LARGE,
        "Of 7 calls, only the 2 with numbers beyond 100 go wrong.",
    ),
    "one query": (
        lambda q, k: q.shape[-2] == 1,
        ONE,
        "Of 7 calls, only the 2 where n = 1 go wrong.",
    ),
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_condition_is_told(name):
    where, inputs, expected = CONDITIONS[name]
    assert sentence_on(scores, fails(where), inputs) == expected


@pytest.mark.parametrize("name", CONDITIONS)
def test_condition_with_an_exception_to_it_is_not_told(name):
    where, inputs, those = CONDITIONS[name]
    right = next(each for each in inputs if not where(*each[:2]))[0]

    def nearly(q, k):
        return where(q, k) or (q.shape == right.shape and np.allclose(q, right))

    assert those.split(" (")[0].split(" ", 1)[1] not in sentence_on(
        scores, fails(nearly), inputs
    )


def test_condition_that_may_be_a_coincidence_is_not_told():
    inputs = [*USUAL, (300 + np.arange(4).reshape(1, 4), np.ones((6, 4)), {})]
    assert sentence_on(scores, fails(lambda q, k: q.max() > 100), inputs) == ""


def test_condition_and_relation_are_told_together():
    assert sentence_on(
        scores, fails(lambda q, k: q.ndim > 2, lambda s: 2 * s), BATCHES
    ) == (
        "In 2 of 5 calls, those with a batch in front, your result is 2 times the "
        "right one; every other call is right."
    )


def test_argument_that_is_added_is_named():
    square = [*queries_and_keys(((), 5, 5, 5), ((), 3, 3, 3), ((), 6, 6, 6))]
    assert sentence_on(scores, with_q(lambda s, q: s + q), square) == (
        "Your result is the right one plus `q`."
    )
    assert sentence_on(scores, with_q(lambda s, q: s + 1.1 * q), square) == ""


def test_few_large_errors_are_no_rounding_of_float32():
    def uneven(q, k):
        errors = np.resize([1e-12, -1e-12], scores(q, k).shape)
        errors[0, 0] = 1e-7
        return scores(q, k) * (1 + errors)

    sentence = sentence_on(scores, uneven, USUAL, precise=True)
    assert "digits" in sentence and "float32" not in sentence


def test_diagonal_of_two_rows_shows_nothing():
    inputs = [(RNG.normal(size=(2, 3)), RNG.normal(size=(2, 3)), {})]
    answer = with_q(lambda s, q: s + s**2 * np.eye(2))
    assert "diagonal" not in sentence_on(scores, answer, inputs)


def test_zero_is_told_of_the_calls_where_it_is_wrong():
    def total(x):
        return float(x.sum())

    inputs = [(np.arange(1.0, n), {}) for n in (3, 4, 5)] + [(np.zeros(3), {})]
    sentence = sentence_on(total, lambda x: 0.0, inputs)
    assert "your result is zero where the right one is not" in sentence


def test_number_of_arguments_is_a_condition():
    def largest(*arrays):
        return np.maximum.reduce(np.broadcast_arrays(*arrays))

    inputs = [(*RNG.normal(size=(count, 4)), {}) for count in (1, 2, 3, 1, 2, 3, 4)]

    def wrong(*arrays):
        return arrays[0] ** 3 + 1 if len(arrays) == 1 else largest(*arrays)

    expected = "Of 7 calls, only the 2 with one argument go wrong."
    assert sentence_on(largest, wrong, inputs) == expected


def test_size_in_a_product_is_known():
    def projected(w, n_heads):
        """Return the sums of the columns.

        w : (d_model, n_heads · d_k), parameters
        """
        return w.sum(axis=0) + 1.0

    inputs = [
        (RNG.normal(size=(d_model, n_heads * d_k)), n_heads, {})
        for d_model, n_heads, d_k in ((5, 2, 3), (4, 2, 5), (7, 3, 4), (6, 2, 8))
    ]

    def wrong(w, n_heads):
        return projected(w, n_heads) * (w.shape[1] // n_heads)

    assert sentence_on(projected, wrong, inputs) == (
        "Your result is d_k times the right one."
    )


def test_odd_size_is_a_condition():
    def columns(n, d):
        return np.sin(np.outer(np.arange(1.0, n), np.arange(1.0, d)))

    inputs = [(7 + i, d) for i, d in enumerate((4, 6, 7, 8, 9, 10, 12))]
    inputs = [(10 * n, d, {}) for n, d in inputs]

    def wrong(n, d):
        return columns(n, d) ** (1 + d % 2)

    assert sentence_on(columns, wrong, inputs) == (
        "In 2 of 7 calls, those where `d` is odd, your result is the square of the "
        "right one; every other call is right."
    )


def test_relation_without_a_condition_says_how_many_calls():
    assert sentence_on(
        scores, fails(lambda q, k: q.shape in ((5, 4), (2, 5, 4)), np.negative), BATCHES
    ) == (
        "In 2 of 5 calls, your result has the wrong sign everywhere; every other call "
        "is right."
    )


def test_calls_that_fail_in_several_ways():
    def wrong(q, k):
        if q.ndim > 2:
            raise ValueError("no batch")
        return 2 * scores(q, k)

    assert sentence_on(scores, wrong, BATCHES) == (
        "In 3 of 5 calls, those without a batch in front, your result is 2 times the "
        "right one; other calls are wrong too."
    )


def test_size_that_is_the_same_in_all_calls_names_no_factor():
    inputs = [*queries_and_keys(((), 5, 7, 9), ((), 3, 6, 9), ((), 6, 5, 9))]
    answer = with_q(lambda s, q: s / np.sqrt(q.shape[-1]))
    assert (
        sentence_on(scores, answer, inputs)
        == "Your result is a third of the right one."
    )


def test_blocked_rows_are_named():
    def weights(q, k, may_attend):
        return np.where(may_attend.any(-1, keepdims=True), mix(q, k, may_attend)[1], 0)

    inputs = []
    for q, k, _ in USUAL:
        may_attend = RNG.random((len(q), len(k))) < 0.7
        may_attend[2] = False
        inputs.append((q, k, may_attend, {}))
    assert sentence_on(
        weights, lambda q, k, may_attend: mix(q, k, may_attend)[1], inputs
    ) == ("Your result is right except in rows where `may_attend` is False everywhere.")
