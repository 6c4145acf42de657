import collections
import functools
import itertools

from tests.answers import Answers

answers = Answers("pair_counts")


@answers.correct
def counter(words):
    counts = collections.Counter()
    for symbols, count in words.items():
        for pair in itertools.pairwise(symbols):
            counts[pair] += count
    return dict(counts)


@answers.correct
def default_dictionary(words):
    counts = collections.defaultdict(int)
    for symbols in words:
        for position in range(1, len(symbols)):
            counts[symbols[position - 1], symbols[position]] += words[symbols]
    return dict(counts)


@answers.correct
def counter_itself(words):
    counts = collections.Counter()
    for symbols, count in words.items():
        counts.update(list(itertools.pairwise(symbols)) * count)
    return counts


@answers.correct
def default_dictionary_itself(words):
    counts = collections.defaultdict(int)
    for symbols, count in words.items():
        for left, right in itertools.pairwise(symbols):
            counts[left, right] += count
    return counts


@answers.correct
def whole_text_word_by_word(words):
    pairs = [
        symbols[position : position + 2]
        for symbols, count in words.items()
        for _ in range(count)
        for position in range(len(symbols) - 1)
    ]
    return dict(collections.Counter(pairs))


@answers.correct
def pairs_first_counts_after(words):
    """Collect which pairs there are, then count the positions of each."""

    def positions(pair, symbols):
        return sum(symbols[i : i + 2] == pair for i in range(len(symbols)))

    pairs = {pair for symbols in words for pair in itertools.pairwise(symbols)}
    return {
        p: sum(n * positions(p, symbols) for symbols, n in words.items()) for p in pairs
    }


@answers.correct
def word_by_word_added_up(words):
    parts = (
        collections.Counter(dict.fromkeys(set(itertools.pairwise(symbols)), 0))
        for symbols in words
    )
    total = collections.Counter()
    for part, (symbols, count) in zip(parts, words.items(), strict=True):
        for pair in itertools.pairwise(symbols):
            part[pair] += count
        total.update(part)
    return dict(total)


@answers.correct
def recursive(words):
    def walk(symbols, count, counts):
        if len(symbols) > 1:
            left, right, *_ = symbols
            counts[left, right] = counts.get((left, right), 0) + count
            walk(symbols[1:], count, counts)
        return counts

    counts = {}
    for symbols, count in words.items():
        walk(symbols, count, counts)
    return counts


@answers.correct
def sentinel_between_words(words):
    text = []
    for symbols, count in words.items():
        text += [*symbols, None] * count
    pairs = itertools.pairwise(text)
    return dict(collections.Counter(pair for pair in pairs if None not in pair))


class PairCounts:
    def __call__(self, words):
        counts = {}
        for symbols, count in words.items():
            before = None
            for symbol in symbols:
                if before is not None:
                    counts.setdefault((before, symbol), []).append(count)
                before = symbol
        return {pair: sum(parts) for pair, parts in counts.items()}


answers.right["callable_object"] = PairCounts()
answers.right["partial"] = functools.partial(
    lambda first, words: {**first, **counter(words)}, {}
)


@answers.other
def symbols_counted(words):
    return {(s, s): n for symbols, n in words.items() for s in symbols}


@answers.other
def directions_added_up(words):
    counts = counter(words)
    turned = {(b, a): n for (a, b), n in counts.items()}
    return {pair: counts.get(pair, 0) + turned.get(pair, 0) for pair in counts}


@answers.other
def count_squared(words):
    return counter({symbols: count * count for symbols, count in words.items()})


@answers.other
def frequent_pairs_only(words):
    return {pair: n for pair, n in counter(words).items() if n > 2}


@answers.correct
def floats(words):
    return {pair: float(n) for pair, n in counter(words).items()}
