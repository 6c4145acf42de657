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


@exercise.right_answer
def text(symbols, pair):
    pattern = r"(?<!\S)" + re.escape(" ".join(pair)) + r"(?!\S)"
    text = re.sub(pattern, lambda match: "".join(pair), " ".join(symbols))
    return tuple(text.split())


exercise.edits(
    """
advanced_by_one: i += 2 -> i += 1
  Your words have the right symbol of the pair twice: joined, and again after it.
  ? Which symbol comes next, after two have been joined?
  # A for loop goes on by one, whether something was joined or not.
middle_used_twice: i += 2 -> i += 1 if tuple(symbols[i + 1:i + 3]) == pair else 2
  Your aaa is aa aa: the a in the middle is used twice.
  ? Can a symbol that has been joined to its left be joined to its right as well?
  # All positions are looked up first and joined afterwards; minbpe, issue 51, shows
    that there are more positions than can be joined.
symbol_after_the_pair_lost: i += 2 -> i += 3
  Your words lack the symbol that follows a joined pair.
  ? By how much does the position grow after two symbols have been joined?
  # The position grows by 2 in the branch and once more at the loop's end.
symbol_after_a_left_symbol_lost: i += 1 -> i += 1 + (symbols[i] == pair[0])
  Your loop takes two steps at the left symbol of the pair, also where no right one
    follows: the symbol behind it is lost.
  ? How many symbols have you used up where the pair is not there?
  # The step of two stands under the test of the left symbol alone.
from_the_right:
  | merged = [] ->
  :     merged = []
  :     symbols = symbols[::-1]
  | == pair -> == pair[::-1]
  | return tuple(merged[::-1])
  Your aaa is a aa: the word is joined from its right end.
  ? From which end does the docstring say that a word is read?
  # Going backwards does not move the positions that are still to do, so it is the
    usual advice for changing a list in a loop.
runs_joined_whole:
  | i += 2 ->
  :     i += 2
  :     while pair[0] == pair[1] and symbols[i:i + 1] == pair[:1]:
  :         merged[-1] += pair[0]
  :         i += 1
  Your aaa is one symbol: for the pair (a, a), a whole run of a is joined.
  ? How many symbols does one joining use up?
  # What has been joined is joined to the next symbol again.
first_position_only:
  | merged.append( …
  : i += 2 -> return (*merged, pair[0] + pair[1], *symbols[i + 2:])
  Your words have the pair joined at its first position only.
  ? At how many positions of banana does n stand to the left of a?
  # `return` stands inside the loop, or `index` finds one position; public copies of
    the paper's program do that.
last_position_only:
  | i = 0 -> i, last = (0, None)
  | merged.append(pair[0] … ->
  :     last = len(merged)
  :     merged += pair
  | return tuple(merged) ->
  :     if last is not None:
  :         merged[last:last + 2] = [pair[0] + pair[1]]
  :     return tuple(merged)
  Your words have the pair joined at its last position only.
  # The new word is made from the old one each time, so only the last one stays.
nothing_joined: return tuple(symbols)
  Your words come back as they were: the pair is not joined.
  ? What has become of the pair in the docstring's first example?
  # A list is compared with a tuple, and the two are never equal.
pair_at_the_end_missed:
  | tuple(symbols[i:i + 2]) == pair ->
  :     i + 2 < len(symbols) and tuple(symbols[i:i + 2]) == pair
  Your words have the pair left apart at their end.
  ? At which position of a word of four symbols does its last pair start?
  # `position < len(symbols) - 2`: one too many is taken off.
pair_at_the_start_missed:
  | tuple(symbols[i:i + 2]) == pair -> i > 0 and tuple(symbols[i:i + 2]) == pair
  Your words have the pair left apart at their start.
  ? At which position does a word's first pair start?
  # A loop begins at 1, so that the position before exists.
steps_of_two:
  | tuple(symbols[i:i + 2]) == pair -> i % 2 == 0 and tuple(symbols[i:i + 2]) == pair
  Your pair is joined only where its left symbol is the first, third or fifth of the
    word.
  ? By how much does the position move where nothing has been joined?
  # `range(0, len(symbols), 2)`: a pair has two symbols.
""",
)
exercise.edits(
    """
text_replaced: pattern = re.escape(' '.join(pair))
  Your pair is joined with parts of symbols: for (b, c) also the b of ab with c.
  ? In the text "ab c", which signs does `replace` find when it looks for "b c"?
  # ' '.join(symbols).replace(' '.join(pair), ''.join(pair)) is the short way. The
    paper's program has a longer pattern to prevent it, often left out.
pattern_not_escaped: re.escape(' '.join(pair)) -> ' '.join(pair)
  Your full stop stands for any sign, as in a regular expression.
  ? What does the pattern ". 5" find in the text "x 5"?
  # The pair goes into a pattern without re.escape.
pattern_not_escaped_in_the_text: pattern = ' '.join(pair)
  Your pair is replaced by `re.sub` in a text: a full stop stands for any sign, and
    parts of symbols are joined too.
  ? What does the pattern ". 5" find in the text "x 5", and "b c" in "ab c"?
  # re.sub(' '.join(pair), ''.join(pair), ' '.join(symbols)) is the shortest way to
    write the paper's program, without its re.escape and its edges.
empty_symbol_in_an_empty_word: text.split() -> text.split(' ')
  Your word of no symbols becomes one of an empty symbol.
  ? What does "".split(" ") return, and what "".split()?
  # With a blank as its argument, split gives back what join has joined, but for a word
    without symbols.
""",
    of=text,
)
exercise.edits(
    """
letters_for_symbols: symbols = tuple(''.join(symbols))
  Your words are taken apart into single signs before the pair is joined: what was
    joined earlier is lost.
  ? What does ''.join(symbols) forget about a word?
  # Before the first merge every symbol is one sign, and the word can be treated as a
    text.
made_text_compared:
  | tuple(symbols[i:i + 2]) == pair -> ''.join(symbols[i:i + 2]) == pair[0] + pair[1]
  Your symbols are joined wherever they make the same text as the pair: a and bc for
    the pair (ab, c).
  ? Can two different pairs make the same text?
  # tiktoken finds merges by what comes out, which is not the same (minbpe, issue 11).
direction_ignored:
  | tuple(symbols[i:i + 2]) == pair -> sorted(symbols[i:i + 2]) == sorted(pair)
  | pair[0] + pair[1] -> symbols[i] + symbols[i + 1]
  Your pair is joined in both directions: also where the right symbol comes first.
  ? Does a text in which a stands before t have the pair (t, a)?
  # The pair is compared as a set, or sorted.
turned_pair_becomes_the_pair:
  | tuple(symbols[i:i + 2]) == pair -> sorted(symbols[i:i + 2]) == sorted(pair)
  Your pair is joined in both directions, and t a becomes at for the pair (a, t).
  # The pair is compared as a set, and pair[0] + pair[1] is written.
each_symbol_in_the_pair:
  | tuple(symbols[i:i + 2]) == pair -> set(symbols[i:i + 2]) <= set(pair)
  | pair[0] + pair[1] -> ''.join(symbols[i:i + 2])
  Any two symbols of the pair are joined: for (a, t) also a and a.
  ? Which symbol has to be the left one?
  # `in pair` is asked of each of the two symbols.
left_symbol_is_enough:
  | tuple(symbols[i:i + 2]) == pair -> symbols[i] == pair[0]
  | pair[0] + pair[1] -> ''.join(symbols[i:i + 2])
  Your words have the pair's left symbol joined to any symbol after it.
  ? What must the second symbol be for the two to be joined?
  # The search for the left symbol is written, and the right one is forgotten.
right_symbol_is_enough:
  | tuple(symbols[i:i + 2]) == pair -> symbols[i + 1:i + 2] == pair[1:]
  | pair[0] + pair[1] -> symbols[i] + symbols[i + 1]
  Your words have the pair's right symbol joined to any symbol before it.
  ? What must the first symbol be for the two to be joined?
  # `symbols[i] and symbols[i + 1] == right` compares only once.
mark_ignored:
  | tuple(symbols[i:i + 2]) == pair ->
  :     [each.removesuffix('</w>') for each in symbols[i:i + 2]] ==
  :     [each.removesuffix('</w>') for each in pair]
  | pair[0] + pair[1] -> symbols[i] + symbols[i + 1]
  Your symbols count as equal with and without the mark </w>.
  ? Why does the course write t</w> and t as two different symbols?
  # The mark looks like a remark about a word, not like a part of the symbol.
equal_symbols_left_apart:
  | tuple(symbols[i:i + 2]) == pair ->
  :     pair[0] != pair[1] and tuple(symbols[i:i + 2]) == pair
  Your words have a pair of two equal symbols left apart.
  ? Does the docstring ask for the two symbols to differ?
  # A guard against overlapping positions goes too far.
right_symbol_first: pair[0] + pair[1] -> pair[1] + pair[0]
  Your joined symbols have the right symbol of the pair first.
  ? In which order do the two stand in the word?
  # Popping symbols off the end turns their order round.
joined_with_a_blank: pair[0] + pair[1] -> pair[0] + ' ' + pair[1]
  Your joined symbols have a blank inside.
  ? How is the new symbol written in the docstring's example?
  # Files of merges, such as GPT-2's and subword-nmt's, write a pair with a blank
    between its symbols.
mark_lost: pair[0] + pair[1] -> (pair[0] + pair[1]).removesuffix('</w>')
  Your joined symbols have lost the mark </w>.
  ? How could one tell where a word ends, after its last pair was joined?
  # The mark is taken off to join the letters, and not put on again.
tuple_for_joined_text: pair[0] + pair[1] -> pair
  Your words have the pair as a tuple of two among their symbols.
  ? Which type has the new symbol in the docstring's example?
  # `merged.append(pair)`: the pair is at hand, and its joined text is not.
pair_taken_out:
  | merged.append( …
  : i += 2 -> i += 2
  Your words lack the two symbols, joined or not, where the pair stood.
  ? What takes the position of the two symbols?
  # The position moves on by two, and nothing is written down.
right_symbol_lost: pair[0] + pair[1] -> pair[0]
  Your words have the left symbol alone where the pair stood.
  ? What does one get when the parts of your word are put together?
  # `merged.append(symbols[position])` serves both branches.
pair_kept_beside: merged.append(pair[0] … -> merged += [*pair, pair[0] + pair[1]]
  Your words have both symbols of the pair and the joined one.
  ? How many symbols should aat have after a and t have been joined?
  # The joined symbol is added, and the two are not left out.
last_symbol_lost: i < len(symbols) -> i < len(symbols) - 1
  Your words lack their last symbol, unless it was joined.
  ? Which symbol does a loop never reach that ends where no pair can start?
  # The loop ends at len(symbols) - 1, so that position + 1 exists, and nothing adds
    the symbol that remains.
last_symbol_twice: return (*merged, *symbols[-1:])
  Your words have their last symbol once more at the end.
  ? When is the last symbol still to be added after the loop?
  # The symbol that a loop over pairs leaves over is always added.
reaches_beyond_the_end:
  | tuple(symbols[i:i + 2]) == pair -> (symbols[i], symbols[i + 1]) == pair
  Your call raises an error at a last symbol that is not joined: nothing stands to its
    right.
  ? What is `symbols[position + 1]` at the last position?
  # Both symbols are read before anything asks whether there are two.
reaches_beyond_a_left_symbol:
  | tuple(symbols[i:i + 2]) == pair ->
  :     symbols[i] == pair[0] and symbols[i + 1] == pair[1]
  Your call raises an error where the word ends in the pair's left symbol.
  # `symbols[i] == left and symbols[i + 1] == right`: right until the end.
list_returned: return merged
  Your words are lists.
  ? Which of the two can be a key of a dictionary, a list or a tuple?
  # A list can grow, so the new word is one; the Hugging Face course keeps its words
    in lists.
list_where_joined: return merged if len(merged) < len(symbols) else symbols
  Your words are lists where something was joined, else tuples.
  # An early `return symbols` hides that the other one returns a list.
none_without_the_pair: return tuple(merged) if len(merged) < len(symbols) else None
  Your result is None where the word does not have the pair.
  ? What should come back if there is nothing to join?
  # `return` stands in the branch that joins, and none after the loop.
text_returned: return ''.join(merged)
  Your words are texts: the symbols are put together.
  ? What tells the symbols apart in your result?
  # ''.join(merged) makes a word that one can read.
text_with_blanks_returned: return ' '.join(merged)
  Your words are texts with blanks between the symbols.
  ? Which type has the word in the docstring's example?
  # The program printed in Sennrich et al. (2016) keeps words in this way.
""",
)
