"""The loop of lesson 07 trains as PyTorch's own does; gradients equal autograd's."""

import copy

import numpy as np
import pytest
import torch
from torch import nn
from torch.func import functional_call
from torch.nn.functional import mse_loss

from course_lib.nn.attention import attention
from course_lib.nn.training_loop import numerical_gradient, train


def network(dropout=0.0):
    torch.manual_seed(0)
    layers = nn.Linear(4, 6), nn.Tanh(), nn.Dropout(dropout), nn.Linear(6, 3)
    return nn.Sequential(*layers).double()


def drawn_batches(*lengths):
    generator = torch.Generator().manual_seed(1)
    draw = {"generator": generator, "dtype": torch.float64}
    return [(torch.randn(n, 4, **draw), torch.randn(n, 3, **draw)) for n in lengths]


def functions_of(model):
    """Return gradient_of and loss_of of a module."""

    def loss_in(parameters, batch, training):
        model.train(training)
        return mse_loss(functional_call(model, parameters, (batch[0],)), batch[1])

    def gradient_of(parameters, batch, gradients):
        leaves = {name: p.detach().requires_grad_() for name, p in parameters.items()}
        loss = loss_in(leaves, batch, True)
        new = torch.autograd.grad(loss, [*leaves.values()])
        pairs = zip(leaves, new, strict=True)
        return loss.item(), {name: gradients[name] + each for name, each in pairs}

    def loss_of(parameters, batch, training):
        with torch.no_grad():
            return loss_in(parameters, batch, training).item()

    return gradient_of, loss_of


def parameters_of(model):
    return {name: p.detach() for name, p in model.named_parameters()}


def momentum(parameters, gradients, state):
    velocity = {n: 0.9 * (state[n] if state else 0) + g for n, g in gradients.items()}
    return {n: p - 0.1 * velocity[n] for n, p in parameters.items()}, velocity


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_train_matches_a_loop_of_pytorch(dropout):
    batches, held_out = drawn_batches(5, 3, 4), drawn_batches(7, 2)
    model = network(dropout)
    gradient_of, loss_of = functions_of(model)
    torch.manual_seed(2)
    start = {name: p.clone() for name, p in parameters_of(model).items()}
    ours = train(gradient_of, start, batches, momentum, loss_of, held_out, 9)

    model = network(dropout)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    losses, held_out_losses, best = [], [], None
    torch.manual_seed(2)
    for _ in range(9):
        model.train()
        of_batches = []
        for x, target in batches:
            optimizer.zero_grad()
            loss = mse_loss(model(x), target)
            loss.backward()
            optimizer.step()
            of_batches.append(loss.item())
        losses.append(np.mean(of_batches))
        model.eval()
        with torch.no_grad():
            values = [mse_loss(model(x), target).item() for x, target in held_out]
        held_out_losses.append(np.mean(values))
        if held_out_losses[-1] == min(held_out_losses):
            best = copy.deepcopy(model.state_dict())
    np.testing.assert_allclose(ours[1], losses, rtol=1e-10)
    np.testing.assert_allclose(ours[2], held_out_losses, rtol=1e-10)
    for name, parameter in best.items():
        torch.testing.assert_close(ours[0][name], parameter)


def test_best_parameters_survive_steps_in_place():
    model, batches, held_out = network(), drawn_batches(5), drawn_batches(4)
    gradient_of, loss_of = functions_of(model)
    parameters = parameters_of(model)

    def in_place(parameters, gradients, state):
        for name, parameter in parameters.items():
            parameter -= 0.3 * gradients[name]
        return parameters, state

    best, _, losses = train(
        gradient_of, parameters, batches, in_place, loss_of, held_out, 5
    )
    assert losses[-1] > min(losses)  # the best epoch is not the last
    assert loss_of(best, held_out[0], False) == min(losses)


@pytest.mark.parametrize("which", ["q", "k", "v"])
def test_numerical_gradient_of_attention_matches_autograd(which):
    generator = torch.Generator().manual_seed(0)
    inputs = {
        name: torch.randn(shape, generator=generator, dtype=torch.float64)
        for name, shape in {"q": (2, 3, 4), "k": (2, 5, 4), "v": (2, 5, 6)}.items()
    }
    weights = torch.randn(2, 3, 6, generator=generator, dtype=torch.float64)

    def loss(x):
        return (attention(**{**inputs, which: x})[0] * weights).sum()

    x = inputs[which].clone().requires_grad_()
    (expected,) = torch.autograd.grad(loss(x), x)
    measured = numerical_gradient(loss, inputs[which], 1e-5)
    torch.testing.assert_close(measured, expected, atol=1e-9, rtol=0)


def test_numerical_gradient_keeps_shape_and_device():
    x = torch.ones(2, 3).T.requires_grad_()
    gradient = numerical_gradient(lambda x: x.square().sum(), x, 0.5)
    assert gradient.shape == (3, 2) and not gradient.requires_grad
    assert gradient.device == x.device and gradient.dtype == torch.float64
    assert numerical_gradient(lambda x: 0.0, torch.ones(0, 2), 0.5).shape == (0, 2)


def one(*_):
    return 1.0


def unchanged(parameters, gradients, state):
    return parameters, state


def nothing_learned(parameters, batch, gradients):
    return batch, gradients


START = {"w": torch.zeros(2)}


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"parameters": [torch.zeros(2)]}, TypeError, "must be a dictionary"),
        ({"parameters": {"w": torch.arange(3)}}, TypeError, r"parameters\['w'\] must"),
        ({"batches": []}, ValueError, "batches must hold at least one, got none"),
        ({"batches": iter([1.0])}, TypeError, "batches must be a list, got"),
        ({"held_out": []}, ValueError, "held_out must hold at least one, got none"),
        ({"epochs": 0}, ValueError, "epochs must be at least 1, got 0"),
        ({"batches": [float("nan")]}, ValueError, "loss must be a finite number"),
        ({"batches": [torch.ones(())]}, TypeError, "loss must be a number, got tensor"),
        ({"loss_of": lambda *_: float("inf")}, ValueError, "held_out_loss must be a"),
    ],
)
def test_train_refuses(changes, error, message):
    usual = {
        "gradient_of": nothing_learned,
        "parameters": START,
        "batches": [1.0],
        "step": unchanged,
        "loss_of": one,
        "held_out": [1.0],
        "epochs": 1,
    }
    assert train(**usual)[1:] == ([1.0], [1.0])
    with pytest.raises(error, match=message):
        train(**(usual | changes))


@pytest.mark.parametrize(
    ("x", "step", "error", "message"),
    [
        (np.ones(2), 0.1, TypeError, "x must be a tensor, got ndarray"),
        (torch.arange(2), 0.1, TypeError, "x must hold floats, got int64"),
        (torch.ones(2), 0.0, ValueError, "step must be above 0"),
        (torch.ones(2), -1.0, ValueError, "step must be a finite number from 0"),
    ],
)
def test_numerical_gradient_refuses(x, step, error, message):
    with pytest.raises(error, match=message):
        numerical_gradient(one, x, step)
