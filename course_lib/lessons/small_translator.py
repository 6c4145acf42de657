"""A Transformer that is small enough to be trained inside lesson 10: it reads numbers.

English number words become German ones, in subwords. The large translator, of real
texts, is trained by ``course_lib.nn.train``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from course_lib.corpora.generated import number_words
from course_lib.corpora.pairs import Pair
from course_lib.lessons.environment import one_thread
from course_lib.nn.training.batches import PairData, encode_pairs
from course_lib.nn.training.loop import Trainer, TrainingConfig, seeded_model
from course_lib.nn.training.scoring import translate_texts
from course_lib.nn.training.subwords import SubwordTokenizer, train_tokenizer
from course_lib.nn.transformer import Transformer, TransformerConfig

N_TRAIN, N_HELD_OUT = 4000, 100
VOCAB_SIZE = 150
TRAINING_CONFIG = TrainingConfig(
    steps=400, batch_tokens=512, learning_rate=6e-3, warmup_steps=40, smoothing=0.1
)


@dataclass(frozen=True)
class NumbersTask:
    """The task of the lesson.

    train, held_out : different numbers below a million, in words of both languages
    tokenizer : its subwords are learned from train
    """

    train: list[Pair]
    held_out: list[Pair]
    tokenizer: SubwordTokenizer


def numbers_task() -> NumbersTask:
    """Draw the numbers, the same ones each time, and train their tokenizer."""
    pairs = number_words(N_TRAIN + N_HELD_OUT, 0)
    train = pairs[:N_TRAIN]
    tokenizer = train_tokenizer([text for pair in train for text in pair], VOCAB_SIZE)
    return NumbersTask(train, pairs[N_TRAIN:], tokenizer)


def small_model(vocab_size: int, d_model: int = 64, seed: int = 0) -> Transformer:
    """Make a Transformer of one layer on each side, with random parameters."""
    config = TransformerConfig(
        vocab_size, d_model, n_layers=1, d_ff=4 * d_model, dropout=0.0
    )
    model = seeded_model(lambda: Transformer(config, device="cpu"), seed)
    assert isinstance(model, Transformer)
    return model


def make_trainer(task: NumbersTask, seed: int = 0) -> Trainer:
    """Prepare the training of a small Transformer on numbers; no step is made yet."""
    model = small_model(len(task.tokenizer), seed=seed)
    pairs = encode_pairs(task.train, task.tokenizer)
    return Trainer(model, PairData(pairs), replace(TRAINING_CONFIG, seed=seed))


def train_until(trainer: Trainer, step: int) -> None:
    """Make training steps until there were ``step`` of them, the earlier ones too."""
    with one_thread():
        while trainer.step < step:
            trainer.train_step()


def translate(
    model: Transformer, tokenizer: SubwordTokenizer, sentences: Sequence[str]
) -> list[str]:
    """Translate sentences greedily, all at once."""
    with one_thread():
        return translate_texts(model, tokenizer, sentences)


def exact_match(model: Transformer, task: NumbersTask) -> float:
    """Compute the share of held-out numbers that are exactly right."""
    sources = [pair.source for pair in task.held_out]
    pairs = zip(task.held_out, translate(model, task.tokenizer, sources), strict=True)
    return float(np.mean([pair.target == translation for pair, translation in pairs]))


def decoder_of(
    model: Transformer, source: list[int]
) -> Callable[[np.ndarray], np.ndarray]:
    """Return the decoder as a function of vectors, for ``course_lib.masks.leak``.

    source : the token ids that it attends to

    The function takes one target's vectors (n, d_model), and returns as many.
    """

    def decoder(y: np.ndarray) -> np.ndarray:
        with one_thread(), torch.no_grad():
            memory = model.encode(torch.tensor([source]))
            rows = torch.tensor(y, dtype=torch.float32).unsqueeze(0)
            return model.decoder(rows, memory)[0].numpy()

    return decoder


def encoder_of(model: Transformer) -> Callable[[np.ndarray], np.ndarray]:
    """Return the encoder's layers as a function of a source's vectors (n, d_model)."""

    def encoder(x: np.ndarray) -> np.ndarray:
        with one_thread(), torch.no_grad():
            rows = torch.tensor(x, dtype=torch.float32).unsqueeze(0)
            return model.encoder(rows)[0].numpy()

    return encoder


def token_encoder_of(model: Transformer) -> Callable[[np.ndarray], np.ndarray]:
    """Return the encoder as a function of token ids (batch, n), for ``padding_gap``."""

    def encoder(token_ids: np.ndarray) -> np.ndarray:
        with one_thread(), torch.no_grad():
            return model.encode(torch.tensor(token_ids)).vectors.numpy()

    return encoder


def with_padding_id(model: Transformer, padding_id: int) -> Transformer:
    """Copy a model, with another token id taken for padding."""
    copy = Transformer(replace(model.config, padding_id=padding_id), device="cpu")
    copy.load_state_dict(model.state_dict())
    return copy.eval()
