"""Say a sequence backwards: with, without, and with wrong encodings of the places.

At place i of n the model is asked for the token of place n − 1 − i, so it has to look
at a place, whatever stands there. The model is in ``course_lib.lessons.single_head_model``, the mistakes
in ``course_lib.lessons.wrong_encodings``. Whether an encoding serves at places that it was not
trained on is another question: ``course_lib.experiments.extrapolation``.
"""

from typing import Any

import numpy as np
from torch import Tensor

from course_lib.lessons.single_head_model import (
    D_MODEL,
    VOCAB_SIZE,
    AddedPlaces,
    Places,
    Trained,
    draw,
    train,
)
from course_lib.lessons.wrong_encodings import encoding_of, wrong_speeds
from course_lib.positions import sinusoidal_encoding

LENGTH = 16
STEPS = 200


def encodings(seed: int) -> dict[str, np.ndarray | None]:
    """Give all encodings (16, 32) that are compared, by name; None is no encoding.

    seed : of the random one
    """
    wrong = {
        name: encoding_of(speeds, LENGTH)
        for name, speeds in wrong_speeds(D_MODEL).items()
    }
    noise = np.random.default_rng((seed, 3)).normal(size=(LENGTH, D_MODEL))
    return {
        "none": None,
        "sinusoidal": sinusoidal_encoding(LENGTH, D_MODEL),
        **wrong,
        "random numbers": noise,
    }


def reverse(encoding: np.ndarray | None, seed: int = 0, steps: int = STEPS) -> Trained:
    """Train a model to say sequences of 16 tokens backwards.

    encoding : (16, 32), added to the tokens, and not learned; None for nothing
    seed : of the first parameters and the sequences
    """
    places = Places() if encoding is None else AddedPlaces(encoding)
    return train(places, _backwards, LENGTH, seed=seed, steps=steps)


def best_without_order(seed: int = 1) -> float:
    """Give the share of right guesses of the best guesser that sees no order.

    At each place it knows the token there, and which others the sequence holds: it
    guesses the one that the others hold most often.
    """
    tokens = draw(np.random.default_rng((seed, LENGTH, 0)), 1000, LENGTH).numpy()
    counts = (tokens[..., np.newaxis] == np.arange(VOCAB_SIZE)).sum(axis=1)
    others = counts[:, np.newaxis] - np.eye(VOCAB_SIZE, dtype=int)[tokens]
    # The token asked for is one of the 15 others, each as likely as the next.
    return float((others.max(axis=-1) / (LENGTH - 1)).mean())


def full(seed: int) -> dict[str, Any]:
    """Compare all encodings with three times the steps."""
    found: dict[str, Any] = {
        name: round(reverse(table, seed, 3 * STEPS).accuracy(LENGTH), 3)
        for name, table in encodings(seed).items()
    }
    return found | {"best without order": round(best_without_order(), 3)}


def _backwards(tokens: Tensor) -> Tensor:
    return tokens.flip(1)
