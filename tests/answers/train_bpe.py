import collections
import functools
import heapq
import itertools
import re

from tests.answers import Answers
from tests.answers.merge_pair import last_of_the_new_word as join

answers = Answers("train_bpe")


def pairs_of(words):
    counts = collections.Counter()
    for symbols, count in words.items():
        for pair in itertools.pairwise(symbols):
            counts[pair] += count
    return counts


def learn(words, n_merges, rank=None, count=pairs_of, put_together=join, least=2):
    """Train on a list of [word, count], each word by itself."""
    corpus = [[symbols, times] for symbols, times in words.items()]
    merges = []
    for _ in range(n_merges):
        counts = count(corpus)
        candidates = [pair for pair in counts if counts[pair] >= least]
        if not candidates:
            break
        key = (lambda pair, c=counts: (c[pair], pair)) if rank is None else rank(counts)
        best = max(candidates, key=key)
        merges.append(best)
        for entry in corpus:
            entry[0] = put_together(entry[0], best)
    return merges


def listed(corpus):
    counts = collections.Counter()
    for symbols, times in corpus:
        for pair in itertools.pairwise(symbols):
            counts[pair] += times
    return counts


learn = functools.partial(learn, count=listed)


@answers.correct
def list_of_words(words, n_merges):
    return learn(words, n_merges)


@answers.correct
def sorted_items(words, n_merges):
    merges, words = [], dict(words)
    while len(merges) < n_merges:
        ranked = sorted((count, pair) for pair, count in pairs_of(words).items())
        if not ranked or ranked[-1][0] == 1:
            return merges
        best = ranked[-1][1]
        merges.append(best)
        after = collections.Counter()
        for symbols, count in words.items():
            after[join(symbols, best)] += count
        words = after
    return merges


@answers.correct
def recursive(words, n_merges):
    counts = pairs_of(words)
    best = max(counts, key=lambda pair: (counts[pair], pair), default=None)
    if n_merges == 0 or best is None or counts[best] < 2:
        return []
    after = collections.defaultdict(int)
    for symbols, count in words.items():
        after[join(symbols, best)] += count
    return [best, *recursive(dict(after), n_merges - 1)]


@answers.correct
def counts_brought_up_to_date(words, n_merges):
    """Subtract the pairs that a changed word had, and add those that it has now."""
    corpus = [[list(symbols), count] for symbols, count in words.items()]
    counts, merges = pairs_of(words), []
    while len(merges) < n_merges:
        best = max(counts, key=lambda pair: (counts[pair], pair), default=None)
        if best is None or counts[best] < 2:
            break
        merges.append(best)
        for entry in corpus:
            symbols, count = entry
            shorter = list(join(symbols, best))
            if shorter == symbols:
                continue
            for pair in itertools.pairwise(symbols):
                counts[pair] -= count
            for pair in itertools.pairwise(shorter):
                counts[pair] += count
            entry[0] = shorter
    return merges


class Last(tuple):
    """A pair that is smaller the later it comes in Python's order."""

    __slots__ = ()

    def __lt__(self, other):
        return tuple(self) > tuple(other)


@answers.correct
def heap_each_time(words, n_merges):
    merges = []
    for _ in range(n_merges):
        heap = [(-count, Last(pair)) for pair, count in pairs_of(words).items()]
        heapq.heapify(heap)
        if not heap or heap[0][0] > -2:
            break
        best = tuple(heap[0][1])
        merges.append(best)
        after = {}
        for symbols, count in words.items():
            shorter = join(symbols, best)
            after[shorter] = after.get(shorter, 0) + count
        words = after
    return merges


@answers.correct
def words_as_texts(words, n_merges):
    """Replace whole symbols in texts, as the program printed in the paper does."""
    texts = [(" ".join(symbols), count) for symbols, count in words.items()]
    merges = []
    while len(merges) < n_merges:
        counts = listed([(text.split(), count) for text, count in texts])
        if not counts or max(counts.values()) < 2:
            break
        most = max(counts.values())
        best = max(pair for pair, count in counts.items() if count == most)
        merges.append(best)
        whole = re.compile(rf"(?<!\S){re.escape(' '.join(best))}(?!\S)")
        made = "".join(best)
        texts = [(whole.sub(made, text), count) for text, count in texts]
    return merges


class Trainer:
    def __call__(self, words, n_merges):
        self.corpus = list(words.items())
        steps = (self.step() for _ in range(n_merges))
        return list(itertools.takewhile(lambda pair: pair is not None, steps))

    def step(self):
        counts = listed(self.corpus)
        most, best = max(((n, pair) for pair, n in counts.items()), default=(0, None))
        if most < 2:
            return None
        self.corpus = [(join(symbols, best), count) for symbols, count in self.corpus]
        return best


