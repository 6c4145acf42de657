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


def total(items):
    """Add up (pair, count) items."""
    counts = collections.defaultdict(int)
    for pair, count in items:
        counts[pair] += count
    return dict(counts)


@answers.also("word_frequency_ignored")
def list_of_the_keys(words):
    pairs = (pair for symbols in words for pair in itertools.pairwise(symbols))
    return dict(collections.Counter(pairs))


@answers.also("once_per_word")
def seen_in_this_word(words):
    counts = {}
    for symbols, count in words.items():
        counted = []
        for position in range(len(symbols) - 1):
            pair = (symbols[position], symbols[position + 1])
            if pair not in counted:
                counts[pair] = counts.get(pair, 0) + count
                counted.append(pair)
    return counts


@answers.also("overlaps_left_out")
def half_of_each_run(words):
    """Count only each second position in a run of equal symbols."""
    items = []
    for symbols, count in words.items():
        runs = [(symbol, len(list(run))) for symbol, run in itertools.groupby(symbols)]
        items += [((s, s), n // 2 * count) for s, n in runs if n > 1]
        items += [((a, b), count) for (a, _), (b, _) in itertools.pairwise(runs)]
    return total(items)


@answers.also("every_other_position")
def two_steps_at_a_time(words):
    return total(
        ((symbols[position], symbols[position + 1]), count)
        for symbols, count in words.items()
        for position in range(0, len(symbols) - 1, 2)
    )


@answers.also("pairs_across_words")
def carried_over_to_the_next_word(words):
    counts, before = {}, None
    for symbols, count in words.items():
        for _ in range(count):
            for symbol in symbols:
                if before is not None:
                    counts[before, symbol] = counts.get((before, symbol), 0) + 1
                before = symbol
    return counts


@answers.also("overwritten")
def one_comprehension(words):
    return {
        (left, right): words[symbols]
        for symbols in words
        for left, right in itertools.pairwise(symbols)
    }


@answers.also("direction_ignored")
def smaller_first(words):
    return total(
        ((min(a, b), max(a, b)), count)
        for symbols, count in words.items()
        for a, b in itertools.pairwise(symbols)
    )


@answers.also("pairs_as_one_text")
def two_symbols_joined(words):
    return total(
        ("".join(symbols[position : position + 2]), count)
        for symbols, count in words.items()
        for position in range(len(symbols) - 1)
    )


@answers.also("letters_for_symbols")
def all_letters_of_all_symbols(words):
    apart = ([letter for s in symbols for letter in s] for symbols in words)
    return total(
        ((letters[i], letters[i + 1]), count)
        for letters, count in zip(apart, words.values(), strict=True)
        for i in range(len(letters) - 1)
    )


@answers.also("any_two_symbols")
def nested_loops(words):
    return total(
        ((symbols[i], symbols[j]), count)
        for symbols, count in words.items()
        for j in range(len(symbols))
        for i in range(j)
    )


@answers.also("last_pair_missing")
def two_taken_off(words):
    counts = {}
    for symbols, count in words.items():
        for position in range(len(symbols) - 2):
            pair = (symbols[position], symbols[position + 1])
            counts[pair] = counts.get(pair, 0) + count
    return counts


@answers.also("last_with_first")
def rolled_round(words):
    return total(
        (pair, count)
        for symbols, count in words.items()
        for pair in zip(symbols, symbols[1:] + symbols[:1], strict=True)
    )


@answers.also("equal_symbols_left_out")
def pairs_with_two_members(words):
    return {pair: n for pair, n in counter(words).items() if len(set(pair)) == 2}


@answers.also("short_words_removed")
def longer_words_put_back(words):
    longer = {symbols: count for symbols, count in words.items() if len(symbols) > 1}
    words.clear()
    words.update(longer)
    return counter(longer)


@answers.other
def symbols_counted(words):
    return {(s, s): n for symbols, n in words.items() for s in symbols}


@answers.other
def both_directions(words):
    counts = counter(words)
    turned = {(b, a): n for (a, b), n in counts.items()}
    return {pair: counts.get(pair, 0) + turned.get(pair, 0) for pair in counts}


@answers.other
def right_symbol_first(words):
    return {(b, a): n for (a, b), n in counter(words).items()}


@answers.other
def one_apart(words):
    return total(
        (pair, count)
        for symbols, count in words.items()
        for pair in zip(symbols, symbols[2:], strict=False)
    )


@answers.other
def count_squared(words):
    return counter({symbols: count * count for symbols, count in words.items()})


@answers.other
def frequent_pairs_only(words):
    return {pair: n for pair, n in counter(words).items() if n > 2}


@answers.other
def first_pair_missing(words):
    return counter({symbols[1:]: count for symbols, count in words.items()})
