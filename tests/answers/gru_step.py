import functools

import numpy as np
import torch
from torch import nn

from tests.answers import Answers

answers = Answers("gru_step")


def pieces(x, state, w_x, w_h, b_x, b_h):
    """Return, for each of the three blocks of columns, x's part and the state's."""
    d_h = state.shape[-1]
    for block in range(3):
        own = slice(block * d_h, (block + 1) * d_h)
        from_x = torch.einsum("...i,ih->...h", x, w_x[:, own]) + b_x[own]
        yield from_x, torch.einsum("...i,ih->...h", state, w_h[:, own]) + b_h[own]


def between(update, state, candidate):
    return candidate + update * (state - candidate)


@answers.correct
def einsum_by_blocks(x, state, w_x, w_h, b_x, b_h):
    (x_r, h_r), (x_z, h_z), (x_n, h_n) = pieces(x, state, w_x, w_h, b_x, b_h)
    candidate = torch.tanh(x_n + torch.sigmoid(x_r + h_r) * h_n)
    return between(torch.sigmoid(x_z + h_z), state, candidate)


@answers.correct
def cell_of_pytorch(x, state, w_x, w_h, b_x, b_h):
    flat_x, flat = x.reshape(-1, x.shape[-1]), state.reshape(-1, state.shape[-1])
    new_state = torch.gru_cell(flat_x, flat, w_x.T, w_h.T, b_x, b_h)
    return new_state.reshape(state.shape)


@answers.correct
def module_with_loaded_parameters(x, state, w_x, w_h, b_x, b_h):
    layer = nn.GRU(x.shape[-1], state.shape[-1], batch_first=True, dtype=x.dtype)
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    layer.load_state_dict(dict(zip(names, (w_x.T, w_h.T, b_x, b_h), strict=True)))
    flat_x, flat = x.reshape(-1, 1, x.shape[-1]), state.reshape(1, -1, state.shape[-1])
    return layer(flat_x, flat.contiguous())[1].reshape(state.shape)


@answers.correct
def loop_over_tokens_in_numpy(x, state, w_x, w_h, b_x, b_h):
    arguments = [part.detach().numpy() for part in (x, state, w_x, w_h, b_x, b_h)]
    x, state, w_x, w_h, b_x, b_h = arguments
    d_h = state.shape[-1]
    new = np.empty(state.shape, dtype=state.dtype)
    for token in np.ndindex(state.shape[:-1]):
        a, b = x[token] @ w_x + b_x, state[token] @ w_h + b_h
        gates = 0.5 + 0.5 * np.tanh((a + b)[: 2 * d_h] / 2)
        candidate = np.tanh(a[2 * d_h :] + gates[:d_h] * b[2 * d_h :])
        new[token] = candidate + gates[d_h:] * (state[token] - candidate)
    return torch.from_numpy(new)


@answers.correct
def one_product_for_both_gates(x, state, w_x, w_h, b_x, b_h):
    d_h = state.shape[-1]
    both, stacked = torch.cat([x, state], dim=-1), torch.cat([w_x, w_h])
    gates = both @ stacked[:, : 2 * d_h] + (b_x + b_h)[: 2 * d_h]
    reset, update = gates.sigmoid().split(d_h, dim=-1)
    inside = state @ w_h[:, 2 * d_h :] + b_h[2 * d_h :]
    candidate = torch.tanh(x @ w_x[:, 2 * d_h :] + b_x[2 * d_h :] + reset * inside)
    return torch.lerp(candidate, state, update)


@answers.correct
def functions_of_nn(x, state, w_x, w_h, b_x, b_h):
    from_x = nn.functional.linear(x, w_x.T, b_x).unflatten(-1, (3, -1))
    from_h = nn.functional.linear(state, w_h.T, b_h).unflatten(-1, (3, -1))
    reset, update = (from_x + from_h)[..., :2, :].sigmoid().unbind(-2)
    candidate = (from_x[..., 2, :] + reset * from_h[..., 2, :]).tanh()
    return state.where(update == 1, update * state + (1 - update) * candidate)


@answers.correct
def number_by_number(x, state, w_x, w_h, b_x, b_h):
    def sums(vector, table, bias):
        columns = table.T.tolist()
        dots = [sum(a * b for a, b in zip(vector, c, strict=True)) for c in columns]
        return [dot + b for dot, b in zip(dots, bias.tolist(), strict=True)]

    d_h, rows = state.shape[-1], []
    tokens = x.reshape(-1, x.shape[-1]).tolist(), state.reshape(-1, d_h).tolist()
    for token, before in zip(*tokens, strict=True):
        a, b = sums(token, w_x, b_x), sums(before, w_h, b_h)
        row = []
        for u in range(d_h):
            r, z = (0.5 + 0.5 * np.tanh((a[g + u] + b[g + u]) / 2) for g in (0, d_h))
            n = np.tanh(a[2 * d_h + u] + r * b[2 * d_h + u])
            row.append(float((1 - z) * n + z * before[u]))
        rows.append(row)
    return torch.tensor(rows, dtype=state.dtype).reshape(state.shape)


@answers.correct
def other_layout_in_memory(x, state, w_x, w_h, b_x, b_h):
    new_state = einsum_by_blocks(x, state, w_x, w_h, b_x, b_h)
    return torch.stack([new_state, new_state], dim=-1)[..., 0]


class Unit(nn.Module):
    """A module whose parameters are not given back as they came."""

    def __init__(self, gate):
        super().__init__()
        self.gate = gate

    def forward(self, x, state, *tables):
        (x_r, h_r), (x_z, h_z), (x_n, h_n) = pieces(x, state, *tables)
        candidate = torch.tanh(x_n + self.gate(x_r + h_r) * h_n)
        return between(self.gate(x_z + h_z), state, candidate)


class Called:
    def __call__(self, *arguments):
        return one_product_for_both_gates(*arguments)


answers.right["module"] = Unit(nn.Sigmoid())
answers.right["callable_object"] = Called()
answers.right["partial"] = functools.partial(
    lambda step, *arguments: step(*arguments), einsum_by_blocks
)


@answers.other
def a_second_tanh(*arguments):
    return torch.tanh(einsum_by_blocks(*arguments))


@answers.other
def parameters_scaled(x, state, w_x, w_h, b_x, b_h):
    w_h *= 0.5
    return einsum_by_blocks(x, state, w_x, w_h, b_x, b_h)


@answers.other
def newest_state_in_the_update_too(*arguments):
    return einsum_by_blocks(arguments[0], einsum_by_blocks(*arguments), *arguments[2:])
