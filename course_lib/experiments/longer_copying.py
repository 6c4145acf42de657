"""Copy 12 letters through one vector: with more steps, or a larger vector (lesson 08).

The decoder reads nothing of the source but one vector, and the words have up to 12
letters, as in the small training of the lesson. Each number of steps is a training of
its own, since the learning rate goes down over all of them.
"""

from typing import Any

from course_lib.experiments import bottleneck

LENGTH = 12
STEPS = (200, 500, 1000, 2000, 5000)
LARGER = 256  # instead of bottleneck.D_HIDDEN = 64
LARGER_STEPS = 500


def full(seed: int) -> dict[str, Any]:
    """Return the share of right letters by number of steps, and for a larger state.

    The names are "<steps> steps", and "<length> numbers, <steps> steps" for a state of
    another length.
    """
    results = {f"{steps} steps": _accuracy(seed, steps=steps) for steps in STEPS}
    results[f"{LARGER} numbers, {LARGER_STEPS} steps"] = _accuracy(
        seed, steps=LARGER_STEPS, d_hidden=LARGER
    )
    return results


def _accuracy(seed: int, **options: int) -> float:
    model = bottleneck.train("none", seed=seed, max_length=LENGTH, **options)
    return round(bottleneck.accuracy(model, LENGTH), 3)
