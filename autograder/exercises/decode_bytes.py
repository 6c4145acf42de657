"""Cases and misconceptions of ``decode_bytes``."""

import re
import unicodedata

from autograder import Exercise
from autograder.exercises.encode_bytes import exercise as encode_bytes_exercise
from autograder.exercises.encode_word import exercise as encode_word_exercise
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


NUMBERED = {  # index in the vocabulary of token id i; n are bytes and pairs, s special
    "bytes, pairs, special": lambda i, n, s: i,
    "bytes, special, pairs": lambda i, n, s: (
        i if i < 256 else i - 256 + n if i < 256 + s else i - s
    ),
    "special, bytes, pairs": lambda i, n, s: i + n if i < s else i - s,
    "pairs, bytes, special": lambda i, n, s: (
        i + 256 if i < n - 256 else i - n + 256 if i < n else i
    ),
    "bytes by symbol": lambda i, n, s: (
        ALPHABET.index(sorted(ALPHABET)[i]) if i < 256 else i
    ),
}
UNKNOWN = {  # of a token id that is not in the vocabulary, and the vocabulary's size
    "negative index": lambda i, size: [*range(size)][i],
}


DECODED = {
    "�": lambda data: data.decode(errors="replace"),
    "nothing": lambda data: data.decode(errors="ignore"),
    "error": bytes.decode,
    "?": lambda data: data.decode(errors="replace").replace("�", "?"),
    "backslashes": lambda data: data.decode(errors="backslashreplace"),
    "first mark lost": lambda data: data.decode("utf-8-sig", errors="replace"),
    "Latin-1": lambda data: data.decode("latin-1"),
    "ASCII": lambda data: data.decode("ascii", errors="replace"),
}
TIDIED = {
    "not": str,
    "strip": str.strip,
    "lstrip": str.lstrip,
    "one space": lambda text: re.sub(r"\s+", " ", text),
    "NFC": lambda text: unicodedata.normalize("NFC", text),
    "lower": str.lower,
}


@exercise.variants
def variants(
    token_ids,
    merges,
    special_tokens=(),
    *,
    unknown="ValueError",
    numbered="bytes, pairs, special",
    special="by id",
    symbols="bytes",
    joined="bytes",
    order=1,
    decoded="�",
    tidied="not",
    returns="text",
    used_up="nothing",
):
    vocabulary = byte_vocabulary(merges, special_tokens)
    n, size = 256 + len(merges), len(vocabulary)
    parts = []
    for i in token_ids:
        if not 0 <= i < size:
            if unknown == "left out":
                continue
            i = UNKNOWN[unknown](i, size) if unknown in UNKNOWN else None
            if i is None and unknown != "�":
                raise ValueError("not in the vocabulary")
            if i is None:
                parts.append("�".encode())
                continue
        i = NUMBERED[numbered](i, n, len(special_tokens))
        token = vocabulary[i]
        is_special = {"by text": token in special_tokens, "no": False}
        if is_special.get(special, i >= n):
            parts.append(b"" if special == "left out" else token.encode())
        elif symbols == "bytes":
            parts.append(bytes(BYTE_OF[symbol] for symbol in token))
        elif symbols == "shown":
            parts.append(token.encode())
        else:
            parts.append(token.replace("Ġ", " ").encode())
    parts = parts[::order]
    if used_up == "token ids":
        token_ids.clear()
    elif used_up == "merges":
        merges.clear()
    if returns == "bytes":
        return b"".join(parts)
    texts = [DECODED[decoded](part) for part in parts]
    if joined == "bytes":
        texts = [DECODED[decoded](b"".join(parts))]
    if returns == "texts":
        return [DECODED[decoded](part) for part in parts]
    text = TIDIED[tidied]((" " if joined == "with spaces" else "").join(texts))
    return text or None if returns == "None if empty" else text


