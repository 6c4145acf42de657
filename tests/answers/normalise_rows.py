import functools

import numpy as np

from tests.answers import Answers

answers = Answers("normalise_rows")


@answers.correct
def new_axis_by_index(x):
    return x / x.sum(-1)[..., None]


@answers.correct
def einsum(x):
    return np.einsum("...ij,...i->...ij", x, 1 / np.einsum("...ij->...i", x))


@answers.correct
def matrix_of_ones(x):
    return x / (x @ np.ones((x.shape[-1], x.shape[-1])))


@answers.correct
def loops_over_rows(x):
    rows = x.reshape(-1, x.shape[-1]).tolist()
    shares = [[number / sum(row) for number in row] for row in rows]
    return np.array(shares).reshape(x.shape)


@answers.correct
def along_axis(x):
    return np.apply_along_axis(lambda row: row / row.sum(), -1, x)


@answers.correct
def axes_turned_around(x):
    return (x.T / x.T.sum(axis=0)).T  # a transposed layout of the result


@answers.correct
def exponential_of_logarithms(x):
    logarithms = np.log(x)
    return np.exp(logarithms - np.logaddexp.reduce(logarithms, -1, keepdims=True))


class Normalise:
    def __init__(self, axis):
        self.axis = axis

    def __call__(self, x):
        return np.asfortranarray(x / np.expand_dims(x.sum(self.axis), self.axis))


answers.right["callable_object"] = Normalise(-1)
answers.right["partial"] = functools.partial(
    lambda axis, x: np.divide(x, np.add.reduce(x, axis, keepdims=True)), -1
)


@answers.also("keepdims_missing")
def einsum_without_axis(x):
    return np.divide(x, np.einsum("...ij->...i", x))


@answers.also("sums_over_first_axis")
def sum_of_the_parts(x):
    total = sum(part for part in x)
    return np.array([part / total for part in x])


@answers.also("divided_by_column_sums")
def turned_the_wrong_way(x):
    turned = x.swapaxes(-1, -2)
    return (turned / turned.sum(-1)[..., None]).swapaxes(-1, -2)


@answers.also("sums_over_axis_one")
def new_axis_behind_the_first(x):
    return x / x.sum(1)[:, None]


@answers.also("loop_over_first_axis")
def all_axes_but_the_first(x):
    return x / x.sum(axis=tuple(range(1, x.ndim)), keepdims=True)


@answers.also("divided_by_total")
def built_in_sum(x):
    return x * (1 / sum(x.ravel().tolist()))


@answers.also("divided_by_largest")
def last_after_sorting(x):
    return x / np.sort(x, axis=-1)[..., -1:]


@answers.also("divided_by_euclidean_norm")
def root_of_squares(x):
    return np.einsum("...ij,...i->...ij", x, (x * x).sum(-1) ** -0.5)


@answers.also("softmax_of_rows")
def exponential_shares(x):
    return np.exp(x - np.logaddexp.reduce(x, axis=-1, keepdims=True))


@answers.also("standardised_rows")
def scores_of_standard_deviations(x):
    centred = x - np.einsum("...ij->...i", x)[..., None] / x.shape[-1]
    return centred / (centred**2).mean(-1)[..., None] ** 0.5


@answers.also("floor_division")
def floor_of_the_quotient(x):
    quotient = np.floor(x / x.sum(-1)[..., None])
    return quotient.astype(x.dtype)


@answers.also("room_like_x")
def cast_back(x):
    return (x / x.sum(-1)[..., None]).astype(x.dtype)


@answers.also("eps_in_denominator")
def sum_starts_at_eps(x):
    sums = np.full(x.shape[:-1], 1e-8)
    for column in np.moveaxis(x, -1, 0):
        sums += column
    return x / sums[..., None]


@answers.also("divided_in_place")
def rows_are_views(x):
    for index in np.ndindex(x.shape[:-1]):
        row = x[index]
        row *= 1 / row.sum()
    return x


@answers.other
def smallest_to_largest(x):
    low, high = x.min(-1, keepdims=True), x.max(-1, keepdims=True)
    return (x - low) / (high - low)


@answers.other
def divided_by_mean(x):
    return x / x.mean(-1, keepdims=True)


@answers.other
def left_transposed(x):
    return np.swapaxes(x / x.sum(-1, keepdims=True), -1, -2)


@answers.other
def sum_taken_off(x):
    return x - x.sum(-1, keepdims=True)


@answers.other
def rounded(x):
    return np.round(x / x.sum(-1, keepdims=True), 3)


@answers.other
def rows_and_columns(x):
    x = x / x.sum(-1, keepdims=True)
    return x / x.sum(-2, keepdims=True)
