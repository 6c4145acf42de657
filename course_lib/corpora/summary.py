"""What data there is, as tables: sources, counts of the parts, samples."""

import random
from collections.abc import Iterable, Sequence

from rich.table import Table
from rich.text import Text

from course_lib.corpora.datasets import DATASETS
from course_lib.corpora.more_pairs import larger_translation_pairs
from course_lib.corpora.overlap import overlap
from course_lib.corpora.pairs import Pair
from course_lib.corpora.translations import translation_pairs


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
    which it has one but for a single word, each for both training sets.
    """
    parts, larger = translation_pairs(), larger_translation_pairs()
    table = Table("translation", title_justify="left")
    columns = "pairs, en tokens, en types, de tokens, de types, near, one"
    for column in columns.split(", "):
        table.add_column(column, justify="right")
    for name, pairs in {
        "train": parts.train,
        "train, larger": larger.train,
        "validation": parts.validation,
        "test": parts.test,
    }.items():
        english = _counts(pair.source for pair in pairs)
        german = _counts(pair.target for pair in pairs)
        counts = (f"{count:,}" for count in (len(pairs), *english, *german))
        copies = ("", "")
        if not name.startswith("train"):
            copies = _copies((parts.train, larger.train), pairs)
        table.add_row(name, *counts, *copies)
    return table


def samples_table(n: int = 20, seed: int = 0) -> Table:
    """List pairs of all three parts, drawn at random and not chosen."""
    parts = translation_pairs()
    table = Table("English", "German")
    pairs = [*parts.train, *parts.validation, *parts.test]
    for pair in random.Random(seed).sample(pairs, n):
        table.add_row(Text(pair.source), Text(pair.target))
    return table


def _copies(trainings: Sequence[list[Pair]], pairs: list[Pair]) -> tuple[str, str]:
    shares = [overlap(training, pairs) for training in trainings]
    return (
        ", ".join(f"{share.near:.1%}" for share in shares),
        ", ".join(f"{share.one_word:.1%}" for share in shares),
    )


def _counts(texts: Iterable[str]) -> tuple[int, int]:
    tokens = [token for text in texts for token in text.split()]
    return len(tokens), len(set(tokens))
