"""Three systems learn English to German in equal time (lesson 11).

A recurrent translator without attention, one with Bahdanau's, and the Transformer. Each
is trained by the command ``python -m course_lib.nn.train``, which resumes where it was
stopped; this module sets how long, and collects the results. As text tables they are in
``course_lib.experiments.translation_tables``.
"""

import json
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

from course_lib.lessons.environment import one_thread
from course_lib.lessons.translation_errors import (
    count_error_types,
    unseen_words,
    words,
)
from course_lib.lessons.translation_trace import trace_translation
from course_lib.nn.train import main
from course_lib.nn.training.batches import PairData, encode_pairs
from course_lib.nn.training.checkpoints import Checkpoint, load
from course_lib.nn.training.loop import Trainer, TrainingConfig, seeded_model
from course_lib.nn.training.scoring import bleu, sample_pairs, translate_texts
from course_lib.nn.training.subwords import SubwordTokenizer
from course_lib.nn.training.tasks import SYSTEMS, TASKS, Recipe

FOLDER = Path("build/trained")
# Chosen for about equal time; ``step_times`` measures what a step of each takes.
STEPS = {"fixed": 7600, "additive": 5600, "transformer": 5600}
SYSTEM_NAMES = {
    "fixed": "GRU, no attention",
    "additive": "GRU, attention",
    "transformer": "Transformer",
}
N_ATTENTION_MAPS = 2  # translations whose weights are recorded
MIN_WORDS = 5  # of their sources
N_ROUNDS, STEPS_PER_ROUND = 10, 10  # in which steps are timed
N_POINTS = 60  # of a curve of losses
PARTS = tuple(STEPS)


def full(seed: int, fraction: float = 1.0, folder: Path = FOLDER) -> dict[str, Any]:
    """Train the three systems and measure them on 1,000 test pairs.

    fraction : of the steps; less than 1 for a trial
    folder : of the checkpoints; a system that has one already is not trained again

    Returns for each system, after its name and a comma,

    - what ``evaluate_system`` returns, the attention maps for seed 0 only;
    - "milliseconds per step", from ``step_times``;
    - "seconds": what all steps take at that pace. The trainings themselves may have run
      together with other work.
    """
    results: dict[str, Any] = {"share of the steps": fraction}
    milliseconds = step_times(seed)
    for system, all_steps in STEPS.items():
        steps = round(fraction * all_steps)
        path = train_system(system, seed, steps, folder)
        for name, value in evaluate_system(path).items():
            if name != "attention maps" or seed == 0:  # they are many numbers
                results[f"{system}, {name}"] = value
        results[f"{system}, milliseconds per step"] = round(milliseconds[system], 1)
        results[f"{system}, seconds"] = round(steps * milliseconds[system] / 1000, 1)
    return results


def run_part(name: str, seed: int) -> dict[str, Any]:
    """Train one system, to be measured by ``full`` later."""
    return {"checkpoint": str(train_system(name, seed, STEPS[name]))}


def step_times(seed: int, n_rounds: int = N_ROUNDS) -> dict[str, float]:
    """Time a training step of each system, in milliseconds, on one thread.

    The systems alternate, so that other work on the machine slows all alike.
    """
    task = TASKS["translation"]
    texts = task.load_split()
    tokenizer = task.learn_tokenizer(texts)
    pairs = PairData(encode_pairs(texts.train, tokenizer))
    cpu = torch.device("cpu")
    trainers = {}
    for name in STEPS:
        make = partial(SYSTEMS[name].make, {"vocab_size": len(tokenizer)}, cpu)
        options = {**task.training, "steps": n_rounds * STEPS_PER_ROUND}
        config = TrainingConfig(**options, seed=seed)
        trainers[name] = Trainer(seeded_model(make, seed), pairs, config)
    return time_steps(trainers, n_rounds)


def time_steps(trainers: Mapping[str, Trainer], n_rounds: int) -> dict[str, float]:
    """Time a step of each training, in milliseconds, on one thread, in turns."""
    seconds = dict.fromkeys(trainers, 0.0)
    with one_thread():
        for _ in range(n_rounds):
            for name, trainer in trainers.items():
                start = time.perf_counter()
                for _ in range(STEPS_PER_ROUND):
                    trainer.train_step()
                seconds[name] += time.perf_counter() - start
    n_steps = n_rounds * STEPS_PER_ROUND
    return {name: 1000 * each / n_steps for name, each in seconds.items()}


def train_system(system: str, seed: int, steps: int, folder: Path = FOLDER) -> Path:
    """Train a system by its command, or resume that; return the checkpoint's path."""
    path = path_of(system, seed, steps, folder)
    options = ["--task", "translation", "--system", system, "--seed", str(seed)]
    train_by_command([*options, "--steps", str(steps)], path)
    return path


