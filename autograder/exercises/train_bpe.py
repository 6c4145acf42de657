"""Cases and misconceptions of ``train_bpe``."""

import itertools

from autograder import Exercise
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


@exercise.case("The most frequent pair comes first, then that of what has been joined")
def small_example_by_hand(student, rng):
    words = {("e", "a", "t"): 2, ("a", "t"): 3, ("m", "e"): 4}
    expected = [("a", "t"), ("m", "e"), ("e", "at")]
    gives(student, rng, words, 3, expected)


@exercise.case("The toy corpus gives these five pairs, and the first three of them")
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


@exercise.case("After each pair the counts are those of the words as they are then")
def counted_anew(student, rng):
    words = {("a", "b", "c"): 5, ("b", "c"): 2, ("x", "y"): 4}
    gives(student, rng, words, 3, [("b", "c"), ("a", "bc"), ("x", "y")])
    words = {("a", "b", "c"): 3}
    gives(student, rng, words, 2, [("b", "c"), ("a", "bc")])


@exercise.case("It ends early where no pair occurs twice, and without words at once")
def ends_early(student, rng):
    words = {("b", "a"): 2, ("c", "d", "e"): 1}
    gives(student, rng, words, 6, [("b", "a")])
    gives(student, rng, {("a", "b", "c"): 1}, 6, [])
    gives(student, rng, {("a</w>",): 7}, 6, [])
    gives(student, rng, {}, 6, [])


@exercise.case("In a run of equal symbols all positions count, even where they overlap")
def runs_of_one_symbol(student, rng):
    words = {("a", "a", "a"): 3, ("b", "c"): 5}
    gives(student, rng, words, 3, [("a", "a"), ("b", "c"), ("aa", "a")])


@exercise.case("Symbols of several letters are joined as wholes only")
def longer_symbols(student, rng):
    words = {("b", "a", "n"): 3, ("b", "a"): 6, ("a", "n"): 5}
    gives(student, rng, words, 3, [("b", "a"), ("a", "n"), ("ba", "n")])


@exercise.case("Words that become equal count together")
def words_that_become_equal(student, rng):
    words = {("a", "b", "c"): 3, ("ab", "c"): 4, ("a", "b", "d"): 6}
    expected = [("a", "b"), ("ab", "c"), ("ab", "d")]
    gives(student, rng, words, 3, expected)


@exercise.case("The dictionary of words stays as it was")
def words_unchanged(student, rng):
    student.leaves_unchanged({("e", "a", "t"): 2, ("a", "t"): 3}, 2)


@exercise.case("A larger corpus gives the right pairs", visible=False)
def larger_corpus(student, rng):
    letters = ["a", "b", "c", "ä", "ß", "😀"]
    words = {}
    for length in rng.integers(1, 8, size=40).tolist():
        word = rng.choice(letters, size=length, p=[0.4, 0.2, 0.1, 0.1, 0.1, 0.1])
        *before, last = word.tolist()
        words[(*before, last + "</w>")] = int(rng.integers(1, 6))
    student.agrees(words, 25)
    student.agrees(words, 400)


def last_of_the_best(counts):
    return max(counts, key=lambda pair: (counts[pair], pair))


def trained(
    words,
    n_merges,
    *,
    choose=last_of_the_best,
    count=pair_counts,
    join=merge_pair,
    least=2,
):
    """Train in the usual way, with one step done differently."""
    merges = []
    while len(merges) < n_merges:
        counts = count(words)
        if max(counts.values(), default=0) < least:
            break
        best = choose(counts)
        merges.append(best)
        words = joined(words, best, join)
    return merges


def joined(words, pair, join=merge_pair):
    """Join a pair in all words."""
    after = {}
    for symbols, count in words.items():
        shorter = join(symbols, pair)
        after[shorter] = after.get(shorter, 0) + count
    return after


@exercise.misconception(
    "Your pair among equal counts is the one that is seen first in the words.",
    "Which of several pairs with the same count does the docstring ask for?",
    why="max gives the first of several; minbpe and the Hugging Face course leave it "
    "at that, so the order of the words decides (minbpe, pull request 90).",
)
def first_seen_wins(words, n_merges):
    return trained(words, n_merges, choose=lambda counts: max(counts, key=counts.get))


@exercise.misconception(
    "Your pair among equal counts is the first in Python's order.",
    "Which of several pairs with the same count does the docstring ask for, and what "
    "does `sorted` put first?",
    why="sorted by (-count, pair) is the usual way to rank; Hugging Face tokenizers "
    "take the smaller numbers first too.",
)
def smallest_wins(words, n_merges):
    def choose(counts):
        return min(counts, key=lambda pair: (-counts[pair], pair))

    return trained(words, n_merges, choose=choose)


