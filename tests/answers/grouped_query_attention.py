import functools
import math

import numpy as np
import torch

from course_lib.nn.attention import attention
from tests.answers import Answers

answers = Answers("grouped_query_attention")


def group_of(q, k):
    """Return how many heads share one of keys; refuse what does not divide."""
    group, left = divmod(q.shape[-3], k.shape[-3])
    if left or not group:
        raise ValueError("n_kv_heads has to divide n_heads")
    return group


def attend(q, k, v, may_attend):
    """Attend with as many heads everywhere; the mask fits the scores."""
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if may_attend is None:
        return scores.softmax(-1) @ v
    scores = scores.masked_fill(~may_attend, -math.inf)
    return scores.softmax(-1).nan_to_num(0.0) @ v


def with_an_axis(may_attend):
    return None if may_attend is None else may_attend.unsqueeze(-3)


@answers.correct
def repeat_interleave(q, k, v, may_attend=None):
    group = group_of(q, k)
    k, v = (part.repeat_interleave(group, dim=-3) for part in (k, v))
    return attend(q, k, v, with_an_axis(may_attend))


@answers.correct
def expand_and_reshape(q, k, v, may_attend=None):
    group = group_of(q, k)

    def widened(x):
        *leading, n_kv_heads, m, d = x.shape
        x = x[..., None, :, :].expand(*leading, n_kv_heads, group, m, d)
        return x.reshape(*leading, n_kv_heads * group, m, d)

    return attention(q, widened(k), widened(v), with_an_axis(may_attend))[0]


@answers.correct
def index_of_the_head(q, k, v, may_attend=None):
    group = group_of(q, k)
    chosen = torch.arange(q.shape[-3]) // group
    return attend(
        q, k[..., chosen, :, :], v[..., chosen, :, :], with_an_axis(may_attend)
    )


