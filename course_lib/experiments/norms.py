"""Which stacks learn, at which learning rates: residuals and norms (lesson 09).

The stacks of ``course_lib.lessons.deep_stack`` have to reverse a sequence, so that each
position has to attend to another one. A stack that learns nothing has the loss ln 8.
"""

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from course_lib.lessons.deep_stack import LENGTH, VOCAB_SIZE, Stack, StackLayer
from course_lib.lessons.environment import seeded

DEPTH, STEPS, BATCH_SIZE = 6, 150, 32
LEARNING_RATES = (0.001, 0.003, 0.01, 0.03)
KINDS_TRIED = ("norm only", "residual only", "post-norm", "pre-norm")
CHANCE = math.log(VOCAB_SIZE)
N_FINAL_STEPS = 10  # whose losses are averaged
MEMORISED_LOSS = 0.1


def train(
    kind: str,
    learning_rate: float,
    *,
    seed: int = 0,
    steps: int = STEPS,
    warmup_steps: int = 0,
) -> list[float]:
    """Train six layers of a kind on sequences that are new at each step.

    learning_rate : of Adam
    seed : of the parameters and the sequences
    warmup_steps : number of steps in which the learning rate rises to its full value

    Returns the loss (nats per token) of each step, before it. A training whose loss is
    not finite ends there, with infinities for the rest.
    """
    with seeded(seed):
        stack = Stack(kind, DEPTH)
        return _losses(stack, learning_rate, steps, warmup_steps, None)


def steps_to_memorise(
    kind: str, *, dropout: float = 0.0, seed: int = 0, max_steps: int = 100
) -> int:
    """Count the steps until 32 sequences with random targets are memorised.

    Tokens and targets are independent, so nothing but memory helps.

    dropout : of each sublayer's output

    Returns ``max_steps`` if the loss never falls to MEMORISED_LOSS.
    """
    with seeded(seed):
        stack = Stack(kind, 2, dropout)
        batch = torch.randint(VOCAB_SIZE, (2, BATCH_SIZE, LENGTH)).unbind()
        losses = _losses(stack, 0.003, max_steps, 0, batch)
    memorised = (i for i, loss in enumerate(losses) if loss < MEMORISED_LOSS)
    return next(memorised, max_steps)


def input_shift(
    kind: str, learning_rate: float, *, seed: int = 0, steps: int = 100
) -> tuple[float, float]:
    """Measure how far training moves what the last feed-forward network reads.

    Of each number that it reads, the mean over the tokens of 64 sequences is taken
    before and after the training of six layers.

    learning_rate, seed : as in ``train``

    Returns how far the means have moved, on average and in standard deviations before
    the training; and the final loss.
    """
    with seeded(seed):
        stack = Stack(kind, DEPTH)
        token_ids = torch.randint(VOCAB_SIZE, (64, LENGTH))
        before = _last_input(stack, token_ids)
        losses = _losses(stack, learning_rate, steps, 0, None)
        after = _last_input(stack, token_ids)
    shift = (after.mean(dim=0) - before.mean(dim=0)).abs() / before.std(dim=0)
    return shift.mean().item(), final_loss(losses)


def final_loss(losses: list[float]) -> float:
    """Compute the mean loss of the last steps."""
    return sum(losses[-N_FINAL_STEPS:]) / N_FINAL_STEPS


def full(seed: int) -> dict[str, Any]:
    """Train each kind at each learning rate, and post-norm with a warm-up too."""
    settings = {kind: (kind, 0) for kind in KINDS_TRIED}
    settings["post-norm, warm-up"] = ("post-norm", 75)
    results: dict[str, Any] = {"learning rates": list(LEARNING_RATES)}
    for name, (kind, warmup_steps) in settings.items():
        trainings = (
            train(kind, each, seed=seed, warmup_steps=warmup_steps)
            for each in LEARNING_RATES
        )
        results[name] = [_rounded(final_loss(losses)) for losses in trainings]
    return results


def median_losses(losses: Sequence[Sequence[float | str]]) -> list[float]:
    """Return the median over seeds for each learning rate, 100 for "above 100".

    losses : for each seed one for each learning rate, as they are recorded

    >>> median_losses([[0.5, "above 100"], [0.25, "above 100"], [0.75, 2.0]])
    [0.5, 100.0]
    """
    numbers = [
        [100.0 if each == "above 100" else each for each in run] for run in losses
    ]
    return np.median(np.array(numbers, dtype=float), axis=0).tolist()


def _last_input(stack: Stack, token_ids: torch.Tensor) -> torch.Tensor:
    """Return what the last feed-forward network reads: one row for each token."""
    inputs: list[torch.Tensor] = []
    network = cast(StackLayer, stack.layers[-1]).linear_1
    hook = network.register_forward_pre_hook(lambda _, args: inputs.append(args[0]))
    with torch.no_grad():
        stack(token_ids)
    hook.remove()
    return inputs[0].flatten(0, -2)


def _losses(
    stack: Stack,
    learning_rate: float,
    steps: int,
    warmup_steps: int,
    fixed_batch: Sequence[torch.Tensor] | None,
) -> list[float]:
    optimizer = torch.optim.Adam(stack.parameters(), lr=learning_rate)
    losses: list[float] = []
    for step in range(steps):
        if fixed_batch is None:
            token_ids = torch.randint(VOCAB_SIZE, (BATCH_SIZE, LENGTH))
            targets = token_ids.flip(-1)
        else:
            token_ids, targets = fixed_batch
        for group in optimizer.param_groups:
            group["lr"] = learning_rate * min(1.0, (step + 1) / (warmup_steps + 1))
        loss = cross_entropy(stack(token_ids).mT, targets)
        if not loss.isfinite():
            return losses + [math.inf] * (steps - step)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def _rounded(loss: float) -> float | str:
    """Round a loss; JSON has no infinity, and what is far off needs no digits."""
    return round(loss, 3) if loss < 100 else "above 100"
