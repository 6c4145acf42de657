import functools

import numpy as np
import torch
from torch.nn import functional

from tests.answers import Answers

answers = Answers("embed")


@answers.correct
def pytorchs_lookup(token_ids, embedding, encoding):
    vectors = functional.embedding(token_ids, embedding) * embedding.shape[1] ** 0.5
    return vectors + encoding[: token_ids.shape[-1], :]


@answers.correct
def one_hot_rows(token_ids, embedding, encoding):
    chosen = functional.one_hot(token_ids, len(embedding)).to(embedding.dtype)
    return chosen @ embedding * embedding.size(1) ** 0.5 + encoding.narrow(
        0, 0, token_ids.size(-1)
    )


@answers.correct
def token_by_token(token_ids, embedding, encoding):
    root = torch.tensor(embedding.shape[1], dtype=embedding.dtype).sqrt()
    result = torch.zeros((*token_ids.shape, embedding.shape[1]), dtype=embedding.dtype)
    for index in np.ndindex(token_ids.shape):
        result[index] = embedding[token_ids[index]] * root + encoding[index[-1]]
    return result


@answers.correct
def numpy_inside(token_ids, embedding, encoding):
    scaled = np.sqrt(embedding.shape[1]) * embedding.numpy()
    positions = np.arange(token_ids.shape[-1])
    result = scaled[token_ids.numpy()] + encoding.numpy()[positions]
    return torch.from_numpy(result).to(embedding.dtype)


@answers.correct
def positions_as_a_second_lookup(token_ids, embedding, encoding):
    positions = torch.arange(token_ids.shape[-1]).expand_as(token_ids)
    rows = embedding.index_select(0, token_ids.flatten()).unflatten(0, token_ids.shape)
    return torch.add(encoding[positions], rows, alpha=embedding.shape[1] ** 0.5)


@answers.correct
def float64_throughout(token_ids, embedding, encoding):
    return pytorchs_lookup(token_ids, embedding.double(), encoding.double())


class Embed(torch.nn.Module):
    def forward(self, token_ids, embedding, encoding):
        layer = torch.nn.Embedding.from_pretrained(embedding)
        return (
            layer(token_ids) * embedding.shape[1] ** 0.5
            + encoding[: token_ids.shape[-1]]
        )


answers.right["module"] = Embed()
answers.right["partial"] = functools.partial(
    lambda power, token_ids, embedding, encoding: (
        (embedding * embedding.shape[-1] ** power)[token_ids]
        + encoding[: token_ids.shape[-1]]
    ),
    0.5,
)


def parts(token_ids, embedding, encoding):
    return functional.embedding(token_ids, embedding), encoding[
        : token_ids.shape[-1], :
    ]


@answers.also("no_scale")
def plain_sum(token_ids, embedding, encoding):
    return torch.add(*parts(token_ids, embedding, encoding))


@answers.also("sum_scaled")
def both_scaled(token_ids, embedding, encoding):
    return torch.add(*parts(token_ids, embedding, encoding)) * embedding.shape[1] ** 0.5


@answers.also("divided_by_the_root")
def power_of_minus_a_half(token_ids, embedding, encoding):
    vectors, positions = parts(token_ids, embedding, encoding)
    return vectors * embedding.shape[1] ** -0.5 + positions


@answers.also("encoding_scaled")
def wrong_one_scaled(token_ids, embedding, encoding):
    vectors, positions = parts(token_ids, embedding, encoding)
    return torch.add(vectors, positions, alpha=embedding.shape[1] ** 0.5)


@answers.also("multiplied_by_d_model")
def no_root(token_ids, embedding, encoding):
    vectors, positions = parts(token_ids, embedding, encoding)
    return torch.add(positions, vectors, alpha=embedding.shape[1])


@answers.also("root_of_vocab_size")
def first_axis_of_the_embedding(token_ids, embedding, encoding):
    vectors, positions = parts(token_ids, embedding, encoding)
    return torch.add(positions, vectors, alpha=embedding.shape[0] ** 0.5)


@answers.also("root_of_n")
def last_axis_of_the_tokens(token_ids, embedding, encoding):
    vectors, positions = parts(token_ids, embedding, encoding)
    return torch.add(positions, vectors, alpha=len(positions) ** 0.5)


@answers.also("positions_along_the_batch")
def loop_over_the_first_axis(token_ids, embedding, encoding):
    pairs = zip(token_ids, encoding, strict=False)
    root = embedding.shape[1] ** 0.5
    return torch.stack([embedding[own] * root + position for own, position in pairs])


@answers.also("one_position_for_all")
def colon_forgotten(token_ids, embedding, encoding):
    vectors, positions = parts(token_ids, embedding, encoding)
    return vectors * embedding.shape[1] ** 0.5 + encoding[len(positions)].expand_as(
        positions
    )


@answers.also("positions_from_one")
def first_position_dropped(token_ids, embedding, encoding):
    return pytorchs_lookup(token_ids, embedding, encoding[1:])


@answers.also("last_positions")
def positions_from_the_end(token_ids, embedding, encoding):
    return pytorchs_lookup(token_ids, embedding, encoding[-token_ids.shape[-1] :])


@answers.also("positions_looked_up_with_tokens")
def two_lookups(token_ids, embedding, encoding):
    vectors = functional.embedding(token_ids, embedding) * embedding.shape[1] ** 0.5
    return torch.add(vectors, encoding[token_ids, :])


@answers.also("positions_left_out")
def scaled_lookup(token_ids, embedding, encoding):
    return functional.embedding(token_ids, embedding) * embedding.shape[1] ** 0.5


@answers.also("positions_multiplied")
def product(token_ids, embedding, encoding):
    vectors, positions = parts(token_ids, embedding, encoding)
    return torch.mul(vectors, positions) * embedding.shape[1] ** 0.5


@answers.also("encoding_not_cut")
def whole_encoding(token_ids, embedding, encoding):
    return torch.add(scaled_lookup(token_ids, embedding, encoding), encoding)


@answers.also("as_many_positions_as_sequences")
def first_axis_of_tokens_cuts(token_ids, embedding, encoding):
    vectors = functional.embedding(token_ids, embedding)
    positions = encoding.narrow(0, 0, token_ids.size(0))
    return torch.add(positions, vectors, alpha=embedding.shape[1] ** 0.5)


@answers.also("embedding_scaled_in_place")
def multiplied_in_place(token_ids, embedding, encoding):
    return plain_sum(token_ids, embedding.mul_(embedding.shape[1] ** 0.5), encoding)


@answers.other
def tokens_counted_from_one(token_ids, embedding, encoding):
    return pytorchs_lookup((token_ids - 1) % len(embedding), embedding, encoding)


@answers.other
def positions_backwards(token_ids, embedding, encoding):
    return pytorchs_lookup(
        token_ids, embedding, encoding[: token_ids.shape[-1]].flip(0)
    )


@answers.other
def dropout_left_on(token_ids, embedding, encoding):
    return functional.dropout(pytorchs_lookup(token_ids, embedding, encoding), 0.5)


@answers.other
def side_by_side(token_ids, embedding, encoding):
    vectors, positions = parts(token_ids, embedding, encoding)
    return torch.cat([vectors, positions.expand_as(vectors)], dim=-1)


@answers.other
def lengths_of_one(token_ids, embedding, encoding):
    vectors, positions = parts(token_ids, embedding, encoding)
    return functional.normalize(vectors, dim=-1) + positions
