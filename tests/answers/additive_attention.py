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


@answers.also("no_tanh")
def keys_alone_decide(state, keys, values, w_q, w_k, v, may_attend=None):
    scores = keys @ (w_k @ v) + ((state @ w_q) @ v).unsqueeze(-1)
    return answer(scores, values, may_attend)


@answers.also("mask_inverted")
def true_means_blocked(state, keys, values, w_q, w_k, v, may_attend=None):
    scores = torch.tanh(inside(state, keys, w_q, w_k)) @ v
    if may_attend is not None:
        scores[may_attend] = -torch.inf
    return answer(scores, values)


@answers.also("softmax_over_the_batch")
def first_axis(state, keys, values, w_q, w_k, v, may_attend=None):
    scores = torch.tanh(inside(state, keys, w_q, w_k)) @ v
    weights = nn.functional.softmax(blocked(scores, may_attend), dim=0)
    return average(weights, values), weights


def sums_for_one_source(state, keys, w_q, w_k):
    return keys.matmul(w_k) + torch.einsum("...c,ch->...h", state, w_q)


@answers.also("state_without_axis")
def added_to_whatever_is_there(state, keys, values, w_q, w_k, v, may_attend=None):
    hidden = sums_for_one_source(state, keys, w_q, w_k).tanh()
    return answer((hidden * v).sum(dim=-1), values, may_attend)


@answers.also("weights_without_axis")
def product_in_numpy(*arguments):
    _, weights = einsum_throughout(*arguments)
    context = np.matmul(weights.numpy(), arguments[2].numpy())
    return torch.from_numpy(context), weights


@answers.also("no_axis_anywhere")
def written_for_one_source(state, keys, values, w_q, w_k, v, may_attend=None):
    hidden = sums_for_one_source(state, keys, w_q, w_k).tanh()
    weights = shares(blocked((hidden * v).sum(dim=-1), may_attend))
    return torch.matmul(weights, values), weights


@answers.also("tanh_of_each_side")
def two_complete_layers(state, keys, values, w_q, w_k, v, may_attend=None):
    mine, theirs = torch.tanh(state @ w_q) @ v, torch.tanh(keys @ w_k) @ v
    return answer(mine[..., None] + theirs, values, may_attend)


@answers.also("relu_for_tanh")
def cut_off_at_zero(*arguments):
    return Attention(lambda sums: (sums + sums.abs()) / 2)(*arguments)


@answers.also("softmax_before_v")
def softmax_inside(state, keys, values, w_q, w_k, v, may_attend=None):
    hidden = shares(torch.tanh(inside(state, keys, w_q, w_k)))
    weights = blocked((hidden * v).sum(dim=-1), may_attend, 0.0)
    return average(weights, values), weights


@answers.also("values_summed_without_weights")
def weights_of_one(state, keys, values, w_q, w_k, v, may_attend=None):
    result = einsum_throughout(state, keys, values, w_q, w_k, v, may_attend)
    return torch.einsum("...jd->...d", values), result[1]


@answers.also("keys_mixed")
def average_of_keys(state, keys, values, w_q, w_k, v, may_attend=None):
    weights = einsum_throughout(state, keys, values, w_q, w_k, v, may_attend)[1]
    return average(weights, keys), weights


@answers.also("mask_after_softmax")
def weights_cut_off(state, keys, values, w_q, w_k, v, may_attend=None):
    weights = shares(torch.tanh(inside(state, keys, w_q, w_k)) @ v)
    weights = blocked(weights, may_attend, 0.0)
    return average(weights, values), weights


@answers.also("mask_ignored")
def mask_not_read(state, keys, values, w_q, w_k, v, may_attend=None):
    return answer(torch.tanh(inside(state, keys, w_q, w_k)) @ v, values)


@answers.also("blocked_scores_zero")
def filled_with_zero(*arguments):
    return Attention(torch.tanh, number=0.0)(*arguments)


@answers.also("mask_on_the_values_only")
def padding_of_zeros(state, keys, values, w_q, w_k, v, may_attend=None):
    if may_attend is not None:
        values = torch.where(may_attend[..., None], values, torch.zeros(()))
    return answer(torch.tanh(inside(state, keys, w_q, w_k)) @ v, values)


@answers.also("w_q_and_w_k_exchanged")
def matrices_in_the_other_order(state, keys, values, w_k, w_q, v, may_attend=None):
    mine, theirs = torch.einsum("...i,ih->...h", state, w_q), keys.matmul(w_k)
    return answer((mine.unsqueeze(-2) + theirs).tanh() @ v, values, may_attend)


@answers.also("v_ignored")
def hidden_numbers_added_up(state, keys, values, w_q, w_k, v, may_attend=None):
    ones = torch.ones_like(v)
    return einsum_throughout(state, keys, values, w_q, w_k, ones, may_attend)


@answers.also("divided_by_root_of_d_a")
def shrunken_v(state, keys, values, w_q, w_k, v, may_attend=None):
    v = v * w_q.shape[-1] ** -0.5
    return einsum_throughout(state, keys, values, w_q, w_k, v, may_attend)


@answers.also("scores_returned")
def scores_beside_the_context(state, keys, values, w_q, w_k, v, may_attend=None):
    scores = torch.tanh(inside(state, keys, w_q, w_k)) @ v
    scores = blocked(scores, may_attend, -1e9)
    return average(shares(scores), values), scores


@answers.also("every_axis_of_one_dropped")
def only_long_axes(*arguments):
    result = einsum_throughout(*arguments)
    return tuple(part.reshape([s for s in part.shape if s > 1]) for part in result)


@answers.also("exponentials_overflow")
def quotient_of_powers(state, keys, values, w_q, w_k, v, may_attend=None):
    powers = torch.e ** (torch.tanh(inside(state, keys, w_q, w_k)) @ v)
    powers = blocked(powers, may_attend, 0.0)
    weights = powers / powers.sum(-1).unsqueeze(-1)
    return average(weights, values), weights


@answers.also("blocked_values_overwritten")
def zeros_written_into_the_values(*arguments):
    result = loop_over_source_tokens(*arguments)
    if len(arguments) > 6 and arguments[6] is not None:
        arguments[2][~arguments[6]] = 0
    return result


@answers.other
def weights_first(*arguments):
    context, weights = einsum_throughout(*arguments)
    return weights, context


@answers.other
def sigmoid_for_tanh(*arguments):
    return Attention(nn.Sigmoid())(*arguments)


@answers.other
def context_alone(*arguments):
    return einsum_throughout(*arguments)[0]


@answers.other
def largest_weight_takes_all(*arguments):
    _, weights = einsum_throughout(*arguments)
    hard = nn.functional.one_hot(weights.argmax(dim=-1), weights.shape[-1])
    return average(hard.to(weights.dtype), arguments[2]), weights


@answers.other
def dot_product_for_the_network(state, keys, values, w_q, w_k, v, may_attend=None):
    scores = ((state @ w_q)[..., None, :] * (keys @ w_k)).sum(dim=-1)
    return answer(scores, values, may_attend)


@answers.other
def first_source_token_only(*arguments):
    _, weights = einsum_throughout(*arguments)
    return arguments[2][..., 0, :], weights
