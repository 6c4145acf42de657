import functools

import numpy as np

from tests.answers import Answers

answers = Answers("count_transformer")


def linear(d_in, d_out):
    return (d_in + 1) * d_out


@answers.correct
def layer_by_layer(n_layers, d_model, d_ff, vocab_size=0):
    total = vocab_size * d_model
    for attentions in (1, 2):
        for _ in range(n_layers):
            total += attentions * 4 * linear(d_model, d_model)
            total += linear(d_model, d_ff) + linear(d_ff, d_model)
            total += (attentions + 1) * 2 * d_model
        total += 2 * d_model
    return total


@answers.correct
def one_formula(n_layers, d_model, d_ff, vocab_size=0):
    d = d_model
    return n_layers * (12 * d * d + 24 * d + 4 * d * d_ff + 2 * d_ff) + (
        4 * d + vocab_size * d
    )


@answers.correct
def sizes_of_arrays(n_layers, d_model, d_ff, vocab_size=0):
    d = d_model
    attention = [(4, d, d), (4, d)]
    both = [(d, d_ff), (d_ff,), (d_ff, d), (d,)]
    encoder, decoder = (
        [*attention, *both, (2, 2, d)],
        [*attention * 2, *both, (3, 2, d)],
    )
    shapes = (encoder + decoder) * n_layers + [(vocab_size, d), (2, 2, d)]
    return sum(int(np.prod(shape, dtype=np.int64)) for shape in shapes)


@answers.correct
def twice_the_encoder_and_the_rest(n_layers, d_model, d_ff, vocab_size=0):
    attention = 4 * linear(d_model, d_model)
    layer = attention + linear(d_model, d_ff) + linear(d_ff, d_model) + 4 * d_model
    more = attention + 2 * d_model
    return 2 * (n_layers * layer + 2 * d_model) + n_layers * more + vocab_size * d_model


@answers.correct
def dictionary_of_parts(n_layers, d_model, d_ff, vocab_size=0):
    sizes = {
        "attention": 4 * linear(d_model, d_model),
        "feed": linear(d_model, d_ff) + linear(d_ff, d_model),
        "norm": d_model + d_model,
        "table": d_model * vocab_size,
    }
    often = {"attention": 3, "feed": 2, "norm": 5}
    layers = sum(sizes[name] * times for name, times in often.items()) * n_layers
    return layers + 2 * sizes["norm"] + sizes["table"]


@answers.correct
def numpys_whole_numbers(n_layers, d_model, d_ff, vocab_size=0):
    sizes = np.array([n_layers, d_model, d_ff, vocab_size], dtype=np.int64)
    return np.int64(one_formula(*sizes))


class Count:
    def __init__(self, attentions):
        self.attentions = attentions

    def __call__(self, n_layers, d_model, d_ff, vocab_size=0):
        parts = 2 * linear(d_model, d_ff) + 2 * linear(d_ff, d_model)
        parts += self.attentions * 4 * linear(d_model, d_model) + 10 * d_model
        return n_layers * parts + (4 + vocab_size) * d_model


answers.right["callable_object"] = Count(3)
answers.right["partial"] = functools.partial(
    lambda count, *sizes: count(*sizes), layer_by_layer
)


@answers.other
def squares_only(n_layers, d_model, d_ff, vocab_size=0):
    return 2 * n_layers * 12 * d_model**2


@answers.other
def nine_in_ten(n_layers, d_model, d_ff, vocab_size=0):
    return layer_by_layer(n_layers, d_model, d_ff, vocab_size) * 9 // 10


@answers.other
def one_layer_of_each_and_n_layers(n_layers, d_model, d_ff, vocab_size=0):
    return layer_by_layer(1, d_model, d_ff, vocab_size) + n_layers


@answers.other
def as_float(n_layers, d_model, d_ff, vocab_size=0):
    return layer_by_layer(n_layers, d_model, d_ff, vocab_size) / 1
