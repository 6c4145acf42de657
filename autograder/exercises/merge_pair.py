"""Cases and misconceptions of ``merge_pair``."""

import itertools
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
    merged, position = [], 0
    while position < len(symbols):
        here = tuple(symbols[position : position + 2]) == pair
        merged.append(pair[0] + pair[1] if here else symbols[position])
        position += 2 if here else 1
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


@exercise.case(
    "The pair is joined wherever it stands, at the end of the word too", weight=0.5
)
def several_positions(student, rng):
    word = ("n", "a", "b", "a", "n", "a", "n", "a")
    gives(student, rng, word, ("n", "a"), ("na", "b", "a", "na", "na"))


@exercise.case(
    "Of a run of equal symbols two and two are joined, from the left", weight=0.5
)
def runs_of_one_symbol(student, rng):
    pair = ("a", "a")
    gives(student, rng, ("a", "a", "a"), pair, ("aa", "a"))
    gives(student, rng, ("a", "a", "a", "a", "t"), pair, ("aa", "aa", "t"))
    longer = ("t", "a", "a", "a", "a", "a", "a", "a")
    gives(student, rng, longer, pair, ("t", "aa", "aa", "aa", "a"))


@exercise.case(
    "A word without the pair is returned unchanged, a very short one too",
    weight=0.5,
    pays_alone=False,
)
def pair_not_there(student, rng):
    gives(student, rng, ("t", "e", "a"), ("e", "t"), ("t", "e", "a"))
    gives(student, rng, ("a",), ("a", "a"), ("a",))
    gives(student, rng, (), ("a", "t"), ())


@exercise.case(
    "A symbol of several letters is one thing: its last letter is no symbol", weight=0.5
)
def longer_symbols(student, rng):
    word = ("a", "ab", "c", "b", "cd", "b", "c")
    gives(student, rng, word, ("b", "c"), ("a", "ab", "c", "b", "cd", "bc"))
    word = ("ab", "c", "a", "bc", "ab", "cd")
    gives(student, rng, word, ("ab", "c"), ("abc", "a", "bc", "ab", "cd"))


@exercise.case(
    "A symbol with the mark </w> is another symbol than the one without", weight=0.5
)
def end_of_word(student, rng):
    word = ("a", "t", "a", "t</w>")
    gives(student, rng, word, ("a", "t"), ("at", "a", "t</w>"))
    gives(student, rng, word, ("a", "t</w>"), ("a", "t", "at</w>"))


@exercise.case("Full stops, accents and emoji are symbols like letters", weight=0.5)
def signs_and_accents(student, rng):
    word = ("3", "x", "5", ".", "5")
    gives(student, rng, word, (".", "5"), ("3", "x", "5", ".5"))
    word = ("ä", "a", "ß", "ä", "ß")
    gives(student, rng, word, ("ä", "ß"), ("ä", "a", "ß", "äß"))
    gives(student, rng, ("🚲", "🚲", "x"), ("🚲", "🚲"), ("🚲🚲", "x"))


@exercise.case("Many words and pairs are joined rightly", weight=3.5)
def many_words(student, rng):
    symbols = ["a", "b", "aa", "ab", "ba", "a</w>"]
    for pair in itertools.product(symbols[:3], symbols):
        student.agrees(tuple(rng.choice([*symbols, *pair], size=9).tolist()), pair)


@exercise.case(
    "Signs that mean something elsewhere are symbols like letters",
    weight=0.5,
    visible=False,
)
def other_signs(student, rng):
    for pair in [("*", "+"), ("+", "+"), ("(", "a")]:
        word = rng.choice(["a", "a+", *pair, *pair], size=9)
        student.agrees(tuple(word.tolist()), pair)


def bare(symbol):
    return symbol.removesuffix("</w>")


