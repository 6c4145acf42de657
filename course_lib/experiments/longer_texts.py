"""Rotary positions beyond the trained length, by frequencies (lesson 15).

The model of ``extrapolation`` is trained at the positions 0 … 15, to predict at each
position the token three before it. Then it reads up to 1,024 tokens, with its rotary
frequencies as they are, all divided by a factor (position interpolation), or divided
where pairs turn slowly (by parts). The last way has larger scores as well, as in YaRN.
No model is trained again on the longer texts.
"""

import math
from typing import Any

import torch
from torch import Tensor

from course_lib.experiments.extrapolation import LENGTH, STEPS, _tokens_before
from course_lib.lessons.environment import one_thread
from course_lib.lessons.single_head_model import (
    D_MODEL,
    PositionEncoding,
    TrainedSingleHead,
    train,
)
from course_lib.positions import stretched_frequencies

LENGTHS = (16, 64, 256, 1024)
WAYS = ("as they are", "all divided", "by parts", "by parts, sharper")
SLOW, FAST = 0.1, 1.0  # full turns over 16 tokens
COUNT = 40


class Rotation(PositionEncoding):
    """Rotate queries and keys by frequencies that can be exchanged."""

    def __init__(self) -> None:
        """Begin with the frequencies of ``rotary``."""
        super().__init__()
        self.frequencies = frequencies("as they are", 1.0)
        self.scale = 1.0  # of queries and keys, both

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        """Rotate each pair of neighbours by its position times its frequency."""
        angles = positions[:, None] * self.frequencies  # (n, d_model / 2)
        sine, cosine = angles.sin(), angles.cos()
        first, second = x[..., 0::2], x[..., 1::2]
        rotated = [first * cosine - second * sine, first * sine + second * cosine]
        return self.scale * torch.stack(rotated, dim=-1).flatten(-2)


def frequencies(way: str, factor: float) -> Tensor:
    """Return the frequencies for texts that are longer by a factor.

    way : one of ``WAYS``
    """
    plain = stretched_frequencies(D_MODEL, 1.0, LENGTH)
    chosen = {
        "as they are": plain,
        "all divided": plain / factor,
        "by parts": stretched_frequencies(D_MODEL, factor, LENGTH, SLOW, FAST),
    }[way.removesuffix(", sharper")]
    return torch.from_numpy(chosen).to(torch.float32)


def train_rotary(seed: int) -> tuple[TrainedSingleHead, Rotation]:
    """Train the model at 16 positions; return it with what rotates."""
    rotation = Rotation()
    model = train(rotation, _tokens_before, LENGTH, seed=seed, steps=3 * STEPS)
    return model, rotation


def accuracies(model: TrainedSingleHead, rotation: Rotation) -> dict[str, list[float]]:
    """Return for each way the accuracy at each of ``LENGTHS``."""
    results: dict[str, list[float]] = {way: [] for way in WAYS}
    for way in WAYS:
        for n in LENGTHS:
            rotation.frequencies = frequencies(way, n / LENGTH)
            sharper = 0.1 * math.log(n / LENGTH) + 1  # Peng et al. (2023), equation 22
            rotation.scale = sharper if way.endswith("sharper") else 1.0
            results[way].append(round(model.accuracy(n, count=COUNT), 3))
    return results


def full(seed: int) -> dict[str, Any]:
    """Train once, and read longer texts each way."""
    with one_thread():
        return {"lengths": [*LENGTHS], **accuracies(*train_rotary(seed))}