answers.right["callable_object"] = Trainer()
answers.right["partial"] = functools.partial(learn, least=2)


@answers.also("first_seen_wins")
def larger_only(words, n_merges):
    """Walk over the counts and take a pair only if it is more frequent."""
    merges = []
    while len(merges) < n_merges:
        best, most = None, 1
        for pair, count in pairs_of(words).items():
            if count > most:
                best, most = pair, count
        if best is None:
            break
        merges.append(best)
        after = collections.Counter()
        for symbols, count in words.items():
            after[join(symbols, best)] += count
        words = after
    return merges


@answers.also("smallest_wins")
def heap_of_negative_counts(words, n_merges):
    corpus, merges = list(words.items()), []
    while len(merges) < n_merges:
        heap = [(-count, pair) for pair, count in listed(corpus).items()]
        heapq.heapify(heap)
        if not heap or heap[0][0] > -2:
            break
        merges.append(heapq.heappop(heap)[1])
        corpus = [(join(symbols, merges[-1]), count) for symbols, count in corpus]
    return merges


@answers.also("joined_texts_ordered")
def ranked_by_the_new_symbol(words, n_merges):
    def rank(counts):
        return lambda pair: (counts[pair], pair[0] + pair[1])

    return learn(words, n_merges, rank)


@answers.also("counted_once")
def best_of_the_first_counts(words, n_merges):
    counts, merges = pairs_of(words), []
    while len(merges) < n_merges and counts:
        count, best = max((count, pair) for pair, count in counts.items())
        if count < 2:
            break
        merges.append(best)
        del counts[best]
    return merges


@answers.also("old_counts_kept")
def neighbours_added(words, n_merges):
    """Add the pairs around each joined symbol, and subtract nothing around it."""
    corpus, counts = list(words.items()), pairs_of(words)
    merges = []
    for _ in range(n_merges):
        best = max(counts, key=lambda pair: (counts[pair], pair), default=None)
        if best is None or counts[best] < 2:
            break
        merges.append(best)
        counts.pop(best)
        made = best[0] + best[1]
        after = []
        for symbols, count in corpus:
            shorter = join(symbols, best)
            if len(shorter) < len(symbols):
                for position in range(1, len(shorter)):
                    pair = shorter[position - 1 : position + 1]
                    counts[pair] += count * (made in pair)
            after.append((shorter, count))
        corpus = after
        counts = collections.Counter({p: n for p, n in counts.items() if n})
    return merges


@answers.also("pairs_that_occur_once")
def until_no_pair_is_left(words, n_merges):
    corpus, merges = list(words.items()), []
    while len(merges) < n_merges and (counts := listed(corpus)):
        merges.append(max(counts, key=lambda pair: (counts[pair], pair)))
        corpus = [(join(symbols, merges[-1]), count) for symbols, count in corpus]
    return merges


@answers.also("pairs_that_occur_twice_refused")
def more_than_twice(words, n_merges):
    merges, corpus = [], list(words.items())
    while len(merges) < n_merges:
        ranked = sorted((count, pair) for pair, count in listed(corpus).items())
        if not ranked or ranked[-1][0] <= 2:
            break
        merges.append(ranked[-1][1])
        corpus = [(join(symbols, merges[-1]), count) for symbols, count in corpus]
    return merges


@answers.also("word_frequency_ignored")
def every_word_once(words, n_merges):
    merges, spelt = [], set(words)
    while len(merges) < n_merges:
        counts = collections.Counter(p for w in spelt for p in itertools.pairwise(w))
        if not counts or max(counts.values()) < 2:
            break
        merges.append(max(counts, key=lambda pair: (counts[pair], pair)))
        spelt = {join(symbols, merges[-1]) for symbols in spelt}
    return merges


@answers.also("error_without_pairs")
def best_of_what_may_be_empty(words, n_merges):
    merges, corpus = [], list(words.items())
    for _ in range(n_merges):
        counts = listed(corpus)
        best = max(counts, key=lambda pair: (counts[pair], pair))
        if counts[best] == 1:
            return merges
        merges.append(best)
        corpus = [(join(symbols, best), count) for symbols, count in corpus]
    return merges


@answers.also("equal_words_overwritten")
def last_of_equal_words(words, n_merges):
    merges = []
    while len(merges) < n_merges:
        counts = pairs_of(words)
        if not counts or max(counts.values()) == 1:
            break
        merges.append(max(counts, key=lambda pair: (counts[pair], pair)))
        after = {}
        for symbols in words:
            after[join(symbols, merges[-1])] = words[symbols]
        words = after
    return merges


