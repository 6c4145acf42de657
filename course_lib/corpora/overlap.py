"""How much of a test a model could have memorised.

The split keeps skeletons apart (``course_lib.corpora.pairs``). The overlap is measured
here in another way, so that it can find what the split let through.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from course_lib.corpora.pairs import Pair

MIN_WORDS = 5
WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True)
class Overlap:
    """Shares of the test, 0 … 1, that training has too, on either side of a pair.

    exact : the same text
    near : the same words of two letters and more, in any order
    one_word : of the texts of five words and more, also those with the same words but
        for one that is another, or missing, or added
    """

    exact: float
    near: float
    one_word: float


def overlap(training: Sequence[Pair], test: Sequence[Pair]) -> Overlap:
    """Measure how much of a test is in the training data, or nearly is.

    >>> overlap([Pair("Zone 1 is open", "a b")], [Pair("zone 2: is open", "c d")]).near
    1.0
    """
    exact, near = set(), set()
    for side in (0, 1):
        texts = {pair[side] for pair in training}
        known = {_words(text) for text in texts}
        for index, pair in enumerate(test):
            if pair[side] in texts:
                exact.add(index)
            if _words(pair[side]) in known:
                near.add(index)
    n = max(len(test), 1)
    one_word = sum(near_copies(training, test))
    return Overlap(len(exact) / n, len(near) / n, one_word / n)


def near_copies(training: Sequence[Pair], test: Sequence[Pair]) -> list[bool]:
    """Return for each test pair whether training has it but for one word.

    >>> training = [Pair("The door is open now", "")]
    >>> near_copies(training, [Pair("The gate is open now", "Das Tor ist jetzt offen")])
    [True]
    """
    copies = [False] * len(test)
    for side in (0, 1):
        known = {hole for pair in training for hole in _holes(_words(pair[side]))}
        for index, pair in enumerate(test):
            copies[index] |= not known.isdisjoint(_holes(_words(pair[side])))
    return copies


def _words(text: str) -> tuple[str, ...]:
    return tuple(sorted(WORD.findall(text.casefold())))


def _holes(words: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    """Yield the words, then the words without one of them, in each possible way.

    Two texts that differ in one word have a hole in common, or one is a hole of the
    other. A text of fewer than five words has none but itself.
    """
    yield words
    if len(words) < MIN_WORDS:  # in a short text, one word is much of the meaning
        return
    for i in range(len(words)):
        yield words[:i] + words[i + 1 :]
