"""What a translator can be trained on, and which translators there are.

The real pairs need ``make data``; dates, numbers and copies are made when asked for.
``TrainingTask`` is what the command line asks of any task; those of language models are
in ``course_lib.nn.training.language``.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Any, ClassVar, Protocol, cast

import torch
from rich.table import Table
from torch import nn

from course_lib.corpora.generated import dates, number_words
from course_lib.corpora.more_pairs import larger_translation_pairs
from course_lib.corpora.pairs import Pair, Split
from course_lib.corpora.translations import translation_pairs
from course_lib.nn.recurrent import RecurrentConfig, RecurrentTranslator
from course_lib.nn.training.batches import Example, PairData, encode_pairs
from course_lib.nn.training.loop import TrainingData
from course_lib.nn.training.subwords import (
    SubwordTokenizer,
    train_pair_tokenizer,
    train_tokenizer,
)
from course_lib.nn.training.word_alignment import align_embedding
from course_lib.nn.transformer import Transformer, TransformerConfig


@dataclass(frozen=True)
class System:
    """One kind of translator.

    name : as on the command line
    config_class : of its config, a frozen dataclass
    model_class : makes the translator with random parameters, of a config and a device
    own_options : those of the config that make it this system
    widths : the options that are one number in the simplest case, d_model
    """

    name: str
    config_class: Callable[..., Any]
    model_class: Callable[..., nn.Module]
    own_options: Mapping[str, Any]
    widths: tuple[str, ...]

    def make(self, options: Mapping[str, Any], device: torch.device) -> nn.Module:
        """Make a translator with random parameters.

        options : of its config, such as ``dataclasses.asdict`` gives them; those that
            are left out have their defaults
        """
        config = self.config_class(**{**self.own_options, **options})
        return self.model_class(config, device=device)

    def config_options(
        self,
        d_model: int | None = None,
        n_layers: int | None = None,
        dropout: float | None = None,
    ) -> dict[str, Any]:
        """Return the options of a config, by name, that differ from their defaults.

        A Transformer's feed-forward networks are four times as wide as d_model. Raises
        ``ValueError`` for layers of a system that has no number of layers.
        """
        options: dict[str, Any] = {}
        if d_model is not None:
            options |= dict.fromkeys(self.widths, d_model)
        if self.name == "transformer":
            options |= {} if d_model is None else {"d_ff": 4 * d_model}
            options |= {} if n_layers is None else {"n_layers": n_layers}
        elif n_layers is not None:
            raise ValueError(f"n_layers={n_layers}: {self.name} always has one layer")
        return options | ({} if dropout is None else {"dropout": dropout})


def _recurrent(name: str, attention: str) -> System:
    return System(
        name,
        RecurrentConfig,
        RecurrentTranslator,
        {"attention": attention},
        ("d_embedding", "d_hidden"),
    )


SYSTEMS = {
    system.name: system
    for system in (
        System("transformer", TransformerConfig, Transformer, {}, ("d_model",)),
        _recurrent("additive", "additive"),
        _recurrent("multiplicative", "multiplicative"),
        _recurrent("fixed", "none"),
    )
}

N_TRAIN, N_HELD_OUT = 10_000, 1_000  # of the tasks whose pairs are made
MIN_LETTERS, MAX_LETTERS = 4, 20  # of a copy


@dataclass(frozen=True)
class Recipe:
    """What is done before the first step of a training.

    preprocess : whether punctuation becomes tokens, and the case of words even
    more_pairs : whether the larger set of training pairs is used
    alignment_start : whether the embedding begins near word alignments
    """

    preprocess: bool = False
    more_pairs: bool = False
    alignment_start: bool = False


class TrainingTask(Protocol):
    """One thing to learn, as the command line needs it.

    A split has parts to train on, to choose by and to measure by; what they are, the
    task's own methods know.
    """

    @property
    def name(self) -> str:
        """As on the command line."""

    @property
    def training(self) -> Mapping[str, Any]:
        """The options of ``TrainingConfig`` that suit it, steps among them."""

    @property
    def recipe(self) -> Any:
        """What is done before the first step, as suits it: a frozen dataclass."""

    @property
    def systems(self) -> Mapping[str, Any]:
        """What can learn it, by name; the first one does if none is named."""

    @property
    def own_options(self) -> frozenset[str]:
        """Those options of the command line that fit only tasks like this one."""

    def load_split(self, recipe: Any = None) -> Any:
        """Load what is learned; raise ``ValueError`` for what there is not."""

    def learn_tokenizer(self, split: Any, recipe: Any = None) -> Any:
        """Learn the tokens from what is trained on."""

    def encode(self, split: Any, tokenizer: Any) -> Any:
        """Turn what is trained on into token ids."""

    def initialise(self, model: Any, encoded: Any, recipe: Any) -> None:
        """Change random parameters before the first step, if the recipe says so."""

    def training_data(self, model: Any, encoded: Any) -> TrainingData:
        """Make of token ids what the training loop reads."""

    def evaluate(
        self, model: Any, tokenizer: Any, split: Any, length_penalty: float | None
    ) -> tuple[dict[str, Any], Table]:
        """Measure a trained model. Returns plain data, and a table to be read."""


@dataclass(frozen=True)
class Seq2SeqTask:
    """Pairs to learn.

    name : as on the command line
    load_pairs : returns the pairs, the same ones each time
    vocab_size : number of tokens at most; 0 for single characters
    training : the options of ``TrainingConfig`` that suit it, steps among them
    recipe : what suits it
    load_more_pairs : the same with more training pairs; None if there are no more
    """

    name: str
    load_pairs: Callable[[], Split]
    vocab_size: int
    training: Mapping[str, Any]
    recipe: Recipe = Recipe()
    load_more_pairs: Callable[[], Split] | None = None

    systems: ClassVar[Mapping[str, System]] = SYSTEMS
    own_options: ClassVar[frozenset[str]] = frozenset(
        {"preprocess", "more_pairs", "alignment_start", "length_penalty"}
    )

    def load_split(self, recipe: Recipe | None = None) -> Split:
        """Load the pairs of a recipe, of the task's own if None.

        Raises ``ValueError`` if it asks for more pairs than there are.
        """
        if not (recipe or self.recipe).more_pairs:
            return self.load_pairs()
        if self.load_more_pairs is None:
            raise ValueError(f"more_pairs=True: there are no more pairs of {self.name}")
        return self.load_more_pairs()

    def learn_tokenizer(
        self, split: Split, recipe: Recipe | None = None
    ) -> SubwordTokenizer:
        """Learn subwords from the training pairs, both languages together."""
        if (recipe or self.recipe).preprocess:
            return train_pair_tokenizer(split.train, self.vocab_size)
        return train_tokenizer(
            [text for pair in split.train for text in pair], self.vocab_size
        )

    def encode(self, split: Split, tokenizer: SubwordTokenizer) -> list[Example]:
        """Turn the training pairs into token ids."""
        return encode_pairs(split.train, tokenizer)

    def initialise(
        self, model: nn.Module, encoded: Sequence[Example], recipe: Recipe
    ) -> None:
        """Begin the embedding near word alignments, if the recipe says so."""
        if recipe.alignment_start:
            align_embedding(cast(Any, model).embedding.weight, encoded)

    def training_data(self, model: nn.Module, encoded: Sequence[Example]) -> PairData:
        """Return the pairs in batches by length."""
        return PairData(encoded)

    def evaluate(
        self,
        model: Any,
        tokenizer: SubwordTokenizer,
        split: Split,
        length_penalty: float | None = None,
    ) -> tuple[dict[str, Any], Table]:
        """Translate test pairs: ``scoring.evaluate`` and its table."""
        # Imported here because sacrebleu takes half a second.
        from course_lib.nn.training import scoring

        if length_penalty is None:
            length_penalty = scoring.LENGTH_PENALTY
        results = scoring.evaluate(
            model, tokenizer, split.test, split.train, length_penalty
        )
        return results, scoring.results_table(results)


def copies(n: int, seed: int) -> list[Pair]:
    """Draw random words of 4 to 20 letters, each to be copied.

    Returns n pairs of different words, of each length as many. The same seed gives the
    same pairs; a greater n gives the same ones and more.

    >>> copies(1, seed=0)
    [Pair(source='vtkg', target='vtkg')]
    """
    rng = random.Random(seed)
    words: dict[str, None] = {}  # a set that keeps the order
    while len(words) < n:
        length = MIN_LETTERS + len(words) % (MAX_LETTERS - MIN_LETTERS + 1)
        words["".join(rng.choices(ascii_lowercase, k=length))] = None
    return [Pair(word, word) for word in words]


def _split_of(draw: Callable[[int, int], list[Pair]]) -> Callable[[], Split]:
    def load_split() -> Split:
        pairs = draw(N_TRAIN + 2 * N_HELD_OUT, 0)
        held_out = pairs[N_TRAIN:]
        return Split(pairs[:N_TRAIN], held_out[:N_HELD_OUT], held_out[N_HELD_OUT:])

    return load_split


TASKS = {
    task.name: task
    for task in (
        Seq2SeqTask(
            "translation",
            translation_pairs,
            4000,
            {"steps": 5600, "batch_tokens": 512, "learning_rate": 3.5e-3},
            Recipe(preprocess=True, more_pairs=True, alignment_start=True),
            load_more_pairs=larger_translation_pairs,
        ),
        Seq2SeqTask("dates", _split_of(dates), 0, {"steps": 1500}),
        Seq2SeqTask("numbers", _split_of(number_words), 0, {"steps": 1500}),
        Seq2SeqTask("copying", _split_of(copies), 0, {"steps": 3000}),
    )
}
