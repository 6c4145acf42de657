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


@answers.also("q_changed_in_place")
def queries_written_over_where_they_fit(q, k, w):
    if w.shape[0] == w.shape[1]:
        np.matmul(q, w, out=q)
    else:
        q = q @ w
    return np.einsum("...ic,...jc->...ij", q, k)


@answers.also("k_changed_in_place")
def keys_written_over_where_they_fit(q, k, w):
    if w.shape[0] == w.shape[1]:
        k[...] = k @ w.T
        return q @ np.swapaxes(k, -1, -2)
    return q @ w @ np.swapaxes(k, -1, -2)


@answers.other
def query_set_to_zero(q, k, w):
    scores = einsum(q, k, w)
    q *= 0
    return scores


@answers.other
def negative_distance_after_w(q, k, w):
    return -(((q @ w)[..., :, None, :] - k[..., None, :, :]) ** 2).sum(axis=-1)


@answers.other
def sum_of_both_sides(q, k, w):
    return (q @ w).sum(axis=-1)[..., :, None] + k.sum(axis=-1)[..., None, :]
