"""Cases and misconceptions of ``encode_bytes``."""

import re
import unicodedata
from itertools import pairwise

from autograder import Exercise
from autograder.exercises.encode_word import exercise as encode_word_exercise
from course_lib.bpe import encode_word, merge_pair
from course_lib.byte_bpe import (
    ALPHABET,
    byte_vocabulary,
    encode_bytes,
    pre_tokens,
    spell_bytes,
)

exercise = Exercise(
    encode_bytes,
    lesson="06_byte_pair_encoding",
    minutes=20,
    difficulty=3,
    uses=("encode_word",),
    library=(
        "tokenizers.Tokenizer",
        "course_lib.fast_bpe.byte_encoder",
        "course_lib.fast_bpe._apply_merges",
    ),
)

# As training gives them: parts before what is made of them.
THE = [("a", "t"), ("Ġ", "t"), ("Ġt", "h"), ("Ġth", "e"), ("Ġ", "Ġ")]
# ä is the bytes Ã and ¤; the second byte of ß has no visible sign in Latin-1.
MANY = [*THE, ("Ã", "¤"), ("b", "c"), ("a", "b"), ("m", "at"), ("Ġ", "Ã¤")]

MANY += [("Ã", "Ł"), ("t", "!"), ("t", "Ċ")]
# In each of abc, xyz and pqr two pairs share a letter.
PAIRS = [("b", "c"), ("a", "b"), ("x", "y"), ("y", "z"), ("x", "yz")]

PAIRS += [("p", "q"), ("q", "r")]


@exercise.spec
def spec(text, merges, special_tokens=()):
    if "" in special_tokens:
        raise ValueError("an empty special token")
    text.encode()  # a UnicodeEncodeError, which is a ValueError, for half a pair
    token_ids, between, position = [], "", 0
    while position < len(text):
        fits = ""
        for special in special_tokens:
            if text[position:].startswith(special) and len(special) > len(fits):
                fits = special
        if not fits:
            between += text[position]
            position += 1
            continue
        token_ids += _token_ids_between(between, merges)
        token_ids.append(256 + len(merges) + special_tokens.index(fits))
        between = ""
        position += len(fits)
    return token_ids + _token_ids_between(between, merges)


def _token_ids_between(text, merges):
    """Encode text without special tokens; all symbols are token ids from the start."""
    id_of = {symbol: byte for byte, symbol in enumerate(ALPHABET)}
    pairs = []
    for rank, (left, right) in enumerate(merges):
        pairs.append((id_of[left], id_of[right]))
        id_of[left + right] = 256 + rank
    token_ids = []
    for pre_token in pre_tokens(text):
        part = list(pre_token.encode())
        for rank, (left, right) in enumerate(pairs):
            position = 0
            while position < len(part) - 1:
                if part[position] == left and part[position + 1] == right:
                    part[position : position + 2] = [256 + rank]
                position += 1
        token_ids += part
    return token_ids


@exercise.usual
def usual(rng):
    merges = [("Ã", "¤"), ("a", "t"), ("b", "c"), ("a", "b")]
    return "mät abc<b>at§", merges, ("§", "<b>")


@exercise.case("`at ä<end>` gives the token ids of at, a space, two bytes and <end>")
def small_example_by_hand(student, rng):
    token_ids = student("at ä<end>", [("a", "t")], ("<end>",))
    student.expect(token_ids, [256, 32, 195, 164, 257])


@exercise.case(
    "A letter that is not in ASCII has two to four token ids: its bytes", weight=0.5
)
def bytes_of_letters(student, rng):
    student.expect(student("ßé", []), [195, 159, 195, 169])
    student.expect(student("a猫🐦", []), [97, 231, 140, 171, 240, 159, 144, 166])
    merges = [("Ã", "¤"), spell_bytes("ß")]
    student.expect(student("ßä", merges), [257, 256])
    student.agrees("".join(rng.choice([*"aßé猫🐦"], 9)), [])


@exercise.case(
    "Pairs are joined in the order of learning: abc gives a and bc", weight=0.5
)
def earliest_pair_first(student, rng):
    student.expect(student("abc xyz pqr", PAIRS), [97, 256, 32, 258, 122, 32, 261, 114])
    merges = [("a", "t"), ("Ã", "¤"), ("m", "at"), ("Ġ", "Ã¤")]
    student.expect(student("at ämat", merges), [256, 259, 258])


