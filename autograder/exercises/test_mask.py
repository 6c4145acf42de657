"""Broken masked softmaxes, and weak tests that let some of them pass."""

import numpy as np

from autograder.checking.learners_tests import LearnersTest
from autograder.exercises.masked_softmax import exercise as masked_softmax_exercise
from course_lib import tests_of_parts


def with_logarithms(scores, may_attend):
    allowed = np.where(may_attend, np.asarray(scores, dtype=float), -np.inf)
    largest = allowed.max(axis=-1, keepdims=True)
    largest = np.where(np.isinf(largest), 0.0, largest)
    # Not added to the largest score: in a large number the logarithm's digits are lost.
    logs = np.log(np.exp(allowed - largest).sum(axis=-1, keepdims=True))
    return np.exp(allowed - largest - np.where(np.isinf(logs), 0.0, logs))


def key_by_key(scores, may_attend):
    # From the last key to the first: sums in another order end in other digits.
    allowed = np.broadcast_to(may_attend, np.shape(scores))
    largest = np.where(allowed, scores, -np.inf).max(axis=-1)
    largest = np.where(np.isinf(largest), 0.0, largest)
    weights, total = np.zeros(np.shape(scores)), np.zeros(np.shape(scores)[:-1])
    for j in reversed(range(np.shape(scores)[-1])):
        numbers = np.where(allowed[..., j], scores[..., j] - largest, -np.inf)
        weights[..., j] = np.exp(numbers)
        total += weights[..., j]
    return weights / np.where(total == 0, 1.0, total)[..., np.newaxis]


def with_a_leak(scores, may_attend):
    weights = masked_softmax_exercise.reference(scores, may_attend)
    leaks = np.broadcast_to(~may_attend, weights.shape) * 0.001
    leaks = leaks * (weights.sum(axis=-1, keepdims=True) > 0)
    return weights * (1 - leaks.sum(axis=-1, keepdims=True)) + leaks


def with_powers_of_two(scores, may_attend):
    scores = np.asarray(scores, dtype=float) * np.log(2)
    return masked_softmax_exercise.reference(scores, may_attend)


def in_equal_shares(scores, may_attend):
    return masked_softmax_exercise.reference(0.0 * scores, may_attend)


exercise = LearnersTest(
    tests_of_parts.test_mask,
    lesson="16_bug_hunt",
    minutes=15,
    difficulty=2,
    right={
        "as in lesson 04": masked_softmax_exercise.reference,
        "computed with loops": masked_softmax_exercise.expected_function,
        "with the logarithm of the sum": with_logarithms,
        "key by key, from the last to the first": key_by_key,
    },
)

exercise.catches_of(
    masked_softmax_exercise,
    {
        "polarity_reversed": "A mask that is read the other way round is caught",
        "mask_ignored": "A mask that is ignored is caught",
        "masked_after_softmax": "A mask that comes after the softmax is caught",
        "scores_times_mask": "Blocked keys that count with the score 0 are caught",
        "nan_in_rows_without_keys": "NaN in a row without keys is caught",
        "mask_of_the_first_query": "One row of the mask for all queries is caught",
    },
)

exercise.catches_of(
    masked_softmax_exercise,
    {
        "rows_without_keys_shared_out": "A row without keys that shares its weight out "
        "is caught",
        "filled_with_minus_a_hundred_beside_keys": "Blocked keys that count with the "
        "score −100 are caught",
        "one_maximum_for_all_rows": "Rows that are NaN next to a row of far larger "
        "scores are caught",
        "mask_of_the_first_sequence": "The mask of the first sequence for all of a "
        "batch is caught",
        "axes_of_length_1_dropped": "An axis lost with a single query is caught",
    },
    visible=False,
)

exercise.catches_of(
    masked_softmax_exercise,
    {"smallest_first": "The largest weight for the smallest score is caught"},
    weight=2,
)

exercise.catches(
    "powers_of_two",
    "Powers of 2 in place of e are caught",
    with_powers_of_two,
    weight=2,
)

exercise.catches(
    "equal_shares",
    "Equal weights for all keys that are not blocked are caught",
    in_equal_shares,
    weight=2,
    visible=False,
)

