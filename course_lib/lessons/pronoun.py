"""A sentence whose pronoun needs attention, with vectors chosen by hand (lesson 01).

Nothing here is learned: that is lesson 02. The four numbers of a key say how far a word
is a thing, a living being, a location, and a description.
"""

import numpy as np

WORDS = "The animal didn't cross the street because it was too".split()
LAST_WORDS = ("tired", "wide")

_KEYS = {
    "animal": [2.0, 2.0, 0.0, 0.0],
    "street": [2.0, 0.0, 2.0, 0.0],
    "tired": [0.0, 1.0, 0.0, 2.0],
    "wide": [0.0, 0.0, 1.0, 2.0],
}
_QUERIES = {"tired": [2.0, 2.0, 0.0, 0.0], "wide": [2.0, 0.0, 2.0, 0.0]}


def sentence(last_word: str) -> list[str]:
    """Return the words of the sentence that ends in "tired" or in "wide".

    >>> sentence("wide")[-3:]
    ['was', 'too', 'wide']
    """
    _require(last_word)
    return [*WORDS, last_word]


def keys(last_word: str) -> np.ndarray:
    """Return one key per word of that sentence, (11, 4).

    >>> keys("wide")[5]
    array([2., 0., 2., 0.])
    """
    return np.array([_KEYS.get(word, [0.0] * 4) for word in sentence(last_word)])


def query_of_it(last_word: str) -> np.ndarray:
    """Return the query of "it", (1, 4): a thing that can be tired, or one that is wide.

    >>> query_of_it("tired")
    array([[2., 2., 0., 0.]])
    """
    _require(last_word)
    return np.array([_QUERIES[last_word]])


def _require(last_word: str) -> None:
    if last_word not in LAST_WORDS:
        raise ValueError(f"last_word={last_word!r} is not one of {LAST_WORDS}")
