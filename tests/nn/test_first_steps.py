"""The first functions in PyTorch: equal to PyTorch's own loss and optimizers."""

import re

import numpy as np
import pytest
import torch
from torch import nn

from course_lib.nn.first_steps import (
    adam_step,
    gather_log_probabilities,
    sgd_step,
)
from tests.nn.test_attention import CLOSE, GPU, close, normal

WHERE = [
    ("cpu", torch.float64),
    ("cpu", torch.float32),
    *(pytest.param(*GPU.values, dtype, marks=GPU.marks) for dtype in CLOSE),
]
STEPS = 7
# One more operation on numbers near 1 than a step has is a unit of roundoff each; seven
# steps of ten operations stay below a hundred of 1e-16.
SAME = 1e-14


def log_p_and_targets(*shape, device="cpu", dtype=torch.float64):
    logits = normal(*shape, 9, device=device, dtype=dtype)
    targets = torch.from_numpy(np.random.default_rng(1).integers(0, 9, size=shape))
    return logits.log_softmax(-1), targets.to(device)


@pytest.mark.parametrize(("device", "dtype"), WHERE)
@pytest.mark.parametrize("shape", [(), (5,), (2, 5), (2, 3, 4), (0, 3)])
def test_gather_is_nll_loss_with_the_sign_turned(shape, device, dtype):
    log_p, targets = log_p_and_targets(*shape, device=device, dtype=dtype)
    theirs = nn.functional.nll_loss(
        log_p.reshape(-1, 9), targets.reshape(-1), reduction="none"
    )
    assert torch.equal(gather_log_probabilities(log_p, targets), -theirs.reshape(shape))


def test_gather_takes_int32_and_transposed_tensors():
    log_p, targets = log_p_and_targets(4, 3)
    turned = gather_log_probabilities(log_p.transpose(0, 1), targets.T.int())
    assert torch.equal(turned.T, gather_log_probabilities(log_p, targets))


def test_gradient_reaches_the_right_tokens_alone():
    log_p, targets = log_p_and_targets(2, 5)
    log_p = log_p.detach().requires_grad_()
    gather_log_probabilities(log_p, targets).sum().backward()
    assert torch.equal(log_p.grad, nn.functional.one_hot(targets, 9).double())


def model():
    """Return a small network in float64 with parameters of one and two axes."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        layers = nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3)
        return nn.Sequential(*layers).double()


def loss_of(network, step):
    x, y = normal(5, 4, seed=step), normal(5, 3, seed=100 + step)
    return ((network(x) - y) ** 2).mean()


def gradients_at(parameters, step):
    """Compute the gradients of the network with these parameters."""
    network = model()
    network.load_state_dict(parameters)
    loss_of(network, step).backward()
    return {name: each.grad for name, each in network.named_parameters()}


def trained(optimizer_of):
    """Return a network's parameters after each step of an optimizer of PyTorch."""
    network = model()
    optimizer = optimizer_of(network.parameters())
    history = []
    for step in range(STEPS):
        optimizer.zero_grad()
        loss_of(network, step).backward()
        optimizer.step()
        state_dict = network.state_dict()
        history.append({name: each.clone() for name, each in state_dict.items()})
    return history


def parameters_at_first():
    return {name: each.clone() for name, each in model().state_dict().items()}


def all_close(mine, theirs):
    assert mine.keys() == theirs.keys()
    for name in mine:
        torch.testing.assert_close(mine[name], theirs[name], rtol=SAME, atol=SAME)


def test_sgd_step_matches_torch_optim():
    parameters = parameters_at_first()
    for step, theirs in enumerate(trained(lambda own: torch.optim.SGD(own, lr=0.3))):
        parameters = sgd_step(parameters, gradients_at(parameters, step), 0.3)
        all_close(parameters, theirs)


