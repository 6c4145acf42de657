"""Beam search as a tree (lesson 11): what each step keeps, prunes and finishes.

The search itself, which returns the best hypothesis only, is
``course_lib.nn.decoding.beam_search``. A test holds the two equal.
"""

import math
from collections.abc import Callable

import numpy as np

from course_lib.lessons.hypotheses import (
    FINISHED,
    IN_BEAM,
    PRUNED,
    BeamTree,
    Hypothesis,
)
from course_lib.nn import arguments


def record_beam_search(
    next_log_probabilities: Callable[[list[int]], np.ndarray],
    start_id: int,
    end_id: int,
    beam_size: int,
    max_length: int,
    alpha: float = 0.6,
    *,
    n_pruned: int = 2,
) -> BeamTree:
    """Record the tree of a beam search, by the rules of ``beam_search``.

    next_log_probabilities … alpha : as in ``beam_search``
    n_pruned : how many pruned hypotheses are recorded in each step, the best of them

    The token ids of the best hypothesis, without end, are what ``beam_search`` returns.
    Pruned hypotheses that are impossible, with a sum of −∞, are not recorded.
    """
    arguments.whole(1, beam_size=beam_size)
    arguments.whole(0, max_length=max_length, n_pruned=n_pruned)
    arguments.real(-math.inf, math.inf, alpha=alpha)
    steps: list[list[Hypothesis]] = []
    n_continuations: list[int] = []
    unfinished = [([start_id], 0.0, -1)]  # each with its sum, and its index
    n_finished = 0
    for length in range(1, max_length + 1):
        longer = []
        for token_ids, total, parent in unfinished:
            log_probabilities = next_log_probabilities(list(token_ids))
            arguments.scores("next_log_probabilities", log_probabilities)
            for token_id, log_p in enumerate(log_probabilities):
                longer.append(([*token_ids, token_id], total + float(log_p), parent))
        longer.sort(key=lambda continuation: -continuation[1])
        room = beam_size - n_finished
        penalty = ((5 + length) / 6) ** alpha
        step, unfinished = [], []
        for rank, (token_ids, total, parent) in enumerate(longer[: room + n_pruned]):
            if rank >= room:
                state = PRUNED
            elif token_ids[-1] == end_id:
                state = FINISHED
                n_finished += 1
            else:
                state = IN_BEAM
                unfinished.append((token_ids, total, rank))
            if state != PRUNED or total > -math.inf:
                score = total / penalty
                step.append(Hypothesis(token_ids[-1], parent, total, score, state))
        steps.append(step)
        n_continuations.append(len(longer))
        if not unfinished:
            break
    return BeamTree(start_id, steps, n_continuations, _best(steps))


def _best(steps: list[list[Hypothesis]]) -> tuple[int, int] | None:
    """Find the best score among what is finished, and what is unfinished at the end."""
    ended = [
        (t, i)
        for t, step in enumerate(steps)
        for i, hypothesis in enumerate(step)
        if hypothesis.state == FINISHED
    ]
    unfinished = [
        (len(steps) - 1, i)
        for i, hypothesis in enumerate(steps[-1] if steps else [])
        if hypothesis.state == IN_BEAM
    ]
    return max(
        ended + unfinished, key=lambda each: steps[each[0]][each[1]].score, default=None
    )