@exercise.misconception(
    "Your pairs of equal counts are ordered by the text that they make together.",
    "How does Python compare two tuples, and where does that differ from comparing "
    "the joined texts?",
    why="A pair is remembered by the token that it makes; the two orders differ only "
    "where the left symbols differ in length.",
)
def joined_texts_ordered(words, n_merges):
    def choose(counts):
        return max(counts, key=lambda pair: (counts[pair], "".join(pair)))

    return trained(words, n_merges, choose=choose)


@exercise.misconception(
    "Your pairs are the most frequent ones of the words as they were at the start.",
    "Which pairs has a word after two of its symbols have become one?",
    why="The counting stands before the loop, where it is faster.",
)
def counted_once(words, n_merges):
    counts = pair_counts(words)
    ordered = sorted(counts, key=lambda pair: (counts[pair], pair), reverse=True)
    return [pair for pair in ordered if counts[pair] > 1][:n_merges]


@exercise.misconception(
    "Your counts grow by the pairs that a merge makes, and never lose those that it "
    "takes away.",
    "What becomes of the pair (a, b) of abc when b and c have been joined?",
    why="Counts that are brought up to date in place of counting anew forget one side; "
    "minbpe, pull request 88, and UniqToken, issue 8, are about such counts.",
)
def old_counts_kept(words, n_merges):
    merges, counts = [], pair_counts(words)
    while len(merges) < n_merges and max(counts.values(), default=0) > 1:
        best = last_of_the_best(counts)
        merges.append(best)
        del counts[best]
        for symbols, count in words.items():
            shorter = merge_pair(symbols, best)
            for pair in itertools.pairwise(shorter):
                if shorter != symbols and "".join(best) in pair:
                    counts[pair] = counts.get(pair, 0) + count
        words = joined(words, best)
    return merges


@exercise.misconception(
    "Your list goes on with pairs that occur only once.",
    "How often must a pair occur, as the docstring says, to be learned?",
    why="minbpe and the Hugging Face course go on as long as there are pairs.",
)
def pairs_that_occur_once(words, n_merges):
    return trained(words, n_merges, least=1)


@exercise.misconception(
    "Your list has no pairs that occur exactly twice.",
    "How often must a pair occur, as the docstring says, to be learned?",
    why="`counts[best] <= 2` and `counts[best] > 2` are off by one.",
)
def pairs_that_occur_twice_refused(words, n_merges):
    return trained(words, n_merges, least=3)


@exercise.misconception(
    "Your counts take every word once, however often it occurs.",
    "What do the numbers in `words` say about the text?",
    why="The loop runs over the dictionary's keys and adds 1.",
)
def word_frequency_ignored(words, n_merges):
    def count(words):
        return pair_counts(dict.fromkeys(words, 1))

    return trained(words, n_merges, count=count)


@exercise.misconception(
    "Your function stops with an error where there is no pair left.",
    "What does `max` do with an empty dictionary, and when is there one?",
    why="Seen in minbpe, pull request 54: a short text, and more merges than pairs.",
)
def error_without_pairs(words, n_merges):
    merges = []
    while len(merges) < n_merges:
        counts = pair_counts(words)
        best = max(counts, key=lambda pair: (counts[pair], pair))
        if counts[best] < 2:
            break
        merges.append(best)
        words = joined(words, best)
    return merges


@exercise.misconception(
    "Your counts lose a word when another word becomes equal to it.",
    "What does a dictionary keep when the same key is written to twice?",
    why="The paper's program writes each word to a new dictionary, where one of two "
    "equal words is lost: rohitg00/ai-engineering-from-scratch, pull request 47.",
)
def equal_words_overwritten(words, n_merges):
    merges = []
    while len(merges) < n_merges:
        counts = pair_counts(words)
        if max(counts.values(), default=0) < 2:
            break
        best = last_of_the_best(counts)
        merges.append(best)
        words = {merge_pair(symbols, best): count for symbols, count in words.items()}
    return merges


@exercise.misconception(
    "Your pairs are right, but the dictionary you were given holds joined words now.",
    "Whose dictionary do `words.clear()`, `pop` and `words[…] = …` change?",
    why="Each word is replaced in the dictionary itself, and the caller's is the same.",
)
def words_changed(words, n_merges):
    merges = []
    while len(merges) < n_merges:
        counts = pair_counts(words)
        if max(counts.values(), default=0) < 2:
            break
        merges.append(last_of_the_best(counts))
        after = joined(words, merges[-1])
        words.clear()
        words.update(after)
    return merges


