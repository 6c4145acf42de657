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


@answers.also("small_numbers_wrap")
def einsum_in_the_type_of_the_inputs(q, k):
    return np.einsum("...ic,...jc->...ij", q, k) / np.sqrt(q.shape[-1])


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


@answers.also("floor_division")
def next_whole_number_below(q, k):
    scores = np.einsum("...ic,...jc->...ij", q, k) / q.shape[-1] ** 0.5
    return scores - scores % 1


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


@answers.also("softmax_applied")
def shares_of_exponentials(q, k):
    exponentials = np.exp(einsum(q, k))
    return exponentials / exponentials.sum(-1, keepdims=True)


@answers.also("keys_not_transposed")
def matrix_by_matrix(q, k):
    multiply = np.vectorize(np.matmul, signature="(n,c),(c,m)->(n,m)")
    return multiply(q, k) * q.shape[-1] ** -0.5


@answers.also("products_not_summed")
def one_column_after_another(q, k):
    columns = [q[..., c] * k[..., c] for c in range(q.shape[-1])]
    return np.stack(columns, axis=-1) / len(columns) ** 0.5


@answers.also("all_axes_reversed")
def transpose_without_axes(q, k):
    return np.einsum("...ic,...cj->...ij", q / q.shape[-1] ** 0.5, np.transpose(k))


@answers.also("three_axes_only")
def first_axis_is_the_batch(q, k):
    batch, last, middle = 0, 2, 1
    scale = q.shape[-1] ** -0.5
    return scale * np.matmul(q, np.transpose(k, (batch, last, middle)))


@answers.also("query_scaled_in_place")
def divided_into_itself(q, k):
    np.divide(q, q.shape[-1] ** 0.5, out=q)
    return np.einsum("...ic,...jc->...ij", q, k)


@answers.also("cut_to_whole_numbers")
def cast_to_the_dtype_of_q(q, k):
    return einsum(q, k).astype(q.dtype)


@answers.also("axes_of_one_lost")
def shape_without_ones(q, k):
    scores = einsum(q, k)
    return scores.reshape([size for size in scores.shape if size > 1])


@answers.other
def negative_distance(q, k):
    return -((q[..., :, None, :] - k[..., None, :, :]) ** 2).sum(-1)


@answers.other
def absolute_scores(q, k):
    return np.abs(einsum(q, k))


@answers.other
def random_scores(q, k):
    return np.random.default_rng(0).normal(size=(*q.shape[:-1], k.shape[-2]))


@answers.other
def largest_score_subtracted(q, k):
    scores = einsum(q, k)
    return scores - scores.max(axis=-1, keepdims=True)


@answers.other
def same_query_and_key_only(q, k):
    return (q * k).sum(axis=-1) / np.sqrt(q.shape[-1])


@answers.other
def float32_inside(q, k):
    return einsum(q, k).astype(np.float32)


@answers.other
def clipped_against_overflow(q, k):
    return np.clip(einsum(q, k), -2.0, 2.0)
