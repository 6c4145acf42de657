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
            pair = (symbols[position], symbols[position + 1])
            counts[pair] = counts.get(pair, 0) + count
    return counts


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
    counts = student(words)
    student.expect(counts, {("e", "a"): 2, ("a", "t"): 5})
    student.agrees(arranged(rng, "eatm"))


@exercise.case("A pair that stands twice in a word counts twice", weight=0.5)
def twice_in_a_word(student, rng):
    words = {("b", "a", "n", "a", "n", "a"): 3}
    student.expect(student(words), {("b", "a"): 3, ("a", "n"): 6, ("n", "a"): 6})


@exercise.case(
    "Positions may overlap: aaa has the pair (a, a) twice, aaaa three times", weight=0.5
)
def overlapping_positions(student, rng):
    student.expect(student({("a", "a", "a"): 3}), {("a", "a"): 6})
    words = {("a", "a", "a", "a"): 2, ("a", "a", "b"): 5}
    student.expect(student(words), {("a", "a"): 11, ("a", "b"): 5})
    student.agrees(corpus(rng, ["a"], 3))


@exercise.case("Which symbol is left and which is right matters", weight=0.5)
def left_and_right(student, rng):
    words = {("a", "b"): 4, ("b", "a"): 3, ("d", "c", "d"): 2}
    expected = {("a", "b"): 4, ("b", "a"): 3, ("d", "c"): 2, ("c", "d"): 2}
    student.expect(student(words), expected)
    student.agrees(arranged(rng, "abc"))


@exercise.case("Symbols of several letters are symbols like others", weight=0.5)
def longer_symbols(student, rng):
    words = {("ab", "c</w>"): 3, ("a", "bc</w>"): 2, ("ä", "ßab", "c</w>"): 4}
    words |= {("x", "ab", "c</w>"): 1}
    expected = {
        ("ab", "c</w>"): 4,
        ("a", "bc</w>"): 2,
        ("ä", "ßab"): 4,
        ("ßab", "c</w>"): 4,
        ("x", "ab"): 1,
    }
    student.expect(student(words), expected)
    student.agrees(arranged(rng, ["ab", "c</w>", "ä", "ßab"]))


@exercise.case(
    "Words of one symbol have no pairs, and no words give no pairs", weight=0.5
)
def no_pairs(student, rng):
    student.expect(student({("a</w>",): 5, ("😀</w>",): 2, (): 3}), {})
    student.expect(student({}), {})


@exercise.case("The dictionary of words is not modified", weight=0.5)
def words_unchanged(student, rng):
    student.leaves_unchanged({("t", "o"): 2, ("a",): 3, ("a", "t"): 4})


@exercise.case("A larger corpus is counted", weight=3.5)
def larger_corpus(student, rng):
    student.agrees(corpus(rng, ["a", "b", "aa", "ab", "b</w>"], 20))
    student.agrees(corpus(rng, ["a", "b"], 5))


@exercise.case("A corpus with other signs is counted", weight=0.5, visible=False)
def other_signs(student, rng):
    student.agrees(corpus(rng, ["a", "aa", "ä", "b</w>", "🚲"], 30))


def neighbours(symbols):
    return list(itertools.pairwise(symbols))


PAIRS = {  # of a word's symbols
    "neighbours": neighbours,
    "all but the last": lambda symbols: neighbours(symbols[:-1]),
    "all but the first": lambda symbols: neighbours(symbols[1:]),
    "the first": lambda symbols: neighbours(symbols[:2]),
    "apart": lambda symbols: list(zip(symbols[::2], symbols[1::2], strict=False)),
    "second next": lambda symbols: list(zip(symbols, symbols[2:], strict=False)),
    "any two": lambda symbols: list(itertools.combinations(symbols, 2)),
    "round": lambda symbols: [(symbols[i - 1], s) for i, s in enumerate(symbols)],
    "letters": lambda symbols: neighbours("".join(symbols)),
    "slices": lambda symbols: [symbols[i : i + 2] for i in range(len(symbols))],
    "beyond": lambda symbols: [(s, symbols[i + 1]) for i, s in enumerate(symbols)],
}


