"""Copy letters: through one vector, or with a look at all of them (lesson 07).

The decoder of the one reads nothing of the source but one vector, the same for every
length. The decoder of the other has in addition, at each step, what it finds among the
encoder's states. Everything else is equal: the encoder, the steps, the letters.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_lib.lessons.small_seq2seq import FIRST, KINDS, Attention, shifted, written
from course_lib.lessons.small_seq2seq import train as train_on
from course_lib.nn.recurrent import RecurrentTranslator

N_LETTERS = 10
SHORTEST, LONGEST = 2, 20
LENGTHS = (4, 8, 12, 16, 20)
BATCH = 64
D_HIDDEN = 64  # numbers in a state; the encoder has two, one for each direction
FULL_STEPS = 500


def draw(batch: int, length: int, rng: np.random.Generator) -> Tensor:
    """Draw words (batch, length) of letters, each as likely as any other."""
    letters = rng.integers(FIRST, FIRST + N_LETTERS, size=(batch, length))
    return torch.from_numpy(letters)


def train(
    attention: Attention,
    *,
    steps: int = 200,
    seed: int = 0,
    longest: int = 12,
) -> RecurrentTranslator:
    """Train a translator to write what it has read.

    longest : the words have 2 … longest letters, as many of each length
    """

    def batch(rng: np.random.Generator) -> tuple[Tensor, Tensor]:
        words = draw(BATCH, int(rng.integers(SHORTEST, longest + 1)), rng)
        return words, words

    return train_on(
        attention, batch, FIRST + N_LETTERS, steps=steps, seed=seed, d_hidden=D_HIDDEN
    )


def accuracy(
    model: RecurrentTranslator,
    length: int,
    *,
    forced: bool = False,
    words: int = 200,
    seed: int = 1000,
) -> float:
    """Give the share of letters that are right, on words not trained on.

    forced : let the decoder read the right letters, as in training; else it reads what
        it wrote itself
    words, seed : number of words, seed of their letters
    """
    source = draw(words, length, np.random.default_rng((seed, length)))
    if forced:
        with torch.no_grad():
            found = model(source, shifted(source)).argmax(dim=-1)
    else:
        found = written(model, source, length)
    return (found == source).float().mean().item()


def full(seed: int) -> dict[str, Any]:
    """Train both for more steps, on words of up to 20 letters; give shares by length.

    Under "<kind>": the share of right letters for each of ``LENGTHS``, when it reads
    what it wrote; under "<kind>, forced": when it reads the right letters.
    """
    found: dict[str, Any] = {}
    for kind in KINDS:
        model = train(kind, steps=FULL_STEPS, seed=seed, longest=LONGEST)
        for forced, name in ((False, kind), (True, f"{kind}, forced")):
            shares = [accuracy(model, length, forced=forced) for length in LENGTHS]
            found[name] = [round(share, 3) for share in shares]
    return found
