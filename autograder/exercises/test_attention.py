"""Broken attentions, and weak tests that let some of them pass."""

import numpy as np

from autograder.checking.learners_tests import LearnersTest
from autograder.exercises.attention import exercise as attention_exercise
from course_lib import tests_of_parts


def with_einsum(q, k, v):
    q, k, v = (np.asarray(x, dtype=float) for x in (q, k, v))
    scores = np.einsum("...nd,...md->...nm", q, k) / np.sqrt(q.shape[-1])
    largest = scores.max(axis=-1, keepdims=True)
    # Not added to the largest score: in a large number the logarithm's digits are lost.
    logs = np.log(np.exp(scores - largest).sum(axis=-1, keepdims=True))
    weights = np.exp(scores - largest - logs)
    return np.einsum("...nm,...md->...nd", weights, v), weights


def in_column_order(q, k, v):
    # The keys from the last to the first: sums in another order end in other digits.
    q, k, v = 1.0 * q, 1.0 * k[..., ::-1, :], 1.0 * v[..., ::-1, :]
    # Divided last: equal scores of integers stay equal, however large they are.
    scores = q @ np.swapaxes(k, -1, -2) * q.shape[-1] ** -0.5
    powers = np.exp2((scores - scores.max(axis=-1, keepdims=True)) * np.log2(np.e))
    weights = powers / powers.sum(axis=-1)[..., np.newaxis]
    output, weights = weights @ v, weights[..., ::-1]
    return np.asfortranarray(output), np.asfortranarray(weights)


def in_half_precision(q, k, v):
    output, weights = attention_exercise.reference(q, k, v)
    return output.astype(np.float16).astype(float), weights.astype(np.float16) * 1.0


exercise = LearnersTest(
    tests_of_parts.test_attention,
    lesson="16_bug_hunt",
    minutes=20,
    difficulty=3,
    right={
        "as in lesson 01": attention_exercise.reference,
        "computed with loops": attention_exercise.expected_function,
        "with einsum, and the logarithm of the sum": with_einsum,
        "with the keys from last to first": in_column_order,
    },
)

exercise.catches_of(
    attention_exercise,
    {
        "no_scale": "An attention without 1/√d_k is caught",
        "softmax_over_queries": "A softmax over the queries is caught",
        "keys_mixed": "An output that mixes the keys, not the values, is caught",
        "divided_by_root_of_d_v": "A division by √d_v in place of √d_k is caught",
        "causal_mask_added": "A causal mask that nobody asked for is caught",
        "exponentials_overflow": "Weights that are NaN for large scores are caught",
    },
)

exercise.catches_of(
    attention_exercise,
    {
        "scaled_twice": "A division by d_k in place of √d_k is caught",
        "divided_by_root_of_m": "A division by √m in place of √d_k is caught",
        "softmax_over_axis_one": "A softmax that is wrong in a batch only is caught",
        "one_maximum_for_everything": "Rows that are NaN next to a row of far larger "
        "scores are caught",
        "axes_of_length_1_dropped": "An axis lost with a single query is caught",
    },
    visible=False,
)

exercise.catches(
    "in_half_precision",
    "Results that are right to three digits only are caught",
    in_half_precision,
    visible=False,
)


# Without these kinds of input a broken version looks right


def scores_of(c):
    q, k = np.asarray(c.q, dtype=float), np.asarray(c.k, dtype=float)
    return q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])


def large_for(c):
    """Return from where on exponentials of the numbers in a call may be lost."""
    return 80 if np.result_type(c.q, c.k, c.v).itemsize < 8 else 600


def has_rows_far_apart(c):
    largest = scores_of(c).max(axis=-1)
    return largest.max() - largest.min() > large_for(c)


def has_two_scores(c):
    return bool(np.ptp(scores_of(c), axis=-1).max() > 0)


exercise.shows_with(
    "a query whose scores differ from key to key",
    has_two_scores,
    *("no_scale", "scaled_twice", "divided_by_root_of_d_v", "divided_by_root_of_m"),
    question="What do all tables of weights look like if all scores are equal?",
)
exercise.shows_with(
    "values other than the keys",
    lambda c: not np.array_equal(c.k, c.v),
    "keys_mixed",
    question="Which two of the three arguments could be confused?",
)
exercise.shows_with(
    "another size for d_v than for d_k",
    lambda c: np.shape(c.v)[-1] != np.shape(c.q)[-1],
    "divided_by_root_of_d_v",
    question="Which sizes can be exchanged for one another without anything to see?",
)
exercise.shows_with(
    "another number of keys than d_k",
    lambda c: np.shape(c.k)[-2] != np.shape(c.q)[-1],
    "divided_by_root_of_m",
    question="Which sizes can be exchanged for one another without anything to see?",
)
exercise.shows_with(
    "several sequences in a batch",
    lambda c: np.ndim(c.q) > 2,
    "softmax_over_axis_one",
    question="What may stand in front of n and d_k?",
    weak="no_batch",
)
exercise.shows_with(
    "a single query (n = 1) or another axis of length 1",
    lambda c: 1 in (*np.shape(c.q)[:-1], *np.shape(c.k)[:-1], *np.shape(c.v)),
    "axes_of_length_1_dropped",
    question="Which is the smallest n that the docstring allows?",
    weak="no_single_query",
)
exercise.shows_with(
    "scores of many hundreds",
    lambda c: np.abs(scores_of(c)).max() > large_for(c),
    *("exponentials_overflow", "one_maximum_for_everything"),
    question="For which scores does a softmax go wrong that is right for 0, 1 and 2?",
    weak="no_large_scores",
)
exercise.shows_with(
    "a row of scores that lies many hundreds below another row",
    has_rows_far_apart,
    "one_maximum_for_everything",
    question="What if one query's scores are far larger than another's?",
)


