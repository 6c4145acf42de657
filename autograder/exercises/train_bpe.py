"""Cases and misconceptions of ``train_bpe``."""

import collections
import itertools
from functools import partial

from autograder import Exercise
from autograder.exercises import merge_pair as merging
from autograder.exercises import pair_counts as counting
from course_lib.bpe import merge_pair, pair_counts, train_bpe

exercise = Exercise(
    train_bpe,
    lesson="06_byte_pair_encoding",
    minutes=20,
    difficulty=3,
    uses=("pair_counts", "merge_pair"),
    library=(
        "tokenizers.Tokenizer",
        "course_lib.fast_bpe.train_bpe_fast",
        "course_lib.fast_bpe.PairCounts",
    ),
)


@exercise.spec
def spec(words, n_merges):
    merges = []
    for _ in range(n_merges):
        counts = {}
        for symbols, count in words.items():
            for position in range(len(symbols) - 1):
                pair = (symbols[position], symbols[position + 1])
                counts[pair] = counts.get(pair, 0) + count
        most = max(counts.values(), default=0)
        if most < 2:
            break
        best = sorted(pair for pair in counts if counts[pair] == most)[-1]
        merges.append(best)
        after = {}
        for symbols, count in words.items():
            merged, position = [], 0
            while position < len(symbols):
                here = symbols[position : position + 2] == best
                merged.append(best[0] + best[1] if here else symbols[position])
                position += 2 if here else 1
            after[tuple(merged)] = after.get(tuple(merged), 0) + count
        words = after
    return merges


@exercise.usual
def usual(rng):
    toy = {"cat": 4, "mat": 5, "mats": 2, "mate": 3, "ate": 3, "aaa": 6, "aab": 7}
    return {tuple(word): count for word, count in toy.items()}, 9


def gives(student, rng, words, n_merges, expected):
    """Assert which pairs are learned, and that others are learned between them.

    The others are drawn: words of other letters. No pair is as frequent as one of them.

    As lists, the message shows a pair whole.
    """
    merges = student(words, n_merges)
    for rank, (pair, right) in enumerate(zip(merges, expected, strict=True)):
        student.expect([*pair], [*right], f"pair {rank + 1}")
    letters = iter(rng.permutation([*"ABCDEFGHIJKL"]).tolist())
    pairs = [*zip(letters, letters, strict=False)][: rng.integers(3, 7)]
    counts = [count for count in range(11, 150) if count % 10]
    counts = rng.choice(counts, size=len(pairs), replace=False).tolist()
    more = {word: 10 * count if count > 1 else 1 for word, count in words.items()}
    student.agrees(dict(zip(pairs, counts, strict=True)) | more, len(pairs) + n_merges)


@exercise.case(
    "The most frequent pair comes first, then that of what has been joined", weight=0.5
)
def small_example_by_hand(student, rng):
    words = {("e", "a", "t"): 2, ("a", "t"): 3, ("m", "e"): 4}
    expected = [("a", "t"), ("m", "e"), ("e", "at")]
    gives(student, rng, words, 3, expected)


@exercise.case(
    "The toy corpus gives these five pairs, and the first three of them", weight=0.5
)
def toy_corpus(student, rng):
    toy = {"cat": 4, "mat": 5, "mats": 2, "mate": 3, "ate": 3, "eat": 2}
    words = {tuple(word): count for word, count in toy.items()}
    pairs = [("a", "t"), ("m", "at"), ("c", "at"), ("mat", "e"), ("at", "e")]
    gives(student, rng, words, 5, pairs)
    gives(student, rng, words, 3, pairs[:3])
    gives(student, rng, words, 0, [])


@exercise.case("Of equal counts the pair that is last in Python's order comes first")
def equal_counts(student, rng):
    pairs = [("a", "z"), ("b", "c"), ("b", "a")]
    expected = [("b", "c"), ("b", "a"), ("a", "z")]
    gives(student, rng, dict.fromkeys(pairs, 4), 3, expected)
    gives(student, rng, dict.fromkeys(pairs[::-1], 4), 3, expected)
    words = {("ab", "a"): 5, ("a", "cd"): 5}
    gives(student, rng, words, 2, [("ab", "a"), ("a", "cd")])


