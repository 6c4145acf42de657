import functools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("adam_step")


@answers.correct
def in_the_order_of_pytorch(
    parameter,
    gradient,
    state,
    learning_rate=1e-3,
    betas=(0.9, 0.999),
    eps=1e-8,
    weight_decay=0.0,
):
    m, v, step = state[0].clone(), state[1].clone(), state[2] + 1
    parameter = parameter * (1 - learning_rate * weight_decay)
    m.lerp_(gradient, 1 - betas[0])
    v.mul_(betas[1]).addcmul_(gradient, gradient, value=1 - betas[1])
    size = learning_rate / (1 - betas[0] ** step)
    below = (v.sqrt() / (1 - betas[1] ** step) ** 0.5).add_(eps)
    return parameter.addcdiv(m, below, value=-size), (m, v, step)


@answers.correct
def optimizer_of_pytorch(
    parameter,
    gradient,
    state,
    learning_rate=1e-3,
    betas=(0.9, 0.999),
    eps=1e-8,
    weight_decay=0.0,
):
    leaf = torch.nn.Parameter(parameter.clone())
    leaf.grad = gradient.clone()
    optimizer = torch.optim.AdamW(
        [leaf], lr=learning_rate, betas=betas, eps=eps, weight_decay=weight_decay
    )
    optimizer.state[leaf] = {
        "step": torch.tensor(float(state[2])),
        "exp_avg": state[0].clone(),
        "exp_avg_sq": state[1].clone(),
    }
    optimizer.step()
    own = optimizer.state[leaf]
    new_state = own["exp_avg"], own["exp_avg_sq"], int(own["step"])
    return leaf.detach(), new_state


@answers.correct
def corrections_in_the_learning_rate(
    parameter,
    gradient,
    state,
    learning_rate=1e-3,
    betas=(0.9, 0.999),
    eps=1e-8,
    weight_decay=0.0,
):
    (m, v, step), (beta_1, beta_2) = state, betas
    m = m + (1 - beta_1) * (gradient - m)
    v = v + (1 - beta_2) * (gradient.square() - v)
    root = (1 - beta_2 ** (step + 1)) ** 0.5
    size = learning_rate * root / (1 - beta_1 ** (step + 1))
    new = parameter - size * m / (v.sqrt() + eps * root)
    return new - learning_rate * weight_decay * parameter, (m, v, step + 1)


@answers.correct
def numpy_inside(
    parameter,
    gradient,
    state,
    learning_rate=1e-3,
    betas=(0.9, 0.999),
    eps=1e-8,
    weight_decay=0.0,
):
    p, g, m, v = (each.numpy() for each in (parameter, gradient, *state[:2]))
    step = np.int64(state[2]) + 1
    m, v = (
        beta * old + (1 - beta) * new
        for beta, old, new in zip(betas, (m, v), (g, np.square(g)), strict=True)
    )
    m_hat, v_hat = m / (1 - betas[0] ** step), v / (1 - np.power(betas[1], step))
    new = p - learning_rate * (m_hat / (np.sqrt(v_hat) + eps) + weight_decay * p)
    kind = parameter.dtype
    return torch.tensor(new, dtype=kind), (
        torch.tensor(m, dtype=kind),
        torch.tensor(v, dtype=kind),
        step,
    )


@answers.correct
def number_by_number(
    parameter,
    gradient,
    state,
    learning_rate=1e-3,
    betas=(0.9, 0.999),
    eps=1e-8,
    weight_decay=0.0,
):
    step = state[2] + 1
    new, m, v = torch.empty_like(parameter), state[0] * betas[0], state[1] * betas[1]
    for index in np.ndindex(*parameter.shape):
        m[index] += (1 - betas[0]) * gradient[index]
        v[index] += (1 - betas[1]) * gradient[index] ** 2
        v_hat = (v[index] / (1 - betas[1] ** step)).item()
        change = m[index] / (1 - betas[0] ** step) / (v_hat**0.5 + eps)
        new[index] = parameter[index] - learning_rate * (
            change + weight_decay * parameter[index]
        )
    return new, (m, v, step)


@answers.correct
def float64_inside(parameter, gradient, state, *settings):
    wide = (parameter.double(), gradient.double())
    averages = state[0].double(), state[1].double(), state[2]
    return in_the_order_of_pytorch(*wide, averages, *settings)


class Called:
    def __call__(self, *arguments):
        return in_the_order_of_pytorch(*arguments)


answers.right["callable_object"] = Called()
answers.right["partial"] = functools.partial(
    lambda step, *arguments: step(*arguments), corrections_in_the_learning_rate
)


def adam(
    parameter,
    gradient,
    state,
    learning_rate=1e-3,
    betas=(0.9, 0.999),
    eps=1e-8,
    weight_decay=0.0,
):
    return in_the_order_of_pytorch(
        parameter, gradient, state, learning_rate, betas, eps, weight_decay
    )


@answers.also("weight_decay_in_the_gradient")
def adam_of_pytorch_with_decay(
    parameter,
    gradient,
    state,
    learning_rate=1e-3,
    betas=(0.9, 0.999),
    eps=1e-8,
    weight_decay=0.0,
):
    decayed = gradient.add(parameter, alpha=weight_decay)
    return adam(parameter, decayed, state, learning_rate, betas, eps)


@answers.also("up_the_gradient")
def negative_learning_rate(
    parameter,
    gradient,
    state,
    learning_rate=1e-3,
    betas=(0.9, 0.999),
    eps=1e-8,
    weight_decay=0.0,
):
    return adam(parameter, gradient, state, -learning_rate, betas, eps, weight_decay)


