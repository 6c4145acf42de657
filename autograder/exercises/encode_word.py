"""Cases and misconceptions of ``encode_word``."""

from itertools import pairwise, product

from autograder import Exercise
from course_lib.bpe import encode_word

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


@exercise.right_answer
def joining(word, merges):
    ranks = {pair: rank for rank, pair in enumerate(dict.fromkeys(merges))}
    while known := set(pairwise(word)) & ranks.keys():
        best = min(known, key=ranks.get)
        joined = []
        i = 0
        while i < len(word):
            if word[i : i + 2] == best:
                joined.append("".join(best))
                i += 2
            else:
                joined.append(word[i])
                i += 1
        word = tuple(joined)
    return list(word)


exercise.edits(
    """
longest_match:
  | ranks = …
  : while (known …
  :     word = … ->
  :     tokens = {left + right for left, right in merges}
  :     encoded = []
  :     while word:
  :         end = len(word)
  :         while end > 1 and ''.join(word[:end]) not in tokens:
  :             end -= 1
  :         encoded.append(''.join(word[:end]))
  :         word = word[end:]
  | return encoded
  Your tokens are the longest known ones that fit, cut off from the left.
  ? Of two pairs that could be joined, which one did training join first?
  # WordPiece encodes like this; on short words it mostly gives the same tokens.
passes_from_left_to_right:
  | while (known …
  :     word = … ->
  :     while set(pairwise(word)) & ranks.keys():
  :         joined = []
  :         while word:
  :             end = 2 if word[:2] in ranks else 1
  :             joined.append(''.join(word[:end]))
  :             word = word[end:]
  :         word = tuple(joined)
  Your known pairs are joined from left to right, whatever their ranks, in pass after
    pass.
  ? When two known pairs share a symbol, what decides which of them is joined?
  # rasbt/LLMs-from-scratch issue 558 and ztxz16/fastllm pull request 715, where more
    than half of the words came out differently.
one_pass_over_the_word:
  | while (known …
  :     word = … ->
  :     joined = []
  :     while word:
  :         end = 2 if word[:2] in ranks else 1
  :         joined.append(''.join(word[:end]))
  :         word = word[end:]
  :     word = tuple(joined)
  Your known pairs are joined from left to right, whatever their ranks, and what has
    been joined is not joined again.
  ? After two symbols have been joined, can the new one be part of a known pair?
  # One loop over the word seems to reach every pair.
leftmost_pair_first:
  | (set(pairwise(word)) & ranks.keys()) ->
  :     [pair for pair in pairwise(word) if pair in ranks]
  | min(known, key=ranks.__getitem__) -> known[0]
  Your word has the known pair joined first that stands first in it.
  ? Does the position in the word decide, or the position in the list of pairs?
  # A loop over the word that starts again after each joining does this.
rightmost_pair_first:
  | (set(pairwise(word)) & ranks.keys()) ->
  :     [pair for pair in pairwise(word) if pair in ranks]
  | min(known, key=ranks.__getitem__) -> known[-1]
  Your word has the known pair joined first that stands last in it.
  # A loop over the word overwrites what it has chosen.
most_frequent_pair_first:
  | (set(pairwise(word)) & ranks.keys()) ->
  :     [pair for pair in pairwise(word) if pair in ranks]
  | key=ranks.__getitem__ -> key=lambda pair: (-known.count(pair), ranks[pair])
  Your word has the pair joined first that occurs most often in it.
  ? Whose counts decided the order: this word's, or those of the training text?
  # Training takes the most frequent pair; its loop is copied for encoding.
most_frequent_pair_first_then_leftmost:
  | (set(pairwise(word)) & ranks.keys()) ->
  :     [pair for pair in pairwise(word) if pair in ranks]
  | min(known, key=ranks.__getitem__) -> max(known, key=known.count)
  Your word has the pair joined first that occurs most often in it, of several such
    pairs the leftmost.
  # Counter.most_common, or max over counts, takes the one that was met first.
latest_pair_first: min(known -> max(known
  Your word has the pair joined first that was learned last.
  ? Which of two pairs was more frequent in training: the earlier or the later one?
  # `max` over the ranks, or a list of pairs read from its end.
longest_pair_first:
  | min(known, key=ranks.__getitem__) ->
  :     max(known, key=lambda pair: (len(''.join(pair)), -ranks[pair]))
  Your word has the pair joined first that makes the longest token.
  ? Did training ask how long a token becomes?
  # Fewer tokens are the aim, so the longest one looks like the best.
last_pair_in_order_first: min(known, key=ranks.__getitem__) -> max(known)
  Your word has the pair joined first that is last in Python's order.
  ? What does `max` compare if it is given pairs and nothing else?
  # The rule for equal counts in training is taken for the order of encoding.
first_pair_in_order_first: min(known, key=ranks.__getitem__) -> min(known)
  Your word has the pair joined first that is first in Python's order.
  ? What does `min` compare if it is given pairs and nothing else?
  # `min(known)` compares the pairs themselves, not their ranks.
made_text_looked_up:
  | dict.fromkeys(merges) -> dict.fromkeys(map(''.join, merges))
  | (set(pairwise(word)) & ranks.keys()) ->
  :     [pair for pair in pairwise(word) if ''.join(pair) in ranks]
  | key=ranks.__getitem__ -> key=lambda pair: ranks[''.join(pair)]
  Your symbols are joined wherever they make the text of a known pair: a and bc for
    (ab, c).
  ? Can two different pairs make the same text?
  # tiktoken finds merges by what comes out (minbpe, issue 11).
direction_ignored:
  | dict.fromkeys(merges) -> dict.fromkeys(tuple(sorted(pair)) for pair in merges)
  | (set(pairwise(word)) & ranks.keys()) ->
  :     [pair for pair in pairwise(word) if tuple(sorted(pair)) in ranks]
  | key=ranks.__getitem__ -> key=lambda pair: ranks[tuple(sorted(pair))]
  Your symbols are joined in both directions: also where a pair's right symbol comes
    first.
  ? Does a word in which a stands before t have the pair (t, a)?
  # Pairs are compared as sets, or sorted.
first_pair_left_out: dict.fromkeys(merges) -> dict.fromkeys(merges[1:])
  Your tokens never have the first pair of the list joined.
  ? Which rank does the first pair have, and what does your code do with 0?
  # `if rank:` and `merges[1:]` leave out the merge of rank 0.
first_position_only:
  | word = merge_pair( … ->
  :     best = min(known, key=ranks.__getitem__)
  :     i = list(pairwise(word)).index(best)
  :     word = (*word[:i], ''.join(best), *word[i + 2:])
  :     del ranks[best]
  Your pairs are joined only once in the word each.
  ? What happens to a pair that stands in the word twice?
  # One joining per pair: `break` after the first position that fits.
pairs_of_the_start_only:
  | enumerate(dict.fromkeys(merges)) ->
  :     enumerate(dict.fromkeys(merges)) if pair in pairwise(word)
  Your tokens have only pairs of the word's first symbols joined: what came from
    joining stays.
  ? Which pairs does the word have after the first joining?
  # The set of pairs is made before the loop and not again inside it; GPT-2's program
    makes it again in each round.
one_joining_only: while (known … -> if (known := (set(pairwise(word)) & ranks.keys())):
  Your word has one pair joined, and no other after it.
  # `return` stands inside the loop, or there is no loop.
nothing_joined:
  | ranks = …
  : while (known …
  :     word = …
  : return list(word) -> return list(word)
  Your tokens are the symbols of the word.
  ? What has become of the pair in the docstring's example?
  # A list is compared with a tuple, and the two are never equal.
joined_from_the_right:
  | word = merge_pair( … ->
  :     best = min(known, key=ranks.__getitem__)
  :     for i in range(len(word) - 2, -1, -1):
  :         if word[i:i + 2] == best:
  :             word = (*word[:i], ''.join(best), *word[i + 2:])
  Your a a a becomes a and aa: joining begins at the right end.
  ? From which side did training read the word?
  # Going backwards keeps the positions right while a list gets shorter.
runs_joined_whole:
  | word = merge_pair( … ->
  :     best = min(known, key=ranks.__getitem__)
  :     joined = [word[0]]
  :     for pair in pairwise(word):
  :         if pair == best:
  :             joined[-1] += pair[1]
  :         else:
  :             joined.append(pair[1])
  :     word = tuple(joined)
  Your a a a becomes one token when (a, a) is joined.
  ? How many symbols does one joining use up?
  # What has been joined is joined to the next symbol again.
text_replaced:
  | word = merge_pair( … ->
  :     best = min(known, key=ranks.__getitem__)
  :     word = tuple(' '.join(word).replace(' '.join(best), ''.join(best)).split())
  Your pairs are joined inside a text: the end of one symbol and the start of the next
    count as a pair.
  ? In `ba n`, is there a symbol `a`?
  # `' '.join(word).replace(…)`; the listing in Sennrich et al. (2016) needs a regular
    expression with two look-arounds to keep clear of this.
""",
)
exercise.edits(
    """
joined_with_a_blank: ''.join(best) -> ' '.join(best)
  Your joined tokens have a blank inside.
  ? How is the joined token written in the docstring's example?
  # Files of merges write a pair with a blank between its symbols.
""",
    of=joining,
)
exercise.edits(
    """
letters_for_symbols:
  | ranks = … ->
  :     ranks = {pair: rank for rank, pair in enumerate(dict.fromkeys(merges))}
  :     word = tuple(''.join(word))
  Your symbols of several letters are taken apart: t</w> becomes t, <, /, w and >.
  ? How many symbols has the word that was handed in?
  # ''.join(word) makes a text, and a text is letters.
mark_added_again:
  | ranks = … ->
  :     ranks = {pair: rank for rank, pair in enumerate(dict.fromkeys(merges))}
  :     if word:
  :         word = (*word[:-1], word[-1] + '</w>')
  Your word has one mark </w> more at its end than it was given.
  ? Whose task is it to write the mark: that of spelling or that of joining?
  # CLIP's simple_tokenizer.py adds the mark inside its function for one word.
mark_removed:
  | ranks = … ->
  :     ranks = {pair: rank for rank, pair in enumerate(dict.fromkeys(merges))}
  :     word = tuple((symbol.removesuffix('</w>') for symbol in word))
  Your tokens have lost the mark </w>.
  ? How could one tell, from the tokens, where a word ends?
  # The mark is taken off to compare letters, and not put on again.
unknown_dropped:
  | return list(word) ->
  :     symbols = {symbol for pair in merges for symbol in (*pair, ''.join(pair))}
  :     return [symbol for symbol in word if symbol in symbols]
  Symbols that are in none of the pairs are missing from your tokens.
  ? Can the word be put together again from your tokens?
  # A look-up in the vocabulary that leaves out what it does not find.
unknown_replaced:
  | return list(word) ->
  :     symbols = {symbol for pair in merges for symbol in (*pair, ''.join(pair))}
  :     return [symbol if symbol in symbols else '<unk>' for symbol in word]
  Symbols that are in none of the pairs have become <unk> in your tokens.
  ? What does the docstring say of a symbol that did not occur in training?
  # Vocabularies of words have a token for all that is unknown.
unknown_pair_raises: (set(pairwise(word)) & ranks.keys()) -> set(pairwise(word))
  Your call ends in a KeyError where two neighbours were never learned as a pair.
  ? What should become of two neighbours that training never joined?
  # `ranks[pair]` in place of a look-up with a default value; GPT-2's program has
    infinity there.
rank_none_compared:
  | (set(pairwise(word)) & ranks.keys()) -> list(pairwise(word))
  | word = merge_pair( … ->
  :     best = min(known, key=ranks.get)
  :     if best not in ranks:
  :         break
  :     word = merge_pair(word, best)
  Your call ends in a TypeError where two neighbours were never learned as a pair.
  ? What does `ranks.get(pair)` give for a pair that is not there?
  # `min(…, key=ranks.get)` compares None with a number.
unknown_pair_ends_it:
  | (set(pairwise(word)) & ranks.keys()) -> set(pairwise(word))
  | word = merge_pair( … ->
  :     best = min(known, key=lambda pair: ranks.get(pair, -1))
  :     if best not in ranks:
  :         break
  :     word = merge_pair(word, best)
  Your joining ends as soon as the word has two neighbours that were never learned as
    a pair.
  ? Which rank should a pair have that was never learned: the first or the last?
  # `ranks.get(pair, -1)` puts it first, and the loop ends at it.
error_without_known_pairs:
  | while (known …
  :     word = … ->
  :     while True:
  :         known = set(pairwise(word)) & ranks.keys()
  :         word = merge_pair(word, min(known, key=ranks.__getitem__))
  Your call ends in a ValueError where the word has no known pair.
  ? What does `min` do with an empty list, and when is there one?
  # `min` is asked before anything asks whether a pair is left.
merges_used_up:
  | ranks = … ->
  :     ranks = {}
  :     while merges:
  :         ranks.setdefault(merges.pop(0), len(ranks))
  Your call leaves the caller's list of pairs empty.
  ? Whom else does the list of pairs belong to?
  # `merges.pop(0)` is a handy way to take one pair after the other.
one_symbol_returned_as_it_is:
  | if len(word) < 2:
  :     return word
  Your result is the word itself, a tuple, where it has one symbol or none.
  ? What does your code return when there is no pair in the word?
  # GPT-2's encoder.py has `if not pairs: return token`.
short_words_as_text:
  | if len(word) < 2:
  :     return ''.join(word)
  Your result is a text where the word has one symbol or none.
  # `return word[0]` is the only token, but no list.
tuple_returned: return word
  Your tokens come in a tuple.
  ? Which type has the result in the docstring's example?
  # `merge_pair` returns a tuple, and so does the loop around it.
text_returned: return ''.join(word)
  Your tokens are put together to one text.
  ? How many tokens does the docstring's example have?
  # ''.join(symbols) makes a word that one can read.
text_with_blanks_returned: return ' '.join(word)
  Your tokens come as one text with blanks between them.
  ? Which type has the result in the docstring's example?
  # subword-nmt prints tokens in this way.
each_token_once: return list(dict.fromkeys(word))
  Your tokens are listed once each, also where they occur twice.
  ? Can the word be put together again from your tokens?
  # A set or a dictionary of tokens is what vocabularies are made of.
sorted_tokens: return sorted(word)
  Your tokens are in Python's order of texts.
  ? In which order does the docstring promise the tokens?
  # A set of tokens is sorted so that it has an order at all.
""",
)
