"""The model of lesson 07 that spells backwards, at several learning rates (10)."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from course_lib.lessons.environment import one_thread, seeded

LEARNING_RATES = (0.0001, 0.001, 0.01, 0.03, 0.1, 0.3)
LENGTH, N_LETTERS, D_MODEL, BATCH_SIZE = 9, 26, 32, 16
WORD = "attention"
LEAST_DRAWN = 0.01  # what lies below are the words by chance
EVERY = 10  # steps whose mean loss is a point


class Reverser(nn.Module):
    """Self-attention between an embedding and a linear layer, as in lesson 07."""

    def __init__(self) -> None:
        """Make the parameters, drawn from PyTorch's generator."""
        super().__init__()
        self.embedding = nn.Embedding(N_LETTERS, D_MODEL)
        self.positions = nn.Parameter(torch.randn(LENGTH, D_MODEL))
        self.qkv = nn.Linear(D_MODEL, 3 * D_MODEL, bias=False)
        self.logits = nn.Linear(D_MODEL, N_LETTERS)

    def forward(self, letters: Tensor) -> Tensor:
        """Turn letters (batch, LENGTH) into logits (batch, LENGTH, N_LETTERS)."""
        q, k, v = self.qkv(self.embedding(letters) + self.positions).chunk(3, dim=-1)
        weights = (q @ k.mT / D_MODEL**0.5).softmax(dim=-1)
        return self.logits(weights @ v)


def train_at(learning_rate: float, steps: int) -> tuple[list[float], str]:
    """Train by Adam; return the loss of each step, and what it writes in the end."""
    losses = []
    with seeded(0), one_thread():
        model = Reverser()
        optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
        for _ in range(steps):
            letters = torch.randint(N_LETTERS, (BATCH_SIZE, LENGTH))
            loss = cross_entropy(model(letters).mT, letters.flip(-1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        word = torch.tensor([[ord(letter) - ord("a") for letter in WORD]])
        with torch.no_grad():
            ids = model(word).argmax(dim=-1)[0].tolist()
    return losses, "".join(chr(ord("a") + i) for i in ids)


def loss_curves(steps: int) -> dict[str, Any]:
    """Train at each of the learning rates, with the same start and the same words.

    Returns what ``figures.curves_to_choose`` draws: steps, choices, curves and texts.
    """
    curves, texts = [], []
    for learning_rate in LEARNING_RATES:
        losses, written = train_at(learning_rate, steps)
        means = torch.tensor(losses[1:]).reshape(-1, EVERY).mean(dim=1).tolist()
        curves.append([losses[0], *means])
        texts.append(
            f"Learning rate {learning_rate:g}: first loss {losses[0]:.1f}, at the end "
            f"{means[-1]:.2f}. For “{WORD}” it now writes “{written}”."
        )
    return {
        "x": [0, *range(EVERY // 2, steps - 1, EVERY)],
        "choices": {
            "learning rate": [f"{learning_rate:g}" for learning_rate in LEARNING_RATES]
        },
        "curves": {"loss": torch.tensor(curves).clamp(min=LEAST_DRAWN).numpy()},
        "texts": texts,
        "logarithmic": ["loss"],
        "xlabel": "steps",
        "start": [0],
    }
