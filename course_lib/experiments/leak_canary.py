"""Train on throws of a fair die: who predicts them has seen them (lesson 04).

Every throw is independent of the others, so that no model can have a loss below the
logarithm of the number of faces, unless it looks at the throw that it must predict.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from course_lib.lessons.tiny_decoder import TinyDecoder, mask_for_torch, quietly
from course_lib.masks import causal_mask

FACES = 10
N = 16  # places in a sequence; the throw after the last of them is predicted, too
BEST_HONEST_LOSS = math.log(FACES)  # 2.303 nats per throw
EVERY = 5  # steps between two losses that are kept
BATCH = 32


@dataclass(frozen=True)
class Canary:
    """What came of one training.

    steps, losses : at these steps, the loss on the batch (nats per throw)
    loss : after the training, on throws never seen (nats per throw)
    loss_by_place : (n,), the same for each place of the sequence
    weights : (n, n), the mean attention weights on throws never seen
    """

    steps: list[int]
    losses: list[float]
    loss: float
    loss_by_place: np.ndarray
    weights: np.ndarray


def train(
    may_attend: np.ndarray, *, shift: bool = True, steps: int = 100, seed: int = 0
) -> Canary:
    """Train a tiny decoder to predict the next throw, and measure its loss.

    may_attend : (n, n), booleans, at least one True in each row
    shift : whether the target of a place is the next throw, as it must be; else it is
        the throw that stands there
    steps : number of batches; each is drawn anew, so that none can be learned by heart
    seed : of the parameters and the throws
    """
    mask = mask_for_torch(may_attend)
    with quietly(seed):
        model = TinyDecoder(FACES, len(mask))
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        kept = {}
        for step in range(steps):
            loss = _losses(model, mask, shift, BATCH).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % EVERY == 0:
                kept[step] = loss.item()
        with torch.no_grad():
            by_place = _losses(model, mask, shift, 1000).mean(dim=0)  # (n,)
            x = model.embed(torch.randint(FACES, (1000, len(mask))))
            weights = model.attention_weights(x, mask).mean(dim=0)  # (n, n)
    return Canary(
        [*kept],
        [*kept.values()],
        by_place.mean().item(),
        by_place.numpy(),
        weights.numpy(),
    )


def masks() -> dict[str, np.ndarray]:
    """Give the masks of the full version by name: a right one, a slip, and none."""
    return {
        "causal": causal_mask(N),
        "off_by_one": causal_mask(N, N, offset=1),
        "none": np.ones((N, N), dtype=bool),
    }


def full(seed: int) -> dict[str, Any]:
    """Train with each mask for 500 steps; give losses after that, and on the way."""
    found: dict[str, Any] = {}
    for name, mask in masks().items():
        canary = train(mask, steps=500, seed=seed)
        found[name] = round(canary.loss, 4)
        found[f"{name}_last_place"] = round(float(canary.loss_by_place[-1]), 4)
        found[f"{name}_losses"] = [round(loss, 3) for loss in canary.losses[::5]]
    return found


def _losses(
    model: TinyDecoder, mask: torch.Tensor, shift: bool, batch: int
) -> torch.Tensor:
    """Throw the die; give the loss (batch, n) of predicting each place's target."""
    throws = torch.randint(FACES, (batch, len(mask) + 1))
    logits = model(throws[:, :-1], mask)  # (batch, n, FACES)
    targets = throws[:, 1:] if shift else throws[:, :-1]
    return cross_entropy(logits.mT, targets, reduction="none")
