"""Cases and misconceptions of ``encode_word``."""

from collections import Counter
from itertools import pairwise

from autograder import Exercise
from course_lib.bpe import encode_word, merge_pair, train_bpe
from course_lib.lessons import token_statistics

exercise = Exercise(
    encode_word,
    lesson="06_byte_pair_encoding",
    minutes=15,
    difficulty=2,
    uses=("merge_pair",),
    library=(
        "tokenizers.Tokenizer",
        "course_lib.fast_bpe.word_encoder",
        "course_lib.fast_bpe.byte_encoder",
        "course_lib.fast_bpe._apply_merges",
        "course_lib.lessons.token_statistics.merge_trees",
    ),
)

# All lists of pairs here are such as training gives: no pair stands before the pairs
# that make its parts. So one loop over the pairs, each joined everywhere, is right too.
RAVENS = [("e", "n"), ("a", "b"), ("r", "ab"), ("rab", "en")]


@exercise.spec
def spec(word, merges):
    symbols = list(word)
    while True:
        best = None
        for position in range(len(symbols) - 1):
            for rank in range(len(merges)):
                if (symbols[position], symbols[position + 1]) == merges[rank] and (
                    best is None or rank < best
                ):
                    best = rank
        if best is None:
            return symbols
        joined = []
        while symbols:
            if tuple(symbols[:2]) == merges[best]:
                joined.append(symbols[0] + symbols[1])
                symbols = symbols[2:]
            else:
                joined.append(symbols[0])
                symbols = symbols[1:]
        symbols = joined


def random_word(rng, length):
    return tuple(rng.choice(list("aaabbcä"), length).tolist())


def learned(rng):
    """Learn pairs from words of three to eight letters, as a text would give them."""
    words = {random_word(rng, rng.integers(3, 9)): 2 for _ in range(40)}
    return train_bpe(words, 9)


def neighbours_joined(rng, word):
    """Return the pairs of neighbours in a word, in an order that is drawn."""
    pairs = list(pairwise(word))
    return [pairs[i] for i in rng.permutation(len(pairs))]


@exercise.usual
def usual(rng):
    pairs = [("a", "c"), ("c", "n"), ("a", "a"), ("b", "c"), ("ac", "a")]
    return tuple("aacaaaccc"), pairs


@exercise.case("The pair that was learned first is joined first: a b c gives a and bc")
def earliest_pair_first(student, rng):
    merges = [("b", "c"), ("a", "b")]
    student.expect(student(("a", "b", "c"), merges), ["a", "bc"])
    word = tuple(rng.permutation([*"abcdefg"]).tolist())
    student.agrees(word, neighbours_joined(rng, word))


@exercise.case("What has been joined is joined again: r a b e n becomes one token")
def joined_again(student, rng):
    student.expect(student(tuple("raben"), RAVENS), ["raben"])
    student.expect(student(tuple("grabenrabe"), RAVENS), ["g", "raben", "rab", "e"])
    merges = [("c", "d"), ("b", "cd"), ("a", "bcd"), ("a", "b")]
    student.expect(student(tuple("abcd"), merges), ["abcd"])


@exercise.case("A pair is joined at all its positions, from left to right")
def every_position(student, rng):
    merges = [("a", "a"), ("n", "aa")]
    student.expect(student(tuple("naaanaa"), merges), ["naa", "a", "naa"])
    student.expect(student(tuple("baaa"), merges), ["b", "aa", "a"])


@exercise.case(
    "Neither position nor count nor length decides: a b c a b gives ab, ca, b"
)
def only_the_order_decides(student, rng):
    merges = [("c", "a"), ("a", "b")]
    student.expect(student(tuple("abcab"), merges), ["ab", "ca", "b"])
    merges = [("c", "d"), ("a", "b"), ("b", "cd")]
    student.expect(student(tuple("abcd"), merges), ["ab", "cd"])
    word = tuple(rng.permutation([*"abcdefgh"]).tolist())
    student.agrees(word, neighbours_joined(rng, word))


@exercise.case("Pairs that were learned from any words are joined in their order")
def pairs_of_many_words(student, rng):
    for length in (21, 13, 17):
        student.agrees(random_word(rng, length), learned(rng))


