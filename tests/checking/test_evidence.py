"""The one sentence about wrong results that no misconception explains."""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from autograder.checking.call import Call, CallResult, local_runner
from autograder.checking.evidence import evidence
from autograder.checking.exercise import Exercise

RNG = np.random.default_rng(0)


def sentence_on(reference, answer, inputs, returns=(), precise=False):
    """Return what is core of an answer that is called with these inputs."""
    exercise = Exercise(
        reference, lesson="none", minutes=1, difficulty=1, returns=returns
    )
    exercise.spec(reference)
    runner = local_runner(answer)
    calls = [
        Call(arguments, keywords, runner(arguments, keywords), precise)
        for *positional, keywords in inputs
        for arguments in [tuple(positional)]
    ]
    return evidence(exercise, calls)


def scores(q, k):
    """Return the dot products.

    q : (..., n, d_k), one query per row
    k : (..., m, d_k), one key per row
    """
    return q @ np.swapaxes(k, -1, -2)


def queries_and_keys(*shapes):
    for leading, n, m, d_k in shapes:
        q, k = RNG.normal(size=(*leading, n, d_k)), RNG.normal(size=(*leading, m, d_k))
        yield q, k, {}


USUAL = [*queries_and_keys(((), 5, 7, 4), ((), 3, 6, 9), ((), 6, 5, 2))]


def off(result):
    """Change one number of a result a little."""
    changed = np.array(result, copy=True)
    changed.flat[-1] = changed.flat[-1] * 1.37 + 0.1
    return changed


def with_q(change):
    """Return an answer: what is made of the right scores and q."""
    return lambda q, k: change(scores(q, k), q)


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
        "Your result is right, but cut to whole numbers.",
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
        "Your `scores` returns None in every call: is a `return` missing?",
    ),
    "an exception": (
        lambda q, k: scores(q, k)[99],
        "Your `scores` ends with an `IndexError` in every call.",
    ),
}


def without_line(sentence):
    """Return a sentence without the learner's line."""
    return re.sub(r" at line \d+[^(]*\(`.*`\)", "", sentence)


# Where digits are not the subject, these answers are right.
OF_DIGITS = {"float32 inside", "less precise"}


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_relation_of_numbers_is_told(name):
    answer, sentence = OF_NUMBERS[name]
    precise = name in OF_DIGITS
    text = sentence_on(scores, answer, USUAL, precise=precise)
    assert without_line(text) == sentence
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