FITS = {  # whether two symbols are taken for the pair
    "equal": lambda *two, pair: two == pair,
    "in any order": lambda *two, pair: sorted(two) == sorted(pair),
    "as the pair in any order": lambda *two, pair: sorted(two) == sorted(pair),
    "each in the pair": lambda left, right, pair: left in pair and right in pair,
    "left": lambda left, right, pair: left == pair[0],
    "right": lambda left, right, pair: right == pair[1],
    "made text": lambda left, right, pair: left + right == pair[0] + pair[1],
    "without mark": lambda *two, pair: [*map(bare, two)] == [*map(bare, pair)],
    "of different symbols": lambda *two, pair: two == pair and pair[0] != pair[1],
}
STARTS = {  # where a pair may start, of so many symbols
    "anywhere": lambda n: range(n - 1),
    "not at the end": lambda n: range(n - 2),
    "not at the start": lambda n: range(1, n - 1),
    "in steps of two": lambda n: range(0, n - 1, 2),
}
STEPS = {
    "2": (2, [1]),
    "1": (1, []),
    "1, but no symbol twice": (1, [1]),
    "3": (3, [1, 2]),
}
MADE = {  # of two symbols that fit
    "joined": lambda left, right: [left + right],
    "right first": lambda left, right: [right + left],
    "with a blank": lambda left, right: [left + " " + right],
    "without mark": lambda left, right: [bare(left + right)],
    "tuple": lambda left, right: [(left, right)],
    "nothing": lambda left, right: [],
    "left": lambda left, right: [left],
    "beside": lambda left, right: [left, right, left + right],
}
RETURNS = {"tuple": tuple, "list": list, "text": "".join, "with blanks": " ".join}


def in_text(symbols, pair, pattern):
    text = re.sub(pattern, lambda _: "".join(pair), " ".join(symbols))
    return text.split()


def runs_joined(symbols, pair):
    runs = [(s, list(run)) for s, run in itertools.groupby(symbols)]
    return [
        part for s, run in runs for part in (["".join(run)] if s == pair[0] else run)
    ]


@exercise.variants
def variants(
    symbols,
    pair,
    *,
    read="symbols",
    fits="equal",
    starts="anywhere",
    side="left",
    step="2",
    which="all",
    made="joined",
    last="kept",
    returns="tuple",
    without_the_pair="as it is",
):
    if read == "letters":
        symbols = tuple("".join(symbols))
    gap, gone = STEPS[step]
    taken = []
    order = 1 if side == "left" else -1
    for i in [*STARTS[starts](len(symbols))][::order]:
        if FITS[fits](symbols[i], symbols[i + 1], pair=pair):
            if not taken or abs(i - taken[-1]) >= gap:
                taken.append(i)
    taken = sorted(taken)
    taken = {"first": taken[:1], "last": taken[-1:], "none": []}.get(which, taken)
    gone = {i + more for i in taken for more in gone}
    merged = []
    for i, symbol in enumerate(symbols):
        if i in taken:
            turned = fits == "as the pair in any order"
            two = pair if turned else (symbol, symbols[i + 1])
            merged += MADE[made](*two)
        elif i not in gone:
            merged.append(symbol)
    if symbols and len(symbols) - 1 not in gone:
        if last == "read on" or (last == "read on after left" and symbol == pair[0]):
            symbols[len(symbols)]
        merged = merged[:-1] if last == "lost" else merged
    merged += symbols[-1:] if last == "twice" else ()
    if read in ("text", "pattern"):
        escaped = re.escape(" ".join(pair))
        edges = rf"(?<!\S){' '.join(pair)}(?!\S)"
        merged = in_text(symbols, pair, escaped if read == "text" else edges)
    elif read == "pattern in the text":
        merged = in_text(symbols, pair, " ".join(pair))
    elif read == "runs" and pair[0] == pair[1]:
        merged = runs_joined(symbols, pair)
    if without_the_pair == "None" and not taken:
        return None
    if without_the_pair == "tuple, else list":
        return list(merged) if taken else symbols
    return RETURNS[returns](merged)


