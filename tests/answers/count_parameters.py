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


@answers.also("full_matrices_for_each_head")
def loop_over_full_heads(d_model, n_heads, bias):
    refuse_a_remainder(d_model, n_heads)
    return sum(4 * (d_model + bias) * d_model for _ in range(n_heads))


@answers.also("full_matrices_beside_right_biases")
def shapes_of_full_heads(d_model, n_heads, bias):
    refuse_a_remainder(d_model, n_heads)
    shapes = [(d_model, n_heads * d_model)] * 3 + [(n_heads * d_model, d_model)]
    return sum(math.prod(shape) for shape in shapes) + (4 * d_model if bias else 0)


@answers.also("w_o_forgotten")
def stacked_projection_only(d_model, n_heads, bias):
    refuse_a_remainder(d_model, n_heads)
    return math.prod((3 * d_model, d_model + bias))


@answers.also("one_head_only")
def shapes_of_one_head(d_model, n_heads, bias):
    refuse_a_remainder(d_model, n_heads)
    d_k = d_model // n_heads
    shapes = [(d_model, d_k)] * 3 + [(d_model, d_model)]
    shapes += [(d_k,)] * 3 * bias + [(d_model,)] * bias
    return sum(math.prod(shape) for shape in shapes)


@answers.also("w_o_for_one_head")
def shapes_with_a_low_w_o(d_model, n_heads, bias):
    refuse_a_remainder(d_model, n_heads)
    matrices = 3 * d_model**2 + d_model**2 // n_heads
    return matrices + (4 * d_model if bias else 0)


@answers.also("tokens_cut_before_the_projection")
def small_squares(d_model, n_heads, bias):
    refuse_a_remainder(d_model, n_heads)
    squares = 3 * d_model**2 // n_heads
    return squares + d_model**2 + (4 * d_model if bias else 0)


@answers.also("bias_ignored")
def matrices_only(d_model, n_heads, bias):
    refuse_a_remainder(d_model, n_heads)
    return int((2 * d_model) ** 2)


@answers.also("bias_always")
def one_more_row_always(d_model, n_heads, bias):
    refuse_a_remainder(d_model, n_heads)
    return sum((d_model + 1) * d_model for _ in "qkvo")


@answers.also("no_bias_beside_w_o")
def bias_in_the_stacked_part(d_model, n_heads, bias):
    refuse_a_remainder(d_model, n_heads)
    return 3 * d_model * (d_model + bias) + d_model**2


@answers.also("one_bias_only")
def bias_at_the_end(d_model, n_heads, bias):
    refuse_a_remainder(d_model, n_heads)
    return sum([d_model**2] * 4 + [d_model] * bias)


@answers.also("full_biases_for_each_head")
def loop_with_full_biases(d_model, n_heads, bias):
    refuse_a_remainder(d_model, n_heads)
    count = d_model**2 + (d_model if bias else 0)
    for _ in range(3 * n_heads):
        count += d_model**2 // n_heads + (d_model if bias else 0)
    return count


@answers.also("a_bias_is_one_number")
def four_more(d_model, n_heads, bias):
    refuse_a_remainder(d_model, n_heads)
    return sum(d_model * d_model + (1 if bias else 0) for _ in "qkvo")


@answers.also("a_bias_is_one_number_for_each_head")
def four_more_for_each_head(d_model, n_heads, bias):
    refuse_a_remainder(d_model, n_heads)
    return sum(d_model * d_model + (n_heads if bias else 0) for _ in "qkvo")


@answers.also("heads_of_length_64")
def length_of_the_paper(d_model, n_heads, bias):
    refuse_a_remainder(d_model, n_heads)
    width = 64 * n_heads
    return 4 * d_model * width + (3 * width + d_model if bias else 0)


@answers.also("divisibility_not_checked")
def squares_of_any_size(d_model, n_heads, bias):
    return sum(d_model**2 + (d_model if bias else 0) for _ in "qkvo")


@answers.also("remainder_dropped")
def rounded_down(d_model, n_heads, bias):
    width = d_model - d_model % n_heads
    return 4 * d_model * width + (3 * width + d_model if bias else 0)


@answers.other
def asserted(d_model, n_heads, bias):
    assert d_model % n_heads == 0
    return 4 * d_model * (d_model + bias)


@answers.other
def feed_forward_as_well(d_model, n_heads, bias):
    refuse_a_remainder(d_model, n_heads)
    return 12 * d_model**2 + 9 * d_model * bias


@answers.other
def polarity_of_bias(d_model, n_heads, bias):
    refuse_a_remainder(d_model, n_heads)
    return 4 * d_model * (d_model + (not bias))


@answers.other
def five_matrices(d_model, n_heads, bias):
    refuse_a_remainder(d_model, n_heads)
    return 5 * d_model * (d_model + bias)


@answers.other
def as_text(d_model, n_heads, bias):
    refuse_a_remainder(d_model, n_heads)
    return str(4 * d_model * (d_model + bias))