@exercise.case(
    "After each pair the counts are those of the words as they are then", weight=0.5
)
def counted_anew(student, rng):
    words = {("a", "b", "c"): 5, ("b", "c"): 2, ("x", "y"): 4}
    gives(student, rng, words, 3, [("b", "c"), ("a", "bc"), ("x", "y")])
    words = {("a", "b", "c"): 3}
    gives(student, rng, words, 2, [("b", "c"), ("a", "bc")])
    words = {("c", "b", "c", "b"): 5, ("x", "y"): 3}
    gives(student, rng, words, 3, [("c", "b"), ("cb", "cb"), ("x", "y")])


@exercise.case(
    "It ends early where no pair occurs twice, and without words at once", weight=0.5
)
def ends_early(student, rng):
    words = {("b", "a"): 2, ("c", "d", "e"): 1}
    gives(student, rng, words, 6, [("b", "a")])
    gives(student, rng, {("a", "b", "c"): 1}, 6, [])
    gives(student, rng, {("a</w>",): 7}, 6, [])
    gives(student, rng, {}, 6, [])


@exercise.case(
    "In a run of equal symbols all positions count, even where they overlap", weight=0.5
)
def runs_of_one_symbol(student, rng):
    words = {("a", "a", "a"): 3, ("b", "c"): 5}
    gives(student, rng, words, 3, [("a", "a"), ("b", "c"), ("aa", "a")])


@exercise.case("Symbols of several letters are joined as wholes only", weight=0.5)
def longer_symbols(student, rng):
    words = {("b", "a", "n"): 3, ("b", "a"): 6, ("a", "n"): 5}
    gives(student, rng, words, 3, [("b", "a"), ("a", "n"), ("ba", "n")])


@exercise.fine_point("Words that become equal count together")
def words_that_become_equal(student, rng):
    words = {("a", "b", "c"): 3, ("ab", "c"): 6, ("a", "b", "d"): 4}
    expected = [("a", "b"), ("ab", "c"), ("ab", "d")]
    gives(student, rng, words, 3, expected)
    turned = {symbols: words[symbols] for symbols in sorted(words, reverse=True)}
    gives(student, rng, turned, 3, expected)
    words = {("a", "b", "c"): 1, ("ab", "c"): 1, ("a", "b"): 3, ("d", "e"): 2}
    gives(student, rng, words, 9, [("a", "b"), ("d", "e"), ("ab", "c")])


@exercise.case("The dictionary of words is not modified", weight=0.5)
def words_unchanged(student, rng):
    student.leaves_unchanged({("e", "a", "t"): 2, ("a", "t"): 3}, 2)


def corpus(rng, letters, n_words):
    """Draw words of one to seven letters, with the mark, and how often they occur."""
    words = {}
    for length in rng.integers(1, 8, size=n_words).tolist():
        *before, last = rng.choice(letters, size=length).tolist()
        words[(*before, last + "</w>")] = int(rng.integers(1, 6))
    return words


@exercise.case("A larger corpus gives the right pairs", weight=4.5)
def larger_corpus(student, rng):
    words = corpus(rng, [*"aaaabbc"], 20)
    student.agrees(words, 12)
    student.agrees(words, 100)


@exercise.case(
    "A corpus with other signs gives the right pairs", weight=0.5, visible=False
)
def other_signs(student, rng):
    student.agrees(corpus(rng, [*"aabcäß😀"], 40), 100)


