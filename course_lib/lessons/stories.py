"""Stories of five tokens that end in a question (lesson 02): which colour is meant?

*A red queen, a blue kite, a white king, green twins. Which colour has it?* Four tokens
are a thing with its colour, the last one asks. What learns from them is in
``course_lib.experiments.recall``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

NOUNS = {
    "she": ("queen", "girl", "aunt", "sister"),
    "he": ("king", "boy", "uncle", "brother"),
    "it": ("kite", "car", "ball", "boat"),
    "they": ("twins", "parents", "children", "friends"),
}
COLOURS = ("red", "blue", "green", "white", "black", "brown", "grey", "yellow")
PRONOUNS = tuple(NOUNS)
WORDS = (*(noun for group in NOUNS.values() for noun in group), *PRONOUNS)
WORD_SIZE = 16  # length of a word's vector
D_MODEL = WORD_SIZE + len(COLOURS)


@dataclass(frozen=True)
class Stories:
    """Many stories as indices.

    words : (count, 5), indices in ``WORDS``; the last word of a story asks
    colours : (count, 4), indices in ``COLOURS``
    target_index : (count,), which of the four things is meant
    """

    words: np.ndarray
    colours: np.ndarray
    target_index: np.ndarray

    @property
    def answers(self) -> np.ndarray:
        """The colour that is asked for, (count,)."""
        indices = self.target_index[:, np.newaxis]
        return np.take_along_axis(self.colours, indices, 1)[:, 0]

    def embed(self, vectors: np.ndarray) -> np.ndarray:
        """Return the tokens (count, 5, 24): a word's vector, then its colour one-hot.

        vectors : (20, 16), one row per word

        The token that asks has no colour.
        """
        colours = np.zeros((len(self.words), 5, len(COLOURS)))
        colours[:, :4] = np.eye(len(COLOURS))[self.colours]
        return np.concatenate([vectors[self.words], colours], axis=-1)


def word_vectors(seed: int) -> np.ndarray:
    """Draw a vector for each word, (20, 16): no word resembles another on purpose."""
    return np.random.default_rng(seed).normal(size=(len(WORDS), WORD_SIZE))


def draw(rng: np.random.Generator, count: int, *, by_pronoun: bool = True) -> Stories:
    """Draw stories: one noun for each pronoun, in any order, each with any colour.

    by_pronoun : whether the last token is a pronoun, or the noun itself once more
    """
    groups = rng.permuted(np.tile(np.arange(4), (count, 1)), axis=1)  # (count, 4)
    nouns = 4 * groups + rng.integers(4, size=(count, 4))
    target_index = rng.integers(4, size=count)
    meant = np.arange(count), target_index
    asking = len(WORDS) - 4 + groups[meant] if by_pronoun else nouns[meant]
    words = np.concatenate([nouns, asking[:, np.newaxis]], axis=1)
    return Stories(words, rng.integers(len(COLOURS), size=(count, 4)), target_index)


def story_of(nouns: Sequence[str], colours: Sequence[str], question: str) -> Stories:
    """Make one story of words.

    >>> story_of(["king", "car", "girl", "twins"], ["red"] * 4, "it").target_index
    array([1])
    """
    words = np.array([[WORDS.index(word) for word in (*nouns, question)]])
    target_index = [noun in NOUNS[question] for noun in nouns].index(True)
    colour_indices = np.array([[COLOURS.index(colour) for colour in colours]])
    return Stories(words, colour_indices, np.array([target_index]))
