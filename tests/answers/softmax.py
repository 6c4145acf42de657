import functools
import math

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("softmax")


@answers.correct
def logarithm_of_the_sum(x, axis=-1):
    x = 1.0 * x
    return np.exp(x - np.logaddexp.reduce(x, axis=axis, keepdims=True))


@answers.correct
def one_over_sum_of_ratios(x, axis=-1):
    last = np.moveaxis(x / 1, axis, -1)
    ratios = np.exp(last[..., None, :] - last[..., :, None])  # inf gives the weight 0
    return np.moveaxis(1 / ratios.sum(-1), -1, axis)


@answers.correct
def loops_over_lines(x, axis=-1):
    def one(scores):
        powers = [math.exp(score - max(scores)) for score in scores]
        return [power / math.fsum(powers) for power in powers]

    return np.apply_along_axis(lambda line: np.array(one(line.tolist())), axis, x)


@answers.correct
def online(x, axis=-1):
    last = np.moveaxis(x, axis, -1)
    largest, total = np.full(last.shape[:-1], -np.inf), np.zeros(last.shape[:-1])
    for scores in np.moveaxis(last, -1, 0):
        new = np.maximum(largest, scores)
        total = total * np.exp(largest - new) + np.exp(scores - new)
        largest = new
    weights = np.exp(last - largest[..., None]) / total[..., None]
    return np.moveaxis(weights, -1, axis)


@answers.correct
def einsum(x, axis=-1):
    last = np.moveaxis(np.asarray(x, dtype=np.result_type(x, 1.0)), axis, 0)
    powers = np.exp(last - last.max(axis=0))
    shares = np.einsum("i...,...->i...", powers, 1 / np.einsum("i...->...", powers))
    return np.asfortranarray(np.moveaxis(shares, 0, axis))


@answers.correct
def torch_and_back(x, axis=-1):
    return torch.softmax(torch.tensor(x, dtype=torch.float64), dim=axis).numpy()


@answers.correct
def copy_shifted_in_place(x, axis=-1):
    x = x.astype(float)  # a copy, even of floats
    x -= np.expand_dims(np.max(x, axis), axis)
    np.exp(x, out=x)
    x /= np.add.reduce(x, axis, keepdims=True)
    return x


class Softmax:
    def __init__(self, margin):
        self.margin = margin

    def __call__(self, x, axis=-1):
        top = x.max(axis=axis, keepdims=True) + self.margin
        powers = np.exp(x - top)
        return powers * (1 / powers.sum(axis=axis, keepdims=True))


answers.right["callable_object"] = Softmax(3.5)
answers.right["partial"] = functools.partial(
    lambda base, x, axis=-1: Softmax(base)(x, axis), 0.0
)


@answers.also("largest_distance_from_zero")
def reach_of_the_scores(x, axis=-1):
    reach = np.maximum(x.max(axis, keepdims=True), -x.min(axis, keepdims=True))
    powers = np.exp(np.subtract(x, reach))
    return powers / np.add.reduce(powers, axis=axis, keepdims=True)


@answers.also("no_max_subtraction")
def e_to_the_power(x, axis=-1):
    last = np.moveaxis(np.e**x, axis, -1)
    return np.moveaxis(last / last.sum(-1)[..., None], -1, axis)


@answers.also("one_global_max")
def largest_of_the_sorted(x, axis=-1):
    shifted = np.subtract(x, sorted(x.ravel().tolist())[-1])
    total = np.expand_dims(np.sum(np.exp(shifted), axis=axis), axis)
    return np.exp(shifted) / total


@answers.also("keepdims_missing")
def reduced_and_spread(x, axis=-1):
    powers = np.exp(np.subtract(x, np.maximum.reduce(x, axis)))
    return np.divide(powers, np.add.reduce(powers, axis))


@answers.also("keepdims_missing_in_the_sum")
def sum_not_expanded(x, axis=-1):
    powers = np.exp(x - np.expand_dims(np.amax(x, axis), axis))
    return np.divide(powers, np.add.reduce(powers, axis))


@answers.also("keepdims_missing_and_no_row_max")
def one_max_and_sum_not_expanded(x, axis=-1):
    powers = np.exp(x - sorted(x.ravel().tolist())[-1])
    return np.divide(powers, np.add.reduce(powers, axis))


@answers.also("axis_ignored")
def last_rows_one_by_one(x, axis=-1):
    rows = [np.exp(row - row.max()) for row in x.reshape(-1, x.shape[-1])]
    return np.array([row / row.sum() for row in rows]).reshape(x.shape)


@answers.also("summed_over_everything")
def flattened(x, axis=-1):
    scores = x.ravel()
    return np.exp(scores - np.logaddexp.reduce(scores)).reshape(x.shape)


@answers.also("summed_over_everything_without_max")
def flattened_powers_of_e(x, axis=-1):
    powers = np.e ** x.ravel()
    return (powers / np.dot(powers, np.ones(powers.size))).reshape(x.shape)


@answers.also("first_axis_fixed")
def columns_one_by_one(x, axis=-1):
    columns = x.reshape(len(x), -1).T
    powers = [np.exp(column - max(column)) for column in columns]
    return np.array([power / sum(power) for power in powers]).T.reshape(x.shape)


@answers.also("first_axis_fixed_without_max")
def sum_of_the_parts(x, axis=-1):
    parts = [np.e**part for part in x]
    return np.array([part / sum(parts) for part in parts])


@answers.also("second_axis_fixed")
def tables_only(x, axis=-1):
    turned = np.swapaxes(x, 1, -1)
    shares = np.exp(turned - np.logaddexp.reduce(turned, -1)[..., None])
    return np.swapaxes(shares, -1, 1)


