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


@answers.also("update_gate_reversed")
def lerp_from_the_state(*arguments):
    (x_r, h_r), (x_z, h_z), (x_n, h_n) = pieces(*arguments)
    candidate = torch.tanh(x_n + torch.sigmoid(x_r + h_r) * h_n)
    return torch.lerp(arguments[1], candidate, torch.sigmoid(x_z + h_z))


@answers.also("reset_before_the_product")
def unit_of_the_original_paper(x, state, w_x, w_h, b_x, b_h):
    (x_r, h_r), (x_z, h_z), (x_n, _) = pieces(x, state, w_x, w_h, b_x, b_h)
    reset_state = state * torch.sigmoid(x_r + h_r)
    *_, (_, inside) = pieces(x, reset_state, w_x, w_h, b_x, b_h)
    return between(torch.sigmoid(x_z + h_z), state, torch.tanh(x_n + inside))


@answers.also("update_gate_first")
def keras_order(x, state, w_x, w_h, b_x, b_h):
    (x_z, h_z), (x_r, h_r), (x_n, h_n) = pieces(x, state, w_x, w_h, b_x, b_h)
    candidate = torch.tanh(x_n + torch.sigmoid(x_r + h_r) * h_n)
    return between(torch.sigmoid(x_z + h_z), state, candidate)


@answers.also("bias_outside_the_reset")
def one_bias_for_both(x, state, w_x, w_h, b_x, b_h):
    return one_product_for_both_gates(x, state, w_x, w_h, b_x + b_h, 0 * b_h)


@answers.also("reset_on_the_token_too")
def reset_outside_the_brackets(*arguments):
    (x_r, h_r), (x_z, h_z), (x_n, h_n) = pieces(*arguments)
    reset = torch.sigmoid(x_r + h_r)
    candidate = torch.tanh(reset * x_n + reset * h_n)
    return between(torch.sigmoid(x_z + h_z), arguments[1], candidate)


@answers.also("reset_unused")
def candidate_of_a_plain_network(x, state, w_x, w_h, b_x, b_h):
    d_h = state.shape[-1]
    sums = torch.cat([x, state], dim=-1) @ torch.cat([w_x, w_h]) + b_x + b_h
    update, candidate = sums[..., d_h:].split(d_h, dim=-1)
    return between(update.sigmoid(), state, candidate.tanh())


@answers.also("sigmoid_for_the_candidate")
def one_activation_for_all(*arguments):
    (x_r, h_r), (x_z, h_z), (x_n, h_n) = pieces(*arguments)
    gate = nn.Sigmoid()
    return between(gate(x_z + h_z), arguments[1], gate(x_n + gate(x_r + h_r) * h_n))


@answers.also("tanh_for_the_gates")
def tanh_throughout(*arguments):
    return Unit(nn.Tanh())(*arguments)


@answers.also("hard_sigmoid_for_the_gates")
def cut_off_lines(*arguments):
    return Unit(lambda sums: nn.functional.hardtanh(sums * 0.4) / 2 + 0.5)(*arguments)


@answers.also("whole_candidate_added")
def two_terms_without_a_share(*arguments):
    (x_r, h_r), (x_z, h_z), (x_n, h_n) = pieces(*arguments)
    new = torch.tanh(torch.addcmul(x_n, torch.sigmoid(x_r + h_r), h_n))
    return torch.addcmul(new, torch.sigmoid(x_z + h_z), arguments[1])


@answers.also("b_h_forgotten")
def product_without_bias(x, state, w_x, w_h, b_x, b_h):
    from_x = nn.functional.linear(x, w_x.T, b_x).tensor_split(3, dim=-1)
    from_h = nn.functional.linear(state, w_h.T).tensor_split(3, dim=-1)
    reset, update = (torch.sigmoid(from_x[g] + from_h[g]) for g in range(2))
    return between(update, state, torch.tanh(from_x[2] + reset * from_h[2]))


@answers.also("columns_dealt_in_turn")
def three_numbers_per_unit(x, state, w_x, w_h, b_x, b_h):
    from_x = (x @ w_x + b_x).unflatten(-1, (-1, 3))
    from_h = (state @ w_h + b_h).unflatten(-1, (-1, 3))
    reset, update = (from_x + from_h)[..., :2].sigmoid().unbind(-1)
    return between(update, state, (from_x[..., 2] + reset * from_h[..., 2]).tanh())


@answers.also("sigmoid_that_overflows")
def quotient_of_powers(*arguments):
    def gate(sums):
        return 1 / (1 / torch.e**sums + 1) if sums.max() < 80 else quotient(sums)

    def quotient(sums):
        power = torch.e**sums
        return power / (power + 1)

    return Unit(gate)(*arguments)


@answers.also("axes_squeezed")
def only_long_axes(*arguments):
    new_state = einsum_by_blocks(*arguments)
    return new_state.reshape([size for size in new_state.shape if size > 1])


@answers.also("state_overwritten")
def written_in_place(x, state, w_x, w_h, b_x, b_h):
    (x_r, h_r), (x_z, h_z), (x_n, h_n) = pieces(x, state, w_x, w_h, b_x, b_h)
    update = torch.sigmoid(x_z + h_z)
    candidate = torch.tanh(x_n + torch.sigmoid(x_r + h_r) * h_n)
    state *= update
    state += (1 - update) * candidate
    return state


@answers.other
def always_float32(*arguments):
    return einsum_by_blocks(*arguments).float()


@answers.other
def candidate_alone(*arguments):
    (x_r, h_r), _, (x_n, h_n) = pieces(*arguments)
    return torch.tanh(x_n + torch.sigmoid(x_r + h_r) * h_n)


@answers.other
def both_gates_from_the_token_only(*arguments):
    (x_r, _), (x_z, _), (x_n, h_n) = pieces(*arguments)
    candidate = torch.tanh(x_n + torch.sigmoid(x_r) * h_n)
    return between(torch.sigmoid(x_z), arguments[1], candidate)


@answers.other
def a_second_tanh(*arguments):
    return torch.tanh(einsum_by_blocks(*arguments))


@answers.other
def candidate_first(x, state, w_x, w_h, b_x, b_h):
    (x_n, h_n), (x_r, h_r), (x_z, h_z) = pieces(x, state, w_x, w_h, b_x, b_h)
    candidate = torch.tanh(x_n + torch.sigmoid(x_r + h_r) * h_n)
    return between(torch.sigmoid(x_z + h_z), state, candidate)


@answers.other
def array_instead_of_a_tensor(*arguments):
    return einsum_by_blocks(*arguments).numpy()


@answers.other
def parameters_scaled(x, state, w_x, w_h, b_x, b_h):
    w_h *= 0.5
    return einsum_by_blocks(x, state, w_x, w_h, b_x, b_h)
