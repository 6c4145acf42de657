"""Lesson 02: its first picture shows what the functions of the lesson give."""

import numpy as np
import pytest

from course_lib.attention import similarity_attention, softmax
from course_lib.lessons import two_meanings


@pytest.mark.parametrize("i", range(len(two_meanings.LAST_WORDS)))
def test_numbers_are_those_of_similarity_attention(i):
    x = two_meanings.vectors(two_meanings.LAST_WORDS[i])
    bank = two_meanings.BANK
    drawn = two_meanings.choice()
    np.testing.assert_allclose(drawn["weights"][i], softmax(x @ x.T)[bank])
    expected = similarity_attention(x, x)[bank]
    np.testing.assert_allclose(drawn["vectors"][i], expected, atol=0.051)


def test_bank_turns_towards_its_last_word():
    water, money = two_meanings.choice()["vectors"].T
    drawn = dict(zip(two_meanings.LAST_WORDS, water - money, strict=True))
    assert min(drawn["river"], drawn["fish"]) > 0.4
    assert max(drawn["loan"], drawn["price"]) < -0.4
    assert drawn["weather"] == 0
