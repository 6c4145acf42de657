"""What relation wrong numbers have to the right ones."""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from autograder.checking.call import Call, CallResult, local_runner
from autograder.checking.evidence import evidence
from autograder.checking.exercise import Exercise
from tests.checking.evidence.sentences import (
    RNG,
    USUAL,
    queries_and_keys,
    scores,
    sentence_on,
    with_q,
    without_line,
)

OF_NUMBERS = {
    "a factor by name": (
        with_q(lambda s, q: s * np.sqrt(q.shape[-1])),
        "Your result is √d_k times the right one.",
    ),
    "a factor that is one over a name": (
        with_q(lambda s, q: s / q.shape[-1]),
        "Your result is 1/d_k times the right one.",
    ),
    "a ratio of two sizes": (
        with_q(lambda s, q: s * np.sqrt(q.shape[-1] / len(q))),
        "Your result is √(d_k/n) times the right one.",
    ),
    "a factor": (with_q(lambda s, q: 2 * s), "Your result is 2 times the right one."),
    "a fraction": (with_q(lambda s, q: s / 2), "Your result is half of the right one."),
    "a factor without a name": (
        with_q(lambda s, q: s * abs(q[0, 0])),
        "Your result is in each call a multiple of the right one, with a factor that "
        "changes from call to call.",
    ),
    "a number that is added": (
        with_q(lambda s, q: s + 3),
        "Your result is larger than the right one by 3.",
    ),
    "a size that is added": (
        with_q(lambda s, q: s - q.shape[-1]),
        "Your result is smaller than the right one by d_k.",
    ),
    "the sign": (
        with_q(lambda s, q: -s),
        "Your result has the wrong sign everywhere.",
    ),
    "the absolute value": (
        with_q(lambda s, q: abs(s)),
        "Your result is the absolute value of the right one.",
    ),
    "the exponential": (
        with_q(lambda s, q: np.exp(s)),
        "Your result is the exponential of the right one.",
    ),
    "the square": (
        with_q(lambda s, q: s**2),
        "Your result is the square of the right one.",
    ),
    "1 minus": (
        with_q(lambda s, q: 1 - s),
        "Your result is 1 minus the right one.",
    ),
    "transposed": (
        with_q(lambda s, q: s.T),
        "Your result is the right one, transposed.",
    ),
    "rolled": (
        with_q(lambda s, q: np.roll(s, 1, axis=0)),
        "Your result has every row one later, around the end.",
    ),
    "shifted": (
        with_q(lambda s, q: np.concatenate([0 * s[:, :1], s[:, :-1]], axis=1)),
        "Your result has the right columns one later than it should.",
    ),
    "reversed": (
        with_q(lambda s, q: s[::-1]),
        "Your result has the right rows in reverse order.",
    ),
    "the first row missing": (
        with_q(lambda s, q: s[1:]),
        "Your result lacks the first row and is right otherwise.",
    ),
    "the last column missing": (
        with_q(lambda s, q: s[:, :-1]),
        "Your result lacks the last column and is right otherwise.",
    ),
    "a row too many": (
        with_q(lambda s, q: np.concatenate([s, s[:1]])),
        "Your result has one row too many at the end and is right otherwise.",
    ),
    "an axis too many": (
        with_q(lambda s, q: s[None]),
        "Your result is right, but lies in an array of length 1.",
    ),
    "an axis of length 1 behind": (
        with_q(lambda s, q: s[..., None]),
        "Your result has the right numbers, but one axis of length 1 too many.",
    ),
    "another shape": (
        with_q(lambda s, q: s.ravel()),
        "Your result has the right numbers in the right order, but another shape.",
    ),
    "one row": (
        with_q(lambda s, q: s[0]),
        "Your result is the first row of the right one alone.",
    ),
    "a sum": (
        with_q(lambda s, q: s.sum(axis=-1)),
        "Your result is the sum of the right one over axis -1.",
    ),
    "rounded": (
        with_q(lambda s, q: np.round(s, 2)),
        "Your result is right, but rounded to 2 decimals.",
    ),
    "cut": (
        with_q(lambda s, q: s.astype(int)),
        "Your result is right, but cut to integers.",
    ),
    "float32 inside": (
        lambda q, k: scores(q.astype(np.float32), k.astype(np.float32)).astype(float),
        "Your result is right to about 6 digits only, as numbers of float32 are.",
    ),
    "zeros": (with_q(lambda s, q: 0 * s), "Your result is zero everywhere."),
    "NaN": (with_q(lambda s, q: s * np.nan), "Your result holds NaN only."),
    "NaN in places": (
        with_q(lambda s, q: np.where(np.arange(s.shape[-1]) == 1, np.nan, s)),
        "Your result holds NaN, and every other number is right.",
    ),
    "all but the first row": (
        with_q(lambda s, q: np.concatenate([s[:1] ** 3, s[1:]])),
        "Your result is right except in the first row.",
    ),
    "the last column only": (
        with_q(lambda s, q: np.concatenate([s[:, :-1] ** 3, s[:, -1:]], axis=1)),
        "Your result is right in the last column only.",
    ),
    "the diagonal": (
        with_q(lambda s, q: s + s**2 * np.eye(*s.shape)),
        "Your result is right except on the diagonal.",
    ),
    "in other positions": (
        with_q(lambda s, q: np.sort(s, axis=None).reshape(s.shape)),
        "Your result has the right numbers, in other positions.",
    ),
    "in another order in each row": (
        with_q(lambda s, q: np.sort(s, axis=-1)),
        "Your result has the right numbers in each row, in another order.",
    ),
    "a factor for each row": (
        with_q(lambda s, q: s * (1 + q[:, :1] ** 2)),
        "Your result is right but for a factor in each row.",
    ),
    "a number added to each column": (
        with_q(lambda s, q: s + s.max(axis=0) ** 2),
        "Your result is right but for a number added to each column.",
    ),
    "an argument": (
        lambda q, k: k,
        "Your result is the argument `k` as it was.",
    ),
    "two arguments exchanged": (
        lambda q, k: scores(k, q) + 0,
        "Your result is the right one, transposed.",
    ),
    "a list": (
        with_q(lambda s, q: s.tolist()),
        "Your result is a list where an array is asked for, with the right values.",
    ),
    "a tensor": (
        with_q(lambda s, q: torch.tensor(s)),
        "Your result is a tensor where an array is asked for, with the right values.",
    ),
    "less precise": (
        with_q(lambda s, q: s.astype(np.float32)),
        "Your result is right but holds float32 numbers, too few digits.",
    ),
    "None": (
        lambda q, k: None,
        "Your `scores` returns None in all 3 calls: is a `return` missing?",
    ),
    "an exception": (
        lambda q, k: scores(q, k)[99],
        "Your `scores` ends with an `IndexError` in all 3 calls.",
    ),
}