TIES = {  # of the pairs in the order in which they are seen
    "last": lambda pairs: sorted(pairs, reverse=True),
    "smallest": sorted,
    "first seen": list,
    "last seen": lambda pairs: [*pairs][::-1],
    "joined text": lambda pairs: sorted(pairs, key="".join, reverse=True),
    "right symbol": lambda pairs: sorted(pairs, key=lambda p: p[::-1], reverse=True),
    "left symbol": lambda pairs: sorted(pairs, key=lambda p: p[0], reverse=True),
    "length": lambda pairs: sorted(pairs, key=lambda p: (len("".join(p)), p))[::-1],
}
RANKS = {  # of a pair's count, the pair, and the counts of single symbols
    "count": lambda count, pair, single: count,
    "rareness": lambda count, pair, single: -count,
    "order": lambda count, pair, single: 0,
    "length": lambda count, pair, single: (len("".join(pair)), count),
    "word piece": lambda count, pair, single: (
        count / (single[pair[0]] * single[pair[1]])
    ),
}
ASKED = {  # of n_merges and the number of different symbols and of all symbols
    "n_merges": lambda n_merges, symbols, most: n_merges,
    "one more": lambda n_merges, symbols, most: n_merges + 1,
    "one less": lambda n_merges, symbols, most: n_merges - 1,
    "one at least": lambda n_merges, symbols, most: max(n_merges, 1),
    "vocabulary": lambda n_merges, symbols, most: n_merges - symbols,
    "all": lambda n_merges, symbols, most: most,
}
RETURNS = {  # of the pairs, their counts, and the words at the end
    "pairs": lambda merges, counts, words: merges,
    "tokens": lambda merges, counts, words: ["".join(pair) for pair in merges],
    "texts": lambda merges, counts, words: [" ".join(pair) for pair in merges],
    "lists": lambda merges, counts, words: [[*pair] for pair in merges],
    "tuple": lambda merges, counts, words: tuple(merges),
    "turned": lambda merges, counts, words: [pair[::-1] for pair in merges],
    "backwards": lambda merges, counts, words: merges[::-1],
    "sorted": lambda merges, counts, words: sorted(merges),
    "counts too": lambda merges, counts, words: [*zip(merges, counts, strict=True)],
    "counts": lambda merges, counts, words: dict(zip(merges, counts, strict=True)),
    "ranks": lambda merges, counts, words: {p: rank for rank, p in enumerate(merges)},
    "made": lambda merges, counts, words: {pair: "".join(pair) for pair in merges},
    "words": lambda merges, counts, words: words,
    "words too": lambda merges, counts, words: (merges, words),
}


def no_such_key():
    raise KeyError(None)


NO_PAIRS = {
    "ends": lambda: None,
    "max": lambda: max([], key=len),
    "index": lambda: [][0],
    "key": no_such_key,
}
EARLY = {"list": list, "None": lambda merges: None, "empty": lambda merges: []}


def symbol_counts(words):
    single = collections.Counter()
    for symbols, count in words.items():
        for symbol in symbols:
            single[symbol] += count
    return single


def updated(counts, words, best, join, recounted):
    """Bring the counts up to date after a pair was joined, and forget something."""
    counts = collections.Counter(counts)
    del counts[best]
    if recounted == "once":
        return counts
    for symbols, count in words.items():
        shorter = join(symbols, best)
        if recounted == "grown" and shorter != symbols:
            for pair in itertools.pairwise(shorter):
                counts[pair] += count * ("".join(best) in pair)
        end = 0
        for i, pair in enumerate(itertools.pairwise(symbols)):
            if recounted == "by old neighbours" and pair == best and i >= end:
                for j in {i - 1, i + 1} & set(range(len(symbols) - 1)):
                    before = symbols[j : j + 2]
                    after = before[0], "".join(best)
                    counts[before] -= count
                    counts[after if j < i else (after[1], before[1])] += count
                end = i + 2
    counts.pop(best, None)
    return counts