exercise.option(
    "advanced_by_one",
    "Your words have the right symbol of the pair twice: joined, and again after it.",
    "Which symbol comes next, after two have been joined?",
    why="A for loop goes on by one, whether something was joined or not.",
    step="1",
)
exercise.option(
    "middle_used_twice",
    "Your aaa is aa aa: the a in the middle is used twice.",
    "Can a symbol that has been joined to its left be joined to its right as well?",
    why="All positions are looked up first and joined afterwards; minbpe, issue 51, "
    "shows that there are more positions than can be joined.",
    step="1, but no symbol twice",
)
exercise.option(
    "symbol_after_the_pair_lost",
    "Your words lack the symbol that follows a joined pair.",
    "By how much does the position grow after two symbols have been joined?",
    why="The position grows by 2 in the branch and once more at the loop's end.",
    step="3",
)
exercise.option(
    "from_the_right",
    "Your aaa is a aa: the word is joined from its right end.",
    "From which end does the docstring say that a word is read?",
    why="Going backwards does not move the positions that are still to do, so it "
    "is the usual advice for changing a list in a loop.",
    side="right",
)
exercise.option(
    "runs_joined_whole",
    "Your aaa is one symbol: for the pair (a, a), a whole run of a is joined.",
    "How many symbols does one joining use up?",
    why="What has been joined is joined to the next symbol again.",
    read="runs",
)
exercise.option(
    "first_position_only",
    "Your words have the pair joined at its first position only.",
    "At how many positions of banana does n stand to the left of a?",
    why="`return` stands inside the loop, or `index` finds one position; public copies "
    "of the paper's program do that.",
    which="first",
)
exercise.option(
    "last_position_only",
    "Your words have the pair joined at its last position only.",
    "At how many positions of banana does n stand to the left of a?",
    why="The new word is made from the old one each time, so only the last one stays.",
    which="last",
)
exercise.option(
    "nothing_joined",
    "Your words come back as they were: the pair is not joined.",
    "What has become of the pair in the docstring's first example?",
    why="A list is compared with a tuple, and the two are never equal.",
    which="none",
)
exercise.option(
    "pair_at_the_end_missed",
    "Your words have the pair left apart at their end.",
    "At which position of a word of four symbols does its last pair start?",
    why="`position < len(symbols) - 2`: one too many is taken off.",
    starts="not at the end",
)
exercise.option(
    "pair_at_the_start_missed",
    "Your words have the pair left apart at their start.",
    "At which position does a word's first pair start?",
    why="A loop begins at 1, so that the position before exists.",
    starts="not at the start",
)
exercise.option(
    "steps_of_two",
    "Your pair is joined only where its left symbol is the first, third or fifth of "
    "the word.",
    "By how much does the position move where nothing has been joined?",
    why="`range(0, len(symbols), 2)`: a pair has two symbols.",
    starts="in steps of two",
)
exercise.option(
    "text_replaced",
    "Your pair is joined with parts of symbols: for (b, c) also the b of ab with c.",
    'In the text "ab c", which signs does `replace` find when it looks for "b c"?',
    why="' '.join(symbols).replace(' '.join(pair), ''.join(pair)) is the short way. "
    "The paper's program has a longer pattern to prevent it, often left out.",
    read="text",
)
exercise.option(
    "pattern_not_escaped",
    "Your full stop stands for any sign, as in a regular expression.",
    'What does the pattern ". 5" find in the text "x 5"?',
    why="The pair goes into a pattern without re.escape.",
    read="pattern",
)
exercise.option(
    "pattern_not_escaped_in_the_text",
    "Your pair is replaced by `re.sub` in a text: a full stop stands for any sign, and "
    "parts of symbols are joined too.",
    'What does the pattern ". 5" find in the text "x 5", and "b c" in "ab c"?',
    why="re.sub(' '.join(pair), ''.join(pair), ' '.join(symbols)) is the shortest way "
    "to write the paper's program, without its re.escape and its edges.",
    read="pattern in the text",
)
exercise.option(
    "letters_for_symbols",
    "Your words are taken apart into single signs before the pair is joined: what was "
    "joined earlier is lost.",
    "What does ''.join(symbols) forget about a word?",
    why="Before the first merge every symbol is one sign, and the word can be treated "
    "as a text.",
    read="letters",
)
exercise.option(
    "made_text_compared",
    "Your symbols are joined wherever they make the same text as the pair: a and bc "
    "for the pair (ab, c).",
    "Can two different pairs make the same text?",
    why="tiktoken finds merges by what comes out, which is not the same (minbpe, issue "
    "11).",
    fits="made text",
)
exercise.option(
    "direction_ignored",
    "Your pair is joined in both directions: also where the right symbol comes first.",
    "Does a text in which a stands before t have the pair (t, a)?",
    why="The pair is compared as a set, or sorted.",
    fits="in any order",
)
exercise.option(
    "turned_pair_becomes_the_pair",
    "Your pair is joined in both directions, and t a becomes at for the pair (a, t).",
    "Does a text in which a stands before t have the pair (t, a)?",
    why="The pair is compared as a set, and pair[0] + pair[1] is written.",
    fits="as the pair in any order",
)
exercise.option(
    "each_symbol_in_the_pair",
    "Any two symbols of the pair are joined: for (a, t) also a and a.",
    "Which symbol has to be the left one?",
    why="`in pair` is asked of each of the two symbols.",
    fits="each in the pair",
)
exercise.option(
    "left_symbol_is_enough",
    "Your words have the pair's left symbol joined to any symbol after it.",
    "What must the second symbol be for the two to be joined?",
    why="The search for the left symbol is written, and the right one is forgotten.",
    fits="left",
)
exercise.option(
    "right_symbol_is_enough",
    "Your words have the pair's right symbol joined to any symbol before it.",
    "What must the first symbol be for the two to be joined?",
    why="`symbols[i] and symbols[i + 1] == right` compares only once.",
    fits="right",
)
exercise.option(
    "mark_ignored",
    "Your symbols count as equal with and without the mark </w>.",
    "Why does the course write t</w> and t as two different symbols?",
    why="The mark looks like a remark about a word, not like a part of the symbol.",
    fits="without mark",
)
exercise.option(
    "equal_symbols_left_apart",
    "Your words have a pair of two equal symbols left apart.",
    "Does the docstring ask for the two symbols to differ?",
    why="A guard against overlapping positions goes too far.",
    fits="of different symbols",
)
exercise.option(
    "right_symbol_first",
    "Your joined symbols have the right symbol of the pair first.",
    "In which order do the two stand in the word?",
    why="Popping symbols off the end turns their order round.",
    made="right first",
)
exercise.option(
    "joined_with_a_blank",
    "Your joined symbols have a blank inside.",
    "How is the new symbol written in the docstring's example?",
    why="Files of merges, such as GPT-2's and subword-nmt's, write a pair with a blank "
    "between its symbols.",
    made="with a blank",
)
exercise.option(
    "mark_lost",
    "Your joined symbols have lost the mark </w>.",
    "How could one tell where a word ends, after its last pair was joined?",
    why="The mark is taken off to join the letters, and not put on again.",
    made="without mark",
)
exercise.option(
    "tuple_for_joined_text",
    "Your words have the pair as a tuple of two among their symbols.",
    "Which type has the new symbol in the docstring's example?",
    why="`merged.append(pair)`: the pair is at hand, and its joined text is not.",
    made="tuple",
)
exercise.option(
    "pair_taken_out",
    "Your words lack the two symbols, joined or not, where the pair stood.",
    "What takes the position of the two symbols?",
    why="The position moves on by two, and nothing is written down.",
    made="nothing",
)
exercise.option(
    "right_symbol_lost",
    "Your words have the left symbol alone where the pair stood.",
    "What does one get when the parts of your word are put together?",
    why="`merged.append(symbols[position])` serves both branches.",
    made="left",
)
exercise.option(
    "pair_kept_beside",
    "Your words have both symbols of the pair and the joined one.",
    "How many symbols should aat have after a and t have been joined?",
    why="The joined symbol is added, and the two are not left out.",
    made="beside",
)
exercise.option(
    "last_symbol_lost",
    "Your words lack their last symbol, unless it was joined.",
    "Which symbol does a loop never reach that ends where no pair can start?",
    why="The loop ends at len(symbols) - 1, so that position + 1 exists, and nothing "
    "adds the symbol that remains.",
    last="lost",
)
exercise.option(
    "last_symbol_twice",
    "Your words have their last symbol once more at the end.",
    "When is the last symbol still to be added after the loop?",
    why="The symbol that a loop over pairs leaves over is always added.",
    last="twice",
)
exercise.option(
    "reaches_beyond_the_end",
    "Your call raises an error at a last symbol that is not joined: nothing stands to "
    "its right.",
    "What is `symbols[position + 1]` at the last position?",
    why="Both symbols are read before anything asks whether there are two.",
    last="read on",
)
exercise.option(
    "reaches_beyond_a_left_symbol",
    "Your call raises an error where the word ends in the pair's left symbol.",
    "What is `symbols[position + 1]` at the last position?",
    why="`symbols[i] == left and symbols[i + 1] == right`: right until the end.",
    last="read on after left",
)
exercise.option(
    "list_returned",
    "Your words are lists.",
    "Which of the two can be a key of a dictionary, a list or a tuple?",
    why="A list can grow, so the new word is one; the Hugging Face course keeps its "
    "words in lists.",
    returns="list",
)
exercise.option(
    "list_where_joined",
    "Your words are lists where something was joined, else tuples.",
    "Which of the two can be a key of a dictionary, a list or a tuple?",
    why="An early `return symbols` hides that the other one returns a list.",
    without_the_pair="tuple, else list",
)
exercise.option(
    "none_without_the_pair",
    "Your result is None where the word does not have the pair.",
    "What should come back if there is nothing to join?",
    why="`return` stands in the branch that joins, and none after the loop.",
    without_the_pair="None",
)
exercise.option(
    "text_returned",
    "Your words are texts: the symbols are put together.",
    "What tells the symbols apart in your result?",
    why="''.join(merged) makes a word that one can read.",
    returns="text",
)
exercise.option(
    "text_with_blanks_returned",
    "Your words are texts with blanks between the symbols.",
    "Which type has the word in the docstring's example?",
    why="The program printed in Sennrich et al. (2016) keeps words in this way.",
    returns="with blanks",
)