@exercise.case("A symbol that was never seen stays a token of its own")
def unknown_symbol(student, rng):
    word = ("ß", "r", "a", "b", "🐦", "e", "n", "e\u0301</w>")
    student.expect(student(word, RAVENS), ["ß", "rab", "🐦", "en", "e\u0301</w>"])
    parts = rng.permutation(["rab", "en", *rng.choice([*"ßä🐦"], 6)])
    student.agrees(tuple("".join(parts)), RAVENS)


@exercise.case("Only whole symbols are joined, not the ends of longer ones")
def whole_symbols(student, rng):
    merges = [("b", "a"), ("a", "n"), ("n", "e</w>")]
    student.expect(student(tuple("bana"), merges), ["ba", "n", "a"])
    word = (*"ban", "e</w>")
    student.expect(student(word, merges), ["ba", "ne</w>"])
    student.agrees(tuple(rng.choice([*"ban", "e</w>"], 9).tolist()), merges)


@exercise.case("Words of one symbol, of none, and no pairs at all give lists too")
def short_words(student, rng):
    student.expect(student(("a</w>",), RAVENS), ["a</w>"])
    student.expect(student((), RAVENS), [])
    student.expect(student(("a", "b</w>"), []), ["a", "b</w>"])


@exercise.case("The list of pairs stays as it is")
def merges_stay(student, rng):
    student.leaves_unchanged(tuple("rabe"), RAVENS)


@exercise.case("Longer words hold too", visible=False)
def longer_words(student, rng):
    for length in (43, 31):
        student.agrees(random_word(rng, length), learned(rng))


def joined_by_choice(word, merges, choose):
    """Join again and again the known pair that ``choose`` picks, of all positions."""
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    symbols = tuple(word)
    while known := [pair for pair in pairwise(symbols) if pair in ranks]:
        symbols = merge_pair(symbols, choose(known, ranks))
    return list(symbols)


def one_pass(symbols, merges):
    joined, position = [], 0
    while position < len(symbols):
        if tuple(symbols[position : position + 2]) in merges:
            joined.append(symbols[position] + symbols[position + 1])
            position += 2
        else:
            joined.append(symbols[position])
            position += 1
    return joined


@exercise.misconception(
    "Your tokens are the longest known ones that fit, cut off from the left.",
    "Of two pairs that could be joined, which one did training join first?",
    why="WordPiece encodes like this; on short words it mostly gives the same tokens.",
)
def longest_match(word, merges):
    known = {left + right for left, right in merges}
    return token_statistics.longest_match(word, known)


@exercise.misconception(
    "You go through the word from left to right and join whatever pair is known, then "
    "do it again.",
    "When two known pairs share a symbol, what decides which of them is joined?",
    why="rasbt/LLMs-from-scratch issue 558 and ztxz16/fastllm pull request 715, where "
    "more than half of the words came out differently.",
)
def passes_from_left_to_right(word, merges):
    symbols, before = list(word), None
    while symbols != before:
        before, symbols = symbols, one_pass(symbols, merges)
    return symbols


@exercise.misconception(
    "You go through the word once and join whatever pair is known.",
    "After two symbols have been joined, can the new one be part of a known pair?",
    why="One loop over the word looks as if every pair had been seen.",
)
def one_pass_over_the_word(word, merges):
    return one_pass(list(word), merges)


@exercise.misconception(
    "Your code always joins the known pair that stands first in the word.",
    "Does the position in the word decide, or the position in the list of pairs?",
    why="A loop over the word that starts again after each joining does this.",
)
def leftmost_pair_first(word, merges):
    return joined_by_choice(word, merges, lambda known, ranks: known[0])


@exercise.misconception(
    "Your code joins first the pair that occurs most often in this word.",
    "Whose counts decided the order: this word's, or those of the training text?",
    why="Training takes the most frequent pair; its loop is copied for encoding.",
)
def most_frequent_pair_first(word, merges):
    def choose(known, ranks):
        counts = Counter(known)
        return min(known, key=lambda pair: (-counts[pair], ranks[pair]))

    return joined_by_choice(word, merges, choose)


@exercise.misconception(
    "Your code joins first the pair that was learned last.",
    "Which of two pairs was more frequent in training: the earlier or the later one?",
    why="`max` over the ranks, or a list of pairs read from its end.",
)
def latest_pair_first(word, merges):
    return joined_by_choice(
        word, merges, lambda known, ranks: max(known, key=ranks.get)
    )


