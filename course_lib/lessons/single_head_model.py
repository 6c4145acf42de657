"""A model of one look: each token looks at all others once, then a token is guessed.

As small as a model can be that has to know where a token stands. What it is asked is
its callers' choice: ``course_lib.experiments.reversing`` and ``look_back``.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from course_lib.lessons.environment import one_thread

VOCAB_SIZE = 10
D_MODEL = 32
BATCH = 64
RATE = 0.005
NOTHING = -100  # PyTorch's mark for a place at which nothing is asked

Task = Callable[[Tensor], Tensor]  # tokens (count, n) to answers (count, n)


class Places(nn.Module):
    """Tells queries and keys where they stand; this one tells them nothing."""

    def add(self, x: Tensor, places: Tensor) -> Tensor:
        """Give the tokens x (count, n, d_model) together with their places (n,)."""
        return x

    def turn(self, x: Tensor, places: Tensor) -> Tensor:
        """Give queries or keys x (count, n, d_model), turned by their places (n,)."""
        return x


class AddedPlaces(Places):
    """Adds a row of a table, which is learned or stays as it is."""

    def __init__(self, table: np.ndarray, *, learned: bool = False) -> None:
        """Take the table (n_places, d_model), the first values if it is learned."""
        super().__init__()
        rows = torch.from_numpy(table).to(torch.float32)
        self.table = nn.Parameter(rows, requires_grad=learned)

    def add(self, x: Tensor, places: Tensor) -> Tensor:
        """Add to each token the row of its place."""
        return x + self.table[places]


class TurnedPlaces(Places):
    """Turns queries and keys, as ``course_lib.positions.rotary`` does."""

    def turn(self, x: Tensor, places: Tensor) -> Tensor:
        """Turn each pair of neighbours by the angle of its place and its speed."""
        speeds = 10000.0 ** (-torch.arange(0, D_MODEL, 2) / D_MODEL)
        angles = places[:, None] * speeds  # (n, d_model / 2)
        sine, cosine = angles.sin(), angles.cos()
        first, second = x[..., 0::2], x[..., 1::2]
        turned = [first * cosine - second * sine, first * sine + second * cosine]
        return torch.stack(turned, dim=-1).flatten(-2)


class OneLook(nn.Module):
    """One head between an embedding and a guess of one token per place."""

    def __init__(self, places: Places) -> None:
        """Draw the first parameters from PyTorch's global generator."""
        super().__init__()
        self.places = places
        self.embedding = nn.Embedding(VOCAB_SIZE, D_MODEL)
        self.project = nn.ModuleList([nn.Linear(D_MODEL, D_MODEL) for _ in range(3)])
        self.guess = nn.Linear(D_MODEL, VOCAB_SIZE)

    def forward(self, tokens: Tensor, start: int = 0) -> tuple[Tensor, Tensor]:
        """Give the scores of each guess (count, n, 10) and the weights (count, n, n).

        tokens : (count, n), the first of them at place ``start``
        """
        places = torch.arange(tokens.shape[1]) + start
        x = self.places.add(self.embedding(tokens), places)
        q, k, v = (project(x) for project in self.project)
        q, k = self.places.turn(q, places), self.places.turn(k, places)
        weights = torch.softmax(q @ k.transpose(1, 2) / D_MODEL**0.5, dim=-1)
        return self.guess(weights @ v), weights


@dataclass(frozen=True)
class Trained:
    """A trained model and how to ask it.

    model : what was trained
    task : what it was trained for
    """

    model: OneLook
    task: Task

    @torch.no_grad()
    def accuracy(self, n: int, start: int = 0, seed: int = 1) -> float:
        """Give the share of right guesses, for 1,000 new sequences of n tokens.

        start : the place of the first token
        """
        tokens = draw(np.random.default_rng((seed, n, start)), 1000, n)
        answers = self.task(tokens)
        asked = answers != NOTHING
        right = self.model(tokens, start)[0].argmax(-1) == answers
        return float(right[asked].float().mean())

    @torch.no_grad()
    def weights(self, n: int, start: int = 0, seed: int = 1) -> np.ndarray:
        """Give the weights (n, n), the mean over 1,000 new sequences."""
        tokens = draw(np.random.default_rng((seed, n, start)), 1000, n)
        return self.model(tokens, start)[1].mean(0).double().numpy()


def draw(rng: np.random.Generator, count: int, n: int) -> Tensor:
    """Draw sequences (count, n) of tokens 0 … 9, all equally likely."""
    return torch.from_numpy(rng.integers(VOCAB_SIZE, size=(count, n)))


def train(places: Places, task: Task, n: int, *, seed: int, steps: int) -> Trained:
    """Train a model on sequences of n tokens that stand at the places 0 … n − 1.

    seed : of the first parameters and the sequences
    """
    rng = np.random.default_rng(seed)
    with one_thread(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = OneLook(places)
        learned = [p for p in model.parameters() if p.requires_grad]
        optimiser = torch.optim.Adam(learned, lr=RATE)
        for _ in range(steps):
            tokens = draw(rng, BATCH, n)
            guesses = model(tokens)[0].flatten(0, 1)
            answers = task(tokens).flatten()
            loss = nn.functional.cross_entropy(guesses, answers, ignore_index=NOTHING)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return Trained(model, task)