exercise.catches(
    "leaks_a_thousandth",
    "A leak of a thousandth to each blocked key is caught",
    with_a_leak,
    visible=False,
)


# Without these kinds of input a broken version looks right


def masks_of(c):
    """Return the scores, and a mask of their shape."""
    scores = np.asarray(c.scores)
    return scores, np.broadcast_to(np.asarray(c.may_attend, dtype=bool), scores.shape)


def blocks_beside_a_key(c):
    _, mask = masks_of(c)
    return bool((mask.any(axis=-1) & ~mask.all(axis=-1)).any())


def blocks_whole_rows(c):
    return bool((~masks_of(c)[1].any(axis=-1)).any())


def has_two_scores(c):
    scores, mask = masks_of(c)
    large = np.where(mask, scores, -np.inf).max(axis=-1)
    small = np.where(mask, scores, np.inf).min(axis=-1)
    return bool((large > small).any())


def differs_by_query(c):
    _, mask = masks_of(c)
    return bool((mask != mask[..., :1, :]).any())


def differs_by_sequence(c):
    _, mask = masks_of(c)
    return mask.ndim > 2 and bool((mask != mask[(0,) * (mask.ndim - 2)]).any())


def has_rows_far_apart(c):
    scores, mask = masks_of(c)
    allowed = np.where(mask, scores, -np.inf).max(axis=-1)[mask.any(axis=-1)]
    large = 80 if scores.dtype.itemsize < 8 else 600
    return allowed.size > 0 and scores.max() - allowed.min() > large


def has_allowed_scores_far_below_zero(c):
    scores, mask = masks_of(c)
    rows = mask.any(axis=-1) & ~mask.all(axis=-1)
    allowed = np.where(mask, scores, -np.inf).max(axis=-1)
    return bool((allowed[rows] < -50).any())


exercise.shows_with(
    "a mask that blocks a key",
    lambda c: not masks_of(c)[1].all(),
    *("mask_ignored", "scores_times_mask"),
    question="What is may_attend for?",
)
exercise.shows_with(
    "a mask that blocks a key and leaves another",
    blocks_beside_a_key,
    *("masked_after_softmax", "leaks_a_thousandth"),
    question="What is may_attend for?",
)
exercise.shows_with(
    "two keys with different scores that a query may attend to",
    has_two_scores,
    *("smallest_first", "powers_of_two", "equal_shares"),
    question="Which weights tell whether the scores play a part?",
)
exercise.shows_with(
    "a row in which all keys are blocked",
    blocks_whole_rows,
    *("nan_in_rows_without_keys", "rows_without_keys_shared_out"),
    question="What does the docstring promise to a row in which all keys are blocked?",
    weak="no_row_without_keys",
)
exercise.shows_with(
    "a mask whose rows differ from query to query",
    differs_by_query,
    "mask_of_the_first_query",
    question="Which mask tells whether row i is used for query i?",
    weak="one_mask_for_all_queries",
)
exercise.shows_with(
    "a batch whose sequences have different masks",
    differs_by_sequence,
    "mask_of_the_first_sequence",
    question="What may stand in front of n and m?",
    weak="no_batch",
)
exercise.shows_with(
    "a single query (n = 1) or another axis of length 1",
    lambda c: 1 in np.shape(c.scores),
    "axes_of_length_1_dropped",
    question="Which is the smallest n that the docstring allows?",
    weak="no_single_query",
)
exercise.shows_with(
    "a blocked key in a row whose allowed scores are far below 0",
    has_allowed_scores_far_below_zero,
    "filled_with_minus_a_hundred_beside_keys",
    question="Which scores does the docstring allow?",
    weak="no_large_scores",
)
exercise.shows_with(
    "a row of scores that lies many hundreds below another row",
    has_rows_far_apart,
    "one_maximum_for_all_rows",
    question="What if one query's scores are far larger than another's?",
    weak="no_large_scores",
)