SETTINGS = [
    {},
    {"betas": (0.5, 0.98), "eps": 1e-3},
    {"betas": (0.0, 0.0)},
    {"eps": 0.0},
]


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("weight_decay", [0.0, 0.25])
def test_adam_step_matches_torch_optim(settings, weight_decay):
    kind = torch.optim.AdamW if weight_decay else torch.optim.Adam

    def optimizer(own):
        return kind(own, lr=0.05, weight_decay=weight_decay, **settings)

    parameters = parameters_at_first()
    zeros = {name: torch.zeros_like(each) for name, each in parameters.items()}
    states = {name: (each, each, 0) for name, each in zeros.items()}
    for step, theirs in enumerate(trained(optimizer)):
        gradients = gradients_at(parameters, step)
        for name, gradient in gradients.items():
            parameters[name], states[name] = adam_step(
                parameters[name],
                gradient,
                states[name],
                learning_rate=0.05,
                weight_decay=weight_decay,
                **settings,
            )
        all_close(parameters, theirs)
    assert {state[2] for state in states.values()} == {STEPS}


def test_adam_step_has_the_defaults_of_torch_optim():
    parameter, gradient = normal(5), normal(5, seed=1)
    theirs = nn.Parameter(parameter.clone())
    theirs.grad = gradient
    torch.optim.Adam([theirs]).step()
    ours, _ = adam_step(parameter, gradient, (parameter * 0, parameter * 0, 0))
    torch.testing.assert_close(ours, theirs.detach(), rtol=SAME, atol=SAME)


@pytest.mark.parametrize(("device", "dtype"), WHERE)
def test_steps_keep_dtype_and_device(device, dtype):
    p, g, m, v = (
        normal(2, 3, device=device, dtype=dtype, seed=seed) for seed in range(4)
    )
    exact = [each.to("cpu", torch.float64) for each in (p, g, m, v**2)]
    ours, (m, v, _) = adam_step(p, g, (m, v**2, 3), 0.5, eps=0.1, weight_decay=0.1)
    theirs, (their_m, their_v, _) = adam_step(
        *exact[:2], (*exact[2:], 3), 0.5, eps=0.1, weight_decay=0.1
    )
    for one, other in ((ours, theirs), (m, their_m), (v, their_v)):
        close(one, other.to(one))
    stepped = sgd_step({"w": p}, {"w": g}, 0.5)["w"]
    close(stepped, (exact[0] - 0.5 * exact[1]).to(p))


def test_steps_leave_their_arguments_as_they_are():
    arguments = [normal(2, 3, seed=seed) for seed in range(4)]
    before = [each.clone() for each in arguments]
    p, g, m, v = arguments
    parameters = {"w": p}
    sgd_step(parameters, {"w": g}, 0.5)
    adam_step(p, g, (m, v**2, 3), weight_decay=0.1)
    assert parameters["w"] is p
    assert all(map(torch.equal, arguments, before))


def test_learning_rate_of_zero_changes_nothing():
    p, g = normal(2, 3), normal(2, 3, seed=1)
    assert torch.equal(sgd_step({"w": p}, {"w": g}, 0.0)["w"], p)
    assert torch.equal(adam_step(p, g, (g, g**2, 1), 0.0, weight_decay=1.0)[0], p)


def test_sgd_step_without_parameters_has_none():
    assert sgd_step({}, {}, 0.1) == {}