@exercise.misconception(
    "Your code joins first the pair that makes the longest token.",
    "Did training ask how long a token becomes?",
    why="Fewer tokens are the aim, so the longest one looks like the best.",
)
def longest_pair_first(word, merges):
    def choose(known, ranks):
        return max(known, key=lambda pair: (len("".join(pair)), -ranks[pair]))

    return joined_by_choice(word, merges, choose)


@exercise.misconception(
    "Each pair is joined only once in the word, at its first position.",
    "What happens to a pair that stands in the word twice?",
    why="One joining per pair: `break` after the first position that fits.",
)
def first_position_only(word, merges):
    symbols = list(word)
    for pair in merges:
        for position, neighbours in enumerate(pairwise(symbols)):
            if neighbours == pair:
                symbols[position : position + 2] = ["".join(pair)]
                break
    return symbols


@exercise.misconception(
    "Only pairs of the word's first symbols are joined; what came from joining stays.",
    "Which pairs does the word have after the first joining?",
    why="The set of pairs is made before the loop and not again inside it; GPT-2's "
    "program makes it again in each round.",
)
def pairs_of_the_start_only(word, merges):
    symbols, at_first = tuple(word), set(pairwise(word))
    for pair in merges:
        if pair in at_first:
            symbols = merge_pair(symbols, pair)
    return list(symbols)


@exercise.misconception(
    "Your code joins from right to left: a a a gives a and aa.",
    "From which side did training read the word?",
    why="Going backwards keeps the positions right while a list gets shorter.",
)
def joined_from_the_right(word, merges):
    symbols = list(word)
    for pair in merges:
        position = len(symbols) - 2
        while position >= 0:
            if (symbols[position], symbols[position + 1]) == pair:
                symbols[position : position + 2] = ["".join(pair)]
                position -= 1
            position -= 1
    return symbols


@exercise.misconception(
    "Pairs are joined inside a text, so the end of one symbol and the start of the "
    "next count as a pair.",
    "In `ba n`, is there a symbol `a`?",
    why="`' '.join(word).replace(…)`; the listing in Sennrich et al. (2016) needs a "
    "regular expression with two look-arounds to keep clear of this.",
)
def text_replaced(word, merges):
    text = " ".join(word)
    for left, right in merges:
        text = text.replace(f"{left} {right}", left + right)
    return text.split()


@exercise.misconception(
    "Symbols that are in none of the pairs are missing from your tokens.",
    "Can the word be put together again from your tokens?",
    why="A look-up in the vocabulary that leaves out what it does not find.",
)
def unknown_dropped(word, merges):
    known = {symbol for pair in merges for symbol in (*pair, "".join(pair))}
    return [token for token in encode_word(word, merges) if token in known]


@exercise.misconception(
    "Your code looks up the rank of pairs that were never learned.",
    "What should become of two neighbours that training never joined?",
    why="`ranks[pair]` in place of a look-up with a default value; GPT-2's program has "
    "infinity there.",
)
def unknown_pair_raises(word, merges):
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    symbols = tuple(word)
    while len(symbols) > 1:
        best = min(pairwise(symbols), key=lambda pair: ranks[pair])
        symbols = merge_pair(symbols, best)
    return list(symbols)


@exercise.misconception(
    "Your code adds the mark </w> to a word that is spelt out already.",
    "Whose task is it to write the mark: that of spelling or that of joining?",
    why="CLIP's simple_tokenizer.py adds the mark inside its function for one word.",
)
def mark_added_again(word, merges):
    marked = (*word[:-1], *(symbol + "</w>" for symbol in word[-1:]))
    return encode_word(marked, merges)


@exercise.misconception(
    "Your tokens are right, but the caller's list of pairs is empty afterwards.",
    "Whom else does the list of pairs belong to?",
    why="`merges.pop(0)` is a handy way to take one pair after the other.",
)
def merges_used_up(word, merges):
    symbols = tuple(word)
    while merges:
        symbols = merge_pair(symbols, merges.pop(0))
    return list(symbols)


@exercise.misconception(
    "A word of one symbol comes back as it was given, not as a list of tokens.",
    "What does your code return when there is no pair in the word?",
    why="GPT-2's encoder.py has `if not pairs: return token`.",
)
def one_symbol_returned_as_it_is(word, merges):
    return encode_word(word, merges) if len(word) > 1 else word
