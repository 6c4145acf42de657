"""The symptom of each broken model: one number, and when it is healthy.

``compare`` prints it for several runs; the tests hold it over three seeds.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from course_lib.lessons.patients import probes
from course_lib.lessons.patients.reader import VOCABULARY
from course_lib.lessons.patients.training import Run, digits_of, fresh_pairs

LN_V = float(np.log(len(VOCABULARY)))


@dataclass(frozen=True)
class Symptom:
    """What is measured of a run, and whether the number is that of a healthy one."""

    label: str
    measure: Callable[[Run], float]
    is_healthy: Callable[[float], bool]


def first_loss(run: Run) -> float:
    """Return the loss before the first step."""
    return run.losses[0]


def last_loss(run: Run) -> float:
    """Return the mean loss of the last 20 steps."""
    return float(np.mean(run.losses[-20:]))


def loss_after_100(run: Run) -> float:
    """Return the mean loss of the steps 140 to 160."""
    return float(np.mean(run.losses[140:160]))


def last_norm(run: Run) -> float:
    """Return the median norm of the gradient in the last 50 steps."""
    return float(np.median(run.gradient_norms[-50:]))


def fresh_score(run: Run) -> float:
    """Return the share of 100 numbers, new to all models, that are read right."""
    return run.score(fresh_pairs())


def answers_alone(run: Run) -> float:
    """Return how many different answers eight numbers get, each read alone."""
    texts = [digits_of(pair) for pair in fresh_pairs()[:8]]
    return len({run.read([text])[0] for text in texts})


def _exact(value: float) -> bool:
    return value < 1e-3  # 32-bit floats


SYMPTOMS: dict[str, Symptom] = {
    "B": Symptom("first loss", first_loss, lambda value: value < 1.1 * LN_V),
    "F": Symptom("first loss", first_loss, lambda value: value > 0.95 * LN_V),
    "D": Symptom("leak", probes.leak, _exact),
    "A": Symptom("fresh numbers right", fresh_score, lambda value: value > 0.5),
    "G": Symptom("leak", probes.leak, _exact),
    "H": Symptom("fresh numbers right", fresh_score, lambda value: value > 0.6),
    "E": Symptom("norm of the gradient", last_norm, lambda value: value < 12),
    "I": Symptom("loss after 150 steps", loss_after_100, lambda value: value < 1.5),
    "J": Symptom("last loss", last_loss, lambda value: value < 1),
    "K": Symptom("order of digits", probes.order_gap, lambda value: value > 0.5),
    "L": Symptom("answers to eight alone", answers_alone, lambda value: value == 8),
    "M": Symptom("difference by the batch", probes.batch_gap, _exact),
    "N": Symptom("difference of two calls", probes.repeat_gap, _exact),
    "O": Symptom("read otherwise with a cache", probes.cache_gap, _exact),
}


def shared(run: Run) -> int:
    """Return how many numbers are both learned from and held out."""
    return len({*map(digits_of, run.train)} & {*map(digits_of, run.held_out)})


def measured(run: Run) -> dict[str, float]:
    """Return what is measured of a run, in the order of the checks."""
    return {
        "shared": shared(run),
        "first_loss": first_loss(run) / LN_V,
        "leak": probes.leak(run),
        "later_weight": probes.leak_of_mask(run),
        "copies": probes.copies(run),
        "last_loss": last_loss(run),
        "gradient_growth": last_norm(run) / run.gradient_norms[0],
        "rate_growth": max(run.learning_rates) / run.learning_rates[0],
        "repeat_gap": probes.repeat_gap(run),
        "equal_length_gap": probes.batch_gap(run, equal_lengths=True),
        "order_gap": probes.order_gap(run),
        "batch_gap": probes.batch_gap(run),
        "cache_gap": probes.cache_gap(run),
    }


def compare(letter: str, runs: Mapping[str, Run]) -> None:
    """Print a model's symptom for several runs, by their names.

    The last one is the mended one: it says whether the symptom is gone.
    """
    symptom = SYMPTOMS[letter]
    value = 0.0
    for name, run in runs.items():
        value = symptom.measure(run)
        print(f"{name:>12}: {symptom.label} {value:.2f}")
    gone = symptom.is_healthy(value)
    print("The symptom is gone." if gone else "The symptom is still there.")
