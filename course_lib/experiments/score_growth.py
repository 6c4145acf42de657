"""Scores that grow while a model trains, and what keeps them small (lesson 15).

Two layers of causal attention, one head each, learn to repeat a sequence: 16 random
tokens, and the same again. Predicted are the tokens of the second half. At a high
learning rate the queries and keys grow until softmax has one weight of 1 and no
gradient. Scores are kept small by a soft cap, or by normalising queries and keys.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from course_lib.lessons.environment import one_thread, seeded

KINDS = ("plain", "soft cap", "QK-norm")
LEARNING_RATES = (0.003, 0.03, 0.06, 0.1)
VOCAB_SIZE, HALF, D_MODEL, N_HEADS, N_LAYERS = 16, 16, 32, 1, 2
STEPS, BATCH_SIZE, CAP = 300, 16, 20.0
OF_CURVES = 0.06  # the learning rate whose curves are in the record


class Layer(nn.Module):
    """One layer of causal attention and a feed-forward network, norms in front."""

    def __init__(self, kind: str) -> None:
        """Draw the parameters; with QK-norm there is a gain for each of q and k."""
        super().__init__()
        self.kind, self.largest = kind, 0.0
        self.norms = nn.ModuleList([nn.RMSNorm(D_MODEL) for _ in range(2)])
        self.projections = nn.Linear(D_MODEL, 3 * D_MODEL, bias=False)
        self.output = nn.Linear(D_MODEL, D_MODEL, bias=False)
        widths = (D_MODEL, 4 * D_MODEL, D_MODEL)
        self.feed_forward = nn.Sequential(
            nn.Linear(*widths[:2]), nn.ReLU(), nn.Linear(*widths[1:])
        )
        self.gains = nn.ModuleList([nn.RMSNorm(D_MODEL // N_HEADS) for _ in range(2)])

    def forward(self, x: Tensor) -> Tensor:
        """Return x (count, n, d_model) with what the layer adds to it."""
        count, n, _ = x.shape
        parts = self.projections(self.norms[0](x)).view(count, n, 3, N_HEADS, -1)
        q, k, v = parts.permute(2, 0, 3, 1, 4)  # (count, n_heads, n, d_k)
        if self.kind == "QK-norm":
            q, k = self.gains[0](q), self.gains[1](k)
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if self.kind == "soft cap":
            scores = CAP * torch.tanh(scores / CAP)
        self.largest = float(scores.detach().abs().max())
        later = torch.ones(n, n, dtype=torch.bool).triu(1)
        weights = scores.masked_fill(later, -torch.inf).softmax(dim=-1)
        x = x + self.output((weights @ v).transpose(1, 2).flatten(2))
        return x + self.feed_forward(self.norms[1](x))


class Repeater(nn.Module):
    """Embeddings of tokens and positions, the layers, and logits."""

    def __init__(self, kind: str) -> None:
        """Draw the parameters from PyTorch's global generator."""
        super().__init__()
        self.tokens = nn.Embedding(VOCAB_SIZE, D_MODEL)
        self.positions = nn.Embedding(2 * HALF, D_MODEL)
        self.stack = [Layer(kind) for _ in range(N_LAYERS)]
        self.layers = nn.Sequential(*self.stack)
        self.logits = nn.Sequential(nn.RMSNorm(D_MODEL), nn.Linear(D_MODEL, VOCAB_SIZE))

    def forward(self, token_ids: Tensor) -> Tensor:
        """Return the logits (count, n, vocab_size) of the next tokens."""
        x = self.tokens(token_ids) + self.positions.weight[: token_ids.shape[1]]
        return self.logits(self.layers(x))


def train(
    kind: str, learning_rate: float, seed: int
) -> tuple[list[float], list[float]]:
    """Train a model; return its loss and its largest score at each step.

    kind : one of ``KINDS``
    """
    losses, largest = [], []
    with seeded(seed), one_thread():
        model = Repeater(kind)
        optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
        for _ in range(STEPS):
            half = torch.randint(VOCAB_SIZE, (BATCH_SIZE, HALF))
            token_ids = torch.cat([half, half], dim=1)
            logits = model(token_ids[:, :-1])[:, HALF - 1 :]
            loss = functional.cross_entropy(
                logits.flatten(0, 1), token_ids[:, HALF:].flatten()
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(float(loss.detach()))
            largest.append(max(layer.largest for layer in model.stack))
    return losses, largest


def full(seed: int) -> dict[str, Any]:
    """Train each kind at each learning rate; keep last losses and largest scores."""
    results: dict[str, Any] = {
        "steps": list(range(0, STEPS, 10)),
        "learning rates": [*LEARNING_RATES],
    }
    for kind in KINDS:
        results[kind], results[f"{kind}, largest score"] = [], []
        for learning_rate in LEARNING_RATES:
            losses, largest = train(kind, learning_rate, seed)
            results[kind].append(round(sum(losses[-20:]) / 20, 3))
            results[f"{kind}, largest score"].append(round(max(largest), 1))
            if learning_rate == OF_CURVES:
                results[f"{kind}, losses"] = [round(each, 3) for each in losses[::10]]
                results[f"{kind}, scores"] = [round(each, 1) for each in largest[::10]]
    return results
