import functools

import numpy as np
import torch
from torch import nn

from tests.answers import Answers

answers = Answers("decoder_step")


def attend(query, keys, values, own, may_attend=None):
    """Look a context up, by einsum."""
    hidden = torch.einsum("...c,ch->...h", query, own["w_q"])[..., None, :]
    hidden = torch.tanh(hidden + torch.einsum("...jc,ch->...jh", keys, own["w_k"]))
    scores = torch.einsum("...jh,h->...j", hidden, own["v"])
    if may_attend is not None:
        scores = torch.where(may_attend, scores, torch.full_like(scores, -torch.inf))
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("...j,...jd->...d", weights, values), weights


def unit(unit_input, state, own):
    """Compute the unit's new state with PyTorch's own function."""
    flat_x, flat = (
        unit_input.reshape(-1, unit_input.shape[-1]),
        state.reshape(-1, state.shape[-1]),
    )
    tables = own["w_x"].T, own["w_h"].T, own["b_x"], own["b_h"]
    return torch.gru_cell(flat_x, flat, *tables).reshape(state.shape)


@answers.correct
def cell_of_pytorch(x, state, keys, values, parameters, may_attend=None):
    context, weights = attend(state, keys, values, parameters, may_attend)
    return unit(torch.cat((x, context), -1), state, parameters), context, weights


@answers.correct
def products_instead_of_cat(x, state, keys, values, parameters, may_attend=None):
    context, weights = attend(state, keys, values, parameters, may_attend)
    d_in, d_h = x.shape[-1], state.shape[-1]
    rows_x, rows_c = parameters["w_x"][:d_in], parameters["w_x"][d_in:]
    from_x = x @ rows_x + context @ rows_c + parameters["b_x"]
    from_h = state @ parameters["w_h"] + parameters["b_h"]
    gates = torch.sigmoid((from_x + from_h)[..., : 2 * d_h])
    reset, update = gates[..., :d_h], gates[..., d_h:]
    new = torch.tanh(from_x[..., 2 * d_h :] + reset * from_h[..., 2 * d_h :])
    return new + update * (state - new), context, weights


@answers.correct
def loop_over_source_tokens(x, state, keys, values, parameters, may_attend=None):
    own, powers, total, context = parameters, [], 0, 0
    for j in range(keys.shape[-2]):
        hidden = torch.tanh(state @ own["w_q"] + keys[..., j, :] @ own["w_k"])
        power = torch.exp(hidden @ own["v"])
        if may_attend is not None:
            power = power * may_attend[..., j]
        powers.append(power)
        total = total + power
        context = context + power[..., None] * values[..., j, :]
    context = context / total[..., None]
    weights = torch.stack(powers, dim=-1) / total[..., None]
    return unit(torch.cat([x, context], dim=-1), state, own), context, weights


@answers.correct
def numpy_inside(x, state, keys, values, parameters, may_attend=None):
    own = {name: part.numpy() for name, part in parameters.items()}
    x, state, keys, values = (part.numpy() for part in (x, state, keys, values))
    scores = np.tanh((state @ own["w_q"])[..., None, :] + keys @ own["w_k"]) @ own["v"]
    if may_attend is not None:
        scores[~may_attend.numpy()] = -np.inf
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    context = np.einsum("...j,...jd->...d", weights, values)
    from_x = np.concatenate([x, context], axis=-1) @ own["w_x"] + own["b_x"]
    from_h = state @ own["w_h"] + own["b_h"]
    a, b = np.split(from_x, 3, axis=-1), np.split(from_h, 3, axis=-1)
    reset, update = (1 / (1 + np.exp(-a[g] - b[g])) for g in range(2))
    new = (1 - update) * np.tanh(a[2] + reset * b[2]) + update * state
    return tuple(torch.from_numpy(part) for part in (new, context, weights))


