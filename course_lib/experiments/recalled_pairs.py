"""How many pairs are recalled from a cache, and from a state (lesson 15).

As in the stories of lesson 02, each token is a noun with a colour; the last one names a
noun and asks for its colour. Here a sequence has up to 64 nouns. Queries, keys and
values are learned; queries and keys have length 1. Softmax keeps all tokens in a cache,
linear attention the sum of the products of keys and values, d_k × 16 numbers.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from course_lib.lessons.environment import one_thread, seeded

KINDS = (("softmax", 16), ("linear", 16), ("linear", 64))  # the kind and d_k
PAIRS = (4, 8, 16, 32, 64)
N_NOUNS, N_COLOURS, D_V, STEPS, BATCH_SIZE = 128, 8, 16, 300, 64


class Recall(nn.Module):
    """One layer of attention over pairs, read by a query."""

    def __init__(self, kind: str, d_k: int) -> None:
        """Draw the words' vectors, which stay, and the parameters."""
        super().__init__()
        self.kind = kind
        nouns = functional.normalize(torch.randn(N_NOUNS, d_k), dim=-1)
        self.nouns = nn.Parameter(nouns, requires_grad=False)
        self.query = nn.Linear(d_k, d_k, bias=False)
        self.key = nn.Linear(d_k, d_k, bias=False)
        self.value = nn.Embedding(N_COLOURS, D_V)
        self.scale = nn.Parameter(torch.tensor(4.0))
        self.logits = nn.Linear(D_V, N_COLOURS)

    def forward(self, nouns: Tensor, colours: Tensor, asked: Tensor) -> Tensor:
        """Return the logits (count, 8) of the colour that is asked for."""
        words = self.nouns[nouns]  # (count, n, d_k)
        q = functional.normalize(self.query(self.nouns[asked]), dim=-1).unsqueeze(1)
        k, v = functional.normalize(self.key(words), dim=-1), self.value(colours)
        if self.kind == "softmax":
            weights = (self.scale * q @ k.mT).softmax(dim=-1)
            return self.logits((weights @ v).squeeze(1))
        return self.logits((q @ (k.mT @ v)).squeeze(1))


def draw(count: int, n: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Draw n different nouns with colours, one that is asked for, and its colour."""
    nouns = torch.rand(count, N_NOUNS).argsort(dim=1)[:, :n]
    colours = torch.randint(N_COLOURS, (count, n))
    at = torch.randint(n, (count, 1))
    return nouns, colours, nouns.gather(1, at)[:, 0], colours.gather(1, at)[:, 0]


def train(kind: str, d_k: int, n: int, seed: int) -> float:
    """Train on sequences of n pairs; return the accuracy for new ones."""
    with seeded(seed), one_thread():
        model = Recall(kind, d_k)
        learned = [p for p in model.parameters() if p.requires_grad]
        optimizer = torch.optim.Adam(learned, lr=0.01)
        for _ in range(STEPS):
            *inputs, targets = draw(BATCH_SIZE, n)
            loss = functional.cross_entropy(model(*inputs), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            *inputs, targets = draw(2000, n)
            right = model(*inputs).argmax(-1) == targets
    return float(right.float().mean())


def full(seed: int) -> dict[str, Any]:
    """Measure each kind at each number of pairs."""
    results: dict[str, Any] = {"pairs": [*PAIRS]}
    for kind, d_k in KINDS:
        accuracies = [round(train(kind, d_k, n, seed), 3) for n in PAIRS]
        results[f"{kind}, d_k {d_k}"] = accuracies
    return results