@exercise.spec
def spec(attention):
    rng = np.random.default_rng(1)
    for leading, n, size in [
        ((), 5, 1.0),
        ((2,), 1, 1.0),
        ((2, 3), 5, 1.0),
        ((), 5, 900.0),
    ]:
        q, k, v = (
            size * rng.normal(size=(*leading, n, 4)),
            rng.normal(size=(*leading, 7, 4)),
            rng.normal(size=(*leading, 7, 6)),
        )
        right = attention_exercise.expected_function(q, k, v)
        for actual, expected in zip(attention(q, k, v), right, strict=True):
            np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-9)


@exercise.right_answer
def one_assertion_at_the_end(attention):
    rng = np.random.default_rng(15)
    n, m, d_k, d_v = 5, 7, 4, 6
    is_right = True
    for leading, rows, size in [((), n, 1), ((2, 3), n, 1), ((), 1, 1), ((), n, 4000)]:
        q = size * rng.normal(size=(*leading, rows, d_k))
        k = rng.normal(size=(*leading, m, d_k))
        v = rng.normal(size=(*leading, m, d_v))
        scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(d_k)
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        expected = powers / powers.sum(axis=-1, keepdims=True)
        output, weights = attention(q, k, v)
        for result, right in [(output, expected @ v), (weights, expected)]:
            is_right &= result.shape == right.shape and np.allclose(
                result, right, rtol=1e-9, atol=1e-9
            )
    assert is_right, "the output or the weights are wrong"


exercise.weak_at_saying_no(
    "the attention that you wrote in lesson 01",
    rejects="result.shape == right.shape -> result.shape == v.shape",
    of=one_assertion_at_the_end,
)
exercise.weak_at_comparing(
    """
shapes_alone:  and np.allclose(result, right, rtol=1e-09, atol=1e-09) ->
rounding_is_an_error:
  | np.allclose(result, right, rtol=1e-09, atol=1e-09) -> np.array_equal(result, right)
""",
    of=one_assertion_at_the_end,
)
exercise.edits(
    """
sums_of_rows_alone:
  | for result, right in …
  :     is_right &= … -> is_right &= np.allclose(weights.sum(axis=-1), 1)
  Your test catches what a test catches that only sums each row of the weights.
  ? How many tables of weights have rows that sum to 1?
  # It is the one property of a softmax that everybody knows.
weights_alone: (output, expected @ v), ->
  Your test catches what a test catches that compares the weights alone.
  ? Which error does the second result not show?
  # The weights are what a lesson draws; the output is a product away.
tries_ones:
  | q = np.ones((*leading, rows, d_k))
  | k = np.ones((*leading, m, d_k))
  | v = np.ones((*leading, m, d_v))
  Your test catches what a test catches that tries inputs of ones only.
  ? What do all tables of weights look like if all keys are equal?
  # np.ones is the shortest array to write; d2l's first check of shapes has it.
sizes_all_alike: n, m, d_k, d_v = (4, 4, 4, 4)
  Your test catches what a test catches that tries one size for n, m, d_k and d_v.
  ? Which sizes can be exchanged for one another without anything to see?
  # Square tables are quick to write, and nothing ever stops.
no_batch: , ((2, 3), n, 1) ->
  Your test catches what a test catches that tries no batch.
  ? What may stand in front of n and d_k?
  # The formula has matrices; the docstring has `(..., n, d_k)`.
no_single_query: , ((), 1, 1) ->
  Your test catches what a test catches that tries no single query.
  ? Which is the smallest n that the docstring allows?
  # Sizes of 1 look like no test at all.
no_large_scores: , ((), n, 4000) ->
  Your test catches what a test catches that tries small scores only.
  ? For which scores does a softmax go wrong that is right for 0, 1 and 2?
  # Numbers drawn from a standard normal are never large.
tolerance_too_wide: rtol=1e-09, atol=1e-09 -> rtol=0.05, atol=0.05
  Your test catches what a test catches that forgives differences of a twentieth.
  ? How far apart are two right versions, and how far apart are a weight of 0.2 and
    one of 0.25?
  # A tolerance is widened until the test passes.
""",
    of=one_assertion_at_the_end,
)
