"""Cases and misconceptions of ``pair_counts``."""

import itertools

from autograder import Exercise
from course_lib.bpe import pair_counts

exercise = Exercise(
    pair_counts,
    lesson="06_byte_pair_encoding",
    minutes=10,
    difficulty=1,
    library=("course_lib.fast_bpe.PairCounts",),
)


@exercise.spec
def spec(words):
    counts = {}
    for symbols, count in words.items():
        for position in range(len(symbols) - 1):
            add(counts, (symbols[position], symbols[position + 1]), count)
    return counts


def add(counts, pair, count):
    """Let a pair count so much more."""
    counts[pair] = counts.get(pair, 0) + count


def corpus(rng, symbols, n_words):
    """Draw words of one to eight symbols and how often they occur."""
    return {
        tuple(rng.choice(symbols, size=length).tolist()): int(rng.integers(1, 50))
        for length in rng.integers(1, 9, size=n_words).tolist()
    }


def arranged(rng, letters):
    """Draw words in which no letter stands twice, and how often they occur."""
    return {
        tuple(rng.permutation([*letters])[:length].tolist()): int(rng.integers(1, 50))
        for length in rng.integers(2, len(letters) + 1, size=6).tolist()
    }


@exercise.usual
def usual(rng):
    a, b = "a", "b"
    return ({(a, b, b, a, a): 2, (b, a, b): 3, (a, a, a, b, b): 4, (b, b): 5},)


@exercise.case("A pair counts as often as the words it stands in")
def small_example_by_hand(student, rng):
    words = {("e", "a", "t"): 2, ("a", "t"): 3}
    student.expect(student(words), {("e", "a"): 2, ("a", "t"): 5})
    student.agrees(arranged(rng, "eatm"))


@exercise.case("A pair that stands twice in a word counts twice")
def twice_in_a_word(student, rng):
    words = {("b", "a", "n", "a", "n", "a"): 3}
    student.expect(student(words), {("b", "a"): 3, ("a", "n"): 6, ("n", "a"): 6})


@exercise.case("Positions may overlap: aaa has the pair (a, a) twice, aaaa three times")
def overlapping_positions(student, rng):
    student.expect(student({("a", "a", "a"): 3}), {("a", "a"): 6})
    words = {("a", "a", "a", "a"): 2, ("a", "a", "b"): 5}
    student.expect(student(words), {("a", "a"): 11, ("a", "b"): 5})
    student.agrees(corpus(rng, ["a"], 3))


@exercise.case("Which symbol is left and which is right matters")
def left_and_right(student, rng):
    words = {("a", "b"): 4, ("b", "a"): 3, ("d", "c", "d"): 2}
    expected = {("a", "b"): 4, ("b", "a"): 3, ("d", "c"): 2, ("c", "d"): 2}
    student.expect(student(words), expected)
    student.agrees(arranged(rng, "abc"))


@exercise.case("Symbols of several letters are symbols like others")
def longer_symbols(student, rng):
    words = {("ab", "c</w>"): 3, ("a", "bc</w>"): 2, ("ä", "ßab", "c</w>"): 4}
    words |= {("x", "ab", "c</w>"): 5}
    expected = {
        ("ab", "c</w>"): 8,
        ("a", "bc</w>"): 2,
        ("ä", "ßab"): 4,
        ("ßab", "c</w>"): 4,
        ("x", "ab"): 5,
    }
    student.expect(student(words), expected)


@exercise.case("Words of one symbol have no pairs, and no words give no pairs")
def no_pairs(student, rng):
    student.expect(student({("a</w>",): 5, ("😀</w>",): 2, (): 3}), {})
    student.expect(student({}), {})


@exercise.case("The dictionary of words stays as it was")
def words_unchanged(student, rng):
    student.leaves_unchanged({("t", "o"): 2, ("a",): 3, ("a", "t"): 4})


@exercise.case("A larger corpus is counted", visible=False)
def larger_corpus(student, rng):
    symbols = ["a", "b", "aa", "ab", "ä", "b</w>", "🚲"]
    student.agrees(corpus(rng, symbols, 30))


@exercise.misconception(
    "Your counts take every word once, however often it occurs in the text.",
    "How often does the pair stand in the whole text, if a word that has it occurs "
    "three times?",
    why="The loop runs over the dictionary's keys, so each word comes by once.",
)
def word_frequency_ignored(words):
    counts = {}
    for symbols in words:
        for pair in itertools.pairwise(symbols):
            add(counts, pair, 1)
    return counts


@exercise.misconception(
    "Your counts take a pair once per word, also where it stands there twice.",
    "At how many positions of banana does the pair (a, n) stand?",
    why="GPT-2's encoder collects a word's pairs in a set: there that is right, and "
    "the line is copied.",
)
def once_per_word(words):
    counts = {}
    for symbols, count in words.items():
        for pair in set(itertools.pairwise(symbols)):
            add(counts, pair, count)
    return counts


