"""Figure of lesson 11: German while English is typed, by a model that the page runs."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from course_lib.figures.drawing import checked_weights
from course_lib.figures.general import attention_lines
from course_lib.figures.living import LivingFigure, numbers

MAX_STORED = 12
MAX_WORDS = 20_000  # of the training texts
SHARED = 9  # letters at most, that a word has from the one before it
RARE = "ABCD"  # behind words that occurred once to four times


def translator(
    stored: Sequence[Mapping[str, Any]],
    counts: Mapping[str, int],
    *,
    alt: str | None = None,
    examples: Sequence[str] = (),
    file: str = "translator.bin",
    answer: Callable[[Any], Any] | None = None,
) -> LivingFigure:
    """Draw a translation with its cross-attention; where scripts run, any is typed.

    stored : translations that are shown where the model's file is missing, the first
        one at first: text, translation, sources and targets (tokens; a space is behind
        those that end a word, and <end> is one) and weights (targets, sources)
    counts : how often each word was in the training texts, in small letters; words that
        never were, or fewer than five times, are marked
    examples : texts to choose from, where the model is there
    file : name of the model's file, which ``course_lib.nn.models`` makes
    answer : in a notebook, returns ``{"base64": …}``, the file, for ``{"want":
        "model"}``, and for ``{"want": "translation", "text": …, "beams": …}`` what the
        learner's own function writes, ``{"name": …, "translation": …}``, or None; for
        either ``{"error": …}``, a sentence

    Raises ``ValueError`` for weights that do not fit the tokens, and for more than 12
    stored translations or 20,000 words.
    """
    if not 1 <= len(stored) <= MAX_STORED:
        raise ValueError(
            f"{len(stored)} stored translations: expected 1 to {MAX_STORED}"
        )
    if len(counts) > MAX_WORDS:
        raise ValueError(f"{len(counts):,} words: expected {MAX_WORDS:,} at most")
    translations = [
        {
            "text": each["text"],
            "translation": each["translation"],
            "sources": [*each["sources"]],
            "targets": [*each["targets"]],
            "weights": numbers(
                checked_weights(each["weights"], each["targets"], each["sources"])
            ),
        }
        for each in stored
    ]
    data = {
        "model": {"name": file, "base64": None},
        "stored": translations,
        "examples": [*examples],
        "seen": packed_words(counts),
        "asks": answer is not None,
    }
    first = translations[0]
    picture = attention_lines(
        np.array(first["weights"]), first["targets"], first["sources"], alt=alt
    )
    return LivingFigure(picture.figure, alt, "translator", data, answer)


def packed_words(counts: Mapping[str, int]) -> str:
    """Return words and how often they occur, as far as it is below five, as one text.

    Sorted, each word is the number of letters that it shares with the one before it,
    and the rest, with A to D behind it if it occurred one to four times.

    >>> packed_words({"lights": 1, "light": 9, "a": 2})
    '0aB 0light 5sA'
    """
    words = sorted(counts)
    if any(set(word) & {" ", *RARE} for word in words):
        raise ValueError("words must be in small letters, without spaces")
    packed = []
    for before, word in pairwise(["", *words]):
        letters = zip(before[:SHARED], word, strict=False)
        shared = next((i for i, (a, b) in enumerate(letters) if a != b), None)
        if shared is None:
            shared = min(len(before), len(word), SHARED)
        often = counts[word]
        packed.append(f"{shared}{word[shared:]}{RARE[often - 1 : often]}")
    return " ".join(packed)
