"""What each change of the translator's recipe brings, one after another (lesson 11).

The Transformer is trained on texts as they are, and each time with one change more. The
first four trainings take equal time; the fifth has more of it, and a sixth shows what
that one is without the alignment start. Each is one part of the experiment: ``python -m
course_lib.experiments translation_ablation --part preprocessing --seed 1`` trains it
alone, and goes on where it was stopped. Without ``--part`` the rest is trained and all
is collected.
"""

import json
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from course_lib.experiments.record import Record
from course_lib.experiments.translation import (
    FOLDER,
    N_ROUNDS,
    path_of,
    time_steps,
    train_by_command,
)
from course_lib.nn.training.batches import PairData, encode_pairs
from course_lib.nn.training.loop import Trainer, TrainingConfig, seeded_model
from course_lib.nn.training.tasks import SYSTEMS, TASKS, Recipe


class TrainingPart(NamedTuple):
    """One training.

    label : what is new in it
    recipe : all of what is done before its first step
    training : options of ``TrainingConfig``
    """

    label: str
    recipe: Recipe
    training: dict[str, Any]


# Batches of 256 target tokens take equally long in all of them; one of 512 takes 1.7
# times as long, so that 5,600 are 1.6 times the time of 6,000.
SMALL = {"steps": 6000, "batch_tokens": 256, "learning_rate": 3e-3}
LARGE = {"steps": 5600, "batch_tokens": 512, "learning_rate": 3.5e-3}
PARTS = {
    "plain": TrainingPart("texts as they are", Recipe(), SMALL),
    "preprocessing": TrainingPart("+ preprocessing", Recipe(True), SMALL),
    "pairs": TrainingPart("+ more pairs", Recipe(True, True), SMALL),
    "alignment": TrainingPart("+ alignment start", Recipe(True, True, True), SMALL),
    "compute": TrainingPart("+ 1.6 × the time", Recipe(True, True, True), LARGE),
    "unaligned": TrainingPart("without alignment", Recipe(True, True), LARGE),
}
FULL = "compute"  # all changes; what comes after it takes one away
FLAGS = {
    "steps": "--steps",
    "batch_tokens": "--batch-tokens",
    "learning_rate": "--rate",
}


def full(seed: int, fraction: float = 1.0, folder: Path = FOLDER) -> dict[str, Any]:
    """Train all parts that are not trained yet, and collect their measures.

    fraction : of the steps; less than 1 for a trial
    folder : of the checkpoints

    Returns for each part, after its name and a comma, the measures of ``run_part``,
    "milliseconds per step" on one thread, and "seconds", of all steps at that pace; the
    samples for seed 0 only.
    """
    results: dict[str, Any] = {"share of the steps": fraction}
    milliseconds = step_times(seed)
    for name in PARTS:
        measures = run_part(name, seed, fraction, folder)
        if seed:
            del measures["samples"]
        results |= {f"{name}, {measure}": value for measure, value in measures.items()}
        results[f"{name}, milliseconds per step"] = round(milliseconds[name], 1)
        seconds = measures["steps"] * milliseconds[name] / 1000
        results[f"{name}, seconds"] = round(seconds, 1)
    return results


def run_part(
    name: str, seed: int, fraction: float = 1.0, folder: Path = FOLDER
) -> dict[str, Any]:
    """Train a part by its command, or go on with it, and read its scores.

    Returns "steps"; "bleu", "chrf" and "exact" with a beam; "greedy bleu"; "bleu" and
    "chrf" "without near copies", and the number of such pairs; "by length"; and the
    first 20 translations as "samples".
    """
    part = PARTS[name]
    training = part.training | {"steps": round(fraction * part.training["steps"])}
    path = folder / f"ablation-{name}-{seed}-of-{training['steps']}.pt"
    if name == FULL:  # the Transformer of ``translation``: not trained twice
        path = path_of("transformer", seed, training["steps"], folder)
    options = ["--task", "translation", "--system", "transformer", "--seed", str(seed)]
    for option, value in training.items():
        options += [FLAGS[option], str(value)]
    for option, chosen in vars(part.recipe).items():
        words = option.replace("_", "-")
        options.append(f"--{words}" if chosen else f"--no-{words}")
    train_by_command(options, path)
    scores = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    new = scores["without near copies"]
    return {
        "steps": training["steps"],
        "bleu": scores["bleu"],
        "chrf": scores["chrf"],
        "exact": scores["exact"],
        "greedy bleu": scores["greedy"]["bleu"],
        "bleu without near copies": new["bleu"],
        "chrf without near copies": new["chrf"],
        "pairs without near copies": new["n"],
        "by length": scores["by_length"],
        "samples": scores["shown"],
    }


def step_times(seed: int, n_rounds: int = N_ROUNDS) -> dict[str, float]:
    """Time a training step of each part, in milliseconds, on one thread."""
    task, trainers = TASKS["translation"], {}
    for name, part in PARTS.items():
        split = task.load_split(part.recipe)
        tokenizer = task.learn_tokenizer(split, part.recipe)
        options, cpu = {"vocab_size": len(tokenizer)}, torch.device("cpu")
        make = partial(SYSTEMS["transformer"].make, options, cpu)
        config = TrainingConfig(**part.training, seed=seed)
        pairs = PairData(encode_pairs(split.train, tokenizer))
        trainers[name] = Trainer(seeded_model(make, seed), pairs, config)
    return time_steps(trainers, n_rounds)


def bleus(record: Record) -> dict[str, list[float]]:
    """Return BLEU of each part's runs, by its label, for ``figures.gains``.

    Only of the parts that add something to the one before.
    """
    added = [*PARTS][: [*PARTS].index(FULL) + 1]
    return {PARTS[name].label: record.values(f"{name}, bleu") for name in added}


def table(record: Record) -> str:
    """Format the measures of each part: medians over the runs, and BLEU's range."""
    lines = [f"{'':20} BLEU   (range)     no near copy   chrF   exact   minutes"]
    for name, part in PARTS.items():
        bleu = record.values(f"{name}, bleu")
        new, chrf, exact, seconds = (
            record.median(f"{name}, {measure}")
            for measure in ("bleu without near copies", "chrf", "exact", "seconds")
        )
        span = f"({min(bleu):.1f}–{max(bleu):.1f})"
        lines.append(
            f"{part.label:20} {np.median(bleu):4.1f} {span:>13} {new:13.1f} "
            f"{chrf:6.1f} {exact:7.1%} {seconds / 60:9.1f}"
        )
    return "\n".join(lines)


def before_and_after(record: Record) -> str:
    """List twenty unselected translations without the changes, and with all of them."""
    first, last = (record.runs[0][f"{name}, samples"] for name in ("plain", FULL))
    lines = []
    for before, after in zip(first, last, strict=True):
        lines += [
            before["source"],
            f"   reference: {before['target']}",
            f"   before:    {before['translation']}",
            f"   after:     {after['translation']}",
        ]
    return "\n".join(lines)