@answers.correct
def module_with_loaded_parameters(x, state, keys, values, parameters, may_attend=None):
    context, weights = attend(state, keys, values, parameters, may_attend)
    unit_input = torch.cat([x, context], dim=-1).reshape(-1, len(parameters["w_x"]))
    cell = nn.GRUCell(unit_input.shape[-1], state.shape[-1])
    cell.weight_ih = nn.Parameter(parameters["w_x"].T)
    cell.weight_hh = nn.Parameter(parameters["w_h"].T)
    cell.bias_ih = nn.Parameter(parameters["b_x"])
    cell.bias_hh = nn.Parameter(parameters["b_h"])
    new = cell(unit_input, state.reshape(-1, state.shape[-1]))
    return new.reshape(state.shape), context, weights


@answers.correct
def source_by_source(x, state, keys, values, parameters, may_attend=None):
    if x.ndim == 1:
        return cell_of_pytorch(x, state, keys, values, parameters, may_attend)
    result = [
        source_by_source(
            x[b],
            state[b],
            keys[b],
            values[b],
            parameters,
            None if may_attend is None else may_attend[b],
        )
        for b in range(len(x))
    ]
    return tuple(torch.stack(part) for part in zip(*result, strict=True))


@answers.correct
def more_precise_than_asked(x, state, keys, values, parameters, may_attend=None):
    wide = [part.double() for part in (x, state, keys, values)]
    own = {name: part.double() for name, part in parameters.items()}
    return cell_of_pytorch(*wide, own, may_attend)


@answers.correct
def other_layout_in_memory(*arguments):
    result = products_instead_of_cat(*arguments)
    return tuple(torch.stack([part, part], dim=-1)[..., 1] for part in result)


class Decoder(nn.Module):
    def __init__(self, attend):
        super().__init__()
        self.attend = attend

    def forward(self, x, state, keys, values, parameters, may_attend=None):
        context, weights = self.attend(state, keys, values, parameters, may_attend)
        unit_input = torch.cat([x, context], dim=-1)
        return unit(unit_input, state, parameters), context, weights


answers.right["module"] = Decoder(attend)
answers.right["partial"] = functools.partial(
    lambda step, *arguments: step(*arguments), products_instead_of_cat
)


@answers.also("looked_up_again")
def context_of_the_new_state(x, state, keys, values, parameters, may_attend=None):
    new = cell_of_pytorch(x, state, keys, values, parameters, may_attend)[0]
    context, weights = attend(new, keys, values, parameters, may_attend)
    return new, context, weights


@answers.also("context_before_x")
def joined_the_other_way(x, state, keys, values, parameters, may_attend=None):
    context, weights = attend(state, keys, values, parameters, may_attend)
    return (
        unit(
            torch.hstack((context, x)) if x.ndim == 1 else torch.cat((context, x), -1),
            state,
            parameters,
        ),
        context,
        weights,
    )


@answers.also("mask_ignored")
def mask_not_passed_on(x, state, keys, values, parameters, may_attend=None):
    return products_instead_of_cat(x, state, keys, values, parameters)


@answers.also("attention_after_the_unit")
def unit_first(x, state, keys, values, parameters, may_attend=None):
    rows = {**parameters, "w_x": parameters["w_x"][: x.shape[-1]]}
    new = unit(x, state, rows)
    return new, *attend(new, keys, values, parameters, may_attend)


@answers.also("context_not_read")
def rows_of_x_only(x, state, keys, values, parameters, may_attend=None):
    result = attend(state, keys, values, parameters, may_attend)
    rows = {**parameters, "w_x": parameters["w_x"][: x.shape[-1]]}
    return unit(x, state, rows), *result


@answers.also("one_vector_for_the_unit")
def token_alone(x, state, keys, values, parameters, may_attend=None):
    from_x = x @ parameters["w_x"] + parameters["b_x"]
    from_h = state @ parameters["w_h"] + parameters["b_h"]
    a, b = from_x.chunk(3, dim=-1), from_h.chunk(3, dim=-1)
    reset, update = (torch.sigmoid(a[g] + b[g]) for g in range(2))
    new = torch.tanh(a[2] + reset * b[2])
    result = attend(state, keys, values, parameters, may_attend)
    return new + update * (state - new), *result


