"""A model of one attention head (lesson 05), which must know where a token stands.

As small as such a model can be: all tokens attend to each other once, then one token is
predicted per position. The targets are the callers' choice:
``course_lib.experiments.reversing`` and ``course_lib.experiments.extrapolation``.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from course_lib.lessons.environment import seeded

VOCAB_SIZE = 10
D_MODEL = 32
BATCH_SIZE = 64
LEARNING_RATE = 0.005
IGNORE_INDEX = -100  # PyTorch's mark for a position that has no target

MakeTargets = Callable[[Tensor], Tensor]  # token ids (count, n) to targets (count, n)


class PositionEncoding(nn.Module):
    """Tell queries and keys where they stand; this one tells them nothing."""

    def add(self, x: Tensor, positions: Tensor) -> Tensor:
        """Return the tokens x (count, n, d_model) with their positions (n,) added."""
        return x

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        """Return queries or keys x (count, n, d_model) rotated by positions (n,)."""
        return x


class AdditivePositions(PositionEncoding):
    """Add a row of an encoding, which is learned or stays as it is."""

    def __init__(self, encoding: np.ndarray, *, learned: bool = False) -> None:
        """Store the encoding (n_positions, d_model); learned, it is the first value."""
        super().__init__()
        rows = torch.from_numpy(encoding).to(torch.float32)
        self.encoding = nn.Parameter(rows, requires_grad=learned)

    def add(self, x: Tensor, positions: Tensor) -> Tensor:
        """Add to each token the row of its position."""
        return x + self.encoding[positions]


class RotaryEncoding(PositionEncoding):
    """Rotate queries and keys, as ``course_lib.positions.rotary`` does."""

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        """Rotate each pair of neighbours by its position times its frequency."""
        frequencies = 10000.0 ** (-torch.arange(0, D_MODEL, 2) / D_MODEL)
        angles = positions[:, None] * frequencies  # (n, d_model / 2)
        sine, cosine = angles.sin(), angles.cos()
        first, second = x[..., 0::2], x[..., 1::2]
        rotated = [first * cosine - second * sine, first * sine + second * cosine]
        return torch.stack(rotated, dim=-1).flatten(-2)


class SingleHeadModel(nn.Module):
    """One head between an embedding and one predicted token per position."""

    def __init__(self, position_encoding: PositionEncoding) -> None:
        """Draw the first parameters from PyTorch's global generator."""
        super().__init__()
        self.position_encoding = position_encoding
        self.embedding = nn.Embedding(VOCAB_SIZE, D_MODEL)
        self.projections = nn.ModuleList(
            [nn.Linear(D_MODEL, D_MODEL) for _ in range(3)]
        )
        self.output = nn.Linear(D_MODEL, VOCAB_SIZE)

    def forward(self, token_ids: Tensor, start: int = 0) -> tuple[Tensor, Tensor]:
        """Return the logits (count, n, 10) and the weights (count, n, n).

        token_ids : (count, n), the first of them at position ``start``
        """
        positions = torch.arange(token_ids.shape[1]) + start
        x = self.position_encoding.add(self.embedding(token_ids), positions)
        q, k, v = (project(x) for project in self.projections)
        q, k = (self.position_encoding.rotate(each, positions) for each in (q, k))
        weights = torch.softmax(q @ k.transpose(1, 2) / D_MODEL**0.5, dim=-1)
        return self.output(weights @ v), weights


@dataclass(frozen=True)
class TrainedSingleHead:
    """A trained model and what it was trained for."""

    model: SingleHeadModel
    make_targets: MakeTargets

    @torch.no_grad()
    def accuracy(
        self, n: int, start: int = 0, seed: int = 1, count: int = 1000
    ) -> float:
        """Return the share of right predictions, for new sequences of n tokens.

        start : the position of the first token
        count : of the sequences
        """
        token_ids = draw_sequences(np.random.default_rng((seed, n, start)), count, n)
        targets = self.make_targets(token_ids)
        right = self.model(token_ids, start)[0].argmax(-1) == targets
        return float(right[targets != IGNORE_INDEX].float().mean())

    @torch.no_grad()
    def weights(self, n: int, start: int = 0, seed: int = 1) -> np.ndarray:
        """Return the weights (n, n), the mean over 1,000 new sequences."""
        token_ids = draw_sequences(np.random.default_rng((seed, n, start)), 1000, n)
        return self.model(token_ids, start)[1].mean(0).double().numpy()


def draw_sequences(rng: np.random.Generator, count: int, n: int) -> Tensor:
    """Draw sequences (count, n) of token ids 0 … 9, all equally likely."""
    return torch.from_numpy(rng.integers(VOCAB_SIZE, size=(count, n)))


def train(
    position_encoding: PositionEncoding,
    make_targets: MakeTargets,
    n: int,
    *,
    seed: int,
    steps: int,
) -> TrainedSingleHead:
    """Train a model on sequences of n tokens at the positions 0 … n − 1.

    seed : of the first parameters and the sequences
    """
    rng = np.random.default_rng(seed)
    with seeded(seed):
        model = SingleHeadModel(position_encoding)
        learned = [p for p in model.parameters() if p.requires_grad]
        optimizer = torch.optim.Adam(learned, lr=LEARNING_RATE)
        for _ in range(steps):
            token_ids = draw_sequences(rng, BATCH_SIZE, n)
            loss = nn.functional.cross_entropy(
                model(token_ids)[0].flatten(0, 1),
                make_targets(token_ids).flatten(),
                ignore_index=IGNORE_INDEX,
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return TrainedSingleHead(model, make_targets)
