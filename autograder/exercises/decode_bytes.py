"""Cases and misconceptions of ``decode_bytes``."""

import unicodedata

from autograder import Exercise
from autograder.exercises.encode_bytes import exercise as encode_bytes_exercise
from autograder.exercises.encode_word import exercise as encode_word_exercise
from course_lib.byte_bpe import ALPHABET, decode_bytes

exercise = Exercise(
    decode_bytes,
    lesson="06_byte_pair_encoding",
    minutes=15,
    difficulty=2,
    library=("tokenizers.Tokenizer",),
)

# Their ids are 256 … 261; ä is Ã and ¤, and ð and Ł are the first half of 🐦.
MERGES = [("a", "t"), ("Ġ", "t"), ("Ã", "¤"), ("Ġt", "h"), ("Ġth", "e"), ("ð", "Ł")]


@exercise.spec
def spec(token_ids, merges, special_tokens=()):
    first_special = 256 + len(merges)
    data = []
    for number in token_ids:
        if number < 0 or number >= first_special + len(special_tokens):
            raise ValueError(f"{number} is not in the vocabulary")
        if number < 256:
            data.append(number)
        elif number < first_special:
            for symbol in merges[number - 256][0] + merges[number - 256][1]:
                data.append(ALPHABET.index(symbol))
        else:
            data.extend(special_tokens[number - first_special].encode())
    return bytes(data).decode("utf-8", errors="replace")


@exercise.usual
def usual(rng):
    token_ids = [
        32,
        256,
        260,
        258,
        195,
        167,
        261,
        144,
        166,
        262,
        263,
        195,
        32,
    ]
    return token_ids, MERGES, ("§", "<ü>")


def drawn(rng, *parts):
    """Put parts together, each of them twice, in an order that is drawn."""
    return [n for i in rng.permutation(2 * len(parts)) for n in (parts * 2)[i]]


@exercise.case("The token ids of at, a space, two bytes and <end> give `at ä<end>`")
def small_example_by_hand(student, rng):
    text = student([256, 32, 195, 164, 257], [("a", "t")], ("<end>",))
    student.expect(text, "at ä<end>")


@exercise.case("The bytes of one letter may come from several tokens", weight=0.5)
def letter_of_several_tokens(student, rng):
    student.expect(student([231, 140, 171], []), "猫")
    student.expect(student([97, 261, 144, 166, 258], MERGES), "a🐦ä")
    student.expect(student([239, 187, 191, 97], []), "\ufeffa")


@exercise.case("White space comes back as it was, at both ends too", weight=0.5)
def white_space(student, rng):
    token_ids = [32, 32, 256, 260, 9, 10, 32]
    student.expect(student(token_ids, MERGES), "  at the\t\n ")
    student.agrees([32, *rng.choice(token_ids, 9).tolist(), 32], MERGES)


@exercise.case("Half a letter gives one �, wherever it stands", weight=0.5)
def half_a_letter(student, rng):
    student.expect(student([97, 195], []), "a�")
    student.expect(student([261, 97, 195, 98], MERGES), "�a�b")


@exercise.case(
    "Special tokens come back as they are, ü and spaces in them too", weight=0.5
)
def special_tokens(student, rng):
    special = ("<ü>", "<a t>")
    token_ids = [256, 262, 32, 263, 98]
    student.expect(student(token_ids, MERGES, special), "at<ü> <a t>b")
    drawn = [256, *rng.choice(token_ids, 9).tolist(), 98]
    student.agrees(drawn, MERGES, special)


@exercise.case(
    "A byte whose symbol looks like a special token stays a byte", weight=0.5
)
def symbol_like_a_special_token(student, rng):
    student.expect(student([195, 167, 257], [("a", "t")], ("§",)), "ç§")


@exercise.case("Accents are kept as written, in one character or in two", weight=0.5)
def accents(student, rng):
    text = student([69, 204, 129, 195, 137], [])
    student.expect(len(text), 3, "the number of characters")
    student.expect(text, "E\u0301É")
    student.agrees(drawn(rng, [69, 204, 129], [195, 137], [97]), [])


@exercise.fine_point("A token id outside the vocabulary, −1 too, is an error")
def outside_the_vocabulary(student, rng):
    student.raises(Exception, [97, 258], [("a", "t")], ("<end>",))
    student.raises(Exception, [97, -1], [("a", "t")], ("<end>",))


@exercise.case(
    "The lists are not modified, and one without token ids gives no text", weight=0.5
)
def numbers_stay(student, rng):
    student.leaves_unchanged([256, 32, 97], [("a", "t")])
    student.expect(student([], []), "")


