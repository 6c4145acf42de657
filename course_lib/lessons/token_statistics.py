"""Measures of tokens, and rules that byte-pair encoding is compared with (lesson 06).

Training and encoding are in ``course_lib.bpe`` and ``course_lib.fast_bpe``. The text is
an argument everywhere, so nothing here needs the course's data.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

Encode = Callable[[str], list[str]]
# A symbol of the text, or two trees that a merge has joined.
Tree = str | tuple["Tree", "Tree"]


def most_frequent_words(text: str) -> list[str]:
    """List a text's words, the most frequent first, of equals the first by alphabet.

    >>> most_frequent_words("an old cat and an older cat")
    ['an', 'cat', 'and', 'old', 'older']
    """
    counts = Counter(text.split())
    return sorted(counts, key=lambda word: (-counts[word], word))


def share_out_of_vocabulary(text: str, vocabulary: Iterable[str]) -> float:
    """Compute the share of a text's words, 0 … 1, that are not in a vocabulary.

    A word counts as often as it occurs. For a text without words it is 0.

    >>> share_out_of_vocabulary("the cat the dog", {"the"})
    0.5
    """
    words, vocabulary = text.split(), set(vocabulary)
    return sum(word not in vocabulary for word in words) / max(len(words), 1)


def tokens_per_word(text: str, encode: Encode) -> float:
    """Compute how many tokens a word of a text becomes on average, 0 without words.

    >>> tokens_per_word("cat on mat", list)
    2.6666666666666665
    """
    words = text.split()
    return sum(len(encode(word)) for word in words) / max(len(words), 1)


def share_whole(words: Sequence[str], encode: Encode) -> float:
    """Compute the share of some words, 0 … 1, that are one token each.

    >>> share_whole(["a", "cat"], list)
    0.5
    """
    return sum(len(encode(word)) == 1 for word in words) / max(len(words), 1)


def share_rare(text: str, encode: Encode, min_count: int) -> float:
    """Compute the share of the tokens in use, 0 … 1, that occur below a minimum count.

    >>> share_rare("cat mat at", list, 2)
    0.5
    """
    counts = Counter(token for word in text.split() for token in encode(word))
    return sum(count < min_count for count in counts.values()) / max(len(counts), 1)


def longest_match(symbols: Sequence[str], tokens: Iterable[str]) -> list[str]:
    """Split a word from the left, always into the longest token that fits.

    symbols : the word's symbols, each a token in any case
    tokens : the vocabulary

    Returns the tokens. Byte-pair encoding does *not* work like this, WordPiece does:
    Song et al. (2021), Fast WordPiece Tokenization, section 2.

    >>> longest_match("abc", {"ab", "bc"})
    ['ab', 'c']
    """
    vocabulary, match, start = set(tokens), [], 0
    while start < len(symbols):
        ends = range(len(symbols), start, -1)
        end = next(
            (end for end in ends if "".join(symbols[start:end]) in vocabulary),
            start + 1,
        )
        match.append("".join(symbols[start:end]))
        start = end
    return match


def most_frequent_first(
    word: Sequence[str], merges: Iterable[tuple[str, str]], text: str
) -> list[str]:
    """Split a word by joining first what is frequent in the text to be encoded.

    word : the word's symbols
    merges : the learned pairs, of which the order is not used
    text : what is to be encoded, the word among it

    Returns the tokens. Byte-pair encoding does *not* work like this: what was frequent
    in training decides, so that a word does not depend on its neighbours.

    >>> most_frequent_first("abc", [("b", "c"), ("a", "b")], "ab ab abc")
    ['ab', 'c']
    """
    symbols, allowed = list(word), set(merges)
    while known := [pair for pair in pairwise(symbols) if pair in allowed]:
        left, right = max(known, key=lambda pair: text.count("".join(pair)))
        index = list(pairwise(symbols)).index((left, right))
        symbols[index : index + 2] = [left + right]
    return symbols


def merge_trees(word: Sequence[str], merges: Iterable[tuple[str, str]]) -> list[Tree]:
    """Build for each token of a word the tree of the merges that made it.

    word : the word's symbols
    merges : the learned pairs, in the order in which they were learned

    Returns one tree per token, in order: a symbol, or a tuple of two trees.

    >>> merge_trees("mats", [("a", "t"), ("m", "at")])
    [('m', ('a', 't')), 's']
    """
    ranks = {pair: rank for rank, pair in enumerate(dict.fromkeys(merges))}
    trees: list[Tree] = list(word)
    symbols = list(word)
    while known := [pair for pair in pairwise(symbols) if pair in ranks]:
        pair = min(known, key=ranks.__getitem__)
        index = 0
        while index < len(symbols) - 1:
            if (symbols[index], symbols[index + 1]) == pair:
                symbols[index : index + 2] = ["".join(pair)]
                trees[index : index + 2] = [(trees[index], trees[index + 1])]
            index += 1
    return trees
