"""Cases and misconceptions of ``merge_pair``."""

import re

from autograder import Exercise
from course_lib.bpe import merge_pair

exercise = Exercise(
    merge_pair,
    lesson="06_byte_pair_encoding",
    minutes=15,
    difficulty=2,
    library=(
        "tokenizers.Tokenizer",
        "course_lib.fast_bpe.word_encoder",
        "course_lib.fast_bpe.byte_encoder",
        "course_lib.fast_bpe._apply_merges",
        "course_lib.fast_bpe.PairCounts",
        "course_lib.lessons.token_statistics.merge_trees",
    ),
)


@exercise.spec
def spec(symbols, pair):
    return joined(symbols, lambda left, right: (left, right) == pair)


def joined(symbols, fits, between=""):
    """Read from left to right and join two symbols wherever they fit."""
    merged, position = [], 0
    while position < len(symbols):
        if position + 1 < len(symbols) and fits(
            symbols[position], symbols[position + 1]
        ):
            merged.append(symbols[position] + between + symbols[position + 1])
            position += 2
        else:
            merged.append(symbols[position])
            position += 1
    return tuple(merged)


@exercise.usual
def usual(rng):
    return ("ab", "b", "b", "b"), ("b", "b")


def gives(student, rng, symbols, pair, expected):
    """Assert what a word becomes, and what a longer one of the same parts does.

    The longer one has other symbols too; they and the order are drawn.

    As lists, the message shows the words whole.
    """
    word = student(symbols, pair)
    student.expect([*word], [*expected], "the word")
    parts = [pair if part == "".join(pair) else (part,) for part in expected]
    parts += [(letter,) for letter in rng.choice([*"ABCDEFGH"], 5).tolist()]
    order = rng.permutation(len(parts)).tolist()
    student.agrees(tuple(symbol for i in order for symbol in parts[i]), pair)


@exercise.case("The pair is joined, and the other symbols stay where they are")
def small_example_by_hand(student, rng):
    word = ("m", "a", "t", "e", "r")
    gives(student, rng, word, ("a", "t"), ("m", "at", "e", "r"))


@exercise.case("The pair is joined wherever it stands, at the end of the word too")
def several_positions(student, rng):
    word = ("n", "a", "b", "a", "n", "a", "n", "a")
    gives(student, rng, word, ("n", "a"), ("na", "b", "a", "na", "na"))


@exercise.case("Of a run of equal symbols two and two are joined, from the left")
def runs_of_one_symbol(student, rng):
    pair = ("a", "a")
    gives(student, rng, ("a", "a", "a"), pair, ("aa", "a"))
    gives(student, rng, ("a", "a", "a", "a", "t"), pair, ("aa", "aa", "t"))
    longer = ("t", "a", "a", "a", "a", "a", "a", "a")
    gives(student, rng, longer, pair, ("t", "aa", "aa", "aa", "a"))


@exercise.case(
    "A word without the pair stays as it is, a very short one too", pays_alone=False
)
def pair_not_there(student, rng):
    gives(student, rng, ("t", "e", "a"), ("e", "t"), ("t", "e", "a"))
    gives(student, rng, ("a",), ("a", "a"), ("a",))
    gives(student, rng, (), ("a", "t"), ())


@exercise.case("A symbol of several letters is one thing: its last letter is no symbol")
def longer_symbols(student, rng):
    word = ("a", "ab", "c", "b", "cd", "b", "c")
    gives(student, rng, word, ("b", "c"), ("a", "ab", "c", "b", "cd", "bc"))
    word = ("ab", "c", "a", "bc", "ab", "cd")
    gives(student, rng, word, ("ab", "c"), ("abc", "a", "bc", "ab", "cd"))


@exercise.case("A symbol with the mark </w> is another symbol than the one without")
def end_of_word(student, rng):
    word = ("a", "t", "a", "t</w>")
    gives(student, rng, word, ("a", "t"), ("at", "a", "t</w>"))
    gives(student, rng, word, ("a", "t</w>"), ("a", "t", "at</w>"))


@exercise.case("Full stops, accents and emoji are symbols like letters")
def signs_and_accents(student, rng):
    word = ("3", "x", "5", ".", "5")
    gives(student, rng, word, (".", "5"), ("3", "x", "5", ".5"))
    word = ("ä", "a", "ß", "ä", "ß")
    gives(student, rng, word, ("ä", "ß"), ("ä", "a", "ß", "äß"))
    gives(student, rng, ("🚲", "🚲", "x"), ("🚲", "🚲"), ("🚲🚲", "x"))


@exercise.case("Many words and pairs are joined rightly", visible=False)
def many_words(student, rng):
    symbols = ["a", "b", "aa", "ab", "ba", "a</w>", "\\", "+"]
    for _ in range(40):
        word = rng.choice(symbols, size=int(rng.integers(1, 10)))
        pair = rng.choice(symbols[:5], size=2)
        student.agrees(tuple(word.tolist()), tuple(pair.tolist()))
    student.agrees(("a", "\\", "n", "\\", "n"), ("\\", "n"))


@exercise.misconception(
    "Your words have the right symbol of the pair twice: joined, and again after it.",
    "Which symbol comes next, after two have been joined?",
    why="A for loop goes on by one, whether something was joined or not.",
)
def advanced_by_one(symbols, pair):
    merged = []
    for position, symbol in enumerate(symbols):
        here = symbols[position : position + 2] == pair
        merged.append(pair[0] + pair[1] if here else symbol)
    return tuple(merged)