def test_fine_points_are_not_counted_in_the_sentence():
    calls = [
        Call(inputs[:2], {}, local_runner(scores)(inputs[:2], {})) for inputs in USUAL
    ]
    wrong = [replace(each, result=CallResult("value", None)) for each in calls]
    exercise = Exercise(scores, lesson="none", minutes=1, difficulty=1)
    exercise.spec(scores)
    fine = replace(wrong[0], fine_point=True)
    assert evidence(exercise, [*wrong[1:], fine]) == (
        "Your `scores` returns None in every call: is a `return` missing?"
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


# Weights: results in parts


def mix(q, k, may_attend=None):
    """Return the weights and their mix of the keys.

    q : (..., n, d_k), one query per row
    k : (..., m, d_k), one key per row
    may_attend : (..., n, m), booleans
    """
    return mixed(scores(q, k), k, may_attend)


def mixed(score, k, may_attend=None):
    if may_attend is not None:
        score = np.where(may_attend, score, -1e9)
    weights = np.exp(score - score.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights @ k, weights


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


# Lists, texts, dictionaries


def words(text):
    return text.split()


def letters(text):
    return {each: text.count(each) + 1 for each in sorted({*text})}


def upper(text):
    return text.upper() + "!"


TEXTS = [("ab cd ba e", {}), ("x yz zy", {}), ("the cat eats the fish", {})]
OF_FORMS = {
    "the last entry missing": (
        words,
        lambda text: words(text)[:-1],
        "Your result lacks the last entry and is right otherwise.",
    ),
    "an entry too many": (
        words,
        lambda text: ["", *words(text)],
        "Your result has one entry too many at the front and is right otherwise.",
    ),
    "the beginning": (
        words,
        lambda text: words(text)[:1],
        "Your result is the beginning of the right one, and ends too early.",
    ),
    "too long": (
        words,
        lambda text: words(text) * 2,
        "Your result begins with the right one, and goes on after it.",
    ),
    "empty": (words, lambda text: [], "Your result is empty."),
    "reversed": (
        words,
        lambda text: words(text)[::-1],
        "Your result has the right entries in reverse order.",
    ),
    "another order": (
        words,
        lambda text: sorted(words(text), key=lambda word: word[::-1] + text)[::-1],
        "Your result has the right entries in another order.",
    ),
    "a tuple": (
        words,
        lambda text: tuple(words(text)),
        "Your result is a tuple where a list is asked for, with the right values.",
    ),
    "wrapped": (
        words,
        lambda text: [words(text)],
        "Your result is right, but lies in a list of length 1.",
    ),
    "joined": (
        words,
        lambda text: "".join(words(text)),
        "Your result is one text that joins the right pieces.",
    ),
    "capitals": (
        words,
        lambda text: words(text.title()),
        "Your result is right up to capitals.",
    ),
    "white space": (
        upper,
        lambda text: upper(text).replace(" ", ""),
        "Your result is right up to white space.",
    ),
    "a character missing": (
        upper,
        lambda text: upper(text)[:-1],
        "Your result lacks the last character and is right otherwise.",
    ),
    "the last entry": (
        words,
        lambda text: [*words(text)[:-1], "?"],
        "Your result is right except in the last entry.",
    ),
    "a key missing": (
        letters,
        lambda text: {key: n for key, n in letters(text).items() if key != " "},
        "Your result lacks one key and is right otherwise.",
    ),
    "keys too many": (
        letters,
        lambda text: letters(text) | {"?": 0},
        "Your result has one key too many and is right otherwise.",
    ),
    "values": (
        letters,
        lambda text: {key: n - 1 for key, n in letters(text).items()},
        "Your result has the right keys, but the values are smaller than the right "
        "ones by 1.",
    ),
}


@pytest.mark.parametrize("name", OF_FORMS)
def test_form_is_told(name):
    reference, answer, sentence = OF_FORMS[name]
    assert sentence_on(reference, answer, TEXTS) == sentence


@pytest.mark.parametrize("name", OF_FORMS)
def test_form_that_differs_in_one_call_is_not_told(name):
    reference, answer, sentence = OF_FORMS[name]

    other = {words: ["another"], upper: "another", letters: {"another": 0}}

    def nearly(text):
        return other[reference] if text[0] == "x" else answer(text)

    assert sentence_on(reference, nearly, TEXTS) != sentence


def test_keys_and_values_exchanged():
    def numbers(text):
        return {word: number for number, word in enumerate(text.split())}

    def turned(text):
        return dict(enumerate(text.split()))

    inputs = [TEXTS[0], TEXTS[1]]
    sentence = "Your result has keys and values exchanged."
    assert sentence_on(numbers, turned, inputs) == sentence


# Where calls fail


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
        "Of 7 calls, only the 2 where `q` holds whole numbers go wrong.",
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


# Options


def shifted(x, amount=0.0, flip=False):
    return (x[::-1] if flip else x) + np.sin(amount * x)


OPTIONS = [(RNG.normal(size=(n, 3)), {}) for n in (4, 5, 6)]
OPTIONS += [(RNG.normal(size=(n, 3)), {"amount": 2.0}) for n in (4, 5)]
OPTIONS += [(RNG.normal(size=(n, 3)), {"flip": True, "amount": 3.0}) for n in (4, 5)]


def test_option_without_effect_is_named():
    assert sentence_on(
        shifted, lambda x, amount=0, flip=False: shifted(x, flip=flip), OPTIONS
    ) == (
        "In 4 of 7 calls, those with `amount`, your result is right for the call "
        "without `amount`; every other call is right."
    )


def test_value_of_an_option_is_named():
    def wrong(x, amount=0.0, flip=False):
        return np.sin(x * amount) ** 3 + x[0] if flip else shifted(x, amount, flip)

    expected = "Of 7 calls, only the 2 with `flip` go wrong."
    assert sentence_on(shifted, wrong, OPTIONS) == expected


# Exceptions and arguments


def root(x):
    if (x < 0).any():
        raise ValueError("negative")
    return np.sqrt(x)


ROOTS = [(np.arange(1.0, n), {}) for n in (3, 4, 6)] + [(np.array([-1.0, 2]), {})]


def test_missing_exception_is_told():
    assert sentence_on(root, lambda x: np.sqrt(abs(x)), ROOTS) == (
        "Every result is right, but your `root` returns a result where a `ValueError` "
        "is asked for (1 of 4 calls)."
    )


def test_other_exception_is_told():
    def wrong(x):
        assert not (x < 0).any()
        return np.sqrt(x)

    assert sentence_on(root, wrong, ROOTS) == (
        "In 1 of 4 calls, the one where a `ValueError` is asked for, your `root` ends "
        "with an `AssertionError`; every other call is right."
    )


def test_special_kind_of_the_exception_is_right():
    def right(x):
        if (x < 0).any():
            raise UnicodeError("negative")
        return np.sqrt(x)

    assert sentence_on(root, right, ROOTS) == ""


def test_call_that_the_spec_answers_asks_for_no_exception():
    exercise = Exercise(root, lesson="none", minutes=1, difficulty=1)
    exercise.spec(lambda x: np.sqrt(abs(x)))
    runner = local_runner(lambda x: np.sqrt(abs(x)))
    calls = [Call((x,), {}, runner((x,), {})) for x, _ in ROOTS]
    assert evidence(exercise, calls) == ""


def test_changed_argument_is_named():
    def wrong(q, k):
        result = scores(q, k)
        q *= 2
        return result

    expected = "Your `scores` changes its argument `q`; every result is right."
    assert sentence_on(scores, wrong, USUAL) == expected


def test_kind_of_exception_of_the_learners_own_is_not_spelt():
    def wrong(q, k):
        raise type(f"Saw{q.shape}", (Exception,), {})

    sentence = without_line(sentence_on(scores, wrong, USUAL))
    assert sentence == "Your `scores` ends with an exception in every call."


def test_answer_that_is_not_written_gets_no_sentence():
    def stub(q, k):
        raise NotImplementedError

    assert sentence_on(scores, stub, USUAL) == ""


class Hostile(list):
    def __eq__(self, other):
        raise SystemExit

    __hash__ = None
    __len__ = __iter__ = __getitem__ = __repr__ = __eq__


def holds_itself():
    value = [1]
    value += [value, value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        Hostile([1]),
        [Hostile([1])],
        {"a": Hostile([1])},
        np.array([Hostile([1]), None], dtype=object),
        holds_itself(),
        np.ones((4, 4)).view(np.matrix) if hasattr(np, "matrix") else None,
        torch.ones(3).to_sparse(),
        10**400,
        float("nan"),
        2.0 + 1j,
        "text",
        {1, 2},
        {(1, 2): 3},
        np.zeros((0, 3)),
        np.array("a"),
        lambda: 1,
        (Hostile([1]), Hostile([2])),
    ],
    ids=lambda value: type(value).__name__,
)
def test_nothing_is_raised_whatever_a_result_is(value):
    sentence = sentence_on(mix, lambda q, k: value, USUAL, ("output", "weights"))
    assert isinstance(sentence, str)
    assert isinstance(sentence_on(scores, lambda q, k: value, USUAL), str)


def ends_where_square(q, k):
    if len(q) == 6:
        raise ValueError("no")
    if len(q) == 3:
        return None
    return None if len(q) == 5 else scores(q, k)


def test_missing_return_is_said_first():
    assert sentence_on(scores, ends_where_square, USUAL) == (
        "Your `scores` returns None in 2 of 3 calls: is a `return` missing?"
    )


def test_exception_has_its_line():
    sentence = sentence_on(scores, lambda q, k: scores(q, k.T) / len(q), USUAL)
    assert sentence.startswith("Your `scores` ends with a `ValueError` at line ")
    assert "(`return q @ np.swapaxes(k, -1, -2)`) in every call." in sentence


def test_line_of_hidden_calls_is_not_named():
    def line_by_line(q, k):
        if len(q) == 5:
            raise ValueError("five")
        raise ValueError("others")

    runner = local_runner(line_by_line)
    calls = [Call(i[:2], {}, runner(i[:2], {}), hidden=True) for i in USUAL]
    exercise = Exercise(scores, lesson="none", minutes=1, difficulty=1)
    exercise.spec(scores)
    ends = "Your `scores` ends with a `ValueError`"
    assert evidence(exercise, calls) == f"{ends} in every call."
    visible = [replace(calls[0], hidden=False), *calls[1:]]
    assert evidence(exercise, visible).startswith(f"{ends} at line ")
    assert "five" in evidence(exercise, visible)


def softmax_of_scores(q, k):
    """Return scores and weights, as a step-by-step answer does."""
    powers = np.exp(scores(q, k) - scores(q, k).max(axis=-1, keepdims=True))
    return {"scores": scores(q, k), "weights": powers / powers.sum(-1, keepdims=True)}


def one_step_wrong(change):
    """Return an answer whose softmax is NaN for large scores, and wrong elsewhere.

    change : what is made of the weights
    """

    def answer(q, k):
        powers = np.exp(scores(q, k))
        weights = powers / powers.sum(axis=-1, keepdims=True)
        return {"scores": scores(q, k), "weights": change(weights)}

    return answer


FAR_APART = (100.0 * np.eye(5)[:3], 100.0 * np.eye(5)[:4], {})


def test_nan_in_one_call_does_not_hide_a_wrong_shape():
    inputs = [*USUAL, FAR_APART]
    answer = one_step_wrong(lambda weights: weights[None])
    assert sentence_on(softmax_of_scores, answer, inputs) == (
        "Your `weights` have 3 axes where 2 are right."
    )
    answer = one_step_wrong(lambda weights: weights.ravel() ** 2)
    assert sentence_on(softmax_of_scores, answer, inputs) == (
        "Your `weights` have 1 axis where 2 are right."
    )


def test_part_that_is_right_in_some_calls_is_not_told_of():
    def answer(q, k):
        right = softmax_of_scores(q, k)
        right["scores"] = np.sin(right["scores"]) ** 2
        if len(q) == 5:
            right["weights"] = right["weights"] * np.nan
        return right

    assert "NaN" not in sentence_on(softmax_of_scores, answer, USUAL)
