"""Byte-pair encoding of words: counting, training, encoding and decoding, to be read.

A word is a tuple of symbols, so the same functions serve for any convention about a
word's end; ``spell`` is this course's. Text is split at white space, so how much of it
there was, of which kind and at both ends is lost, and so is a ``</w>`` in the text.
Nothing here is fast (``course_lib.fast_bpe`` is), splits bytes
(``course_lib.byte_bpe``) or saves what was learned (``course_lib.merges_file``).
"""

from itertools import pairwise

from course_lib import arguments

END_OF_WORD = "</w>"


def spell(word: str) -> tuple[str, ...]:
    """Write a word as its characters, the last of them with the mark of a word's end.

    word : a text without white space; the empty one has no symbols

    Returns the symbols. Source: the programs of Sennrich et al. (2016), since their
    version 0.2; before, the mark was a symbol on its own.

    >>> spell("cat")
    ('c', 'a', 't</w>')
    """
    return (*word[:-1], *(last + END_OF_WORD for last in word[-1:]))


def word_counts(text: str) -> dict[tuple[str, ...], int]:
    """Count how often each word occurs in a text.

    text : any text; words are whatever is between white space, as ``str.split`` sees it

    Returns how often each word occurs; the word is written as ``spell`` writes it. A
    text without words gives an empty dictionary. Capitals and accents do not change.
    Source: Sennrich et al. (2016), Neural Machine Translation of Rare Words with
    Subword Units, section 3.2.

    >>> word_counts("eat to eat")
    {('e', 'a', 't</w>'): 2, ('t', 'o</w>'): 1}
    """
    counts: dict[tuple[str, ...], int] = {}
    for word in arguments.text("text", text).split():
        symbols = spell(word)
        counts[symbols] = counts.get(symbols, 0) + 1
    return counts


def pair_counts(words: dict[tuple[str, ...], int]) -> dict[tuple[str, str], int]:
    """Count how often two symbols are next to each other within a word.

    words : how often each word occurs, words being tuples of symbols

    Returns how often each pair (left, right) occurs in the whole text: each occurrence
    in a word counts as often as the word occurs. Occurrences may overlap: ``aaa`` has
    the pair (a, a) twice. A word of one symbol has no pairs, and none reach across two
    words.
    Source: Sennrich et al. (2016), section 3.2.

    >>> pair_counts({("e", "a", "t"): 2, ("a", "t"): 3})
    {('e', 'a'): 2, ('a', 't'): 5}
    """
    counts: dict[tuple[str, str], int] = {}
    for symbols, count in arguments.words("words", words).items():
        for pair in pairwise(symbols):
            counts[pair] = counts.get(pair, 0) + count
    return counts


def merge_pair(symbols: tuple[str, ...], pair: tuple[str, str]) -> tuple[str, ...]:
    """Join two symbols into one wherever they are next to each other in a word.

    symbols : the word
    pair : the two symbols, left and right

    Returns the word's new symbols. The word is read from left to right, and what has
    been joined is not joined again: (a, a) turns ``a a a`` into ``aa a``. A word
    without the pair does not change.
    Source: Sennrich et al. (2016), section 3.2; the direction is that of their program.

    >>> merge_pair(("m", "a", "t", "a"), ("m", "a"))
    ('ma', 't', 'a')
    >>> merge_pair(("a", "a", "a"), ("a", "a"))
    ('aa', 'a')
    """
    arguments.texts("symbols", symbols)
    pair = arguments.pair("pair", pair)
    merged = []
    i = 0
    while i < len(symbols):
        if tuple(symbols[i : i + 2]) == pair:
            merged.append(pair[0] + pair[1])
            i += 2
        else:
            merged.append(symbols[i])
            i += 1
    return tuple(merged)


