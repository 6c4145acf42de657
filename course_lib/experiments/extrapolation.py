"""Look three places back, also at places and distances never trained on.

The model of ``course_lib.lessons.single_head_model`` is trained on sequences of 16 tokens at the places
0 … 15, to give at each place the token that stands three places before it. Then it is
asked at later places, and in longer sequences.
"""

from typing import Any

import numpy as np
from torch import Tensor

from course_lib.lessons.single_head_model import (
    D_MODEL,
    NOTHING,
    AddedPlaces,
    Places,
    Trained,
    TurnedPlaces,
    train,
)
from course_lib.positions import sinusoidal_encoding

LENGTH = 16
BACK = 3
N_PLACES = 128
STEPS = 200
KINDS = ("learned", "sinusoidal", "rotary")
# What is asked: how many tokens, and at which place the first one stands.
ASKED = {
    "places 0–15": (LENGTH, 0),
    "places 16–31": (LENGTH, 16),
    "places 100–115": (LENGTH, 100),
    "places 0–63": (64, 0),
}


def trained(kind: str, seed: int = 0, steps: int = STEPS) -> Trained:
    """Train a model to look three places back.

    kind : "learned", "sinusoidal" or "rotary"
    seed : of the first parameters and the sequences
    """
    return train(_places(kind, seed), _earlier, LENGTH, seed=seed, steps=steps)


def scores(model: Trained) -> dict[str, float]:
    """Give the share of right guesses for each entry of ``ASKED``."""
    return {name: model.accuracy(n, start) for name, (n, start) in ASKED.items()}


def full(seed: int) -> dict[str, Any]:
    """Compare the kinds with three times the steps."""
    return {
        f"{kind}, {name}": round(score, 3)
        for kind in KINDS
        for name, score in scores(trained(kind, seed, 3 * STEPS)).items()
    }


def _places(kind: str, seed: int) -> Places:
    if kind == "sinusoidal":
        return AddedPlaces(sinusoidal_encoding(N_PLACES, D_MODEL))
    if kind == "learned":
        drawn = np.random.default_rng((seed, 3)).normal(size=(N_PLACES, D_MODEL))
        return AddedPlaces(drawn, learned=True)
    if kind == "rotary":
        return TurnedPlaces()
    raise ValueError(f"kind={kind!r} is none of {', '.join(KINDS)}")


def _earlier(tokens: Tensor) -> Tensor:
    answers = tokens.roll(BACK, dims=1)
    answers[:, :BACK] = NOTHING
    return answers
