import functools

import numpy as np

from tests.answers import Answers

answers = Answers("scaled_scores")


@answers.correct
def einsum(q, k):
    return np.einsum("...ic,...jc->...ij", q / 1, k / 1) / np.sqrt(q.shape[-1])


@answers.correct
def scaled_first(q, k):
    return (q / q.shape[-1] ** 0.25) @ (k / k.shape[-1] ** 0.25).swapaxes(-2, -1)


@answers.correct
def broadcast_and_sum(q, k):
    products = 1.0 * q[..., :, None, :] * k[..., None, :, :]
    return products.sum(axis=-1) * q.shape[-1] ** -0.5


@answers.correct
def loops_over_pairs(q, k):
    q, k = q.astype(float), k.astype(float)
    flat_q, flat_k = q.reshape(-1, *q.shape[-2:]), k.reshape(-1, *k.shape[-2:])
    scores = [
        [[float(np.dot(row, key)) / len(row) ** 0.5 for key in keys] for row in rows]
        for rows, keys in zip(flat_q, flat_k, strict=True)
    ]
    return np.array(scores).reshape(*q.shape[:-1], k.shape[-2])


@answers.correct
def fortran_layout(q, k):
    return np.asfortranarray(einsum(q, k))


class Scores:
    def __init__(self, power):
        self.power = power

    def __call__(self, q, k):
        return np.matmul(q * 1.0, np.moveaxis(k, -1, -2)) * q.shape[-1] ** self.power


answers.right["callable_object"] = Scores(-0.5)
answers.right["partial"] = functools.partial(
    lambda power, q, k: einsum(q, k) * q.shape[-1] ** (power + 0.5), -0.5
)


@answers.other
def random_scores(q, k):
    return np.random.default_rng(0).normal(size=(*q.shape[:-1], k.shape[-2]))


@answers.correct
def float32_inside(q, k):
    return einsum(q, k).astype(np.float32)


@answers.other
def one_added(q, k):
    return einsum(q, k) + 1.0


@answers.other
def clipped_against_overflow(q, k):
    return np.clip(einsum(q, k), -2.0, 2.0)


@answers.correct
def einsum_in_the_type_of_the_inputs(q, k):
    return np.einsum("...ic,...jc->...ij", q, k) / np.sqrt(q.shape[-1])


@answers.also("no_scale")
def einsum_without_scale(q, k):
    return np.einsum("...ic,...jc->...ij", q, k)
