"""Conditions that hold of the cases' calls by coincidence are not told."""

import numpy as np
import pytest

from tests.checking.evidence.sentences import (
    USUAL,
    queries_and_keys,
    scores,
    sentence_on,
)

# In these calls n = m goes with n = 4, and n = 1 with m = 1.
FOURS = [*USUAL, *queries_and_keys(((), 4, 4, 3), ((), 4, 4, 5))]
ONES = [*USUAL, *queries_and_keys(((), 1, 1, 3), ((), 1, 1, 5))]


def wrong_where(holds):
    return lambda q, k: scores(q, k) + 0.1 * np.sin(q[..., :1]) * holds(q, k)


@pytest.mark.parametrize(
    ("holds", "inputs", "expected"),
    [
        (lambda q, k: len(q) == len(k), FOURS, "those where m = n"),
        (lambda q, k: len(q) == len(k) == 4, FOURS, ""),
        (lambda q, k: len(q) == 4, FOURS, ""),
    ],
)
def test_equal_sizes_are_told_where_drawn_calls_confirm_them(holds, inputs, expected):
    sentence = sentence_on(scores, wrong_where(holds), inputs, may_call=True)
    assert (expected in sentence) if expected else ("where" not in sentence)


def test_size_of_one_is_not_told_where_another_size_is_the_cause():
    one_query = wrong_where(lambda q, k: len(q) == 1)
    sentence = sentence_on(scores, one_query, ONES, may_call=True)
    assert "where m = 1" not in sentence


def test_equal_numbers_are_told_only_where_they_are_the_cause():
    def with_equals(q):
        return np.where(np.arange(q.size).reshape(q.shape) < 2, 7.25, q)

    inputs = [*USUAL, *((with_equals(q), k, {}) for q, k, _ in USUAL)]
    repeats = wrong_where(lambda q, k: len(np.unique(q)) < q.size)
    large = wrong_where(lambda q, k: abs(q).max() > 5)
    condition = "where `q` holds equal numbers"
    assert condition in sentence_on(scores, repeats, inputs, may_call=True)
    assert condition not in sentence_on(scores, large, inputs, may_call=True)


def shout(text, times=1):
    """Return a text a number of times.

    text : any
    times : an integer
    """
    return text * times


TEXTS = [("plain", {}), ("two words", {}), ("Café", {}), ("Über", {}), ("x y", {})]


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (lambda text: text != text.lower(), "has capitals"),
        (lambda text: not text.isascii(), "has characters beyond ASCII"),
    ],
)
def test_what_texts_have_is_told_where_it_is_the_cause(wrong, expected):
    def answer(text, times=1):
        return text[::-1] + "!" if wrong(text) else text * times

    assert expected in sentence_on(shout, answer, TEXTS, may_call=True)
