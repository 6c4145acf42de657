"""Cases and misconceptions of ``decode_bytes``."""

import re
import unicodedata

from autograder import Exercise
from course_lib.byte_bpe import ALPHABET, BYTE_OF, byte_vocabulary, decode_bytes

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
        226,
        130,
        32,
    ]
    return token_ids, MERGES, ("§", "<ü>")


@exercise.case("The token ids of at, a space, two bytes and <end> give `at ä<end>`")
def small_example_by_hand(student, rng):
    text = student([256, 32, 195, 164, 257], [("a", "t")], ("<end>",))
    student.expect(text, "at ä<end>")


@exercise.case("The bytes of one letter may come from several tokens")
def letter_of_several_tokens(student, rng):
    student.expect(student([231, 140, 171], []), "猫")
    student.expect(student([97, 261, 144, 166, 258], MERGES), "a🐦ä")


@exercise.case("White space comes back as it was, at both ends too")
def white_space(student, rng):
    token_ids = [32, 32, 256, 260, 9, 10, 32]
    student.expect(student(token_ids, MERGES), "  at the\t\n ")
    student.agrees([32, *rng.choice(token_ids, 9).tolist(), 32], MERGES)


@exercise.case("Half a letter gives one �, wherever it stands")
def half_a_letter(student, rng):
    student.expect(student([97, 195], []), "a�")
    student.expect(student([261, 97, 195, 98], MERGES), "�a�b")


@exercise.case(
    "Bytes that could begin a letter give one �, each other wrong byte its own"
)
def wrong_bytes(student, rng):
    student.expect(student([226, 130, 65], []), "�A")
    student.expect(student([97, 255, 254, 128], []), "a���")


@exercise.case("Special tokens come back as they are, ü and spaces in them too")
def special_tokens(student, rng):
    special = ("<ü>", "<a t>")
    token_ids = [256, 262, 32, 263, 98]
    student.expect(student(token_ids, MERGES, special), "at<ü> <a t>b")
    drawn = [256, *rng.choice(token_ids, 9).tolist(), 98]
    student.agrees(drawn, MERGES, special)


@exercise.case("A byte whose symbol looks like a special token stays a byte")
def symbol_like_a_special_token(student, rng):
    student.expect(student([195, 167, 257], [("a", "t")], ("§",)), "ç§")


@exercise.case("Accents stay as they were written, in one character or in two")
def accents(student, rng):
    text = student([69, 204, 129, 195, 137], [])
    student.expect(len(text), 3, "the number of characters")
    student.expect(text, "E\u0301É")


@exercise.case("A token id that is not in the vocabulary gives ValueError")
def not_in_the_vocabulary(student, rng):
    student.raises(ValueError, [97, 258], [("a", "t")], ("<end>",))
    student.raises(ValueError, [97, -1], [("a", "t")], ("<end>",))


@exercise.case("The list of token ids stays as it is, and an empty one gives no text")
def numbers_stay(student, rng):
    student.leaves_unchanged([256, 32, 97], [("a", "t")])
    student.expect(student([], []), "")


@exercise.case("Any token ids give their text", visible=False)
def any_numbers(student, rng):
    for count in (25, 12):
        token_ids = rng.integers(0, 264, count).tolist()
        student.agrees(token_ids, MERGES, ("§", "<ü>"))
    text = "Größe, naïve E\u0301; 猫 👩‍👩‍👧\n\n «ça» \ufffd\ufffd\x00"
    student.expect(student(list(text.encode()), MERGES), text)


def joined(token_ids, merges, special_tokens):
    """Put the bytes of all tokens together, and refuse what is not in the vocabulary.

    Special tokens are told by their ids.
    """
    tokens = byte_vocabulary(merges, special_tokens)
    data = b""
    for number in token_ids:
        if not 0 <= number < len(tokens):
            raise ValueError(f"{number} is not a token")
        special = number >= 256 + len(merges)
        data += tokens[number].encode() if special else as_bytes(tokens[number])
    return data


def as_bytes(symbols):
    return bytes(BYTE_OF[symbol] for symbol in symbols)


