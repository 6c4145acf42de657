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


@answers.also("jacobian_of_log_softmax")
def ones_on_the_negative_weights(p):
    table = np.repeat(-p[..., None, :], p.shape[-1], axis=-2)
    return table + placed_on_diagonal(np.ones_like(p))


@answers.other
def off_diagonal_doubled(p):
    return 2 * einsum(p) - placed_on_diagonal(p * (1 - p))


@answers.other
def divided_as_a_sample_covariance(p):
    n = p.shape[-1]
    return einsum(p) * n / max(n - 1, 1)


@answers.other
def mean_taken_off(p):
    slopes = einsum(p)
    return slopes - slopes.max(axis=(-2, -1), keepdims=True)


@answers.correct
def float32_inside(p):
    return einsum(p.astype(np.float32)).astype(np.float32)


@answers.correct
def float32_inside_and_back(p):
    return einsum(p.astype(np.float32).astype(float))
