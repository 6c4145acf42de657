"""A language model of Shakespeare's plays: what it is trained on, and of what block.

The counterpart of ``course_lib.nn.training.tasks``; the plays need ``make data``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import torch
from rich.table import Table
from torch import nn

from course_lib.byte_tokenizer import ByteTokenizer
from course_lib.corpora.plays import PlaySplit, play_split
from course_lib.nn.language_model import (
    BLOCK_2017,
    BLOCK_TODAY,
    LanguageModel,
    LanguageModelConfig,
)
from course_lib.nn.training import checkpoints
from course_lib.nn.training.windows import WindowData

VOCAB_SIZE = 1024
SIZES: dict[str, Any] = {"d_model": 96, "n_layers": 4, "n_positions": 128}
TRAIN_COMMAND = f"{checkpoints.COMMAND} --task language"


@dataclass(frozen=True)
class LanguageSystem:
    """One kind of language model.

    name : as on the command line
    own_options : those of its config that make it this system, and its size
    """

    name: str
    own_options: Mapping[str, Any]

    def make(self, options: Mapping[str, Any], device: torch.device) -> LanguageModel:
        """Make a language model with random parameters.

        options : of its config; those that are left out have the system's values
        """
        config = LanguageModelConfig(**{**self.own_options, **options})
        return LanguageModel(config, device=device)

    def config_options(
        self,
        d_model: int | None = None,
        n_layers: int | None = None,
        dropout: float | None = None,
        context: int | None = None,
    ) -> dict[str, Any]:
        """Return the options of a config, by name, that differ from the system's."""
        options = {
            "d_model": d_model,
            "n_layers": n_layers,
            "dropout": dropout,
            "n_positions": context,
        }
        return {name: value for name, value in options.items() if value is not None}


LANGUAGE_SYSTEMS = {
    system.name: system
    for system in (
        LanguageSystem("today", BLOCK_TODAY | SIZES),
        LanguageSystem("2017", BLOCK_2017 | SIZES),
    )
}


@dataclass(frozen=True)
class LanguageRecipe:
    """What is done before the first step of a training.

    vocab_size : number of tokens at most
    """

    vocab_size: int = VOCAB_SIZE


@dataclass(frozen=True)
class LanguageTask:
    """The plays to learn, window by window.

    name : as on the command line
    training : the options of ``TrainingConfig`` that suit it, steps among them
    recipe : what suits it
    """

    name: str
    training: Mapping[str, Any]
    recipe: LanguageRecipe = field(default_factory=LanguageRecipe)

    systems: ClassVar[Mapping[str, LanguageSystem]] = LANGUAGE_SYSTEMS
    own_options: ClassVar[frozenset[str]] = frozenset({"context", "vocab_size"})

    def load_split(self, recipe: LanguageRecipe | None = None) -> PlaySplit:
        """Load the plays."""
        return play_split()

    def learn_tokenizer(
        self, split: PlaySplit, recipe: LanguageRecipe | None = None
    ) -> ByteTokenizer:
        """Learn tokens from the training plays alone."""
        return ByteTokenizer.train(split.train, (recipe or self.recipe).vocab_size)

    def encode(self, split: PlaySplit, tokenizer: ByteTokenizer) -> list[int]:
        """Turn the training plays into token ids."""
        return tokenizer.encode(split.train)

    def initialise(
        self, model: nn.Module, encoded: Sequence[int], recipe: LanguageRecipe
    ) -> None:
        """Leave the random parameters as they are."""

    def training_data(self, model: LanguageModel, encoded: Sequence[int]) -> WindowData:
        """Return the plays in windows as long as the model's context."""
        return WindowData(encoded, model.config.n_positions)

    def evaluate(
        self,
        model: LanguageModel,
        tokenizer: ByteTokenizer,
        split: PlaySplit,
        length_penalty: float | None = None,
    ) -> tuple[dict[str, Any], Table]:
        """Measure bits per byte: ``language_scoring.evaluate`` and its table."""
        from course_lib.nn.training import language_scoring

        results = language_scoring.evaluate(model, tokenizer, split)
        return results, language_scoring.results_table(results)


LANGUAGE = LanguageTask(
    "language",
    {
        "steps": 6000,
        "batch_tokens": 512,
        "learning_rate": 3e-3,
        "warmup_steps": 200,
        "smoothing": 0.0,
    },
)


def load_language_model(
    path: Path | str, command: str = TRAIN_COMMAND
) -> tuple[LanguageModel, ByteTokenizer]:
    """Load a trained language model, on the CPU, and its tokenizer.

    path : of the checkpoint
    command : what makes it, for the message if it is not there

    Raises ``CheckpointError`` if it is missing, damaged or a translator's.
    """
    path = Path(path)
    checkpoint = checkpoints.load(path, command)
    checkpoints.check_system(path, checkpoint, LANGUAGE_SYSTEMS, command)
    model = LanguageModel(LanguageModelConfig(**checkpoint["config"]), device="cpu")
    model.load_state_dict(checkpoint["training"]["parameters"])
    return model.eval(), checkpoint["tokenizer"]