def without_overlaps(pairs):
    counted = []
    before = None
    for pair in pairs:
        overlaps = pair == before and pair[0] == pair[-1]
        counted += [] if overlaps else [pair]
        before = None if overlaps else pair
    return counted


EACH = {  # which of a word's pairs count
    "position": list,
    "word": dict.fromkeys,
    "without overlaps": without_overlaps,
    "of different symbols": lambda pairs: [pair for pair in pairs if len({*pair}) > 1],
}
KEYS = {  # under which keys a pair is counted
    "left, right": lambda pair: [pair],
    "right, left": lambda pair: [pair[::-1]],
    "sorted": lambda pair: [tuple(sorted(pair))],
    "both": lambda pair: [pair, pair[::-1]],
    "joined": lambda pair: ["".join(pair)],
    "with a blank": lambda pair: [" ".join(pair)],
}
STORING = {  # of the count so far, if any, and what comes to it
    "added": lambda before, more: (before or 0) + more,
    "last": lambda before, more: more,
    "first": lambda before, more: before or more,
    "largest": lambda before, more: max(before or 0, more),
    "from 1 on": lambda before, more: before + more if before else 1,
    "1 each later": lambda before, more: before + 1 if before else more,
    "first lost": lambda before, more: 0 if before is None else before + more,
    "1 too many": lambda before, more: (before or 1) + more,
}


def ranked(counts):
    return sorted(counts.items(), key=lambda item: -item[1])


RETURNS = {
    "counts": dict,
    "items": lambda counts: list(counts.items()),
    "ranked items": ranked,
    "pairs": list,
    "best": lambda counts: max(counts, key=counts.get, default=None),
    "shares": lambda counts: {k: n / sum(counts.values()) for k, n in counts.items()},
    "at least 2": lambda counts: {pair: n for pair, n in counts.items() if n > 1},
}


@exercise.variants
def variants(
    words,
    *,
    weight="count",
    reach="word",
    pairs="neighbours",
    each="position",
    key="left, right",
    storing="added",
    returns="counts",
    overwritten="nothing",
):
    items = list(words.items())
    if reach == "text":
        items = [([s for symbols, count in items for s in symbols * count], 1)]
    counts = {}
    for symbols, count in items:
        more = {"count": count, "1": 1, "letters": count * len("".join(symbols))}
        for pair in EACH[each](PAIRS[pairs](symbols)):
            for each_key in KEYS[key](pair):
                before = counts.get(each_key)
                counts[each_key] = STORING[storing](before, more[weight])
    for symbols, _ in items if overwritten != "nothing" else ():
        if overwritten == "all words" or len(symbols) < 2:
            del words[symbols]
    return RETURNS[returns](counts)


