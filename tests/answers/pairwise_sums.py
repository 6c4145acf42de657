import functools
import itertools

import numpy as np

from tests.answers import Answers

answers = Answers("pairwise_sums")


@answers.correct
def one_new_axis(a, b):
    return a[:, None] + b


@answers.correct
def loops_over_pairs(a, b):
    sums = np.zeros((a.shape[0], b.shape[0], a.shape[1]))
    for i, row in enumerate(a):
        for j, other in enumerate(b):
            sums[i, j] = row + other
    return sums


@answers.correct
def list_of_pairs(a, b):
    pairs = [row + other for row, other in itertools.product(a, b)]
    return np.array(pairs).reshape(len(a), len(b), -1)


@answers.correct
def repeat_and_tile(a, b):
    repeated = np.repeat(a, len(b), axis=0) + np.tile(b, (len(a), 1))
    return repeated.reshape(len(a), len(b), a.shape[1])


@answers.correct
def einsum(a, b):
    left = np.einsum("id,j->ijd", a, np.ones(len(b)))
    return left + np.einsum("i,jd->ijd", np.ones(len(a)), b)


@answers.correct
def diagonal_of_outer(a, b):
    return np.einsum("icjc->ijc", np.add.outer(a, b))


@answers.correct
def one_component_at_a_time(a, b):
    columns = [np.add.outer(left, right) for left, right in zip(a.T, b.T, strict=True)]
    return np.moveaxis(np.array(columns), 0, -1)  # a transposed layout of the result


@answers.correct
def minus_the_negative(a, b):
    return np.asfortranarray(np.expand_dims(a, 1) - np.negative(b)[None])


class Pairs:
    def __init__(self, operation):
        self.operation = operation

    def __call__(self, a, b):
        return np.stack([self.operation(row, b) for row in a])


answers.right["callable_object"] = Pairs(np.add)
answers.right["partial"] = functools.partial(
    lambda axis, a, b: np.expand_dims(a, axis) + b, -2
)


@answers.other
def first_components_only(a, b):
    return np.add.outer(a[:, 0], b[:, 0])


@answers.other
def next_row_of_b(a, b):
    return a[:, None] + np.roll(b, -1, axis=0)


@answers.other
def earlier_rows_only(a, b):
    return (a[:, None] + b) * np.tri(len(a), len(b))[..., None]