@answers.also("first_axis_by_default")
def list_of_slices(x, axis=0):
    slices = np.moveaxis(x, axis, 0)
    powers = [np.exp(part - slices.max(axis=0)) for part in slices]
    return np.moveaxis(np.array(powers) / sum(powers), 0, axis)


@answers.also("second_axis_by_default")
def logarithm_of_the_sum_along_axis_1(x, axis=1):
    return np.exp(x - np.logaddexp.reduce(x, axis=axis, keepdims=True))


@answers.also("axis_without_default")
def softmax(x, axis):  # Python puts the name into its message
    return logarithm_of_the_sum(x, axis)


@answers.also("vector_made_a_table")
def axis_in_front(x, axis=-1):
    return logarithm_of_the_sum(x[np.newaxis] if x.ndim == 1 else x, axis)


@answers.also("eps_in_denominator")
def sum_starts_at_eps(x, axis=-1):
    powers = np.exp(x - np.amax(x, axis, keepdims=True))
    return powers / np.sum(powers, axis, keepdims=True, initial=1e-8)


@answers.also("max_subtracted_above_only")
def quotient_of_shifted_and_unshifted(x, axis=-1):
    last = np.moveaxis(x, axis, -1)
    total = sum(np.exp(last[..., i]) for i in range(last.shape[-1]))
    weights = np.exp(last - last.max(-1)[..., None]) / total[..., None]
    return np.moveaxis(weights, -1, axis)


@answers.also("mean_subtracted")
def centred_lines(x, axis=-1):
    last = np.moveaxis(x, axis, -1)
    powers = np.exp(last - (last.sum(-1) / last.shape[-1])[..., None])
    return np.moveaxis(powers / powers.sum(-1)[..., None], -1, axis)


@answers.also("mean_of_everything_subtracted")
def centred_as_a_whole(x, axis=-1):
    powers = np.exp(np.subtract(x, np.average(x.ravel())))
    return powers / np.expand_dims(np.add.reduce(powers, axis), axis)


@answers.also("clipped_scores")
def limits_by_minimum_and_maximum(x, axis=-1):
    limited = np.minimum(np.maximum(x, -500), 500)
    return np.exp(limited - np.logaddexp.reduce(limited, axis, keepdims=True))


@answers.also("max_minus_score")
def inverse_powers(x, axis=-1):
    inverse = 1 / np.exp(x - np.amax(x, axis, keepdims=True))
    return inverse / np.expand_dims(inverse.sum(axis), axis)


@answers.also("exponentials_not_divided")
def relative_to_the_largest(x, axis=-1):
    weights = logarithm_of_the_sum(x, axis)
    return weights / weights.max(axis=axis, keepdims=True)


@answers.also("logarithms_returned")
def less_the_logarithm_of_the_sum(x, axis=-1):
    return x - np.logaddexp.reduce(x, axis, keepdims=True)


@answers.also("scores_divided_by_their_sum")
def shares_of_the_scores(x, axis=-1):
    last = np.moveaxis(x, axis, -1)
    total = sum(last[..., i] for i in range(last.shape[-1]))
    return np.moveaxis(last / total[..., None], -1, axis)


@answers.also("room_like_x")
def cast_back(x, axis=-1):
    return logarithm_of_the_sum(x, axis).astype(x.dtype)


@answers.also("small_numbers_wrap")
def differences_in_their_own_type(x, axis=-1):
    powers = np.exp(np.subtract(x, np.expand_dims(np.amax(x, axis), axis)))
    return np.divide(powers, np.add.reduce(powers, axis, keepdims=True))


@answers.also("shifted_in_place")
def lines_are_views(x, axis=-1):
    last = np.moveaxis(x, axis, -1)
    for index in np.ndindex(last.shape[:-1]):
        last[index] -= last[index].max()
    return logarithm_of_the_sum(x, axis)


@answers.other
def sigmoid(x, axis=-1):
    return 1 / (1 + np.exp(-x))


@answers.other
def float32_inside(x, axis=-1):
    return logarithm_of_the_sum(x.astype(np.float32), axis)


@answers.other
def float32_inside_and_back(x, axis=-1):
    powers = np.exp((x - x.max(axis, keepdims=True)).astype(np.float32))
    return (powers / powers.sum(axis, keepdims=True)).astype(float)


@answers.other
def nothing_for_a_vector(x, axis=-1):
    if x.ndim > 1:
        return logarithm_of_the_sum(x, axis)
    return None


@answers.other
def one_column_for_a_vector(x, axis=-1):
    return logarithm_of_the_sum(x[:, np.newaxis] if x.ndim == 1 else x, axis)


@answers.other
def row_max_and_column_sums(x, axis=-1):
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / sum(powers)


@answers.other
def softmax_of_the_negative(x, axis=-1):
    return logarithm_of_the_sum(-x, axis)


@answers.other
def scores_over_the_sum_of_their_sizes(x, axis=-1):
    return x / np.abs(x).sum(axis, keepdims=True)


@answers.other
def powers_of_two(x, axis=-1):
    powers = np.exp2(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


@answers.other
def one_hot_of_the_largest(x, axis=-1):
    return (x == x.max(axis, keepdims=True)).astype(float)


@answers.other
def weights_written_into_x(x, axis=-1):
    x[...] = logarithm_of_the_sum(x, axis)
    return x


@answers.other
def nan_made_zero(x, axis=-1):
    powers = np.exp(x)
    return np.nan_to_num(powers / powers.sum(axis, keepdims=True))


@answers.other
def divided_by_the_largest_score(x, axis=-1):
    powers = np.exp(x / x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)
