"""A sentence whose *bank* is one of two, by its last word (lesson 02).

Each word has two numbers, made by hand: how much it has to do with water, and how much
with money. All words attend to each other by similarity, without any parameters.
"""

from typing import Any

import numpy as np

WORDS = "We met at the bank to talk about the".split()
BANK = WORDS.index("bank")
PARTS = ("water", "money")
MEANINGS = {
    "bank": (1.5, 1.5),
    "river": (3.0, 0.0),
    "fish": (2.0, 0.5),
    "loan": (0.0, 3.0),
    "price": (0.5, 2.0),
    "weather": (0.0, 0.0),
}
LAST_WORDS = tuple(word for word in MEANINGS if word != "bank")


def vectors(last_word: str) -> np.ndarray:
    """Return one vector per word of the sentence with that last word, (10, 2).

    >>> vectors("river")[-1]
    array([3., 0.])
    """
    return np.array([MEANINGS.get(word, (0.0, 0.0)) for word in (*WORDS, last_word)])


def choice() -> dict[str, Any]:
    """Return what ``figures.last_word`` draws for all last words.

    >>> choice()["weights"].shape
    (5, 10)
    """
    weights, becomes = [], []
    for last_word in LAST_WORDS:
        x = vectors(last_word)
        powers = np.exp(x @ x[BANK])  # scores are small here
        weights.append(powers / powers.sum())
        becomes.append(weights[-1] @ x)
    return {
        "words": WORDS,
        "query": BANK,
        "last_words": LAST_WORDS,
        "weights": np.array(weights),
        "parts": PARTS,
        "vectors": np.array(becomes).round(1),
        "vector_name": "bank becomes",
    }
