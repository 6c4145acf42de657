"""Losses of five models that read numbers aloud, and what they get right (lesson 16).

One of them is healthy; the others have one broken part each. The models are those of
``course_lib.lessons.patients``.
"""

from typing import Any

SEEDS = (0,)  # the lesson's own models: they are trained again below
MODELS = "ABCDE"


def full(seed: int) -> dict[str, Any]:
    """Return the steps, each model's losses by letter, and its share of right answers.

    ``losses`` are means over twenty steps; ``right`` is the share of 100 numbers, new
    to all models, that are read without an error.
    """
    # Here, since lesson 16 reads the record on its first screen, before PyTorch.
    from course_lib.lessons.patients import training

    runs = {letter: training.run(letter, seed=seed) for letter in MODELS}
    pairs = training.fresh_pairs()
    return {
        "steps": [int(step) for step in training.STEP_AXIS],
        "losses": {
            letter: [round(float(loss), 3) for loss in run.curve()]
            for letter, run in runs.items()
        },
        "right": {letter: run.score(pairs) for letter, run in runs.items()},
    }
