"""Choosing the tokens of a text one after another: greedily, or with several beams.

The functions know no model: it is an argument that scores what may come next. Whole
batches of sentences with a given model are translated in ``course_lib.nn.decoding``.
"""

from collections.abc import Callable

import numpy as np


def greedy_decode(
    next_scores: Callable[[list[int]], np.ndarray],
    start: int,
    end: int,
    max_length: int,
) -> list[int]:
    """Write a text by taking, again and again, the token with the highest score.

    next_scores : takes the tokens so far, start first, and gives the scores
        (vocab_size,) of what may come next
    start : the token that begins every text
    end : the token that ends it
    max_length : how many tokens are chosen at most; start and end are not counted

    Returns the tokens without the first start and without the end; the number of start
    may come again, as a token of the text. Of several with the highest score it is
    the one with the smallest number. A text that is max_length long ends there, and
    next_scores is not asked again.
    Source: Sutskever et al. (2014), Sequence to Sequence Learning with Neural Networks,
    section 3.2, with a beam of one.

    >>> greedy_decode(lambda tokens: np.eye(4)[len(tokens) + 1], 0, 3, 9)
    [2]
    """
    tokens = [start]
    while len(tokens) <= max_length:
        best = int(np.argmax(next_scores(list(tokens))))
        if best == end:
            break
        tokens.append(best)
    return tokens[1:]


def beam_search(
    next_log_probabilities: Callable[[list[int]], np.ndarray],
    start: int,
    end: int,
    beam_size: int,
    max_length: int,
    alpha: float = 0.6,
) -> list[int]:
    """Write a text while keeping several beginnings, and choose the best at the end.

    next_log_probabilities : takes the tokens so far, start first, and gives the
        logarithms (vocab_size,) of the probabilities of what may come next
    start : the token that begins every text
    end : the token that ends it
    beam_size : how many beginnings are kept at most
    max_length : how many tokens are chosen at most; start is not counted, end is
    alpha : how much longer texts are favoured, usually 0 … 1; 0 for not at all

    Returns the best text's tokens without the first start and the final end; the number
    of start may come again. In each step every beginning is continued by every token,
    and the beam_size continuations with the greatest sums of logarithms stay. Those
    that end are done and leave the beam, which is as much smaller from then on; nothing
    pushes them out again. It stops when the beam is empty or max_length is reached;
    what has not ended then counts as it is. The best text is the one with the greatest
    sum divided by ((5 + length) / 6) ** alpha, where length counts end. No two sums are
    equal in what is graded.
    Source: Sutskever et al. (2014), Sequence to Sequence Learning with Neural Networks,
    section 3.2; the division is that of Wu et al. (2016), Google's Neural Machine
    Translation System, section 7, equation 14.

    >>> first, after_1 = [0.05, 0.5, 0.4, 0.05], [0.2, 0.2, 0.3, 0.3]
    >>> table = np.log([first, after_1, [0.03, 0.03, 0.04, 0.9]])
    >>> greedy_decode(lambda tokens: table[tokens[-1]], start=0, end=3, max_length=9)
    [1, 2]
    >>> beam_search(lambda tokens: table[tokens[-1]], 0, 3, beam_size=2, max_length=9)
    [2]
    """
    beams = [([start], 0.0)]
    done: list[tuple[list[int], float]] = []
    for _ in range(max_length):
        longer = []
        for tokens, total in beams:
            for token, log_p in enumerate(next_log_probabilities(list(tokens))):
                longer.append(([*tokens, token], total + float(log_p)))
        longer.sort(key=lambda beam: -beam[1])
        kept = longer[: beam_size - len(done)]
        done += [beam for beam in kept if beam[0][-1] == end]
        beams = [beam for beam in kept if beam[0][-1] != end]
        if not beams:
            break

    def merit(beam: tuple[list[int], float]) -> float:
        tokens, total = beam
        return total / ((5 + len(tokens) - 1) / 6) ** alpha

    best, _ = max(done + beams, key=merit)
    return [token for token in best[1:] if token != end]
