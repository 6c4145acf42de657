"""Cases and misconceptions of ``encode_word``."""

from functools import partial
from itertools import pairwise, product

from autograder import Exercise
from autograder.exercises import merge_pair as merging
from course_lib.bpe import encode_word, merge_pair
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


def learned(rng, letters):
    """Draw pairs of letters and of what earlier pairs make, each text made once."""
    symbols, pairs = [*letters], []
    while len(pairs) < 9:
        left, right = rng.choice(symbols, 2).tolist()
        if left + right not in symbols:
            pairs.append((left, right))
            symbols.append(left + right)
    return pairs


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


@exercise.case("A pair is joined at all its positions, from left to right", weight=0.5)
def every_position(student, rng):
    merges = [("a", "a"), ("n", "aa")]
    student.expect(student(tuple("naaanaa"), merges), ["naa", "a", "naa"])
    student.expect(student(tuple("baaa"), merges), ["b", "aa", "a"])


@exercise.case(
    "Neither position nor count nor length decides: a b c a b gives ab, ca, b",
    weight=0.5,
)
def only_the_order_decides(student, rng):
    # The leftmost pair is ab, the most frequent bc, the earliest cd: each shows.
    merges = [("c", "d"), ("a", "b"), ("b", "c"), ("d", "e")]
    student.expect(student(tuple("abcbcde"), merges), ["ab", "c", "b", "cd", "e"])
    merges = [("a", "b"), ("b", "c")]
    student.expect(student(tuple("abc"), merges), ["ab", "c"])
    merges = [("c", "a"), ("a", "b")]
    student.expect(student(tuple("abcab"), merges), ["ab", "ca", "b"])
    merges = [("c", "d"), ("a", "b"), ("b", "cd")]
    student.expect(student(tuple("abcd"), merges), ["ab", "cd"])
    word = tuple(rng.permutation([*"abcdefgh"]).tolist())
    student.agrees(word, neighbours_joined(rng, word))


@exercise.case(
    "Pairs that were learned from any words are joined in their order", weight=4.5
)
def pairs_of_many_words(student, rng):
    # Where each pair of letters is known, every rule for the first one shows.
    for _ in range(2):
        merges = rng.permutation([*product("abc", repeat=2)])
        merges = [(left, right) for left, right in merges.tolist()]
        student.agrees(tuple(rng.choice([*"abc"], 17).tolist()), merges)
    for _ in range(12):
        student.agrees(tuple(rng.choice([*"abc"], 17).tolist()), learned(rng, "abc"))


@exercise.case("A symbol that was never seen stays a token of its own", weight=0.5)
def unknown_symbol(student, rng):
    word = ("ß", "r", "a", "b", "🐦", "e", "n", "e\u0301</w>")
    student.expect(student(word, RAVENS), ["ß", "rab", "🐦", "en", "e\u0301</w>"])
    parts = rng.permutation(["rab", "en", *rng.choice([*"ßä🐦"], 6)])
    student.agrees(tuple("".join(parts)), RAVENS)


@exercise.case("Only whole symbols are joined, not the ends of longer ones", weight=0.5)
def whole_symbols(student, rng):
    merges = [("b", "a"), ("a", "n"), ("n", "e</w>")]
    student.expect(student(tuple("bana"), merges), ["ba", "n", "a"])
    merges = [("b", "c"), ("a", "b"), ("ab", "c"), ("n", "e</w>")]
    student.expect(student(tuple("abc"), merges), ["a", "bc"])
    merges = [("b", "a"), ("a", "n"), ("n", "e</w>")]
    word = (*"ban", "e</w>")
    student.expect(student(word, merges), ["ba", "ne</w>"])
    student.agrees(tuple(rng.choice([*"ban", "e</w>"], 9).tolist()), merges)


@exercise.case(
    "Words of one symbol, of none, and no pairs at all give lists too", weight=0.5
)
def short_words(student, rng):
    student.expect(student(("a</w>",), RAVENS), ["a</w>"])
    student.expect(student((), RAVENS), [])
    student.expect(student(("a", "b</w>"), []), ["a", "b</w>"])


@exercise.case("The list of pairs is not modified", weight=0.5)
def merges_stay(student, rng):
    student.leaves_unchanged(tuple("rabe"), RAVENS)


@exercise.case("Longer words hold too", weight=0.5, visible=False)
def longer_words(student, rng):
    for _ in range(4):
        student.agrees(tuple(rng.choice([*"abä🐦"], 43).tolist()), learned(rng, "abä"))


