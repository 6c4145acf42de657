"""The language model of lesson 12: trained by its command, measured, and read.

``python -m course_lib.nn.train --task language`` trains it, and resumes where it was
stopped; this module collects its measures, beside those of n-grams and xz. The record's
own seconds are without trainings that were there already; those of each run are of its
training.
"""

import json
from pathlib import Path
from typing import Any

import torch

from course_lib.corpora.plays import play_split
from course_lib.experiments.blocks import train_in_turns
from course_lib.experiments.translation import train_by_command
from course_lib.lessons.environment import one_thread
from course_lib.nn.language_model import LanguageModel
from course_lib.nn.training.checkpoints import load
from course_lib.nn.training.language import LANGUAGE, load_language_model
from course_lib.nn.training.language_scoring import write_sample
from course_lib.nn.training.loop import Trainer, TrainingConfig, seeded_model

FOLDER = Path("build/trained")
SYSTEM = "today"
STEPS = LANGUAGE.training["steps"]
N_SAMPLES, N_SAMPLE_TOKENS = 20, 40
N_POINTS = 60  # of the curve of losses
N_TIMED_STEPS = 30
PARTS = (SYSTEM,)


def full(seed: int, fraction: float = 1.0, folder: Path = FOLDER) -> dict[str, Any]:
    """Train the language model by its command, and measure it on The Tempest.

    fraction : of the steps; less than 1 for a trial
    folder : of the checkpoint; if it is there already, it is not trained again

    Returns

    - what ``language_scoring.evaluate`` returns, but for its sample and its time;
    - "steps", and "losses", means of ``N_POINTS`` equal parts of the training;
    - "samples", twenty texts of 40 tokens, each with the seed of its draws;
    - "longest copy": of all samples the most words in a row that a training play has,
      the "text" and its number of "words";
    - "milliseconds per step" of processor time, on one thread, and "seconds", what all
      steps take at that pace.
    """
    steps = round(fraction * STEPS)
    path = train(seed, steps, folder)
    scores = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    losses = load(path)["training"]["losses"]
    parts = losses.chunk(min(N_POINTS, len(losses)))
    texts = samples(path, seed)
    milliseconds = step_time(seed)
    copies = [longest_copy(each["text"], play_split().train) for each in texts]
    copy = max(copies, key=lambda text: len(text.split()))
    not_kept = ("sample", "seconds", "scoring_seconds")
    return {
        **{name: value for name, value in scores.items() if name not in not_kept},
        "steps": len(losses),
        "losses": [round(part.mean().item(), 3) for part in parts],
        "samples": texts,
        "longest copy": {"words": len(copy.split()), "text": copy},
        "milliseconds per step": round(milliseconds, 1),
        "seconds": round(len(losses) * milliseconds / 1000, 1),
    }


def run_part(name: str, seed: int) -> dict[str, Any]:
    """Train the model, to be measured by ``full`` later."""
    return {"checkpoint": str(train(seed, STEPS))}


def train(seed: int, steps: int, folder: Path = FOLDER) -> Path:
    """Train by the command, or resume that; return the checkpoint's path."""
    path = folder / f"language-{SYSTEM}-{seed}-of-{steps}.pt"
    options = ["--task", LANGUAGE.name, "--system", SYSTEM, "--seed", str(seed)]
    train_by_command([*options, "--steps", str(steps)], path)
    return path


def samples(path: Path, seed: int) -> list[dict[str, Any]]:
    """Let a trained model write twenty texts: none is left out."""
    with one_thread():
        model, tokenizer = load_language_model(path)
        drawn = (
            write_sample(model, tokenizer, seed=each, n_tokens=N_SAMPLE_TOKENS)
            for each in range(N_SAMPLES * seed, N_SAMPLES * (seed + 1))
        )
        return [{"seed": each["seed"], "text": each["text"]} for each in drawn]


def longest_copy(text: str, training: str) -> str:
    """Return the most words of a text in a row that stand so in another text.

    White space of any kind parts words; commas and the like belong to them.

    >>> longest_copy("or not to see,", "To be, or not\\nto be")
    'or not to'
    """
    words, searched = text.split(), f" {' '.join(training.split())} "
    best: list[str] = []
    for start in range(len(words)):
        while True:
            longer = words[start : start + len(best) + 1]
            too_short = len(longer) <= len(best)
            if too_short or f" {' '.join(longer)} " not in searched:
                break
            best = longer
    return " ".join(best)


def step_time(seed: int) -> float:
    """Time a training step, in milliseconds of processor time, on one thread."""
    split = play_split()
    tokenizer = LANGUAGE.learn_tokenizer(split)
    options = {"vocab_size": len(tokenizer)}
    system = LANGUAGE.systems[SYSTEM]
    model = seeded_model(lambda: system.make(options, torch.device("cpu")), seed)
    config = TrainingConfig(**{**LANGUAGE.training, "steps": N_TIMED_STEPS}, seed=seed)
    assert isinstance(model, LanguageModel)
    data = LANGUAGE.training_data(model, LANGUAGE.encode(split, tokenizer))
    return train_in_turns({SYSTEM: Trainer(model, data, config)})[SYSTEM]
