"""Cases that many banks have, stated by the sizes of their calls.

Each function returns what ``exercise.case`` takes, under the name that the case has.
``inputs(rng, leading, **sizes)`` is what ``exercise.inputs`` returns, or a function of
the bank. A call is what it takes beside rng: the leading axes, or all of its keywords.
A case that needs anything else, such as a mask, is a function of its own.

>>> from autograder import Exercise
>>> from course_lib.attention import scaled_scores
>>> exercise = Exercise(scaled_scores, lesson="01", minutes=10, difficulty=2)
>>> inputs = exercise.inputs(n=5, m=7, d_k=4)
>>> case = exercise.case("Each sequence of a batch is scored by itself", weight=3)(
...     leading_axes(inputs, (2,), dict(leading=(2, 3), n=1))
... )
>>> exercise.cases[0].name
'leading_axes'
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Draw = Callable[..., tuple[Any, ...]]
Sizes = tuple[int, ...] | Mapping[str, Any]
Run = Callable[[Any, np.random.Generator], None]


def leading_axes(inputs: Draw, *calls: Sizes) -> Run:
    """Return the case that calls with these leading axes are answered rightly.

    Where some sizes are alike, a wrong axis gives the right shape: only the numbers
    show it.
    """
    return _each("leading_axes", "agrees", inputs, calls)


def double_precision(inputs: Draw, *calls: Sizes) -> Run:
    """Return the case that calls with numbers of float64 are answered rightly."""
    return _each("double_precision", "agrees", inputs, calls, dtype=np.float64)


def arguments_stay(inputs: Draw, *calls: Sizes) -> Run:
    """Return the case that calls leave their arguments as they were.

    With all sizes alike (``dict(alike=4)``), each product and the result fit into an
    argument, so that no exception stops an answer that writes them there.
    """
    return _each("arguments_stay", "leaves_unchanged", inputs, calls)


def _each(
    name: str, claim: str, inputs: Draw, calls: tuple[Sizes, ...], **same: Any
) -> Run:
    """Return a case of this name that makes this claim of each call."""

    def run(student: Any, rng: np.random.Generator) -> None:
        for call in calls:
            sizes = call if isinstance(call, Mapping) else {"leading": call}
            getattr(student, claim)(*inputs(rng, **sizes, **same))

    if not calls:
        raise TypeError(f"{name} needs the sizes of a call, such as () or dict(n=1)")
    run.__name__ = name
    return run
