"""The field's forms of the exercises of lesson 07."""

import numpy as np
import torch
from torch.nn import functional

from tests.textbook import Forms

FORMS = Forms()


@FORMS("gather_log_probabilities", "PyTorch", before="full")
def gathered(log_p, targets):
    return torch.gather(log_p, -1, targets[..., None])[..., 0]


@FORMS("gather_log_probabilities", "PyTorch", before="full")
def negative_nll_loss(log_p, targets):
    flat = log_p.reshape(-1, log_p.shape[-1])
    losses = functional.nll_loss(flat, targets.reshape(-1), reduction="none")
    return -losses.reshape(targets.shape)


@FORMS(
    "gather_log_probabilities",
    "CS231n",
    expected="refused: rows_numbered_for_a_matrix",
    before="refused: rows_numbered_for_a_matrix (1.5 of 8)",
)
def rows_and_right_columns(log_p, targets):
    return log_p[range(len(targets)), targets]


@FORMS(
    "gather_log_probabilities",
    "Keras",
    expected="refused: nan_from_a_probability_of_zero",
    before="refused: nan_from_a_probability_of_zero (7.25 of 8)",
)
def one_hot_product(log_p, targets):
    one_hot = functional.one_hot(targets, log_p.shape[-1]).to(log_p.dtype)
    return (one_hot * log_p).sum(dim=-1)


@FORMS("sgd_step", "PyTorch tutorials", before="full")
def new_dictionary(parameters, gradients, learning_rate):
    new = {}
    for name in parameters:
        new[name] = parameters[name] - learning_rate * gradients[name]
    return new


@FORMS(
    "sgd_step",
    "d2l 3.4",
    expected="refused: parameters_overwritten",
    before="refused: parameters_overwritten (4.5 of 5)",
)
def in_place(parameters, gradients, learning_rate):
    for name, parameter in parameters.items():
        parameter -= learning_rate * gradients[name]
    return parameters


def adam_averages(gradient, state, betas):
    m, v, step = state
    m = betas[0] * m + (1 - betas[0]) * gradient
    v = betas[1] * v + (1 - betas[1]) * gradient**2
    return m, v, step + 1


@FORMS("adam_step", "PyTorch", before="full")
def single_tensor_adamw(
    parameter,
    gradient,
    state,
    learning_rate=0.001,
    betas=(0.9, 0.999),
    eps=1e-8,
    weight_decay=0.0,
):
    exp_avg, exp_avg_sq, step = state
    step = step + 1
    parameter = parameter * (1 - learning_rate * weight_decay)
    exp_avg = exp_avg.lerp(gradient, 1 - betas[0])
    exp_avg_sq = exp_avg_sq * betas[1] + gradient * gradient * (1 - betas[1])
    corrected = (1 - betas[1] ** step) ** 0.5
    denominator = exp_avg_sq.sqrt() / corrected + eps
    step_size = learning_rate / (1 - betas[0] ** step)
    return parameter - step_size * exp_avg / denominator, (exp_avg, exp_avg_sq, step)


@FORMS("adam_step", "Kingma and Ba, algorithm 1", before="full")
def algorithm_1_with_decoupled_decay(
    parameter,
    gradient,
    state,
    learning_rate=0.001,
    betas=(0.9, 0.999),
    eps=1e-8,
    weight_decay=0.0,
):
    m, v, t = adam_averages(gradient, state, betas)
    m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
    change = m_hat / (v_hat.sqrt() + eps) + weight_decay * parameter
    return parameter - learning_rate * change, (m, v, t)


@FORMS(
    "adam_step",
    "CS336 and Kingma and Ba, section 2",
    expected="refused: eps_added_to_the_root_of_v & weight_decay_of_the_new_parameter",
    before="refused: eps_added_to_the_root_of_v & weight_decay_of_the_new_parameter "
    "(2.75 of 19)",
)
def corrected_learning_rate(
    parameter,
    gradient,
    state,
    learning_rate=0.001,
    betas=(0.9, 0.999),
    eps=1e-8,
    weight_decay=0.0,
):
    m, v, t = adam_averages(gradient, state, betas)
    step_size = learning_rate * (1 - betas[1] ** t) ** 0.5 / (1 - betas[0] ** t)
    parameter = parameter - step_size * m / (v.sqrt() + eps)
    parameter = parameter - learning_rate * weight_decay * parameter
    return parameter, (m, v, t)


@FORMS(
    "adam_step",
    "torch.optim.Adam",
    expected="refused: weight_decay_in_the_gradient",
    before="refused: weight_decay_in_the_gradient (11 of 19)",
)
def decay_added_to_the_gradient(
    parameter,
    gradient,
    state,
    learning_rate=0.001,
    betas=(0.9, 0.999),
    eps=1e-8,
    weight_decay=0.0,
):
    gradient = gradient + weight_decay * parameter
    return algorithm_1_with_decoupled_decay(
        parameter, gradient, state, learning_rate, betas, eps
    )


@FORMS("numerical_gradient", "CS231n", before="full")
def one_number_and_back(f, x, step):
    x = x.double().clone()
    gradient = torch.zeros_like(x)
    for index in np.ndindex(*x.shape):
        old = x[index].item()
        x[index] = old + step
        above = f(x)
        x[index] = old - step
        below = f(x)
        x[index] = old
        gradient[index] = (above - below) / (2 * step)
    return gradient


@FORMS("train", "PyTorch tutorials", before="full")
def loop_with_an_early_copy(
    gradient_of, parameters, batches, step, loss_of, held_out, epochs
):
    state, best, best_loss = None, None, float("inf")
    train_losses, valid_losses = [], []
    for _ in range(epochs):
        running = 0.0
        for batch in batches:
            zeros = {k: torch.zeros_like(p) for k, p in parameters.items()}
            loss, gradients = gradient_of(parameters, batch, zeros)
            parameters, state = step(parameters, gradients, state)
            running += loss
        train_losses.append(running / len(batches))
        losses = [loss_of(parameters, batch, False) for batch in held_out]
        valid_losses.append(sum(losses) / len(losses))
        if valid_losses[-1] < best_loss:
            best_loss = valid_losses[-1]
            best = {k: p.clone() for k, p in parameters.items()}
    return best, train_losses, valid_losses


@FORMS("train_epoch", "PyTorch tutorials", before="full")
def train_loop(gradient_of, parameters, batches, step, state):
    losses = []
    for _, batch in enumerate(batches):
        zeros = {k: torch.zeros_like(p) for k, p in parameters.items()}
        loss, gradients = gradient_of(parameters, batch, zeros)
        parameters, state = step(parameters, gradients, state)
        losses.append(loss)
    return parameters, state, losses
