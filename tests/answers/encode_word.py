import functools
import heapq
from collections import Counter
from itertools import pairwise

from tests.answers import Answers

answers = Answers("encode_word")


def join(symbols, pair):
    """Join a pair everywhere from left to right, with a stack of what is done."""
    done = []
    for symbol in symbols:
        if done and done[-1] == (pair[0], False) and symbol == pair[1]:
            done[-1] = (pair[0] + symbol, True)
        else:
            done.append((symbol, False))
    return [symbol for symbol, _ in done]


@answers.correct
def each_pair_once_in_order(word, merges):
    """Right, since no pair stands before those that make its parts."""
    symbols = list(word)
    for pair in merges:
        symbols = join(symbols, pair)
    return symbols


@answers.correct
def one_position_at_a_time(word, merges):
    symbols = list(word)
    while True:
        ranked = [
            (merges.index(pair), position)
            for position, pair in enumerate(pairwise(symbols))
            if pair in merges
        ]
        if not ranked:
            return symbols
        _, position = min(ranked)
        symbols[position : position + 2] = [symbols[position] + symbols[position + 1]]


@answers.correct
def with_infinity(word, merges):
    ranks = dict(zip(merges, range(len(merges)), strict=True))
    symbols = list(word)
    while len(symbols) > 1:
        best = min(pairwise(symbols), key=lambda pair: ranks.get(pair, float("inf")))
        if best not in ranks:
            break
        symbols = join(symbols, best)
    return symbols


@answers.correct
def boundaries(word, merges):
    """Keep the positions of the cuts; symbols are slices of the word."""
    cuts = list(range(len(word) + 1))
    ranks = {pair: rank for rank, pair in enumerate(merges)}

    def rank(i):
        left = "".join(word[cuts[i] : cuts[i + 1]])
        right = "".join(word[cuts[i + 1] : cuts[i + 2]])
        return ranks.get((left, right), len(merges))

    while len(cuts) > 2:
        best = min(range(len(cuts) - 2), key=rank)
        if rank(best) == len(merges):
            break
        del cuts[best + 1]
    return ["".join(word[a:b]) for a, b in pairwise(cuts)]


@answers.correct
def queue_of_positions(word, merges):
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    symbols, after = list(word), [*range(1, len(word)), None]
    queue = []

    def offer(position):
        following = after[position]
        if following is not None:
            pair = (symbols[position], symbols[following])
            if pair in ranks:
                heapq.heappush(queue, (ranks[pair], position, pair))

    for position in range(len(word)):
        offer(position)
    while queue:
        _, position, pair = heapq.heappop(queue)
        following = after[position]
        if following is None or (symbols[position], symbols[following]) != pair:
            continue
        symbols[position], symbols[following] = pair[0] + pair[1], ""
        after[position] = after[following]
        offer(position)
        before = next(
            (i for i in range(position - 1, -1, -1) if symbols[i] != ""), None
        )
        if before is not None:
            offer(before)
    return [symbol for symbol in symbols if symbol != ""]


@answers.correct
def recursion(word, merges):
    known = [pair for pair in merges if pair in set(pairwise(word))]
    return recursion(tuple(join(word, known[0])), merges) if known else list(word)


class Encoder:
    def __init__(self, mark):
        self.mark = mark

    def __call__(self, word, merges):
        """Join a text whose symbols stand between marks that no text holds."""
        mark = self.mark
        text = mark + "".join(symbol + mark for symbol in word)
        for left, right in merges:
            old, new = f"{mark}{left}{mark}{right}{mark}", f"{mark}{left}{right}{mark}"
            while old in text:
                text = text.replace(old, new, 1)
        return text.split(mark)[1:-1]


answers.right["callable_object"] = Encoder("\0")
answers.right["partial"] = functools.partial(
    lambda choose, word, merges: with_infinity(word, choose(merges)), list
)


@answers.other
def longest_match_from_the_right(word, merges):
    known = {"".join(pair) for pair in merges}
    tokens, stop = [], len(word)
    while stop:
        start = 0
        while start < stop - 1 and "".join(word[start:stop]) not in known:
            start += 1
        tokens.insert(0, "".join(word[start:stop]))
        stop = start
    return tokens


@answers.other
def tokens_turned_round(word, merges):
    return recursion(word, merges)[::-1]


@answers.other
def first_half_of_the_pairs(word, merges):
    return recursion(word, merges[: len(merges) // 2])


@answers.also("most_frequent_pair_first_then_leftmost")
def counted_in_the_word(word, merges):
    """Count with a Counter, whose most_common keeps the order of ties."""
    word = list(word)
    while counts := Counter(pair for pair in pairwise(word) if pair in merges):
        (left, right), _ = counts.most_common(1)[0]
        i = 0
        while i < len(word) - 1:
            if word[i : i + 2] == [left, right]:
                word[i : i + 2] = [left + right]
            i += 1
    return word