@answers.also("betas_exchanged")
def betas_unpacked_in_reverse(
    parameter,
    gradient,
    state,
    learning_rate=1e-3,
    betas=(0.9, 0.999),
    eps=1e-8,
    weight_decay=0.0,
):
    beta_2, beta_1 = betas
    settings = learning_rate, (beta_1, beta_2), eps, weight_decay
    return adam(parameter, gradient, state, *settings)


@answers.also("averages_overwritten")
def averages_in_place(
    parameter,
    gradient,
    state,
    learning_rate=1e-3,
    betas=(0.9, 0.999),
    eps=1e-8,
    weight_decay=0.0,
):
    settings = learning_rate, betas, eps, weight_decay
    new, (m, v, step) = adam(parameter, gradient, state, *settings)
    state[0].mul_(0).add_(m)
    state[1].mul_(0).add_(v)
    return new, (state[0], state[1], step)


@answers.also("eps_added_to_the_root_of_v")
def efficient_order_of_the_paper(
    parameter,
    gradient,
    state,
    learning_rate=1e-3,
    betas=(0.9, 0.999),
    eps=1e-8,
    weight_decay=0.0,
):
    (m, v, step), (beta_1, beta_2) = state, betas
    step += 1
    m = torch.lerp(gradient, m, beta_1)
    v = torch.lerp(gradient**2, v, beta_2)
    size = learning_rate * (1 - beta_2**step) ** 0.5 / (1 - beta_1**step)
    decayed = parameter * (1 - learning_rate * weight_decay)
    return decayed - size * m / (torch.sqrt(v) + eps), (m, v, step)


@answers.also("one_step_behind")
def step_added_after_the_correction(
    parameter,
    gradient,
    state,
    learning_rate=1e-3,
    betas=(0.9, 0.999),
    eps=1e-8,
    weight_decay=0.0,
):
    (m, v, step), (beta_1, beta_2) = state, betas
    m, v = torch.lerp(gradient, m, beta_1), torch.lerp(gradient**2, v, beta_2)
    power = step or 1
    root = (v / (1 - beta_2**power)).sqrt() + eps
    decayed = parameter * (1 - learning_rate * weight_decay)
    return decayed - learning_rate * m / (1 - beta_1**power) / root, (m, v, step + 1)


@answers.also("both_corrected_with_beta_1")
def one_correction_for_both(
    parameter,
    gradient,
    state,
    learning_rate=1e-3,
    betas=(0.9, 0.999),
    eps=1e-8,
    weight_decay=0.0,
):
    (m, v, step), (beta_1, beta_2) = state, betas
    m, v = torch.lerp(gradient, m, beta_1), torch.lerp(gradient**2, v, beta_2)
    correction = 1 - beta_1 ** (step + 1)
    change = m / correction / ((v / correction).sqrt() + eps)
    decayed = parameter * (1 - learning_rate * weight_decay)
    return decayed - learning_rate * change, (m, v, step + 1)


@answers.also("steps_counted_from_zero")
def step_added_last(
    parameter,
    gradient,
    state,
    learning_rate=1e-3,
    betas=(0.9, 0.999),
    eps=1e-8,
    weight_decay=0.0,
):
    m, v, step = state
    m = betas[0] * m + gradient * (1 - betas[0])
    v = betas[1] * v + gradient * gradient * (1 - betas[1])
    m_hat, v_hat = m / (1 - betas[0] ** step), v / (1 - betas[1] ** step)
    change = m_hat / (v_hat**0.5 + eps) + weight_decay * parameter
    return parameter - learning_rate * change, (m, v, step + 1)


@answers.other
def largest_v_so_far(
    parameter,
    gradient,
    state,
    learning_rate=1e-3,
    betas=(0.9, 0.999),
    eps=1e-8,
    weight_decay=0.0,
):
    settings = learning_rate, betas, eps, weight_decay
    _, (m, v, step) = adam(parameter, gradient, state, *settings)
    largest = torch.maximum(v, state[1])
    m_hat = m / (1 - betas[0] ** step)
    change = m_hat / ((largest / (1 - betas[1] ** step)).sqrt() + eps)
    change = change + weight_decay * parameter
    return parameter - learning_rate * change, (m, largest, step)


@answers.other
def nesterov_momentum(
    parameter,
    gradient,
    state,
    learning_rate=1e-3,
    betas=(0.9, 0.999),
    eps=1e-8,
    weight_decay=0.0,
):
    m, v, step = state
    step = step + 1
    m = betas[0] * m + (1 - betas[0]) * gradient
    v = betas[1] * v + (1 - betas[1]) * gradient**2
    ahead = betas[0] * m + (1 - betas[0]) * gradient
    change = ahead / (1 - betas[0] ** step)
    change = change / ((v / (1 - betas[1] ** step)).sqrt() + eps)
    return parameter - learning_rate * (change + weight_decay * parameter), (m, v, step)


@answers.other
def cube_root(
    parameter,
    gradient,
    state,
    learning_rate=1e-3,
    betas=(0.9, 0.999),
    eps=1e-8,
    weight_decay=0.0,
):
    settings = learning_rate, betas, eps, weight_decay
    _, (m, v, step) = adam(parameter, gradient, state, *settings)
    below = (v / (1 - betas[1] ** step)) ** (1 / 3) + eps
    change = m / (1 - betas[0] ** step) / below + weight_decay * parameter
    return parameter - learning_rate * change, (m, v, step)


@answers.other
def gradient_clipped_first(parameter, gradient, state, *settings):
    return adam(parameter, gradient.clamp(-0.5, 0.5), state, *settings)
