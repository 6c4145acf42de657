import functools

import numpy as np

from tests.answers import Answers

answers = Answers("similarity_attention")


def shares(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def attend(q, k, v, power=0.0):
    """Return attention in einsum, with the scores times d to a power."""
    scores = np.einsum("...ic,...jc->...ij", q, k) * q.shape[-1] ** power
    return np.einsum("...ij,...jd->...id", shares(scores), v)


@answers.correct
def einsum_throughout(x, y):
    return attend(x, y, y)


@answers.correct
def loop_over_rows(x, y):
    result = np.zeros(x.shape)
    for index in np.ndindex(x.shape[:-1]):
        rows = y[index[:-1]]
        result[index] = shares(rows @ x[index]) @ rows
    return result


@answers.correct
def transposed_throughout(x, y):
    scores = y @ np.swapaxes(x, -1, -2)
    powers = np.exp(scores - np.logaddexp.reduce(scores, axis=-2, keepdims=True))
    return np.swapaxes(np.swapaxes(y, -1, -2) @ powers, -1, -2)


@answers.correct
def divided_at_the_end(x, y):
    products = (x[..., :, None, :] * y[..., None, :, :]).sum(axis=-1)
    powers = np.exp(products - products.max(axis=-1, keepdims=True))[..., None]
    mixed = (powers * y[..., None, :, :]).sum(axis=-2)
    return mixed / powers.sum(axis=-2)


@answers.correct
def columns_first_in_memory(x, y):
    return np.asfortranarray(attend(x, y, y))


class Looker:
    def __init__(self, function):
        self.function = function

    def __call__(self, x, y):
        flat = x.reshape(-1, *x.shape[-2:]), y.reshape(-1, *y.shape[-2:])
        pairs = zip(*flat, strict=True)
        parts = [self.function(rows @ keys.T) @ keys for rows, keys in pairs]
        return np.array(parts).reshape(x.shape)


answers.right["callable_object"] = Looker(shares)
answers.right["partial"] = functools.partial(
    lambda power, x, y: attend(x, y, y, power=power), 0.0
)


@answers.also("rows_of_x_mixed")
def values_of_x(x, y):
    return attend(x, y, x)


@answers.also("attends_to_itself")
def x_three_times(x, y):
    return attend(x, x, x)


@answers.also("roles_changed")
def y_attends(x, y):
    return loop_over_rows(y, x)


@answers.also("cosine_similarity")
def scores_over_lengths(x, y):
    lengths = (x**2).sum(-1)[..., :, None] * (y**2).sum(-1)[..., None, :]
    return shares(x @ np.swapaxes(y, -1, -2) / lengths**0.5) @ y


@answers.also("rows_of_y_normalised")
def unit_rows(x, y):
    return loop_over_rows(x, y / np.einsum("...c,...c->...", y, y)[..., None] ** 0.5)


@answers.also("scale_added")
def scaled_dot_products(x, y):
    return attend(x, y, y, power=-0.5)


@answers.also("softmax_over_x")
def softmax_of_the_turned_table(x, y):
    turned = shares(y @ np.swapaxes(x, -1, -2))
    return np.einsum("...ji,...jd->...id", turned, y)


@answers.also("softmax_over_axis_one")
def second_axis_moved_last(x, y):
    moved = np.moveaxis(np.einsum("...ic,...jc->...ij", x, y), 1, -1)
    return np.matmul(np.moveaxis(shares(moved), -1, 1), y)


@answers.also("all_axes_reversed")
def transpose_without_axes(x, y):
    return shares(np.einsum("...ic,...cj->...ij", x, np.transpose(y))) @ y


@answers.also("first_two_axes_swapped")
def second_axis_moved_to_the_front(x, y):
    scores = np.einsum("...ic,...cj->...ij", x, np.moveaxis(y, 1, 0))
    return np.einsum("...ij,...jd->...id", shares(scores), y)


@answers.also("weights_returned")
def row_of_weights_for_each_row(x, y):
    weights = np.zeros((*x.shape[:-1], y.shape[-2]))
    for index in np.ndindex(x.shape[:-1]):
        weights[index] = shares(y[index[:-1]] @ x[index])
    return weights


@answers.also("softmax_missing")
def products_of_y_first(x, y):
    return x @ np.einsum("...jc,...jd->...cd", y, y)


@answers.also("exponentials_overflow")
def unshifted_sums(x, y):
    powers = np.exp(np.einsum("...ic,...jc->...ij", x, y))
    total = np.einsum("...ij->...i", powers)
    return np.einsum("...ij,...jd->...id", powers / total[..., None], y)


@answers.also("cut_to_whole_numbers")
def cast_to_the_dtype_of_x(x, y):
    return attend(x, y, y).astype(x.dtype)


@answers.also("written_into_x")
def whole_result_stored_in_x(x, y):
    x[:] = attend(x, y, y)
    return x


@answers.also("axes_of_one_lost")
def shape_without_ones(x, y):
    return attend(x, y, y).reshape([size for size in x.shape if size > 1])


@answers.other
def x_set_to_zero(x, y):
    result = attend(x, y, y)
    x *= 0
    return result


@answers.other
def nearest_row(x, y):
    distances = ((x[..., :, None, :] - y[..., None, :, :]) ** 2).sum(-1)
    return shares(-distances) @ y


@answers.other
def best_row_only(x, y):
    best = np.argmax(x @ np.swapaxes(y, -1, -2), axis=-1)
    return np.take_along_axis(y, best[..., None], axis=-2)


@answers.other
def x_added(x, y):
    return x + attend(x, y, y)


@answers.other
def everything_equally(x, y):
    return np.broadcast_to(y.mean(axis=-2, keepdims=True), x.shape).copy()


@answers.other
def divided_by_d(x, y):
    return attend(x, y, y, power=-1.0)
