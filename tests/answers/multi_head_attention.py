import functools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("multi_head_attention")


def shares(scores, axis=-1):
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def parts(table, n_heads):
    """Return the table's columns as (…, rows, n_heads, columns of a head)."""
    return table.reshape(*table.shape[:-1], n_heads, -1)


def scores_of(x, memory, w_q, w_k, n_heads):
    q, k = parts(x @ w_q, n_heads), parts(memory @ w_k, n_heads)
    return np.einsum("...ihc,...jhc->...hij", q, k) / q.shape[-1] ** 0.5


def with_mask(scores, may_attend, fill=-np.inf):
    if may_attend is None:
        return scores
    scores = scores.copy()
    for h in range(scores.shape[-3]):
        of_head = scores[..., h, :, :]
        scores[..., h, :, :] = np.where(may_attend, of_head, fill)
    return scores


def joined(weights, memory, w_v, w_o):
    n_heads = weights.shape[-3]
    mixed = np.einsum("...hij,...jhd->...ihd", weights, parts(memory @ w_v, n_heads))
    return mixed.reshape(*mixed.shape[:-2], -1) @ w_o


def one_head_after_the_other(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    output, weights = 0.0, []
    blocks = [np.split(w, n_heads, axis=-1) for w in (w_q, w_k, w_v)]
    for q, k, v, o in zip(*blocks, np.split(w_o, n_heads), strict=True):
        scores = (x @ q) @ np.swapaxes(memory @ k, -1, -2) / q.shape[-1] ** 0.5
        if may_attend is not None:
            scores = np.where(may_attend, scores, -np.inf)
        weights.append(shares(scores))
        output = output + weights[-1] @ (memory @ v) @ o
    return output, np.stack(weights, axis=-3)


answers.correct(one_head_after_the_other)


@answers.correct
def einsum_throughout(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    scores = scores_of(x, memory, w_q, w_k, n_heads)
    weights = shares(with_mask(scores, may_attend))
    return joined(weights, memory, w_v, w_o), weights


@answers.correct
def sequence_by_sequence(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    if x.ndim == 2:
        return one_head_after_the_other(
            x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend
        )
    results = []
    for i in range(len(x)):
        mine = may_attend
        if may_attend is not None and may_attend.ndim == x.ndim:
            mine = may_attend[i]
        results.append(
            sequence_by_sequence(x[i], memory[i], w_q, w_k, w_v, w_o, n_heads, mine)
        )
    return np.stack([r[0] for r in results]), np.stack([r[1] for r in results])


@answers.correct
def tables_of_each_head_multiplied_first(
    x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None
):
    """Two tables for each head do: w_q w_kᵀ for the scores, w_v w_o for the rest."""
    d_k = w_q.shape[-1] // n_heads
    q, k, v = parts(w_q, n_heads), parts(w_k, n_heads), parts(w_v, n_heads)
    o = w_o.reshape(n_heads, -1, w_o.shape[-1])
    match = np.einsum("ahc,bhc->hab", q, k) / np.sqrt(d_k)
    bring = np.einsum("bhd,hdo->hbo", v, o)
    scores = np.einsum("...ia,hab,...jb->...hij", x, match, memory)
    weights = shares(with_mask(scores, may_attend))
    return np.einsum("...hij,...jb,hbo->...io", weights, memory, bring), weights


@answers.correct
def blocked_by_the_lowest_float(
    x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None
):
    scores = scores_of(x, memory, w_q, w_k, n_heads)
    weights = shares(with_mask(scores, may_attend, np.finfo(float).min))
    return joined(weights, memory, w_v, w_o), weights


@answers.correct
def something_large_taken_off(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    scores = scores_of(x, memory, w_q, w_k, n_heads)
    if may_attend is not None:
        scores = scores - 1e9 * ~may_attend[..., None, :, :]
    weights = shares(scores)
    return joined(weights, memory, w_v, w_o), weights


@answers.correct
def renormalised_after_the_mask(
    x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None
):
    scores = scores_of(x, memory, w_q, w_k, n_heads)
    allowed = np.isfinite(with_mask(scores, may_attend))
    highest = np.max(scores, axis=-1, keepdims=True, where=allowed, initial=-np.inf)
    powers = np.where(allowed, np.exp(np.minimum(scores - highest, 0.0)), 0.0)
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return joined(weights, memory, w_v, w_o), weights


@answers.correct
def parameters_scaled_beforehand(
    x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None
):
    w_q = w_q * (w_q.shape[-1] // n_heads) ** -0.5
    q, k = parts(x @ w_q, n_heads), parts(memory @ w_k, n_heads)
    scores = np.moveaxis(q, -2, -3) @ np.moveaxis(k, -3, -1)
    weights = shares(with_mask(scores, may_attend))
    return joined(weights, memory, w_v, w_o), weights


@answers.correct
def by_pytorch_inside(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    tensors = [
        torch.from_numpy(a.astype(float)) for a in (x, memory, w_q, w_k, w_v, w_o)
    ]
    x, memory, w_q, w_k, w_v, w_o = tensors
    q, k, v = (
        table.unflatten(-1, (n_heads, -1)).transpose(-2, -3)
        for table in (x @ w_q, memory @ w_k, memory @ w_v)
    )
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if may_attend is not None:
        allowed = torch.from_numpy(may_attend).unsqueeze(-3)
        scores = scores.masked_fill(~allowed, -torch.inf)
    weights = scores.softmax(-1)
    output = (weights @ v).transpose(-2, -3).flatten(-2) @ w_o
    return output.numpy(), weights.numpy()


@answers.correct
def columns_first_in_memory(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    both = einsum_throughout(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend)
    return tuple(np.asfortranarray(part) for part in both)


class MultiHeadAttention:
    def __init__(self, fill):
        self.fill = fill

    def __call__(self, x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
        scores = scores_of(x, memory, w_q, w_k, n_heads)
        weights = shares(with_mask(scores, may_attend, self.fill))
        return joined(weights, memory, w_v, w_o), weights


answers.right["callable_object"] = MultiHeadAttention(-np.inf)
answers.right["partial"] = functools.partial(
    lambda count, *inputs, **named: einsum_throughout(*inputs, **named)[:count], 2
)


def scaled_otherwise(factor):
    """Return an attention with another factor before the scores."""

    def attend(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
        changed = w_q * factor(x, w_q, n_heads) * (w_q.shape[-1] // n_heads) ** 0.5
        return one_head_after_the_other(
            x, memory, changed, w_k, w_v, w_o, n_heads, may_attend
        )

    return attend


answers.also("divided_by_root_of_d_model")(
    scaled_otherwise(lambda x, w_q, n_heads: x.shape[-1] ** -0.5)
)
answers.also("divided_by_root_of_n_heads")(
    scaled_otherwise(lambda x, w_q, n_heads: n_heads**-0.5)
)
answers.also("divided_by_root_of_a_share_of_d_model")(
    scaled_otherwise(lambda x, w_q, n_heads: (x.shape[-1] // n_heads) ** -0.5)
)
answers.also("no_scale")(scaled_otherwise(lambda x, w_q, n_heads: 1.0))


@answers.also("attends_over_heads")
def token_by_token(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    q, k, v = (parts(table, n_heads) for table in (x @ w_q, memory @ w_k, memory @ w_v))
    scores = np.einsum("...igc,...ihc->...igh", q, k) / q.shape[-1] ** 0.5
    if may_attend is not None:
        scores = np.where(np.expand_dims(may_attend, -3), scores, -np.inf)
    weights = shares(scores)
    mixed = np.einsum("...igh,...ihd->...igd", weights, v)
    return mixed.reshape(*x.shape[:-1], -1) @ w_o, weights


@answers.also("mean_of_heads")
def mean_of_contributions(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    weights = one_head_after_the_other(
        x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend
    )[1]
    mixed = np.einsum("...hij,...jhd->...hid", weights, parts(memory @ w_v, n_heads))
    return (mixed @ np.array(np.split(w_o, n_heads))).mean(axis=-3), weights


@answers.also("no_w_o")
def unit_matrix_for_w_o(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    same = np.eye(len(w_o))
    return one_head_after_the_other(x, memory, w_q, w_k, w_v, same, n_heads, may_attend)


@answers.also("joined_by_reshape_alone")
def read_off_head_after_head(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    scores = scores_of(x, memory, w_q, w_k, n_heads)
    weights = shares(with_mask(scores, may_attend))
    mixed = [
        weights[..., h, :, :] @ v
        for h, v in enumerate(np.split(memory @ w_v, n_heads, axis=-1))
    ]
    rows = [f.reshape(*f.shape[:-2], -1) for f in mixed]
    side = np.concatenate(rows, axis=-1).reshape(*x.shape[:-1], -1)
    return side @ w_o, weights


@answers.also("cut_by_reshape_alone")
def blocks_of_the_flat_sequence(
    x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None
):
    def cut(table):
        flat = np.split(table.reshape(*table.shape[:-2], -1), n_heads, axis=-1)
        rows = [f.reshape(*f.shape[:-1], table.shape[-2], -1) for f in flat]
        return np.stack(rows, axis=-3)

    q, k, v = cut(x @ w_q), cut(memory @ w_k), cut(memory @ w_v)
    scores = np.einsum("...ic,...jc->...ij", q, k) / q.shape[-1] ** 0.5
    weights = shares(with_mask(scores, may_attend))
    mixed = np.einsum("...hij,...hjd->...hid", weights, v)
    flat = mixed.reshape(*mixed.shape[:-3], -1)
    return flat.reshape(*x.shape[:-1], -1) @ w_o, weights


@answers.also("columns_dealt_in_turn")
def heads_on_the_last_axis(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    def cut(table):
        return table.reshape(*table.shape[:-1], -1, n_heads)

    q, k, v = cut(x @ w_q), cut(memory @ w_k), cut(memory @ w_v)
    scores = np.einsum("...ich,...jch->...hij", q, k) / q.shape[-2] ** 0.5
    weights = shares(with_mask(scores, may_attend))
    mixed = np.einsum("...hij,...jdh->...idh", weights, v)
    return mixed.reshape(*x.shape[:-1], -1) @ w_o, weights


@answers.also("softmax_over_axis_one")
def second_axis_moved_last(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    scores = with_mask(scores_of(x, memory, w_q, w_k, n_heads), may_attend)
    weights = np.moveaxis(shares(np.moveaxis(scores, 1, -1)), -1, 1)
    return joined(weights, memory, w_v, w_o), weights


@answers.also("memory_ignored")
def attends_to_itself(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    scores = scores_of(x, x, w_q, w_k, n_heads)
    weights = shares(with_mask(scores, may_attend))
    return joined(weights, x, w_v, w_o), weights


@answers.also("memory_and_mask_ignored")
def only_x_is_used(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    return einsum_throughout(x, x.copy(), w_q, w_k, w_v, w_o, n_heads)


@answers.also("weights_averaged")
def sum_of_weights_over_their_number(
    x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None
):
    output, weights = einsum_throughout(
        x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend
    )
    return output, np.einsum("...hij->...ij", weights) / n_heads


@answers.also("mask_without_an_axis_for_heads")
def minus_infinity_added(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    scores = scores_of(x, memory, w_q, w_k, n_heads)
    if may_attend is not None:
        scores = scores + np.where(may_attend, 0.0, -np.inf)
    weights = shares(scores)
    return joined(weights, memory, w_v, w_o), weights


@answers.also("mask_axis_counted_from_the_front")
def axis_put_behind_the_first(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    scores = scores_of(x, memory, w_q, w_k, n_heads)
    if may_attend is not None:
        scores = scores + np.expand_dims(np.where(may_attend, 0.0, -np.inf), 1)
    weights = shares(scores)
    return joined(weights, memory, w_v, w_o), weights


@answers.also("mask_reversed")
def true_is_blocked(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    scores = scores_of(x, memory, w_q, w_k, n_heads)
    if may_attend is not None:
        scores = np.where(np.expand_dims(may_attend, -3), -np.inf, scores)
    weights = shares(scores)
    return joined(weights, memory, w_v, w_o), weights


@answers.also("mask_ignored")
def all_attend_to_all(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    weights = shares(scores_of(x, memory, w_q, w_k, n_heads))
    return joined(weights, memory, w_v, w_o), weights


@answers.also("mask_after_softmax")
def weights_times_mask(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    weights = shares(scores_of(x, memory, w_q, w_k, n_heads))
    if may_attend is not None:
        weights = weights * np.expand_dims(may_attend, -3)
    return joined(weights, memory, w_v, w_o), weights


@answers.also("blocked_scores_are_zero")
def scores_times_mask(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    scores = scores_of(x, memory, w_q, w_k, n_heads)
    if may_attend is not None:
        scores = scores * np.expand_dims(may_attend, -3)
    weights = shares(scores)
    return joined(weights, memory, w_v, w_o), weights


@answers.also("blocked_scores_are_finite")
def minus_ten_thousand(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    scores = scores_of(x, memory, w_q, w_k, n_heads)
    if may_attend is not None:
        blocked = np.broadcast_to(~np.expand_dims(may_attend, -3), scores.shape)
        np.putmask(scores, blocked, -10_000.0)
    weights = shares(scores)
    return joined(weights, memory, w_v, w_o), weights


@answers.also("one_head_without_its_axis")
def several_heads_stacked(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    output, weights = one_head_after_the_other(
        x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend
    )
    single = weights.shape[-3] == 1
    return output, np.add.reduce(weights, axis=-3) if single else weights


@answers.also("cut_to_whole_numbers")
def found_cast_to_the_dtype_of_v(
    x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None
):
    scores = scores_of(x, memory, w_q, w_k, n_heads)
    weights = shares(with_mask(scores, may_attend))
    v = parts(memory @ w_v, n_heads)
    mixed = np.einsum("...hij,...jhd->...ihd", weights, v).astype(v.dtype)
    return mixed.reshape(*mixed.shape[:-2], -1) @ w_o, weights


@answers.also("parameters_scaled_in_place")
def multiplied_into_itself(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    both = one_head_after_the_other(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend)
    if np.issubdtype(w_q.dtype, np.floating):
        np.multiply(w_q, (w_q.shape[-1] // n_heads) ** -0.5, out=w_q)
    return both


@answers.other
def all_heads_see_with_the_first(
    x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None
):
    d_k = w_q.shape[-1] // n_heads
    first = np.tile(w_q[:, :d_k], n_heads)
    return one_head_after_the_other(
        x, memory, first, w_k, w_v, w_o, n_heads, may_attend
    )


@answers.other
def a_single_large_head(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    output, weights = one_head_after_the_other(
        x, memory, w_q, w_k, w_v, w_o, 1, may_attend
    )
    return output, np.repeat(weights, n_heads, axis=-3)


@answers.other
def x_added_to_the_output(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    output, weights = einsum_throughout(
        x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend
    )
    return output + (x if x.shape == output.shape else 1), weights


@answers.other
def columns_of_w_v_reversed(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    scores = scores_of(x, memory, w_q, w_k, n_heads)
    weights = shares(with_mask(scores, may_attend))
    return joined(weights, memory, np.flip(w_v, axis=1), w_o), weights


@answers.other
def divided_by_d_k(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None):
    w_q = w_q * (w_q.shape[-1] // n_heads) ** -0.5
    return one_head_after_the_other(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend)


@answers.other
def w_o_transposed_where_it_fits(
    x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend=None
):
    w_o = w_o.T.copy() if len(w_o) == w_o.shape[1] else w_o[::-1]
    return one_head_after_the_other(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend)
