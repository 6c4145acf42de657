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
    own, scores, powers, total, context = parameters, [], [], 0, 0
    for j in range(keys.shape[-2]):
        hidden = torch.tanh(state @ own["w_q"] + keys[..., j, :] @ own["w_k"])
        score = hidden @ own["v"]
        if may_attend is not None:
            score = torch.where(may_attend[..., j], score, -torch.inf)
        scores.append(score)
    largest = torch.stack(scores).amax(dim=0)
    for j, score in enumerate(scores):
        power = torch.exp(score - largest)
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


@answers.other
def last_source_token_as_context(x, state, keys, values, parameters, may_attend=None):
    _, weights = attend(state, keys, values, parameters, may_attend)
    context = values[..., -1, :]
    unit_input = torch.cat((x, context), dim=-1)
    return unit(unit_input, state, parameters), context, weights


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
