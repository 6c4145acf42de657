import functools

import numpy as np
import torch
from torch.nn import functional

from course_lib.nn.functional import multi_head_attention
from tests.answers import Answers

answers = Answers("encoder_layer")


def normed(x, p, number):
    gain, bias = p[f"gain_{number}"], p[f"bias_{number}"]
    return functional.layer_norm(x, x.shape[-1:], gain, bias)


def fed(x, p):
    return functional.linear((x @ p["w_1"] + p["b_1"]).relu(), p["w_2"].T, p["b_2"])


def self_attention(x, p, n_heads, may_attend):
    """Attend with one einsum per step."""

    def split(name):
        return (x @ p[name]).unflatten(-1, (n_heads, -1))

    q, k, v = split("w_q"), split("w_k"), split("w_v")
    scores = torch.einsum("...ihc,...jhc->...hij", q, k) / q.shape[-1] ** 0.5
    if may_attend is not None:
        scores = scores.masked_fill(~may_attend.unsqueeze(-3), -torch.inf)
    weights = scores.softmax(-1).nan_to_num(0.0)
    return torch.einsum("...hij,...jhc->...ihc", weights, v).flatten(-2) @ p["w_o"]


@answers.correct
def two_branches(x, parameters, n_heads, may_attend=None, norm_first=False):
    p = parameters
    if norm_first:
        middle = x + self_attention(normed(x, p, 1), p, n_heads, may_attend)
        return middle + fed(normed(middle, p, 2), p)
    middle = normed(x + self_attention(x, p, n_heads, may_attend), p, 1)
    return normed(middle + fed(middle, p), p, 2)


@answers.correct
def the_given_attention(x, parameters, n_heads, may_attend=None, norm_first=False):
    p = parameters

    def attend(y):
        projections = (p["w_q"], p["w_k"], p["w_v"], p["w_o"])
        return multi_head_attention(y, y, *projections, n_heads, may_attend)

    for number, part in ((1, attend), (2, lambda y: fed(y, p))):
        rows = normed(x, p, number) if norm_first else x
        x = torch.add(x, part(rows))
        x = x if norm_first else normed(x, p, number)
    return x


@answers.correct
def head_by_head(x, parameters, n_heads, may_attend=None, norm_first=False):
    p, d_k = parameters, x.shape[-1] // n_heads

    def attend(y):
        total = torch.zeros_like(y)
        for h in range(n_heads):
            own = slice(h * d_k, h * d_k + d_k)
            q, k, v = (y @ p[f"w_{name}"][:, own] for name in "qkv")
            scores = q @ k.mT * d_k**-0.5
            powers = torch.exp(scores - scores.amax(-1, keepdim=True))
            if may_attend is not None:
                powers = powers * may_attend
            sums = powers.sum(-1, keepdim=True)
            weights = powers / sums  # NaN for a row that may attend to nothing
            total = total + weights @ v @ p["w_o"][own]
        return total

    return with_parts(x, p, attend, norm_first)


def with_parts(x, p, attend, norm_first):
    if norm_first:
        x = x + attend(normed(x, p, 1))
        return x + fed(normed(x, p, 2), p)
    x = normed(x + attend(x), p, 1)
    return normed(x + fed(x, p), p, 2)


@answers.correct
def pytorchs_attention(x, parameters, n_heads, may_attend=None, norm_first=False):
    p = parameters

    def attend(y):
        q, k, v = (
            (y @ p[name]).unflatten(-1, (n_heads, -1)).transpose(-3, -2)
            for name in ("w_q", "w_k", "w_v")
        )
        mask = None if may_attend is None else may_attend.unsqueeze(-3)
        output = functional.scaled_dot_product_attention(q, k, v, mask)
        return output.transpose(-3, -2).flatten(-2) @ p["w_o"]

    return with_parts(x, p, attend, norm_first)


@answers.correct
def sequence_by_sequence(x, parameters, n_heads, may_attend=None, norm_first=False):
    result, n = torch.zeros_like(x), x.shape[-2]
    for index in np.ndindex(x.shape[:-2]):
        own = may_attend
        if own is not None:
            own = own.expand(*x.shape[:-2], n, n)[index]
        result[index] = two_branches(x[index], parameters, n_heads, own, norm_first)
    return result


@answers.correct
def float64_throughout(x, parameters, n_heads, may_attend=None, norm_first=False):
    wide = {name: part.double() for name, part in parameters.items()}
    return head_by_head(x.double(), wide, n_heads, may_attend, norm_first)


class Layer:
    def __init__(self, attend):
        self.attend = attend

    def __call__(self, x, parameters, n_heads, may_attend=None, norm_first=False):
        def attend(y):
            return self.attend(y, parameters, n_heads, may_attend)

        return with_parts(x, parameters, attend, norm_first)


answers.right["callable_object"] = Layer(self_attention)
answers.right["partial"] = functools.partial(
    lambda layer, *arguments, **named: layer(*arguments, **named), two_branches
)


def layer(x, p, n_heads, may_attend, norm_first, numbers=(1, 2)):
    """Answer rightly, with any two norms."""
    first, second = numbers
    if norm_first:
        x = x + self_attention(normed(x, p, first), p, n_heads, may_attend)
        return x + fed(normed(x, p, second), p)
    x = normed(x + self_attention(x, p, n_heads, may_attend), p, first)
    return normed(x + fed(x, p), p, second)


@answers.also("one_norm_for_both")
def number_one_twice(x, parameters, n_heads, may_attend=None, norm_first=False):
    return layer(x, parameters, n_heads, may_attend, norm_first, (1, 1))


@answers.other
def dropout_left_on(x, parameters, n_heads, may_attend=None, norm_first=False):
    return layer(
        functional.dropout(x, 0.5), parameters, n_heads, may_attend, norm_first
    )


@answers.other
def one_head_always(x, parameters, n_heads, may_attend=None, norm_first=False):
    return layer(x, parameters, 1, may_attend, norm_first) * 1.0 + (n_heads == 1)


@answers.other
def no_relu(x, parameters, n_heads, may_attend=None, norm_first=False):
    wide = parameters | {"b_1": parameters["b_1"] + 1000}
    back = wide | {"b_2": parameters["b_2"] - 1000 * parameters["w_2"].sum(0)}
    return layer(x, back, n_heads, may_attend, norm_first)


@answers.other
def residual_halved(x, parameters, n_heads, may_attend=None, norm_first=False):
    return layer(x / 2, parameters, n_heads, may_attend, norm_first)
