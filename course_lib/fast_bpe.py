"""Byte-pair encoding of megabytes: the results of ``course_lib.bpe``, much sooner.

Training: the reference counts all pairs of all words anew for every merge. Here the
counts are kept, and a merge changes those of the neighbours only; a heap holds the
pairs by count, and outdated entries are corrected when they come up. Encoding: ranks
are looked up once for all words, and the tokens of words are cached.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import lru_cache
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Literal

from course_lib import arguments
from course_lib.bpe import spell
from course_lib.byte_bpe import BYTE_OF, byte_vocabulary, pre_tokens, spell_bytes

# Lesson 06 imports pre_tokens and spell_bytes from here: with them, its line for
# byte_bpe would be too long, and its first code cell may have six lines.
__all__ = [
    "PairCounts",
    "byte_encoder",
    "pre_tokens",
    "spell_bytes",
    "train_bpe_fast",
    "word_encoder",
]

SymbolPair = tuple[str, str]
CACHE_SIZE = 2**18  # words; more than a text of some megabytes has


class PairCounts:
    """Words and how often each pair of symbols occurs in them, kept up to date.

    counts : how often each pair occurs in the whole text, never 0
    """

    def __init__(self, words: dict[tuple[str, ...], int]) -> None:
        """Count the pairs of words; words : how often each one occurs."""
        self._words = [list(symbols) for symbols in words]
        self._frequencies = list(words.values())
        self.counts: dict[SymbolPair, int] = defaultdict(int)
        # Indices of the words with a pair, now or earlier: other merges break pairs.
        self._words_with: dict[SymbolPair, set[int]] = defaultdict(set)
        for index, symbols in enumerate(self._words):
            for pair in pairwise(symbols):
                self.counts[pair] += self._frequencies[index]
                self._words_with[pair].add(index)

    def merge(self, pair: SymbolPair) -> set[SymbolPair]:
        """Join a pair in all words. Returns the pairs that occur more often now."""
        left, right = pair
        joined = left + right
        change: dict[SymbolPair, int] = defaultdict(int)
        words_with = self._words_with
        for index in words_with.pop(pair, ()):
            symbols, frequency = self._words[index], self._frequencies[index]
            start, last = 0, len(symbols) - 1
            while start < last:
                if symbols[start] != left or symbols[start + 1] != right:
                    start += 1
                    continue
                symbols[start : start + 2] = [joined]
                last -= 1
                change[pair] -= frequency
                if start > 0:
                    before = symbols[start - 1]
                    change[before, left] -= frequency
                    change[before, joined] += frequency
                    words_with[before, joined].add(index)
                if start < last:
                    after = symbols[start + 1]
                    change[right, after] -= frequency
                    change[joined, after] += frequency
                    words_with[joined, after].add(index)
                start += 1
        return self._apply(change)

    def _apply(self, change: dict[SymbolPair, int]) -> set[SymbolPair]:
        for pair, difference in change.items():
            self.counts[pair] += difference
            if not self.counts[pair]:
                del self.counts[pair]
                self._words_with.pop(pair, None)
        return {pair for pair, difference in change.items() if difference > 0}


def train_bpe_fast(
    words: dict[tuple[str, ...], int],
    n_merges: int,
    tie_break: Literal["last", "last bytes", "oldest"] = "last",
) -> list[SymbolPair]:
    """Learn the pairs that ``train_bpe`` learns.

    words : how often each word occurs, words being tuples of symbols
    n_merges : how many pairs to learn at most
    tie_break : which of several pairs with the same count:
        - "last" in Python's order of tuples of strings, as in ``train_bpe`` and
          subword-nmt
        - "last bytes": the same with bytes in place of the characters of
          ``byte_bpe.ALPHABET``, as in CS336
        - the one whose left symbol, then right symbol, is "oldest", as in Hugging
          Face's tokenizers; symbols of the text are older than joined ones, and among
          themselves in Python's order

    Returns the pairs in the order in which they were learned. words is not modified.
    Source: as ``train_bpe``; the counts that are kept are an idea of Sennrich et al.'s
    program, the heap is one of tokenizers.

    >>> train_bpe_fast({("e", "a", "t"): 2, ("a", "t"): 3}, 5)
    [('a', 't'), ('e', 'at')]
    """
    if tie_break not in ("last", "last bytes", "oldest"):
        raise ValueError(
            f"tie_break={tie_break!r} is neither last, last bytes nor oldest"
        )
    n_merges = arguments.whole("n_merges ≥ 0", n_merges)
    pairs = PairCounts(arguments.words("words", words))
    symbols = sorted({symbol for word in words for symbol in word})
    if tie_break == "last bytes" and (unknown := {*"".join(symbols)} - BYTE_OF.keys()):
        raise ValueError(f"words have {min(unknown)!r}, which is not in ALPHABET")
    number = BYTE_OF.__getitem__ if tie_break == "last bytes" else ord

    def order_of(symbol: str) -> tuple[int, ...]:
        # A number above all others ends it, so that ab comes before its prefix a.
        return (*(-number(character) for character in symbol), 1)

    order = {symbol: order_of(symbol) for symbol in symbols}
    if tie_break == "oldest":
        order = {symbol: (index,) for index, symbol in enumerate(symbols)}

    def entry(
        pair: SymbolPair,
    ) -> tuple[int, tuple[int, ...], tuple[int, ...], SymbolPair]:
        left, right = pair
        return -pairs.counts.get(pair, 0), order[left], order[right], pair

    heap = [entry(pair) for pair, count in pairs.counts.items() if count > 1]
    heapify(heap)
    merges: list[SymbolPair] = []
    while heap and len(merges) < n_merges:
        negative_count, *_, pair = heappop(heap)
        count = pairs.counts.get(pair, 0)
        if count != -negative_count:
            if count > 1:
                heappush(heap, entry(pair))
            continue
        merges.append(pair)
        joined = pair[0] + pair[1]
        if joined not in order:
            is_age = tie_break == "oldest"
            order[joined] = (len(order),) if is_age else order_of(joined)
        for grown in pairs.merge(pair):
            if pairs.counts.get(grown, 0) > 1:
                heappush(heap, entry(grown))
    return merges


def word_encoder(merges: Sequence[SymbolPair]) -> Callable[[str], list[str]]:
    """Return a function that splits a text into words and these into tokens.

    merges : the learned pairs, in the order in which they were learned

    The function takes a text and returns its tokens, those of ``encode_word`` for each
    of its words as ``spell`` writes it. It caches words, so keep it for many texts.
    Source: as ``encode_word``.

    >>> word_encoder([("a", "t</w>"), ("m", "at</w>")])("mat rat")
    ['mat</w>', 'r', 'at</w>']
    """
    return _encoder(merges, str.split, spell)


def byte_encoder(merges: Sequence[SymbolPair]) -> Callable[[str], list[str]]:
    """Return a function that turns a text into byte-level tokens.

    merges : the learned pairs, in symbols of ``byte_bpe.ALPHABET``

    The function takes a text without special tokens and returns its tokens, those whose
    token ids ``encode_bytes`` returns. It caches pre-tokens, so keep it for many texts.
    Source: as ``encode_bytes``.

    >>> byte_encoder([("a", "t"), ("Ġ", "m")])("at mat")
    ['at', 'Ġm', 'at']
    """
    byte_vocabulary(merges)  # refuses symbols of another alphabet
    return _encoder(merges, pre_tokens, spell_bytes)


def _encoder(
    merges: Sequence[SymbolPair],
    split: Callable[[str], list[str]],
    spell_word: Callable[[str], tuple[str, ...]],
) -> Callable[[str], list[str]]:
    pairs = arguments.pairs("merges", merges)
    ranks = {pair: rank for rank, pair in enumerate(dict.fromkeys(pairs))}

    @lru_cache(CACHE_SIZE)
    def tokens_of(word: str) -> tuple[str, ...]:
        return tuple(_apply_merges(list(spell_word(word)), ranks))

    def encode(text: str) -> list[str]:
        words = split(arguments.text("text", text))
        return [token for word in words for token in tokens_of(word)]

    return encode


def _apply_merges(symbols: list[str], ranks: dict[SymbolPair, int]) -> list[str]:
    """Join a word's symbols, earliest pair first; a pair's rank is looked up once."""
    never = len(ranks)
    pair_ranks = [ranks.get(pair, never) for pair in pairwise(symbols)]
    while pair_ranks and (best := min(pair_ranks)) < never:
        while best in pair_ranks:
            i = pair_ranks.index(best)
            joined = symbols[i] + symbols[i + 1]
            symbols[i : i + 2] = [joined]
            del pair_ranks[i]
            if i > 0:
                pair_ranks[i - 1] = ranks.get((symbols[i - 1], joined), never)
            if i < len(pair_ranks):
                pair_ranks[i] = ranks.get((joined, symbols[i + 1]), never)
    return symbols
