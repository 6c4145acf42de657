import functools

import numpy as np
import torch
from torch.nn.functional import scaled_dot_product_attention

from course_lib.nn.attention import attention, for_all_heads, merge_heads, split_heads
from course_lib.nn.functional import multi_head_attention
from tests.answers import Answers

answers = Answers("prune")


@answers.correct
def gates_on_the_rows_of_w_o(x, memory, w_q, w_k, w_v, w_o, gates, may_attend=None):
    rows = gates.repeat_interleave(len(w_o) // len(gates))
    gated = rows.unsqueeze(1) * w_o
    return multi_head_attention(x, memory, w_q, w_k, w_v, gated, len(gates), may_attend)


@answers.correct
def gates_on_the_values(x, memory, w_q, w_k, w_v, w_o, gates, may_attend=None):
    n_heads = len(gates)
    q, k = split_heads(x @ w_q, n_heads), split_heads(memory @ w_k, n_heads)
    v = split_heads(memory @ w_v, n_heads) * gates.view(-1, 1, 1)
    return merge_heads(attention(q, k, v, for_all_heads(may_attend))[0]) @ w_o


@answers.correct
def gates_on_the_weights(x, memory, w_q, w_k, w_v, w_o, gates, may_attend=None):
    n_heads = len(gates)
    q, k = split_heads(x @ w_q, n_heads), split_heads(memory @ w_k, n_heads)
    v = split_heads(memory @ w_v, n_heads)
    _, weights = attention(q, k, v, for_all_heads(may_attend))
    weights = torch.einsum("h,...hij->...hij", gates, weights)
    return torch.einsum("...hij,...hjc->...ihc", weights, v).flatten(-2) @ w_o


@answers.correct
def sum_over_heads(x, memory, w_q, w_k, w_v, w_o, gates, may_attend=None):
    d_k, total = len(w_o) // len(gates), torch.zeros_like(x)
    for h, gate in enumerate(gates):
        own = slice(h * d_k, (h + 1) * d_k)
        q, k, v = x @ w_q[:, own], memory @ w_k[:, own], memory @ w_v[:, own]
        total = total + gate * (attention(q, k, v, may_attend)[0] @ w_o[own])
    return total


@answers.correct
def open_heads_alone(x, memory, w_q, w_k, w_v, w_o, gates, may_attend=None):
    """Cut closed heads out of all four matrices."""
    d_k = len(w_o) // len(gates)
    columns = (gates != 0).repeat_interleave(d_k)
    left = gates[gates != 0]
    if not len(left):
        return torch.zeros_like(x)
    q = (x @ w_q[:, columns]).unflatten(-1, (-1, d_k)).transpose(-3, -2)
    k = (memory @ w_k[:, columns]).unflatten(-1, (-1, d_k)).transpose(-3, -2)
    v = (memory @ w_v[:, columns]).unflatten(-1, (-1, d_k)).transpose(-3, -2)
    mask = None if may_attend is None else may_attend.unsqueeze(-3)
    heads = scaled_dot_product_attention(q, k, v, mask)
    joined = (left[:, None, None] * heads).transpose(-3, -2).flatten(-2)
    return joined @ w_o[columns]


@answers.correct
def sequence_by_sequence(x, memory, w_q, w_k, w_v, w_o, gates, may_attend=None):
    result, (n, m) = torch.empty_like(x), (x.shape[-2], memory.shape[-2])
    for index in np.ndindex(x.shape[:-2]):
        own = may_attend
        if own is not None:
            own = own.expand(*x.shape[:-2], n, m)[index]
        result[index] = sum_over_heads(
            x[index], memory[index], w_q, w_k, w_v, w_o, gates, own
        )
    return result


class Gated:
    def __call__(self, x, memory, w_q, w_k, w_v, w_o, gates, may_attend=None):
        return sum_over_heads(x, memory, w_q, w_k, w_v, w_o, gates, may_attend)


answers.right["callable_object"] = Gated()
answers.right["partial"] = functools.partial(
    lambda run, *arguments, **named: run(*arguments, **named), gates_on_the_values
)


@answers.also("gates_behind_w_o")
def after_the_projection(x, memory, w_q, w_k, w_v, w_o, gates, may_attend=None):
    n_heads = len(gates)
    output = multi_head_attention(x, memory, w_q, w_k, w_v, w_o, n_heads, may_attend)
    return merge_heads(split_heads(output, n_heads) * gates[:, None, None])


@answers.also("gates_squared")
def values_and_heads(x, memory, w_q, w_k, w_v, w_o, gates, may_attend=None):
    rows = gates.repeat_interleave(len(w_o) // len(gates))
    w_v = w_v * rows
    return gates_on_the_rows_of_w_o(x, memory, w_q, w_k, w_v, w_o, gates, may_attend)


@answers.also("gates_on_the_scores")
def queries_gated(x, memory, w_q, w_k, w_v, w_o, gates, may_attend=None):
    w_q = w_q * gates.repeat_interleave(len(w_o) // len(gates))
    return multi_head_attention(x, memory, w_q, w_k, w_v, w_o, len(gates), may_attend)


@answers.also("gates_interleaved")
def interleaved_gates(x, memory, w_q, w_k, w_v, w_o, gates, may_attend=None):
    w_o = w_o * gates.repeat(len(w_o) // len(gates))[:, None]
    return multi_head_attention(x, memory, w_q, w_k, w_v, w_o, len(gates), may_attend)


@answers.other
def plus_one(x, memory, w_q, w_k, w_v, w_o, gates, may_attend=None):
    return sum_over_heads(x, memory, w_q, w_k, w_v, w_o, gates + 1, may_attend)


@answers.other
def first_head_never_closed(x, memory, w_q, w_k, w_v, w_o, gates, may_attend=None):
    gates = torch.cat([torch.ones(1).to(gates), gates[1:]])
    return sum_over_heads(x, memory, w_q, w_k, w_v, w_o, gates, may_attend)


@answers.other
def absolute_gates(x, memory, w_q, w_k, w_v, w_o, gates, may_attend=None):
    return sum_over_heads(x, memory, w_q, w_k, w_v, w_o, gates.abs(), may_attend)