@exercise.misconception(
    "Your list holds the joined symbols, not the pairs.",
    "Can one tell from the symbol abc which two symbols it was made of?",
    why="The vocabulary is what people expect from training; bpeasy, issue 3, asks for "
    "the pairs, because they cannot be told from it.",
)
def tokens_returned(words, n_merges):
    return ["".join(pair) for pair in trained(words, n_merges)]


@exercise.misconception(
    "Your pairs with the same count are all joined before you count again.",
    "Do the other pairs still occur as often, after the first of them was joined?",
    why="It is faster: minbpe, issues 69 and 95, propose it, and the answer there says "
    "what goes wrong.",
)
def equal_counts_at_once(words, n_merges):
    merges = []
    while len(merges) < n_merges:
        counts = pair_counts(words)
        most = max(counts.values(), default=0)
        if most < 2:
            break
        for best in sorted((p for p in counts if counts[p] == most), reverse=True):
            merges.append(best)
            words = joined(words, best)
    return merges[:n_merges]


@exercise.misconception(
    "Your list is shorter by the number of different symbols in the words.",
    "Does `n_merges` count pairs, or the tokens of the whole vocabulary?",
    why="Most libraries ask for the vocabulary's size; subword-nmt has both, as an "
    "option (issue 54).",
)
def vocabulary_size_taken(words, n_merges):
    symbols = {symbol for word in words for symbol in word}
    return trained(words, n_merges - len(symbols))


@exercise.misconception(
    "Your list has one pair more than was asked for.",
    "How long may the list be when the loop goes round once more?",
    why="`while len(merges) <= n_merges` goes round once too often.",
)
def one_pair_too_many(words, n_merges):
    return trained(words, n_merges + 1)


@exercise.misconception(
    "Your pairs are joined as texts, also with parts of longer symbols: for (a, n) the "
    "a of ba with n.",
    'In the text "ba n", which signs does `replace` find when it looks for "a n"?',
    why="The paper's program keeps words as texts; copies of it leave out the pattern "
    "that finds whole symbols only.",
)
def text_replaced(words, n_merges):
    def join(symbols, pair):
        text = " ".join(symbols).replace(" ".join(pair), "".join(pair))
        return tuple(text.split())

    return trained(words, n_merges, join=join)


@exercise.misconception(
    "Your pairs reach from the end of one word to the start of the next.",
    "Do two words of a dictionary stand next to each other in the text?",
    why="minbpe's first tokenizer trains on a text as one long sequence.",
)
def pairs_across_words(words, n_merges):
    text = tuple(s for symbols, count in words.items() for s in symbols * count)
    return trained({text: 1}, n_merges)


@exercise.misconception(
    "Your counts leave out positions that overlap the position before.",
    "How often does aaa have the pair (a, a), as `pair_counts` counts it?",
    why="Only so many can be joined; minbpe, issue 51 and pull request 72, and "
    "SentencePiece count in this way.",
)
def overlaps_left_out(words, n_merges):
    def count(words):
        counts = {}
        for symbols, times in words.items():
            runs = [(s, len(list(run))) for s, run in itertools.groupby(symbols)]
            pairs = [((s, s), n // 2) for s, n in runs if n > 1]
            pairs += [((a, b), 1) for (a, _), (b, _) in itertools.pairwise(runs)]
            for pair, n in pairs:
                counts[pair] = counts.get(pair, 0) + n * times
        return counts

    return trained(words, n_merges, count=count)


@exercise.misconception(
    "Your first pair is not the most frequent: counts are divided by those of the two "
    "symbols.",
    "Does byte-pair encoding ask how often a pair occurs, or how surprising it is?",
    why="WordPiece, the other method of that time, scores so in the Hugging Face "
    "course, and the two are mixed up.",
)
def word_piece_scores(words, n_merges):
    merges = []
    while len(merges) < n_merges:
        counts = pair_counts(words)
        if max(counts.values(), default=0) < 2:
            break
        single = {}
        for symbols, count in words.items():
            for symbol in symbols:
                single[symbol] = single.get(symbol, 0) + count
        frequent = [pair for pair in counts if counts[pair] > 1]

        def score(pair, counts=counts, single=single):
            return counts[pair] / (single[pair[0]] * single[pair[1]]), pair

        merges.append(max(frequent, key=score))
        words = joined(words, merges[-1])
    return merges
