"""Cases and misconceptions of ``pair_counts``."""

from itertools import combinations

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


exercise.edits(
    """
word_frequency_ignored: counts[pair] = counts.get(pair, 0) + 1
  Your counts take every word once, however often it occurs in the text.
  ? How often does the pair stand in the whole text, if a word that has it occurs
    three times?
  # The loop runs over the dictionary's keys, so each word comes by once.
weighted_by_length: counts[pair] = counts.get(pair, 0) + count * len(''.join(symbols))
  Your counts grow by a word's count times its number of letters.
  ? By how much does one position of a pair in a word add to the pair's count?
  # How much of a text a word takes up is mixed up with how often it occurs.
pairs_across_words:
  | for symbols, …
  :     for …
  :  … ->
  :     text = [
  :         symbol for symbols, count in words.items() for symbol in symbols * count
  :     ]
  :     for pair in pairwise(text):
  :         counts[pair] = counts.get(pair, 0) + 1
  Your pairs reach from the end of one word to the start of the next.
  ? Do two words of a dictionary stand next to each other in the text?
  # minbpe's first tokenizer counts along the whole text in this way; here words are
    apart.
last_pair_missing: pairwise(symbols) -> pairwise(symbols[:-1])
  Your counts leave out the last pair of each word.
  ? How many pairs does a word of three symbols have?
  # range(len(symbols) - 2): two is taken off for the two symbols of a pair.
first_pair_missing: pairwise(symbols) -> pairwise(symbols[1:])
  Your counts leave out the first pair of each word.
  ? Which pair does a word of two symbols have?
  # A loop starts at 1 because of position - 1, and then reads position + 1.
first_pair_only: pairwise(symbols) -> pairwise(symbols[:2])
  Your counts have only the first pair of each word.
  ? How many pairs does a word of three symbols have?
  # symbols[0] and symbols[1] are written down, or a `return` comes too early.
every_other_position: pairwise(symbols) -> zip(symbols[::2], symbols[1::2])
  Your pairs do not share symbols: first with second, third with fourth.
  ? Next to which symbols does a word's second symbol stand?
  # Cutting a word into twos is what pairs sounds like; zip(symbols[::2],
    symbols[1::2]) does that.
second_next_symbol: pairwise(symbols) -> zip(symbols, symbols[2:])
  Your pairs have one symbol of the word between their two.
  ? Which symbols of eat stand directly next to each other?
  # zip(symbols, symbols[2:]): a pair has two symbols, so 2 looks right.
any_two_symbols: pairwise(symbols) -> combinations(symbols, 2)
  Your pairs are all pairs of symbols of a word, also of symbols that stand apart.
  # itertools.combinations gives pairs, and so do two nested loops.
last_with_first:
  | for pair … ->
  :     for position in range(len(symbols)):
  :         pair = (symbols[position - 1], symbols[position])
  Your counts have one more pair for each word: its last symbol with its first.
  ? What is `symbols[position - 1]` where `position` is 0?
  # Python reads position -1 as the last, so a loop that reaches back does not stop.
letters_for_symbols: pairwise(symbols) -> pairwise(''.join(symbols))
  Your pairs are pairs of single signs: symbols of several letters are taken apart.
  ? What are a word's symbols after some of them have been joined?
  # Before the first merge letters and symbols are the same, and ''.join(symbols) does
    no harm.
last_symbol_alone:
  | for pair … ->
  :     for position in range(len(symbols)):
  :         pair = symbols[position:position + 2]
  Your counts have the last symbol of each word alone, in a tuple of one.
  ? How long is `symbols[position : position + 2]` at the last symbol?
  # A slice that reaches beyond the end is short, and raises no error.
reaches_beyond_the_end:
  | for pair … ->
  :     for position in range(len(symbols)):
  :         pair = (symbols[position], symbols[position + 1])
  Your call raises an error at a word's last symbol, which has none to its right.
  ? At which position of a word of three symbols does its last pair start?
  # range(len(symbols)) together with symbols[position + 1].
once_per_word: pairwise(symbols) -> set(pairwise(symbols))
  Your counts take a pair once per word, also where it stands there twice.
  ? At how many positions of banana does the pair (a, n) stand?
  # GPT-2's encoder collects a word's pairs in a set: there that is right, and the
    line is copied.
overlaps_left_out:
  | for pair … ->
  :     before = None
  :     for pair in pairwise(symbols):
  :         if pair == before:
  :             before = None
  :             continue
  :         before = pair
  Your counts leave out positions that overlap the position before.
  ? At how many positions of aaa does an a stand to the left of an a?
  # Only so many can be joined; minbpe, issue 51 and pull request 72, argue for
    counting so, and SentencePiece does. The docstring says otherwise.
pair_after_equal_symbols_left_out:
  | for pair … ->
  :     after_equal = False
  :     for pair in pairwise(symbols):
  :         if after_equal:
  :             after_equal = False
  :             continue
  :         after_equal = pair[0] == pair[1]
  Your counts leave out the pair after one of two equal symbols: in aab, a with b.
  ? Which pairs does the word aab have?
  # The position moves on by two, as in a merge, to count no symbol twice.
equal_symbols_left_out:
  | for pair … ->
  :     for pair in pairwise(symbols):
  :         if pair[0] == pair[1]:
  :             continue
  Your counts have no pairs of two equal symbols.
  ? Does the docstring ask for the two symbols to differ?
  # A guard against overlaps goes too far: in SentencePiece, issue 318, the count of
    (a, a) in aaa was 0.
right_symbol_first: pairwise(symbols) -> pairwise(symbols[::-1])
  Your pairs have the right symbol first.
  ? Which symbol does the docstring name first?
  # symbols[position] and symbols[position - 1], in the order of writing.
direction_ignored:
  | for pair … ->
  :     for pair in pairwise(symbols):
  :         pair = tuple(sorted(pair))
  Your pairs have their two symbols in the order of the alphabet: (a, b) and (b, a)
    are one.
  ? Would joining n and a give the same symbol as joining a and n?
  # Counts of words that occur together have no left and right, and are kept under
    sorted pairs.
both_directions:
  | counts[pair] = … ->
  :     for each in (pair, pair[::-1]):
  :         counts[each] = counts.get(each, 0) + count
  Your counts take each pair in both directions, as (a, b) and as (b, a).
  ? Does the word at have the pair (t, a)?
  # Each symbol is asked for the one before it and the one after it.
pairs_as_one_text:
  | for pair … ->
  :     for pair in pairwise(symbols):
  :         pair = ''.join(pair)
  Your pairs are written as one text, so that (ab, c) and (a, bc) are one.
  ? Which two different pairs give the text abc?
  # tiktoken looks up what two tokens make together, not which two they are (minbpe,
    issue 11, on why the two can differ).
pairs_with_a_blank:
  | for pair … ->
  :     for pair in pairwise(symbols):
  :         pair = ' '.join(pair)
  Your pairs are texts with a blank between the two symbols.
  ? Which type has a pair in the docstring's example?
  # Files of merges write a pair in this way, and so does the paper's program.
overwritten: counts[pair] = count
  Your count of a pair is that of its last position in the words, not a sum.
  ? What becomes of the count of a pair that an earlier word had already?
  # `counts[pair] = count` where the count had to be added to.
first_count_kept: counts[pair] = … -> counts.setdefault(pair, count)
  Your count of a pair is that of its first position in the words, not a sum.
  ? What should a later word do to the count of a pair that is there already?
  # `if pair not in counts` or setdefault without adding afterwards.
largest_count_kept: counts[pair] = max(counts.get(pair, 0), count)
  Your count of a pair is the largest of the counts at its positions, not a sum.
  ? How often does a pair occur that stands in one word 3 times and in another 2?
  # The most frequent pair is the aim, and `max` comes in too early.
first_position_counts_1: counts[pair] = counts[pair] + count if pair in counts else 1
  The first position of each pair adds 1 to your counts.
  ? What does a pair's very first position add, in a word that occurs 4 times?
  # `else: counts[pair] = 1` is the usual line where each thing counts once.
later_positions_count_1: counts[pair] = counts[pair] + 1 if pair in counts else count
  Each position of a pair but its first adds 1 to your counts.
  ? What does a second word that has the pair add to its count?
  # `counts[pair] += 1` is the usual line where each thing counts once.
first_position_lost: counts[pair] = counts[pair] + count if pair in counts else 0
  The first position of each pair adds nothing to your counts.
  ? What is the count of a pair after its very first position?
  # `if pair not in counts: counts[pair] = 0`, and `else` in front of the sum.
one_too_many: counts.get(pair, 0) -> counts.get(pair, 1)
  Your counts are larger by 1.
  ? How often has a pair occurred before its very first position?
  # `counts.get(pair, 1)`: a count is taken to begin at 1.
items_returned: return list(counts.items())
  Your result is a list of pairs with their counts.
  ? Which type does the docstring promise?
  # `list(counts.items())` prints the same numbers.
ranked_items_returned: return sorted(counts.items(), key=lambda item: -item[1])
  Your result is a list of pairs with their counts, the most frequent first.
  # `Counter.most_common()` returns such a list.
pairs_without_counts: return list(counts)
  Your result is a list of pairs without their counts.
  ? Could one tell from your result which pair is the most frequent?
  # `list(counts)` and `sorted(counts)` have the keys only.
most_frequent_pair_only: return max(counts, key=counts.get, default=None)
  Your result is one pair, the most frequent one.
  ? Does the docstring ask for the counts, or for their winner?
  # The next step of training asks for the winner.
shares_returned:
  | return {pair: count / sum(counts.values()) for pair, count in counts.items()}
  Your numbers are shares: they sum to 1.
  ? How often does the pair occur, as an integer?
  # Frequencies are often given as shares of the whole.
rare_pairs_left_out: return {pair: count for pair, count in counts.items() if count > 1}
  Your result has no pairs with a count of 1.
  ? Does the docstring leave out any pair?
  # Training ends where no pair occurs twice, and that rule comes in too early.
short_words_removed:
  | for symbols, … ->
  :     for symbols, count in list(words.items()):
  :         if len(symbols) < 2:
  :             del words[symbols]
  Your call takes words of one symbol out of the dictionary that you were given.
  ? Whose dictionary is it that `del` and `pop` take words out of?
  # Words that are one token already need no more work, so they are removed.
words_used_up:
  | for symbols, … ->
  :     while words:
  :         symbols, count = words.popitem()
  Your call leaves the dictionary that you were given empty.
  ? Whose dictionary is it that `popitem` takes words out of?
  # `while words` with `words.popitem()` is a handy way to take one at a time.
""",
    combinations=combinations,
)
