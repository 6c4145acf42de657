"""A language model that is trained on some of Shakespeare's plays in half a minute.

The same loop, windows and block as those of ``python -m course_lib.nn.train --task
language``, with a smaller model, fewer plays and fewer steps.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from course_lib.byte_tokenizer import ByteTokenizer
from course_lib.corpora.plays import play_split
from course_lib.lessons.environment import one_thread
from course_lib.nn.language_model import LanguageModel, LanguageModelConfig
from course_lib.nn.training.language_scoring import model_bits_per_byte, write_sample
from course_lib.nn.training.loop import Trainer, TrainingConfig, seeded_model
from course_lib.nn.training.windows import WindowData

N_CHARACTERS = 1_500_000  # of the training plays, about eleven of them
VOCAB_SIZE = 512
MODEL_OPTIONS: dict[str, Any] = {"d_model": 64, "n_layers": 2, "n_positions": 64}
STEPS = 2000
TRAINING_OPTIONS: dict[str, Any] = {
    "batch_tokens": 512,
    "learning_rate": 5e-3,
    "warmup_steps": 100,
    "smoothing": 0.0,
}
REPORT_EVERY = 200  # steps, whose mean loss is printed


@dataclass(frozen=True)
class PlaysTask:
    """Some plays to learn.

    train : token ids of the training plays
    held_out : text of the play by which models are compared, Twelfth Night
    tokenizer : of both
    """

    train: list[int]
    held_out: str
    tokenizer: ByteTokenizer


@cache
def plays_task(
    n_characters: int | None = N_CHARACTERS, vocab_size: int = VOCAB_SIZE
) -> PlaysTask:
    """Load the first training plays, and learn their tokens.

    n_characters : how many are trained on; all, if None

    Raises ``DataError``, which says what to run, if the data is not there.
    """
    split = play_split()
    text = split.train[:n_characters]
    tokenizer = ByteTokenizer.train(text, vocab_size)
    return PlaysTask(tokenizer.encode(text), split.validation, tokenizer)


def make_trainer(
    task: PlaysTask,
    *,
    seed: int = 0,
    steps: int = STEPS,
    learning_rate: float | None = None,
    **options: Any,
) -> Trainer:
    """Prepare the training of a small language model; no step is made yet.

    learning_rate : the greatest one; that of TRAINING_OPTIONS, if None
    options : those of ``LanguageModelConfig`` that differ from MODEL_OPTIONS
    """
    config = LanguageModelConfig(
        len(task.tokenizer), **cast(Any, {**MODEL_OPTIONS, **options})
    )
    with one_thread():
        model = seeded_model(lambda: LanguageModel(config, device="cpu"), seed)
    chosen = {} if learning_rate is None else {"learning_rate": learning_rate}
    training_config = TrainingConfig(steps, seed=seed, **{**TRAINING_OPTIONS, **chosen})
    return Trainer(model, WindowData(task.train, config.n_positions), training_config)


def train_and_report(
    trainer: Trainer, report: Callable[[str], None] = print, every: int = REPORT_EVERY
) -> None:
    """Make all steps that are left, on one thread, and report the mean losses."""
    with one_thread():
        while trainer.step < trainer.config.steps:
            trainer.train_step()
            if trainer.step % every == 0:
                loss = sum(trainer.losses[-every:]) / every
                report(f"step {trainer.step:5}: loss {loss:.3f} nats per token")


def held_out_bits_per_byte(trainer: Trainer, task: PlaysTask) -> float:
    """Measure the model on the play that it has not read."""
    with one_thread():
        return model_bits_per_byte(
            cast(LanguageModel, trainer.model), task.tokenizer, task.held_out
        )


def writes(
    trainer: Trainer, task: PlaysTask, *, seed: int = 0, n_tokens: int = 80
) -> str:
    """Let the model write: the text behind a line break."""
    with one_thread():
        model = cast(LanguageModel, trainer.model)
        sample = write_sample(model, task.tokenizer, seed=seed, n_tokens=n_tokens)
    return sample["text"]
