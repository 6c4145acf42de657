"""In which parts of a result the numbers are wrong."""

import numpy as np
import pytest

from tests.checking.evidence.sentences import USUAL, mix, mixed, scores, sentence_on

OF_PARTS = {
    "one is wrong": (
        lambda q, k: (mix(q, k)[0] + np.sin(q[:, :1] @ k[:1]), mix(q, k)[1]),
        "Your `weights` are right, but `output` is not.",
    ),
    "a relation of one": (
        lambda q, k: (mix(q, k)[0], -mix(q, k)[1]),
        "Your `weights` have the wrong sign everywhere; `output` is right.",
    ),
    "a relation of both": (
        lambda q, k: tuple(2 * each for each in mix(q, k)),
        "Your `output` and `weights` are 2 times the right ones.",
    ),
    "exchanged": (
        lambda q, k: mix(q, k)[::-1],
        "Your results are right, but in the order `weights`, `output`.",
    ),
    "one alone": (lambda q, k: mix(q, k)[1], "Your result is `weights` alone."),
    "a list": (
        lambda q, k: [*mix(q, k)],
        "Your result is a list where a tuple is asked for, with the right values.",
    ),
    "other scores": (
        lambda q, k: mixed(3 * scores(q, k), k),
        "Your `weights` are a softmax of 3 times the right scores.",
    ),
    "other scores by name": (
        lambda q, k: mixed(scores(q, k) / np.sqrt(q.shape[-1]), k),
        "Your `weights` are a softmax of 1/√d_k times the right scores.",
    ),
    "columns that sum to 1": (
        lambda q, k: (mix(q, k)[0], mix(k, q)[1].T),
        "Your `weights` have columns that sum to 1, not rows; `output` is right.",
    ),
    "rows that do not sum to 1": (
        lambda q, k: (mix(q, k)[0], np.sqrt(mix(q, k)[1]) + 0.1),
        "Your `weights` have rows that do not all sum to 1; `output` is right.",
    ),
}


@pytest.mark.parametrize("name", OF_PARTS)
def test_parts_of_a_result_are_named(name):
    answer, sentence = OF_PARTS[name]
    assert sentence_on(mix, answer, USUAL, ("output", "weights")) == sentence


@pytest.mark.parametrize("name", OF_PARTS)
def test_parts_wrong_in_another_way_in_one_call_are_not_named(name):
    answer, sentence = OF_PARTS[name]

    def nearly(q, k):
        result = answer(q, k)
        return tuple(np.cos(each) for each in mix(q, k)) if len(q) == 5 else result

    assert sentence_on(mix, nearly, USUAL, ("output", "weights")) != sentence


def three_parts(q, k):
    return scores(q, k), q.sum(), k.sum()


def test_part_that_is_right_in_some_calls_is_not_called_wrong():
    def wrong(always):
        return lambda q, k: (
            scores(q, k) + np.sin(scores(q, k) ** 2 + q[:, :1]),
            q.sum() + np.sin(q[0, 0]) * (always or len(q) > 3),
            k.sum(),
        )

    names = "first", "second", "third"
    assert sentence_on(three_parts, wrong(True), USUAL, returns=names) == (
        "Your `third` is right, but `first` and `second` are not."
    )
    assert sentence_on(three_parts, wrong(False), USUAL, returns=names) == (
        "Your `third` is right, but `first` and `second` are not, or not in every call."
    )