@exercise.case("Any token ids give their text", weight=4.5)
def any_numbers(student, rng):
    parts = [[69, 204, 129], [32], [9], [256], [260], [258], [195, 167], [262], [263]]
    parts += [[261, 144, 166], [195], [33]]
    for _ in range(3):
        drawn = [parts[i] for i in rng.permutation(len(parts))]
        token_ids = [32, *(number for part in drawn for number in part), 10, 32]
        student.agrees(token_ids, MERGES, ("§", "<ü>"))


@exercise.case("Any text comes back from its bytes", weight=0.5, visible=False)
def any_text(student, rng):
    text = "Größe, naïve E\u0301; 猫 👩‍👩‍👧\n\n «ça» \ufffd\ufffd\x00"
    student.expect(student(list(text.encode()), MERGES), text)
    drawn = "".join(rng.choice([*text], 30))
    student.agrees(list(drawn.encode()), MERGES)


exercise.edits(
    r"""
token_by_token:
  | joined = ''
  | joined += bytes( … ->
  :     joined += bytes((BYTE_OF[character] for character in
  :     token)).decode(errors='replace')
  | joined += token.encode() -> joined += token
  | return joined
  Your text has � where a letter's bytes lie in several tokens.
  ? When are all bytes of a letter there?
  # Tokens are decoded one by one and then joined (huggingface/tokenizers issue 1141;
    antonellof/ferrox issue 124; minbpe joins the bytes first).
space_between_tokens:
  | joined = []
  | joined += bytes( … ->
  :     joined.append(bytes((BYTE_OF[character] for character in
  :     token)).decode(errors='replace'))
  | joined += token.encode() -> joined.append(token)
  | return ' '.join(joined)
  Your text has a space between any two tokens.
  ? Which token holds the space between two words?
  # `' '.join(…)` is how one prints tokens.
tokens_backwards: for token_id in token_ids: -> for token_id in token_ids[::-1]:
  Your tokens stand in the opposite order in the text.
  ? Which token does the text begin with?
  # `text = part + text`, or token ids that `pop()` takes from the end.
errors_ignored: return joined.decode(errors='ignore')
  Bytes that are not UTF-8 are missing from your text without a sign.
  ? How should a reader see that something was lost?
  # `errors='ignore'` ends the error message (stanford-crfm/helm pull request 2326).
errors_strict: return joined.decode()
  Your call raises an error at bytes that are not UTF-8.
  ? Can a model write half a letter, and what should its reader get?
  # `.decode()` is strict by default (QwenLM/Qwen issue 1218; karpathy/minbpe issue
    96).
question_marks: return joined.decode(errors='replace').replace('�', '?')
  Your text has ? for bytes that are not UTF-8.
  ? Which sign does the docstring promise for them?
  # `errors='replace'` gives ? in the other direction, when text is encoded.
backslashes: return joined.decode(errors='backslashreplace')
  Your text has \x and a number for bytes that are not UTF-8.
  # `errors='backslashreplace'` loses nothing, so it seems the best way.
byte_order_mark_lost: return joined.decode('utf-8-sig', errors='replace')
  A text that begins with U+FEFF, the bytes 239, 187 and 191, has lost it.
  ? Which text did these bytes encode, and is it the one that comes back?
  # `utf-8-sig` reads files of Windows programs, which begin with this mark.
bytes_as_latin_1: return joined.decode('latin-1')
  Each byte has become a character of its own: ä reads Ã¤.
  ? How many bytes does UTF-8 use for ä?
  # `chr(byte)` or Latin-1 is right for ASCII and never stops.
bytes_as_ascii: return joined.decode('ascii', errors='replace')
  Your text has � for each byte of a letter that is not in ASCII.
  # ASCII is enough for every English text.
symbols_shown: joined += bytes( … -> joined += token.encode()
  Your text shows the symbols of the alphabet: a space reads Ġ.
  ? Which byte does the symbol Ġ stand for?
  # Joining the vocabulary's tokens is enough in the earlier exercise `decode`.
only_spaces_restored: joined += bytes( … -> joined += token.replace('Ġ', ' ').encode()
  Ġ has become a space in your text, and all other symbols stay what they are.
  ? Which bytes do the symbols Ã and Ċ stand for?
  # `.replace('Ġ', ' ')` seems complete as long as one reads English.
negative_numbers_accepted:
  | if not 0 … ->
  :     if token_id < 0:
  :         token_id += len(tokens)
  :     if not 0 <= token_id < len(tokens):
  Negative token ids count from the end of your vocabulary.
  ? What does Python give for `tokens[-1]`?
  # Only the upper bound is checked; a list accepts negative indices too.
unknown_numbers_skipped: raise ValueError( … -> continue
  Token ids that are not in the vocabulary are left out of your text.
  ? How should a caller learn that a token id is wrong?
  # `if number in vocabulary` without an `else` keeps a program from stopping.
unknown_numbers_replaced:
  | raise ValueError( … ->
  :     joined += '�'.encode()
  :     continue
  Token ids that are not in the vocabulary have become � in your text.
  # The sign for wrong bytes is used for wrong token ids too.
special_tokens_left_out:
  | if token_id < first_special:
  :     joined …
  : else:
  :     joined += token.encode() ->
  :     if token_id < first_special:
  :         joined += bytes((BYTE_OF[character] for character in token))
  Your text has no special tokens.
  ? Is the text that comes back the one that was encoded?
  # `skip_special_tokens=True` is common, since one seldom wants to read them.
special_tokens_through_the_alphabet:
  | if token_id < first_special:
  :     joined …
  : else:
  :     joined += token.encode() ->
  :     joined += bytes((BYTE_OF[character] for character in token))
  Your special tokens go through the alphabet of bytes as if they were made of it.
  ? Is the ü of a special token a byte's symbol, or a letter?
  # One loop over all tokens is shorter, and right for <end>; huggingface/tokenizers
    pull request 1513 mends the same.
symbols_taken_for_special_tokens:
  | token_id < first_special -> token not in special_tokens
  A byte is read as a special token, because its symbol is the same.
  ? What tells a special token from a byte: its text or its id?
  # `if token in special_tokens` reads well, and is wrong for a token such as §.
pairs_before_bytes:
  | tokens = byte_vocabulary(merges)[256:] + [*ALPHABET, *special_tokens]
  The ids of your pairs come before those of the bytes.
  ? In which order does `byte_vocabulary` list bytes, pairs and special tokens?
  # Pairs are numbered by their rank, which begins at 0.
bytes_numbered_by_symbol:
  | tokens = sorted(ALPHABET) + byte_vocabulary(merges, special_tokens)[256:]
  Your bytes are numbered in the order of their symbols: 0 is `!`.
  ? Which number has the byte of the letter a?
  # GPT-2's vocabulary starts with `!`, since its program lists the bytes that one can
    see first.
stripped: return joined.decode(errors='replace').strip()
  White space at both ends of your text is cut off.
  ? Is the text that comes back the one that was encoded?
  # Several decoders strip, to undo a space that their encoders put in
    (huggingface/transformers issue 46491).
stripped_at_the_start: return joined.decode(errors='replace').lstrip()
  White space at the start of your text is cut off.
  # Encoders that put a space in front have decoders that take it off.
white_space_unified: return re.sub(r'\s+', ' ', joined.decode(errors='replace'))
  Your text has one space for any white space.
  # `' '.join(text.split())` is a habit of cleaning text.
accents_composed: return unicodedata.normalize('NFC', joined.decode(errors='replace'))
  Letters with an accent have changed: two characters have become one.
  # Normalising to NFC is good advice for training data; here it changes text.
lower_cased: return joined.decode(errors='replace').lower()
  Your text is in small letters.
  # Many introductions to text start with text.lower().
bytes_returned: return joined
  Your result is bytes, not a text.
  ? Which type does the docstring promise?
  # Bytes of English print like a text, with a b in front.
list_of_texts:
  | joined = []
  | joined += bytes( … ->
  :     joined.append(bytes((BYTE_OF[character] for character in
  :     token)).decode(errors='replace'))
  | joined += token.encode() -> joined.append(token)
  | return joined
  Your result is a list with a text for each token.
  # The texts are collected, and `''.join` is forgotten.
none_without_text: return joined.decode(errors='replace') or None
  Your result is None where there is no text.
  ? Which text has no token ids?
  # `if not token_ids: return` leaves out what to return.
numbers_used_up:
  | for token_id in token_ids: ->
  :     while token_ids:
  :         token_id = token_ids.pop(0)
  Your call leaves the caller's list of token ids empty.
  ? Whose list do you take the token ids from?
  # `token_ids.pop(0)` is a handy way to take one token id after the other.
""",
    unicodedata=unicodedata,
)
exercise.edits(
    """
special_tokens_before_pairs:
  | tokens = [*ALPHABET, *special_tokens, *byte_vocabulary(merges)[256:]]
  | token_id < first_special -> not 256 <= token_id < 256 + len(special_tokens)
special_tokens_before_bytes:
  | tokens = [*special_tokens, *byte_vocabulary(merges)]
  | token_id < first_special -> token_id >= len(special_tokens)
""",
    words=encode_bytes_exercise.words,
)
exercise.edits(
    """
merges_used_up:
  | return joined. … ->
  :     merges.clear()
  :     return joined.decode(errors='replace')
""",
    words=encode_word_exercise.words,
)
