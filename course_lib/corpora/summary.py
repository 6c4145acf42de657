"""What data there is: tables, and how much of a test a model could have memorised.

The split keeps skeletons apart (``course_lib.corpora.pairs``). The overlap is measured
here in another way, so that it can find what the split let through.
"""

import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text

from course_lib.corpora.datasets import DATASETS
from course_lib.corpora.pairs import Pair
from course_lib.corpora.translations import translation_pairs

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
    exact, near, one_word = set(), set(), set()
    for side in (0, 1):
        texts = {pair[side] for pair in training}
        known = {_words(text) for text in texts}
        known_holes = {hole for words in known for hole in _holes(words)}
        for index, pair in enumerate(test):
            words = _words(pair[side])
            if pair[side] in texts:
                exact.add(index)
            if words in known:
                near.add(index)
            if words in known or not known_holes.isdisjoint(_holes(words)):
                one_word.add(index)
    n = max(len(test), 1)
    return Overlap(len(exact) / n, len(near) / n, len(one_word) / n)


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


def datasets_table() -> Table:
    """List where the data is from and under which licence."""
    table = Table("data", "licence", "what is read")
    for dataset in DATASETS:
        name = f"{dataset.name}\n({dataset.requirement})"
        table.add_row(name, dataset.licence, dataset.description)
    return table


def pairs_table() -> Table:
    """Count pairs, tokens and types of each part of the translation data.

    Tokens are separated by spaces, types are different tokens; near is the share of the
    part's pairs of which training has a copy or near copy, one the share of those of
    which it has one but for a single word.
    """
    parts = translation_pairs()
    table = Table("translation", title_justify="left")
    columns = "pairs, en tokens, en types, de tokens, de types, near, one"
    for column in columns.split(", "):
        table.add_column(column, justify="right")
    for name in ("train", "validation", "test"):
        pairs = getattr(parts, name)
        english = _counts(pair.source for pair in pairs)
        german = _counts(pair.target for pair in pairs)
        counts = (f"{count:,}" for count in (len(pairs), *english, *german))
        table.add_row(name, *counts, *_copies(parts.train, name, pairs))
    return table


def samples_table(n: int = 20, seed: int = 0) -> Table:
    """List pairs of all three parts, drawn at random and not chosen."""
    parts = translation_pairs()
    table = Table("English", "German")
    pairs = [*parts.train, *parts.validation, *parts.test]
    for pair in random.Random(seed).sample(pairs, n):
        table.add_row(Text(pair.source), Text(pair.target))
    return table


def _copies(training: list[Pair], name: str, pairs: list[Pair]) -> tuple[str, str]:
    if name == "train":
        return "", ""
    copies = overlap(training, pairs)
    return f"{copies.near:.1%}", f"{copies.one_word:.1%}"


def _counts(texts: Iterable[str]) -> tuple[int, int]:
    tokens = [token for text in texts for token in text.split()]
    return len(tokens), len(set(tokens))