LOOKED_UP = {"pair": tuple, "made text": "".join, "sorted": lambda p: tuple(sorted(p))}
PICKS = {  # of the known pairs in the word, from left to right, and their ranks
    "earliest": lambda known, rank: min(known, key=rank),
    "latest": lambda known, rank: max(known, key=rank),
    "leftmost": lambda known, rank: known[0],
    "rightmost": lambda known, rank: known[-1],
    "last in order": lambda known, rank: max(known),
    "first in order": lambda known, rank: min(known),
    "most frequent": lambda known, rank: min(
        known, key=lambda pair: (-known.count(pair), rank(pair))
    ),
    "most frequent, then leftmost": lambda known, rank: max(
        dict.fromkeys(known), key=known.count
    ),
    "longest": lambda known, rank: max(
        known, key=lambda pair: (len("".join(pair)), -rank(pair))
    ),
}
RETURNS = {
    "list": list,
    "tuple": tuple,
    "text": "".join,
    "text with blanks": " ".join,
    "each once": lambda tokens: list(dict.fromkeys(tokens)),
    "sorted": sorted,
}


def one_pass(symbols, merges):
    joined, position = [], 0
    while position < len(symbols):
        here = tuple(symbols[position : position + 2]) in merges
        joined.append("".join(symbols[position : position + 1 + here]))
        position += 1 + here
    return tuple(joined)


def passes(symbols, merges):
    before = None
    while symbols != before:
        before, symbols = symbols, one_pass(symbols, merges)
    return symbols


ALGORITHMS = {
    "longest match": lambda word, merges: token_statistics.longest_match(
        word, {left + right for left, right in merges}
    ),
    "one pass": one_pass,
    "passes": passes,
}


@exercise.variants
def variants(
    word,
    merges,
    *,
    algorithm="by rank",
    symbols="as they are",
    looked_up="pair",
    ranked="all",
    pick="earliest",
    unknown="stays apart",
    repeated="until none is left",
    joined=None,
    unknown_symbols="kept",
    returns="list",
    short="list",
    used_up="nothing",
):
    if repeated == "each pair once":
        joined = {"which": "first"}
    join = partial(merging.variants, **joined) if joined else merge_pair
    original = word = tuple(word)
    if symbols == "letters":
        word = tuple("".join(word))
    elif symbols == "marked":
        word = (*word[:-1], *(symbol + "</w>" for symbol in word[-1:]))
    elif symbols == "without mark":
        word = tuple(symbol.removesuffix("</w>") for symbol in word)
    ranks = {}
    for rank, pair in enumerate(merges[1:] if ranked == "all but one" else merges):
        ranks.setdefault(LOOKED_UP[looked_up](pair), rank)
    left = set(pairwise(word)) if repeated == "not what comes up" else None
    left = set(merges) if repeated == "each pair once" else left
    while algorithm == "by rank":
        pairs = list(pairwise(word))
        known = [
            pair
            for pair in pairs
            if LOOKED_UP[looked_up](pair) in ranks and (left is None or pair in left)
        ]
        if unknown == "KeyError" and pairs:
            min(pairs, key=lambda pair: ranks[pair])
        elif unknown == "TypeError" and pairs:
            min(pairs, key=ranks.get)
        elif unknown == "comes first" and len(known) < len(pairs):
            known = []
        elif unknown == "ValueError":
            min(known, key=ranks.get)
        if not known:
            break
        best = PICKS[pick](known, lambda pair: ranks[LOOKED_UP[looked_up](pair)])
        after = join(word, best)
        if repeated == "each pair once":
            left.remove(best)
        if repeated == "never" or after == word:
            word = after
            break
        word = after
    if algorithm != "by rank":
        word = ALGORITHMS[algorithm](word, merges)
    learned_symbols = {symbol for pair in merges for symbol in (*pair, "".join(pair))}
    if unknown_symbols == "dropped":
        word = [token for token in word if token in learned_symbols]
    elif unknown_symbols == "<unk>":
        word = [token if token in learned_symbols else "<unk>" for token in word]
    if used_up == "merges":
        merges.clear()
    if len(original) < 2 and short != "list":
        return {"as it is": original, "None": None}.get(short) or "".join(original)
    return RETURNS[returns](word)