def path_of(system: str, seed: int, steps: int, folder: Path) -> Path:
    """Name the checkpoint of a system's training."""
    return folder / f"translation-{system}-{seed}-of-{steps}.pt"


def train_by_command(options: Sequence[str], path: Path) -> None:
    """Train on one thread by the command, or resume that, or skip what is measured.

    options : of the command, but for device, threads and output
    path : of the checkpoint; the file with its scores will be in the same folder

    Raises ``RuntimeError`` if the command failed or was stopped.
    """
    if path.with_suffix(".json").exists():
        return
    options = [*options, "--device", "cpu", "--threads", "1", "--output", str(path)]
    with one_thread():
        code = main([*options, "--resume"] if path.exists() else options)
    if code:
        raise RuntimeError(f"training {path} ended with the exit code {code}")


def evaluate_system(path: Path) -> dict[str, Any]:
    """Collect the measures of a trained system, as plain data.

    path : of its checkpoint; the file with its scores is in the same folder

    Returns

    - "bleu", "chrf", "exact" and "by length" with a beam, and "greedy bleu";
    - "bleu without near copies" of test pairs in training;
    - "steps" and "parameters", their numbers;
    - "losses", means of ``N_POINTS`` equal parts of the training;
    - "samples", the first 20 translations;
    - "attention maps", for some of them tokens and weights;
    - the measures of ``greedy_errors``.
    """
    scores = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    checkpoint = load(path)
    losses = checkpoint["training"]["losses"]
    model, tokenizer = trained_model(checkpoint), checkpoint["tokenizer"]
    parts = losses.chunk(min(N_POINTS, len(losses)))
    return {
        "bleu": scores["bleu"],
        "chrf": scores["chrf"],
        "exact": scores["exact"],
        "greedy bleu": scores["greedy"]["bleu"],
        "bleu without near copies": scores["without near copies"]["bleu"],
        "by length": scores["by_length"],
        "steps": len(losses),
        "parameters": sum(each.numel() for each in model.parameters()),
        "losses": [round(part.mean().item(), 3) for part in parts],
        "samples": scores["shown"],
        "attention maps": attention_maps(model, tokenizer, scores["shown"]),
        **greedy_errors(model, tokenizer, Recipe(**checkpoint["recipe"])),
    }


def attention_maps(
    model: Any, tokenizer: SubwordTokenizer, samples: list[dict[str, str]]
) -> list[dict[str, Any]]:
    """Compute tokens and weights of the first translations of at least five words."""
    sources = (each["source"] for each in samples)
    long = [source for source in sources if len(source.split()) >= MIN_WORDS]
    maps = []
    for source in long[:N_ATTENTION_MAPS]:
        trace = trace_translation(model, tokenizer, source)
        weights = None if trace.weights is None else trace.weights.round(2).tolist()
        maps.append(
            {
                "source": trace.source,
                "target": trace.target,
                "translation": trace.translation,
                "weights": weights,
            }
        )
    return maps


def greedy_errors(
    model: Any, tokenizer: SubwordTokenizer, recipe: Recipe
) -> dict[str, Any]:
    """Count the error types of greedy translations, and measure known words apart.

    Returns "error types", and number of pairs and BLEU of the sources whose words were
    all in training ("seen pairs", "seen bleu") and of the others ("unseen …").
    """
    texts = TASKS["translation"].load_split(recipe)
    known = {word for pair in texts.train for word in words(pair.source)}
    pairs = sample_pairs(texts.test)
    with one_thread():
        hypotheses = translate_texts(model, tokenizer, [pair.source for pair in pairs])
    references = [pair.target for pair in pairs]
    measures: dict[str, Any] = {
        "error types": count_error_types(references, hypotheses)
    }
    for group, has_unseen in {"seen": False, "unseen": True}.items():
        chosen = [
            (hypothesis, pair.target)
            for pair, hypothesis in zip(pairs, hypotheses, strict=True)
            if bool(unseen_words(pair.source, known)) == has_unseen
        ]
        measures[f"{group} pairs"] = len(chosen)
        measures[f"{group} bleu"] = bleu(*map(list, zip(*chosen, strict=True)))
    return measures


def trained_model(checkpoint: Checkpoint) -> Any:
    cpu = torch.device("cpu")
    model: Any = SYSTEMS[checkpoint["system"]].make(checkpoint["config"], cpu)
    model.load_state_dict(checkpoint["training"]["parameters"])
    return model.eval()
