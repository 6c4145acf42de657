"""Train the reader, healthy or with a broken part, and use it.

``run("C")`` is the healthy one; the others, A to O, have one broken part each, and the
learner finds out which. All have the same numbers, the same batches and the same first
parameters.
"""

import inspect
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_lib.lessons.environment import one_thread, seeded
from course_lib.lessons.patients import broken
from course_lib.lessons.patients.parts import Parts
from course_lib.lessons.patients.reader import (
    D_MODEL,
    END,
    MAX_WORDS,
    PADDING,
    START,
    VOCABULARY,
    Reader,
    SpelledNumber,
    padded,
    pair_of,
)

N_NUMBERS, N_HELD_OUT, N_FRESH = 6000, 40, 100
STEPS, BATCH_SIZE, WARMUP_STEPS = 400, 32, 30
PEAK = 0.25  # of what the paper's formula says: the model is small
EMPTY_LINE_AT = 250  # the step whose batch has an empty line

HEALTHY = "C"
# Which part of which model is broken; A to E are those of the lesson's first screen.
BROKEN: dict[str, Callable[..., Any]] = {
    "A": broken.shift_right,
    "B": broken.initial_embedding,
    "D": broken.causal_mask,
    "E": broken.update,
    "F": broken.cross_entropy,
    "G": broken.split_heads,
    "H": broken.split_data,
    "I": broken.warmup_rate,
    "J": broken.masked_softmax,
    "K": broken.add_positions,
    "L": broken.layer_norm,
    "M": broken.padding_mask,
    "N": broken.evaluate,
    "O": broken.newest_positions,
}
BROKEN_PARTS = {letter: part.__name__ for letter, part in BROKEN.items()}
LETTERS = tuple(sorted({HEALTHY, *BROKEN}))
STEP_AXIS = range(10, STEPS, 20)  # of a curve's means
PART_NAMES = tuple(each.name for each in fields(Parts))


def numbers(seed: int, count: int) -> list[str]:
    """Draw different numbers of two to seven digits, as texts.

    >>> numbers(0, 3)
    ['6523000', '869', '69765']
    """
    rng = np.random.default_rng(seed)
    drawn: dict[str, None] = {}
    while len(drawn) < count:
        digits = rng.integers(10, size=rng.integers(2, 8))
        drawn["".join(map(str, digits))] = None
    return list(drawn)


def parts_of(letter: str) -> Parts:
    """Return the parts of a model: C is healthy, the others have a broken one.

    Raises ``ValueError`` if there is no such model.
    """
    if letter not in LETTERS:
        raise ValueError(f"model {letter!r}: there are {LETTERS[0]} … {LETTERS[-1]}")
    if letter == HEALTHY:
        return Parts()
    part = BROKEN[letter]
    return Parts(**{part.__name__: part})


def source(letter: str, part: str) -> str:
    """Return the code of a part of a model, as text.

    Raises ``ValueError`` if there is no such model or part.
    """
    if part not in PART_NAMES:
        raise ValueError(f"part={part!r} is none of {', '.join(PART_NAMES)}")
    function = getattr(parts_of(letter), part)
    return textwrap.dedent(inspect.getsource(function)).rstrip()


@dataclass
class Run:
    """A trained model, and what was written down on the way.

    losses, learning_rates, gradient_norms : one of each step
    train, held_out : what it learned from, and what it did not
    """

    model: Reader
    parts: Parts
    train: list[SpelledNumber]
    held_out: list[SpelledNumber]
    losses: list[float] = field(default_factory=list)
    learning_rates: list[float] = field(default_factory=list)
    gradient_norms: list[float] = field(default_factory=list)

    def curve(self) -> list[float]:
        """Return the losses as means over 20 steps, one for each of ``STEP_AXIS``."""
        return [float(each) for each in np.reshape(self.losses, (-1, 20)).mean(axis=1)]

    def logits(self, sources: Sequence[list[int]], decoder_input: Tensor) -> Tensor:
        """Return the logits (batch, n, vocab_size), as they are outside of training."""
        with one_thread():
            return self.parts.evaluate(
                self.model, lambda: self.model(padded(sources), decoder_input)
            )

    def read(self, texts: Sequence[str], *, cached: bool = False) -> list[str]:
        """Read numbers, all in one batch, by greedy decoding.

        cached : with the keys and values of the words so far in a cache
        """
        rows = [pair_of(text).source for text in texts]
        with one_thread(), seeded(0):
            token_ids = self.parts.evaluate(
                self.model, lambda: _greedy(self.model, padded(rows), cached)
            )
        return [_as_words(row) for row in token_ids.tolist()]

    def score(self, pairs: Sequence[SpelledNumber]) -> float:
        """Return the share of pairs that are read without an error."""
        texts = [digits_of(pair) for pair in pairs]
        expected = [_as_words(pair.target) for pair in pairs]
        written = self.read(texts)
        return float(np.mean([a == b for a, b in zip(written, expected, strict=True)]))


