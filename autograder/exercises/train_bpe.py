"""Cases and misconceptions of ``train_bpe``."""

from itertools import pairwise

from autograder import Exercise
from course_lib.bpe import merge_pair, train_bpe

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


@exercise.right_answer
def by_counting(words, n_merges):
    merges = []
    while len(merges) < n_merges:
        counts = {}
        for symbols, count in words.items():
            for pair in pairwise(symbols):
                counts[pair] = counts.get(pair, 0) + count
        best = max(counts, key=lambda pair: (counts[pair], pair), default=None)
        if best is None or counts[best] < 2:
            break
        merges.append(best)
        merged = {}
        for symbols, count in words.items():
            shorter = merge_pair(symbols, best)
            merged[shorter] = merged.get(shorter, 0) + count
        words = merged
    return merges


exercise.edits(
    """
first_seen_wins: lambda pair: (counts[pair], pair) -> counts.get
  Your pair among equal counts is the one that is seen first in the words.
  ? Which of several pairs with the same count does the docstring ask for?
  # max gives the first of several; minbpe and the Hugging Face course leave it at
    that, so the order of the words decides (minbpe, pull request 90).
last_seen_wins:
  | max(counts, key=lambda pair: (counts[pair], pair), default=None) ->
  :     max(reversed(counts), key=counts.get, default=None)
  Your pair among equal counts is the one that is seen last in the words.
  # `>=` in a loop over the counts, or the end of a list sorted by counts alone.
smallest_wins:
  | max(counts, key=lambda pair: (counts[pair], pair) ->
  :     min(counts, key=lambda pair: (-counts[pair], pair)
  Your pair among equal counts is the first in Python's order.
  ? Which of several pairs with the same count does the docstring ask for, and what
    does `sorted` put first?
  # sorted by (-count, pair) is the usual way to rank; Hugging Face tokenizers take
    the smaller numbers first too.
joined_texts_ordered: (counts[pair], pair) -> (counts[pair], ''.join(pair))
  Your pairs of equal counts are ordered by the text that they make together.
  ? How does Python compare two tuples, and where does that differ from comparing the
    joined texts?
  # A pair is remembered by the token that it makes; the two orders differ only where
    the left symbols differ in length.
right_symbols_ordered: (counts[pair], pair) -> (counts[pair], pair[::-1])
  Your pairs of equal counts are ordered by their right symbols.
  ? Which part of two tuples does Python compare first?
  # `pair[::-1]`, or a loop that keeps the right symbol in front.
left_symbols_ordered: (counts[pair], pair) -> (counts[pair], pair[0])
  Your pairs of equal counts are ordered by their left symbols alone.
  ? Which of two pairs that begin alike is last in Python's order?
  # `pair[0]` as the key decides every tie of the short examples.
longest_of_equal_counts:
  | (counts[pair], pair) -> (counts[pair], len(''.join(pair)), pair)
  Your pair among equal counts is the one that makes the longest symbol.
  ? Which of several pairs with the same count does the docstring ask for?
  # Long symbols save more, so the longest looks like the best.
rarest_first:
  | max(counts, key=lambda pair: (counts[pair], pair), default=None) ->
  :     max([pair for pair in counts if counts[pair] >= 2], key=lambda pair:
  :     (-counts[pair], pair), default=None)
  Your pairs are the rarest of those that are frequent enough.
  ? Which pair saves the most symbols?
  # `min` for `max`, or a sorted list that is read from the other end.
last_pair_of_all:
  | max(counts, key=lambda pair: (counts[pair], pair), default=None) ->
  :     max(counts, default=None)
  Your pair is the last in Python's order of all pairs, whatever the counts are.
  ? What does `max` compare if it is given a dictionary and nothing else?
  # `max(counts)` compares the keys.
longest_first:
  | max(counts, key=lambda pair: (counts[pair], pair), default=None) ->
  :     max([pair for pair in counts if counts[pair] >= 2], key=lambda pair:
  :     (len(''.join(pair)), counts[pair], pair), default=None)
  Your pairs are those that make the longest symbols.
  ? What does the docstring ask of the pair in each step?
  # Fewer tokens are the aim, so the longest one looks like the best.
word_piece_scores:
  | counts = pair_counts(words) ->
  :     counts = pair_counts(words)
  :     single = {}
  :     for symbols, count in words.items():
  :         for symbol in symbols:
  :             single[symbol] = single.get(symbol, 0) + count
  | max(counts, key=lambda pair: (counts[pair], pair), default=None) ->
  :     max([pair for pair in counts if counts[pair] >= 2], key=lambda pair:
  :     (counts[pair] / (single[pair[0]] * single[pair[1]]), pair), default=None)
  Your first pair is not the most frequent: counts are divided by those of the two
    symbols.
  ? Does byte-pair encoding ask how often a pair occurs, or how surprising it is?
  # WordPiece, the other method of that time, scores so in the Hugging Face course,
    and the two are mixed up.
counted_once:
  | while len(merges) < n_merges:
  :     counts = … ->
  :     counts = pair_counts(words)
  :     while len(merges) < n_merges:
  | merged: …
  : for symbols, …
  :     shorter = …
  :     merged[shorter] = …
  : words = merged -> del counts[best]
  Your pairs are the most frequent ones of the words as they were at the start.
  ? Which pairs has a word after two of its symbols have become one?
  # The counting stands before the loop, where it is faster.
old_counts_kept:
  | while len(merges) < n_merges:
  :     counts = … ->
  :     counts = pair_counts(words)
  :     while len(merges) < n_merges:
  | merges.append(best) ->
  :     merges.append(best)
  :     del counts[best]
  | merged[shorter] = … ->
  :     merged[shorter] = merged.get(shorter, 0) + count
  :     if shorter != symbols:
  :         for pair in pairwise(shorter):
  :             if ''.join(best) in pair:
  :                 counts[pair] = counts.get(pair, 0) + count
  Your counts grow by the pairs that a merge makes, and never lose those that it takes
    away.
  ? What becomes of the pair (a, b) of abc when b and c have been joined?
  # Counts that are brought up to date in place of counting again forget one side;
    minbpe, pull request 88, and UniqToken, issue 8, are about such counts.
old_neighbours_counted:
  | while len(merges) < n_merges:
  :     counts = … ->
  :     counts = pair_counts(words)
  :     while len(merges) < n_merges:
  | merged[shorter] = … ->
  :     merged[shorter] = merged.get(shorter, 0) + count
  :     i = 0
  :     while i < len(symbols) - 1:
  :         if symbols[i : i + 2] == best:
  :             changes = []
  :             if i > 0:
  :                 changes.append(
  :                     (symbols[i - 1 : i + 1], (symbols[i - 1], "".join(best)))
  :                 )
  :             if i + 2 < len(symbols):
  :                 changes.append(
  :                     (symbols[i + 1 : i + 3], ("".join(best), symbols[i + 2]))
  :                 )
  :             for before, after in changes:
  :                 counts[before] = counts.get(before, 0) - count
  :                 counts[after] = counts.get(after, 0) + count
  :             i += 1
  :         i += 1
  | words = merged ->
  :     words = merged
  :     del counts[best]
  Your counts miss the pair of two joined symbols side by side: in cbcb, (cb, cb).
  ? Which symbols stand next to the second cb when both have been joined?
  # Counts are brought up to date with the neighbours that a pair had before.
equal_counts_at_once:
  | merges.append(best)
  : merged: …
  : for symbols, …
  :     shorter = …
  :     merged[shorter] = …
  : words = merged ->
  :     tied = [pair for pair in counts if counts[pair] == counts[best]]
  :     for best in sorted(tied, reverse=True):
  :         merges.append(best)
  :         merged = {}
  :         for symbols, count in words.items():
  :             shorter = merge_pair(symbols, best)
  :             merged[shorter] = merged.get(shorter, 0) + count
  :         words = merged
  | return merges[:n_merges]
  Your pairs with the same count are all joined before you count again.
  ? Do the other pairs still occur as often, after the first of them was joined?
  # It is faster: minbpe, issues 69 and 95, propose it, and the answer there says what
    goes wrong.
word_frequency_ignored: pair_counts(words) -> pair_counts(dict.fromkeys(words, 1))
  Your counts take every word once, however often it occurs.
  ? What do the numbers in `words` say about the text?
  # The loop runs over the dictionary's keys and adds 1.
""",
)
exercise.edits(
    """
overlaps_left_out:
  | for pair … ->
  :     before = None
  :     for pair in pairwise(symbols):
  :         if pair == before:
  :             before = None
  :             continue
  :         before = pair
  Your counts leave out positions that overlap the position before.
  ? How often does aaa have the pair (a, a), as `pair_counts` counts it?
  # Only so many can be joined; minbpe, issue 51 and pull request 72, and
    SentencePiece count in this way.
once_per_word: pairwise(symbols) -> set(pairwise(symbols))
  Your counts take a pair once per word, also where it stands there twice.
  ? At how many positions of banana does the pair (a, n) stand?
  # GPT-2's encoder collects a word's pairs in a set, and the line is copied.
last_pair_of_words_missing: pairwise(symbols) -> pairwise(symbols[:-1])
  Your counts leave out the last pair of each word.
  ? How many pairs does a word of three symbols have?
  # range(len(symbols) - 2): two is taken off for the two symbols of a pair.
""",
    of=by_counting,
)
exercise.edits(
    """
pairs_across_words:
  | merges: … ->
  :     merges = []
  :     text = [
  :         symbol for symbols, count in words.items() for symbol in symbols * count
  :     ]
  :     words = {tuple(text): 1}
  Your pairs reach from the end of one word to the start of the next.
  ? Do two words of a dictionary stand next to each other in the text?
  # minbpe's first tokenizer trains on a text as one long sequence.
text_replaced:
  | shorter = tuple(' '.join(symbols).replace(' '.join(best), ''.join(best)).split())
  Your pairs are joined as texts, also with parts of longer symbols: for (a, n) the a
    of ba with n.
  ? In the text "ba n", which signs does `replace` find when it looks for "a n"?
  # The paper's program keeps words as texts; copies of it leave out the pattern that
    finds whole symbols only.
first_position_only:
  | shorter = … ->
  :     shorter = symbols
  :     if best in pairwise(symbols):
  :         i = list(pairwise(symbols)).index(best)
  :         shorter = (*symbols[:i], ''.join(best), *symbols[i + 2:])
  Your pairs are joined at their first position in each word only.
  ? At how many positions of banana does n stand to the left of a?
  # `index` finds one position, and the loop over a word ends there.
joined_from_the_right:
  | shorter = … ->
  :     shorter = symbols
  :     for i in range(len(symbols) - 2, -1, -1):
  :         if shorter[i:i + 2] == best:
  :             shorter = (*shorter[:i], ''.join(best), *shorter[i + 2:])
  Your aaa becomes a aa: words are joined from their right end.
  ? From which end does `merge_pair` read a word?
  # Going backwards does not move the positions that are still to do.
runs_joined_whole:
  | shorter = … ->
  :     shorter = symbols[:1]
  :     for pair in pairwise(symbols):
  :         if pair == best:
  :             shorter = (*shorter[:-1], shorter[-1] + pair[1])
  :         else:
  :             shorter = (*shorter, pair[1])
  Your aaa becomes one symbol when (a, a) is joined.
  ? How many symbols does one joining use up?
  # What has been joined is joined to the next symbol again.
nothing_joined:
  | while len(merges) < n_merges: -> while len(merges) < n_merges:
  | merges.append(best)
  : merged: …
  : for symbols, …
  :     shorter = …
  :     merged[shorter] = …
  : words = merged -> merges.append(best)
  Your words keep the symbols that they had at the start: the same pair is learned
    again and again.
  ? What do the words look like after the first pair has been learned?
  # The joined words are made, and the loop goes on with the old ones.
equal_words_overwritten: merged[shorter] = count
  Your counts lose a word when another word becomes equal to it.
  ? What does a dictionary keep when the same key is written to twice?
  # The paper's program writes each word to a new dictionary, where one of two equal
    words is lost: rohitg00/ai-engineering-from-scratch, pull request 47.
first_of_equal_words_kept: merged[shorter] = … -> merged.setdefault(shorter, count)
  Your counts keep only the first of words that become equal.
  ? How often does a word occur that two others have become?
  # `setdefault`, or `if shorter not in after`, without adding afterwards.
pairs_that_occur_once: best is None or counts[best] < 2 -> best is None
  Your list goes on with pairs that occur only once.
  ? How often must a pair occur, as the docstring says, to be learned?
  # minbpe and the Hugging Face course go on as long as there are pairs.
pairs_that_occur_twice_refused: counts[best] < 2 -> counts[best] <= 2
  Your list has no pairs that occur exactly twice.
  # `counts[best] <= 2` and `counts[best] > 2` are off by one.
one_rare_pair:
  | best is None or counts[best] < 2 -> best is None
  | words = merged ->
  :     words = merged
  :     if counts[best] < 2:
  :         break
  Your list has a pair more where it ends early: one that does not occur twice.
  ? What stands first in the loop: writing a pair down, or asking for its count?
  # The pair is appended, and then the loop ends because of it.
error_without_pairs:
  | , default=None ->
  | best is None or counts[best] < 2 -> counts[best] < 2
  Your call ends in a ValueError where there is no pair left.
  ? What does `max` do with an empty dictionary, and when is there one?
  # Seen in minbpe, pull request 54: a short text, and more merges than pairs.
index_error_without_pairs:
  | max(counts, key=lambda pair: (counts[pair], pair), default=None) ->
  :     sorted(counts, key=lambda pair: (counts[pair], pair))[-1]
  | best is None or counts[best] < 2 -> counts[best] < 2
  Your call ends in an IndexError where there is no pair left.
  ? What is the first entry of an empty list?
  # `sorted(…)[0]` and `most_common(1)[0]` take it for granted that there is one.
key_error_without_pairs: best is None or counts[best] < 2 -> counts[best] < 2
  Your call ends in a KeyError where there is no pair left.
  ? What is the count of the `default` that `max` gives?
  # `default=None` keeps max from stopping, and counts[None] stops one line later.
none_where_it_ends_early: break -> return None
  Your result is None where it ends early.
  ? What does the docstring promise if no words, or too few pairs, are there?
  # `return` stands where `break` was meant.
nothing_where_it_ends_early: break -> return []
  Your list is empty where it ends early: what was learned before is lost.
  ? What has been learned by then, and where is it?
  # `return []` is right without words, and stands inside the loop.
one_pair_too_many: len(merges) < n_merges -> len(merges) <= n_merges
  Your list has one pair more than was asked for.
  ? How long may the list be when the loop goes round once more?
  # `while len(merges) <= n_merges` goes round once too often.
one_pair_too_few: len(merges) < n_merges -> len(merges) < n_merges - 1
  Your list has one pair less than was asked for.
  ? How often does a loop over range(1, n_merges) go round?
  # The counting begins at 1, or the first pair is taken for the start.
one_pair_at_least:
  | while len(merges) < n_merges -> while True
  | words = merged ->
  :     words = merged
  :     if len(merges) >= n_merges:
  :         break
  Your list has a pair where none was asked for.
  ? How long is the list if `n_merges` is 0?
  # The end is asked for after a pair has been learned.
vocabulary_size_taken:
  | n_merges -= len({symbol for symbols in words for symbol in symbols})
  Your list is shorter by the number of different symbols in the words.
  ? Does `n_merges` count pairs, or the tokens of the whole vocabulary?
  # Most libraries ask for the vocabulary's size; subword-nmt has both, as an option
    (issue 54).
n_merges_ignored: while len(merges) < n_merges -> while True
  Your list goes on until no pair is frequent enough, whatever `n_merges` says.
  ? What does `n_merges` say about the length of your list?
  # `while True` with a `break` looks complete as soon as it ends.
tokens_returned: merges.append(best) -> merges.append(''.join(best))
  Your list holds the joined symbols, not the pairs.
  ? Can one tell from the symbol abc which two symbols it was made of?
  # The vocabulary is what people expect from training; bpeasy, issue 3, asks for the
    pairs, because they cannot be told from it.
texts_with_blanks_returned: merges.append(best) -> merges.append(' '.join(best))
  Your list holds texts with a blank between the two symbols.
  ? Which type does the docstring's example have, and what is in it?
  # Files of merges write a pair in this way, and so does the paper's program.
lists_for_pairs: merges.append(best) -> merges.append(list(best))
  Your list holds lists of two symbols.
  # A pair that was split off a text by `split` is a list.
tuple_returned: return tuple(merges)
  Your pairs come in a tuple.
  # Words and pairs are tuples, so the result becomes one too.
pairs_turned: merges.append(best) -> merges.append(best[::-1])
  Your pairs have the right symbol first.
  ? Which symbol does the docstring's example name first?
  # Popping symbols off the end turns their order round.
last_learned_first: merges.append(best) -> merges.insert(0, best)
  Your list has the pair first that was learned last.
  ? In which order does the docstring promise the pairs?
  # `insert(0, …)`, or a recursion that adds its pair at the end.
sorted_list: return sorted(merges)
  Your list is in Python's order of tuples.
  # A set of pairs is sorted so that it has an order at all.
counts_returned_too: merges.append(best) -> merges.append((best, counts[best]))
  Your list has a count with each pair.
  ? Which type does the docstring's example have, and what is in it?
  # `most_common` and `items` give pairs with their counts.
dictionary_of_counts:
  | merges: … -> merges = {}
  | merges.append(best) -> merges[best] = counts[best]
  Your result is a dictionary with the count of each pair.
  # A dictionary keeps its order, and the count is at hand.
dictionary_of_ranks:
  | merges: … -> merges = {}
  | merges.append(best) -> merges[best] = len(merges)
  Your result is a dictionary with the rank of each pair.
  # Encoders look up ranks: GPT-2's program keeps such a dictionary.
dictionary_of_joined_symbols:
  | merges: … -> merges = {}
  | merges.append(best) -> merges[best] = ''.join(best)
  Your result is a dictionary with the joined symbol of each pair.
  # The Hugging Face course keeps its merges in such a dictionary.
words_returned: return words
  Your result is the dictionary of words after the last joining.
  ? What should come back: what was learned, or what became of the words?
  # The loop ends with the new words, and they are returned.
words_returned_too: return (merges, words)
  Your result is a tuple: the pairs, and the words after the last joining.
  ? How many things does the docstring promise?
  # The words are of interest as well, so both are returned.
words_changed:
  | words = merged ->
  :     words.clear()
  :     words.update(merged)
  Your call changes the dictionary that you were given: it holds joined words now.
  ? Which of your lines changes a dictionary, and who else holds that dictionary?
  # Each word is replaced in the dictionary itself, and the caller's is the same.
""",
)

exercise.threes_of(
    "first_seen_wins",
    "last_seen_wins",
    "pairs_that_occur_once",
    "one_rare_pair",
    "error_without_pairs",
    "equal_words_overwritten",
)
