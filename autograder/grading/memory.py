"""Remember what an exercise's spec answers: every submission is asked the same.

The inputs of the cases are drawn from the course's seed, so only the first submission
pays for the spec, which is written to be obvious and not to be quick.
"""

import copy
from collections import OrderedDict
from typing import Any

from autograder.exercise import Exercise
from autograder.grading.inside import wire
from autograder.outcome import copied

MOST = 500  # answers of one exercise: a case asks for ten at most
LONGEST = 1 << 16  # bytes of arguments; longer ones come from an answer, not a case


def remembering(exercise: Exercise) -> Exercise:
    """Give the exercise with a spec that remembers its answers."""
    spec = exercise.expected_function
    known: OrderedDict[bytes, Any] = OrderedDict()

    def answer(*arguments: Any, **keywords: Any) -> Any:
        key = _key(arguments, keywords)
        if key not in known:
            answered = spec(*arguments, **keywords)
            if not key:
                return answered
            known[key] = answered
            if len(known) > MOST:
                known.popitem(last=False)
        return copied(known[key])

    twin = copy.copy(exercise)
    twin.spec(answer)
    return twin


def _key(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bytes:
    """Give the arguments' bytes, or none if they are not plain data."""
    try:
        frame = wire.pack([arguments, sorted(keywords.items())], _refuse)
    except (wire.TooBig, TypeError):
        return b""
    return frame if len(frame) < LONGEST else b""


def _refuse(function: Any) -> int:
    raise TypeError("a function has no bytes")