# Where digits are not the subject, these answers are right.
OF_DIGITS = {"float32 inside", "less precise"}


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_relation_of_numbers_is_told(name):
    answer, sentence = OF_NUMBERS[name]
    precise = name in OF_DIGITS
    text = sentence_on(scores, answer, USUAL, precise=precise)
    text = without_line(text)
    cause = text.removeprefix(sentence) if name == "an exception" else ""
    assert text.removesuffix(cause) == sentence
    if precise:
        assert sentence_on(scores, answer, USUAL) == ""


def test_relation_is_told_of_float32_too():
    def twice(q, k):
        return 2 * scores(q.astype(np.float32), k.astype(np.float32))

    sentence = "Your result is 2 times the right one."
    assert sentence_on(scores, twice, USUAL) == sentence
    assert (
        sentence_on(scores, lambda q, k: twice(q, k).astype(float), USUAL) == sentence
    )


def test_number_where_zero_is_right_is_told():
    def share(numbers, least):
        return float(np.mean(numbers >= least))

    def with_a_little(numbers, least):
        return share(numbers, least) or 1e-3

    row = np.array([0.1, 0.4, 0.2])
    calls = [(row, least, {}) for least in (0.0, 0.3, 0.5, 0.8)]
    assert sentence_on(share, with_a_little, calls) == (
        "In 2 of 4 calls, your result is not 0 where the right one is; every other "
        "call is right."
    )


