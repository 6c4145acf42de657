import functools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("swiglu")


def silu(a):
    return a / (1 + torch.exp(-a))


@answers.correct
def formula(x, w_gate, w_up, w_down):
    return (silu(x @ w_gate) * (x @ w_up)) @ w_down


@answers.correct
def sigmoid_times_itself(x, w_gate, w_up, w_down):
    gate = x @ w_gate
    return torch.matmul(gate * torch.sigmoid(gate) * torch.matmul(x, w_up), w_down)


@answers.correct
def half_of_a_tanh(x, w_gate, w_up, w_down):
    gate = x @ w_gate
    return (gate / 2 * (1 + torch.tanh(gate / 2)) * (x @ w_up)) @ w_down


@answers.correct
def both_branches_in_one_product(x, w_gate, w_up, w_down):
    both = x @ torch.cat([w_gate, w_up], dim=1)
    gate, up = both.chunk(2, dim=-1)
    return torch.nn.functional.silu(gate) * up @ w_down


@answers.correct
def gated_linear_unit_of_pytorch(x, w_gate, w_up, w_down):
    gate = x @ w_gate
    both = torch.cat([gate * (x @ w_up), gate], dim=-1)
    return torch.nn.functional.glu(both, dim=-1) @ w_down


@answers.correct
def einsum(x, w_gate, w_up, w_down):
    gate = torch.nn.SiLU()(torch.einsum("...c,cf->...f", x, w_gate))
    return torch.einsum("...f,...c,cf,fd->...d", gate, x, w_up, w_down)


@answers.correct
def linear_layers(x, w_gate, w_up, w_down):
    linear = torch.nn.functional.linear
    hidden = silu(linear(x, w_gate.T)) * linear(x, w_up.T)
    return linear(hidden, w_down.T)


@answers.correct
def one_column_after_another(x, w_gate, w_up, w_down):
    result = torch.zeros_like(x)
    for j in range(w_gate.shape[1]):
        one = silu(x @ w_gate[:, j]) * (x @ w_up[:, j])
        result = result + one[..., None] * w_down[j]
    return result


@answers.correct
def token_after_token(x, w_gate, w_up, w_down):
    rows = [formula(row, w_gate, w_up, w_down) for row in x.reshape(-1, x.shape[-1])]
    return torch.stack(rows).reshape(x.shape)


@answers.correct
def numpy_inside(x, w_gate, w_up, w_down):
    gate, up = x.numpy() @ w_gate.numpy(), x.numpy() @ w_up.numpy()
    share = np.exp(-np.logaddexp(0, -gate))
    return torch.from_numpy(np.asarray((gate * share * up) @ w_down.numpy()))


@answers.correct
def float64_inside(x, w_gate, w_up, w_down):
    return formula(x.double(), w_gate.double(), w_up.double(), w_down.double())


class FeedForward(torch.nn.Module):
    def forward(self, x, w_gate, w_up, w_down):
        return formula(x, w_gate, w_up, w_down)


class Called:
    def __call__(self, x, w_gate, w_up, w_down):
        return formula(x, w_gate, w_up, w_down)


answers.right["module"] = FeedForward()
answers.right["callable_object"] = Called()
answers.right["partial"] = functools.partial(
    lambda activation, x, gate, up, down: activation(x @ gate) * (x @ up) @ down, silu
)


@answers.also("gate_and_up_exchanged")
def llamas_names_in_their_order(x, w_1, w_2, w_3):
    return (x @ w_1 * silu(x @ w_2)) @ w_3


@answers.also("sigmoid_for_silu")
def glu_of_pytorch(x, w_gate, w_up, w_down):
    both = torch.cat([x @ w_up, x @ w_gate], dim=-1)
    return torch.nn.functional.glu(both) @ w_down


@answers.also("branches_added")
def sum_of_two_networks(x, w_gate, w_up, w_down):
    return silu(x @ w_gate) @ w_down + x @ w_up @ w_down


@answers.also("product_of_matrices")
def as_attention(x, w_gate, w_up, w_down):
    gate, up = silu(x @ w_gate), x @ w_up
    return torch.einsum("...if,...jf,...jg,gd->...id", gate, up, up, w_down)


@answers.other
def silu_of_up_times_gate_squared(x, w_gate, w_up, w_down):
    return (silu(x @ w_gate) ** 2 * (x @ w_up)) @ w_down


@answers.other
def larger_of_both_branches(x, w_gate, w_up, w_down):
    return torch.maximum(silu(x @ w_gate), x @ w_up) @ w_down


@answers.other
def hard_silu(x, w_gate, w_up, w_down):
    return (torch.nn.functional.hardswish(x @ w_gate) * (x @ w_up)) @ w_down


@answers.other
def half_the_product(x, w_gate, w_up, w_down):
    return formula(x, w_gate, w_up, w_down) / 2
