"""How much of a test a model could have learned by heart: copies and near copies.

The split keeps skeletons apart (``course_lib.corpora.skeletons``); the measures here
are made in another way, so that they can find what the split let through.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from course_lib.corpora.pairs import Pair

LONG = 5
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
    exact, near, one_word = set(), set(), set()
    for side in (0, 1):
        texts = {pair[side] for pair in training}
        words = {_words(text) for text in texts}
        holes = {hole for found in words for hole in _holes(found)}
        for place, pair in enumerate(test):
            found = _words(pair[side])
            if pair[side] in texts:
                exact.add(place)
            if found in words:
                near.add(place)
            if found in words or not holes.isdisjoint(_holes(found)):
                one_word.add(place)
    n = max(len(test), 1)
    return Overlap(len(exact) / n, len(near) / n, len(one_word) / n)


def _words(text: str) -> tuple[str, ...]:
    return tuple(sorted(WORD.findall(text.casefold())))


def _holes(words: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    """Give the words with one of them taken out, in each possible way, and with none.

    Two texts that differ in one word have a hole in common, or one is a hole of the
    other. A text of fewer than five words has none but itself.
    """
    yield words
    if len(words) < LONG:  # in a short text, one word is much of the meaning
        return
    for place in range(len(words)):
        yield words[:place] + words[place + 1 :]
