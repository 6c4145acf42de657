"""What is wrong with a translation, as far as letters and words can tell.

Measures that give numbers are in ``course_lib.nn.training.scoring``.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

KINDS = (
    "right",
    "cut otherwise",
    "other order",
    "repeats",
    "too short",
    "partly other words",
    "all other words",
)
SHORT = 0.6  # of the letters of the right text


def kind_of(target: str, translation: str) -> str:
    """Say what kind of mistake a translation has: the first of ``KINDS`` that fits.

    target : what a person wrote
    translation : what a model wrote

    "cut otherwise": the same letters, but not the same spaces, hyphens or capitals.
    "other order": the same words, but not in the same order or with the same signs.
    "repeats": a word stands there more often than in the target, and more than once.
    "too short": less than 60 % of the letters.

    >>> kind_of("Batteriestatus", "Batterie-Status")
    'cut otherwise'
    >>> kind_of("Zone stoppen", "Zone Zone stoppen")
    'repeats'
    """
    if translation == target:
        return "right"
    if letters(translation) == letters(target):
        return "cut otherwise"
    wanted, found = words(target), words(translation)
    if Counter(wanted) == Counter(found):
        return "other order"
    more = Counter(found) - Counter(wanted)
    if any(found.count(word) > 1 for word in more):
        return "repeats"
    if len(letters(translation)) < SHORT * len(letters(target)):
        return "too short"
    return "partly other words" if {*wanted} & {*found} else "all other words"


def letters(text: str) -> str:
    """Give what is left of a text without spaces, hyphens and capitals.

    >>> letters("Batterie-Status")
    'batteriestatus'
    """
    return re.sub(r"[\s\-–]", "", text).lower()


def words(text: str) -> list[str]:
    """Give the words of a text, in small letters and without signs.

    >>> words("Zone stoppen?")
    ['zone', 'stoppen']
    """
    return re.findall(r"\w+", text.lower())


def unseen(text: str, known: Iterable[str]) -> list[str]:
    """Give the words of a text that are not known, each once.

    >>> unseen("Stop the wheel", ["stop", "the"])
    ['wheel']
    """
    known = {*known}
    return [word for word in dict.fromkeys(words(text)) if word not in known]


def counted(targets: Sequence[str], translations: Sequence[str]) -> dict[str, int]:
    """Count the kinds of mistakes of many translations; all kinds are in the result."""
    found = Counter(map(kind_of, targets, translations))
    return {kind: found[kind] for kind in KINDS}
