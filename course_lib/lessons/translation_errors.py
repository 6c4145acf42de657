"""What is wrong with a translation (lesson 11), as far as letters and words can tell.

Measures that are numbers are in ``course_lib.nn.training.scoring``.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

ERROR_TYPES = (
    "right",
    "cut otherwise",
    "other order",
    "repeats",
    "too short",
    "partly other words",
    "all other words",
)
MIN_LENGTH_RATIO = 0.6  # letters of a translation to those of the target


def error_type(target: str, translation: str) -> str:
    """Classify a translation: the first of ``ERROR_TYPES`` that fits.

    target : what a person wrote
    translation : what a model wrote

    - "cut otherwise": the same letters, but not the same spaces, hyphens or capitals.
    - "other order": the same words, but not in the same order or with the same signs.
    - "repeats": a word occurs more often than in the target, and more than once.
    - "too short": less than 60 % of the letters.

    >>> error_type("Batteriestatus", "Batterie-Status")
    'cut otherwise'
    >>> error_type("Zone stoppen", "Zone Zone stoppen")
    'repeats'
    """
    if translation == target:
        return "right"
    if letters(translation) == letters(target):
        return "cut otherwise"
    expected, actual = words(target), words(translation)
    if Counter(expected) == Counter(actual):
        return "other order"
    surplus = Counter(actual) - Counter(expected)
    if any(actual.count(word) > 1 for word in surplus):
        return "repeats"
    if len(letters(translation)) < MIN_LENGTH_RATIO * len(letters(target)):
        return "too short"
    return "partly other words" if {*expected} & {*actual} else "all other words"


def letters(text: str) -> str:
    """Remove spaces, hyphens and capitals from a text.

    >>> letters("Batterie-Status")
    'batteriestatus'
    """
    return re.sub(r"[\s\-–]", "", text).lower()


def words(text: str) -> list[str]:
    """Return the words of a text, in small letters and without signs.

    >>> words("Zone stoppen?")
    ['zone', 'stoppen']
    """
    return re.findall(r"\w+", text.lower())


def unseen_words(text: str, training_words: Iterable[str]) -> list[str]:
    """Return the words of a text that were not in training, each once.

    >>> unseen_words("Stop the wheel", ["stop", "the"])
    ['wheel']
    """
    training_words = {*training_words}
    return [word for word in dict.fromkeys(words(text)) if word not in training_words]


def count_error_types(
    targets: Sequence[str], translations: Sequence[str]
) -> dict[str, int]:
    """Count the error types of many translations; all types are in the result."""
    counts = Counter(map(error_type, targets, translations))
    return {each: counts[each] for each in ERROR_TYPES}
