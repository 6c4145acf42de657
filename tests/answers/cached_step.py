import functools
import math

import numpy as np
import torch
from torch.nn import functional

from tests.answers import Answers

answers = Answers("cached_step")


def embedded(token_id, position, embedding, encoding):
    return math.sqrt(embedding.size(1)) * embedding[token_id] + encoding[position]


def joined(old, new):
    return torch.vstack([old, new.unsqueeze(0)])


def attend(q, keys, values):
    scores = torch.einsum("jc,c->j", keys, q) / math.sqrt(q.numel())
    powers = (scores - scores.max()).exp()
    return torch.einsum("j,jc->c", powers / powers.sum(), values)


def after(x, keys, values, w_q, w_k, w_v):
    """Compute the right step from an embedded token."""
    keys, values = joined(keys, x @ w_k), joined(values, x @ w_v)
    return attend(x @ w_q, keys, values), keys, values


@answers.correct
def einsum_throughout(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedded(token_id, keys.size(0), embedding, encoding)
    return after(x, keys, values, w_q, w_k, w_v)


@answers.correct
def library_attention(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    position = torch.tensor(len(keys))
    row = functional.embedding(torch.tensor([token_id]), embedding)
    x = row * embedding.shape[1] ** 0.5 + functional.embedding(position, encoding)
    keys, values = torch.cat([keys, x @ w_k]), torch.cat([values, x @ w_v])
    arguments = ((x @ w_q)[None], keys[None], values[None])
    return functional.scaled_dot_product_attention(*arguments)[0, 0], keys, values


@answers.correct
def last_row_of_causal_attention(
    token_id, keys, values, embedding, encoding, w_q, w_k, w_v
):
    t = keys.shape[0]
    x = embedded(token_id, t, embedding, encoding)
    keys, values = joined(keys, x @ w_k), joined(values, x @ w_v)
    queries = (x @ w_q).expand(t + 1, -1)
    future = torch.ones(t + 1, t + 1, dtype=torch.bool).triu(diagonal=1)
    scores = (queries @ keys.T / w_q.shape[1] ** 0.5).masked_fill(future, -math.inf)
    return (scores.softmax(dim=-1) @ values)[-1], keys, values


@answers.correct
def room_made_first(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    t = len(keys)
    x = embedded(token_id, t, embedding, encoding)
    stacked = []
    for old, w in ((keys, w_k), (values, w_v)):
        new = old.new_zeros(t + 1, w.shape[1])
        new[:t], new[t] = old, x @ w
        stacked.append(new)
    return attend(x @ w_q, *stacked), *stacked


@answers.correct
def numpy_inside(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    arguments = [
        part.numpy() for part in (keys, values, embedding, encoding, w_q, w_k, w_v)
    ]
    keys, values, embedding, encoding, w_q, w_k, w_v = arguments
    x = (
        embedding[token_id] * np.sqrt(embedding.shape[1], dtype=embedding.dtype)
        + encoding[len(keys)]
    )
    keys, values = np.vstack([keys, x @ w_k]), np.vstack([values, x @ w_v])
    scores = keys @ (x @ w_q) / np.sqrt(keys.shape[1], dtype=embedding.dtype)
    powers = np.exp(scores - scores.max())
    output = powers @ values / powers.sum()
    return tuple(torch.from_numpy(part) for part in (output, keys, values))


@answers.correct
def one_key_after_another(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    """Go over the keys once, with a running maximum, as fast kernels do."""
    x = embedded(token_id, len(keys), embedding, encoding)
    keys, values = joined(keys, x @ w_k), joined(values, x @ w_v)
    q = x @ w_q / w_q.shape[1] ** 0.5
    highest, below, above = -math.inf, 0.0, torch.zeros_like(values[0])
    for key, value in zip(keys, values, strict=True):
        score = float(key @ q)
        new = max(highest, score)
        old, own = math.exp(highest - new), math.exp(score - new)
        below, above, highest = below * old + own, above * old + own * value, new
    return above / below, keys, values


class Step(torch.nn.Module):
    def forward(self, token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
        x = embedding.select(0, token_id).mul(embedding.shape[1] ** 0.5)
        x = x.add(encoding.select(0, keys.shape[0]))
        stacked = [torch.cat([keys, (x @ w_k).view(1, -1)])]
        stacked.append(torch.cat([values, (x @ w_v).view(1, -1)]))
        scores = (x @ w_q).view(1, -1) @ stacked[0].mT
        weights = (scores / stacked[0].shape[1] ** 0.5).softmax(-1)
        return (weights @ stacked[1]).view(-1), *stacked


answers.right["module"] = Step()
answers.right["partial"] = functools.partial(
    lambda embed, token_id, keys, values, embedding, encoding, *ws: after(
        embed(token_id, len(keys), embedding, encoding), keys, values, *ws
    ),
    embedded,
)


@answers.also("always_at_position_zero")
def counted_from_the_input(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    positions = torch.arange(1)
    x = embedding[[token_id]] * embedding.shape[1] ** 0.5 + encoding[positions]
    return after(x[0], keys, values, w_q, w_k, w_v)


@answers.also("one_position_too_far")
def counted_with_the_newest(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    t = 1 + keys.shape[0]
    x = encoding[t] + embedding[token_id] * math.sqrt(embedding.shape[1])
    return after(x, keys, values, w_q, w_k, w_v)


@answers.also("one_position_too_early")
def position_of_the_last_key(
    token_id, keys, values, embedding, encoding, w_q, w_k, w_v
):
    x = embedded(token_id, range(len(encoding))[len(keys) - 1], embedding, encoding)
    return after(x, keys, values, w_q, w_k, w_v)


@answers.also("position_by_the_token")
def encoding_of_the_token(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    position = token_id
    while position >= len(encoding):
        position -= len(encoding)
    x = embedded(token_id, position, embedding, encoding)
    return after(x, keys, values, w_q, w_k, w_v)


@answers.also("position_left_out")
def embedding_alone(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedded(token_id, 0, embedding, 0 * encoding)
    return after(x, keys, values, w_q, w_k, w_v)


@answers.also("root_of_d_model_forgotten")
def plain_sum(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    rows = torch.stack([embedding[token_id], encoding[len(keys)]])
    return after(rows.sum(dim=0), keys, values, w_q, w_k, w_v)


@answers.also("position_multiplied_too")
def root_of_the_sum(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    root = math.sqrt(embedding.shape[1])
    x = embedded(token_id, len(keys), embedding, root * encoding)
    return after(x, keys, values, w_q, w_k, w_v)


@answers.also("newest_left_out")
def cache_read_before_it_is_written(
    token_id, keys, values, embedding, encoding, w_q, w_k, w_v
):
    x = embedded(token_id, len(keys), embedding, encoding)
    output = torch.zeros_like(x @ w_v)
    if len(keys):
        output = attend(x @ w_q, keys, values)
    return output, joined(keys, x @ w_k), joined(values, x @ w_v)


@answers.also("first_key_only")
def first_row_of_the_mask(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedded(token_id, len(keys), embedding, encoding)
    keys, values = joined(keys, x @ w_k), joined(values, x @ w_v)
    arguments = ((x @ w_q)[None, None], keys[None], values[None])
    output = functional.scaled_dot_product_attention(*arguments, is_causal=True)
    return output[0, 0], keys, values


@answers.also("itself_only")
def only_the_new_rows(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedded(token_id, len(keys), embedding, encoding)
    output, _, _ = after(x, keys[:0], values[:0], w_q, w_k, w_v)
    return output, joined(keys, x @ w_k), joined(values, x @ w_v)


@answers.also("newest_in_front")
def newest_first(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedded(token_id, len(keys), embedding, encoding)
    keys = torch.cat([(x @ w_k)[None], keys])
    values = torch.cat([(x @ w_v)[None], values])
    return attend(x @ w_q, keys, values), keys, values


@answers.also("old_ones_given_back")
def arguments_given_back(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedded(token_id, len(keys), embedding, encoding)
    longer, more = joined(keys, x @ w_k), joined(values, x @ w_v)
    return attend(x @ w_q, longer, more), keys, values


@answers.also("newest_alone_given_back")
def new_rows_given_back(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedded(token_id, len(keys), embedding, encoding)
    output, _, _ = after(x, keys, values, w_q, w_k, w_v)
    return output, (x @ w_k)[None], (x @ w_v)[None]


@answers.also("value_made_with_w_k")
def line_copied(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedded(token_id, len(keys), embedding, encoding)
    key = x @ w_k
    keys, values = joined(keys, key), joined(values, key)
    return attend(x @ w_q, keys, values), keys, values


@answers.also("key_and_value_exchanged")
def appended_crosswise(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedded(token_id, len(keys), embedding, encoding)
    key, value = x @ w_k, x @ w_v
    keys, values = joined(keys, value), joined(values, key)
    return attend(x @ w_q, keys, values), keys, values


@answers.also("scores_not_scaled")
def plain_dot_products(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedded(token_id, len(keys), embedding, encoding)
    keys, values = joined(keys, x @ w_k), joined(values, x @ w_v)
    arguments = ((x @ w_q)[None, None], keys[None], values[None])
    output = functional.scaled_dot_product_attention(*arguments, scale=1.0)
    return output[0, 0], keys, values


@answers.also("divided_by_root_of_d_model")
def root_of_the_wrong_size(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedded(token_id, len(keys), embedding, encoding)
    keys, values = joined(keys, x @ w_k), joined(values, x @ w_v)
    q = x @ w_q * math.sqrt(w_q.shape[1] / w_q.shape[0])
    return attend(q, keys, values), keys, values


@answers.also("output_with_an_axis_more")
def row_of_a_matrix(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedded(token_id, len(keys), embedding, encoding)
    output, keys, values = after(x, keys, values, w_q, w_k, w_v)
    return output.reshape(1, -1), keys, values


@answers.also("weights_not_parted")
def output_with_its_weights(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedded(token_id, len(keys), embedding, encoding)
    keys, values = joined(keys, x @ w_k), joined(values, x @ w_v)
    weights = ((x @ w_q) @ keys.T / math.sqrt(keys.shape[1])).softmax(dim=0)[None]
    return (weights @ values, weights), keys, values


@answers.also("embedding_overwritten")
def multiplied_in_place(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    embedding[token_id].mul_(math.sqrt(embedding.shape[1])).add_(encoding[len(keys)])
    return after(embedding[token_id], keys, values, w_q, w_k, w_v)


@answers.other
def list_instead_of_a_tuple(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedded(token_id, len(keys), embedding, encoding)
    return list(after(x, keys, values, w_q, w_k, w_v))


@answers.other
def oldest_key_dropped(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedded(token_id, len(keys), embedding, encoding)
    return after(x, keys[1:], values[1:], w_q, w_k, w_v)


@answers.other
def keys_mixed(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedded(token_id, len(keys), embedding, encoding)
    _, keys, values = after(x, keys, values, w_q, w_k, w_v)
    return attend(x @ w_q, keys, keys), keys, values


@answers.other
def query_made_with_w_k(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedded(token_id, len(keys), embedding, encoding)
    return after(x, keys, values, w_k, w_k, w_v)


@answers.other
def position_subtracted(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedded(token_id, len(keys), embedding, -encoding)
    return after(x, keys, values, w_q, w_k, w_v)
