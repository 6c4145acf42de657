import math

import torch

from tests.answers import Answers

answers = Answers("train_epoch")


@answers.correct
def zeros_of_pytorch(gradient_of, parameters, batches, step, state):
    losses = []
    for batch in batches:
        gradients = {name: torch.zeros_like(p) for name, p in parameters.items()}
        loss, gradients = gradient_of(parameters, batch, gradients)
        parameters, state = step(parameters, gradients, state)
        losses.append(loss)
    return parameters, state, losses


@answers.correct
def own_tensors_changed_in_place(gradient_of, parameters, batches, step, state):
    """Copy first, and then work as PyTorch's optimizers do."""
    own = {name: p.detach().clone() for name, p in parameters.items()}
    losses = [math.nan] * len(batches)
    for i, batch in enumerate(batches):
        losses[i], gradients = gradient_of(own, batch, dict.fromkeys(own, 0.0))
        new, state = step(own, gradients, state)
        for name, p in own.items():
            p.copy_(new[name])
    return own, state, losses


@answers.correct
def one_batch_and_the_rest(gradient_of, parameters, batches, step, state):
    first, *rest = batches
    nothing = {name: p * 0 for name, p in parameters.items()}
    loss, gradients = gradient_of(parameters, first, nothing)
    parameters, state = step(parameters, gradients, state)
    if not rest:
        return parameters, state, [loss]
    *after, losses = one_batch_and_the_rest(gradient_of, parameters, rest, step, state)
    return *after, [loss, *losses]


@answers.also("gradients_never_zeroed")
def zeros_before_the_loop(gradient_of, parameters, batches, step, state):
    gradients, losses = dict.fromkeys(parameters, 0.0), []
    for batch in batches:
        loss, gradients = gradient_of(parameters, batch, gradients)
        losses.append(loss)
        parameters, state = step(parameters, gradients, state)
    return parameters, state, losses


@answers.other
def gradients_clipped(gradient_of, parameters, batches, step, state):
    def clipped(parameters, batch, gradients):
        loss, new = gradient_of(parameters, batch, gradients)
        return loss, {name: g.clamp(-0.1, 0.1) for name, g in new.items()}

    return zeros_of_pytorch(clipped, parameters, batches, step, state)


@answers.other
def losses_rounded(gradient_of, parameters, batches, step, state):
    *after, losses = zeros_of_pytorch(gradient_of, parameters, batches, step, state)
    return *after, [round(loss, 2) for loss in losses]


@answers.other
def every_other_batch(gradient_of, parameters, batches, step, state):
    *after, losses = zeros_of_pytorch(
        gradient_of, parameters, batches[::2], step, state
    )
    return *after, losses