P, W = torch.ones(2), {"w": torch.ones(2, 3)}
STATE = P, P, 0
REFUSED = [
    # the message, and what is called
    (
        "targets must hold token ids from 0 to 2, got -1",
        lambda: gather_log_probabilities(torch.zeros(2, 3), torch.tensor([1, -1])),
    ),
    (
        "targets must hold token ids from 0 to 2, got 3",
        lambda: gather_log_probabilities(torch.zeros(2, 3), torch.tensor([1, 3])),
    ),
    (
        "targets must hold int64 or int32, got float32",
        lambda: gather_log_probabilities(torch.zeros(2, 3), torch.ones(2)),
    ),
    (
        "log_p must have shape (4, vocab_size), got (2, 3)",
        lambda: gather_log_probabilities(torch.zeros(2, 3), torch.tensor([1, 1, 1, 1])),
    ),
    (
        "log_p must have shape (2, vocab_size), got (2, 5, 3)",
        lambda: gather_log_probabilities(torch.zeros(2, 5, 3), torch.tensor([1, 1])),
    ),
    (
        "log_p must be a tensor, got ndarray",
        lambda: gather_log_probabilities(np.zeros((1, 3)), torch.tensor([1])),
    ),
    (
        "parameters must be a dictionary of tensors by name, got list",
        lambda: sgd_step([P], [P], 0.1),
    ),
    (
        "gradients must be a dictionary of tensors by name, got Tensor",
        lambda: sgd_step(W, P, 0.1),
    ),
    (
        "gradients must have the names of parameters: w; got w, b",
        lambda: sgd_step(W, W | {"b": P}, 0.1),
    ),
    (
        "gradients must have the names of parameters: w; got ",
        lambda: sgd_step(W, {}, 0.1),
    ),
    (
        "gradients['w'] must have the shape of the parameter, (2, 3), got (3,)",
        lambda: sgd_step(W, {"w": torch.ones(3)}, 0.1),
    ),
    (
        "gradients['w'] must be a tensor, got NoneType",
        lambda: sgd_step(W, {"w": None}, 0.1),
    ),
    (
        "parameters['n'] must hold floats, got int64",
        lambda: sgd_step({"n": torch.tensor(1)}, {"n": torch.tensor(1)}, 0.1),
    ),
    (
        "gradients['w'] must hold float32, as what it meets, got float64",
        lambda: sgd_step(W, {"w": torch.ones(2, 3).double()}, 0.1),
    ),
    (
        "learning_rate must be a finite number from 0 to inf, got -0.1",
        lambda: sgd_step(W, W, -0.1),
    ),
    (
        "learning_rate must be a number, got tensor(0.1000) (Tensor)",
        lambda: sgd_step(W, W, torch.tensor(0.1)),
    ),
    (
        "gradient must have shape (...) with ...=(2,), got (1,)",
        lambda: adam_step(P, torch.ones(1), STATE),
    ),
    (
        "v must have shape (...) with ...=(2,), got ()",
        lambda: adam_step(P, P, (P, torch.tensor(1.0), 0)),
    ),
    ("m must be a tensor, got float", lambda: adam_step(P, P, (0.0, P, 0))),
    (
        "state must be a tuple (m, v, step), got dict",
        lambda: adam_step(P, P, {"m": P, "v": P, "step": 0}),
    ),
    (
        "state must be a tuple (m, v, step), got 2 of its parts",
        lambda: adam_step(P, P, (P, P)),
    ),
    ("step must be at least 0, got -1", lambda: adam_step(P, P, (P, P, -1))),
    ("step must be a whole number, got 1.0", lambda: adam_step(P, P, (P, P, 1.0))),
    (
        "beta_2 must be below 1, got 1.0",
        lambda: adam_step(P, P, STATE, 0.1, (0.9, 1.0)),
    ),
    (
        "beta_1 must be a finite number from 0 to inf, got -0.1",
        lambda: adam_step(P, P, STATE, 0.1, (-0.1, 0.9)),
    ),
    (
        "betas must be a tuple (β₁, β₂), got float",
        lambda: adam_step(P, P, STATE, 0.1, 0.9),
    ),
    (
        "eps must be a finite number from 0 to inf, got -1",
        lambda: adam_step(P, P, STATE, eps=-1),
    ),
    (
        "weight_decay must be a finite number from 0 to inf, got nan",
        lambda: adam_step(P, P, STATE, weight_decay=float("nan")),
    ),
]


@pytest.mark.parametrize(("message", "call"), REFUSED)
def test_what_would_be_wrong_is_refused(message, call):
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        call()
