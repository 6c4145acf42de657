"""A sentence whose pronoun needs attention, with vectors made by hand (lessons 00, 01).

Nothing here is learned: that is lesson 02. The four numbers of a key say how far a word
is a thing, a living being, a location, and a description. The last word says what the
query of "it" asks for, and that, too, was decided by hand, in ``KNOWN``.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

WORDS = "The animal didn't cross the street because it was too".split()
IT = WORDS.index("it")
LAST_WORDS = ("tired", "wide")
PARTS = ("thing", "alive", "location", "description")

# What each last word would be said of, and the query that "it" has then.
KNOWN: dict[str, tuple[str, ...]] = {
    "of an animal": tuple(
        "tired hungry sleepy scared frightened afraid lazy shy clever stubborn nervous "
        "thirsty sick weak angry happy sad young fast exhausted".split()
    ),
    "of a street": tuple(
        "wide narrow busy crowded icy wet muddy slippery steep bumpy dusty straight "
        "long broken flooded noisy dangerous".split()
    ),
    "of either": tuple("old big small dirty beautiful ugly boring famous".split()),
    "of neither": tuple("late early dark cold hot foggy stormy rainy".split()),
}
_QUERIES = {
    "of an animal": [2.0, 2.0, 0.0, 0.0],
    "of a street": [2.0, 0.0, 2.0, 0.0],
    "of either": [2.0, 1.0, 1.0, 0.0],
    "of neither": [0.0, 0.0, 0.0, 0.0],
}
_KEYS = {"animal": [2.0, 2.0, 0.0, 0.0], "street": [2.0, 0.0, 2.0, 0.0]}
_GROUP = {word: group for group, words in KNOWN.items() for word in words}


def known_words() -> list[str]:
    """Return all last words that have a vector.

    >>> known_words()[:2]
    ['tired', 'hungry']
    """
    return [*_GROUP]


def sentence(last_word: str) -> list[str]:
    """Return the words of the sentence that ends in a known word.

    >>> sentence("wide")[-3:]
    ['was', 'too', 'wide']
    """
    _require(last_word)
    return [*WORDS, last_word]


def keys(last_word: str) -> np.ndarray:
    """Return one key per word of that sentence, (11, 4).

    The last word is a description, with half of what it asks for.

    >>> keys("wide")[5]
    array([2., 0., 2., 0.])
    """
    _, alive, location, _ = query_of_it(last_word)[0]
    last = [0.0, alive / 2, location / 2, 2.0]
    return np.array([*(_KEYS.get(word, [0.0] * 4) for word in WORDS), last])


def query_of_it(last_word: str) -> np.ndarray:
    """Return the query of "it", (1, 4): a thing that can be tired, or one that is wide.

    >>> query_of_it("tired")
    array([[2., 2., 0., 0.]])
    """
    _require(last_word)
    return np.array([_QUERIES[_GROUP[last_word]]])


def choice(*last_words: str) -> dict[str, Any]:
    """Return what ``figures.last_word`` draws for a few last words to choose from.

    >>> choice("tired", "wide")["weights"].argmax(axis=1)
    array([1, 5])
    """
    rows = []
    for word in last_words:
        scores = keys(word) @ query_of_it(word)[0] / np.sqrt(len(PARTS))
        powers = np.exp(scores)  # scores are small here; lesson 01 says what else
        rows.append(powers / powers.sum())
    return {
        "words": WORDS,
        "query": IT,
        "last_words": last_words,
        "weights": np.array(rows),
    }


def typed(weights: Sequence[np.ndarray]) -> dict[str, Any]:
    """Return what ``figures.last_word`` draws for a last word that is typed.

    weights : (11,), one row of attention weights for each of ``known_words()``
    """
    words = known_words()
    return {
        "words": WORDS,
        "query": IT,
        "last_words": words,
        "weights": np.array(weights),
        "groups": {f"said {group}": members for group, members in KNOWN.items()},
        "parts": PARTS,
        "vectors": np.array([query_of_it(word)[0] for word in words]),
        "vector_name": "query of it, made by hand",
        "offered": [*LAST_WORDS, "old", "late"],
    }


def _require(last_word: str) -> None:
    if last_word not in _GROUP:
        raise ValueError(
            f"last_word={last_word!r} is not one of the {len(_GROUP)} known words, "
            f"such as {', '.join(LAST_WORDS)}"
        )