@answers.also("words_changed")
def words_moved_one_by_one(words, n_merges):
    merges = []
    for _ in range(n_merges):
        counts = pairs_of(words)
        if not counts or max(counts.values()) < 2:
            break
        merges.append(max(counts, key=lambda pair: (counts[pair], pair)))
        for symbols in list(words):
            count = words.pop(symbols)
            shorter = join(symbols, merges[-1])
            words[shorter] = words.get(shorter, 0) + count
    return merges


@answers.also("tokens_returned")
def new_symbols(words, n_merges):
    made = []
    for left, right in learn(words, n_merges):
        made.append(left + right)
    return made


@answers.also("equal_counts_at_once")
def waiting_list(words, n_merges):
    corpus, merges, waiting = list(words.items()), [], []
    while len(merges) < n_merges:
        if not waiting:
            counts = listed(corpus)
            most = max(counts.values(), default=1)
            if most == 1:
                break
            waiting = sorted(pair for pair, count in counts.items() if count == most)
        merges.append(waiting.pop())
        corpus = [(join(symbols, merges[-1]), count) for symbols, count in corpus]
    return merges


@answers.also("vocabulary_size_taken")
def until_the_vocabulary_is_full(words, n_merges):
    vocabulary = set(itertools.chain.from_iterable(words))
    room = max(n_merges - len(vocabulary), 0)
    return recursive(words, room)


@answers.also("one_pair_too_many")
def stops_one_late(words, n_merges):
    allowed = range(n_merges + 1)
    return recursive(words, len(allowed))


@answers.also("text_replaced")
def texts_without_edges(words, n_merges):
    texts, merges = [(" ".join(s), count) for s, count in words.items()], []
    while len(merges) < n_merges:
        counts = listed([(text.split(), count) for text, count in texts])
        if not counts or max(counts.values()) < 2:
            break
        merges.append(max(counts, key=lambda pair: (counts[pair], pair)))
        left, right = merges[-1]
        texts = [(t.replace(f"{left} {right}", left + right), n) for t, n in texts]
    return merges


@answers.also("pairs_across_words")
def one_long_sequence(words, n_merges):
    text, merges = [], []
    for symbols, count in words.items():
        for _ in range(count):
            text += symbols
    while len(merges) < n_merges:
        counts = collections.Counter(itertools.pairwise(text))
        if not counts or max(counts.values()) < 2:
            break
        merges.append(max(counts, key=lambda pair: (counts[pair], pair)))
        text = join(text, merges[-1])
    return merges


@answers.also("overlaps_left_out")
def positions_that_can_be_joined(words, n_merges):
    def count(corpus):
        counts = collections.Counter()
        for symbols, times in corpus:
            taken = None
            for pair in itertools.pairwise(symbols):
                if pair == taken and pair[0] == pair[1]:
                    taken = None
                else:
                    counts[pair] += times
                    taken = pair
        return counts

    merges = learn(words, n_merges, count=count)
    return merges


@answers.also("word_piece_scores")
def scores_of_word_piece(words, n_merges):
    corpus, merges = list(words.items()), []
    while len(merges) < n_merges:
        single = collections.Counter()
        for symbols, count in corpus:
            for symbol in symbols:
                single[symbol] += count
        scores = [
            (count / (single[left] * single[right]), (left, right))
            for (left, right), count in listed(corpus).items()
            if count > 1
        ]
        if not scores:
            break
        merges.append(sorted(scores)[-1][1])
        corpus = [(join(symbols, merges[-1]), count) for symbols, count in corpus]
    return merges


@answers.other
def rarest_first(words, n_merges):
    def rank(counts):
        return lambda pair: (-counts[pair], pair)

    return learn(words, n_merges, rank)


@answers.other
def longest_first(words, n_merges):
    def rank(counts):
        return lambda pair: (len(pair[0] + pair[1]), counts[pair], pair)

    return learn(words, n_merges, rank)


@answers.other
def pairs_turned(words, n_merges):
    return [(right, left) for left, right in learn(words, n_merges)]


@answers.other
def last_learned_first(words, n_merges):
    return learn(words, n_merges)[::-1]


@answers.other
def alphabetical(words, n_merges):
    return sorted(learn(words, n_merges))


@answers.other
def one_pair_too_few(words, n_merges):
    return learn(words, max(n_merges - 1, 0))


@answers.other
def letters_never_joined(words, n_merges):
    def nothing(symbols, pair):
        return symbols

    return learn(words, n_merges, put_together=nothing)


@answers.other
def counts_of_ten_at_least(words, n_merges):
    return learn(words, n_merges, least=10)