exercise.option(
    "word_frequency_ignored",
    "Your counts take every word once, however often it occurs in the text.",
    "How often does the pair stand in the whole text, if a word that has it occurs "
    "three times?",
    why="The loop runs over the dictionary's keys, so each word comes by once.",
    weight="1",
)
exercise.option(
    "weighted_by_length",
    "Your counts grow by a word's count times its number of letters.",
    "By how much does one position of a pair in a word add to the pair's count?",
    why="How much of a text a word takes up is mixed up with how often it occurs.",
    weight="letters",
)
exercise.option(
    "pairs_across_words",
    "Your pairs reach from the end of one word to the start of the next.",
    "Do two words of a dictionary stand next to each other in the text?",
    why="minbpe's first tokenizer counts along the whole text in this way; here words "
    "are apart.",
    reach="text",
)
exercise.option(
    "last_pair_missing",
    "Your counts leave out the last pair of each word.",
    "How many pairs does a word of three symbols have?",
    why="range(len(symbols) - 2): two is taken off for the two symbols of a pair.",
    pairs="all but the last",
)
exercise.option(
    "first_pair_missing",
    "Your counts leave out the first pair of each word.",
    "Which pair does a word of two symbols have?",
    why="A loop starts at 1 because of position - 1, and then reads position + 1.",
    pairs="all but the first",
)
exercise.option(
    "first_pair_only",
    "Your counts have only the first pair of each word.",
    "How many pairs does a word of three symbols have?",
    why="symbols[0] and symbols[1] are written down, or a `return` comes too early.",
    pairs="the first",
)
exercise.option(
    "every_other_position",
    "Your pairs do not share symbols: first with second, third with fourth.",
    "Next to which symbols does a word's second symbol stand?",
    why="Cutting a word into twos is what pairs sounds like; "
    "zip(symbols[::2], symbols[1::2]) does that.",
    pairs="apart",
)
exercise.option(
    "second_next_symbol",
    "Your pairs have one symbol of the word between their two.",
    "Which symbols of eat stand directly next to each other?",
    why="zip(symbols, symbols[2:]): a pair has two symbols, so 2 looks right.",
    pairs="second next",
)
exercise.option(
    "any_two_symbols",
    "Your pairs are all pairs of symbols of a word, also of symbols that stand apart.",
    "Which symbols of eat stand directly next to each other?",
    why="itertools.combinations gives pairs, and so do two nested loops.",
    pairs="any two",
)
exercise.option(
    "last_with_first",
    "Your counts have one more pair for each word: its last symbol with its first.",
    "What is `symbols[position - 1]` where `position` is 0?",
    why="Python reads position -1 as the last, so a loop that reaches back does not "
    "stop.",
    pairs="round",
)
exercise.option(
    "letters_for_symbols",
    "Your pairs are pairs of single signs: symbols of several letters are taken apart.",
    "What are a word's symbols after some of them have been joined?",
    why="Before the first merge letters and symbols are the same, and "
    "''.join(symbols) does no harm.",
    pairs="letters",
)
exercise.option(
    "last_symbol_alone",
    "Your counts have the last symbol of each word alone, in a tuple of one.",
    "How long is `symbols[position : position + 2]` at the last symbol?",
    why="A slice that reaches beyond the end is short, and raises no error.",
    pairs="slices",
)
exercise.option(
    "reaches_beyond_the_end",
    "Your call raises an error at a word's last symbol, which has none to its right.",
    "At which position of a word of three symbols does its last pair start?",
    why="range(len(symbols)) together with symbols[position + 1].",
    pairs="beyond",
)
exercise.option(
    "once_per_word",
    "Your counts take a pair once per word, also where it stands there twice.",
    "At how many positions of banana does the pair (a, n) stand?",
    why="GPT-2's encoder collects a word's pairs in a set: there that is right, and "
    "the line is copied.",
    each="word",
)
exercise.option(
    "overlaps_left_out",
    "Your counts leave out positions that overlap the position before.",
    "At how many positions of aaa does an a stand to the left of an a?",
    why="Only so many can be joined; minbpe, issue 51 and pull request 72, argue for "
    "counting so, and SentencePiece does. The docstring says otherwise.",
    each="without overlaps",
)
exercise.option(
    "equal_symbols_left_out",
    "Your counts have no pairs of two equal symbols.",
    "Does the docstring ask for the two symbols to differ?",
    why="A guard against overlaps goes too far: in SentencePiece, issue 318, the count "
    "of (a, a) in aaa was 0.",
    each="of different symbols",
)
exercise.option(
    "right_symbol_first",
    "Your pairs have the right symbol first.",
    "Which symbol does the docstring name first?",
    why="symbols[position] and symbols[position - 1], in the order of writing.",
    key="right, left",
)
exercise.option(
    "direction_ignored",
    "Your pairs have their two symbols in the order of the alphabet: (a, b) and (b, a) "
    "are one.",
    "Would joining n and a give the same symbol as joining a and n?",
    why="Counts of words that occur together have no left and right, and are kept "
    "under sorted pairs.",
    key="sorted",
)
exercise.option(
    "both_directions",
    "Your counts take each pair in both directions, as (a, b) and as (b, a).",
    "Does the word at have the pair (t, a)?",
    why="Each symbol is asked for the one before it and the one after it.",
    key="both",
)
exercise.option(
    "pairs_as_one_text",
    "Your pairs are written as one text, so that (ab, c) and (a, bc) are one.",
    "Which two different pairs give the text abc?",
    why="tiktoken looks up what two tokens make together, not which two they are "
    "(minbpe, issue 11, on why the two can differ).",
    key="joined",
)
exercise.option(
    "pairs_with_a_blank",
    "Your pairs are texts with a blank between the two symbols.",
    "Which type has a pair in the docstring's example?",
    why="Files of merges write a pair in this way, and so does the paper's program.",
    key="with a blank",
)
exercise.option(
    "overwritten",
    "Your count of a pair is that of its last position in the words, not a sum.",
    "What becomes of the count of a pair that an earlier word had already?",
    why="`counts[pair] = count` where the count had to be added to.",
    storing="last",
)
exercise.option(
    "first_count_kept",
    "Your count of a pair is that of its first position in the words, not a sum.",
    "What should a later word do to the count of a pair that is there already?",
    why="`if pair not in counts` or setdefault without adding afterwards.",
    storing="first",
)
exercise.option(
    "largest_count_kept",
    "Your count of a pair is the largest of the counts at its positions, not a sum.",
    "How often does a pair occur that stands in one word 3 times and in another 2?",
    why="The most frequent pair is the aim, and `max` comes in too early.",
    storing="largest",
)
exercise.option(
    "first_position_counts_1",
    "The first position of each pair adds 1 to your counts.",
    "What does a pair's very first position add, in a word that occurs 4 times?",
    why="`else: counts[pair] = 1` is the usual line where each thing counts once.",
    storing="from 1 on",
)
exercise.option(
    "later_positions_count_1",
    "Each position of a pair but its first adds 1 to your counts.",
    "What does a second word that has the pair add to its count?",
    why="`counts[pair] += 1` is the usual line where each thing counts once.",
    storing="1 each later",
)
exercise.option(
    "first_position_lost",
    "The first position of each pair adds nothing to your counts.",
    "What is the count of a pair after its very first position?",
    why="`if pair not in counts: counts[pair] = 0`, and `else` in front of the sum.",
    storing="first lost",
)
exercise.option(
    "one_too_many",
    "Your counts are larger by 1.",
    "How often has a pair occurred before its very first position?",
    why="`counts.get(pair, 1)`: a count is taken to begin at 1.",
    storing="1 too many",
)
exercise.option(
    "items_returned",
    "Your result is a list of pairs with their counts.",
    "Which type does the docstring promise?",
    why="`list(counts.items())` prints the same numbers.",
    returns="items",
)
exercise.option(
    "ranked_items_returned",
    "Your result is a list of pairs with their counts, the most frequent first.",
    "Which type does the docstring promise?",
    why="`Counter.most_common()` returns such a list.",
    returns="ranked items",
)
exercise.option(
    "pairs_without_counts",
    "Your result is a list of pairs without their counts.",
    "Could one tell from your result which pair is the most frequent?",
    why="`list(counts)` and `sorted(counts)` have the keys only.",
    returns="pairs",
)
exercise.option(
    "most_frequent_pair_only",
    "Your result is one pair, the most frequent one.",
    "Does the docstring ask for the counts, or for their winner?",
    why="The next step of training asks for the winner.",
    returns="best",
)
exercise.option(
    "shares_returned",
    "Your numbers are shares: they sum to 1.",
    "How often does the pair occur, as an integer?",
    why="Frequencies are often given as shares of the whole.",
    returns="shares",
)
exercise.option(
    "rare_pairs_left_out",
    "Your result has no pairs with a count of 1.",
    "Does the docstring leave out any pair?",
    why="Training ends where no pair occurs twice, and that rule comes in too early.",
    returns="at least 2",
)
exercise.option(
    "short_words_removed",
    "Your call takes words of one symbol out of the dictionary that you were given.",
    "Whose dictionary is it that `del` and `pop` take words out of?",
    why="Words that are one token already need no more work, so they are removed.",
    overwritten="words of one symbol",
)
exercise.option(
    "words_used_up",
    "Your call leaves the dictionary that you were given empty.",
    "Whose dictionary is it that `popitem` takes words out of?",
    why="`while words` with `words.popitem()` is a handy way to take one at a time.",
    overwritten="all words",
)
