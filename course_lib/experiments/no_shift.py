"""Forget to shift the targets: a perfect loss, and nothing learned (lesson 04).

The language is counting days of the week in steps: Monday, Wednesday, Friday, Sunday…
Two days say how it goes on.
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

DAYS = ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")
N = 7  # days that the model reads; a sentence has one more
PROMPT = 2  # days from which the rest follows
# With the targets shifted, the second day follows from nothing: ln 7, once in N days.
ENTROPY = math.log(len(DAYS)) / N
LOG_INTERVAL = 10  # steps between two recorded losses


def sentences() -> np.ndarray:
    """Return all 49 sentences (49, N + 1): any first day, any step from 0 to 6.

    >>> " ".join(DAYS[day] for day in sentences()[2])
    'Mo We Fr Su Tu Th Sa Mo'
    """
    first, step = np.divmod(np.arange(len(DAYS) ** 2), len(DAYS))
    days = first[:, np.newaxis] + step[:, np.newaxis] * np.arange(N + 1)
    return days % len(DAYS)


@dataclass(frozen=True)
class WeekdayModel:
    """A trained model and how its training went.

    model : takes days (batch, n)
    steps, losses : at these steps, the loss over all sentences (nats per day)
    loss : the loss after the last step
    """

    model: TinyDecoder
    steps: list[int]
    losses: list[float]
    loss: float

    def generate(self, prompts: np.ndarray) -> np.ndarray:
        """Continue prompts (batch, …) until a sentence (batch, N + 1) is full.

        Each new day is the most likely one, and is then read like the others.
        """
        days = torch.tensor(prompts)
        with torch.no_grad():
            while days.shape[1] < N + 1:
                logits = self.model(days, mask_for_torch(causal_mask(days.shape[1])))
                days = torch.cat([days, logits[:, -1:].argmax(dim=-1)], dim=1)
        return days.numpy()

    def accuracy(self) -> float:
        """Compute the share of generated days that are right, over all sentences."""
        days = sentences()
        right = self.generate(days[:, :PROMPT]) == days
        return float(right[:, PROMPT:].mean())

    def logits(self, x: np.ndarray) -> np.ndarray:
        """Turn the vectors of one sentence (N, d_model) into logits of days (N, 7)."""
        vectors = torch.tensor(x, dtype=torch.float32)
        with torch.no_grad():
            mask = mask_for_torch(causal_mask(len(vectors)))
            return self.model.logits(vectors[None], mask)[0].numpy()

    def embed(self, days: np.ndarray) -> np.ndarray:
        """Turn the days of one sentence (n,) into vectors (n, d_model)."""
        with torch.no_grad():
            return self.model.embed(torch.tensor(days)[None])[0].numpy()


def train(*, shift: bool, steps: int = 200, seed: int = 0) -> WeekdayModel:
    """Train a tiny decoder with a causal mask on all sentences.

    shift : whether the target of a position is the next day, as it must be; else it is
        the day at that position
    steps : number of passes over all sentences
    seed : of the parameters
    """
    days = torch.tensor(sentences())
    inputs, targets = days[:, :-1], days[:, 1:] if shift else days[:, :-1]
    mask = mask_for_torch(causal_mask(N))
    with seeded(seed):
        model = TinyDecoder(len(DAYS), N)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, steps)
        losses = {}
        for step in range(steps + 1):
            loss = cross_entropy(model(inputs, mask).mT, targets)
            if step % LOG_INTERVAL == 0:
                losses[step] = loss.item()
            if step < steps:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                schedule.step()
    return WeekdayModel(model, [*losses], [*losses.values()], loss.item())


def full(seed: int) -> dict[str, Any]:
    """Train with and without the shift for 600 steps; return losses and accuracies."""
    results: dict[str, Any] = {}
    for name, shift in {"shifted": True, "unshifted": False}.items():
        trained = train(shift=shift, steps=600, seed=seed)
        results[f"{name}_loss"] = round(trained.loss, 4)
        results[f"{name}_right"] = round(trained.accuracy(), 4)
        results[f"{name}_losses"] = [round(loss, 3) for loss in trained.losses[::5]]
    return results
