"""Who is looked at when a number or a date is written (lesson 07).

Numbers: English words to the parts of German words, where the ones come before the
tens. Dates: characters in the manner of ten languages to those of ISO 8601. Which
source tokens a target token comes from is known (``course_lib.lessons.reference_alignments``), so that
the weights of a trained model can be measured against it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_lib.corpora.generated import dates, number_words
from course_lib.lessons.environment import one_thread
from course_lib.lessons.reference_alignments import (
    Links,
    date_links,
    english_words,
    german_parts,
    number_links,
)
from course_lib.lessons.small_seq2seq import (
    END,
    FIRST,
    KINDS,
    Attention,
    filled,
    shifted,
    written,
)
from course_lib.lessons.small_seq2seq import train as train_on
from course_lib.nn.recurrent import RecurrentTranslator
from course_lib.nn.sequence_to_sequence import alignment_mass

Tokens = Sequence[str]
Looks = Callable[[RecurrentTranslator, "Task", Tokens, Tokens], Tensor]
BATCH = 64
HELD_OUT = 300
FULL_STEPS = {"numbers": 150, "dates": 200}
SHOWN = {
    "dates": ("Tuesday, April 7, 2026", "2026-04-07"),
    "numbers": (
        "four hundred and seventy-three thousand, two hundred and eighty-one",
        "vierhundertdreiundsiebzigtausendzweihunderteinundachtzig",
    ),
}


@dataclass(frozen=True)
class Task:
    """Texts in tokens, and what belongs to what.

    pairs : source and target of each example; the last ``HELD_OUT`` are for measuring
    links : gives the links of a source and a target
    """

    pairs: list[tuple[Tokens, Tokens]]
    links: Callable[[Any, Any], Links]

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """All tokens in order; the first has the number ``FIRST``."""
        return tuple(
            sorted({token for pair in self.pairs for text in pair for token in text})
        )

    @cached_property
    def vocab_size(self) -> int:
        """Number of tokens, padding, start and end included."""
        return FIRST + len(self.tokens)

    def encode(self, texts: Sequence[Tokens]) -> Tensor:
        """Turn texts into numbers (batch, longest), each with ``END`` behind it."""
        number = {token: FIRST + place for place, token in enumerate(self.tokens)}
        return filled([[*(number[token] for token in text), END] for text in texts])

    def batch(self, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
        """Draw examples that are not held out."""
        places = rng.integers(len(self.pairs) - HELD_OUT, size=BATCH)
        sources, targets = zip(*(self.pairs[place] for place in places), strict=True)
        return self.encode(sources), self.encode(targets)


def numbers(n: int = 3000, seed: int = 0) -> Task:
    """Make the task: numbers below a million, English words to parts of German ones."""
    pairs = number_words(n, seed)
    cut = [(english_words(pair.source), german_parts(pair.target)) for pair in pairs]
    return Task([(source, target) for source, target in cut], number_links)


def written_dates(n: int = 8000, seed: int = 0) -> Task:
    """Make the task: dates in ten languages to ISO 8601, character by character."""
    return Task([(pair.source, pair.target) for pair in dates(n, seed)], date_links)


def train(
    task: Task,
    attention: Attention = "additive",
    *,
    steps: int = 150,
    seed: int = 0,
    d_hidden: int = 48,
) -> RecurrentTranslator:
    """Train a translator on a task; nobody tells it what belongs to what."""
    return train_on(
        attention,
        task.batch,
        task.vocab_size,
        steps=steps,
        seed=seed,
        d_hidden=d_hidden,
    )


def share_right(
    model: RecurrentTranslator, task: Task, pairs: Sequence[tuple[Tokens, Tokens]]
) -> float:
    """Give the share of pairs whose whole target is written without a mistake."""
    wanted = task.encode([target for _, target in pairs])
    found = written(
        model, task.encode([source for source, _ in pairs]), wanted.shape[1]
    )
    return (found == wanted).all(dim=-1).float().mean().item()


def weights(
    model: RecurrentTranslator, task: Task, source: Tokens, target: Tokens
) -> Tensor:
    """Give the weights (n, m) with which the tokens of a target are written.

    The last token of both is the end. In training and here the decoder reads the right
    target, shifted.
    """
    with one_thread(), torch.no_grad():
        looked = model.attention(task.encode([source]), shifted(task.encode([target])))
    if looked is None:
        raise ValueError("attention='none': this model has no weights")
    return looked[0]


def weights_of_new_states(
    model: RecurrentTranslator, task: Task, source: Tokens, target: Tokens
) -> Tensor:
    """Give the weights (n, m) if at each step the state *after* it were the query.

    model : one with additive attention, in which the state before a step is the query
    """
    if model.decoder.look is None:
        raise ValueError("attention='none': this model has no weights")
    with one_thread(), torch.no_grad():
        memory = model.encode(task.encode([source]))
        state, rows = model.start(memory), []
        for tokens in shifted(task.encode([target])).unbind(dim=1):
            state = model.step(tokens, state)[1]
            look = model.decoder.look(state.hidden.unsqueeze(1), state.keys, memory)
            rows.append(look[1][0, 0])
    return torch.stack(rows)


def mean_mass(
    model: RecurrentTranslator, task: Task, n: int = 100, looks: Looks = weights
) -> float:
    """Give the mean of ``alignment_mass`` over n held-out pairs.

    looks : gives the weights of a model, a task, a source and a target
    """
    masses = [
        alignment_mass(looks(model, task, *pair), task.links(*pair))
        for pair in task.pairs[-n:]
    ]
    return sum(masses) / n


def even_mass(task: Task, n: int = 100) -> float:
    """Give what ``mean_mass`` is for weights that are all the same."""
    masses = [
        alignment_mass(
            torch.full((len(target) + 1, len(source) + 1), 1 / (len(source) + 1)),
            task.links(source, target),
        )
        for source, target in task.pairs[-n:]
    ]
    return sum(masses) / n


def full(seed: int) -> dict[str, Any]:
    """Train with each attention on both tasks, with a larger state.

    Gives for each task, attention and held-out half (the shorter and the longer
    sources) the share of right targets; for each attention the mean mass; and for the
    examples of ``SHOWN`` the weights.
    """
    found: dict[str, Any] = {}
    for name, task in {"numbers": numbers(), "dates": written_dates()}.items():
        held_out = sorted(task.pairs[-HELD_OUT:], key=lambda pair: len(pair[0]))
        halves = {"short": held_out[: HELD_OUT // 2], "long": held_out[HELD_OUT // 2 :]}
        for kind in KINDS:
            model = train(task, kind, steps=FULL_STEPS[name], seed=seed, d_hidden=64)
            for half, pairs in halves.items():
                share = share_right(model, task, pairs)
                found[f"{name}, {kind}, {half}"] = round(share, 3)
            if kind != "none":
                found[f"{name}, {kind}, mass"] = round(mean_mass(model, task), 3)
                looked = weights(model, task, *shown(name))
                found[f"{name}, {kind}, weights"] = looked.numpy().round(2).tolist()
    return found


def shown(name: str) -> tuple[Tokens, Tokens]:
    """Give source and target of the example whose weights are kept, in tokens."""
    source, target = SHOWN[name]
    if name == "dates":
        return source, target
    return english_words(source), german_parts(target)
