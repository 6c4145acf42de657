import functools
import math

import torch

from tests.answers import Answers

answers = Answers("train")


@answers.correct
def best_kept_as_it_comes(
    gradient_of, parameters, batches, step, loss_of, held_out, epochs
):
    lowest, best, state, losses, held_out_losses = math.inf, None, None, [], []
    for _ in range(epochs):
        total = 0.0
        for batch in batches:
            gradients = {name: torch.zeros_like(p) for name, p in parameters.items()}
            loss, gradients = gradient_of(parameters, batch, gradients)
            total += loss
            parameters, state = step(parameters, gradients, state)
        losses.append(total / len(batches))
        with torch.no_grad():
            total = 0.0
            for batch in held_out:
                total += loss_of(parameters, batch, False)
        held_out_losses.append(total / len(held_out))
        if held_out_losses[-1] < lowest:
            lowest, best = held_out_losses[-1], dict(parameters)
    return best, losses, held_out_losses


@answers.correct
def own_tensors_changed_in_place(
    gradient_of, parameters, batches, step, loss_of, held_out, epochs
):
    """Copy first, and then work as PyTorch's optimizers do."""
    own = {name: p.detach().clone() for name, p in parameters.items()}
    best, state, losses, held_out_losses = own, None, [], []
    for _ in range(epochs):
        losses.append(0)
        for batch in batches:
            nothing = {name: torch.zeros(p.shape) for name, p in own.items()}
            loss, gradients = gradient_of(own, batch, nothing)
            new, state = step(own, gradients, state)
            for name, p in own.items():
                p.copy_(new[name])
            losses[-1] += loss / len(batches)
        values = [loss_of(own, batch, training=False) for batch in held_out]
        held_out_loss = sum(values) / len(values)
        if not held_out_losses or held_out_loss < min(held_out_losses):
            best = {name: p.clone() for name, p in own.items()}
        held_out_losses = [*held_out_losses, held_out_loss]
    return best, losses, held_out_losses


@answers.correct
def all_epochs_first_the_best_later(
    gradient_of, parameters, batches, step, loss_of, held_out, epochs
):
    history, state, now = [], None, parameters
    for number in range(epochs * len(batches)):
        nothing = {name: p * 0 for name, p in now.items()}
        loss, gradients = gradient_of(now, batches[number % len(batches)], nothing)
        now, state = step(now, gradients, state)
        history.append((loss, now))
    ends = [now for _, now in history][len(batches) - 1 :: len(batches)]
    losses = torch.tensor([loss for loss, _ in history], dtype=torch.float64)
    scores = [
        sum(loss_of(end, batch, False) for batch in held_out) / len(held_out)
        for end in ends
    ]
    best = ends[scores.index(min(scores))]
    return best, losses.reshape(epochs, -1).mean(dim=1).tolist(), scores


@answers.correct
def with_functions_of_its_own(
    gradient_of, parameters, batches, step, loss_of, held_out, epochs
):
    def epoch(parameters, state):
        losses = []
        for batch in batches:
            nothing = dict.fromkeys(parameters, 0.0)
            loss, gradients = gradient_of(parameters, batch, nothing)
            losses.append(loss)
            parameters, state = step(parameters, gradients, state)
        return parameters, state, math.fsum(losses) / len(losses)

    def held_out_loss(parameters):
        return math.fsum(loss_of(parameters, each, False) for each in held_out) / len(
            held_out
        )

    def rest(parameters, state, left):
        if not left:
            return []
        parameters, state, loss = epoch(parameters, state)
        row = held_out_loss(parameters), loss, parameters
        return [row, *rest(parameters, state, left - 1)]

    rows = rest(parameters, None, epochs)
    best = min(rows, key=lambda row: row[0])[2]
    return best, [row[1] for row in rows], [row[0] for row in rows]


class Loop:
    def __init__(self, loop):
        self.loop = loop

    def __call__(self, *arguments):
        return self.loop(*arguments)


answers.right["callable_object"] = Loop(best_kept_as_it_comes)
answers.right["partial"] = functools.partial(
    lambda loop, *arguments: loop(*arguments), with_functions_of_its_own
)


@answers.other
def mean_of_all_parameters(
    gradient_of, parameters, batches, step, loss_of, held_out, epochs
):
    """Average the parameters of all epochs, as stochastic weight averaging does."""
    state, ends, losses, scores = None, [], [], []
    for _ in range(epochs):
        total = 0.0
        for batch in batches:
            nothing = {name: torch.zeros_like(p) for name, p in parameters.items()}
            loss, gradients = gradient_of(parameters, batch, nothing)
            parameters, state = step(parameters, gradients, state)
            total += loss / len(batches)
        ends.append(parameters)
        losses.append(total)
        scores.append(sum(loss_of(parameters, b, False) for b in held_out))
    mean = {name: sum(end[name] for end in ends) / len(ends) for name in parameters}
    return mean, losses, [score / len(held_out) for score in scores]


@answers.other
def gradients_clipped(
    gradient_of, parameters, batches, step, loss_of, held_out, epochs
):
    def clipped(parameters, batch, gradients):
        loss, new = gradient_of(parameters, batch, gradients)
        return loss, {name: g.clamp(-0.1, 0.1) for name, g in new.items()}

    return best_kept_as_it_comes(
        clipped, parameters, batches, step, loss_of, held_out, epochs
    )


@answers.other
def losses_rounded(gradient_of, parameters, batches, step, loss_of, held_out, epochs):
    best, *lists = best_kept_as_it_comes(
        gradient_of, parameters, batches, step, loss_of, held_out, epochs
    )
    return best, *([round(loss, 2) for loss in each] for each in lists)
