"""Reverse a sequence with right, wrong and no position encodings (lesson 05).

At position i of n the target is the token at position n − 1 − i, so the model has to
attend to a position, whatever token is there. The model is in
``course_lib.lessons.single_head_model``, the wrong encodings are in
``course_lib.lessons.wrong_encodings``. Whether an encoding serves at positions outside
of training is another question: ``course_lib.experiments.extrapolation``.
"""

from typing import Any

import numpy as np
from torch import Tensor

from course_lib.lessons.single_head_model import (
    D_MODEL,
    VOCAB_SIZE,
    AdditivePositions,
    PositionEncoding,
    TrainedSingleHead,
    draw_sequences,
    train,
)
from course_lib.lessons.wrong_encodings import encoding_of, wrong_frequencies
from course_lib.positions import sinusoidal_encoding

LENGTH = 16
STEPS = 200


def encodings(seed: int) -> dict[str, np.ndarray | None]:
    """Return all encodings (16, 32) that are compared, by name; None is no encoding.

    seed : of the random one
    """
    wrong = {
        name: encoding_of(frequencies, LENGTH)
        for name, frequencies in wrong_frequencies(D_MODEL).items()
    }
    noise = np.random.default_rng((seed, 3)).normal(size=(LENGTH, D_MODEL))
    return {
        "none": None,
        "sinusoidal": sinusoidal_encoding(LENGTH, D_MODEL),
        **wrong,
        "random numbers": noise,
    }


def train_to_reverse(
    encoding: np.ndarray | None, seed: int = 0, steps: int = STEPS
) -> TrainedSingleHead:
    """Train a model to reverse sequences of 16 tokens.

    encoding : (16, 32), added to the tokens, and not learned; None for nothing
    seed : of the first parameters and the sequences
    """
    position_encoding = (
        PositionEncoding() if encoding is None else AdditivePositions(encoding)
    )
    return train(position_encoding, _reversed, LENGTH, seed=seed, steps=steps)


def order_blind_accuracy(seed: int = 1, length: int = LENGTH) -> float:
    """Compute the best possible share of right predictions without the order.

    seed : of 16,000 tokens, in sequences
    length : of each sequence

    At each position the token there is known, and which others the sequence holds: the
    best prediction is the most frequent of the others.
    """
    token_ids = draw_sequences(
        np.random.default_rng((seed, length, 0)), 1000 * LENGTH // length, length
    ).numpy()
    counts = (token_ids[..., np.newaxis] == np.arange(VOCAB_SIZE)).sum(axis=1)
    others = counts[:, np.newaxis] - np.eye(VOCAB_SIZE, dtype=int)[token_ids]
    # The token asked for is one of the others, each as likely as the next.
    return float((others.max(axis=-1) / (length - 1)).mean())


def full(seed: int) -> dict[str, Any]:
    """Compare all encodings with three times the steps."""
    results: dict[str, Any] = {
        name: round(train_to_reverse(each, seed, 3 * STEPS).accuracy(LENGTH), 3)
        for name, each in encodings(seed).items()
    }
    return results | {"best without order": round(order_blind_accuracy(), 3)}


def _reversed(token_ids: Tensor) -> Tensor:
    return token_ids.flip(1)
