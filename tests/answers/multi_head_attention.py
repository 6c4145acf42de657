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
