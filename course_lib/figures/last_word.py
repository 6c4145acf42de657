"""Figure of lessons 00 to 02: what a word attends to, by the last word."""

from collections.abc import Mapping, Sequence

import numpy as np

from course_lib.figures.drawing import checked_weights
from course_lib.figures.general import attention_lines
from course_lib.figures.living import LivingFigure, numbers

MAX_WORDS = 24  # of the sentence
MAX_LAST_WORDS = 120
DRAWN = 3  # sentences of the static picture


def last_word(
    words: Sequence[str],
    query: int,
    last_words: Sequence[str],
    weights: np.ndarray,
    *,
    alt: str | None = None,
    chosen: str | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    offered: Sequence[str] = (),
    parts: Sequence[str] = (),
    vectors: np.ndarray | None = None,
    vector_name: str | None = None,
) -> LivingFigure:
    """Draw what one word of a sentence attends to, for each of several last words.

    words : the n words of the sentence without its last one
    query : the position of the word that attends
    last_words : what the sentence may end in
    weights : (len(last_words), n + 1), one row of attention weights per last word
    chosen : the last word that is shown first; the first one if None
    groups : title to last words, which are all of ``last_words``, each once
    offered : with groups, last words that have a button each, too
    parts, vectors : names of a vector's d numbers, and one vector per last word,
        (len(last_words), d)
    vector_name : what is said before the vector; "query of" the word that attends if
        None

    Where scripts run, the reader chooses the last word; with groups, the reader types
    it, and the groups say which words are known.
    Raises ``ValueError`` if weights, groups or vectors do not fit the words, and for
    more than 24 words or 120 last words.
    """
    words, last_words = [*map(str, words)], [*map(str, last_words)]
    if not 1 <= len(words) <= MAX_WORDS or not 0 <= query < len(words):
        raise ValueError(
            f"query={query} is no position among {len(words)} words, at most "
            f"{MAX_WORDS} of them"
        )
    if not 1 <= len(last_words) <= MAX_LAST_WORDS:
        raise ValueError(
            f"{len(last_words)} last words: expected 1 to {MAX_LAST_WORDS}"
        )
    if len({*last_words}) < len(last_words):
        raise ValueError("a last word is there twice")
    weights = checked_weights(weights, last_words, [*words, "the last word"])
    chosen = last_words[0] if chosen is None else chosen
    if chosen not in last_words:
        raise ValueError(f"chosen={chosen!r} is none of the last words")
    grouped = [word for group in (groups or {}).values() for word in group]
    if groups is not None and sorted(grouped) != sorted(last_words):
        raise ValueError("groups must have each last word once, and no other")
    if unknown := {*offered} - {*grouped}:
        raise ValueError(f"offered={sorted(unknown)}: no group has these words")
    if vectors is not None and np.shape(vectors) != (len(last_words), len(parts)):
        raise ValueError(
            f"vectors of shape {np.shape(vectors)} do not fit {len(last_words)} last "
            f"words and {len(parts)} parts"
        )
    drawn = sorted(range(len(last_words)), key=lambda i: last_words[i] != chosen)[
        :DRAWN
    ]
    ends = " / ".join(last_words[i] for i in drawn)
    labels = [f"{words[query]} (… {last_words[i]})" for i in drawn]
    picture = attention_lines(weights[drawn], labels, [*words, ends], alt=alt)
    data = {
        "words": words,
        "query": int(query),
        "last_words": last_words,
        "weights": numbers(weights),
        "chosen": last_words.index(chosen),
        "groups": [[title, [*group]] for title, group in (groups or {}).items()],
        "offered": [*offered],
        "parts": [*parts],
        "vectors": None if vectors is None else numbers(vectors),
        "vector_name": vector_name or f"query of {words[query]}",
    }
    return LivingFigure(picture.figure, alt, "last_word", data)
