"""Broken trainings of byte pair encoding, and weak tests that let some of them pass."""

import itertools
from collections import Counter

import numpy as np

from autograder.checking.learners_tests import LearnersTest, say
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
    lesson="15_bug_hunt",
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


@exercise.spec
def spec(train_bpe):
    rng = np.random.default_rng(1)
    for n_words, n_merges in [(9, 12)] * 30 + [(3, 40)] * 20 + [(4, 0), (0, 2)]:
        words = drawn(rng, n_words)
        expected = train_bpe_exercise.expected_function(words, n_merges)
        merges = train_bpe(words, n_merges)
        assert merges == expected and {tuple} >= {type(pair) for pair in merges}


@exercise.variants
def variants(
    train_bpe,
    *,
    compared="values",
    words_are="drawn",
    frequencies="differ",
    n_merges_are="all",
    says_no="by an assertion",
):
    rng, wrong = np.random.default_rng(2), False
    sizes = [(12, 6)] * 5 + [(3, 50)] * 5 + [(5, 0)]
    sizes = {
        "one": [(12, 1)] * 5 + [(5, 0)],
        "few": [(12, 3)] * 5 + [(5, 0)],
        "one at least": sizes[:-1],
    }.get(n_merges_are, sizes)
    for n_words, n_merges in sizes:
        words = drawn(rng, n_words, longest=2 if words_are == "pairs" else 8)
        if words_are == "without repeats":
            words = {}
            for _ in range(n_words):
                length = rng.integers(1, 6)
                word = tuple("abcde"[i] for i in rng.permutation(5)[:length])
                words[word] = int(rng.integers(1, 5))
        if words_are == "the docstring's":
            words, n_merges = {("e", "a", "t"): 2, ("a", "t"): 3}, min(n_merges, 5)
        if frequencies == "alike":
            words = dict.fromkeys(words, 1)
        expected = train_bpe_exercise.expected_function(words, n_merges)
        merges = train_bpe(words, n_merges)
        if compared == "sets":
            wrong |= {*map(tuple, merges)} != {*expected}
        elif compared == "any pairs":
            wrong |= [*map(tuple, merges)] != expected
        else:
            wrong |= merges != expected
    return say(wrong, says_no)


exercise.weak_at_saying_no("the training that you wrote in lesson 06")
exercise.weak(
    "sets_alone",
    "that ignores the order of the merges",
    "What does the position of a pair in the list decide?",
    why="set(merges) == set(expected) is a habit from unordered results.",
    compared="sets",
)
exercise.weak(
    "any_kind_of_pairs",
    "that takes any two symbols for a pair",
    "Which type does the docstring promise?",
    why="tuple(pair) makes a pair of whatever comes.",
    compared="any pairs",
)
exercise.weak(
    "words_of_two_symbols",
    "whose words have two symbols at most",
    "What can go wrong in a word of three symbols or more?",
    why="Short words are easy to follow by hand.",
    words_are="pairs",
)
exercise.weak(
    "words_without_repeats",
    "in whose words no symbol comes twice",
    "What becomes of aaa if (a, a) is joined?",
    why="Real words seldom have runs, and the errors with runs are seldom seen.",
    words_are="without repeats",
)
exercise.weak(
    "docstrings_example_alone",
    "that tries the docstring's words alone",
    "Which errors give the same merges for eat and at?",
    why="The example stands there already, with its merges.",
    words_are="the docstring's",
)
exercise.weak(
    "frequencies_all_alike",
    "whose words are all equally frequent",
    "What are the numbers in the dictionary for?",
    why="A list of words becomes a dictionary with one number for all.",
    frequencies="alike",
)
exercise.weak(
    "one_merge_alone",
    "that learns one merge at most",
    "What has to be counted again after a merge?",
    why="The first merge can be worked out by hand.",
    n_merges_are="one",
)
exercise.weak(
    "never_ends_early",
    "that learns a few merges of many words",
    "When does training end before n_merges?",
    why="There are always enough pairs in a text of usual length.",
    n_merges_are="few",
)
exercise.weak(
    "n_merges_never_zero",
    "that asks for one merge at least",
    "Which is the smallest n_merges that the docstring allows?",
    why="Nobody trains for nothing, but a loop over sizes does.",
    n_merges_are="one at least",
)
