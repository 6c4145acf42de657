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


@answers.also("no_biases_in_attention")
def less_twelve_vectors(n_layers, d_model, d_ff, vocab_size=0):
    return one_formula(n_layers, d_model, d_ff, vocab_size) - 12 * n_layers * d_model


@answers.also("cross_attention_forgotten")
def two_attentions_in_all(n_layers, d_model, d_ff, vocab_size=0):
    return Count(2)(n_layers, d_model, d_ff, vocab_size)


@answers.also("last_norms_forgotten")
def layers_and_table(n_layers, d_model, d_ff, vocab_size=0):
    return layer_by_layer(n_layers, d_model, d_ff, vocab_size) - 4 * d_model


@answers.also("one_last_norm")
def less_one_gain_and_one_bias(n_layers, d_model, d_ff, vocab_size=0):
    return one_formula(n_layers, d_model, d_ff, vocab_size) - d_model - d_model


@answers.also("no_biases_in_feed_forward")
def less_the_vectors_of_both(n_layers, d_model, d_ff, vocab_size=0):
    right = one_formula(n_layers, d_model, d_ff, vocab_size)
    return right - 2 * n_layers * (d_ff + d_model)


@answers.also("matrices_only")
def twelve_squares_and_four_products(n_layers, d_model, d_ff, vocab_size=0):
    layer = d_model * (12 * d_model + 4 * d_ff + 10)
    return n_layers * layer + (4 + vocab_size) * d_model


@answers.also("b_1_as_long_as_b_2")
def d_model_for_d_ff(n_layers, d_model, d_ff, vocab_size=0):
    right = layer_by_layer(n_layers, d_model, d_ff, vocab_size)
    return right + 2 * n_layers * (d_model - d_ff)


@answers.also("d_ff_four_times_d_model")
def four_times(n_layers, d_model, d_ff, vocab_size=0):
    layer = 28 * d_model * d_model + 32 * d_model
    return n_layers * layer + (4 + vocab_size) * d_model


@answers.also("output_projection_forgotten")
def three_of_four(n_layers, d_model, d_ff, vocab_size=0):
    of_three = Count(3)(n_layers, d_model, d_ff, vocab_size)
    return of_three - 3 * n_layers * linear(d_model, d_model)


@answers.also("every_head_whole")
def twenty_five_projections(n_layers, d_model, d_ff, vocab_size=0):
    right = one_formula(n_layers, d_model, d_ff, vocab_size)
    return right + 3 * 21 * n_layers * linear(d_model, d_model)


@answers.also("one_norm_per_layer")
def three_norms_less(n_layers, d_model, d_ff, vocab_size=0):
    return one_formula(n_layers, d_model, d_ff, vocab_size) - 6 * n_layers * d_model


@answers.also("two_norms_in_the_decoder")
def one_norm_less(n_layers, d_model, d_ff, vocab_size=0):
    return one_formula(n_layers, d_model, d_ff, vocab_size) - 2 * n_layers * d_model


@answers.also("norms_with_gain_alone")
def half_the_norms(n_layers, d_model, d_ff, vocab_size=0):
    right = one_formula(n_layers, d_model, d_ff, vocab_size)
    return right - (5 * n_layers + 2) * d_model


@answers.also("decoder_forgotten")
def encoder_alone(n_layers, d_model, d_ff, vocab_size=0):
    layer = 4 * linear(d_model, d_model) + 4 * d_model
    layer += linear(d_model, d_ff) + linear(d_ff, d_model)
    return n_layers * layer + (2 + vocab_size) * d_model


@answers.also("three_embeddings")
def two_embeddings_more(n_layers, d_model, d_ff, vocab_size=0):
    return layer_by_layer(n_layers, d_model, d_ff, 3 * vocab_size)


@answers.also("two_embeddings")
def one_embedding_more(n_layers, d_model, d_ff, vocab_size=0):
    return layer_by_layer(n_layers, d_model, d_ff, vocab_size + vocab_size)


@answers.also("bias_for_the_scores")
def one_more_for_each_token(n_layers, d_model, d_ff, vocab_size=0):
    projection = linear(d_model, vocab_size)
    return layer_by_layer(n_layers, d_model, d_ff) + projection


@answers.other
def squares_only(n_layers, d_model, d_ff, vocab_size=0):
    return 2 * n_layers * 12 * d_model**2


@answers.other
def one_layer_of_each(n_layers, d_model, d_ff, vocab_size=0):
    return layer_by_layer(1, d_model, d_ff, vocab_size) + n_layers


@answers.other
def embedding_forgotten(n_layers, d_model, d_ff, vocab_size=0):
    return layer_by_layer(n_layers, d_model, d_ff)


@answers.other
def learned_positions(n_layers, d_model, d_ff, vocab_size=0):
    return layer_by_layer(n_layers, d_model, d_ff, vocab_size) + 512 * d_model


@answers.other
def rounded_to_thousands(n_layers, d_model, d_ff, vocab_size=0):
    return round(layer_by_layer(n_layers, d_model, d_ff, vocab_size), -3)
