import functools
import heapq
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


@answers.also("longest_match")
def longest_known_beginning(word, merges):
    known = {"".join(pair) for pair in merges}
    tokens, rest = [], list(word)
    while rest:
        beginnings = ["".join(rest[:n]) for n in range(1, len(rest) + 1)]
        fits = [n for n, text in enumerate(beginnings, 1) if n == 1 or text in known]
        tokens.append(beginnings[fits[-1] - 1])
        rest = rest[fits[-1] :]
    return tokens


def sweep(symbols, merges):
    left = list(symbols)
    done = []
    while left:
        first = left.pop(0)
        if left and (first, left[0]) in merges:
            first += left.pop(0)
        done.append(first)
    return done


@answers.also("passes_from_left_to_right")
def sweeps_until_nothing_changes(word, merges):
    swept = sweep(word, merges)
    return swept if len(swept) == len(word) else passes_again(swept, merges)


def passes_again(word, merges):
    while len(shorter := sweep(word, merges)) < len(word):
        word = shorter
    return list(word)


@answers.also("one_pass_over_the_word")
def one_sweep(word, merges):
    return sweep(word, merges)


@answers.also("leftmost_pair_first")
def starts_again_after_each_joining(word, merges):
    # All positions of the pair that stands first are joined.
    symbols = list(word)
    for pair in pairwise(symbols):
        if pair in merges:
            return starts_again_after_each_joining(join(symbols, pair), merges)
    return symbols


@answers.also("most_frequent_pair_first")
def sorted_by_count(word, merges):
    symbols = list(word)
    while True:
        pairs = list(pairwise(symbols))
        order = sorted(
            (-pairs.count(pair), rank)
            for rank, pair in enumerate(merges)
            if pair in pairs
        )
        if not order:
            return symbols
        symbols = join(symbols, merges[order[0][1]])


@answers.also("latest_pair_first")
def from_the_end_of_the_list(word, merges):
    symbols, position = list(word), len(merges) - 1
    while position >= 0:
        joined = join(symbols, merges[position])
        position = position - 1 if joined == symbols else len(merges) - 1
        symbols = joined
    return symbols


@answers.also("longest_pair_first")
def sorted_by_length(word, merges):
    order = sorted(merges, key=lambda pair: -len(pair[0] + pair[1]))
    symbols = list(word)
    while known := [pair for pair in order if pair in list(pairwise(symbols))]:
        symbols = join(symbols, known[0])
    return symbols


@answers.also("first_position_only")
def index_of_the_pair(word, merges):
    symbols = list(word)
    for left, right in merges:
        pairs = list(pairwise(symbols))
        if (left, right) in pairs:
            position = pairs.index((left, right))
            symbols = [*symbols[:position], left + right, *symbols[position + 2 :]]
    return symbols


@answers.also("pairs_of_the_start_only")
def sorted_once(word, merges):
    ranks = [merges.index(pair) for pair in pairwise(word) if pair in merges]
    symbols = list(word)
    for rank in sorted(set(ranks)):
        symbols = join(symbols, merges[rank])
    return symbols


@answers.also("joined_from_the_right")
def word_turned_round(word, merges):
    symbols = list(word)[::-1]
    for left, right in merges:
        turned = []
        while symbols:
            if symbols[:2] == [right, left]:
                turned.append(left + right)
                del symbols[:2]
            else:
                turned.append(symbols.pop(0))
        symbols = turned
    return symbols[::-1]


@answers.also("text_replaced")
def split_and_joined_text(word, merges):
    text = " ".join(word)
    for pair in merges:
        text = "".join(pair).join(text.split(" ".join(pair)))
    return [token for token in text.split(" ") if token]


@answers.also("unknown_dropped")
def only_what_is_in_the_vocabulary(word, merges):
    vocabulary = {left for left, _ in merges} | {right for _, right in merges}
    vocabulary |= {left + right for left, right in merges}
    return [t for t in each_pair_once_in_order(word, merges) if t in vocabulary]


@answers.also("unknown_pair_raises")
def ranks_of_all_pairs(word, merges):
    order = {merges[rank]: rank for rank in range(len(merges))}
    symbols = list(word)
    while len(symbols) >= 2:
        ranked = [(order[pair], pair) for pair in pairwise(symbols)]
        symbols = join(symbols, min(ranked)[1])
    return symbols


@answers.also("mark_added_again")
def marked_like_clip(word, merges):
    if not word:
        return []
    *first, last = word
    return with_infinity((*first, f"{last}</w>"), merges)


@answers.also("merges_used_up")
def emptied_from_the_front(word, merges):
    symbols = list(word)
    for _ in range(len(merges)):
        symbols = join(symbols, merges[0])
        del merges[0]
    return symbols


@answers.also("one_symbol_returned_as_it_is")
def early_return(word, merges):
    if not list(pairwise(word)):
        return word
    return boundaries(word, merges)


@answers.other
def one_joining_only(word, merges):
    for pair in merges:
        if pair in list(pairwise(word)):
            return join(word, pair)
    return list(word)


@answers.other
def pairs_by_alphabet(word, merges):
    symbols = list(word)
    while known := sorted(set(pairwise(symbols)) & set(merges)):
        symbols = join(symbols, known[0])
    return symbols


@answers.other
def rightmost_pair_first(word, merges):
    symbols = list(word)
    while known := [pair for pair in pairwise(symbols) if pair in merges]:
        symbols = join(symbols, known[-1])
    return symbols


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
def each_token_once(word, merges):
    return list(dict.fromkeys(with_infinity(word, merges)))
