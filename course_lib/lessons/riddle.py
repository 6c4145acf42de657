"""A riddle for lesson 11: one text, a translation by each system, who wrote which?

The translations are those of a record, which ``course_lib.experiments.translation``
explains.
"""

import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Riddle(NamedTuple):
    """One text and its translations, in an order that says nothing of their authors.

    source, wanted : the text, and how a person translated it
    translations : by the systems, shuffled
    authors : for each translation the name of its system
    """

    source: str
    wanted: str
    translations: list[str]
    authors: list[str]


def make_riddle(
    samples: Mapping[str, Sequence[Mapping[str, str]]], min_words: int, seed: int = 0
) -> Riddle:
    """Return the first text whose translations all differ, with these shuffled.

    samples : for each system its translations of the same texts, each with "source",
        "target" and "translation"
    min_words : number of words of the text at least
    seed : of the order

    Raises ``ValueError`` if there is no such text.

    >>> make_riddle(
    ...     {
    ...         "one": [{"source": "Open", "target": "Auf", "translation": "Offen"}],
    ...         "two": [{"source": "Open", "target": "Auf", "translation": "Auf"}],
    ...     },
    ...     min_words=1,
    ...     seed=1,
    ... ).authors
    ['two', 'one']
    """
    for row in zip(*samples.values(), strict=True):
        source, wanted = row[0]["source"], row[0]["target"]
        translations = [each["translation"] for each in row]
        is_long = len(source.split()) >= min_words
        if is_long and len(set(translations)) == len(translations):
            break
    else:
        raise ValueError(
            f"no text of {min_words} words or more has a different translation by "
            f"each of {', '.join(samples)}"
        )
    written = list(zip(translations, samples, strict=True))
    random.Random(seed).shuffle(written)
    return Riddle(
        source,
        wanted,
        [translation for translation, _ in written],
        [author for _, author in written],
    )
