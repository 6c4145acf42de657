"""A Transformer that is small enough to be trained inside a lesson: it reads numbers.

English number words become German ones, in word pieces. The large translator, of real
texts, is trained by ``course_lib.nn.train``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from course_lib.corpora.generated import number_words
from course_lib.corpora.pairs import Pair
from course_lib.lessons.environment import one_thread
from course_lib.nn.training.batches import Example, examples
from course_lib.nn.training.loop import Recipe, Training, initial
from course_lib.nn.training.scoring import translations
from course_lib.nn.training.subwords import Subwords, learn_subwords
from course_lib.nn.transformer import Transformer, TransformerSizes

N_TRAIN, N_HELD_OUT = 4000, 100
VOCAB_SIZE = 150
RECIPE = Recipe(steps=400, batch_tokens=512, rate=6e-3, warmup=40, smoothing=0.1)
ONE_BATCH = Recipe(steps=60, rate=2e-2, warmup=5, smoothing=0.0, weight_decay=0.0)


@dataclass(frozen=True)
class Numbers:
    """The task of the lesson.

    train, held_out : different numbers below a million, in words of both languages
    subwords : word pieces, learned from train
    """

    train: list[Pair]
    held_out: list[Pair]
    subwords: Subwords


def numbers() -> Numbers:
    """Draw the numbers, the same ones each time, and learn their word pieces."""
    pairs = number_words(N_TRAIN + N_HELD_OUT, 0)
    train = pairs[:N_TRAIN]
    subwords = learn_subwords([text for pair in train for text in pair], VOCAB_SIZE)
    return Numbers(train, pairs[N_TRAIN:], subwords)


def small_model(vocab_size: int, d_model: int = 64, seed: int = 0) -> Transformer:
    """Make a Transformer of one layer on each side, with random parameters."""
    sizes = TransformerSizes(
        vocab_size, d_model, n_layers=1, d_ff=4 * d_model, dropout=0.0
    )
    model = initial(lambda: Transformer(sizes, device="cpu"), seed)
    assert isinstance(model, Transformer)
    return model


def begin(task: Numbers, seed: int = 0) -> Training:
    """Prepare the training of a small Transformer on numbers; no update is made yet."""
    model = small_model(len(task.subwords), seed=seed)
    pairs = examples(task.train, task.subwords)
    return Training(model, pairs, replace(RECIPE, seed=seed))


def on_one_batch(pairs: Sequence[Example], vocab_size: int, seed: int = 0) -> Training:
    """Train a small Transformer on a few pairs only, again and again.

    Its losses say whether it can learn them by heart, as it must.
    """
    places = len(pairs) * max(len(pair.target) for pair in pairs)
    recipe = replace(ONE_BATCH, batch_tokens=places, seed=seed)
    training = Training(small_model(vocab_size, seed=seed), pairs, recipe)
    go_on(training, recipe.steps)
    return training


def go_on(training: Training, step: int) -> None:
    """Make updates until there were as many as ``step``; what was made stays."""
    with one_thread():
        while training.step < step:
            training.update()


def written(model: Transformer, subwords: Subwords, texts: Sequence[str]) -> list[str]:
    """Translate texts greedily, all at once."""
    with one_thread():
        return translations(model, subwords, texts)


def share_right(model: Transformer, task: Numbers) -> float:
    """Give the share of held-out numbers that are right to the letter."""
    found = written(model, task.subwords, [pair.source for pair in task.held_out])
    pairs = zip(task.held_out, found, strict=True)
    return float(np.mean([pair.target == text for pair, text in pairs]))


def decoder_of(
    model: Transformer, source: list[int]
) -> Callable[[np.ndarray], np.ndarray]:
    """Give the decoder as a function of vectors, for ``course_lib.masks.leak``.

    source : the tokens that it looks at

    The function takes one target's vectors (n, d_model), and gives as many.
    """

    def decoder(y: np.ndarray) -> np.ndarray:
        with one_thread(), torch.no_grad():
            memory = model.encode(torch.tensor([source]))
            rows = torch.tensor(y, dtype=torch.float32).unsqueeze(0)
            return model.decoder(rows, memory)[0].numpy()

    return decoder


def encoder_of(model: Transformer) -> Callable[[np.ndarray], np.ndarray]:
    """Give the encoder's layers as a function of one source's vectors (n, d_model)."""

    def encoder(x: np.ndarray) -> np.ndarray:
        with one_thread(), torch.no_grad():
            rows = torch.tensor(x, dtype=torch.float32).unsqueeze(0)
            return model.encoder(rows)[0].numpy()

    return encoder


def reader_of(model: Transformer) -> Callable[[np.ndarray], np.ndarray]:
    """Give the encoder as a function of tokens (batch, n), for ``padding_gap``."""

    def reader(tokens: np.ndarray) -> np.ndarray:
        with one_thread(), torch.no_grad():
            return model.encode(torch.tensor(tokens)).vectors.numpy()

    return reader


def with_padding(model: Transformer, padding: int) -> Transformer:
    """Make a copy that takes another number for what fills up."""
    copy = Transformer(replace(model.sizes, padding=padding), device="cpu")
    copy.load_state_dict(model.state_dict())
    return copy.eval()
