import functools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("masked_softmax")

SMALLEST = np.finfo(float).min


def shares(scores, axis=-1):
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / np.add.reduce(powers, axis=axis, keepdims=True)


def spread(may_attend, scores):
    return np.broadcast_to(may_attend, scores.shape)


@answers.correct
def row_by_row(scores, may_attend):
    weights = np.zeros(scores.shape)
    for index in np.ndindex(scores.shape[:-1]):
        open_keys = spread(may_attend, scores)[index]
        if open_keys.any():
            weights[index][open_keys] = shares(scores[index][open_keys])
    return weights


@answers.correct
def nan_written_over(scores, may_attend):
    weights = shares(np.where(may_attend, scores, -np.inf))
    return np.where(np.isnan(weights), 0.0, weights)


@answers.correct
def smallest_float_and_then_zeros(scores, may_attend):
    return shares(np.where(may_attend, scores, SMALLEST)) * may_attend


@answers.correct
def largest_with_where(scores, may_attend):
    scores, allowed = scores.astype(float), spread(may_attend, scores)
    largest = scores.max(axis=-1, keepdims=True, where=allowed, initial=-1e300)
    powers = np.exp(scores - largest, where=allowed, out=np.zeros(scores.shape))
    total = np.einsum("...ij->...i", powers)[..., None]
    return np.divide(powers, total, where=total > 0, out=np.zeros(scores.shape))


@answers.correct
def one_key_at_a_time(scores, may_attend):
    """Go over the keys once, with a running maximum, as fast kernels do."""
    allowed = np.where(may_attend, scores, -np.inf)
    highest, total = np.full(scores.shape[:-1], SMALLEST), np.zeros(scores.shape[:-1])
    for score in np.moveaxis(allowed, -1, 0):
        higher = np.maximum(highest, score)
        total = total * np.exp(highest - higher) + np.exp(score - higher)
        highest = higher
    powers = np.exp(allowed - highest[..., None])
    return np.asfortranarray(powers / np.maximum(total, 1e-30)[..., None])


@answers.correct
def by_logarithms(scores, may_attend):
    allowed = np.where(may_attend, scores, -np.inf)
    total = np.logaddexp.reduce(allowed, axis=-1, keepdims=True)
    return np.exp(allowed - np.where(np.isfinite(total), total, 0.0))


@answers.correct
def masked_arrays(scores, may_attend):
    masked = np.ma.array(scores.astype(float), mask=~spread(may_attend, scores))
    powers = np.ma.exp(masked - masked.max(axis=-1, keepdims=True))
    return (powers / powers.sum(axis=-1, keepdims=True)).filled(0.0)


@answers.correct
def torch_and_back(scores, may_attend):
    allowed = torch.from_numpy(spread(may_attend, scores).copy())
    masked = torch.tensor(scores, dtype=torch.float64).masked_fill(~allowed, -torch.inf)
    return torch.softmax(masked, dim=-1).nan_to_num(0.0).numpy()


@answers.correct
def copy_filled_in_place(scores, may_attend):
    weights = scores.astype(float)  # a copy, even of floats
    weights[~spread(may_attend, scores)] = -np.inf
    weights -= np.maximum(weights.max(axis=-1, keepdims=True), SMALLEST)
    np.exp(weights, out=weights)
    weights /= weights.sum(axis=-1, keepdims=True) + ~np.any(
        spread(may_attend, scores), axis=-1, keepdims=True
    )
    return weights


class MaskedSoftmax:
    def __init__(self, blocked):
        self.blocked = blocked

    def __call__(self, scores, may_attend):
        return np.nan_to_num(shares(np.where(may_attend, scores, self.blocked)))


answers.right["callable_object"] = MaskedSoftmax(-np.inf)
answers.right["partial"] = functools.partial(
    lambda empty, scores, may_attend: np.where(
        may_attend, smallest_float_and_then_zeros(scores, may_attend), empty
    ),
    0.0,
)


@answers.also("largest_of_all_keys")
def guarded_division(scores, may_attend):
    powers = np.where(may_attend, shares(scores), 0.0)
    total = np.einsum("...j->...", powers)[..., None]
    return np.divide(powers, total, where=total > 0, out=np.zeros(scores.shape))


@answers.also("blocked_powers_overflow_undivided")
def power_times_mask_where_there_are_keys(scores, may_attend):
    weights = np.zeros(scores.shape)
    for index in np.ndindex(scores.shape[:-1]):
        allowed = spread(may_attend, scores)[index]
        if allowed.any():
            powers = np.exp(scores[index] - scores[index][allowed].max()) * allowed
            total = powers.sum()  # NaN is not above 0
            weights[index] = powers / total if total > 0 else powers
    return weights


@answers.also("nothing_taken_off_in_any_row")
def two_ways_for_the_whole_array(scores, may_attend):
    if spread(may_attend, scores).any(axis=-1).all():
        return row_by_row(scores, may_attend)
    powers = np.where(may_attend, np.exp(np.where(may_attend, scores, 0.0)), 0.0)
    total = np.einsum("...j->...", powers)[..., None]
    return powers / (total + (total == 0))


@answers.also("scores_filled_in_place")
def put_into_the_scores(scores, may_attend):
    if np.issubdtype(scores.dtype, np.floating):
        np.putmask(scores, ~spread(may_attend, scores), -np.inf)
    return row_by_row(scores, may_attend)


@answers.other
def equal_shares_of_the_open(scores, may_attend):
    allowed = spread(may_attend, scores).astype(float)
    return allowed / np.maximum(allowed.sum(axis=-1, keepdims=True), 1.0)


@answers.other
def filled_with_minus_one(scores, may_attend):
    return shares(np.where(may_attend, scores, -1.0))


@answers.other
def filled_with_plus_infinity(scores, may_attend):
    return shares(np.where(may_attend, scores, np.inf))


@answers.also("powers_of_two")
def two_to_the_power_of_scores(scores, may_attend):
    return row_by_row(scores * np.log(2.0), may_attend)


@answers.correct
def float32_inside(scores, may_attend):
    return row_by_row(scores, may_attend).astype(np.float32)


@answers.other
def mask_opened_afterwards(scores, may_attend):
    weights = row_by_row(scores, may_attend)
    may_attend[...] = True
    return weights
