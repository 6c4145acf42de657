"""Train on throws of a fair die: a model that predicts them has a leak (lesson 04).

Every throw is independent of the others, so that no model can have a loss below the
logarithm of the number of faces, unless it uses the throw that it must predict.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from course_lib.lessons.environment import seeded
from course_lib.lessons.tiny_decoder import TinyDecoder, mask_for_torch
from course_lib.masks import causal_mask

FACES = 10
N_POSITIONS = 16  # of a sequence; the throw after the last of them is predicted, too
ENTROPY = math.log(FACES)  # 2.303 nats per throw: no model without a leak is below
LOG_INTERVAL = 5  # steps between two recorded losses
BATCH_SIZE = 32


@dataclass(frozen=True)
class CanaryRun:
    """The result of one training.

    steps, losses : at these steps, the loss on the batch (nats per throw)
    loss : after the training, on new throws (nats per throw)
    loss_by_position : (n,), the same for each position of the sequence
    weights : (n, n), the mean attention weights on new throws
    """

    steps: list[int]
    losses: list[float]
    loss: float
    loss_by_position: np.ndarray
    weights: np.ndarray


def train(
    may_attend: np.ndarray, *, shift: bool = True, steps: int = 100, seed: int = 0
) -> CanaryRun:
    """Train a tiny decoder to predict the next throw, and measure its loss.

    may_attend : (n, n), booleans, at least one True in each row
    shift : whether the target of a position is the next throw, as it must be; else it
        is the throw at that position
    steps : number of batches; each is drawn anew, so that none can be memorised
    seed : of the parameters and the throws
    """
    mask = mask_for_torch(may_attend)
    with seeded(seed):
        model = TinyDecoder(FACES, len(mask))
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        losses = {}
        for step in range(steps):
            loss = _losses(model, mask, shift, BATCH_SIZE).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % LOG_INTERVAL == 0:
                losses[step] = loss.item()
        with torch.no_grad():
            by_position = _losses(model, mask, shift, 1000).mean(dim=0)  # (n,)
            x = model.embed(torch.randint(FACES, (1000, len(mask))))
            weights = model.attention_weights(x, mask).mean(dim=0)  # (n, n)
    return CanaryRun(
        [*losses],
        [*losses.values()],
        by_position.mean().item(),
        by_position.numpy(),
        weights.numpy(),
    )


def masks() -> dict[str, np.ndarray]:
    """Return the masks of the full version: a right one, one with a slip, and none."""
    return {
        "causal": causal_mask(N_POSITIONS),
        "off_by_one": causal_mask(N_POSITIONS, N_POSITIONS, offset=1),
        "none": np.ones((N_POSITIONS, N_POSITIONS), dtype=bool),
    }


def full(seed: int) -> dict[str, Any]:
    """Train with each mask for 500 steps; return losses after them and on the way."""
    results: dict[str, Any] = {}
    for name, mask in masks().items():
        run = train(mask, steps=500, seed=seed)
        last = float(run.loss_by_position[-1])
        results[name] = round(run.loss, 4)
        results[f"{name}_last_position"] = round(last, 4)
        results[f"{name}_losses"] = [round(loss, 3) for loss in run.losses[::5]]
    return results


def _losses(
    model: TinyDecoder, mask: torch.Tensor, shift: bool, batch: int
) -> torch.Tensor:
    """Throw the die; compute the loss (batch, n) of predicting each target."""
    throws = torch.randint(FACES, (batch, len(mask) + 1))
    logits = model(throws[:, :-1], mask)  # (batch, n, FACES)
    targets = throws[:, 1:] if shift else throws[:, :-1]
    return cross_entropy(logits.mT, targets, reduction="none")