@exercise.case(
    "A space is joined to the word after it, and to no word before it", weight=0.5
)
def spaces_belong_to_words(student, rng):
    student.expect(student("at the the", THE), [256, 259, 259])
    student.agrees("at" + "".join(rng.choice([" the", "at"], 30)), THE)


@exercise.case(
    "Nothing is joined across two pre-tokens: of four spaces one is the word's",
    weight=0.5,
)
def pre_tokens_stay_apart(student, rng):
    student.expect(student("at\n", [("t", "Ċ"), ("a", "t")]), [257, 10])
    student.expect(student("at\n    the", THE), [256, 10, 260, 32, 259])
    student.expect(student("cat!", [("t", "!"), ("a", "t")]), [99, 257, 33])


@exercise.case(
    "White space stays, at both ends too, and no text gives no token ids", weight=0.5
)
def white_space(student, rng):
    student.expect(student(" a \t\n", []), [32, 97, 32, 9, 10])
    student.expect(student("", THE), [])
    between = "".join(rng.choice([*"at \t\n"], 9))
    student.agrees(f" {between}\n", [])


@exercise.case("Capitals and accents are kept as written", weight=0.5)
def nothing_is_tidied(student, rng):
    student.expect(student("E\u0301É", []), [69, 204, 129, 195, 137])


@exercise.case(
    "Special tokens count wherever they stand, and the longest that fits", weight=0.5
)
def special_tokens(student, rng):
    special = ("<a><b>", "<a>", "<a><b><c>")
    token_ids = student("<a><b>at<a><b><c>b<a>", [("a", "t")], special)
    student.expect(token_ids, [257, 256, 259, 98, 258])


@exercise.case("A special token may hold signs like | and spaces", weight=0.5)
def signs_in_special_tokens(student, rng):
    token_ids = student("at <|a t|>", [("a", "t")], ("<|a t|>",))
    student.expect(token_ids, [256, 32, 257])


@exercise.case(
    "A special token that looks like a byte's symbol leaves the byte alone", weight=0.5
)
def special_token_like_a_symbol(student, rng):
    student.expect(student("ç§", [("a", "t")], ("§",)), [195, 167, 257])


@exercise.fine_point(
    "Each pair has a token id of its own, also if another gives the same text"
)
def pairs_of_one_text(student, rng):
    # Both (a, bc) and (ab, c) give abc; no text here has it.
    merges = [("b", "c"), ("a", "b"), ("a", "bc"), ("ab", "c"), ("d", "e")]
    token_ids = student("de<end>ab", merges, ("<end>",))
    student.expect(token_ids, [260, 261, 257])
    drawn = "".join(rng.choice(["de", "ab", "<end>", "e", " "], 9))
    student.agrees(drawn, merges, ("<end>",))


@exercise.case("The list of pairs is not modified", weight=0.5)
def merges_stay(student, rng):
    student.leaves_unchanged("at", [("a", "t")])


@exercise.case("Two words and a space give their token ids", visible=False)
def drawn_words(student, rng):
    one, other = ("".join(rng.choice([*"atbcä"], 7)) for _ in range(2))
    student.agrees(f"{one} {other}", [*MANY, *PAIRS[2:]])


@exercise.case("Any text gives its token ids", weight=5)
def any_text(student, rng):
    parts = ["at", " the", "ä", " Ä", "猫", "👩‍👩‍👧", "!", "   ", "\n", "E\u0301"]
    parts += ["12", "abc", "'s", " mat", "<", "Ġ", "\x00", "at!", " xyz", " pqr"]
    special = ("§", "<end>", "<end>\n")
    for _ in range(2):
        drawn = rng.permutation([*parts, "§", "<end>", "<end>\n"])
        student.agrees(" " + "".join(drawn) + " \n", [*MANY, *PAIRS[2:]], special)


@exercise.right_answer
def pattern(text, merges, special_tokens=()):
    tokens = byte_vocabulary(merges)
    ids = {token: token_id for token_id, token in enumerate(tokens)}
    token_ids = []
    pattern = "|".join(map(re.escape, sorted(special_tokens, key=len, reverse=True)))
    for part in re.split(f"({pattern})", text) if special_tokens else [text]:
        if part in special_tokens:
            token_ids.append(len(tokens) + special_tokens.index(part))
            continue
        for pre_token in pre_tokens(part):
            word = encode_word(spell_bytes(pre_token), merges)
            token_ids += [ids[token] for token in word]
    return token_ids


