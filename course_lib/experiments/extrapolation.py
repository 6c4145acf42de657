"""Attend three positions back, also where no training was (lesson 05).

The model of ``course_lib.lessons.single_head_model`` is trained on sequences of 16
tokens at the positions 0 … 15, to predict at each position the token that stands three
before it. Then it is tested at later positions, and on longer sequences. Rotary
encoding has no table that ends, so it is tested on still longer ones.
"""

from typing import Any

import numpy as np
from torch import Tensor

from course_lib.lessons.single_head_model import (
    D_MODEL,
    IGNORE_INDEX,
    AdditivePositions,
    PositionEncoding,
    RotaryEncoding,
    TrainedSingleHead,
    train,
)
from course_lib.positions import sinusoidal_encoding

LENGTH = 16
DISTANCE = 3
N_POSITIONS = 128
STEPS = 200
KINDS = ("learned", "sinusoidal", "rotary")
# Number of tokens, and the position of the first one.
TEST_SEQUENCES = {
    "positions 0–15": (LENGTH, 0),
    "positions 16–31": (LENGTH, 16),
    "positions 100–115": (LENGTH, 100),
    "positions 0–63": (64, 0),
}
LONGER = (256, 1024)  # tokens, for rotary encoding
COUNT = 40  # of these sequences: 1,000 would need gigabytes


def train_kind(kind: str, seed: int = 0, steps: int = STEPS) -> TrainedSingleHead:
    """Train a model to attend three positions back.

    kind : "learned", "sinusoidal" or "rotary"
    seed : of the first parameters and the sequences
    """
    encoding = _position_encoding(kind, seed)
    return train(encoding, _tokens_before, LENGTH, seed=seed, steps=steps)


def accuracies(model: TrainedSingleHead) -> dict[str, float]:
    """Compute the share of right predictions for each entry of ``TEST_SEQUENCES``."""
    return {
        name: model.accuracy(n, start) for name, (n, start) in TEST_SEQUENCES.items()
    }


def full(seed: int) -> dict[str, Any]:
    """Compare the kinds with three times the steps, and rotary on longer sequences."""
    models = {kind: train_kind(kind, seed, 3 * STEPS) for kind in KINDS}
    results = {
        f"{kind}, {name}": round(accuracy, 3)
        for kind, model in models.items()
        for name, accuracy in accuracies(model).items()
    }
    for n in LONGER:
        accuracy = models["rotary"].accuracy(n, count=COUNT)
        results[f"rotary, positions 0–{n - 1}"] = round(accuracy, 3)
    return results


def _position_encoding(kind: str, seed: int) -> PositionEncoding:
    if kind == "sinusoidal":
        return AdditivePositions(sinusoidal_encoding(N_POSITIONS, D_MODEL))
    if kind == "learned":
        first = np.random.default_rng((seed, 3)).normal(size=(N_POSITIONS, D_MODEL))
        return AdditivePositions(first, learned=True)
    if kind == "rotary":
        return RotaryEncoding()
    raise ValueError(f"kind={kind!r} is none of {', '.join(KINDS)}")


def _tokens_before(token_ids: Tensor) -> Tensor:
    targets = token_ids.roll(DISTANCE, dims=1)
    targets[:, :DISTANCE] = IGNORE_INDEX
    return targets