exercise.option(
    "token_by_token",
    "Your text has � where a letter's bytes lie in several tokens.",
    "When are all bytes of a letter there?",
    why="Tokens are decoded one by one and then joined (huggingface/tokenizers issue "
    "1141; antonellof/ferrox issue 124; minbpe joins the bytes first).",
    joined="texts",
)
exercise.option(
    "space_between_tokens",
    "Your text has a space between any two tokens.",
    "Which token holds the space between two words?",
    why="`' '.join(…)` is how one prints tokens.",
    joined="with spaces",
)
exercise.option(
    "tokens_backwards",
    "Your tokens stand in the opposite order in the text.",
    "Which token does the text begin with?",
    why="`text = part + text`, or token ids that `pop()` takes from the end.",
    order=-1,
)
exercise.option(
    "errors_ignored",
    "Bytes that are not UTF-8 are missing from your text without a sign.",
    "How should a reader see that something was lost?",
    why="`errors='ignore'` ends the error message (stanford-crfm/helm pull request "
    "2326).",
    decoded="nothing",
)
exercise.option(
    "errors_strict",
    "Your call raises an error at bytes that are not UTF-8.",
    "Can a model write half a letter, and what should its reader get?",
    why="`.decode()` is strict by default (QwenLM/Qwen issue 1218; karpathy/minbpe "
    "issue 96).",
    decoded="error",
)
exercise.option(
    "question_marks",
    "Your text has ? for bytes that are not UTF-8.",
    "Which sign does the docstring promise for them?",
    why="`errors='replace'` gives ? in the other direction, when text is encoded.",
    decoded="?",
)
exercise.option(
    "backslashes",
    "Your text has \\x and a number for bytes that are not UTF-8.",
    "Which sign does the docstring promise for them?",
    why="`errors='backslashreplace'` loses nothing, so it seems the best way.",
    decoded="backslashes",
)
exercise.option(
    "byte_order_mark_lost",
    "A text that begins with U+FEFF, the bytes 239, 187 and 191, has lost it.",
    "Which text did these bytes encode, and is it the one that comes back?",
    why="`utf-8-sig` reads files of Windows programs, which begin with this mark.",
    decoded="first mark lost",
)
exercise.option(
    "bytes_as_latin_1",
    "Each byte has become a character of its own: ä reads Ã¤.",
    "How many bytes does UTF-8 use for ä?",
    why="`chr(byte)` or Latin-1 is right for ASCII and never stops.",
    decoded="Latin-1",
)
exercise.option(
    "bytes_as_ascii",
    "Your text has � for each byte of a letter that is not in ASCII.",
    "How many bytes does UTF-8 use for ä?",
    why="ASCII is enough for every English text.",
    decoded="ASCII",
)
exercise.option(
    "symbols_shown",
    "Your text shows the symbols of the alphabet: a space reads Ġ.",
    "Which byte does the symbol Ġ stand for?",
    why="Joining the vocabulary's tokens is enough in the earlier exercise `decode`.",
    symbols="shown",
)
exercise.option(
    "only_spaces_restored",
    "Ġ has become a space in your text, and all other symbols stay what they are.",
    "Which bytes do the symbols Ã and Ċ stand for?",
    why="`.replace('Ġ', ' ')` seems complete as long as one reads English.",
    symbols="spaces only",
)
exercise.option(
    "negative_numbers_accepted",
    "Negative token ids count from the end of your vocabulary.",
    "What does Python give for `tokens[-1]`?",
    why="Only the upper bound is checked; a list accepts negative indices too.",
    unknown="negative index",
)
exercise.option(
    "unknown_numbers_skipped",
    "Token ids that are not in the vocabulary are left out of your text.",
    "How should a caller learn that a token id is wrong?",
    why="`if number in vocabulary` without an `else` keeps a program from stopping.",
    unknown="left out",
)
exercise.option(
    "unknown_numbers_replaced",
    "Token ids that are not in the vocabulary have become � in your text.",
    "How should a caller learn that a token id is wrong?",
    why="The sign for wrong bytes is used for wrong token ids too.",
    unknown="�",
)
exercise.option(
    "special_tokens_left_out",
    "Your text has no special tokens.",
    "Is the text that comes back the one that was encoded?",
    why="`skip_special_tokens=True` is common, since one seldom wants to read them.",
    special="left out",
)
exercise.option(
    "special_tokens_through_the_alphabet",
    "Your special tokens go through the alphabet of bytes as if they were made of it.",
    "Is the ü of a special token a byte's symbol, or a letter?",
    why="One loop over all tokens is shorter, and right for <end>; "
    "huggingface/tokenizers pull request 1513 mends the same.",
    special="no",
)
exercise.option(
    "symbols_taken_for_special_tokens",
    "A byte is read as a special token, because its symbol is the same.",
    "What tells a special token from a byte: its text or its id?",
    why="`if token in special_tokens` reads well, and is wrong for a token such as §.",
    special="by text",
)
exercise.option(
    "pairs_before_bytes",
    "The ids of your pairs come before those of the bytes.",
    "In which order does `byte_vocabulary` list bytes, pairs and special tokens?",
    why="Pairs are numbered by their rank, which begins at 0.",
    numbered="pairs, bytes, special",
)
exercise.option(
    "bytes_numbered_by_symbol",
    "Your bytes are numbered in the order of their symbols: 0 is `!`.",
    "Which number has the byte of the letter a?",
    why="GPT-2's vocabulary starts with `!`, since its program lists the bytes that "
    "one can see first.",
    numbered="bytes by symbol",
)
exercise.option(
    "stripped",
    "White space at both ends of your text is cut off.",
    "Is the text that comes back the one that was encoded?",
    why="Several decoders strip, to undo a space that their encoders put in "
    "(huggingface/transformers issue 46491).",
    tidied="strip",
)
exercise.option(
    "stripped_at_the_start",
    "White space at the start of your text is cut off.",
    "Is the text that comes back the one that was encoded?",
    why="Encoders that put a space in front have decoders that take it off.",
    tidied="lstrip",
)
exercise.option(
    "white_space_unified",
    "Your text has one space for any white space.",
    "Is the text that comes back the one that was encoded?",
    why="`' '.join(text.split())` is a habit of cleaning text.",
    tidied="one space",
)
exercise.option(
    "accents_composed",
    "Letters with an accent have changed: two characters have become one.",
    "Is the text that comes back the one that was encoded?",
    why="Normalising to NFC is good advice for training data; here it changes text.",
    tidied="NFC",
)
exercise.option(
    "lower_cased",
    "Your text is in small letters.",
    "Is the text that comes back the one that was encoded?",
    why="Many introductions to text start with text.lower().",
    tidied="lower",
)
exercise.option(
    "bytes_returned",
    "Your result is bytes, not a text.",
    "Which type does the docstring promise?",
    why="Bytes of English print like a text, with a b in front.",
    returns="bytes",
)
exercise.option(
    "list_of_texts",
    "Your result is a list with a text for each token.",
    "Which type does the docstring promise?",
    why="The texts are collected, and `''.join` is forgotten.",
    returns="texts",
)
exercise.option(
    "none_without_text",
    "Your result is None where there is no text.",
    "Which text has no token ids?",
    why="`if not token_ids: return` leaves out what to return.",
    returns="None if empty",
)
exercise.option(
    "numbers_used_up",
    "Your call leaves the caller's list of token ids empty.",
    "Whose list do you take the token ids from?",
    why="`token_ids.pop(0)` is a handy way to take one token id after the other.",
    used_up="token ids",
)
exercise.options_of(
    encode_bytes_exercise, "special_tokens_before_pairs", "special_tokens_before_bytes"
)
exercise.options_of(encode_word_exercise, "merges_used_up")
