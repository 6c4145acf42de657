import functools

import numpy as np
import torch
from torch.nn import functional

from course_lib.nn.attention import attention, for_all_heads, merge_heads, split_heads
from tests.answers import Answers

answers = Answers("encode_pretrained")


def normed(x, p, name):
    gain, bias = p[f"{name}.LayerNorm.weight"], p[f"{name}.LayerNorm.bias"]
    return functional.layer_norm(x, x.shape[-1:], gain, bias, 1e-12)


def mapped(x, p, name):
    return functional.linear(x, p[f"{name}.weight"], p[f"{name}.bias"])


def embedded(token_ids, p):
    tables = (p[f"embeddings.{t}_embeddings.weight"] for t in ("word", "position"))
    words, positions = tables
    types = functional.embedding(
        torch.zeros_like(token_ids), p["embeddings.token_type_embeddings.weight"]
    )
    numbers = torch.arange(token_ids.shape[-1])
    x = functional.embedding(token_ids, words)
    return normed(x + functional.embedding(numbers, positions) + types, p, "embeddings")


@answers.correct
def while_there_is_a_layer(token_ids, parameters, n_heads, may_attend=None):
    p, i = parameters, 0
    x = embedded(token_ids, p)
    while f"encoder.layer.{i}.output.dense.weight" in p:
        own = f"encoder.layer.{i}."
        q = split_heads(mapped(x, p, own + "attention.self.query"), n_heads)
        k = split_heads(mapped(x, p, own + "attention.self.key"), n_heads)
        v = split_heads(mapped(x, p, own + "attention.self.value"), n_heads)
        output, _ = attention(q, k, v, for_all_heads(may_attend))
        y = mapped(merge_heads(output), p, own + "attention.output.dense")
        x = normed(y + x, p, own + "attention.output")
        hidden = functional.gelu(mapped(x, p, own + "intermediate.dense"))
        x = normed(mapped(hidden, p, own + "output.dense") + x, p, own + "output")
        i += 1
    return x


def pytorchs_attention(x, p, name, n_heads, may_attend):
    q, k, v = (
        mapped(x, p, f"{name}.self.{part}").unflatten(-1, (n_heads, -1)).mT.mT
        for part in ("query", "key", "value")
    )
    q, k, v = (each.transpose(-3, -2) for each in (q, k, v))
    mask = None if may_attend is None else may_attend.unsqueeze(-3)
    output = functional.scaled_dot_product_attention(q, k, v, mask)
    return mapped(output.transpose(-3, -2).flatten(-2), p, f"{name}.output.dense")


@answers.correct
def layer_numbers_by_their_names(token_ids, parameters, n_heads, may_attend=None):
    p = parameters
    numbers = {int(n.split(".")[2]) for n in p if n.startswith("encoder.layer.")}
    x = embedded(token_ids, p)
    for i in sorted(numbers):
        name = f"encoder.layer.{i}"
        y = pytorchs_attention(x, p, f"{name}.attention", n_heads, may_attend)
        x = normed(x + y, p, f"{name}.attention.output")
        hidden = mapped(x, p, f"{name}.intermediate.dense")
        hidden = hidden * torch.distributions.Normal(0.0, 1.0).cdf(hidden)
        x = normed(x + mapped(hidden, p, f"{name}.output.dense"), p, f"{name}.output")
    return x


@answers.correct
def parameters_by_layer(token_ids, parameters, n_heads, may_attend=None):
    by_layer = {}
    for name, values in parameters.items():
        if name.startswith("encoder.layer."):
            number, rest = name.removeprefix("encoder.layer.").split(".", 1)
            by_layer.setdefault(int(number), {})[rest] = values
    x = embedded(token_ids, parameters)
    for number in range(len(by_layer)):
        p = by_layer[number]
        x = x + pytorchs_attention(x, p, "attention", n_heads, may_attend)
        x = normed(x, p, "attention.output")
        hidden = functional.gelu(mapped(x, p, "intermediate.dense"))
        x = normed(x + mapped(hidden, p, "output.dense"), p, "output")
    return x