@exercise.misconception(
    "Your counts leave out positions that overlap the position before.",
    "At how many positions of aaa does an a stand to the left of an a?",
    why="Only so many can be joined; minbpe, issue 51 and pull request 72, argue for "
    "counting so, and SentencePiece does. The docstring says otherwise.",
)
def overlaps_left_out(words):
    counts = {}
    for symbols, count in words.items():
        position, before = 0, None
        while position < len(symbols) - 1:
            pair = symbols[position : position + 2]
            if pair == before and pair[0] == pair[1]:
                before = None
            else:
                add(counts, pair, count)
                before = pair
            position += 1
    return counts


@exercise.misconception(
    "Your pairs do not share symbols: first with second, third with fourth.",
    "Next to which symbols does a word's second symbol stand?",
    why="Cutting a word into twos is what pairs sounds like; "
    "zip(symbols[::2], symbols[1::2]) does that.",
)
def every_other_position(words):
    counts = {}
    for symbols, count in words.items():
        for pair in zip(symbols[::2], symbols[1::2], strict=False):
            add(counts, pair, count)
    return counts


@exercise.misconception(
    "Your pairs reach from the end of one word to the start of the next.",
    "Do two words of a dictionary stand next to each other in the text?",
    why="minbpe's first tokenizer counts along the whole text in this way; here words "
    "are apart.",
)
def pairs_across_words(words):
    text = [s for symbols, count in words.items() for s in symbols * count]
    counts = {}
    for pair in itertools.pairwise(text):
        add(counts, pair, 1)
    return counts


@exercise.misconception(
    "Your count of a pair is that of the last word that has it.",
    "What becomes of the count of a pair that an earlier word had already?",
    why="`counts[pair] = count` where the count had to be added to.",
)
def overwritten(words):
    counts = {}
    for symbols, count in words.items():
        for pair in itertools.pairwise(symbols):
            counts[pair] = count
    return counts


@exercise.misconception(
    "Your pairs have their two symbols in the order of the alphabet: (a, b) and (b, a) "
    "are one.",
    "Would joining n and a give the same symbol as joining a and n?",
    why="Counts of words that occur together have no left and right, and are kept "
    "under sorted pairs.",
)
def direction_ignored(words):
    counts = {}
    for symbols, count in words.items():
        for pair in itertools.pairwise(symbols):
            add(counts, tuple(sorted(pair)), count)
    return counts


@exercise.misconception(
    "Your pairs are written as one text, so that (ab, c) and (a, bc) are one.",
    "Which two different pairs give the text abc?",
    why="tiktoken looks up what two tokens make together, not which two they are "
    "(minbpe, issue 11, on why the two can differ).",
)
def pairs_as_one_text(words):
    counts = {}
    for symbols, count in words.items():
        for left, right in itertools.pairwise(symbols):
            add(counts, left + right, count)
    return counts


@exercise.misconception(
    "Your pairs are pairs of single signs: symbols of several letters are taken apart.",
    "What are a word's symbols after some of them have been joined?",
    why="Before the first merge letters and symbols are the same, and "
    "''.join(symbols) does no harm.",
)
def letters_for_symbols(words):
    counts = {}
    for symbols, count in words.items():
        for pair in itertools.pairwise("".join(symbols)):
            add(counts, pair, count)
    return counts


@exercise.misconception(
    "Your pairs are all pairs of symbols of a word, also of symbols that stand apart.",
    "Which symbols of eat stand directly next to each other?",
    why="itertools.combinations gives pairs, and so do two nested loops.",
)
def any_two_symbols(words):
    counts = {}
    for symbols, count in words.items():
        for pair in itertools.combinations(symbols, 2):
            add(counts, pair, count)
    return counts


@exercise.misconception(
    "Your counts leave out the last pair of each word.",
    "How many pairs does a word of three symbols have?",
    why="range(len(symbols) - 2): two is taken off for the two symbols of a pair.",
)
def last_pair_missing(words):
    counts = {}
    for symbols, count in words.items():
        for pair in itertools.pairwise(symbols[:-1]):
            add(counts, pair, count)
    return counts


@exercise.misconception(
    "Your counts have one more pair for each word: its last symbol with its first.",
    "What is `symbols[position - 1]` where `position` is 0?",
    why="Python reads position -1 as the last, so a loop that reaches back does not "
    "stop.",
)
def last_with_first(words):
    counts = {}
    for symbols, count in words.items():
        for position in range(len(symbols)):
            add(counts, (symbols[position - 1], symbols[position]), count)
    return counts


@exercise.misconception(
    "Your counts have no pairs of two equal symbols.",
    "Does the docstring ask for the two symbols to differ?",
    why="A guard against overlaps goes too far: in SentencePiece, issue 318, the count "
    "of (a, a) in aaa was 0.",
)
def equal_symbols_left_out(words):
    counts = {}
    for symbols, count in words.items():
        for pair in itertools.pairwise(symbols):
            if pair[0] != pair[1]:
                add(counts, pair, count)
    return counts


@exercise.misconception(
    "Your counts are right, but words of one symbol are gone from the dictionary you "
    "were given.",
    "Whose dictionary is it that `del` and `pop` take words out of?",
    why="Words that are one token already need no more work, so they are removed.",
)
def short_words_removed(words):
    for symbols in list(words):
        if len(symbols) < 2:
            del words[symbols]
    return spec(words)
