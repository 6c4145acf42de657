"""Four sizes of language model: the loss against the number of parameters (lesson 12).

Equal steps on the same windows of the plays; each size has about three times the
parameters of the one before.
"""

from typing import Any

from course_lib.experiments.blocks import measure, train_in_turns
from course_lib.lessons.tiny_shakespeare import make_trainer, plays_task

STEPS = 800
# Length of a token's vector and number of layers.
SIZES = {"XS": (16, 1), "S": (32, 2), "M": (64, 2), "L": (96, 4)}


def full(seed: int, steps: int = STEPS) -> dict[str, Any]:
    """Train each size on the plays, and measure it on Twelfth Night.

    Returns for each size, after its name and a comma, what ``blocks.measure`` does.
    """
    task = plays_task(None)
    trainers = {
        size: make_trainer(
            task, seed=seed, steps=steps, d_model=d_model, n_layers=n_layers
        )
        for size, (d_model, n_layers) in SIZES.items()
    }
    return measure(trainers, train_in_turns(trainers), task)
