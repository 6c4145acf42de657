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


@answers.other
def softmax_applied_twice(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedded(token_id, len(keys), embedding, encoding)
    keys, values = joined(keys, x @ w_k), joined(values, x @ w_v)
    weights = (keys @ (x @ w_q) / keys.shape[1] ** 0.5).softmax(0).softmax(0)
    return weights @ values, keys, values


@answers.other
def nearest_key(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedded(token_id, len(keys), embedding, encoding)
    keys, values = joined(keys, x @ w_k), joined(values, x @ w_v)
    weights = (-(keys - x @ w_q).square().sum(dim=1)).softmax(dim=0)
    return weights @ values, keys, values


@answers.other
def window_of_two(token_id, keys, values, embedding, encoding, w_q, w_k, w_v):
    x = embedded(token_id, len(keys), embedding, encoding)
    keys, values = joined(keys, x @ w_k), joined(values, x @ w_v)
    return attend(x @ w_q, keys[-2:], values[-2:]), keys, values
