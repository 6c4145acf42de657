"""What attention attends to when a number or a date is written (lesson 08).

Numbers: English words to the parts of German words, where the ones come before the
tens. Dates: characters in the manner of ten languages to those of ISO 8601. Which
source tokens a target token comes from is known
(``course_lib.lessons.reference_alignments``), so that the weights of a trained model
can be measured against it.
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
    ATTENTION_KINDS,
    FIRST_TOKEN_ID,
    Attention,
    decoder_input,
    generate,
)
from course_lib.lessons.small_seq2seq import train as train_on
from course_lib.nn.recurrent import RecurrentTranslator
from course_lib.nn.sequence_to_sequence import alignment_mass
from course_lib.nn.training.batches import pad
from course_lib.nn.training.subwords import END_ID
from course_lib.nn.translator import embed_tokens

Tokens = Sequence[str]
WeightsFunction = Callable[
    [RecurrentTranslator, "AlignmentTask", Tokens, Tokens], Tensor
]
BATCH_SIZE = 64
N_HELD_OUT = 300
FULL_STEPS = {"numbers": 150, "dates": 200}
EXAMPLES = {
    "dates": ("Tuesday, April 7, 2026", "2026-04-07"),
    "numbers": (
        "four hundred and seventy-three thousand, two hundred and eighty-one",
        "vierhundertdreiundsiebzigtausendzweihunderteinundachtzig",
    ),
}


@dataclass(frozen=True)
class AlignmentTask:
    """Pairs of token sequences, and their reference alignments.

    pairs : source and target of each example; the last ``N_HELD_OUT`` are for testing
    links : returns the links of a source and a target
    """

    pairs: list[tuple[Tokens, Tokens]]
    links: Callable[[Any, Any], Links]

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """All tokens in order; the first has the id ``FIRST_TOKEN_ID``."""
        sequences = (sequence for pair in self.pairs for sequence in pair)
        return tuple(sorted({token for sequence in sequences for token in sequence}))

    @cached_property
    def vocab_size(self) -> int:
        """Number of tokens, padding, start and end included."""
        return FIRST_TOKEN_ID + len(self.vocabulary)

    def encode(self, sequences: Sequence[Tokens]) -> Tensor:
        """Turn sequences into token ids (batch, longest), each ended by ``END_ID``."""
        ids = {token: i for i, token in enumerate(self.vocabulary, FIRST_TOKEN_ID)}
        return pad([[*map(ids.__getitem__, each), END_ID] for each in sequences])

    def batch(self, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
        """Draw examples that are not held out."""
        indices = rng.integers(len(self.pairs) - N_HELD_OUT, size=BATCH_SIZE)
        sources, targets = zip(*(self.pairs[i] for i in indices), strict=True)
        return self.encode(sources), self.encode(targets)


def numbers_task(n: int = 3000, seed: int = 0) -> AlignmentTask:
    """Make the task: numbers below a million, English words to parts of German ones."""
    pairs = number_words(n, seed)
    tokens = [(english_words(pair.source), german_parts(pair.target)) for pair in pairs]
    return AlignmentTask([*tokens], number_links)


def dates_task(n: int = 8000, seed: int = 0) -> AlignmentTask:
    """Make the task: dates in ten languages to ISO 8601, character by character."""
    return AlignmentTask([*dates(n, seed)], date_links)


def train(
    task: AlignmentTask,
    attention: Attention = "additive",
    *,
    steps: int = 150,
    seed: int = 0,
    d_hidden: int = 48,
) -> RecurrentTranslator:
    """Train a translator on a task; the links are not part of the training."""
    return train_on(
        attention,
        task.batch,
        task.vocab_size,
        steps=steps,
        seed=seed,
        d_hidden=d_hidden,
    )


def exact_match(
    model: RecurrentTranslator,
    task: AlignmentTask,
    pairs: Sequence[tuple[Tokens, Tokens]],
) -> float:
    """Compute the share of pairs whose whole target is written without an error."""
    sources, targets = (task.encode(side) for side in zip(*pairs, strict=True))
    generated = generate(model, sources, targets.shape[1])
    return (generated == targets).all(dim=-1).float().mean().item()


def weights(
    model: RecurrentTranslator, task: AlignmentTask, source: Tokens, target: Tokens
) -> Tensor:
    """Compute the weights (n, m) with which the tokens of a target are written.

    The last token of both is the end. In training and here the decoder reads the right
    target, shifted.
    """
    with one_thread(), torch.no_grad():
        batch = model.attention_weights(
            task.encode([source]), decoder_input(task.encode([target]))
        )
    if batch is None:
        raise ValueError("attention='none': this model has no weights")
    return batch[0]


def states_and_weights(
    model: RecurrentTranslator, task: AlignmentTask, source: Tokens, target: Tokens
) -> dict[str, np.ndarray | None]:
    """Compute what ``figures.encoder_decoder`` draws, with the right target read.

    Returns hidden_states (m, 2 d), decoder_states (n + 1, d), contexts (n, 2 d) and
    weights (n, m), which are None for a model without attention. The last token of both
    sequences is the end.
    """
    with one_thread(), torch.no_grad():
        memory = model.encode(task.encode([source]))
        state = model.initial_state(memory)
        read = decoder_input(task.encode([target]))
        output = model.decoder(embed_tokens(model.embedding, read), state)
    states = torch.cat([state.hidden, output.states[0]])
    return {
        "hidden_states": memory.vectors[0].numpy(),
        "decoder_states": states.numpy(),
        "contexts": output.contexts[0].numpy(),
        "weights": None if output.weights is None else output.weights[0].numpy(),
    }


def weights_of_new_states(
    model: RecurrentTranslator, task: AlignmentTask, source: Tokens, target: Tokens
) -> Tensor:
    """Compute the weights (n, m) if at each step the state *after* it were the query.

    model : one with additive attention, in which the state before a step is the query
    """
    if model.decoder.attention is None:
        raise ValueError("attention='none': this model has no weights")
    with one_thread(), torch.no_grad():
        memory = model.encode(task.encode([source]))
        state, rows = model.initial_state(memory), []
        for token_ids in decoder_input(task.encode([target])).unbind(dim=1):
            state = model.step(token_ids, state)[1]
            query = state.hidden.unsqueeze(1)
            rows.append(model.decoder.attention(query, state.keys, memory)[1][0, 0])
    return torch.stack(rows)


def mean_mass(
    model: RecurrentTranslator,
    task: AlignmentTask,
    n: int = 100,
    weights_of: WeightsFunction = weights,
) -> float:
    """Compute the mean of ``alignment_mass`` over n held-out pairs.

    weights_of : returns the weights of a model, a task, a source and a target
    """
    masses = [
        alignment_mass(weights_of(model, task, *pair), task.links(*pair))
        for pair in task.pairs[-n:]
    ]
    return sum(masses) / n


def uniform_mass(task: AlignmentTask, n: int = 100) -> float:
    """Compute what ``mean_mass`` is for weights that are all the same."""
    masses = [
        alignment_mass(
            torch.full((len(target) + 1, len(source) + 1), 1 / (len(source) + 1)),
            task.links(source, target),
        )
        for source, target in task.pairs[-n:]
    ]
    return sum(masses) / n


def full(seed: int) -> dict[str, Any]:
    """Train with each attention on both tasks, with a larger hidden state.

    Returns for each task, attention and held-out half (the shorter and the longer
    sources) the share of right targets; for each attention the mean mass, and the
    weights for the task's entry in ``EXAMPLES``.
    """
    results: dict[str, Any] = {}
    for name, task in {"numbers": numbers_task(), "dates": dates_task()}.items():
        held_out = sorted(task.pairs[-N_HELD_OUT:], key=lambda pair: len(pair[0]))
        middle = N_HELD_OUT // 2
        halves = {"short": held_out[:middle], "long": held_out[middle:]}
        for kind in ATTENTION_KINDS:
            model = train(task, kind, steps=FULL_STEPS[name], seed=seed, d_hidden=64)
            for half, pairs in halves.items():
                share = exact_match(model, task, pairs)
                results[f"{name}, {kind}, {half}"] = round(share, 3)
            if kind != "none":
                results[f"{name}, {kind}, mass"] = round(mean_mass(model, task), 3)
                rows = weights(model, task, *example(name)).numpy().round(2).tolist()
                results[f"{name}, {kind}, weights"] = rows
    return results


def example(name: str) -> tuple[Tokens, Tokens]:
    """Return the tokens of the source and the target whose weights are recorded."""
    source, target = EXAMPLES[name]
    if name == "dates":
        return source, target
    return english_words(source), german_parts(target)
