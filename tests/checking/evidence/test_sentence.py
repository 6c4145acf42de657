"""What else the sentence tells: options, exceptions, changed arguments."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from autograder.checking.call import Call, local_runner
from autograder.checking.evidence import evidence
from autograder.checking.evidence.sentence import WHICH_LINE
from autograder.checking.exercise import Exercise
from autograder.checking.judging import judge
from autograder.checking.registry import load
from autograder.in_notebook.check import local_runner_factory
from tests.checking.evidence.sentences import (
    RNG,
    USUAL,
    mix,
    scores,
    sentence_on,
    without_line,
)
from tests.unseen import UnseenAnswer, judged


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

    sentence = sentence_on(scores, wrong, USUAL)
    expected = "Your `scores` changes its argument `q`; every result is right."
    assert sentence == f"{expected} {WHICH_LINE}"


def test_kind_of_exception_of_the_learners_own_is_not_spelt():
    def wrong(q, k):
        raise type(f"Saw{q.shape}", (Exception,), {})

    sentence = without_line(sentence_on(scores, wrong, USUAL))
    assert sentence == "Your `scores` ends with an exception in all 3 calls."


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


def test_one_right_call_is_not_said_to_be_all_others():
    once = sentence_on(scores, lambda q, k: scores(q, k) * (1 + (len(q) > 3)), USUAL)
    assert once == "In 2 of 3 calls, your result is 2 times the right one."


def test_missing_return_is_said_first():
    assert sentence_on(scores, ends_where_square, USUAL) == (
        "Your `scores` returns None in 2 of 3 calls: is a `return` missing?"
    )


def test_exception_has_its_line():
    def product(q, k):
        return q @ np.swapaxes(k, -1, -2)

    sentence = sentence_on(scores, lambda q, k: product(q, k.T) / len(q), USUAL)
    assert sentence.startswith("Your `scores` ends with a `ValueError` at line ")
    assert "(`return q @ np.swapaxes(k, -1, -2)`) in all 3 calls." in sentence


def test_exception_has_its_own_words():
    def of_batch(q, k):
        if len(q) == 5:
            raise ValueError("size 7 differs, with gufunc signature (n?,k),(k,m?)")
        return scores(q, k)

    sentence = sentence_on(scores, of_batch, USUAL)
    assert ": “size 7 differs”" in sentence
    assert sentence.count("gufunc") == 1  # in the line, which is quoted


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
    assert evidence(exercise, calls) == f"{ends} in all 3 calls."
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
        "Your `weights` have as many numbers as is right, but in a single axis."
    )


def test_part_that_is_right_in_some_calls_is_not_told_of():
    def answer(q, k):
        right = softmax_of_scores(q, k)
        right["scores"] = np.sin(right["scores"]) ** 2
        if len(q) == 5:
            right["weights"] = right["weights"] * np.nan
        return right

    assert "NaN" not in sentence_on(softmax_of_scores, answer, USUAL)


def test_most_frequent_cause_is_told_where_others_stop_elsewhere():
    exercise = load("similarity_attention")
    visible = [case for case in exercise.cases if case.visible]

    def similarity_attention(x, y):
        weights = np.exp(x * y)
        return weights @ y

    result = judge(exercise, local_runner_factory(similarity_attention), cases=visible)
    assert not result.diagnosis
    assert "the matrix product is `@`" in result.evidence
    assert result.evidence.startswith("In 9 of 13 calls, your `similarity_attention`")


def visible_evidence(name, answer):
    exercise = load(name)
    visible = [case for case in exercise.cases if case.visible]
    return judge(exercise, local_runner_factory(answer), cases=visible).evidence


def test_list_of_arrays_is_told_where_an_array_is_asked_for():
    sentence = visible_evidence(
        "normalise_rows", lambda x: [row / row.sum() for row in x]
    )
    assert sentence == "Your result is a list where an array is asked for."


def test_one_key_for_all_is_told():
    def sgd_step(parameters, gradients, learning_rate):
        new = {}
        for name, p in parameters.items():
            new["n"] = p - learning_rate * gradients[name]
        return new

    sentence = visible_evidence("sgd_step", sgd_step)
    assert sentence == 'Your result has one key, "n", whatever the right keys are.'


TWO_MASKS = """
def combine_masks(*masks):
    a, b = masks
    return a & b
"""
NORMS_IN_PLACE = """
def rms_norm(x, gain, eps=1e-6):
    x /= x.square().mean(dim=-1, keepdim=True).sqrt()
    x *= gain
    return x
"""


def result_of(exercise, text):
    return judged(UnseenAnswer(exercise, 1, False, "", "", text.lstrip()))


def test_all_calls_that_stop_in_a_line_are_counted():
    """Too many masks in some, not enough in another: it is one line of one kind."""
    result = result_of("combine_masks", TWO_MASKS)
    stopped = [call for call in result.calls if call.result.raised]
    assert len({call.result.raised.message for call in stopped}) > 1
    assert result.evidence.startswith("In 8 of 19 "), result.evidence
    assert "other calls are wrong" not in result.evidence


def test_argument_changed_in_every_call_is_said_to_be():
    """Also in those whose result is wrong besides."""
    result = result_of("rms_norm", NORMS_IN_PLACE)
    assert result.evidence.startswith("Your `rms_norm` changes its argument `x`")


NOTHING_RETURNED = """
def split_heads(x, n_heads):
    *leading, n, d_model = x.shape
    assert d_model % n_heads == 0
    parts = x.reshape(*leading, n, n_heads, d_model // n_heads)
    parts = np.swapaxes(parts, -2, -3)
"""


def test_missing_return_is_no_two_errors_at_once():
    """One of them would explain None where n_heads does not divide, one elsewhere."""
    result = result_of("split_heads", NOTHING_RETURNED)
    assert result.diagnosis == ""
    assert "returns None" in result.evidence


def test_count_holds_where_further_calls_fail_otherwise():
    exercise = Exercise(scores, lesson="none", minutes=1, difficulty=1)
    exercise.spec(scores)

    def calls(answer, pairs):
        runner = local_runner(answer)
        return [Call((q, k), {}, runner((q, k), {})) for q, k in pairs]

    def threefold(q, k):
        return scores(q, k) * (1 + 2 * (q[0, 0] > q[0, 1]))

    pairs = [(q, k) for q, k, _ in USUAL] + [(np.flip(q), k) for q, k, _ in USUAL]
    twice = [*pairs, *((q, k) for q, k in pairs if q[0, 0] <= q[0, 1])]
    recorded = calls(threefold, twice)
    assert evidence(exercise, recorded) == (
        "In 5 of 7 calls, your result is 3 times the right one; every other call is "
        "right."
    )
    others = calls(lambda q, k: np.sin(scores(q, k)), pairs[:2])
    assert evidence(exercise, recorded, (), lambda: others) == (
        "In 5 of 7 calls, your result is 3 times the right one."
    )


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (lambda n: 2.0 * n, "Your number is right but a float, 6.0: "),
        (
            lambda n: n + n if n < 5 else 2.0 * n,
            "In 2 of 3 calls, your number is right",
        ),
        (lambda n: 2.0 * n if n < 5 else 2 * n + 1, ""),
    ],
)
def test_right_number_that_is_a_float_is_said_to_be_one(count, expected):
    def doubled(n: int) -> int:
        return 2 * n

    sentence = sentence_on(doubled, count, [(n, {}) for n in (3, 5, 7)])
    assert sentence.startswith(expected)
    assert ("float" in sentence) is (count(7) == 14)