def train_bpe(
    words: dict[tuple[str, ...], int], n_merges: int
) -> list[tuple[str, str]]:
    """Learn which symbols to join: again and again the most frequent pair.

    words : how often each word occurs, words being tuples of symbols
    n_merges : how many pairs to learn at most

    Returns the pairs in the order in which they were learned, by these rules:
    - In each step it is the pair with the greatest count.
    - Of several pairs with that count it is the last one in Python's order of tuples of
      strings, the greatest: ("b", "a") beats ("a", "z"), ("b", "c") beats ("b", "a").
    - It ends early when no pair occurs at least twice; no words give an empty list.
    - Words that become equal, if some symbols were joined before, count together.

    words is not modified.
    Source: Sennrich et al. (2016), section 3.2, algorithm 1; the order of equal counts
    and the end are those of their program.

    >>> train_bpe({("e", "a", "t"): 2, ("a", "t"): 3}, 5)
    [('a', 't'), ('e', 'at')]
    """
    n_merges = arguments.whole("n_merges ≥ 0", n_merges)
    merges: list[tuple[str, str]] = []
    while len(merges) < n_merges:
        counts = pair_counts(words)
        best = max(counts, key=lambda pair: (counts[pair], pair), default=None)
        if best is None or counts[best] < 2:
            break
        merges.append(best)
        merged: dict[tuple[str, ...], int] = {}
        for symbols, count in words.items():
            shorter = merge_pair(symbols, best)
            # Two words may become one, if they were spelt with different symbols.
            merged[shorter] = merged.get(shorter, 0) + count
        words = merged
    return merges


def encode_word(word: tuple[str, ...], merges: list[tuple[str, str]]) -> list[str]:
    """Split a word into tokens: join its symbols, the pair learned earliest first.

    word : the word's symbols, in the same convention as in training
    merges : the learned pairs, as ``train_bpe`` gives them: in the order in which they
        were learned; a pair never comes before those that create its two symbols

    Returns the word's tokens, from left to right, by these rules:
    - Of all pairs in the word the one that was learned first is joined, wherever it
      occurs, until no learned pair is left; how long a token becomes does not matter.
    - A symbol that did not occur in training stays a token of its own.
    - A word without symbols gives an empty list.

    Source: Sennrich et al. (2016), section 3.2: the learned operations are applied to
    new words.

    >>> encode_word(("a", "b", "c"), [("b", "c"), ("a", "b")])
    ['a', 'bc']
    """
    merges = arguments.pairs("merges", merges)
    # If a pair is there twice, the first one counts.
    ranks = {pair: rank for rank, pair in enumerate(dict.fromkeys(merges))}
    word = arguments.texts("word", word)
    while known := set(pairwise(word)) & ranks.keys():
        word = merge_pair(word, min(known, key=ranks.__getitem__))
    return list(word)


def decode(tokens: list[str]) -> str:
    """Join tokens into a text again.

    tokens : tokens of any number of words, from left to right

    Returns the text: the mark ``</w>`` at the end of a token becomes a space; on the
    last token it is simply dropped. Nothing else is put between tokens.
    Source: Sennrich et al. (2016), section 3.2: the mark lets the text be restored.

    >>> decode(["m", "at</w>", "eats</w>"])
    'mat eats'
    """
    text = ""
    space = ""
    for token in arguments.texts("tokens", tokens):
        text += space + token.removesuffix(END_OF_WORD)
        space = " " * token.endswith(END_OF_WORD)
    return text


def vocabulary(
    words: dict[tuple[str, ...], int], merges: list[tuple[str, str]]
) -> list[str]:
    """List all tokens that encoding these words can give.

    words : how often each word occurs, words being tuples of symbols
    merges : the pairs that were learned from them

    Returns each token once: first the words' symbols in Python's order of strings, then
    what each merge makes. A token's index in the list is its token id.
    Source: Sennrich et al. (2016), section 3.2: symbols and merges make the vocabulary.

    >>> vocabulary({("a", "t"): 3, ("e",): 2}, [("a", "t")])
    ['a', 'e', 't', 'at']
    """
    known = arguments.words("words", words)
    symbols = sorted({symbol for word in known for symbol in word})
    joined = (left + right for left, right in arguments.pairs("merges", merges))
    return list(dict.fromkeys([*symbols, *joined]))
