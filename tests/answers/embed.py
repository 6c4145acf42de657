import functools

import numpy as np
import torch
from torch.nn import functional

from tests.answers import Answers

answers = Answers("embed")


@answers.correct
def pytorchs_lookup(tokens, table, encoding):
    vectors = functional.embedding(tokens, table) * table.shape[1] ** 0.5
    return vectors + encoding[: tokens.shape[-1], :]


@answers.correct
def one_hot_rows(tokens, table, encoding):
    chosen = functional.one_hot(tokens, len(table)).to(table.dtype)
    return chosen @ table * table.size(1) ** 0.5 + encoding.narrow(
        0, 0, tokens.size(-1)
    )


@answers.correct
def token_by_token(tokens, table, encoding):
    root = torch.tensor(table.shape[1], dtype=table.dtype).sqrt()
    result = torch.zeros((*tokens.shape, table.shape[1]), dtype=table.dtype)
    for place in np.ndindex(tokens.shape):
        result[place] = table[tokens[place]] * root + encoding[place[-1]]
    return result


@answers.correct
def numpy_inside(tokens, table, encoding):
    scaled = np.sqrt(table.shape[1]) * table.numpy()
    places = np.arange(tokens.shape[-1])
    result = scaled[tokens.numpy()] + encoding.numpy()[places]
    return torch.from_numpy(result).to(table.dtype)


@answers.correct
def places_as_a_second_lookup(tokens, table, encoding):
    places = torch.arange(tokens.shape[-1]).expand_as(tokens)
    rows = table.index_select(0, tokens.flatten()).unflatten(0, tokens.shape)
    return torch.add(encoding[places], rows, alpha=table.shape[1] ** 0.5)


@answers.correct
def float64_throughout(tokens, table, encoding):
    return pytorchs_lookup(tokens, table.double(), encoding.double())


class Embed(torch.nn.Module):
    def forward(self, tokens, table, encoding):
        layer = torch.nn.Embedding.from_pretrained(table)
        return layer(tokens) * table.shape[1] ** 0.5 + encoding[: tokens.shape[-1]]


answers.right["module"] = Embed()
answers.right["partial"] = functools.partial(
    lambda power, tokens, table, encoding: (
        (table * table.shape[-1] ** power)[tokens] + encoding[: tokens.shape[-1]]
    ),
    0.5,
)


def parts(tokens, table, encoding):
    return functional.embedding(tokens, table), encoding[: tokens.shape[-1], :]


@answers.also("no_scale")
def plain_sum(tokens, table, encoding):
    return torch.add(*parts(tokens, table, encoding))


@answers.also("sum_scaled")
def both_scaled(tokens, table, encoding):
    return torch.add(*parts(tokens, table, encoding)) * table.shape[1] ** 0.5


@answers.also("divided_by_the_root")
def power_of_minus_a_half(tokens, table, encoding):
    vectors, places = parts(tokens, table, encoding)
    return vectors * table.shape[1] ** -0.5 + places


@answers.also("encoding_scaled")
def wrong_one_scaled(tokens, table, encoding):
    vectors, places = parts(tokens, table, encoding)
    return torch.add(vectors, places, alpha=table.shape[1] ** 0.5)


@answers.also("multiplied_by_d_model")
def no_root(tokens, table, encoding):
    vectors, places = parts(tokens, table, encoding)
    return torch.add(places, vectors, alpha=table.shape[1])


@answers.also("root_of_vocab_size")
def first_axis_of_the_table(tokens, table, encoding):
    vectors, places = parts(tokens, table, encoding)
    return torch.add(places, vectors, alpha=table.shape[0] ** 0.5)


@answers.also("root_of_n")
def last_axis_of_the_tokens(tokens, table, encoding):
    vectors, places = parts(tokens, table, encoding)
    return torch.add(places, vectors, alpha=len(places) ** 0.5)


@answers.also("places_along_the_batch")
def loop_over_the_first_axis(tokens, table, encoding):
    pairs = zip(tokens, encoding, strict=False)
    root = table.shape[1] ** 0.5
    return torch.stack([table[own] * root + place for own, place in pairs])


@answers.also("one_place_for_all")
def colon_forgotten(tokens, table, encoding):
    vectors, places = parts(tokens, table, encoding)
    return vectors * table.shape[1] ** 0.5 + encoding[len(places)].expand_as(places)


@answers.also("places_from_one")
def first_place_dropped(tokens, table, encoding):
    return pytorchs_lookup(tokens, table, encoding[1:])


@answers.also("last_places")
def places_from_the_end(tokens, table, encoding):
    return pytorchs_lookup(tokens, table, encoding[-tokens.shape[-1] :])


@answers.also("places_looked_up_with_tokens")
def two_lookups(tokens, table, encoding):
    vectors = functional.embedding(tokens, table) * table.shape[1] ** 0.5
    return torch.add(vectors, encoding[tokens, :])


@answers.also("places_left_out")
def scaled_lookup(tokens, table, encoding):
    return functional.embedding(tokens, table) * table.shape[1] ** 0.5


@answers.also("places_multiplied")
def product(tokens, table, encoding):
    vectors, places = parts(tokens, table, encoding)
    return torch.mul(vectors, places) * table.shape[1] ** 0.5


@answers.also("encoding_not_cut")
def whole_encoding(tokens, table, encoding):
    return torch.add(scaled_lookup(tokens, table, encoding), encoding)


@answers.also("as_many_places_as_sequences")
def first_axis_of_tokens_cuts(tokens, table, encoding):
    vectors = functional.embedding(tokens, table)
    places = encoding.narrow(0, 0, tokens.size(0))
    return torch.add(places, vectors, alpha=table.shape[1] ** 0.5)


@answers.also("table_scaled_in_place")
def multiplied_in_place(tokens, table, encoding):
    return plain_sum(tokens, table.mul_(table.shape[1] ** 0.5), encoding)


@answers.other
def tokens_counted_from_one(tokens, table, encoding):
    return pytorchs_lookup((tokens - 1) % len(table), table, encoding)


@answers.other
def places_backwards(tokens, table, encoding):
    return pytorchs_lookup(tokens, table, encoding[: tokens.shape[-1]].flip(0))


@answers.other
def dropout_left_on(tokens, table, encoding):
    return functional.dropout(pytorchs_lookup(tokens, table, encoding), 0.5)


@answers.other
def side_by_side(tokens, table, encoding):
    vectors, places = parts(tokens, table, encoding)
    return torch.cat([vectors, places.expand_as(vectors)], dim=-1)


@answers.other
def lengths_of_one(tokens, table, encoding):
    vectors, places = parts(tokens, table, encoding)
    return functional.normalize(vectors, dim=-1) + places
