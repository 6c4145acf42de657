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


@answers.also("axes_swapped")
def row_of_b_first(a, b):
    return np.stack([a + other for other in b])


@answers.also("added_as_they_are")
def in_one_call(a, b):
    return np.add(a, b)


@answers.also("one_partner_each")
def cut_to_the_shorter(a, b):
    shorter = min(len(a), len(b))
    return a[:shorter] + b[:shorter]


@answers.also("every_number_with_every_number")
def four_loops(a, b):
    return np.array([[[[p + q for q in s] for s in b] for p in r] for r in a])


@answers.also("reshaped_into_place")
def repeats_the_wrong_one(a, b):
    pairs = np.tile(a, (len(b), 1)) + np.repeat(b, len(a), axis=0)
    return pairs.reshape(len(a), len(b), a.shape[1])


@answers.also("differences")
def differences_by_loops(a, b):
    return np.array([[row - other for other in b] for row in a])


@answers.also("products")
def products_by_einsum(a, b):
    return np.einsum("id,jd->ijd", a, b)


@answers.also("means")
def means_of_stacked_pairs(a, b):
    return np.array([[np.mean([row, other], axis=0) for other in b] for row in a])


@answers.also("loops_from_one")
def first_ones_left_out(a, b):
    inside = a[1:, None] + b[None, 1:]
    return np.pad(inside.astype(float), ((1, 0), (1, 0), (0, 0)))


@answers.also("one_list_n_times")
def last_row_everywhere(a, b):
    return np.repeat((a[-1] + b)[None], len(a), axis=0)


@answers.also("grows_along_j")
def running_sums_of_b(a, b):
    sums = a[:, None] + np.cumsum(b, axis=0)
    a += b.sum(axis=0)
    return sums


@answers.also("room_like_a")
def cast_to_the_type_of_a(a, b):
    return (a[:, None] + b).astype(a.dtype)


@answers.also("shape_of_a_changed")
def resized(a, b):
    a.resize((a.shape[0], 1, a.shape[1]), refcheck=False)
    return np.concatenate([a + other for other in b], axis=1)


@answers.also("squared_differences")
def binomial_formula(a, b):
    mixed = np.einsum("id,jd->ijd", a, b)
    return (a**2)[:, None] - 2 * mixed + (b**2)[None]


@answers.other
def components_summed(a, b):
    return a.sum(-1)[:, None] + b.sum(-1)


@answers.other
def first_components_only(a, b):
    return np.add.outer(a[:, 0], b[:, 0])


@answers.other
def side_by_side(a, b):
    pairs = [[np.concatenate([row, other]) for other in b] for row in a]
    return np.array(pairs)


@answers.other
def long_list_of_pairs(a, b):
    return np.array([row + other for row in a for other in b])


@answers.other
def grows_without_touching_a(a, b):
    return a[:, None] + np.cumsum(b, axis=0)


@answers.other
def twice_a(a, b):
    return 2 * a[:, None] + b


@answers.other
def larger_of_the_two(a, b):
    return np.maximum(a[:, None], b)
