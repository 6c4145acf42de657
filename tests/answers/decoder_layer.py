import functools

import numpy as np
import torch
from torch.nn import functional

from course_lib.nn.functional import multi_head_attention
from tests.answers import Answers

answers = Answers("decoder_layer")


def normed(x, p, number):
    gain, bias = p[f"gain_{number}"], p[f"bias_{number}"]
    return functional.layer_norm(x, x.shape[-1:], gain, bias)


def fed(x, p):
    return functional.linear((x @ p["w_1"] + p["b_1"]).relu(), p["w_2"].T, p["b_2"])


def attention(x, there, p, prefix, n_heads, may_attend):
    """Attend with one einsum per step."""

    def split(rows, name):
        return (rows @ p[prefix + name]).unflatten(-1, (n_heads, -1))

    q, k, v = split(x, "q"), split(there, "k"), split(there, "v")
    scores = torch.einsum("...ihc,...jhc->...hij", q, k) / q.shape[-1] ** 0.5
    if may_attend is not None:
        scores = scores.masked_fill(~may_attend.unsqueeze(-3), -torch.inf)
    weights = scores.softmax(-1).nan_to_num(0.0)
    output = torch.einsum("...hij,...jhc->...ihc", weights, v).flatten(-2)
    return output @ p[prefix + "o"]


def layer(y, memory, p, n_heads, own, there, norm_first, numbers=(1, 2, 3)):
    """Answer rightly, with any three norms."""
    first, second, third = numbers
    if norm_first:
        rows = normed(y, p, first)
        y = y + attention(rows, rows, p, "w_", n_heads, own)
        rows = normed(y, p, second)
        y = y + attention(rows, memory, p, "cross_", n_heads, there)
        return y + fed(normed(y, p, third), p)
    y = normed(y + attention(y, y, p, "w_", n_heads, own), p, first)
    y = normed(y + attention(y, memory, p, "cross_", n_heads, there), p, second)
    return normed(y + fed(y, p), p, third)


@answers.correct
def two_branches(
    y, memory, p, n_heads, may_attend=None, memory_may_attend=None, norm_first=False
):
    return layer(y, memory, p, n_heads, may_attend, memory_may_attend, norm_first)


def with_attention(attend, y, memory, p, n_heads, own, there, norm_first):
    """Answer rightly, with any right attention."""
    parts = [
        lambda x: attend(x, x, p, "w_", n_heads, own),
        lambda x: attend(x, memory, p, "cross_", n_heads, there),
        lambda x: fed(x, p),
    ]
    for number, part in zip((1, 2, 3), parts, strict=True):
        y = torch.add(y, part(normed(y, p, number) if norm_first else y))
        y = y if norm_first else normed(y, p, number)
    return y


@answers.correct
def the_given_attention(
    y, memory, p, n_heads, may_attend=None, memory_may_attend=None, norm_first=False
):
    def attend(x, there, p, prefix, n_heads, mask):
        projections = [p[prefix + name] for name in ("q", "k", "v", "o")]
        return multi_head_attention(x, there, *projections, n_heads, mask)

    masks = may_attend, memory_may_attend
    return with_attention(attend, y, memory, p, n_heads, *masks, norm_first)


@answers.correct
def head_by_head(
    y, memory, p, n_heads, may_attend=None, memory_may_attend=None, norm_first=False
):
    def attend(x, there, p, prefix, n_heads, mask):
        d_k, total = x.shape[-1] // n_heads, torch.zeros_like(x)
        for h in range(n_heads):
            own = slice(h * d_k, h * d_k + d_k)
            w_q, w_k, w_v = (p[prefix + name][:, own] for name in "qkv")
            scores = (x @ w_q) @ (there @ w_k).mT * d_k**-0.5
            powers = torch.exp(scores - scores.amax(-1, keepdim=True))
            powers = powers if mask is None else powers * mask
            sums = powers.sum(-1, keepdim=True)
            weights = powers / sums  # NaN for a row that may attend to nothing
            total = total + weights @ (there @ w_v) @ p[prefix + "o"][own]
        return total

    masks = may_attend, memory_may_attend
    return with_attention(attend, y, memory, p, n_heads, *masks, norm_first)


