import functools

import numpy as np

from tests.answers import Answers

answers = Answers("softmax_jacobian")


@answers.correct
def einsum(p):
    diagonal = np.einsum("...i,ij->...ij", p, np.eye(p.shape[-1]))
    return diagonal - np.einsum("...i,...j->...ij", p, p)


@answers.correct
def factored(p):
    return p[..., :, None] * (np.eye(p.shape[-1]) - p[..., None, :])


@answers.correct
def two_rules(p):
    n = p.shape[-1]
    same = np.arange(n)[:, None] == np.arange(n)
    own = np.broadcast_to((p * (1 - p))[..., None], (*p.shape, n))
    return np.where(same, own, -np.matmul(p[..., :, None], p[..., None, :]))


@answers.correct
def recipe_row_by_row(p):
    rows = [np.diag(row) - np.outer(row, row) for row in p.reshape(-1, p.shape[-1])]
    return np.array(rows).reshape(*p.shape, p.shape[-1])


@answers.correct
def loops(p):
    if p.ndim > 1:
        return np.stack([loops(row) for row in p])
    table = [[-float(a) * float(b) for b in p] for a in p]
    for i, row in enumerate(table):
        row[i] += float(p[i])
    return np.array(table)


@answers.correct
def directions_of_growth(p):
    def push(direction):
        return p * (direction - (p * direction).sum(axis=-1, keepdims=True))

    return np.stack([push(direction) for direction in np.eye(p.shape[-1])], axis=-1)


@answers.correct
def derivative_by_complex_step(p):
    floor = np.maximum(p, 1e-300)
    moved = np.log(floor)[..., None, :] + 1e-20j * np.eye(p.shape[-1])
    powers = np.exp(moved)
    return np.swapaxes(
        (powers / powers.sum(axis=-1, keepdims=True)).imag / 1e-20, -1, -2
    )


@answers.correct
def more_precise_than_asked(p):
    return einsum(p.astype(np.longdouble))


@answers.correct
def fortran_layout(p):
    return np.asfortranarray(einsum(p))


class Jacobian:
    def __call__(self, p):
        table = -np.einsum("...i,...j->...ij", p, p)
        np.einsum("...ii->...i", table)[...] += p
        return table


answers.right["callable_object"] = Jacobian()
answers.right["partial"] = functools.partial(
    lambda subtract, p: subtract(factored(p), 0), np.subtract
)


def placed_on_diagonal(numbers):
    table = np.zeros((*numbers.shape, numbers.shape[-1]))
    for i in range(numbers.shape[-1]):
        table[..., i, i] = numbers[..., i]
    return table


@answers.also("diagonal_only")
def all_else_wiped(p):
    return einsum(p) * np.eye(p.shape[-1])


@answers.also("derivative_of_a_sigmoid")
def weight_less_its_square(p):
    return p - np.square(p)


@answers.also("sign_flipped")
def factors_exchanged(p):
    return p[..., :, None] * (p[..., None, :] - np.eye(p.shape[-1]))


@answers.also("positive_off_the_diagonal")
def sizes_of_the_slopes(p):
    return np.abs(einsum(p))


@answers.also("diagonal_term_missing")
def negative_column_times_row(p):
    return np.matmul(-np.expand_dims(p, -1), np.expand_dims(p, -2))


@answers.also("rule_for_equal_indices_everywhere")
def p_spread_over_rows(p):
    return p[..., :, None] - np.einsum("...i,...j->...ij", p, p)


@answers.also("identity_for_diagonal_of_p")
def one_less_square_on_diagonal(p):
    table = -np.einsum("...i,...j->...ij", p, p)
    for i in range(p.shape[-1]):
        table[..., i, i] += 1
    return table


@answers.also("jacobian_of_log_softmax")
def ones_on_the_negative_weights(p):
    table = np.repeat(-p[..., None, :], p.shape[-1], axis=-2)
    return table + placed_on_diagonal(np.ones_like(p))


@answers.also("inner_product_for_outer")
def inner_product_per_row(p):
    return placed_on_diagonal(p) - (p[..., None, :] @ p[..., :, None])


@answers.also("batch_mixed")
def outer_products_added_up(p):
    mixed = sum(np.outer(row, row) for row in p.reshape(-1, p.shape[-1]))
    return placed_on_diagonal(p) - mixed


@answers.also("batch_as_one_long_row")
def flattened(p):
    return factored(p.ravel())


@answers.also("recipe_for_one_row")
def diag_less_column_times_row(p):
    return np.diag(p) - p.reshape(-1, 1) @ p.reshape(1, -1)


@answers.also("diag_of_a_batch")
def products_of_the_first_axis_on_diag(p):
    return -np.einsum("i...,j...->ij...", p, p) + np.diag(p)


@answers.also("loops_for_one_row")
def two_rules_entry_by_entry(p):
    table = np.empty((p.shape[-1], p.shape[-1]))
    for i, j in np.ndindex(table.shape):
        if i == j:
            table[i, i] = p[i] * (1 - p[i])
        else:
            table[i, j] = -p[i] * p[j]
    return table


@answers.also("slopes_along_the_first_axis")
def products_along_the_first_axis(p):
    table = -np.einsum("i...,j...->ij...", p, p)
    for i in range(len(p)):
        table[i, i] += p[i]
    return table


@answers.also("diagonal_shared_by_the_batch")
def identity_given_to_einsum(p):
    same = np.arange(p.shape[-1])[:, None] == np.arange(p.shape[-1])
    return np.where(same, p, 0.0) - np.einsum("...i,...j->...ij", p, p)


@answers.also("softmax_applied_again")
def exponentials_of_weights(p):
    powers = np.exp(p)
    return einsum(powers / powers.sum(axis=-1, keepdims=True))


@answers.also("divided_by_n")
def mean_of_slopes(p):
    how_many = np.ones_like(p).sum(axis=-1)
    return factored(p) / how_many[..., None, None]


@answers.also("weights_clipped")
def floor_and_ceiling(p):
    return factored(np.minimum(np.maximum(p, 1e-7), 1 - 1e-7))


@answers.also("diagonal_computed_in_place")
def product_written_into_p(p):
    slopes = factored(p)
    np.multiply(p, 1 - p, out=p)
    return slopes


@answers.other
def squares_on_the_diagonal(p):
    return placed_on_diagonal(p * p) - np.einsum("...i,...j->...ij", p, p)


@answers.other
def off_diagonal_doubled(p):
    return 2 * einsum(p) - placed_on_diagonal(p * (1 - p))


@answers.other
def divided_as_a_sample_covariance(p):
    n = p.shape[-1]
    return einsum(p) * n / max(n - 1, 1)


@answers.other
def log_softmax_turned(p):
    return np.eye(p.shape[-1]) - p[..., :, None]


@answers.other
def float32_inside(p):
    return einsum(p.astype(np.float32)).astype(np.float32)


@answers.other
def float32_inside_and_back(p):
    return einsum(p.astype(np.float32).astype(float))


@answers.other
def zeros(p):
    return np.zeros((*p.shape, p.shape[-1]))