@exercise.misconception(
    "Your text has � where a letter's bytes lie in several tokens.",
    "When are all bytes of a letter there?",
    why="Tokens are decoded one by one and then joined (huggingface/tokenizers issue "
    "1141; antonellof/ferrox issue 124; minbpe joins the bytes first).",
)
def token_by_token(token_ids, merges, special_tokens=()):
    return "".join(decode_bytes([n], merges, special_tokens) for n in token_ids)


@exercise.misconception(
    "Bytes that are not UTF-8 are missing from your text without a sign.",
    "How should a reader see that something was lost?",
    why="`errors='ignore'` ends the error message (stanford-crfm/helm pull request "
    "2326).",
)
def errors_ignored(token_ids, merges, special_tokens=()):
    return joined(token_ids, merges, special_tokens).decode(errors="ignore")


@exercise.misconception(
    "Your code stops at bytes that are not UTF-8.",
    "Can a model write half a letter, and what should its reader get?",
    why="`.decode()` is strict by default (QwenLM/Qwen issue 1218; karpathy/minbpe "
    "issue 96).",
)
def errors_strict(token_ids, merges, special_tokens=()):
    return joined(token_ids, merges, special_tokens).decode()


@exercise.misconception(
    "Each byte has become a character of its own: ä reads Ã¤.",
    "How many bytes does UTF-8 use for ä?",
    why="`chr(byte)` or Latin-1 is right for ASCII and never stops.",
)
def bytes_as_latin_1(token_ids, merges, special_tokens=()):
    return joined(token_ids, merges, special_tokens).decode("latin-1")


@exercise.misconception(
    "Your text shows the symbols of the alphabet: a space reads Ġ.",
    "Which byte does the symbol Ġ stand for?",
    why="Joining the vocabulary's tokens is enough in the earlier exercise `decode`.",
)
def symbols_shown(token_ids, merges, special_tokens=()):
    joined(token_ids, merges, special_tokens)
    tokens = byte_vocabulary(merges, special_tokens)
    return "".join(tokens[number] for number in token_ids)


@exercise.misconception(
    "Ġ has become a space in your text, and all other symbols stay what they are.",
    "Which bytes do the symbols Ã and Ċ stand for?",
    why="`.replace('Ġ', ' ')` looks complete as long as one reads English.",
)
def only_spaces_restored(token_ids, merges, special_tokens=()):
    return symbols_shown(token_ids, merges, special_tokens).replace("Ġ", " ")


@exercise.misconception(
    "Your text has a � for every wrong byte, also where several begin one letter.",
    "How many letters were cut off in the bytes 226, 130?",
    why="An error handler of one's own that goes on one byte further.",
)
def one_sign_per_byte(token_ids, merges, special_tokens=()):
    data, text = joined(token_ids, merges, special_tokens), ""
    while data:
        try:
            return text + data.decode()
        except UnicodeDecodeError as error:
            text += data[: error.start].decode() + "�" * (error.end - error.start)
            data = data[error.end :]
    return text


@exercise.misconception(
    "Several � in a row have become one in your text.",
    "Do two wrong bytes belong to one letter, or to two?",
    why="A row of � looks ugly, and `re.sub` tidies it up.",
)
def one_sign_per_row(token_ids, merges, special_tokens=()):
    return re.sub("�+", "�", decode_bytes(token_ids, merges, special_tokens))


@exercise.misconception(
    "Negative token ids count from the end of your vocabulary.",
    "What does Python give for `tokens[-1]`?",
    why="Only the upper bound is checked; a list accepts negative indices too.",
)
def negative_numbers_accepted(token_ids, merges, special_tokens=()):
    size = 256 + len(merges) + len(special_tokens)
    wrapped = [number + size if number < 0 else number for number in token_ids]
    return decode_bytes(wrapped, merges, special_tokens)


