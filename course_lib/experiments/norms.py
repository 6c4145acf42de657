"""What learns, and at which rates: no norm, no sum, norm after, norm first (lesson 08).

The stacks of ``course_lib.lessons.deep_stack`` have to say a sequence backwards, so that each
place has to look at another one. What learns nothing has the loss ln 8.
"""

import math
from typing import Any

import torch
from torch.nn.functional import cross_entropy

from course_lib.lessons.deep_stack import LENGTH, VOCAB_SIZE, Stack
from course_lib.lessons.tiny_decoder import quietly

DEPTH, STEPS, BATCH = 6, 150, 32
RATES = (0.001, 0.003, 0.01, 0.03)
TRIED = ("norm alone", "sum alone", "post-norm", "pre-norm")
CHANCE = math.log(VOCAB_SIZE)
LAST = 10  # steps whose losses are averaged
LEARNED_BY_HEART = 0.1


def train(
    kind: str, rate: float, *, seed: int = 0, steps: int = STEPS, warm_up: int = 0
) -> list[float]:
    """Train six layers of a kind on sequences that are new at each step.

    rate : of Adam
    seed : of the parameters and the sequences
    warm_up : number of steps in which the rate rises to what is asked for

    Returns the loss (nats per token) of each step, before it. A training that leaves
    the numbers ends there, with infinities for the rest.
    """
    with quietly(seed):
        stack = Stack(kind, DEPTH)
        return _losses(stack, rate, steps, warm_up, None)


def steps_to_learn_by_heart(
    kind: str, *, dropout: float = 0.0, seed: int = 0, most: int = 100
) -> int:
    """Say after how many steps 32 sequences with drawn answers are known by heart.

    Nothing can be understood here: tokens and answers have nothing to do with each
    other. What regularises makes it harder.
    dropout : of what each part gives

    Returns ``most`` if the loss never falls to LEARNED_BY_HEART.
    """
    with quietly(seed):
        stack = Stack(kind, 2, dropout)
        tokens, answers = torch.randint(VOCAB_SIZE, (2, BATCH, LENGTH)).unbind()
        losses = _losses(stack, 0.003, most, 0, (tokens, answers))
    return next((i for i, loss in enumerate(losses) if loss < LEARNED_BY_HEART), most)


def at_the_end(losses: list[float]) -> float:
    """Give the mean loss of the last steps."""
    return sum(losses[-LAST:]) / LAST


def full(seed: int) -> dict[str, Any]:
    """Train each kind at each rate, and norm after with a warm-up too."""
    found: dict[str, Any] = {"rates": list(RATES)}
    for kind in TRIED:
        ends = [at_the_end(train(kind, rate, seed=seed)) for rate in RATES]
        found[kind] = [_kept(end) for end in ends]
    warmed = [at_the_end(train("post-norm", r, seed=seed, warm_up=75)) for r in RATES]
    return found | {"post-norm, warm-up": [_kept(end) for end in warmed]}


def _losses(
    stack: Stack,
    rate: float,
    steps: int,
    warm_up: int,
    fixed: tuple[torch.Tensor, torch.Tensor] | None,
) -> list[float]:
    optimizer = torch.optim.Adam(stack.parameters(), lr=rate)
    losses: list[float] = []
    for step in range(steps):
        if fixed is None:
            tokens = torch.randint(VOCAB_SIZE, (BATCH, LENGTH))
            answers = tokens.flip(-1)
        else:
            tokens, answers = fixed
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1.0, (step + 1) / (warm_up + 1))
        loss = cross_entropy(stack(tokens).mT, answers)
        if not loss.isfinite():
            return losses + [math.inf] * (steps - step)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def _kept(loss: float) -> float | str:
    """Round a loss; JSON has no infinity, and what is far off needs no digits."""
    return round(loss, 3) if loss < 100 else "above 100"
