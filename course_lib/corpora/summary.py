"""The table of what there is: pairs per split, types, tokens, licence."""

import random
from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

from course_lib.corpora.overlap import overlap
from course_lib.corpora.pairs import Pair
from course_lib.corpora.sources import SOURCES
from course_lib.corpora.translation_pairs import translation_pairs

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