@exercise.variants
def variants(
    words,
    n_merges,
    *,
    corpus="words",
    counted=None,
    recounted="anew",
    rank="count",
    ties="last",
    at_once="one",
    least=2,
    stops="in time",
    asked="n_merges",
    joined=None,
    equal_words="added",
    no_pairs="ends",
    early="list",
    returns="pairs",
    changed="nothing",
):
    count = partial(counting.variants, **counted) if counted else pair_counts
    join = partial(merging.variants, **joined) if joined else merge_pair
    original, symbols = words, [symbol for word in words for symbol in word]
    most = ASKED[asked](n_merges, len({*symbols}), len(symbols))
    if corpus == "one text":
        words = {tuple(s for word, n in words.items() for s in word * n): 1}
    counts, merges, at_the_time = count(words), [], []
    while len(merges) < most:
        if not counts:
            NO_PAIRS[no_pairs]()
        single = symbol_counts(words) if rank == "word piece" else {}
        pairs = TIES[ties](counts)
        frequent = [pair for pair in pairs if counts[pair] >= least]
        is_last = not frequent and stops == "one late"
        best = max(
            pairs if is_last or rank == "order" else frequent,
            key=lambda p, of=counts, single=single: RANKS[rank](of[p], p, single),
            default=None,
        )
        if best is None or (counts[best] < least and not is_last):
            merges = EARLY[early](merges)
            break
        tied = [best]
        if at_once == "equal counts":
            tied = [pair for pair in pairs if counts[pair] == counts[best]]
        for best in tied:
            merges.append(best)
            at_the_time.append(counts[best])
            after = {}
            for word, n in words.items():
                after[join(word, best)] = counting.STORING[equal_words](
                    after.get(join(word, best)), n
                )
            before, words = words, after
        anew = recounted == "anew"
        counts = (
            count(words) if anew else updated(counts, before, best, join, recounted)
        )
        if is_last:
            break
    if at_once == "equal counts":
        merges = merges[:most]
    if changed == "words":
        original.clear()
        original.update(words)
    elif changed == "emptied":
        original.clear()
    return RETURNS[returns](merges, at_the_time, words) if merges is not None else None


