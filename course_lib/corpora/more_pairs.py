"""More pairs for training from the same texts: what ``translation_pairs`` leaves out.

Validation and test stay as they are, so that scores can be compared. No pair of the
larger training set shares a skeleton with one of them, on either side, neither as a
whole nor sentence by sentence.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache

from course_lib.corpora.pairs import Pair, Split, skeleton
from course_lib.corpora.translations import (
    MAX_WORDS,
    clean,
    is_sentence,
    nth_translations,
    raw_texts,
    texts,
    translation_pairs,
)

LONG_WORDS = 30  # at most, of a text that is too long for the test
# Behind a word, a bracket or a quotation mark: not behind "z. B." or "2.".
SENTENCE_END = re.compile(
    r"""
      (?:(?<=[^\W\d_][^\W\d_][.!?]) | (?<=[)"'][.!?]) | (?<=[.!?][)"']))
      \s+ (?=[^\Wa-zäöü] | [("'])
    | \s*\n\s*
    """,
    re.VERBOSE,
)


def sentences(text: str) -> list[str]:
    """Split a text at the ends of its sentences and of its lines.

    >>> sentences("Set it up, e.g. again. Then restart (z. B. jetzt).")
    ['Set it up, e.g. again.', 'Then restart (z. B. jetzt).']
    """
    return [sentence for sentence in SENTENCE_END.split(text) if sentence.strip()]


def more_pairs(source: str, target: str) -> dict[str, list[Pair]]:
    """Collect what ``most_frequent_pairs`` leaves out, by its kind.

    - "sentences": those of texts with several, if both sides have equally many;
    - "one word": texts of one word;
    - "long": texts of 15 to 30 words;
    - "second translation": the second frequent one of a text.

    The kinds overlap, and nothing is held out yet.
    """
    raw, keys = (raw_texts(source), raw_texts(target)), texts(source).keys()
    both = [(raw[0][key], raw[1][key]) for key in raw[0] if key in raw[1]]
    whole = list(_cleaned(both, LONG_WORDS))
    short = [
        Pair(texts(source)[key], texts(target)[key])
        for key in keys
        if key in texts(target)
    ]
    return {
        "sentences": nth_translations(_cleaned(_sentence_pairs(both), LONG_WORDS)),
        "one word": nth_translations(
            pair for pair in short if len(pair.source.split()) == 1
        ),
        "long": nth_translations(
            pair for pair in whole if len(pair.source.split()) > MAX_WORDS
        ),
        "second translation": nth_translations(
            (pair for pair in short if is_sentence(pair.source)), 2
        ),
    }


def _sentence_pairs(both: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for sides in both:
        one, other = map(sentences, sides)
        if len(one) == len(other) > 1:
            yield from zip(one, other, strict=True)


def _cleaned(both: Iterable[tuple[str, str]], max_words: int) -> Iterator[Pair]:
    for sides in both:
        one, other = (clean(text, max_words) for text in sides)
        if one and other:
            yield Pair(one, other)


def shares_sentence(training: Iterable[Pair], held_out: Iterable[Pair]) -> list[bool]:
    """Return for each training pair whether a held-out one has a sentence of it.

    Sentences are compared as skeletons, of each side, and the whole text counts as a
    sentence too; what has no word of two letters is not compared.
    """
    known: tuple[set[str], set[str]] = (set(), set())
    for pair in held_out:
        for side, text in zip(known, pair, strict=True):
            side |= _skeletons(text)
    return [
        any(
            not side.isdisjoint(_skeletons(text))
            for side, text in zip(known, pair, strict=True)
        )
        for pair in training
    ]


def _skeletons(text: str) -> set[str]:
    return {skeleton(each) for each in (text, *sentences(text))} - {""}


@cache
def larger_translation_pairs() -> Split:
    """Load the parts of ``translation_pairs`` with a larger part for training.

    A pair of theirs that has a sentence in common with a held-out text is left out too.
    An English text occurs once, and a second time with its second translation.

    Raises ``DataError``, which says what to run, if the data is not there.
    """
    parts = translation_pairs()
    held_out = [*parts.validation, *parts.test]
    training = {pair: None for pair in parts.train}  # a set in order
    for kind, pairs in more_pairs("en", "de").items():
        known = {pair.source for pair in training}
        second = kind == "second translation"
        training |= {pair: None for pair in pairs if second or pair.source not in known}
    candidates = list(training)
    shared = shares_sentence(candidates, held_out)
    train = [pair for pair, no in zip(candidates, shared, strict=True) if not no]
    return Split(train, parts.validation, parts.test)
