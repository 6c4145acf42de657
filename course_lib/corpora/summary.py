"""The table of what there is: pairs per split, types, tokens, licence."""

import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text

from course_lib.corpora.datasets import SOURCES
from course_lib.corpora.pairs import Pair
from course_lib.corpora.translations import translation_pairs

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


HEADS = ("pairs", "en tokens", "en types", "de tokens", "de types", "near", "one")


def sources_table() -> Table:
    """Say where the data is from and what it may be used under."""
    table = Table("data", "licence", "what is read")
    for source in SOURCES:
        came = f"{source.name}\n({source.requirement})"
        table.add_row(came, source.licence, source.holds)
    return table


def pairs_table() -> Table:
    """Say how many pairs, tokens and types each part of the translation data has.

    A token here is what stands between spaces, a type one of the different tokens; near
    is the share of the part's pairs of which training has a copy or near copy, one the
    share of those of which it has one but for a single word.
    """
    parts = translation_pairs()
    table = Table("translation", title_justify="left")
    for head in (
        "pairs",
        "en tokens",
        "en types",
        "de tokens",
        "de types",
        "near",
        "one",
    ):
        table.add_column(head, justify="right")
    for name in ("train", "validation", "test"):
        pairs = getattr(parts, name)
        english = _counts(pair.source for pair in pairs)
        german = _counts(pair.target for pair in pairs)
        counts = (f"{count:,}" for count in (len(pairs), *english, *german))
        table.add_row(name, *counts, *_copies(parts.train, name, pairs))
    return table


def samples_table(n: int = 20, seed: int = 0) -> Table:
    """Show pairs of all three parts, drawn at random and not chosen."""
    parts = translation_pairs()
    table = Table("English", "German")
    for pair in random.Random(seed).sample(
        [*parts.train, *parts.validation, *parts.test], n
    ):
        table.add_row(Text(pair.source), Text(pair.target))
    return table


def _copies(training: list[Pair], name: str, pairs: list[Pair]) -> tuple[str, str]:
    if name == "train":
        return "", ""
    found = overlap(training, pairs)
    return f"{found.near:.1%}", f"{found.one_word:.1%}"


def _counts(texts: Iterable[str]) -> tuple[int, int]:
    tokens = [token for text in texts for token in text.split()]
    return len(tokens), len(set(tokens))


# MERGED course_lib.corpora.overlap: How much of a test a model could have learned by heart: copies and near copies.
#
#   The split keeps skeletons apart (``course_lib.corpora.skeletons``); the measures here
#   are made in another way, so that they can find what the split let through.
#
