import functools

import numpy as np

from tests.answers import Answers

answers = Answers("bilinear_scores")


@answers.correct
def einsum(q, k, w):
    return np.einsum("...ia,ab,...jb->...ij", q, w, k)


@answers.correct
def keys_projected(q, k, w):
    return q @ np.swapaxes(k @ w.T, -1, -2)


@answers.correct
def keys_first_then_turned(q, k, w):
    return np.moveaxis(k @ (q @ w).swapaxes(-1, -2), -1, -2)


@answers.correct
def loops_over_pairs(q, k, w):
    flat_q, flat_k = q.reshape(-1, *q.shape[-2:]), k.reshape(-1, *k.shape[-2:])
    scores = [
        [[float(np.sum(w * np.outer(a, b))) for b in keys] for a in rows]
        for rows, keys in zip(flat_q, flat_k, strict=True)
    ]
    return np.array(scores).reshape(*q.shape[:-1], k.shape[-2])


@answers.correct
def broadcast_and_sum(q, k, w):
    asked = (q[..., :, :, None] * w).sum(axis=-2)
    return (asked[..., :, None, :] * k[..., None, :, :]).sum(axis=-1)


@answers.correct
def through_singular_values(q, k, w):
    left, sizes, right = np.linalg.svd(w, full_matrices=False)
    return (q @ left * sizes) @ np.swapaxes(k @ right.T, -1, -2)


@answers.correct
def more_precise_than_asked(q, k, w):
    wide = [part.astype(np.longdouble) for part in (q, k, w)]
    return einsum(*wide)


@answers.correct
def fortran_layout(q, k, w):
    return np.asfortranarray(einsum(q, k, w))


class Scores:
    def __init__(self, product):
        self.product = product

    def __call__(self, q, k, w):
        return self.product(self.product(q, w), np.moveaxis(k, -1, -2))


answers.right["callable_object"] = Scores(np.matmul)
answers.right["partial"] = functools.partial(np.einsum, "...ia,...jb,ab->...ij")


@answers.also("w_transposed")
def keys_through_w(q, k, w):
    return q @ np.swapaxes(k @ w, -1, -2)


@answers.also("w_ignored")
def dot_products(q, k, w):
    return np.einsum("...ic,...jc->...ij", q, k)


@answers.also("diagonal_of_w_only")
def one_loop(q, k, w):
    scores = np.zeros((*q.shape[:-1], k.shape[-2]))
    for c in range(min(w.shape)):
        scores += w[c, c] * q[..., :, None, c] * k[..., None, :, c]
    return scores


@answers.also("w_symmetrised")
def mean_of_both_directions(q, k, w):
    return (einsum(q, k, w) + np.einsum("...ia,ba,...jb->...ij", q, w, k)) / 2


@answers.also("w_on_both_sides")
def one_matrix_made_of_two(q, k, w):
    return np.einsum("...ia,ac,bc,...jb->...ij", q, w, w, k)


@answers.also("divided_by_root_of_d_k")
def shrunken_w(q, k, w):
    return einsum(q, k, w * w.shape[1] ** -0.5)


@answers.also("queries_and_keys_swapped")
def transposed_table(q, k, w):
    return np.einsum("...ia,ab,...jb->...ji", q, w, k)


@answers.also("keys_reshaped")
def keys_read_off_one_long_row(q, k, w):
    m, d_k = k.shape[-2:]
    long = k.reshape(*k.shape[:-2], m * d_k)
    asked = q @ w
    return sum(
        asked[..., :, c, None] * long[..., None, c * m : (c + 1) * m]
        for c in range(d_k)
    )


@answers.also("all_axes_transposed")
def axes_reversed(q, k, w):
    return np.matmul(np.einsum("...ia,ab->...ib", q, w), np.transpose(k))


@answers.also("softmax_applied")
def exponentials_shared_out(q, k, w):
    scores = einsum(q, k, w)
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return np.exp(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))


@answers.also("tanh_applied")
def sigmoid_stretched(q, k, w):
    return 2 / (1 + np.exp(-2 * einsum(q, k, w))) - 1


@answers.also("cosine_after_w")
def scores_over_lengths(q, k, w):
    lengths_q = (np.square(q @ w)).sum(axis=-1)[..., :, None] ** 0.5
    lengths_k = (np.square(k)).sum(axis=-1)[..., None, :] ** 0.5
    return einsum(q, k, w) / (lengths_q * lengths_k)


@answers.also("keys_overwritten")
def running_product_of_queries(q, k, w):
    running = np.cumprod(q @ w, axis=-2)
    scores = running @ np.swapaxes(k, -1, -2)
    k *= running[..., -1:, :]
    return scores


@answers.also("every_axis_of_one_dropped")
def only_long_axes(q, k, w):
    table = einsum(q, k, w)
    return table.reshape([size for size in table.shape if size > 1])


@answers.other
def query_set_to_zero(q, k, w):
    scores = einsum(q, k, w)
    q *= 0
    return scores


@answers.other
def divided_by_root_of_d_q(q, k, w):
    return einsum(q, k, w) / np.sqrt(q.shape[-1])


@answers.other
def mean_of_products(q, k, w):
    return ((q @ w)[..., :, None, :] * k[..., None, :, :]).mean(axis=-1)


@answers.other
def negative_distance_after_w(q, k, w):
    return -(((q @ w)[..., :, None, :] - k[..., None, :, :]) ** 2).sum(axis=-1)


@answers.other
def size_of_w_only(q, k, w):
    return einsum(q, k, np.abs(w))


@answers.other
def every_sequence_with_every_other(q, k, w):
    return np.tensordot(q @ w, k, axes=(-1, -1))