exercise.option(
    "longest_match",
    "Your tokens are the longest known ones that fit, cut off from the left.",
    "Of two pairs that could be joined, which one did training join first?",
    why="WordPiece encodes like this; on short words it mostly gives the same tokens.",
    algorithm="longest match",
)
exercise.option(
    "passes_from_left_to_right",
    "Your known pairs are joined from left to right, whatever their ranks, in pass "
    "after pass.",
    "When two known pairs share a symbol, what decides which of them is joined?",
    why="rasbt/LLMs-from-scratch issue 558 and ztxz16/fastllm pull request 715, where "
    "more than half of the words came out differently.",
    algorithm="passes",
)
exercise.option(
    "one_pass_over_the_word",
    "Your known pairs are joined from left to right, whatever their ranks, and what "
    "has been joined is not joined again.",
    "After two symbols have been joined, can the new one be part of a known pair?",
    why="One loop over the word seems to reach every pair.",
    algorithm="one pass",
)
exercise.option(
    "leftmost_pair_first",
    "Your word has the known pair joined first that stands first in it.",
    "Does the position in the word decide, or the position in the list of pairs?",
    why="A loop over the word that starts again after each joining does this.",
    pick="leftmost",
)
exercise.option(
    "rightmost_pair_first",
    "Your word has the known pair joined first that stands last in it.",
    "Does the position in the word decide, or the position in the list of pairs?",
    why="A loop over the word overwrites what it has chosen.",
    pick="rightmost",
)
exercise.option(
    "most_frequent_pair_first",
    "Your word has the pair joined first that occurs most often in it.",
    "Whose counts decided the order: this word's, or those of the training text?",
    why="Training takes the most frequent pair; its loop is copied for encoding.",
    pick="most frequent",
)
exercise.option(
    "most_frequent_pair_first_then_leftmost",
    "Your word has the pair joined first that occurs most often in it, of several such "
    "pairs the leftmost.",
    "Whose counts decided the order: this word's, or those of the training text?",
    why="Counter.most_common, or max over counts, takes the one that was met first.",
    pick="most frequent, then leftmost",
)
exercise.option(
    "latest_pair_first",
    "Your word has the pair joined first that was learned last.",
    "Which of two pairs was more frequent in training: the earlier or the later one?",
    why="`max` over the ranks, or a list of pairs read from its end.",
    pick="latest",
)
exercise.option(
    "longest_pair_first",
    "Your word has the pair joined first that makes the longest token.",
    "Did training ask how long a token becomes?",
    why="Fewer tokens are the aim, so the longest one looks like the best.",
    pick="longest",
)
exercise.option(
    "last_pair_in_order_first",
    "Your word has the pair joined first that is last in Python's order.",
    "What does `max` compare if it is given pairs and nothing else?",
    why="The rule for equal counts in training is taken for the order of encoding.",
    pick="last in order",
)
exercise.option(
    "first_pair_in_order_first",
    "Your word has the pair joined first that is first in Python's order.",
    "What does `min` compare if it is given pairs and nothing else?",
    why="`min(known)` compares the pairs themselves, not their ranks.",
    pick="first in order",
)
exercise.option(
    "made_text_looked_up",
    "Your symbols are joined wherever they make the text of a known pair: a and bc "
    "for (ab, c).",
    "Can two different pairs make the same text?",
    why="tiktoken finds merges by what comes out (minbpe, issue 11).",
    looked_up="made text",
)
exercise.option(
    "direction_ignored",
    "Your symbols are joined in both directions: also where a pair's right symbol "
    "comes first.",
    "Does a word in which a stands before t have the pair (t, a)?",
    why="Pairs are compared as sets, or sorted.",
    looked_up="sorted",
)
exercise.option(
    "first_pair_left_out",
    "Your tokens never have the first pair of the list joined.",
    "Which rank does the first pair have, and what does your code do with 0?",
    why="`if rank:` and `merges[1:]` leave out the merge of rank 0.",
    ranked="all but one",
)
exercise.option(
    "first_position_only",
    "Your pairs are joined only once in the word each.",
    "What happens to a pair that stands in the word twice?",
    why="One joining per pair: `break` after the first position that fits.",
    repeated="each pair once",
)
exercise.option(
    "pairs_of_the_start_only",
    "Your tokens have only pairs of the word's first symbols joined: what came from "
    "joining stays.",
    "Which pairs does the word have after the first joining?",
    why="The set of pairs is made before the loop and not again inside it; GPT-2's "
    "program makes it again in each round.",
    repeated="not what comes up",
)
exercise.option(
    "one_joining_only",
    "Your word has one pair joined, and no other after it.",
    "Which pairs does the word have after the first joining?",
    why="`return` stands inside the loop, or there is no loop.",
    repeated="never",
)
exercise.option(
    "nothing_joined",
    "Your tokens are the symbols of the word.",
    "What has become of the pair in the docstring's example?",
    why="A list is compared with a tuple, and the two are never equal.",
    joined={"which": "none"},
)
exercise.option(
    "joined_from_the_right",
    "Your a a a becomes a and aa: joining begins at the right end.",
    "From which side did training read the word?",
    why="Going backwards keeps the positions right while a list gets shorter.",
    joined={"side": "right"},
)
exercise.option(
    "runs_joined_whole",
    "Your a a a becomes one token when (a, a) is joined.",
    "How many symbols does one joining use up?",
    why="What has been joined is joined to the next symbol again.",
    joined={"read": "runs"},
)
exercise.option(
    "text_replaced",
    "Your pairs are joined inside a text: the end of one symbol and the start of the "
    "next count as a pair.",
    "In `ba n`, is there a symbol `a`?",
    why="`' '.join(word).replace(…)`; the listing in Sennrich et al. (2016) needs a "
    "regular expression with two look-arounds to keep clear of this.",
    joined={"read": "text"},
)
exercise.option(
    "joined_with_a_blank",
    "Your joined tokens have a blank inside.",
    "How is the joined token written in the docstring's example?",
    why="Files of merges write a pair with a blank between its symbols.",
    joined={"made": "with a blank"},
)
exercise.option(
    "letters_for_symbols",
    "Your symbols of several letters are taken apart: t</w> becomes t, <, /, w and >.",
    "How many symbols has the word that was handed in?",
    why="''.join(word) makes a text, and a text is letters.",
    symbols="letters",
)
exercise.option(
    "mark_added_again",
    "Your word has one mark </w> more at its end than it was given.",
    "Whose task is it to write the mark: that of spelling or that of joining?",
    why="CLIP's simple_tokenizer.py adds the mark inside its function for one word.",
    symbols="marked",
)
exercise.option(
    "mark_removed",
    "Your tokens have lost the mark </w>.",
    "How could one tell, from the tokens, where a word ends?",
    why="The mark is taken off to compare letters, and not put on again.",
    symbols="without mark",
)
exercise.option(
    "unknown_dropped",
    "Symbols that are in none of the pairs are missing from your tokens.",
    "Can the word be put together again from your tokens?",
    why="A look-up in the vocabulary that leaves out what it does not find.",
    unknown_symbols="dropped",
)
exercise.option(
    "unknown_replaced",
    "Symbols that are in none of the pairs have become <unk> in your tokens.",
    "What does the docstring say of a symbol that did not occur in training?",
    why="Vocabularies of words have a token for all that is unknown.",
    unknown_symbols="<unk>",
)
exercise.option(
    "unknown_pair_raises",
    "Your call ends in a KeyError where two neighbours were never learned as a pair.",
    "What should become of two neighbours that training never joined?",
    why="`ranks[pair]` in place of a look-up with a default value; GPT-2's program has "
    "infinity there.",
    unknown="KeyError",
)
exercise.option(
    "rank_none_compared",
    "Your call ends in a TypeError where two neighbours were never learned as a pair.",
    "What does `ranks.get(pair)` give for a pair that is not there?",
    why="`min(…, key=ranks.get)` compares None with a number.",
    unknown="TypeError",
)
exercise.option(
    "unknown_pair_ends_it",
    "Your joining ends as soon as the word has two neighbours that were never learned "
    "as a pair.",
    "Which rank should a pair have that was never learned: the first or the last?",
    why="`ranks.get(pair, -1)` puts it first, and the loop ends at it.",
    unknown="comes first",
)
exercise.option(
    "error_without_known_pairs",
    "Your call ends in a ValueError where the word has no known pair.",
    "What does `min` do with an empty list, and when is there one?",
    why="`min` is asked before anything asks whether a pair is left.",
    unknown="ValueError",
)
exercise.option(
    "merges_used_up",
    "Your call leaves the caller's list of pairs empty.",
    "Whom else does the list of pairs belong to?",
    why="`merges.pop(0)` is a handy way to take one pair after the other.",
    used_up="merges",
)
exercise.option(
    "one_symbol_returned_as_it_is",
    "Your result is the word itself, a tuple, where it has one symbol or none.",
    "What does your code return when there is no pair in the word?",
    why="GPT-2's encoder.py has `if not pairs: return token`.",
    short="as it is",
)
exercise.option(
    "short_words_as_text",
    "Your result is a text where the word has one symbol or none.",
    "What does your code return when there is no pair in the word?",
    why="`return word[0]` is the only token, but no list.",
    short="text",
)
exercise.option(
    "tuple_returned",
    "Your tokens come in a tuple.",
    "Which type has the result in the docstring's example?",
    why="`merge_pair` returns a tuple, and so does the loop around it.",
    returns="tuple",
)
exercise.option(
    "text_returned",
    "Your tokens are put together to one text.",
    "How many tokens does the docstring's example have?",
    why="''.join(symbols) makes a word that one can read.",
    returns="text",
)
exercise.option(
    "text_with_blanks_returned",
    "Your tokens come as one text with blanks between them.",
    "Which type has the result in the docstring's example?",
    why="subword-nmt prints tokens in this way.",
    returns="text with blanks",
)
exercise.option(
    "each_token_once",
    "Your tokens are listed once each, also where they occur twice.",
    "Can the word be put together again from your tokens?",
    why="A set or a dictionary of tokens is what vocabularies are made of.",
    returns="each once",
)
exercise.option(
    "sorted_tokens",
    "Your tokens are in Python's order of texts.",
    "In which order does the docstring promise the tokens?",
    why="A set of tokens is sorted so that it has an order at all.",
    returns="sorted",
)
