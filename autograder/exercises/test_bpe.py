"""Broken trainings of byte pair encoding, and weak tests that let some of them pass."""

import itertools
from collections import Counter

import numpy as np

from autograder.checking.learners_tests import LearnersTest
from autograder.exercises.train_bpe import exercise as train_bpe_exercise
from course_lib import tests_of_parts


def with_counters(words, n_merges):
    rows = [([*word], count) for word, count in words.items()]
    merges = []
    while len(merges) < n_merges:
        counts = Counter()
        for symbols, count in rows:
            for pair in itertools.pairwise(symbols):
                counts[pair] += count
        frequent = [(count, pair) for pair, count in counts.items() if count > 1]
        if not frequent:
            return merges
        _, (left, right) = max(frequent)
        merges.append((left, right))
        for symbols, _ in rows:
            position = 0
            while position < len(symbols) - 1:
                if symbols[position : position + 2] == [left, right]:
                    symbols[position : position + 2] = [left + right]
                position += 1
    return merges


def occurrence_by_occurrence(words, n_merges, merges=()):
    # Each word as often as it occurs, and one merge for each call of itself.
    texts = [word for word, count in words.items() for _ in range(count)]
    pairs = sorted(pair for word in texts for pair in itertools.pairwise(word))
    groups = [(len([*group]), pair) for pair, group in itertools.groupby(pairs)]
    count, best = max(groups, default=(0, ()))
    if n_merges < 1 or count < 2:
        return [*merges]
    joined = Counter()
    for word in texts:
        symbols = ()
        while word:
            here = word[:2] == best
            symbols += (word[0] + word[1],) if here else word[:1]
            word = word[2 if here else 1 :]
        joined[symbols] += 1
    return occurrence_by_occurrence(joined, n_merges - 1, (*merges, best))


exercise = LearnersTest(
    tests_of_parts.test_bpe,
    lesson="16_bug_hunt",
    minutes=20,
    difficulty=3,
    right={
        "as in lesson 06": train_bpe_exercise.reference,
        "computed with loops": train_bpe_exercise.expected_function,
        "with counters and lists": with_counters,
        "with each word as often as it occurs": occurrence_by_occurrence,
    },
)

exercise.catches_of(
    train_bpe_exercise,
    {
        "word_frequency_ignored": "Words that count once, however frequent, are caught",
        "counted_once": "Pairs that are counted once and for all are caught",
        "first_seen_wins": "The pair seen first, of several with one count, is caught",
        "pairs_that_occur_once": "A merge of a pair that occurs once is caught",
        "pairs_across_words": "Pairs that reach across words are caught",
        "last_learned_first": "Merges in the opposite order are caught",
    },
)

exercise.catches_of(
    train_bpe_exercise,
    {
        "once_per_word": "A pair that counts once per word is caught",
        "runs_joined_whole": "A run aaa that becomes one symbol is caught",
        "joined_from_the_right": "A run aaa that is joined from the right is caught",
        "overlaps_left_out": "Positions in a run that are left out of the counts are "
        "caught",
        "one_pair_at_least": "A merge where none was asked for is caught",
        "lists_for_pairs": "Lists in place of pairs are caught",
    },
    visible=False,
)


def drawn(rng, n_words, letters="abc", longest=9, highest=5):
    words = {}
    for _ in range(n_words):
        word = [letters[i] for i in rng.integers(len(letters), size=longest)]
        length = rng.integers(1, longest + 1)
        words[tuple(word[:length])] = int(rng.integers(1, highest))
    return words


# Without these kinds of input a broken version looks right


def has_a_tie(c):
    """Decide whether at some merge two pairs are equally frequent."""
    rows = [([*word], count) for word, count in c.words.items()]
    for left, right in c.expected:
        counts = Counter()
        for symbols, count in rows:
            for pair in itertools.pairwise(symbols):
                counts[pair] += count
        highest = max(counts.values())
        if [*counts.values()].count(highest) > 1:
            return True
        for symbols, _ in rows:
            for i in range(len(symbols)):
                if symbols[i : i + 2] == [left, right]:
                    symbols[i : i + 2] = [left + right]
    return False


def has_a_pair_twice_in_a_word(c):
    pairs = [[*itertools.pairwise(word)] for word in c.words]
    return any(len({*each}) < len(each) for each in pairs)