@answers.also("mask_inverted")
def true_means_blocked(x, state, keys, values, parameters, may_attend=None):
    if may_attend is not None:
        may_attend = torch.logical_not(may_attend)
    return cell_of_pytorch(x, state, keys, values, parameters, may_attend)


@answers.also("old_state_returned")
def new_state_dropped(*arguments):
    _, context, weights = cell_of_pytorch(*arguments)
    return arguments[1], context, weights


@answers.also("relu_before_the_unit")
def nothing_negative_is_read(x, state, keys, values, parameters, may_attend=None):
    context, weights = attend(state, keys, values, parameters, may_attend)
    unit_input = nn.functional.relu(torch.cat((x, context), dim=-1))
    return unit(unit_input, state, parameters), context, weights


@answers.also("attends_with_x")
def query_from_the_token(x, state, keys, values, parameters, may_attend=None):
    hidden = (x @ parameters["w_q"]).unsqueeze(-2) + keys @ parameters["w_k"]
    scores = torch.tanh(hidden) @ parameters["v"]
    if may_attend is not None:
        scores[~may_attend] = -torch.inf
    weights = scores.softmax(dim=-1)
    context = (weights.unsqueeze(-1) * values).sum(dim=-2)
    unit_input = torch.cat((x, context), dim=-1)
    return unit(unit_input, state, parameters), context, weights


@answers.also("keys_mixed")
def average_of_keys(x, state, keys, values, parameters, may_attend=None):
    _, weights = attend(state, keys, values, parameters, may_attend)
    context = torch.einsum("...j,...jd->...d", weights, keys)
    unit_input = torch.cat((x, context), dim=-1)
    return unit(unit_input, state, parameters), context, weights


@answers.also("biases_exchanged")
def bias_of_the_state_for_x(x, state, keys, values, parameters, may_attend=None):
    own = parameters | {"b_h": parameters["b_x"], "b_x": parameters["b_h"]}
    return products_instead_of_cat(x, state, keys, values, own, may_attend)


@answers.also("context_first")
def in_the_order_of_computing(*arguments):
    new, *attended = products_instead_of_cat(*arguments)
    return attended[0], new, attended[1]


@answers.also("taken_by_order")
def unpacked_from_the_values(x, state, keys, values, parameters, may_attend=None):
    w_q, w_k, v, w_x, w_h, b_x, b_h = parameters.values()
    own = dict(w_q=w_q, w_k=w_k, v=v, w_x=w_x, w_h=w_h, b_x=b_x, b_h=b_h)
    return cell_of_pytorch(x, state, keys, values, own, may_attend)


@answers.also("popped_from_the_dictionary")
def dictionary_emptied(*arguments):
    result = cell_of_pytorch(*arguments)
    arguments[4].clear()
    return result


@answers.other
def last_source_token_as_context(x, state, keys, values, parameters, may_attend=None):
    _, weights = attend(state, keys, values, parameters, may_attend)
    context = values[..., -1, :]
    unit_input = torch.cat((x, context), dim=-1)
    return unit(unit_input, state, parameters), context, weights


@answers.other
def weights_missing(*arguments):
    return cell_of_pytorch(*arguments)[:2]


@answers.other
def two_steps_of_the_unit(x, state, keys, values, parameters, may_attend=None):
    new, context, weights = cell_of_pytorch(
        x, state, keys, values, parameters, may_attend
    )
    return unit(torch.cat((x, context), -1), new, parameters), context, weights


@answers.other
def tanh_of_the_context(x, state, keys, values, parameters, may_attend=None):
    context, weights = attend(state, keys, values, parameters, may_attend)
    unit_input = torch.cat((x, torch.tanh(context)), dim=-1)
    return unit(unit_input, state, parameters), context, weights


@answers.other
def state_overwritten(*arguments):
    result = cell_of_pytorch(*arguments)
    arguments[1].copy_(result[0])
    return result


@answers.other
def x_left_out(x, state, keys, values, parameters, may_attend=None):
    return cell_of_pytorch(0 * x, state, keys, values, parameters, may_attend)
