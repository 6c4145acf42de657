"""Copy letters: through one vector, or with attention to all of them (lesson 08).

The decoder of the one reads nothing of the source but one vector, as long for every
word. The decoder of the other attends in addition, at each step, to the encoder's
states. Everything else is equal: the encoder, the steps, the letters.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_lib.lessons.small_seq2seq import (
    ATTENTION_KINDS,
    FIRST_TOKEN_ID,
    Attention,
    decoder_input,
    generate,
)
from course_lib.lessons.small_seq2seq import train as train_on
from course_lib.nn.recurrent import RecurrentTranslator

N_LETTERS = 10
MIN_LENGTH, MAX_LENGTH = 2, 20
LENGTHS = (4, 8, 12, 16, 20)
BATCH_SIZE = 64
D_HIDDEN = 64  # length of a hidden state; the encoder has two, one for each direction
FULL_STEPS = 500


def draw(batch: int, length: int, rng: np.random.Generator) -> Tensor:
    """Draw words (batch, length) of letters, each as likely as any other."""
    letters = rng.integers(
        FIRST_TOKEN_ID, FIRST_TOKEN_ID + N_LETTERS, size=(batch, length)
    )
    return torch.from_numpy(letters)


def train(
    attention: Attention,
    *,
    steps: int = 200,
    seed: int = 0,
    max_length: int = 12,
    d_hidden: int = D_HIDDEN,
) -> RecurrentTranslator:
    """Train a translator to write what it has read.

    max_length : the words have 2 … max_length letters, as many of each length
    d_hidden : length of a hidden state
    """

    def batch(rng: np.random.Generator) -> tuple[Tensor, Tensor]:
        words = draw(BATCH_SIZE, int(rng.integers(MIN_LENGTH, max_length + 1)), rng)
        return words, words

    return train_on(
        attention,
        batch,
        FIRST_TOKEN_ID + N_LETTERS,
        steps=steps,
        seed=seed,
        d_hidden=d_hidden,
    )


def accuracy(
    model: RecurrentTranslator,
    length: int,
    *,
    teacher_forcing: bool = False,
    n_words: int = 200,
    seed: int = 1000,
) -> float:
    """Compute the share of letters that are right, on words not trained on.

    teacher_forcing : let the decoder read the right letters, as in training; else it
        reads what it wrote itself
    n_words, seed : number of words, seed of their letters
    """
    source = draw(n_words, length, np.random.default_rng((seed, length)))
    if teacher_forcing:
        with torch.no_grad():
            generated = model(source, decoder_input(source)).argmax(dim=-1)
    else:
        generated = generate(model, source, length)
    return (generated == source).float().mean().item()


def full(seed: int) -> dict[str, Any]:
    """Train all kinds for more steps, on words of up to 20 letters.

    Returns under "<kind>" the share of right letters for each of ``LENGTHS``, when the
    decoder reads what it wrote; under "<kind>, teacher forcing", when it reads the
    right letters.
    """
    results: dict[str, Any] = {}
    for kind in ATTENTION_KINDS:
        model = train(kind, steps=FULL_STEPS, seed=seed, max_length=MAX_LENGTH)
        for forcing, name in ((False, kind), (True, f"{kind}, teacher forcing")):
            shares = [accuracy(model, n, teacher_forcing=forcing) for n in LENGTHS]
            results[name] = [round(share, 3) for share in shares]
    return results
