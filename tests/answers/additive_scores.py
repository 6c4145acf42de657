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


@answers.also("no_tanh")
def number_per_query_plus_number_per_key(q, k, w_q, w_k, v):
    return (q @ (w_q @ v))[..., :, None] + (k @ (w_k @ v))[..., None, :]


@answers.also("tanh_before_the_sum")
def layer_on_each_side(q, k, w_q, w_k, v):
    mine, theirs = np.tanh(q @ w_q) @ v, np.tanh(k @ w_k) @ v
    return np.add(mine[..., :, None], theirs[..., None, :])


@answers.also("v_before_the_tanh")
def activation_of_linear_scores(q, k, w_q, w_k, v):
    return np.tanh((q @ (w_q @ v))[..., :, None] + (k @ (w_k @ v))[..., None, :])


@answers.also("tanh_of_the_score")
def two_layers_with_activation(q, k, w_q, w_k, v):
    layer = sums(q, k, w_q, w_k)
    for parameters in (np.eye(len(v)), v):
        layer = np.tanh(layer @ parameters)
    return layer


@answers.also("sigmoid_for_tanh")
def half_of_one_plus_tanh(q, k, w_q, w_k, v):
    return (0.5 + 0.5 * np.tanh(sums(q, k, w_q, w_k) / 2)) @ v


@answers.also("relu_for_tanh")
def mean_of_sum_and_its_size(q, k, w_q, w_k, v):
    hidden = sums(q, k, w_q, w_k)
    return 0.5 * (hidden + np.abs(hidden)) @ v


@answers.also("one_matrix_for_both")
def sum_projected(q, k, w_q, w_k, v):
    return np.tanh((q[..., :, None, :] + k[..., None, :, :]) @ w_q) @ v


@answers.also("row_added_to_same_row")
def einsum_without_pairs(q, k, w_q, w_k, v):
    hidden = np.einsum("...c,ch->...h", q, w_q) + np.einsum("...c,ch->...h", k, w_k)
    return np.einsum("...h,h->...", np.tanh(hidden), v)


@answers.also("zip_for_two_loops")
def all_but_the_diagonal_wiped(q, k, w_q, w_k, v):
    return einsum(q, k, w_q, w_k, v) * np.eye(q.shape[-2], k.shape[-2])


@answers.also("keys_pile_up")
def running_sum_of_keys(q, k, w_q, w_k, v):
    piled = np.cumsum(k @ w_k, axis=-2)
    return np.tanh((q @ w_q)[..., :, None, :] + piled[..., None, :, :]) @ v


@answers.also("axes_counted_from_the_front")
def axes_one_and_zero(q, k, w_q, w_k, v):
    mine, theirs = np.expand_dims(q, 1) @ w_q, np.expand_dims(k, 0) @ w_k
    return np.einsum("...h,h->...", np.tanh(mine + theirs), v)


@answers.also("queries_and_keys_swapped")
def transposed_table(q, k, w_q, w_k, v):
    return np.swapaxes(einsum(q, k, w_q, w_k, v), -1, -2)


@answers.also("softmax_applied")
def exponentials_shared_out(q, k, w_q, w_k, v):
    scores = einsum(q, k, w_q, w_k, v)
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return np.exp(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))


@answers.also("divided_by_root_of_d_hidden")
def shrunken_v(q, k, w_q, w_k, v):
    return einsum(q, k, w_q, w_k, v * w_q.shape[-1] ** -0.5)


@answers.also("mean_over_hidden")
def sum_divided_by_units(q, k, w_q, w_k, v):
    return einsum(q, k, w_q, w_k, v) / w_k.shape[1]


@answers.also("v_ignored")
def each_unit_counts_the_same(q, k, w_q, w_k, v):
    return one_hidden_unit_at_a_time(q, k, w_q, w_k, [1.0] * len(v))


@answers.also("every_axis_of_one_dropped")
def only_long_axes(q, k, w_q, w_k, v):
    table = einsum(q, k, w_q, w_k, v)
    return table.reshape([size for size in table.shape if size > 1])


@answers.also("tanh_that_overflows")
def sinh_over_cosh(q, k, w_q, w_k, v):
    hidden = sums(q, k, w_q, w_k)
    return (np.sinh(hidden) / np.cosh(hidden)) @ v


@answers.also("arguments_reshaped")
def arguments_resized(q, k, w_q, w_k, v):
    scores = einsum(q, k, w_q, w_k, v)
    q.resize((*q.shape[:-1], 1, q.shape[-1]), refcheck=False)
    k.resize((*k.shape[:-2], 1, *k.shape[-2:]), refcheck=False)
    return scores


@answers.other
def one_added_to_v(q, k, w_q, w_k, v):
    scores = einsum(q, k, w_q, w_k, v)
    v += 1
    return scores


@answers.other
def difference_of_projections(q, k, w_q, w_k, v):
    return np.tanh((q @ w_q)[..., :, None, :] - (k @ w_k)[..., None, :, :]) @ v


@answers.other
def product_of_projections(q, k, w_q, w_k, v):
    return np.tanh((q @ w_q)[..., :, None, :] * (k @ w_k)[..., None, :, :]) @ v


@answers.other
def matrices_of_the_other_side(q, k, w_q, w_k, v):
    return einsum(q, k, w_k, w_q, v)


@answers.other
def v_inside_unit_by_unit(q, k, w_q, w_k, v):
    return np.tanh(sums(q, k, w_q, w_k) * v).sum(axis=-1)


@answers.other
def dot_product_of_projections(q, k, w_q, w_k, v):
    return (q @ w_q) @ np.swapaxes(k @ w_k, -1, -2)
