import functools

import numpy as np
import torch
from torch import nn

from tests.answers import Answers

answers = Answers("additive_attention")


def inside(state, keys, w_q, w_k):
    """Compute the tanh's argument by repetition instead of broadcasting."""
    many = torch.stack([state] * keys.shape[-2], dim=-2)
    return torch.einsum("...jc,ch->...jh", many, w_q) + torch.matmul(keys, w_k)


def blocked(scores, may_attend, number=float("-inf")):
    if may_attend is None:
        return scores
    return torch.where(may_attend, scores, torch.full_like(scores, number))


def shares(scores, dim=-1):
    return torch.exp(scores - scores.logsumexp(dim=dim, keepdim=True))


def average(weights, values):
    return torch.einsum("...j,...jd->...d", weights, values)


def answer(scores, values, may_attend=None):
    weights = shares(blocked(scores, may_attend))
    return average(weights, values), weights


@answers.correct
def einsum_throughout(state, keys, values, w_q, w_k, v, may_attend=None):
    hidden = torch.tanh(inside(state, keys, w_q, w_k))
    return answer(torch.einsum("...jh,h->...j", hidden, v), values, may_attend)


@answers.correct
def loop_over_source_tokens(state, keys, values, w_q, w_k, v, may_attend=None):
    mine, scores = state @ w_q, []
    for j in range(keys.shape[-2]):
        score = torch.tanh(mine + keys[..., j, :] @ w_k) @ v
        if may_attend is not None:
            score = score.masked_fill(may_attend[..., j] == 0, -1e30)
        scores.append(score)
    weights = nn.functional.softmax(torch.stack(scores, dim=-1), dim=-1)
    context = sum(weights[..., j, None] * values[..., j, :] for j in range(len(scores)))
    return context, weights


@answers.correct
def numpy_inside(state, keys, values, w_q, w_k, v, may_attend=None):
    arguments = [part.detach().numpy() for part in (state, keys, values, w_q, w_k, v)]
    state, keys, values, w_q, w_k, v = arguments
    scores = np.tanh((state @ w_q)[..., None, :] + keys @ w_k) @ v
    if may_attend is not None:
        scores = np.where(may_attend.numpy(), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    context = (weights[..., None] * values).sum(axis=-2)
    return torch.from_numpy(context), torch.from_numpy(weights)


@answers.correct
def one_matrix_for_the_pair(state, keys, values, w_q, w_k, v, may_attend=None):
    many = state.unsqueeze(-2).expand(*keys.shape[:-1], state.shape[-1])
    hidden = torch.cat([many, keys], dim=-1) @ torch.cat([w_q, w_k])
    return answer(hidden.tanh() @ v, values, may_attend)


@answers.correct
def layers_of_pytorch(state, keys, values, w_q, w_k, v, may_attend=None):
    mine = nn.functional.linear(state, w_q.T)
    theirs = nn.functional.linear(keys, w_k.mT)
    scores = nn.functional.linear(torch.tanh(mine[..., None, :] + theirs), v[None])
    scores = scores.squeeze(-1)
    if may_attend is not None:
        added = torch.zeros_like(scores)
        added[~may_attend] = -torch.inf
        scores = scores + added
    weights = scores.softmax(-1)
    return (values.mT @ weights.unsqueeze(-1)).squeeze(-1), weights


@answers.correct
def only_what_may_be_seen(state, keys, values, w_q, w_k, v, may_attend=None):
    leading, m = keys.shape[:-2], keys.shape[-2]
    context = torch.zeros(*leading, values.shape[-1], dtype=values.dtype)
    weights = torch.zeros(*leading, m, dtype=values.dtype)
    for index in np.ndindex(*leading):
        allowed = torch.arange(m)
        if may_attend is not None:
            allowed = allowed[may_attend[index]]
        hidden = torch.tanh(state[index] @ w_q + keys[index][allowed] @ w_k)
        own = torch.softmax(hidden @ v, dim=0)
        weights[(*index, allowed)] = own
        context[index] = own @ values[index][allowed]
    return context, weights


@answers.correct
def tanh_by_a_sigmoid(state, keys, values, w_q, w_k, v, may_attend=None):
    hidden = 2 * torch.sigmoid(2 * inside(state, keys, w_q, w_k)) - 1
    return answer((hidden * v).sum(dim=-1), values, may_attend)


@answers.correct
def more_precise_than_asked(state, keys, values, w_q, w_k, v, may_attend=None):
    wide = [part.double() for part in (state, keys, values, w_q, w_k, v)]
    return einsum_throughout(*wide, may_attend)


@answers.correct
def other_layout_in_memory(state, keys, values, w_q, w_k, v, may_attend=None):
    result = einsum_throughout(state, keys, values, w_q, w_k, v, may_attend)
    return tuple(torch.stack([part, part], dim=-1)[..., 1] for part in result)


class Attention(nn.Module):
    def __init__(self, activation, number=-torch.inf):
        super().__init__()
        self.activation, self.number = activation, number

    def forward(self, state, keys, values, w_q, w_k, v, may_attend=None):
        scores = self.activation(inside(state, keys, w_q, w_k)) @ v
        weights = shares(blocked(scores, may_attend, self.number))
        return average(weights, values), weights


answers.right["module"] = Attention(nn.Tanh())
answers.right["partial"] = functools.partial(
    lambda attend, *arguments: attend(*arguments), one_matrix_for_the_pair
)


@answers.other
def dot_product_for_the_network(state, keys, values, w_q, w_k, v, may_attend=None):
    scores = ((state @ w_q)[..., None, :] * (keys @ w_k)).sum(dim=-1)
    return answer(scores, values, may_attend)


@answers.other
def first_source_token_only(*arguments):
    _, weights = einsum_throughout(*arguments)
    return arguments[2][..., 0, :], weights


@answers.other
def largest_weight_takes_all(*arguments):
    _, weights = einsum_throughout(*arguments)
    hard = nn.functional.one_hot(weights.argmax(dim=-1), weights.shape[-1])
    return average(hard.to(weights.dtype), arguments[2]), weights
