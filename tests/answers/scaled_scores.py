import functools

import numpy as np

from tests.answers import Answers

answers = Answers("scaled_scores")


@answers.correct
def einsum(q, k):
    return np.einsum("...ic,...jc->...ij", q, k) / np.sqrt(q.shape[-1])


@answers.correct
def scaled_first(q, k):
    return (q / q.shape[-1] ** 0.25) @ (k / k.shape[-1] ** 0.25).swapaxes(-2, -1)


@answers.correct
def broadcast_and_sum(q, k):
    products = q[..., :, None, :] * k[..., None, :, :]
    return products.sum(axis=-1) * q.shape[-1] ** -0.5


@answers.correct
def loops_over_pairs(q, k):
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
        return np.matmul(q, np.moveaxis(k, -1, -2)) * q.shape[-1] ** self.power


answers.right["callable_object"] = Scores(-0.5)
answers.right["partial"] = functools.partial(
    lambda power, q, k: einsum(q, k) * q.shape[-1] ** (power + 0.5), -0.5
)


@answers.also("no_scale")
def einsum_without_scale(q, k):
    return np.einsum("...ic,...jc->...ij", q, k)


@answers.also("divided_by_d_k")
def mean_of_products(q, k):
    return (q[..., :, None, :] * k[..., None, :, :]).mean(axis=-1)


@answers.also("divided_by_root_of_m")
def root_of_result_columns(q, k):
    scores = np.einsum("...ic,...jc->...ij", q, k)
    return scores / scores.shape[-1] ** 0.5


@answers.also("divided_by_root_of_n")
def root_of_result_rows(q, k):
    scores = np.einsum("...ic,...jc->...ij", q, k)
    return scores * scores.shape[-2] ** -0.5


@answers.also("divided_by_eight")
def times_an_eighth(q, k):
    return np.einsum("...ic,...jc->...ij", q * 0.125, k)


@answers.also("queries_and_keys_swapped")
def transposed_table(q, k):
    return np.einsum("...ic,...jc->...ji", q, k) / np.sqrt(k.shape[-1])


@answers.also("multiplied_by_root_of_d_k")
def scale_times(q, k):
    return np.einsum("...ic,...jc->...ij", q, k) * k.shape[-1] ** 0.5


@answers.also("cosine_similarity")
def divided_by_lengths(q, k):
    lengths_q = (q**2).sum(-1)[..., :, None] ** 0.5
    lengths_k = (k**2).sum(-1)[..., None, :] ** 0.5
    return np.einsum("...ic,...jc->...ij", q, k) / (lengths_q * lengths_k)


@answers.stranger
def negative_distance(q, k):
    return -((q[..., :, None, :] - k[..., None, :, :]) ** 2).sum(-1)


@answers.stranger
def absolute_scores(q, k):
    return np.abs(einsum(q, k))


@answers.stranger
def random_scores(q, k):
    return np.random.default_rng(0).normal(size=(*q.shape[:-1], k.shape[-2]))


@answers.stranger
def softmax_already_applied(q, k):
    exponentials = np.exp(einsum(q, k))
    return exponentials / exponentials.sum(-1, keepdims=True)
