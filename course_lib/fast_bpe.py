"""Byte-pair encoding of megabytes: the results of ``course_lib.bpe``, much sooner.

Training: the reference counts all pairs of all words anew for every merge. Here the
counts are kept, and a merge changes those of the neighbours only; a heap holds the
pairs by count, and entries that have become wrong are put right when they come up.
Encoding: ranks are looked up once for all words, and words are remembered.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import lru_cache
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Literal

from course_lib.bpe import spell
from course_lib.byte_bpe import pieces, spell_bytes

# Lesson 06 imports pieces and spell_bytes from here: with them, its line for byte_bpe
# would be too long, and its first code cell may have six lines.
__all__ = [
    "Corpus",
    "byte_encoder",
    "pieces",
    "spell_bytes",
    "train_bpe_fast",
    "word_encoder",
]

Pair = tuple[str, str]
REMEMBERED_WORDS = 2**18  # more than a text of some megabytes has


class Corpus:
    """Words and how often each pair of symbols stands in them, kept up to date.

    counts : how often each pair occurs in the whole text, never 0
    """

    def __init__(self, words: dict[tuple[str, ...], int]) -> None:
        self._words = [list(symbols) for symbols in words]
        self._frequencies = list(words.values())
        self.counts: dict[Pair, int] = defaultdict(int)
        # The words in which a pair stands, or stood once: merges elsewhere break pairs.
        self._places: dict[Pair, set[int]] = defaultdict(set)
        for place, symbols in enumerate(self._words):
            for pair in pairwise(symbols):
                self.counts[pair] += self._frequencies[place]
                self._places[pair].add(place)

    def merge(self, pair: Pair) -> set[Pair]:
        """Join a pair in all words, and give the pairs that occur more often now."""
        left, right = pair
        joined = left + right
        change: dict[Pair, int] = defaultdict(int)
        for place in self._places.pop(pair, ()):
            symbols, frequency = self._words[place], self._frequencies[place]
            start = 0
            while (start := _find(symbols, left, right, start)) >= 0:
                symbols[start : start + 2] = [joined]
                change[pair] -= frequency
                if start > 0:
                    before = symbols[start - 1]
                    change[before, left] -= frequency
                    change[before, joined] += frequency
                    self._places[before, joined].add(place)
                start += 1
                if start < len(symbols):
                    behind = symbols[start]
                    change[right, behind] -= frequency
                    change[joined, behind] += frequency
                    self._places[joined, behind].add(place)
        return self._apply(change)

    def _apply(self, change: dict[Pair, int]) -> set[Pair]:
        for pair, difference in change.items():
            self.counts[pair] += difference
            if not self.counts[pair]:
                del self.counts[pair]
                self._places.pop(pair, None)
        return {pair for pair, difference in change.items() if difference > 0}


def _find(symbols: list[str], left: str, right: str, start: int) -> int:
    """Give the first place from start on where the pair stands, −1 for none."""
    last = len(symbols) - 1
    while True:
        try:
            start = symbols.index(left, start, last)
        except ValueError:
            return -1
        if symbols[start + 1] == right:
            return start
        start += 1


def train_bpe_fast(
    words: dict[tuple[str, ...], int],
    n_merges: int,
    equal_counts: Literal["last", "oldest"] = "last",
) -> list[Pair]:
    """Learn the pairs that ``train_bpe`` learns.

    words : how often each word occurs, words being tuples of symbols
    n_merges : how many pairs to learn at most
    equal_counts : which of several pairs with the same count: "last" in Python's order
        of tuples of strings, as in ``train_bpe`` and subword-nmt; or the one whose left
        symbol, then right symbol, is "oldest", as in Hugging Face's tokenizers, symbols
        of the text being older than joined ones and of an age by Python's order

    Returns the pairs in the order in which they were learned. words stays as it is.
    Source: as ``train_bpe``; the counts that are kept are an idea of Sennrich et al.'s
    program, the heap is one of tokenizers.

    >>> train_bpe_fast({("e", "a", "t"): 2, ("a", "t"): 3}, 5)
    [('a', 't'), ('e', 'at')]
    """
    if equal_counts not in ("last", "oldest"):
        raise ValueError(f"equal_counts={equal_counts!r} is neither last nor oldest")
    corpus = Corpus(words)
    first = sorted({symbol for word in words for symbol in word})
    age = {symbol: (place,) for place, symbol in enumerate(first)}
    backwards = {symbol: _backwards(symbol) for symbol in first}
    order = backwards if equal_counts == "last" else age

    def entry(pair: Pair) -> tuple[int, tuple[int, ...], tuple[int, ...], Pair]:
        left, right = pair
        return -corpus.counts.get(pair, 0), order[left], order[right], pair

    heap = [entry(pair) for pair, count in corpus.counts.items() if count > 1]
    heapify(heap)
    merges: list[Pair] = []
    while heap and len(merges) < n_merges:
        found, *_, pair = heappop(heap)
        now = corpus.counts.get(pair, 0)
        if now != -found:
            if now > 1:
                heappush(heap, entry(pair))
            continue
        merges.append(pair)
        joined = pair[0] + pair[1]
        backwards.setdefault(joined, _backwards(joined))
        age.setdefault(joined, (len(age),))
        for grown in corpus.merge(pair):
            if corpus.counts.get(grown, 0) > 1:
                heappush(heap, entry(grown))
    return merges


def _backwards(symbol: str) -> tuple[int, ...]:
    """Give what sorts symbols in the opposite of Python's order of strings.

    A number above all others ends it, so that ``ab`` comes before its beginning ``a``.
    """
    return (*(-ord(character) for character in symbol), 1)


def word_encoder(merges: Sequence[Pair]) -> Callable[[str], list[str]]:
    """Give a function that splits a text into words and these into tokens.

    merges : the learned pairs, in the order in which they were learned

    Returns a function from a text to its tokens, those of ``encode_word`` for each of
    its words as ``spell`` writes it. It remembers words, so keep it for many texts.
    Source: as ``encode_word``.

    >>> word_encoder([("a", "t</w>"), ("m", "at</w>")])("mat rat")
    ['mat</w>', 'r', 'at</w>']
    """
    return _encoder(merges, str.split, spell)


def byte_encoder(merges: Sequence[Pair]) -> Callable[[str], list[str]]:
    """Give a function that turns a text into byte-level tokens.

    merges : the learned pairs, in symbols of ``byte_bpe.ALPHABET``

    Returns a function from a text without special tokens to its tokens, those whose
    numbers ``encode_bytes`` gives. It remembers pieces, so keep it for many texts.
    Source: as ``encode_bytes``.

    >>> byte_encoder([("a", "t"), ("Ġ", "m")])("at mat")
    ['at', 'Ġm', 'at']
    """
    return _encoder(merges, pieces, spell_bytes)


def _encoder(
    merges: Sequence[Pair],
    split: Callable[[str], list[str]],
    spell_word: Callable[[str], tuple[str, ...]],
) -> Callable[[str], list[str]]:
    ranks = {pair: rank for rank, pair in enumerate(dict.fromkeys(merges))}

    @lru_cache(REMEMBERED_WORDS)
    def tokens_of(word: str) -> tuple[str, ...]:
        return tuple(_joined(list(spell_word(word)), ranks))

    def encode(text: str) -> list[str]:
        return [token for word in split(text) for token in tokens_of(word)]

    return encode


def _joined(symbols: list[str], ranks: dict[Pair, int]) -> list[str]:
    """Join a word's symbols, earliest pair first; a pair's rank is looked up once."""
    never = len(ranks)
    found = [ranks.get(pair, never) for pair in pairwise(symbols)]
    while found and (best := min(found)) < never:
        while best in found:
            place = found.index(best)
            joined = symbols[place] + symbols[place + 1]
            symbols[place : place + 2] = [joined]
            del found[place]
            if place > 0:
                found[place - 1] = ranks.get((symbols[place - 1], joined), never)
            if place < len(found):
                found[place] = ranks.get((joined, symbols[place + 1]), never)
    return symbols
