"""Merges for words that a reader types (lesson 06), before there is any data.

They were learned from the words of the plays (``course_lib.corpora.plays``): in small
letters, without marks for a word's end. ``play_merges.txt`` holds what ``learn``
returns for them, one merge per line: left, right, and how often the pair occurred when
it was joined.
"""

import re
from collections import Counter
from importlib.resources import files

from course_lib import fast_bpe

N_MERGES = 800


def learn(text: str, n_merges: int = N_MERGES) -> list[tuple[str, str, int]]:
    """Learn merges from a text's words of two letters or more.

    Returns left, right and count of each, in the order in which they were learned.
    """
    words = Counter(re.findall(r"[a-z]{2,}", text.lower()))
    spelt = {tuple(word): count for word, count in words.items()}
    pairs = fast_bpe.train_bpe_fast(spelt, n_merges)
    now, merges = fast_bpe.PairCounts(spelt), []
    for pair in pairs:
        merges.append((*pair, now.counts[pair]))
        now.merge(pair)
    return merges


def load() -> list[tuple[str, str, int]]:
    """Return left, right and count of each merge, in their order."""
    path = files("course_lib.lessons").joinpath("play_merges.txt")
    rows = [row.split() for row in path.read_text(encoding="utf-8").splitlines()]
    return [(left, right, int(count)) for left, right, count in rows]