@answers.correct
def loop_over_heads(q, k, v, may_attend=None):
    group, outputs = group_of(q, k), []
    for head in range(q.shape[-3]):
        parts = (part.select(-3, head // group) for part in (k, v))
        outputs.append(attend(q.select(-3, head), *parts, may_attend))
    return torch.stack(outputs, dim=-3)


@answers.correct
def loop_over_groups(q, k, v, may_attend=None):
    group = group_of(q, k)
    mask = with_an_axis(may_attend)
    chunks = [
        attend(some, k[..., i : i + 1, :, :], v[..., i : i + 1, :, :], mask)
        for i, some in enumerate(q.split(group, dim=-3))
    ]
    return torch.cat(chunks, dim=-3)


@answers.correct
def queries_of_a_group_in_one_matrix(q, k, v, may_attend=None):
    group, (n, d_k) = group_of(q, k), q.shape[-2:]
    rows = q.reshape(*q.shape[:-3], k.shape[-3], group * n, d_k)
    if may_attend is not None:
        may_attend = torch.cat([may_attend] * group, dim=-2).unsqueeze(-3)
    output = attend(rows, k, v, may_attend)
    return output.reshape(*q.shape[:-1], v.shape[-1])


@answers.correct
def einsum(q, k, v, may_attend=None):
    group = group_of(q, k)
    q = q.unflatten(-3, (-1, group))
    scores = torch.einsum("...hgid,...hjd->...hgij", q, k) * q.shape[-1] ** -0.5
    if may_attend is not None:
        may_attend = may_attend[..., None, None, :, :]
        scores = scores.where(may_attend, torch.full_like(scores, -math.inf))
        largest = scores.amax(-1, keepdim=True).clamp(min=-1e30)
        powers = (scores - largest).exp()
        sums = powers.sum(-1, keepdim=True)
        weights = powers / sums.where(sums > 0, torch.ones_like(sums))
    else:
        weights = scores.softmax(-1)
    return torch.einsum("...hgij,...hjd->...hgid", weights, v).flatten(-4, -3)


@answers.correct
def fused_attention_of_pytorch(q, k, v, may_attend=None):
    group_of(q, k)
    mask = with_an_axis(may_attend)
    is_one = q.shape[-3] == k.shape[-3]
    output = torch.nn.functional.scaled_dot_product_attention(
        *((part[None] if q.ndim == 3 else part) for part in (q, k, v)),
        attn_mask=mask,
        enable_gqa=not is_one,
    )
    output = output[0] if q.ndim == 3 else output
    if may_attend is not None:
        output = output * may_attend.any(-1)[..., None, :, None]
    return output


@answers.correct
def numpy_inside(q, k, v, may_attend=None):
    group = group_of(q, k)
    k, v = (np.repeat(part.numpy(), group, axis=-3) for part in (k, v))
    scores = q.numpy() @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    if may_attend is not None:
        scores = np.where(may_attend.numpy()[..., None, :, :], scores, -np.inf)
    highest = scores.max(axis=-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isinf(highest), 0, highest))
    sums = powers.sum(axis=-1, keepdims=True)
    weights = powers / np.where(sums == 0, 1, sums)
    return torch.from_numpy((weights @ v).astype(q.numpy().dtype))


class Attention(torch.nn.Module):
    def forward(self, q, k, v, may_attend=None):
        return repeat_interleave(q, k, v, may_attend)


class Called:
    def __call__(self, q, k, v, may_attend=None):
        return index_of_the_head(q, k, v, may_attend)


answers.right["module"] = Attention()
answers.right["callable_object"] = Called()
answers.right["partial"] = functools.partial(
    lambda answer, *arguments: answer(*arguments), loop_over_heads
)


@answers.also("tiled")
def repeat_of_pytorch(q, k, v, may_attend=None):
    group = group_of(q, k)
    ones = [1] * (k.ndim - 3)
    k, v = (part.repeat(*ones, group, 1, 1) for part in (k, v))
    return attend(q, k, v, with_an_axis(may_attend))


@answers.also("sequences_taken_for_heads")
def mask_as_it_comes(q, k, v, may_attend=None):
    group = group_of(q, k)
    k, v = (part.repeat_interleave(group, dim=-3) for part in (k, v))
    return attend(q, k, v, may_attend)


@answers.also("nan_where_nothing_is_allowed")
def softmax_of_infinities(q, k, v, may_attend=None):
    group = group_of(q, k)
    k, v = (part.repeat_interleave(group, dim=-3) for part in (k, v))
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if may_attend is not None:
        scores = scores.masked_fill(~may_attend.unsqueeze(-3), float("-inf"))
    return scores.softmax(-1) @ v


@answers.also("queries_averaged")
def one_query_per_group(q, k, v, may_attend=None):
    group = group_of(q, k)
    means = q.unflatten(-3, (-1, group)).mean(-3)
    output = attend(means, k, v, with_an_axis(may_attend))
    return output.repeat_interleave(group, dim=-3)


@answers.other
def groups_of_two(q, k, v, may_attend=None):
    group_of(q, k)
    chosen = (torch.arange(q.shape[-3]) // 2) % k.shape[-3]
    return attend(
        q, k[..., chosen, :, :], v[..., chosen, :, :], with_an_axis(may_attend)
    )


@answers.other
def zeros_for_the_heads_left_over(q, k, v, may_attend=None):
    group_of(q, k)
    own = q[..., : k.shape[-3], :, :]
    output = attend(own, k, v, with_an_axis(may_attend))
    zeros = output.new_zeros(*q.shape[:-1], v.shape[-1])
    zeros[..., : k.shape[-3], :, :] = output
    return zeros


@answers.other
def values_weighted_by_scores(q, k, v, may_attend=None):
    group = group_of(q, k)
    k, v = (part.repeat_interleave(group, dim=-3) for part in (k, v))
    scores = (q @ k.mT / math.sqrt(q.shape[-1])).sigmoid()
    if may_attend is not None:
        scores = scores * may_attend.unsqueeze(-3)
    return scores @ v


@answers.other
def query_added(q, k, v, may_attend=None):
    output = repeat_interleave(q, k, v, may_attend)
    return output + q.mean(-1, keepdim=True)