@answers.correct
def head_by_head_in_float64(token_ids, parameters, n_heads, may_attend=None):
    p = {name: values.double() for name, values in parameters.items()}
    x, i = embedded(token_ids, p), 0
    d_k = x.shape[-1] // n_heads
    while f"encoder.layer.{i}.attention.self.query.bias" in p:
        name, total = f"encoder.layer.{i}", 0
        joins = p[f"{name}.attention.output.dense.weight"]
        for h in range(n_heads):
            own = slice(h * d_k, (h + 1) * d_k)
            q, k, v = (
                x @ p[f"{name}.attention.self.{part}.weight"][own].T
                + p[f"{name}.attention.self.{part}.bias"][own]
                for part in ("query", "key", "value")
            )
            scores = torch.einsum("...ic,...jc->...ij", q, k) / d_k**0.5
            if may_attend is not None:
                scores = scores.masked_fill(~may_attend, -torch.inf)
            total = total + scores.softmax(-1) @ v @ joins[:, own].T
        total = total + p[f"{name}.attention.output.dense.bias"]
        x = normed(x + total, p, f"{name}.attention.output")
        hidden = functional.gelu(mapped(x, p, f"{name}.intermediate.dense"))
        x = normed(x + mapped(hidden, p, f"{name}.output.dense"), p, f"{name}.output")
        i += 1
    return x.to(parameters["embeddings.LayerNorm.bias"].dtype)


@answers.correct
def sequence_by_sequence(token_ids, parameters, n_heads, may_attend=None):
    rows, n = [], token_ids.shape[-1]
    for index in np.ndindex(token_ids.shape[:-1]):
        own = may_attend
        if own is not None:
            own = own.expand(*token_ids.shape[:-1], n, n)[index]
        rows.append(while_there_is_a_layer(token_ids[index], parameters, n_heads, own))
    return torch.stack(rows).reshape(*token_ids.shape, -1)


class Encoder:
    def __init__(self, n):
        self.n = n

    def __call__(self, token_ids, parameters, n_heads, may_attend=None):
        return while_there_is_a_layer(token_ids, parameters, n_heads, may_attend)


answers.right["callable_object"] = Encoder(6)
answers.right["partial"] = functools.partial(
    lambda run, *arguments, **named: run(*arguments, **named), parameters_by_layer
)


@answers.also("layers_sorted_as_text")
def sorted_names(token_ids, parameters, n_heads, may_attend=None):
    order = sorted({n.split(".")[2] for n in parameters if n.startswith("encoder")})
    new = {str(i): old for i, old in enumerate(order)}
    changed = {}
    for i, old in new.items():
        for name, values in parameters.items():
            if name.startswith(f"encoder.layer.{old}."):
                changed[name.replace(f"layer.{old}.", f"layer.{i}.")] = values
    return while_there_is_a_layer(token_ids, parameters | changed, n_heads, may_attend)


@answers.also("gelu_by_tanh")
def approximate(token_ids, parameters, n_heads, may_attend=None):
    p, i = parameters, 0
    x = embedded(token_ids, p)
    while f"encoder.layer.{i}.output.dense.weight" in p:
        name = f"encoder.layer.{i}"
        y = pytorchs_attention(x, p, f"{name}.attention", n_heads, may_attend)
        x = normed(x + y, p, f"{name}.attention.output")
        hidden = mapped(x, p, f"{name}.intermediate.dense")
        hidden = functional.gelu(hidden, approximate="tanh")
        x = normed(x + mapped(hidden, p, f"{name}.output.dense"), p, f"{name}.output")
        i += 1
    return x


def with_parameters(change):
    def wrong(token_ids, parameters, n_heads, may_attend=None):
        changed = {name: change(name, values) for name, values in parameters.items()}
        return while_there_is_a_layer(token_ids, changed, n_heads, may_attend)

    return wrong


answers.others["gains_forgotten"] = with_parameters(
    lambda name, values: (
        torch.ones_like(values) if name.endswith("LayerNorm.weight") else values
    )
)
answers.others["words_halved"] = with_parameters(
    lambda name, values: values / 2 if ".word_embeddings" in name else values
)
answers.others["half_of_the_output_projection"] = with_parameters(
    lambda name, values: values / 2 if "attention.output.dense" in name else values
)


@answers.other
def dropout_left_on(token_ids, parameters, n_heads, may_attend=None):
    vectors = while_there_is_a_layer(token_ids, parameters, n_heads, may_attend)
    return functional.dropout(vectors, 0.1)