@answers.correct
def pytorchs_attention(
    y, memory, p, n_heads, may_attend=None, memory_may_attend=None, norm_first=False
):
    def attend(x, there, p, prefix, n_heads, mask):
        def split(rows, name):
            return (
                (rows @ p[prefix + name]).unflatten(-1, (n_heads, -1)).transpose(-3, -2)
            )

        arguments = split(x, "q"), split(there, "k"), split(there, "v")
        mask = None if mask is None else mask.unsqueeze(-3)
        output = functional.scaled_dot_product_attention(*arguments, mask)
        return output.transpose(-3, -2).flatten(-2) @ p[prefix + "o"]

    masks = may_attend, memory_may_attend
    return with_attention(attend, y, memory, p, n_heads, *masks, norm_first)


@answers.correct
def sequence_by_sequence(
    y, memory, p, n_heads, may_attend=None, memory_may_attend=None, norm_first=False
):
    result = torch.zeros_like(y)
    for index in np.ndindex(y.shape[:-2]):
        masks = [
            mask
            if mask is None
            else mask.expand(*y.shape[:-2], *mask.shape[-2:])[index]
            for mask in (may_attend, memory_may_attend)
        ]
        result[index] = layer(y[index], memory[index], p, n_heads, *masks, norm_first)
    return result


@answers.correct
def float64_throughout(
    y, memory, p, n_heads, may_attend=None, memory_may_attend=None, norm_first=False
):
    wide = {name: part.double() for name, part in p.items()}
    arguments = y.double(), memory.double(), wide, n_heads
    return layer(*arguments, may_attend, memory_may_attend, norm_first)


class Layer:
    def __init__(self, attend):
        self.attend = attend

    def __call__(
        self,
        y,
        memory,
        parameters,
        n_heads,
        may_attend=None,
        memory_may_attend=None,
        norm_first=False,
    ):
        masks = may_attend, memory_may_attend
        arguments = self.attend, y, memory, parameters, n_heads, *masks
        return with_attention(*arguments, norm_first)


answers.right["callable_object"] = Layer(attention)
answers.right["partial"] = functools.partial(
    lambda function, *arguments, **named: function(*arguments, **named), two_branches
)


@answers.also("one_norm_for_all")
def number_one_three_times(
    y, memory, p, n_heads, may_attend=None, memory_may_attend=None, norm_first=False
):
    masks = may_attend, memory_may_attend
    return layer(y, memory, p, n_heads, *masks, norm_first, (1, 1, 1))


@answers.also("memory_attends")
def target_asked_by_the_memory(
    y, memory, p, n_heads, may_attend=None, memory_may_attend=None, norm_first=False
):
    rows = normed(y, p, 1) if norm_first else y
    y = y + attention(rows, rows, p, "w_", n_heads, may_attend)
    y = y if norm_first else normed(y, p, 1)
    rows = normed(y, p, 2) if norm_first else y
    projections = [p["cross_" + name] for name in ("q", "k", "v", "o")]
    asked = multi_head_attention(memory, rows, *projections, n_heads, memory_may_attend)
    y = y + asked if norm_first else normed(y + asked, p, 2)
    return y + fed(normed(y, p, 3), p) if norm_first else normed(y + fed(y, p), p, 3)


@answers.other
def dropout_left_on(
    y, memory, p, n_heads, may_attend=None, memory_may_attend=None, norm_first=False
):
    masks = may_attend, memory_may_attend
    return layer(functional.dropout(y, 0.5), memory, p, n_heads, *masks, norm_first)


@answers.other
def keys_and_values_added(
    y, memory, p, n_heads, may_attend=None, memory_may_attend=None, norm_first=False
):
    mean = memory.mean(dim=-2, keepdim=True)
    return layer(
        y + mean, memory, p, n_heads, may_attend, memory_may_attend, norm_first
    )


@answers.other
def feed_forward_left_out(
    y, memory, p, n_heads, may_attend=None, memory_may_attend=None, norm_first=False
):
    without = p | {"w_2": 0 * p["w_2"], "b_2": 0 * p["b_2"]}
    masks = may_attend, memory_may_attend
    return layer(y, memory, without, n_heads, *masks, norm_first)


@answers.other
def always_the_other_order(
    y, memory, p, n_heads, may_attend=None, memory_may_attend=None, norm_first=False
):
    masks = may_attend, memory_may_attend
    return layer(y, memory, p, n_heads, *masks, not norm_first)