exercise.option(
    "first_seen_wins",
    "Your pair among equal counts is the one that is seen first in the words.",
    "Which of several pairs with the same count does the docstring ask for?",
    why="max gives the first of several; minbpe and the Hugging Face course leave it "
    "at that, so the order of the words decides (minbpe, pull request 90).",
    ties="first seen",
)
exercise.option(
    "last_seen_wins",
    "Your pair among equal counts is the one that is seen last in the words.",
    "Which of several pairs with the same count does the docstring ask for?",
    why="`>=` in a loop over the counts, or the end of a list sorted by counts alone.",
    ties="last seen",
)
exercise.option(
    "smallest_wins",
    "Your pair among equal counts is the first in Python's order.",
    "Which of several pairs with the same count does the docstring ask for, and what "
    "does `sorted` put first?",
    why="sorted by (-count, pair) is the usual way to rank; Hugging Face tokenizers "
    "take the smaller numbers first too.",
    ties="smallest",
)
exercise.option(
    "joined_texts_ordered",
    "Your pairs of equal counts are ordered by the text that they make together.",
    "How does Python compare two tuples, and where does that differ from comparing "
    "the joined texts?",
    why="A pair is remembered by the token that it makes; the two orders differ only "
    "where the left symbols differ in length.",
    ties="joined text",
)
exercise.option(
    "right_symbols_ordered",
    "Your pairs of equal counts are ordered by their right symbols.",
    "Which part of two tuples does Python compare first?",
    why="`pair[::-1]`, or a loop that keeps the right symbol in front.",
    ties="right symbol",
)
exercise.option(
    "left_symbols_ordered",
    "Your pairs of equal counts are ordered by their left symbols alone.",
    "Which of two pairs that begin alike is last in Python's order?",
    why="`pair[0]` as the key decides every tie of the short examples.",
    ties="left symbol",
)
exercise.option(
    "longest_of_equal_counts",
    "Your pair among equal counts is the one that makes the longest symbol.",
    "Which of several pairs with the same count does the docstring ask for?",
    why="Long symbols save more, so the longest looks like the best.",
    ties="length",
)
exercise.option(
    "rarest_first",
    "Your pairs are the rarest of those that are frequent enough.",
    "Which pair saves the most symbols?",
    why="`min` for `max`, or a sorted list that is read from the other end.",
    rank="rareness",
)
exercise.option(
    "last_pair_of_all",
    "Your pair is the last in Python's order of all pairs, whatever the counts are.",
    "What does `max` compare if it is given a dictionary and nothing else?",
    why="`max(counts)` compares the keys.",
    rank="order",
)
exercise.option(
    "longest_first",
    "Your pairs are those that make the longest symbols.",
    "What does the docstring ask of the pair in each step?",
    why="Fewer tokens are the aim, so the longest one looks like the best.",
    rank="length",
)
exercise.option(
    "word_piece_scores",
    "Your first pair is not the most frequent: counts are divided by those of the two "
    "symbols.",
    "Does byte-pair encoding ask how often a pair occurs, or how surprising it is?",
    why="WordPiece, the other method of that time, scores so in the Hugging Face "
    "course, and the two are mixed up.",
    rank="word piece",
)
exercise.option(
    "counted_once",
    "Your pairs are the most frequent ones of the words as they were at the start.",
    "Which pairs has a word after two of its symbols have become one?",
    why="The counting stands before the loop, where it is faster.",
    recounted="once",
)
exercise.option(
    "old_counts_kept",
    "Your counts grow by the pairs that a merge makes, and never lose those that it "
    "takes away.",
    "What becomes of the pair (a, b) of abc when b and c have been joined?",
    why="Counts that are brought up to date in place of counting again forget one "
    "side; minbpe, pull request 88, and UniqToken, issue 8, are about such "
    "counts.",
    recounted="grown",
)
exercise.option(
    "old_neighbours_counted",
    "Your counts miss the pair of two joined symbols side by side: in cbcb, (cb, cb).",
    "Which symbols stand next to the second cb when both have been joined?",
    why="Counts are brought up to date with the neighbours that a pair had before.",
    recounted="by old neighbours",
)
exercise.option(
    "equal_counts_at_once",
    "Your pairs with the same count are all joined before you count again.",
    "Do the other pairs still occur as often, after the first of them was joined?",
    why="It is faster: minbpe, issues 69 and 95, propose it, and the answer there "
    "says what goes wrong.",
    at_once="equal counts",
)
exercise.option(
    "word_frequency_ignored",
    "Your counts take every word once, however often it occurs.",
    "What do the numbers in `words` say about the text?",
    why="The loop runs over the dictionary's keys and adds 1.",
    counted={"weight": "1"},
)
exercise.option(
    "overlaps_left_out",
    "Your counts leave out positions that overlap the position before.",
    "How often does aaa have the pair (a, a), as `pair_counts` counts it?",
    why="Only so many can be joined; minbpe, issue 51 and pull request 72, and "
    "SentencePiece count in this way.",
    counted={"each": "without overlaps"},
)
exercise.option(
    "once_per_word",
    "Your counts take a pair once per word, also where it stands there twice.",
    "At how many positions of banana does the pair (a, n) stand?",
    why="GPT-2's encoder collects a word's pairs in a set, and the line is copied.",
    counted={"each": "word"},
)
exercise.option(
    "last_pair_of_words_missing",
    "Your counts leave out the last pair of each word.",
    "How many pairs does a word of three symbols have?",
    why="range(len(symbols) - 2): two is taken off for the two symbols of a pair.",
    counted={"pairs": "all but the last"},
)
exercise.option(
    "pairs_across_words",
    "Your pairs reach from the end of one word to the start of the next.",
    "Do two words of a dictionary stand next to each other in the text?",
    why="minbpe's first tokenizer trains on a text as one long sequence.",
    corpus="one text",
)
exercise.option(
    "text_replaced",
    "Your pairs are joined as texts, also with parts of longer symbols: for (a, n) "
    "the a of ba with n.",
    'In the text "ba n", which signs does `replace` find when it looks for "a n"?',
    why="The paper's program keeps words as texts; copies of it leave out the pattern "
    "that finds whole symbols only.",
    joined={"read": "text"},
)
exercise.option(
    "first_position_only",
    "Your pairs are joined at their first position in each word only.",
    "At how many positions of banana does n stand to the left of a?",
    why="`index` finds one position, and the loop over a word ends there.",
    joined={"which": "first"},
)
exercise.option(
    "joined_from_the_right",
    "Your aaa becomes a aa: words are joined from their right end.",
    "From which end does `merge_pair` read a word?",
    why="Going backwards does not move the positions that are still to do.",
    joined={"side": "right"},
)
exercise.option(
    "runs_joined_whole",
    "Your aaa becomes one symbol when (a, a) is joined.",
    "How many symbols does one joining use up?",
    why="What has been joined is joined to the next symbol again.",
    joined={"read": "runs"},
)
exercise.option(
    "nothing_joined",
    "Your words keep the symbols that they had at the start: the same pair is learned "
    "again and again.",
    "What do the words look like after the first pair has been learned?",
    why="The joined words are made, and the loop goes on with the old ones.",
    joined={"which": "none"},
)
exercise.option(
    "equal_words_overwritten",
    "Your counts lose a word when another word becomes equal to it.",
    "What does a dictionary keep when the same key is written to twice?",
    why="The paper's program writes each word to a new dictionary, where one of two "
    "equal words is lost: rohitg00/ai-engineering-from-scratch, pull request 47.",
    equal_words="last",
)
exercise.option(
    "first_of_equal_words_kept",
    "Your counts keep only the first of words that become equal.",
    "How often does a word occur that two others have become?",
    why="`setdefault`, or `if shorter not in after`, without adding afterwards.",
    equal_words="first",
)
exercise.option(
    "pairs_that_occur_once",
    "Your list goes on with pairs that occur only once.",
    "How often must a pair occur, as the docstring says, to be learned?",
    why="minbpe and the Hugging Face course go on as long as there are pairs.",
    least=1,
)
exercise.option(
    "pairs_that_occur_twice_refused",
    "Your list has no pairs that occur exactly twice.",
    "How often must a pair occur, as the docstring says, to be learned?",
    why="`counts[best] <= 2` and `counts[best] > 2` are off by one.",
    least=3,
)
exercise.option(
    "one_rare_pair",
    "Your list has a pair more where it ends early: one that does not occur twice.",
    "What stands first in the loop: writing a pair down, or asking for its count?",
    why="The pair is appended, and then the loop ends because of it.",
    stops="one late",
)
exercise.option(
    "error_without_pairs",
    "Your call ends in a ValueError where there is no pair left.",
    "What does `max` do with an empty dictionary, and when is there one?",
    why="Seen in minbpe, pull request 54: a short text, and more merges than pairs.",
    no_pairs="max",
)
exercise.option(
    "index_error_without_pairs",
    "Your call ends in an IndexError where there is no pair left.",
    "What is the first entry of an empty list?",
    why="`sorted(…)[0]` and `most_common(1)[0]` take it for granted that there is one.",
    no_pairs="index",
)
exercise.option(
    "key_error_without_pairs",
    "Your call ends in a KeyError where there is no pair left.",
    "What is the count of the `default` that `max` gives?",
    why="`default=None` keeps max from stopping, and counts[None] stops one line "
    "later.",
    no_pairs="key",
)
exercise.option(
    "none_where_it_ends_early",
    "Your result is None where it ends early.",
    "What does the docstring promise if no words, or too few pairs, are there?",
    why="`return` stands where `break` was meant.",
    early="None",
)
exercise.option(
    "nothing_where_it_ends_early",
    "Your list is empty where it ends early: what was learned before is lost.",
    "What has been learned by then, and where is it?",
    why="`return []` is right without words, and stands inside the loop.",
    early="empty",
)
exercise.option(
    "one_pair_too_many",
    "Your list has one pair more than was asked for.",
    "How long may the list be when the loop goes round once more?",
    why="`while len(merges) <= n_merges` goes round once too often.",
    asked="one more",
)
exercise.option(
    "one_pair_too_few",
    "Your list has one pair less than was asked for.",
    "How often does a loop over range(1, n_merges) go round?",
    why="The counting begins at 1, or the first pair is taken for the start.",
    asked="one less",
)
exercise.option(
    "one_pair_at_least",
    "Your list has a pair where none was asked for.",
    "How long is the list if `n_merges` is 0?",
    why="The end is asked for after a pair has been learned.",
    asked="one at least",
)
exercise.option(
    "vocabulary_size_taken",
    "Your list is shorter by the number of different symbols in the words.",
    "Does `n_merges` count pairs, or the tokens of the whole vocabulary?",
    why="Most libraries ask for the vocabulary's size; subword-nmt has both, as an "
    "option (issue 54).",
    asked="vocabulary",
)
exercise.option(
    "n_merges_ignored",
    "Your list goes on until no pair is frequent enough, whatever `n_merges` says.",
    "What does `n_merges` say about the length of your list?",
    why="`while True` with a `break` looks complete as soon as it ends.",
    asked="all",
)
exercise.option(
    "tokens_returned",
    "Your list holds the joined symbols, not the pairs.",
    "Can one tell from the symbol abc which two symbols it was made of?",
    why="The vocabulary is what people expect from training; bpeasy, issue 3, asks "
    "for the pairs, because they cannot be told from it.",
    returns="tokens",
)
exercise.option(
    "texts_with_blanks_returned",
    "Your list holds texts with a blank between the two symbols.",
    "Which type does the docstring's example have, and what is in it?",
    why="Files of merges write a pair in this way, and so does the paper's program.",
    returns="texts",
)
exercise.option(
    "lists_for_pairs",
    "Your list holds lists of two symbols.",
    "Which type does the docstring's example have, and what is in it?",
    why="A pair that was split off a text by `split` is a list.",
    returns="lists",
)
exercise.option(
    "tuple_returned",
    "Your pairs come in a tuple.",
    "Which type does the docstring's example have, and what is in it?",
    why="Words and pairs are tuples, so the result becomes one too.",
    returns="tuple",
)
exercise.option(
    "pairs_turned",
    "Your pairs have the right symbol first.",
    "Which symbol does the docstring's example name first?",
    why="Popping symbols off the end turns their order round.",
    returns="turned",
)
exercise.option(
    "last_learned_first",
    "Your list has the pair first that was learned last.",
    "In which order does the docstring promise the pairs?",
    why="`insert(0, …)`, or a recursion that adds its pair at the end.",
    returns="backwards",
)
exercise.option(
    "sorted_list",
    "Your list is in Python's order of tuples.",
    "In which order does the docstring promise the pairs?",
    why="A set of pairs is sorted so that it has an order at all.",
    returns="sorted",
)
exercise.option(
    "counts_returned_too",
    "Your list has a count with each pair.",
    "Which type does the docstring's example have, and what is in it?",
    why="`most_common` and `items` give pairs with their counts.",
    returns="counts too",
)
exercise.option(
    "dictionary_of_counts",
    "Your result is a dictionary with the count of each pair.",
    "Which type does the docstring's example have, and what is in it?",
    why="A dictionary keeps its order, and the count is at hand.",
    returns="counts",
)
exercise.option(
    "dictionary_of_ranks",
    "Your result is a dictionary with the rank of each pair.",
    "Which type does the docstring's example have, and what is in it?",
    why="Encoders look up ranks: GPT-2's program keeps such a dictionary.",
    returns="ranks",
)
exercise.option(
    "dictionary_of_joined_symbols",
    "Your result is a dictionary with the joined symbol of each pair.",
    "Which type does the docstring's example have, and what is in it?",
    why="The Hugging Face course keeps its merges in such a dictionary.",
    returns="made",
)
exercise.option(
    "words_returned",
    "Your result is the dictionary of words after the last joining.",
    "What should come back: what was learned, or what became of the words?",
    why="The loop ends with the new words, and they are returned.",
    returns="words",
)
exercise.option(
    "words_returned_too",
    "Your result is a tuple: the pairs, and the words after the last joining.",
    "How many things does the docstring promise?",
    why="The words are of interest as well, so both are returned.",
    returns="words too",
)
exercise.option(
    "words_changed",
    "Your call changes the dictionary that you were given: it holds joined words now.",
    "Whose dictionary do `words.clear()`, `pop` and `words[…] = …` change?",
    why="Each word is replaced in the dictionary itself, and the caller's is the same.",
    changed="words",
)