HALF = "half precision (float16, bfloat16)"


@pytest.mark.parametrize(
    "answer",
    [
        lambda q, k: scores(q.astype(np.float16), k.astype(np.float16)).astype(float),
        lambda q, k: scores(q.astype(np.float16).astype(float), k),
        with_q(lambda s, q: torch.from_numpy(s).bfloat16().double().numpy()),
    ],
)
def test_half_precision_inside_is_told(answer):
    assert re.fullmatch(
        "Your result is right to about [23] digits of its largest number only, as "
        f"where something is computed in {re.escape(HALF)}.",
        sentence_on(scores, answer, USUAL),
    )


def test_half_precision_is_told_next_to_calls_that_overflow():
    far = next(queries_and_keys(((), 5, 7, 4)))

    def in_half(q, k):
        with np.errstate(over="ignore"):
            return scores(q, k).astype(np.float16).astype(float)

    calls = [*USUAL, (1e3 * far[0], 1e3 * far[1], {})]
    assert sentence_on(scores, in_half, calls) == (
        "In 3 of 4 calls, your result is right to about 4 digits of its largest number "
        f"only, as where something is computed in {HALF}; other calls are wrong too."
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda s: s + 1e-3 * np.abs(s),
        lambda s: np.where(np.abs(s) < 1e-2, 0.0, s),
        lambda s: np.where(np.arange(s.shape[-1]) == 1, s * 1.001, s),
        lambda s: 1.0003 * np.where(np.abs(s) < 5e-3, 0.0, s),
    ],
)
def test_small_changes_are_not_told_as_half_precision(change):
    assert HALF not in sentence_on(scores, with_q(lambda s, q: change(s)), USUAL)


def test_half_precision_is_told_only_if_every_call_could_show_it():
    def one_branch(q, k):
        result = scores(q, k)
        return result.astype(np.float16).astype(float) if len(q) > 3 else result

    assert HALF not in sentence_on(scores, one_branch, USUAL)


def test_fine_points_are_not_counted_in_the_sentence():
    calls = [
        Call(inputs[:2], {}, local_runner(scores)(inputs[:2], {})) for inputs in USUAL
    ]
    wrong = [replace(each, result=CallResult("value", None)) for each in calls]
    exercise = Exercise(scores, lesson="none", minutes=1, difficulty=1)
    exercise.spec(scores)
    fine = replace(wrong[0], fine_point=True)
    assert evidence(exercise, [*wrong[1:], fine]) == (
        "Your `scores` returns None in both calls: is a `return` missing?"
    )
    assert evidence(exercise, [*calls[1:], fine]) == ""


@pytest.mark.parametrize("name", sorted({*OF_NUMBERS} - {"None", "an exception"}))
def test_relation_that_fails_in_one_call_is_not_told(name):
    answer, sentence = OF_NUMBERS[name]

    def nearly(q, k):
        result = answer(q, k)
        if len(q) != 5:
            return result
        changed = np.array(result, dtype=float)
        changed.flat[[0, 1, -1]] = 123.456
        return changed

    core = sentence.removeprefix("Your result ").removesuffix(".")
    text = sentence_on(scores, nearly, USUAL)
    assert core not in text or text.startswith("In 2 of 3 calls")


def test_right_answer_gets_no_sentence():
    assert sentence_on(scores, lambda q, k: (k @ q.T).T, USUAL) == ""


def test_unrelated_results_get_no_sentence():
    assert sentence_on(scores, with_q(lambda s, q: np.sin(s + s**2)), USUAL) == ""


def test_multiple_of_single_numbers_is_no_relation():
    def first(q, k):
        return float(scores(q, k)[0, 0])

    assert sentence_on(first, lambda q, k: float(np.sin(q[0, 0])), USUAL) == ""


def test_factor_that_fits_two_names_is_not_named():
    inputs = [(np.ones((n, n)), RNG.normal(size=(3, n)), {}) for n in (2, 5)]
    text = sentence_on(scores, with_q(lambda s, q: s * len(q)), inputs)
    assert "d_k" not in text and " n " not in text