def digits_of(pair: SpelledNumber) -> str:
    """Return a pair's number as a text."""
    return "".join(VOCABULARY[token_id] for token_id in pair.source)


def fresh_pairs() -> list[SpelledNumber]:
    """Return pairs that no model has for training, nor for its held-out ones."""
    drawn = numbers(0, N_NUMBERS + N_FRESH)[N_NUMBERS:]
    return [pair_of(text) for text in drawn]


def run(
    letter: str = HEALTHY,
    *,
    steps: int = STEPS,
    one_batch: bool = False,
    seed: int = 0,
    **own: Callable[..., Any],
) -> Run:
    """Train a model with its broken part, or with a part of your own instead.

    letter : C is the healthy model, the others from A to O are broken
    steps : of the optimizer
    one_batch : train on the first batch only, again and again
    seed : of the first parameters and the batches
    own : parts by their names, which replace those of the model

    Raises ``ValueError`` if there is no such model or part.
    """
    if unknown := own.keys() - {*PART_NAMES}:
        raise ValueError(f"{min(unknown)!r} is none of {', '.join(PART_NAMES)}")
    parts = replace(parts_of(letter), **own)
    pairs = [pair_of(text) for text in numbers(0, N_NUMBERS)]
    with seeded(seed):
        trained = Run(Reader(parts), parts, *parts.split_data(pairs, N_HELD_OUT))
        _train(trained, steps, one_batch, np.random.default_rng(seed))
    return trained


def treated(trained: Run, **own: Callable[..., Any]) -> Run:
    """Return a trained model with other parts, without training it anew.

    own : parts by their names; those that are used after training make a difference
    """
    parts = replace(trained.parts, **own)
    return replace(trained, parts=parts, model=trained.model.with_parts(parts))


def _train(trained: Run, steps: int, one_batch: bool, rng: np.random.Generator) -> None:
    model, parts = trained.model.train(), trained.parts
    optimizer = torch.optim.Adam(
        model.parameters(), lr=1.0, betas=(0.9, 0.98), fused=True
    )
    batch: list[SpelledNumber] = []
    for step in range(steps):
        if not batch or not one_batch:
            chosen = rng.integers(len(trained.train), size=BATCH_SIZE)
            batch = [trained.train[i] for i in chosen]
        if step == EMPTY_LINE_AT:
            batch[0] = pair_of("")
        learning_rate = PEAK * parts.warmup_rate(step, D_MODEL, WARMUP_STEPS)
        optimizer.param_groups[0]["lr"] = learning_rate
        loss = loss_of(trained, batch)
        parts.update(loss, optimizer)
        trained.losses.append(loss.item())
        trained.learning_rates.append(learning_rate)
        trained.gradient_norms.append(_norm(model))


def loss_of(trained: Run, batch: Sequence[SpelledNumber]) -> Tensor:
    """Return the loss of a batch, by the model's own parts."""
    source_ids = padded([pair.source for pair in batch])
    target = padded([pair.target for pair in batch])
    logits = trained.model(source_ids, trained.parts.shift_right(target, START))
    return trained.parts.cross_entropy(logits, target, PADDING)


def _norm(model: Reader) -> float:
    gradients = [each.grad for each in model.parameters() if each.grad is not None]
    return float(torch.stack([each.norm() for each in gradients]).norm())


def _greedy(model: Reader, source_ids: Tensor, cached: bool) -> Tensor:
    memory = model.encode(source_ids)
    token_ids = torch.full((len(source_ids), 1), START)
    cache: list[Tensor] | None = [] if cached else None
    for _ in range(MAX_WORDS):
        newest = token_ids[:, -1:] if cached else token_ids
        logits = model.decode(newest, memory, cache)[:, -1]
        token_ids = torch.cat([token_ids, logits.argmax(-1, keepdim=True)], dim=1)
    return token_ids[:, 1:]


def _as_words(token_ids: Sequence[int]) -> str:
    ids = [*token_ids]
    ids = ids[: ids.index(END)] if END in ids else ids
    return " ".join(VOCABULARY[token_id] for token_id in ids)
