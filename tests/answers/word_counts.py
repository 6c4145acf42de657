import collections
import functools
import itertools
import re

import numpy as np

from tests.answers import Answers

answers = Answers("word_counts")
MARK = "</w>"


def symbols_of(word):
    letters = list(word)
    letters[-1] += MARK
    return tuple(letters)


@answers.correct
def counter(text):
    return dict(collections.Counter(symbols_of(word) for word in text.split()))


@answers.correct
def default_dictionary(text):
    counts = collections.defaultdict(int)
    for word in text.split():
        counts[symbols_of(word)] += 1
    return dict(counts)


@answers.correct
def counter_itself(text):
    return collections.Counter(map(symbols_of, text.split()))


@answers.correct
def sorted_groups(text):
    groups = itertools.groupby(sorted(text.split()))
    return {symbols_of(word): len(list(group)) for word, group in groups}


@answers.correct
def list_count(text):
    words = text.split()
    return {symbols_of(word): words.count(word) for word in set(words)}


@answers.correct
def regular_expression(text):
    counts = {}
    for match in re.finditer(r"\S+", text):
        word = match.group()
        key = (*word[:-1], word[-1] + MARK)
        counts[key] = counts[key] + 1 if key in counts else 1
    return counts


@answers.correct
def letter_by_letter(text):
    """Walk along the text and close a word at each white space, and at the end."""
    counts, letters = {}, []
    for sign in text + " ":
        if not sign.isspace():
            letters.append(sign)
        elif letters:
            key = (*letters[:-1], letters[-1] + MARK)
            counts.setdefault(key, 0)
            counts[key] += 1
            letters = []
    return counts


@answers.correct
def numpy_unique(text):
    words, counts = np.unique(np.array(text.split(), dtype=object), return_counts=True)
    return {symbols_of(str(w)): int(n) for w, n in zip(words, counts, strict=True)}


class WordCounts:
    def __init__(self, mark):
        self.mark = mark

    def __call__(self, text):
        first = collections.Counter(text.split())
        return {(*w[:-1], w[-1] + self.mark): n for w, n in first.items()}


answers.right["callable_object"] = WordCounts(MARK)
answers.right["partial"] = functools.partial(
    lambda mark, text: WordCounts(mark)(text), MARK
)


def counts_of(words, write=symbols_of):
    return dict(collections.Counter(write(word) for word in words))


@answers.other
def sentences(text):
    return counts_of(part.strip() for part in text.split(".") if part.strip())


@answers.other
def twice_or_more(text):
    return {key: count for key, count in counter(text).items() if count > 1}


@answers.other
def capitals(text):
    return counter(text.upper())


@answers.other
def another_mark(text):
    return counts_of(text.split(), lambda word: (*word[:-1], word[-1] + "<w>"))


@answers.other
def turned_words(text):
    return counts_of(word[::-1] for word in text.split())