def has_a_run_of_three(c):
    for word in c.words:
        for length in range(1, len(word) // 3 + 1):
            for i in range(len(word) - 3 * length + 1):
                one, two, three = (
                    word[i + k * length : i + (k + 1) * length] for k in range(3)
                )
                if one == two == three:
                    return True
    return False


exercise.shows_with(
    "a merge at all",
    lambda c: bool(c.expected),
    *("lists_for_pairs", "word_frequency_ignored"),
    question="Which words have a pair that occurs twice?",
)
exercise.shows_with(
    "a word that occurs more than once",
    lambda c: any(count > 1 for count in c.words.values()),
    "word_frequency_ignored",
    question="What are the numbers in the dictionary for?",
    weak="frequencies_all_alike",
)
exercise.shows_with(
    "two merges or more",
    lambda c: len(c.expected) > 1,
    "last_learned_first",
    question="What has to be counted again after a merge?",
    weak="one_merge_alone",
)
exercise.shows_with(
    "an n_merges above 1",
    lambda c: c.n_merges > 1,
    "counted_once",
    question="What has to be counted again after a merge?",
    weak="one_merge_alone",
)
exercise.shows_with(
    "two pairs that are equally frequent",
    has_a_tie,
    "first_seen_wins",
    question="What does the docstring say of several pairs with one count?",
)
exercise.shows_with(
    "a training that ends before n_merges",
    lambda c: len(c.expected) < c.n_merges,
    "pairs_that_occur_once",
    question="When does training end before n_merges?",
    weak="never_ends_early",
)
exercise.shows_with(
    "an n_merges of 0",
    lambda c: c.n_merges == 0,
    "one_pair_at_least",
    question="Which is the smallest n_merges that the docstring allows?",
    weak="n_merges_never_zero",
)
exercise.shows_with(
    "a word in which a pair comes twice",
    has_a_pair_twice_in_a_word,
    "once_per_word",
    question="How often does a pair count that comes twice in a word?",
)
exercise.shows_with(
    "a run such as aaa or ababab in a word",
    has_a_run_of_three,
    *("runs_joined_whole", "joined_from_the_right", "overlaps_left_out"),
    question="What becomes of aaa if (a, a) is joined?",
    weak="words_without_repeats",
)


@exercise.spec
def spec(train_bpe):
    rng = np.random.default_rng(1)
    for n_words, n_merges in [(9, 12)] * 30 + [(3, 40)] * 20 + [(4, 0), (0, 2)]:
        words = drawn(rng, n_words)
        expected = train_bpe_exercise.expected_function(words, n_merges)
        merges = train_bpe(words, n_merges)
        assert merges == expected and {tuple} >= {type(pair) for pair in merges}


@exercise.right_answer
def one_assertion_at_the_end(train_bpe):
    rng = np.random.default_rng(17)
    is_right = True
    for n_words, n_merges in [(12, 6)] * 5 + [(3, 50)] * 5 + [(5, 0)]:
        words = {}
        for _ in range(n_words):
            length = rng.integers(1, 9)
            word = tuple("abc"[i] for i in rng.integers(3, size=length))
            words[word] = int(rng.integers(1, 5))
        merges = train_bpe(words, n_merges)
        texts, expected = [(list(word), count) for word, count in words.items()], []
        while len(expected) < n_merges:
            counts = Counter()
            for symbols, count in texts:
                for pair in itertools.pairwise(symbols):
                    counts[pair] += count
            best = max(counts, key=lambda pair: (counts[pair], pair), default=None)
            if counts[best] < 2:
                break
            expected.append(best)
            for symbols, _ in texts:
                for i in range(len(symbols)):
                    if tuple(symbols[i : i + 2]) == best:
                        symbols[i : i + 2] = [best[0] + best[1]]
        is_right &= merges == expected
    assert is_right, "the merges are wrong"


exercise.weak_at_saying_no(
    "the training that you wrote in lesson 06",
    rejects="merges == expected -> len(merges) == n_merges",
    of=one_assertion_at_the_end,
)
exercise.edits(
    """
sets_alone: merges == expected -> set(map(tuple, merges)) == set(expected)
  Your test catches what a test catches that ignores the order of the merges.
  ? What does the position of a pair in the list decide?
  # set(merges) == set(expected) is a habit from unordered results.
any_kind_of_pairs: merges == expected -> [tuple(pair) for pair in merges] == expected
  Your test catches what a test catches that takes any two symbols for a pair.
  ? Which type does the docstring promise?
  # tuple(pair) makes a pair of whatever comes.
words_of_two_symbols: rng.integers(1, 9) -> rng.integers(1, 3)
  Your test catches what a test catches whose words have two symbols at most.
  ? What can go wrong in a word of three symbols or more?
  # Short words are easy to follow by hand.
words_without_repeats:
  | 'abc'[i] for i in rng.integers(3, size=length) ->
  :     'abcde'[i] for i in rng.permutation(5)[:length]
  Your test catches what a test catches in whose words no symbol comes twice.
  ? What becomes of aaa if (a, a) is joined?
  # Real words seldom have runs, and the errors with runs are seldom seen.
docstrings_example_alone:
  | [(12, 6)] * 5 + [(3, 50)] * 5 + [(5, 0)] -> [(2, 5), (2, 0)]
  | words = {}
  : for _ in range(n_words):
  :     length = …
  :     word = …
  :     words[word] = … -> words = {('e', 'a', 't'): 2, ('a', 't'): 3}
  Your test catches what a test catches that tries the docstring's words alone.
  ? Which errors give the same merges for eat and at?
  # The example stands there already, with its merges.
frequencies_all_alike: words[word] = 1
  Your test catches what a test catches whose words are all equally frequent.
  ? What are the numbers in the dictionary for?
  # A list of words becomes a dictionary with one number for all.
one_merge_alone: [(12, 6)] * 5 + [(3, 50)] * 5 + [(5, 0)] -> [(12, 1)] * 5 + [(5, 0)]
  Your test catches what a test catches that learns one merge at most.
  ? What has to be counted again after a merge?
  # The first merge can be worked out by hand.
never_ends_early: [(12, 6)] * 5 + [(3, 50)] * 5 + [(5, 0)] -> [(12, 3)] * 5 + [(5, 0)]
  Your test catches what a test catches that learns a few merges of many words.
  ? When does training end before n_merges?
  # There are always enough pairs in a text of usual length.
n_merges_never_zero:  + [(5, 0)] ->
  Your test catches what a test catches that asks for one merge at least.
  ? Which is the smallest n_merges that the docstring allows?
  # Nobody trains for nothing, but a loop over sizes does.
""",
    of=one_assertion_at_the_end,
)
