"""The block of 2017, each change of today's alone, and all together (lesson 12).

Small language models of the plays, equal in steps, batches and, within 3 %, parameters:
what a change adds or saves is made even by the feed-forward networks' size. The kinds
take turns, so that other work on the machine slows all alike.

A learning rate that suits one block is too high for another. So each kind is trained
with four, and that with the lowest loss in the last 100 steps counts.
"""

import math
import time
from collections.abc import Mapping
from functools import cache
from statistics import fmean
from typing import Any, TypeVar, cast

from course_lib.lessons.environment import one_thread
from course_lib.lessons.tiny_shakespeare import (
    MODEL_OPTIONS,
    PlaysTask,
    held_out_bits_per_byte,
    make_trainer,
    plays_task,
)
from course_lib.nn.language_model import (
    BLOCK_2017,
    BLOCK_TODAY,
    LanguageModel,
    LanguageModelConfig,
)
from course_lib.nn.training.loop import Trainer

Key = TypeVar("Key")
STEPS, STEPS_PER_TURN = 800, 50
N_LAST = 100  # steps whose loss chooses the learning rate
LEARNING_RATES = (1.25e-3, 2.5e-3, 5e-3, 1e-2)
N_KV_HEADS = 2  # of grouped queries, for four heads
# What differs from the block of 2017.
CHANGES: dict[str, dict[str, Any]] = {
    "2017": {},
    "RMSNorm": {"norm": "rms"},
    "pre-norm": {"norm_first": True},
    "SwiGLU": {"feed_forward": "swiglu"},
    "rotary": {"positions": "rotary"},
    "grouped queries": {"n_kv_heads": N_KV_HEADS},
    "all": BLOCK_TODAY | {"n_kv_heads": N_KV_HEADS},
}


def full(seed: int, steps: int = STEPS) -> dict[str, Any]:
    """Train each kind of block on the plays, and measure it on Twelfth Night.

    Returns for each kind, after its name and a comma, what ``measure`` does for its
    best learning rate, that one as "learning rate", and "last losses": those of all
    four, in the order of LEARNING_RATES.
    """
    task = plays_task(None)
    trainers = {
        (kind, learning_rate): make_trainer(
            task,
            seed=seed,
            steps=steps,
            learning_rate=learning_rate,
            **options(kind, task),
        )
        for learning_rate in LEARNING_RATES
        for kind in CHANGES
    }
    milliseconds = train_in_turns(trainers)
    best, results = {}, dict[str, Any]()
    for kind in CHANGES:
        last = {
            learning_rate: fmean(trainers[kind, learning_rate].losses[-N_LAST:])
            for learning_rate in LEARNING_RATES
        }
        best[kind] = min(last, key=last.__getitem__)
        results[f"{kind}, learning rate"] = best[kind]
        results[f"{kind}, last losses"] = [round(each, 4) for each in last.values()]
    return results | measure(
        {key[0]: trainers[key] for key in best.items()},
        {key[0]: milliseconds[key] for key in best.items()},
        task,
    )


def options(kind: str, task: PlaysTask) -> dict[str, Any]:
    """Return a kind's options of ``LanguageModelConfig``, as large as that of 2017."""
    chosen = {**BLOCK_2017, **CHANGES[kind]}
    return chosen | {"d_ff": _equal_size(kind, len(task.tokenizer))}


def train_in_turns(trainers: Mapping[Key, Trainer]) -> dict[Key, float]:
    """Make all steps of some trainings, 50 of each in turns, on one thread.

    Returns for each how many milliseconds of processor time a step took.
    """
    seconds = dict.fromkeys(trainers, 0.0)
    with one_thread():
        while any(each.step < each.config.steps for each in trainers.values()):
            for name, trainer in trainers.items():
                start = time.process_time()
                for _ in range(
                    min(STEPS_PER_TURN, trainer.config.steps - trainer.step)
                ):
                    trainer.train_step()
                seconds[name] += time.process_time() - start
    return {
        name: 1000 * each / trainers[name].config.steps
        for name, each in seconds.items()
    }


def measure(
    trainers: Mapping[str, Trainer],
    milliseconds: Mapping[str, float],
    task: PlaysTask,
) -> dict[str, Any]:
    """Measure trained models on the held-out play, as plain data.

    Returns for each, after its name and a comma,

    - "bits per byte" and "loss", the same in nats per token, of the held-out play;
    - "parameters" and "milliseconds per step", of processor time.
    """
    n_tokens = len(task.tokenizer.encode(task.held_out))
    n_bytes = len(task.held_out.encode())
    results: dict[str, Any] = {}
    for name, trainer in trainers.items():
        bits = held_out_bits_per_byte(trainer, task)
        results[f"{name}, loss"] = round(bits * math.log(2) * n_bytes / n_tokens, 4)
        results[f"{name}, bits per byte"] = round(bits, 4)
        results[f"{name}, parameters"] = count_parameters(trainer.model)
        results[f"{name}, milliseconds per step"] = round(milliseconds[name], 1)
    return results


def count_parameters(model: Any) -> int:
    """Return how many numbers a model learns."""
    return sum(each.numel() for each in model.parameters())


@cache
def _equal_size(kind: str, vocab_size: int) -> int:
    """Return the d_ff with which a kind has as many parameters as that of 2017."""
    wanted = _count("2017", vocab_size, 4 * MODEL_OPTIONS["d_model"])
    one, two = (_count(kind, vocab_size, d_ff) for d_ff in (1, 2))
    return 1 + round((wanted - one) / (two - one))


def _count(kind: str, vocab_size: int, d_ff: int) -> int:
    chosen = {**MODEL_OPTIONS, **BLOCK_2017, **CHANGES[kind], "d_ff": d_ff}
    config = LanguageModelConfig(vocab_size, **cast(Any, chosen))
    return count_parameters(LanguageModel(config, device="cpu"))
