"""What a translator can be trained on, each with its texts, sizes and vocabulary.

The real pairs need ``make data``; dates, numbers and copies are made when asked for.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from string import ascii_lowercase

from course_lib.corpora.dates import dates
from course_lib.corpora.number_words import number_words
from course_lib.corpora.pairs import Pair
from course_lib.corpora.splits import Split
from course_lib.corpora.translation_pairs import translation_pairs
from course_lib.nn.subwords import Subwords, learn_subwords

N_TRAIN, N_HELD_OUT = 10_000, 1_000  # of the tasks whose pairs are made
SHORTEST, LONGEST = 4, 20  # letters of a copy


@dataclass(frozen=True)
class Task:
    """One thing to learn.

    name : as on the command line
    texts : gives the pairs, the same ones each time
    vocab_size : number of tokens at most; 0 for single characters
    """

    name: str
    texts: Callable[[], Split]
    vocab_size: int

    def subwords(self, texts: Split) -> Subwords:
        """Learn the vocabulary from what is learned from, both languages together."""
        return learn_subwords(
            [text for pair in texts.train for text in pair], self.vocab_size
        )


def copies(n: int, seed: int) -> list[Pair]:
    """Draw random words of 4 to 20 letters, each to be written again.

    Returns n pairs of different words, of each length as many. The same seed gives the
    same pairs; a greater n gives the same ones and more.

    >>> copies(1, seed=0)
    [Pair(source='vtkg', target='vtkg')]
    """
    rng = random.Random(seed)
    words: dict[str, None] = {}  # a set that keeps the order
    while len(words) < n:
        length = SHORTEST + len(words) % (LONGEST - SHORTEST + 1)
        words["".join(rng.choices(ascii_lowercase, k=length))] = None
    return [Pair(word, word) for word in words]


def _made(draw: Callable[[int, int], list[Pair]]) -> Callable[[], Split]:
    def texts() -> Split:
        pairs = draw(N_TRAIN + 2 * N_HELD_OUT, 0)
        held_out = pairs[N_TRAIN:]
        return Split(pairs[:N_TRAIN], held_out[:N_HELD_OUT], held_out[N_HELD_OUT:])

    return texts


TASKS = {
    task.name: task
    for task in (
        Task("translation", translation_pairs, vocab_size=4000),
        Task("dates", _made(dates), vocab_size=0),
        Task("numbers", _made(number_words), vocab_size=0),
        Task("copying", _made(copies), vocab_size=0),
    )
}