@exercise.misconception(
    "Your aaa is aa aa: the a in the middle is used twice.",
    "Can a symbol that has been joined to its left be joined to its right as well?",
    why="All positions are looked up first and joined afterwards; minbpe, issue 51, "
    "shows that there are more positions than can be joined.",
)
def middle_used_twice(symbols, pair):
    merged = []
    for position, symbol in enumerate(symbols):
        if symbols[position : position + 2] == pair:
            merged.append(pair[0] + pair[1])
        elif position == 0 or symbols[position - 1 : position + 1] != pair:
            merged.append(symbol)
    return tuple(merged)


@exercise.misconception(
    "Your aaa is a aa: the word is joined from its right end.",
    "From which end does the docstring say that a word is read?",
    why="Going backwards does not move the positions that are still to do, so it "
    "is the usual advice for changing a list in a loop.",
)
def from_the_right(symbols, pair):
    merged, position = list(symbols), len(symbols) - 2
    while position >= 0:
        if tuple(merged[position : position + 2]) == pair:
            merged[position : position + 2] = [pair[0] + pair[1]]
            position -= 1
        position -= 1
    return tuple(merged)


@exercise.misconception(
    "Your words have the pair joined at its first position only.",
    "At how many positions of banana does n stand to the left of a?",
    why="`return` stands inside the loop, or `index` finds one position; public copies "
    "of the paper's program do that.",
)
def first_position_only(symbols, pair):
    for position in range(len(symbols) - 1):
        if symbols[position : position + 2] == pair:
            return (*symbols[:position], pair[0] + pair[1], *symbols[position + 2 :])
    return symbols


@exercise.misconception(
    "Your pair is joined with parts of symbols: for (b, c) also the b of ab with c.",
    'In the text "ab c", which signs does `replace` find when it looks for "b c"?',
    why="' '.join(symbols).replace(' '.join(pair), ''.join(pair)) is the short way. "
    "The paper's program has a longer pattern to prevent it, often left out.",
)
def text_replaced(symbols, pair):
    text = " ".join(symbols).replace(" ".join(pair), "".join(pair))
    return tuple(text.split())


@exercise.misconception(
    "Your words are taken apart into single signs before the pair is joined: what was "
    "joined earlier is lost.",
    "What does ''.join(symbols) forget about a word?",
    why="Before the first merge every symbol is one sign, and the word can be treated "
    "as a text.",
)
def letters_for_symbols(symbols, pair):
    return joined("".join(symbols), lambda left, right: (left, right) == pair)


@exercise.misconception(
    "Your symbols are joined wherever they make the same text as the pair: a and bc "
    "for the pair (ab, c).",
    "Can two different pairs make the same text?",
    why="tiktoken finds merges by what comes out, which is not the same (minbpe, issue "
    "11).",
)
def made_text_compared(symbols, pair):
    return joined(symbols, lambda left, right: left + right == pair[0] + pair[1])


@exercise.misconception(
    "Your pair is joined in both directions: also where the right symbol comes first.",
    "Does a text in which a stands before t have the pair (t, a)?",
    why="The pair is compared as a set, or sorted.",
)
def direction_ignored(symbols, pair):
    return joined(symbols, lambda left, right: {left, right} == set(pair))


@exercise.misconception(
    "Your words lack their last symbol, unless it was joined.",
    "Which symbol does a loop never reach that ends where no pair can start?",
    why="The loop ends at len(symbols) - 1, so that position + 1 exists, and nothing "
    "adds the symbol that remains.",
)
def last_symbol_lost(symbols, pair):
    merged, position = [], 0
    while position < len(symbols) - 1:
        here = symbols[position : position + 2] == pair
        merged.append(pair[0] + pair[1] if here else symbols[position])
        position += 2 if here else 1
    return tuple(merged)


@exercise.misconception(
    "Your words have the pair left apart at their end.",
    "At which position of a word of four symbols does its last pair start?",
    why="`position < len(symbols) - 2`: one too many is taken off.",
)
def pair_at_the_end_missed(symbols, pair):
    merged, position = [], 0
    while position < len(symbols):
        here = position < len(symbols) - 2 and symbols[position : position + 2] == pair
        merged.append(pair[0] + pair[1] if here else symbols[position])
        position += 2 if here else 1
    return tuple(merged)


@exercise.misconception(
    "Your joined symbols have a blank inside.",
    "How is the new symbol written in the docstring's example?",
    why="Files of merges, such as GPT-2's and subword-nmt's, write a pair with a blank "
    "between its symbols.",
)
def joined_with_a_blank(symbols, pair):
    return joined(symbols, lambda left, right: (left, right) == pair, " ")


@exercise.misconception(
    "Your symbols count as equal with and without the mark </w>.",
    "Why does the course write t</w> and t as two different symbols?",
    why="The mark looks like a remark about a word, not like a part of the symbol.",
)
def mark_ignored(symbols, pair):
    def bare(symbol):
        return symbol.removesuffix("</w>")

    bare_pair = [bare(symbol) for symbol in pair]
    return joined(symbols, lambda *two: [bare(symbol) for symbol in two] == bare_pair)


@exercise.misconception(
    "Your words are joined rightly, but they are lists.",
    "Which of the two can be a key of a dictionary, a list or a tuple?",
    why="A list can grow, so the new word is one; the Hugging Face course keeps its "
    "words in lists.",
)
def list_returned(symbols, pair):
    return list(spec(symbols, pair))


@exercise.misconception(
    "Your full stop stands for any sign, as in a regular expression.",
    'What does the pattern ". 5" find in the text "x 5"?',
    why="The pair goes into a pattern without re.escape.",
)
def pattern_not_escaped(symbols, pair):
    pattern = r"(?<!\S)" + " ".join(pair) + r"(?!\S)"
    made = "".join(pair)
    return tuple(re.sub(pattern, lambda _: made, " ".join(symbols)).split())
