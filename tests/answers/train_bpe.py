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
def alphabetical(words, n_merges):
    return sorted(learn(words, n_merges), key=lambda pair: "".join(pair)[::-1])


@answers.other
def most_words_first(words, n_merges):
    def rank(counts):
        return lambda pair: (counts[pair] // 10, pair)

    return learn(words, n_merges, rank)


@answers.other
def counts_of_ten_at_least(words, n_merges):
    return learn(words, n_merges, least=10)


@answers.other
def every_second_pair(words, n_merges):
    return learn(words, 2 * n_merges)[::2]
