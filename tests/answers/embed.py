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


@answers.other
def dropout_left_on(token_ids, embedding, encoding):
    return functional.dropout(pytorchs_lookup(token_ids, embedding, encoding), 0.5)


@answers.other
def every_other_position(token_ids, embedding, encoding):
    positions = torch.arange(token_ids.shape[-1]) * 2 % len(encoding)
    return pytorchs_lookup(token_ids, embedding, encoding[positions])


@answers.other
def tokens_sorted(token_ids, embedding, encoding):
    return pytorchs_lookup(token_ids.sort(dim=-1).values, embedding, encoding)