@exercise.spec
def spec(masked_softmax):
    rng = np.random.default_rng(1)
    for shape, size in [((2, 3, 5, 7), 1), ((2, 1, 7), 1), ((4, 5, 7), 30_000)]:
        scores, may_attend = size * rng.normal(size=shape), rng.random(shape) < 0.5
        may_attend[0, ..., 0, :] = False
        expected = masked_softmax_exercise.expected_function(scores, may_attend)
        weights = masked_softmax(scores, may_attend)
        np.testing.assert_allclose(weights, expected, rtol=1e-9, atol=1e-9)


@exercise.right_answer
def one_assertion_at_the_end(masked_softmax):
    rng = np.random.default_rng(16)
    is_right = True
    for shape, size in [((5, 7), 1), ((2, 3, 5, 7), 1), ((1, 7), 1), ((30, 7), 50000)]:
        scores = size * rng.normal(size=shape)
        may_attend = rng.random(size=shape) < 0.5
        may_attend[..., -1, :] = False
        if len(shape) > 2:
            may_attend[0] = False
        weights = masked_softmax(scores, may_attend)
        allowed = np.where(may_attend, scores, -np.inf)
        largest = np.maximum(allowed.max(axis=-1, keepdims=True), -1e6)
        powers = np.exp(allowed - largest)
        expected = powers / np.maximum(powers.sum(axis=-1, keepdims=True), 1)
        is_right &= np.shape(weights) == shape and np.allclose(
            weights, expected, rtol=1e-9, atol=1e-9
        )
    assert is_right, "the weights are wrong"


exercise.weak_at_saying_no(
    "the masked softmax that you wrote in lesson 04",
    rejects="np.shape(weights) == shape -> np.shape(weights) == shape[:-1]",
    of=one_assertion_at_the_end,
)
exercise.weak_at_comparing(
    """
shapes_alone:  and np.allclose(weights, expected, rtol=1e-09, atol=1e-09) ->
rounding_is_an_error:
  | np.allclose(weights, expected, rtol=1e-09, atol=1e-09) ->
  :     np.array_equal(weights, expected)
""",
    of=one_assertion_at_the_end,
)
exercise.edits(
    """
sums_of_rows_alone:
  | is_right &= … ->
  :     sums = weights.sum(axis=-1)
  :     is_right &= np.allclose(sums[may_attend.any(axis=-1)], 1)
  Your test catches what a test catches that only asks whether rows sum to 1.
  ? How many tables of weights have rows that sum to 1?
  # It is the one property of a softmax that everybody knows.
blocked_keys_alone: is_right &= not np.any(weights * ~may_attend)
  Your test catches what a test catches that only asks whether blocked keys have
    weight.
  ? What of the weights that the other keys get?
  # A mask is there to block, so a test of it asks what is blocked.
no_row_without_keys:
  | may_attend[. … -> may_attend[..., 0] = True
  | if len(shape) > 2:
  :     may_attend[0] = False ->
  Your test catches what a test catches that leaves each query a key.
  ? What does the docstring promise to a row in which all keys are blocked?
  # A causal mask, the usual example, leaves each query its own position.
one_mask_for_all_queries:
  | weights = … ->
  :     may_attend[:] = may_attend[..., :1, :]
  :     weights = masked_softmax(scores, may_attend)
  Your test catches what a test catches whose masks have the same row for each query.
  ? Which mask tells whether row i is used for query i?
  # A padding mask is like that, and comes first in many tutorials.
no_batch: , ((2, 3, 5, 7), 1) ->
  Your test catches what a test catches that tries no batch.
  ? What may stand in front of n and m?
  # A table by hand has two axes.
no_single_query: , ((1, 7), 1) ->
  Your test catches what a test catches that tries no single query.
  ? Which is the smallest n that the docstring allows?
  # Sizes of 1 look like no test at all.
no_large_scores: , ((30, 7), 50000) ->
  Your test catches what a test catches that tries small scores only.
  ? Which scores does the docstring allow?
  # Numbers drawn from a standard normal are never large.
tolerance_too_wide: rtol=1e-09, atol=1e-09 -> rtol=0.01, atol=0.01
  Your test catches what a test catches that forgives differences of a hundredth.
  ? How far apart are two right versions, and how much may leak to the future?
  # A tolerance is widened until the test passes.
""",
    of=one_assertion_at_the_end,
)
