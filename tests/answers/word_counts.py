import collections
import functools
import itertools
import re
import unicodedata

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


@answers.also("each_word_once")
def ones_for_a_set(text):
    return {symbols_of(word): 1 for word in set(text.split())}


@answers.also("parts_of_words_counted")
def positions_where_the_text_starts_so(text):
    def count_of(word):
        count, start = 0, text.find(word)
        while start >= 0:
            count, start = count + 1, text.find(word, start + len(word))
        return count

    return {symbols_of(word): count_of(word) for word in text.split()}


@answers.also("last_run_counted")
def reset_when_the_word_changes(text):
    counts, before = {}, None
    for word in text.split():
        key = symbols_of(word)
        counts[key] = counts[key] + 1 if word == before else 1
        before = word
    return counts


@answers.also("lower_cased")
def each_letter_lowered(text):
    return counts_of(map(str.lower, text.split()))


@answers.also("punctuation_removed")
def signs_replaced_by_blanks(text):
    signs = (s if s.isalnum() or s == "_" else " " for s in text)
    return counts_of("".join(signs).split())


@answers.also("punctuation_apart")
def blanks_put_around_marks(text):
    parted = re.sub(r"([^\w\s]+)", r" \1 ", text)
    return counts_of(parted.split())


@answers.also("accents_removed")
def combining_signs_dropped(text):
    def bare(word):
        return re.sub(r"[\u0300-\u036f]", "", unicodedata.normalize("NFD", word))

    return counts_of(bare(word) for word in text.split())


@answers.also("signs_unified")
def each_word_normalised(text):
    return counts_of(unicodedata.normalize("NFKC", word) for word in text.split())


@answers.also("split_at_single_blanks")
def cut_at_each_blank(text):
    def write(word):
        return (*word[:-1], word[-1] + MARK) if word else ()

    return counts_of(re.split(" ", text), write)


@answers.also("mark_missing")
def letters_only(text):
    counts = {}
    for word in text.split():
        key = tuple(word[i] for i in range(len(word)))
        counts[key] = counts.get(key, 0) + 1
    return counts


@answers.also("mark_is_a_symbol")
def mark_appended(text):
    counts = {}
    for word in text.split():
        key = (*tuple(word), *[MARK])
        counts[key] = counts.get(key, 0) + 1
    return counts


@answers.also("mark_on_every_symbol")
def joined_and_cut(text):
    return counts_of(
        text.split(),
        lambda word: tuple(map("".join, zip(word, itertools.repeat(MARK)))),
    )


@answers.also("mark_before_the_word")
def mark_at_the_first_position(text):
    def write(word):
        letters = list(word)
        letters[0] = MARK + letters[0]
        return tuple(letters)

    return counts_of(text.split(), write)


@answers.also("mark_in_letters")
def letters_and_letters_of_the_mark(text):
    marked = re.sub(r"(?<=\S)(?=\s|$)", MARK, text)
    return dict(collections.Counter(tuple(word) for word in marked.split()))


@answers.also("one_letter_words_unmarked")
def mark_from_the_second_letter_on(text):
    counts = counts_of(text.split())
    return {
        (key[0].removesuffix(MARK),) if len(key) == 1 else key: count
        for key, count in counts.items()
    }


@answers.also("symbols_joined_by_blanks")
def blanks_and_mark(text):
    counts = collections.defaultdict(int)
    for word in text.split():
        counts[" ".join(word) + MARK] += 1
    return dict(counts)


@answers.other
def sentences(text):
    return counts_of(part.strip() for part in text.split(".") if part.strip())


@answers.other
def letters_counted(text):
    return {(letter,): text.count(letter) for letter in text if not letter.isspace()}


@answers.other
def one_too_many(text):
    return {key: count + 1 for key, count in counter(text).items()}


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
