"""What a translator can be trained on, each with its texts, sizes and vocabulary.

The real pairs need ``make data``; dates, numbers and copies are made when asked for.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from string import ascii_lowercase
from typing import Any

import torch
from torch import nn

from course_lib.corpora.generated import dates, number_words
from course_lib.corpora.pairs import Pair, Split
from course_lib.corpora.translations import translation_pairs
from course_lib.nn.recurrent import RecurrentSizes, RecurrentTranslator
from course_lib.nn.training.subwords import Subwords, learn_subwords
from course_lib.nn.transformer import Transformer, TransformerSizes


@dataclass(frozen=True)
class System:
    """One kind of translator.

    name : as on the command line
    sizes : makes its sizes, a frozen dataclass
    model : makes the translator with random parameters, of sizes and a device
    own : the sizes that make it this system
    widths : the sizes that are one number in the simplest case, d_model
    """

    name: str
    sizes: Callable[..., Any]
    model: Callable[..., nn.Module]
    own: Mapping[str, Any]
    widths: tuple[str, ...]

    def make(self, sizes: Mapping[str, Any], device: torch.device) -> nn.Module:
        """Make a translator with random parameters.

        sizes : what ``as_data`` gives; what is left out is as usual
        """
        return self.model(self.sizes(**{**self.own, **sizes}), device=device)

    def sizes_of(
        self,
        d_model: int | None = None,
        n_layers: int | None = None,
        dropout: float | None = None,
    ) -> dict[str, Any]:
        """Give the sizes by name that are to be unlike the usual ones.

        A Transformer's feed-forward parts are four times as wide as d_model. Raises
        ``ValueError`` for layers of a system that has no number of layers.
        """
        found: dict[str, Any] = {}
        if d_model is not None:
            found |= dict.fromkeys(self.widths, d_model)
        if self.name == "transformer":
            found |= {} if d_model is None else {"d_ff": 4 * d_model}
            found |= {} if n_layers is None else {"n_layers": n_layers}
        elif n_layers is not None:
            raise ValueError(f"n_layers={n_layers}: {self.name} always has one layer")
        return found | ({} if dropout is None else {"dropout": dropout})


def as_data(model: Any) -> dict[str, Any]:
    """Give the sizes of a translator as plain data, from which ``make`` makes it."""
    return asdict(model.sizes)


def _recurrent(name: str, attention: str) -> System:
    own = {"attention": attention}
    widths = ("d_embedding", "d_hidden")
    return System(name, RecurrentSizes, RecurrentTranslator, own, widths)


SYSTEMS = {
    system.name: system
    for system in (
        System("transformer", TransformerSizes, Transformer, {}, ("d_model",)),
        _recurrent("additive", "additive"),
        _recurrent("multiplicative", "multiplicative"),
        _recurrent("fixed", "none"),
    )
}

N_TRAIN, N_HELD_OUT = 10_000, 1_000  # of the tasks whose pairs are made
SHORTEST, LONGEST = 4, 20  # letters of a copy


@dataclass(frozen=True)
class Task:
    """One thing to learn.

    name : as on the command line
    texts : gives the pairs, the same ones each time
    vocab_size : number of tokens at most; 0 for single characters
    """

    name: str
    texts: Callable[[], Split]
    vocab_size: int

    def subwords(self, texts: Split) -> Subwords:
        """Learn the vocabulary from what is learned from, both languages together."""
        return learn_subwords(
            [text for pair in texts.train for text in pair], self.vocab_size
        )


def copies(n: int, seed: int) -> list[Pair]:
    """Draw random words of 4 to 20 letters, each to be written again.

    Returns n pairs of different words, of each length as many. The same seed gives the
    same pairs; a greater n gives the same ones and more.

    >>> copies(1, seed=0)
    [Pair(source='vtkg', target='vtkg')]
    """
    rng = random.Random(seed)
    words: dict[str, None] = {}  # a set that keeps the order
    while len(words) < n:
        length = SHORTEST + len(words) % (LONGEST - SHORTEST + 1)
        words["".join(rng.choices(ascii_lowercase, k=length))] = None
    return [Pair(word, word) for word in words]


def _made(draw: Callable[[int, int], list[Pair]]) -> Callable[[], Split]:
    def texts() -> Split:
        pairs = draw(N_TRAIN + 2 * N_HELD_OUT, 0)
        held_out = pairs[N_TRAIN:]
        return Split(pairs[:N_TRAIN], held_out[:N_HELD_OUT], held_out[N_HELD_OUT:])

    return texts


TASKS = {
    task.name: task
    for task in (
        Task("translation", translation_pairs, vocab_size=4000),
        Task("dates", _made(dates), vocab_size=0),
        Task("numbers", _made(number_words), vocab_size=0),
        Task("copying", _made(copies), vocab_size=0),
    )
}

# MERGED course_lib.nn.systems: Which translators there are, and how one is made again from plain data.
