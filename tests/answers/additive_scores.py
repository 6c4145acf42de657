import functools

import numpy as np

from tests.answers import Answers

answers = Answers("additive_scores")


def sums(q, k, w_q, w_k):
    """Repeat both sides into the hidden layer before its tanh, (…, n, m, d_hidden)."""
    n, m = q.shape[-2], k.shape[-2]
    mine = np.repeat(np.expand_dims(q @ w_q, -2), m, axis=-2)
    theirs = np.repeat(np.expand_dims(k @ w_k, -3), n, axis=-3)
    return mine + theirs


@answers.correct
def einsum(q, k, w_q, w_k, v):
    hidden = np.einsum("...ic,ch->...ih", q, w_q)[..., :, None, :]
    hidden = hidden + np.einsum("...jc,ch->...jh", k, w_k)[..., None, :, :]
    return np.einsum("...ijh,h->...ij", np.tanh(hidden), v)


@answers.correct
def loops_over_pairs(q, k, w_q, w_k, v):
    flat_q, flat_k = q.reshape(-1, *q.shape[-2:]), k.reshape(-1, *k.shape[-2:])
    scores = [
        [[float(np.dot(v, np.tanh(a @ w_q + b @ w_k))) for b in keys] for a in rows]
        for rows, keys in zip(flat_q, flat_k, strict=True)
    ]
    return np.array(scores).reshape(*q.shape[:-1], k.shape[-2])


@answers.correct
def one_matrix_for_the_pair(q, k, w_q, w_k, v):
    n, m = q.shape[-2], k.shape[-2]
    left = np.repeat(q[..., :, None, :], m, axis=-2)
    right = np.repeat(k[..., None, :, :], n, axis=-3)
    pairs = np.concatenate([left, right], axis=-1)
    return np.tanh(pairs @ np.concatenate([w_q, w_k])) @ v


@answers.correct
def one_hidden_unit_at_a_time(q, k, w_q, w_k, v):
    scores = np.zeros((*q.shape[:-1], k.shape[-2]))
    for unit in range(len(v)):
        column = (q @ w_q[:, unit])[..., None] + (k @ w_k[:, unit])[..., None, :]
        scores += v[unit] * np.tanh(column)
    return scores


@answers.correct
def tanh_by_a_safe_formula(q, k, w_q, w_k, v):
    return (1 - 2 / (1 + np.exp(2 * sums(q, k, w_q, w_k)))) @ v


@answers.correct
def more_precise_than_asked(q, k, w_q, w_k, v):
    wide = [part.astype(np.longdouble) for part in (q, k, w_q, w_k)]
    return np.tanh(sums(*wide)) @ v.astype(np.longdouble)


@answers.correct
def fortran_layout(q, k, w_q, w_k, v):
    return np.asfortranarray(einsum(q, k, w_q, w_k, v))


class Scores:
    activation = staticmethod(np.tanh)

    def __call__(self, q, k, w_q, w_k, v):
        keys_first = (k @ w_k)[..., :, None, :] + (q @ w_q)[..., None, :, :]
        return np.swapaxes(self.activation(keys_first) @ v, -1, -2)


answers.right["callable_object"] = Scores()
answers.right["partial"] = functools.partial(
    lambda f, q, k, w_q, w_k, v: np.matmul(f(sums(q, k, w_q, w_k)), v), np.tanh
)


@answers.also("k_changed_in_place")
def keys_written_over_where_they_fit(q, k, w_q, w_k, v):
    theirs = np.matmul(k, w_k, out=k) if w_k.shape[0] == w_k.shape[1] else k @ w_k
    return np.tanh((q @ w_q)[..., None, :] + theirs[..., None, :, :]) @ v


@answers.other
def one_added_to_v(q, k, w_q, w_k, v):
    scores = einsum(q, k, w_q, w_k, v)
    v += 1
    return scores


@answers.other
def dot_product_of_projections(q, k, w_q, w_k, v):
    return (q @ w_q) @ np.swapaxes(k @ w_k, -1, -2)


@answers.other
def activation_of_twice_the_sum(q, k, w_q, w_k, v):
    return np.tanh(2 * sums(q, k, w_q, w_k)) @ v
