import functools
import math

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("count_parameters")


def refuse_a_remainder(d_model, n_heads):
    if math.gcd(d_model, n_heads) != n_heads:
        raise ValueError(f"{n_heads} heads of {d_model} numbers")


@answers.correct
def formula(d_model, n_heads, bias):
    refuse_a_remainder(d_model, n_heads)
    return 4 * d_model * (d_model + bias)


@answers.correct
def list_of_shapes(d_model, n_heads, bias):
    refuse_a_remainder(d_model, n_heads)
    d_k = d_model // n_heads
    shapes = [(d_model, d_k), (d_model, d_k), (d_model, d_k)] * n_heads
    shapes += [(n_heads * d_k, d_model)]
    if bias:
        shapes += [(d_k,)] * (3 * n_heads) + [(d_model,)]
    return sum(math.prod(shape) for shape in shapes)


@answers.correct
def arrays_are_made(d_model, n_heads, bias):
    tables = [np.split(np.zeros((d_model, d_model)), n_heads, axis=1)] * 3
    count = sum(part.size for table in tables for part in table) + d_model**2
    return count + (np.zeros((4, d_model)).size if bias else 0)


@answers.correct
def layer_of_pytorch(d_model, n_heads, bias):
    try:
        layer = torch.nn.MultiheadAttention(d_model, n_heads, bias=bias, device="meta")
    except AssertionError as error:
        raise ValueError(str(error)) from None
    return sum(parameter.numel() for parameter in layer.parameters())


@answers.correct
def four_linear_layers(d_model, n_heads, bias):
    refuse_a_remainder(d_model, n_heads)
    layer = torch.nn.Linear(d_model, d_model, bias=bias, device="meta")
    return 4 * sum(parameter.numel() for parameter in layer.parameters())


@answers.correct
def by_true_division(d_model, n_heads, bias):
    d_k = d_model / n_heads
    if d_k != int(d_k):
        raise ValueError
    return round(n_heads * 3 * d_k * (d_model + bias) + d_model * (d_model + bias))


@answers.correct
def numpys_whole_number(d_model, n_heads, bias):
    refuse_a_remainder(d_model, n_heads)
    rows = np.array([d_model, int(bias)])
    return np.sum(rows * d_model) * np.int64(4)


class Counter:
    def __init__(self, projections):
        self.projections = projections

    def __call__(self, d_model, n_heads, bias):
        refuse_a_remainder(d_model, n_heads)
        return self.projections * (d_model**2 + (d_model if bias else 0))


answers.right["callable_object"] = Counter(4)
answers.right["partial"] = functools.partial(
    lambda count, *inputs: count(*inputs), formula
)


@answers.correct
def asserted(d_model, n_heads, bias):
    assert d_model % n_heads == 0
    return 4 * d_model * (d_model + bias)


@answers.other
def feed_forward_as_well(d_model, n_heads, bias):
    refuse_a_remainder(d_model, n_heads)
    return 12 * d_model**2 + 9 * d_model * bias


@answers.other
def as_text(d_model, n_heads, bias):
    refuse_a_remainder(d_model, n_heads)
    return str(4 * d_model * (d_model + bias))


@answers.other
def as_float(d_model, n_heads, bias):
    refuse_a_remainder(d_model, n_heads)
    return 4.0 * d_model * (d_model + bias)