exercise.edits(
    """
numbers_of_characters:
  | spell_bytes(pre_token) ->
  :     [ALPHABET[ord(c)] if ord(c) < 256 else str(ord(c)) for c in pre_token]
  | ids[token] -> ids[token] if token in ids else int(token)
  Your token ids are the numbers of the characters, not those of their bytes.
  ? How many bytes has ä, and how many token ids did your code give for it?
  # `ord(character)` is right for every English text; minbpe encodes to UTF-8 first.
latin_1:
  | spell_bytes(pre_token) ->
  :     [ALPHABET[byte] for byte in pre_token.encode('latin-1', 'replace')]
  Your bytes are those of Latin-1: one for ä, and a question mark for 猫.
  ? Which encoding has room for every character?
  # Latin-1 gives one byte for each European letter, so small tests pass.
utf_16:
  | spell_bytes(pre_token) -> [ALPHABET[byte] for byte in pre_token.encode('utf-16-le')]
  Your bytes are those of UTF-16: two for each letter at least.
  ? Which encoding does the alphabet's text speak of: how many bytes has a?
  # Windows and Java write texts in UTF-16.
alphabet_missing:
  | spell_bytes(pre_token) -> [chr(byte) for byte in pre_token.encode()]
  | ids[token] -> ids[token] if len(token) > 1 else ord(token)
  Your token ids have no pair joined that holds a space or another invisible byte.
  ? With which symbol do the pairs write a space?
  # `chr(byte)` seems to be the alphabet, and differs for 68 bytes; the space is one
    of them.
bytes_numbered_by_symbol: tokens = sorted(ALPHABET) + byte_vocabulary(merges)[256:]
  Your bytes are numbered in the order of their symbols: `!` is 0.
  ? Which number has the byte of the letter a?
  # GPT-2's vocabulary starts with `!`, since its program lists the bytes that one can
    see first.
pairs_before_bytes: tokens = byte_vocabulary(merges)[256:] + list(ALPHABET)
  Your pairs have the first token ids, before the bytes.
  ? In which order does `byte_vocabulary` list bytes, pairs and special tokens?
  # Pairs are numbered by their rank, which begins at 0.
pairs_from_257: tokens = [*ALPHABET, '', *byte_vocabulary(merges)[256:]]
  Your token ids of pairs and special tokens are larger by 1.
  ? Which id has the last of the 256 bytes?
  # There are 256 bytes, so 256 is taken for the last one.
special_tokens_after_different_texts: len(tokens) + -> len(ids) +
  The ids of your special tokens are too small where two pairs give the same text.
  ? How many tokens do the pairs (a, bc) and (ab, c) add to the vocabulary, and how
    many entries to a dictionary by text?
  # `len(ids)` of a dictionary from texts to ids counts each text once.
pairs_of_one_text_share_an_id: tokens = list(dict.fromkeys(byte_vocabulary(merges)))
  Your pairs that give the same text share one id, and all later ids are too small.
  ? What does the docstring say of how many token ids the pairs have?
  # `if token not in ids: ids[token] = len(ids)` numbers each text once.
special_tokens_before_pairs:
  | {token: token_id for token_id, token in enumerate(tokens)} ->
  :     {token: token_id + len(special_tokens) * (token_id > 255) for token_id,
  :     token in enumerate(tokens)}
  | len(tokens) + -> 256 +
  The ids of your special tokens come before those of the pairs.
  ? In which order does `byte_vocabulary` list bytes, pairs and special tokens?
  # Hugging Face's trainer numbers special tokens first.
special_tokens_before_bytes:
  | enumerate(tokens) -> enumerate(tokens, len(special_tokens))
  | len(tokens) + special_tokens.index(part) -> special_tokens.index(part)
  The ids of your special tokens come before those of the bytes.
  # Vocabularies of words begin with <pad> and <unk>.
special_tokens_from_0:
  | len(tokens) + special_tokens.index(part) -> special_tokens.index(part)
  The ids of your special tokens are their indices among the special tokens.
  ? How many tokens stand in the vocabulary before the first special one?
  # `special_tokens.index(part)` is a number, and passes for an id.
special_tokens_one_later:
  | len(tokens) + special_tokens.index(part) ->
  :     len(tokens) + special_tokens.index(part) + 1
  The ids of your special tokens are larger by 1.
  ? Which id has the last pair, and which one comes next?
  # The count of all tokens is taken for the last one's id.
special_tokens_share_an_id: len(tokens) + special_tokens.index(part) -> len(tokens)
  Your special tokens all have the same id.
  ? How should a decoder tell two special tokens apart?
  # With one special token, as GPT-2 has, its index is never asked for.
special_tokens_numbered_by_length:
  | len(tokens) + special_tokens.index(part) ->
  :     len(tokens) + sorted(special_tokens, key=len, reverse=True).index(part)
  Your special tokens are numbered by their length, the longest first.
  ? Which order do the token ids follow: that of searching, or that of the argument?
  # The list is sorted so that longer ones are found first, and then counted.
special_tokens_numbered_in_order:
  | len(tokens) + special_tokens.index(part) ->
  :     len(tokens) + sorted(special_tokens).index(part)
  Your special tokens are numbered in Python's order of texts.
  ? Which order do the token ids follow?
  # A set of special tokens is sorted so that it has an order at all.
special_token_hides_a_byte:
  | byte_vocabulary(merges) -> byte_vocabulary(merges, special_tokens)
  | len(tokens) + special_tokens.index(part) -> ids[part]
  A special token and a byte with the same symbol have the same id in your result.
  ? What becomes of a key that stands in a dictionary twice?
  # One dictionary for all of `byte_vocabulary` is the shortest code, and wrong for a
    special token such as §.
special_tokens_split: special_tokens = ()
  Your special tokens are split into tokens like other text.
  ? What does a special token stand for, wherever it occurs?
  # An encoder that knows only pre-tokens and pairs does it (gh-markt/cpp-tiktoken
    issue 5).
special_tokens_in_the_vocabulary_alone:
  | tokens = byte_vocabulary(merges) ->
  :     tokens = byte_vocabulary(merges, special_tokens)
  | token_ids = [] ->
  :     token_ids = []
  :     special_tokens = ()
  Your special tokens are split into tokens like other text, and one that looks like a
    byte's symbol takes that byte's id.
  ? Which line of yours searches for special tokens in the text?
  # The vocabulary has their ids, so that they seem to be taken care of.
special_tokens_left_out:
  | token_ids. …
  : continue -> continue
  Your token ids leave out the special tokens.
  ? From which token id should a model know that the text ends?
  # `skip_special_tokens` is common, and the text is cut at them anyway.
""",
)
exercise.edits(
    """
first_listed_special_token_wins:
  | sorted(special_tokens, key=len, reverse=True) -> special_tokens
  Of two special tokens that fit, your token ids have the one that is listed first.
  ? Which one should win where <a> and <a><b> both fit?
  # An alternative of a regular expression wins by its position in the list
    (stanford-cs336/assignment1-basics pull request 52, ggml-org/llama.cpp pull
    request 29102).
last_listed_special_token_wins:
  | sorted(special_tokens, key=len, reverse=True) -> special_tokens[::-1]
  Of two special tokens that fit, your token ids have the one that is listed last.
  # A loop over the special tokens overwrites what it has chosen before.
shortest_special_token_wins:
  | sorted(special_tokens, key=len, reverse=True) -> sorted(special_tokens, key=len)
  Of two special tokens that fit, your token ids have the shorter one.
  # `sorted(…, key=len)` begins with the shortest.
special_tokens_not_escaped:
  | map(re.escape, sorted(special_tokens, key=len, reverse=True)) ->
  :     sorted(special_tokens, key=len, reverse=True)
  Signs in your special tokens act as a regular expression: | means `or`.
  ? What does the pattern `<|end|>` match?
  # The tokens are joined to a pattern without `re.escape`; minbpe and tiktoken call
    it for this reason.
""",
    of=pattern,
)
exercise.edits(
    r"""
joined_across_pre_tokens: pre_tokens(part) -> [part]
  Your pairs are joined across the whole text, not within its pre-tokens.
  ? Within what may symbols be joined?
  # The first byte-pair encoders of a course, as minbpe's basic one, have no
    pre-tokenisation.
split_at_white_space: pre_tokens(part) -> part.split()
  Your token ids have no white space: the text is split at it, and it is lost.
  ? From which token ids should a decoder know where a space stood?
  # `text.split()` is how the words of the earlier exercises were made;
    dotnet/machinelearning pull request 7716 warns of the same loss.
white_space_apart: pre_tokens(part) -> re.findall(r'\s+|\S+', part)
  Your pairs never join a space with the word after it.
  ? To which pre-token belongs the space in front of a word?
  # Words and white space are cut apart, as in most programs for text.
punctuation_not_apart: pre_tokens(part) -> re.findall(r' ?\S+|\s+(?!\S)|\s+', part)
  Your pairs are joined across letters and other signs, as in cat!.
  ? How many pre-tokens has `cat!`?
  # Words end at white space in the earlier exercises.
stripped: pre_tokens(part) -> pre_tokens(part.strip())
  Your token ids leave out the white space at the ends of the text, or of its parts.
  ? Is the text that one gets back the one that went in?
  # `.strip()` is a habit of cleaning text, before or after special tokens.
white_space_unified: pre_tokens(part) -> pre_tokens(re.sub(r'\s+', ' ', part))
  Your token ids have one space for any white space.
  # `' '.join(text.split())` is a habit of cleaning text.
space_put_before:
  | pre_tokens(part) -> pre_tokens(part if part[:1] in ('', ' ') else ' ' + part)
  Your token ids begin with a space that the text does not have.
  ? Would the decoded text be the one that went in?
  # Hugging Face's byte-level splitter adds a space by default (huggingface/tokenizers
    issues 608 and 1174).
accents_composed: pre_tokens(part) -> pre_tokens(unicodedata.normalize('NFC', part))
  Your token ids are those of a text in which accents are composed.
  ? Do E followed by an accent and É have the same bytes?
  # Normalising to NFC is good advice for training data; here it changes text.
lower_cased: pre_tokens(part) -> pre_tokens(part.lower())
  Your token ids are those of a text in small letters.
  ? Is the text that one gets back the one that went in?
  # Many introductions to text start with text.lower().
longest_match:
  | word = encode_word( … ->
  :     word, symbols = ([], spell_bytes(pre_token))
  :     while symbols:
  :         end = len(symbols)
  :         while ''.join(symbols[:end]) not in ids:
  :             end -= 1
  :         word.append(''.join(symbols[:end]))
  :         symbols = symbols[end:]
  Your tokens are the longest known ones that fit, cut off from the left.
  ? Which pair of abc was learned first?
  # Searching for the longest token in the vocabulary is how WordPiece encodes.
passes_from_left_to_right:
  | word = encode_word( … ->
  :     word, before = (spell_bytes(pre_token), ())
  :     while word != before:
  :         before, word = (word, ())
  :         rest = before
  :         while rest:
  :             end = 2 if rest[:2] in merges else 1
  :             word = (*word, ''.join(rest[:end]))
  :             rest = rest[end:]
  Your known pairs are joined from left to right, whatever their ranks.
  # A loop over the word that joins what it knows is the shortest code.
latest_pair_first:
  | spell_bytes(pre_token), merges -> spell_bytes(pre_token), merges[::-1]
  Your pair that was learned last is joined first.
  # `max` over the ranks, or a list of pairs read from its end.
nothing_joined: word = spell_bytes(pre_token)
  Your token ids are all bytes: no pair is joined.
  ? Which id has the token that the first merge made?
  # `list(text.encode())` gives token ids that decode to the text, too.
one_joining_only:
  | word = encode_word( … ->
  :     word = spell_bytes(pre_token)
  :     known = [pair for pair in merges if pair in pairwise(word)]
  :     if known:
  :         word = merge_pair(word, known[0])
  Your token ids have one joining in each pre-token, and no other after it.
  ? After two symbols have been joined, can the new one be part of a known pair?
  # `return` stands inside the loop, or there is no loop.
tokens_returned:
  | token_ids. … -> token_ids.append(part)
  | [ids[token] for token in word] -> word
  Your result is a list of tokens, not of their ids.
  ? Which type has each entry of the result in the docstring's example?
  # `encode_word` gives tokens, and they are returned as they are.
list_for_each_pre_token:
  | token_ids. … -> token_ids.append([len(tokens) + special_tokens.index(part)])
  | token_ids += … -> token_ids.append([ids[token] for token in word])
  Your result has a list of token ids for each pre-token and special token.
  ? What does the docstring's example hold: numbers, or lists?
  # `append` where the ids of a pre-token had to be added one by one.
tuple_returned: return tuple(token_ids)
  Your token ids come in a tuple.
  ? Which type has the result in the docstring's example?
  # Words are tuples, so the result becomes one too.
none_without_text: return token_ids or None
  Your result is None where there are no token ids.
  ? What are the token ids of an empty text?
  # `if not text: return` leaves out what to return.
""",
    pairwise=pairwise,
    merge_pair=merge_pair,
    unicodedata=unicodedata,
)
exercise.edits(
    """
merges_used_up:
  | return token_ids ->
  :     merges.clear()
  :     return token_ids
""",
    words=encode_word_exercise.words,
)
