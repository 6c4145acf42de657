"""Three systems learn English to German in equal time (lesson 09).

A recurrent translator without attention, one with Bahdanau's, and the Transformer. Each
is trained by the command ``python -m course_lib.nn.train``, which goes on where it was
stopped; this module says how long, and collects what came of it.
"""

import json
import time
from functools import partial
from pathlib import Path
from typing import Any

import torch

from course_lib.corpora.translations import translation_pairs
from course_lib.lessons.environment import one_thread
from course_lib.lessons.translation_errors import counted, unseen, words
from course_lib.lessons.translation_trace import watch
from course_lib.nn.train import main
from course_lib.nn.training.batches import examples
from course_lib.nn.training.checkpoints import Checkpoint, load
from course_lib.nn.training.loop import Recipe, Training, initial
from course_lib.nn.training.scoring import bleu, drawn, translations
from course_lib.nn.training.subwords import Subwords
from course_lib.nn.training.tasks import SYSTEMS, TASKS

FOLDER = Path("build/trained")
# Chosen for about equal time; ``paces`` measures what an update of each takes.
UPDATES = {"fixed": 7000, "additive": 5000, "transformer": 6000}
NAMES = {
    "fixed": "GRU, no attention",
    "additive": "GRU, attention",
    "transformer": "Transformer",
}
N_LOOKS = 2  # translations whose weights are kept
LONG = 5  # words that their sources have at least
TURNS, PER_TURN = 10, 10  # in which updates are timed
N_POINTS = 60  # of a curve of losses


def full(seed: int, share: float = 1.0, folder: Path = FOLDER) -> dict[str, Any]:
    """Train the three systems and measure them on 1,000 test pairs.

    share : of the updates; less than 1 for a trial
    folder : of the checkpoints; what is there already is not trained again

    Gives for each system, with its name and a comma before, what ``measured`` gives;
    the looks for seed 0 only. And "milliseconds per update", from ``paces``, and what
    all updates take at that pace, "seconds": the trainings themselves may have run
    beside other work.
    """
    found: dict[str, Any] = {"share of the updates": share}
    pace = paces(seed)
    for system, most in UPDATES.items():
        updates = round(share * most)
        path = trained(system, seed, updates, folder)
        for name, kept in measured(path).items():
            if name != "looks" or seed == 0:  # they are many numbers
                found[f"{system}, {name}"] = kept
        found[f"{system}, milliseconds per update"] = round(pace[system], 1)
        found[f"{system}, seconds"] = round(updates * pace[system] / 1000, 1)
    return found


def paces(seed: int, turns: int = TURNS) -> dict[str, float]:
    """Time an update of each system, in milliseconds, on one thread.

    They take turns, so that what else the machine does hits all alike.
    """
    texts = translation_pairs()
    subwords = TASKS["translation"].subwords(texts)
    pairs, cpu = examples(texts.train, subwords), torch.device("cpu")
    spent = dict.fromkeys(UPDATES, 0.0)
    with one_thread():
        trainings = {}
        for name in UPDATES:
            make = partial(SYSTEMS[name].make, {"vocab_size": len(subwords)}, cpu)
            recipe = Recipe(turns * PER_TURN, seed=seed)
            trainings[name] = Training(initial(make, seed), pairs, recipe)
        for _ in range(turns):
            for name, training in trainings.items():
                start = time.perf_counter()
                for _ in range(PER_TURN):
                    training.update()
                spent[name] += time.perf_counter() - start
    return {name: 1000 * each / (turns * PER_TURN) for name, each in spent.items()}


def trained(system: str, seed: int, updates: int, folder: Path = FOLDER) -> Path:
    """Train a system by the named command, or go on with it; gives the checkpoint.

    Raises ``RuntimeError`` if the command failed or was stopped.
    """
    path = folder / f"translation-{system}-{seed}-of-{updates}.pt"
    if path.with_suffix(".json").exists():
        return path
    wishes = ["--task", "translation", "--system", system, "--seed", str(seed)]
    wishes += ["--steps", str(updates), "--device", "cpu", "--threads", "1"]
    wishes += ["--output", str(path)]
    with one_thread():
        code = main([*wishes, "--resume"] if path.exists() else wishes)
    if code:
        raise RuntimeError(f"training {path} ended with the exit code {code}")
    return path


def measured(path: Path) -> dict[str, Any]:
    """Collect what is known of a trained system, as plain data.

    path : of its checkpoint; its measures are beside it

    Gives "bleu", "chrf", "exact" and "by length" with a beam, "greedy bleu"; "updates"
    and "parameters"; "losses", means of ``N_POINTS`` equal parts of the training;
    "shown", the first 20 translations; "looks", for some of them tokens and weights;
    and, of greedy translations, "kinds" of mistakes, and BLEU where all words were
    "seen" in training or one was "unseen".
    """
    scores = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    checkpoint = load(path)
    losses = checkpoint["training"]["losses"]
    model, subwords = _model(checkpoint), checkpoint["subwords"]
    parts = losses.chunk(min(N_POINTS, len(losses)))
    return {
        "bleu": scores["bleu"],
        "chrf": scores["chrf"],
        "exact": scores["exact"],
        "greedy bleu": scores["greedy"]["bleu"],
        "by length": scores["by_length"],
        "updates": len(losses),
        "parameters": sum(each.numel() for each in model.parameters()),
        "losses": [round(part.mean().item(), 3) for part in parts],
        "shown": scores["shown"],
        "looks": looks(model, subwords, scores["shown"]),
        **greedy_mistakes(model, subwords),
    }


def looks(
    model: Any, subwords: Subwords, shown: list[dict[str, str]]
) -> list[dict[str, Any]]:
    """Keep at what a model looks in the first translations of at least five words."""
    long = [each["source"] for each in shown if len(each["source"].split()) >= LONG]
    found = []
    for text in long[:N_LOOKS]:
        seen = watch(model, subwords, text)
        weights = None if seen.weights is None else seen.weights.round(2).tolist()
        found.append({"source": seen.source, "target": seen.target, "weights": weights})
    return found


def greedy_mistakes(model: Any, subwords: Subwords) -> dict[str, Any]:
    """Count what is wrong with greedy translations, and measure known words apart."""
    texts = translation_pairs()
    known = {word for pair in texts.train for word in words(pair.source)}
    pairs = drawn(texts.test)
    with one_thread():
        found = translations(model, subwords, [pair.source for pair in pairs])
    measures: dict[str, Any] = {
        "kinds": counted([pair.target for pair in pairs], found)
    }
    for name, wanted in {"seen": False, "unseen": True}.items():
        chosen = [
            (text, pair.target)
            for pair, text in zip(pairs, found, strict=True)
            if bool(unseen(pair.source, known)) == wanted
        ]
        measures[f"{name} pairs"] = len(chosen)
        measures[f"{name} bleu"] = bleu(*map(list, zip(*chosen, strict=True)))
    return measures


def _model(checkpoint: Checkpoint) -> Any:
    cpu = torch.device("cpu")
    model: Any = SYSTEMS[checkpoint["system"]].make(checkpoint["sizes"], cpu)
    model.load_state_dict(checkpoint["training"]["parameters"])
    return model.eval()