@exercise.misconception(
    "Your code looks token ids up in a list without checking their range.",
    "Which token ids does the vocabulary have, and what happens for others?",
    why="`tokens[number]` stops with IndexError at one end only, and the contract asks "
    "for ValueError at both.",
)
def numbers_not_checked(token_ids, merges, special_tokens=()):
    ids = list(range(256 + len(merges) + len(special_tokens)))
    return decode_bytes([ids[n] for n in token_ids], merges, special_tokens)


@exercise.misconception(
    "Token ids that are not in the vocabulary are left out of your text.",
    "How should a caller learn that a token id is wrong?",
    why="`if number in vocabulary` without an `else` keeps a program from stopping.",
)
def unknown_numbers_skipped(token_ids, merges, special_tokens=()):
    size = 256 + len(merges) + len(special_tokens)
    known = [number for number in token_ids if 0 <= number < size]
    return decode_bytes(known, merges, special_tokens)


@exercise.misconception(
    "Your text has no special tokens.",
    "Is the text that comes back the one that was encoded?",
    why="`skip_special_tokens=True` is common, since one seldom wants to read them.",
)
def special_tokens_left_out(token_ids, merges, special_tokens=()):
    joined(token_ids, merges, special_tokens)
    text = [number for number in token_ids if number < 256 + len(merges)]
    return decode_bytes(text, merges)


@exercise.misconception(
    "Your special tokens go through the alphabet of bytes as if they were made of it.",
    "Is the ü of a special token a byte's symbol, or a letter?",
    why="One loop over all tokens is shorter, and right for <end>; "
    "huggingface/tokenizers pull request 1513 mends the same.",
)
def special_tokens_through_the_alphabet(token_ids, merges, special_tokens=()):
    joined(token_ids, merges, special_tokens)
    tokens = byte_vocabulary(merges, special_tokens)
    data = b"".join(as_bytes(tokens[number]) for number in token_ids)
    return data.decode(errors="replace")


@exercise.misconception(
    "A byte is read as a special token, because its symbol looks the same.",
    "What tells a special token from a byte: its text or its id?",
    why="`if token in special_tokens` reads well, and is wrong for a token such as §.",
)
def symbols_taken_for_special_tokens(token_ids, merges, special_tokens=()):
    joined(token_ids, merges, special_tokens)
    tokens = byte_vocabulary(merges, special_tokens)
    data = b""
    for number in token_ids:
        token = tokens[number]
        data += token.encode() if token in special_tokens else as_bytes(token)
    return data.decode(errors="replace")


@exercise.misconception(
    "The ids of your special tokens come before those of the pairs.",
    "In which order does `byte_vocabulary` list bytes, pairs and special tokens?",
    why="Hugging Face's trainer numbers special tokens first.",
)
def special_tokens_before_pairs(token_ids, merges, special_tokens=()):
    new = list(range(256 + len(merges) + len(special_tokens)))
    new[256:] = [*new[256 + len(merges) :], *new[256 : 256 + len(merges)]]
    inside = [new[n] if 0 <= n < len(new) else n for n in token_ids]
    return decode_bytes(inside, merges, special_tokens)


@exercise.misconception(
    "White space at both ends of your text is cut off.",
    "Is the text that comes back the one that was encoded?",
    why="Several decoders strip, to undo a space that their encoders put in "
    "(huggingface/transformers issue 46491).",
)
def stripped(token_ids, merges, special_tokens=()):
    return decode_bytes(token_ids, merges, special_tokens).strip()


@exercise.misconception(
    "Letters with an accent have changed: two characters have become one.",
    "Is the text that comes back the one that was encoded?",
    why="Normalising to NFC is good advice for training data; here it changes text.",
)
def accents_composed(token_ids, merges, special_tokens=()):
    return unicodedata.normalize("NFC", decode_bytes(token_ids, merges, special_tokens))


@exercise.misconception(
    "Your text is right, but the caller's list of token ids is empty afterwards.",
    "Whose list do you take the token ids from?",
    why="`token_ids.pop(0)` is a handy way to take one token id after the other.",
)
def numbers_used_up(token_ids, merges, special_tokens=()):
    data = b""
    while token_ids:
        data += joined([token_ids.pop(0)], merges, special_tokens)
    return data.decode(errors="replace")
