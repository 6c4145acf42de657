"""Cases and misconceptions of ``encode_bytes``."""

import re
import unicodedata

from autograder import Exercise
from course_lib.bpe import encode_word
from course_lib.byte_bpe import (
    ALPHABET,
    BYTE_OF,
    byte_vocabulary,
    encode_bytes,
    pre_tokens,
    spell_bytes,
    split_special,
)
from course_lib.lessons import token_statistics

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
MANY += [("Ã", "Ł")]


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


@exercise.case("A letter that is not in ASCII has two to four token ids: its bytes")
def bytes_of_letters(student, rng):
    student.expect(student("ßé", []), [195, 159, 195, 169])
    student.expect(student("a猫🐦", []), [97, 231, 140, 171, 240, 159, 144, 166])
    merges = [("Ã", "¤"), spell_bytes("ß")]
    student.expect(student("ßä", merges), [257, 256])
    student.agrees("".join(rng.choice([*"aßé猫🐦"], 9)), [])


@exercise.case("Pairs are joined in the order of learning: abc gives a and bc")
def earliest_pair_first(student, rng):
    student.expect(student("abc", [("b", "c"), ("a", "b")]), [97, 256])
    merges = [("a", "t"), ("Ã", "¤"), ("m", "at"), ("Ġ", "Ã¤")]
    student.expect(student("at ämat", merges), [256, 259, 258])


@exercise.case("A space is joined to the word after it, and to no word before it")
def spaces_belong_to_words(student, rng):
    student.expect(student("at the the", THE), [256, 259, 259])
    student.agrees("at" + "".join(rng.choice([" the", "at"], 30)), THE)


@exercise.case(
    "Nothing is joined across two pre-tokens: of four spaces one is the word's"
)
def pre_tokens_stay_apart(student, rng):
    student.expect(student("at\n    the", THE), [256, 10, 260, 32, 259])
    student.expect(student("cat!", [("t", "!"), ("a", "t")]), [99, 257, 33])


@exercise.case("White space stays, at both ends too, and no text gives no token ids")
def white_space(student, rng):
    student.expect(student(" a \t\n", []), [32, 97, 32, 9, 10])
    student.expect(student("", THE), [])
    between = "".join(rng.choice([*"at \t\n"], 9))
    student.agrees(f" {between}\n", [])


@exercise.case("Capitals and accents stay as they were written")
def nothing_is_tidied(student, rng):
    student.expect(student("E\u0301É", []), [69, 204, 129, 195, 137])


@exercise.case("Special tokens count wherever they stand, and the longest that fits")
def special_tokens(student, rng):
    special = ("<a>", "<a><b>", "<c>")
    token_ids = student("<a><b>at<a>b<c>", [("a", "t")], special)
    student.expect(token_ids, [258, 256, 257, 98, 259])


@exercise.case("A special token may hold signs like | and spaces")
def signs_in_special_tokens(student, rng):
    token_ids = student("at <|a t|>", [("a", "t")], ("<|a t|>",))
    student.expect(token_ids, [256, 32, 257])


@exercise.case("A special token that looks like a byte's symbol leaves the byte alone")
def special_token_like_a_symbol(student, rng):
    student.expect(student("ç§", [("a", "t")], ("§",)), [195, 167, 257])


@exercise.case("An empty special token gives ValueError")
def empty_special_token(student, rng):
    student.raises(ValueError, "at", [], ("<end>", ""))


# Hidden, because Python's own UnicodeEncodeError is right here as well as a plain
# ValueError, and a misconception is named only if the kinds of all errors agree.
@exercise.case("Half a surrogate pair gives ValueError", visible=False)
def half_a_surrogate_pair(student, rng):
    student.raises(ValueError, "a\ud83d", [])


@exercise.case("Any text gives its token ids", visible=False)
def any_text(student, rng):
    parts = [
        "at",
        " the",
        "ä",
        " Ä",
        "猫",
        "👩‍👩‍👧",
        "!",
        "   ",
        "\n",
        "<end>",
        "E\u0301",
    ]
    parts += ["12", "abc", "'s", " mat", "<", "§", "Ġ", "\x00"]
    for count in (20, 9, 14):
        text = "".join(rng.choice(parts, count))
        student.agrees(text, MANY, ("§", "<end>", "<end>\n"))


def encoded(
    text,
    merges,
    special_tokens,
    *,
    tidy=str,
    cut=pre_tokens,
    spell=spell_bytes,
    join=encode_word,
):
    """Encode as the course does, with one of the steps replaced."""
    tokens = byte_vocabulary(merges)
    id_of = {token: token_id for token_id, token in enumerate(tokens)}
    result = []
    for part in split_special(text, special_tokens):
        if part in special_tokens:
            result.append(len(tokens) + special_tokens.index(part))
        else:
            for pre_token in cut(tidy(part)):
                result += [id_of[token] for token in join(spell(pre_token), merges)]
    return result


def encoded_by_pattern(text, merges, special_tokens, pattern):
    """Encode rightly, but split at special tokens by another pattern."""
    if not special_tokens or "" in special_tokens:
        return encode_bytes(text, merges, special_tokens)
    result = []
    for part in re.split(f"({pattern})", text):
        if part in special_tokens:
            result.append(256 + len(merges) + special_tokens.index(part))
        else:
            result += encode_bytes(part, merges)
    return result


def renumbered(text, merges, special_tokens, new):
    """Encode rightly, but give every token of the vocabulary a new id."""
    return [new[token_id] for token_id in encode_bytes(text, merges, special_tokens)]


@exercise.misconception(
    "Your token ids are the numbers of the characters, not those of their bytes.",
    "How many bytes has ä, and how many token ids did your code give for it?",
    why="`ord(character)` is right for every English text; minbpe encodes to UTF-8 "
    "first.",
)
def numbers_of_characters(text, merges, special_tokens=()):
    rank_of = {left + right: rank for rank, (left, right) in enumerate(merges)}
    pairs = [
        tuple(256 + rank_of[s] if s in rank_of else BYTE_OF[s] for s in pair)
        for pair in merges
    ]
    result = []
    for part in split_special(text, special_tokens):
        if part in special_tokens:
            result.append(256 + len(merges) + special_tokens.index(part))
            continue
        for pre_token in pre_tokens(part):
            symbols = [ord(character) for character in pre_token]
            for rank, pair in enumerate(pairs):
                position = 0
                while position < len(symbols) - 1:
                    if tuple(symbols[position : position + 2]) == pair:
                        symbols[position : position + 2] = [256 + rank]
                    position += 1
            result += symbols
    return result


@exercise.misconception(
    "Your bytes are those of Latin-1: one for ä, and a question mark for 猫.",
    "Which encoding has room for every character?",
    why="Latin-1 gives one byte for each European letter, so small tests pass.",
)
def latin_1(text, merges, special_tokens=()):
    def spell(pre_token):
        return tuple(ALPHABET[byte] for byte in pre_token.encode("latin-1", "replace"))

    return encoded(text, merges, special_tokens, spell=spell)


@exercise.misconception(
    "Your bytes are numbered in the order of their symbols: `!` is 0.",
    "Which number has the byte of the letter a?",
    why="GPT-2's vocabulary starts with `!`, since its program lists the bytes that "
    "one can see first.",
)
def bytes_numbered_by_symbol(text, merges, special_tokens=()):
    new = list(range(len(byte_vocabulary(merges, special_tokens))))
    for position, symbol in enumerate(sorted(ALPHABET)):
        new[BYTE_OF[symbol]] = position
    return renumbered(text, merges, special_tokens, new)


@exercise.misconception(
    "Pairs with a space or another invisible byte are never joined in your code.",
    "With which symbol do the pairs write a space?",
    why="`chr(byte)` looks like the alphabet, and differs for 68 bytes; the space is "
    "one of them.",
)
def alphabet_missing(text, merges, special_tokens=()):
    def spell(pre_token):
        return tuple(chr(BYTE_OF[symbol]) for symbol in spell_bytes(pre_token))

    def join(word, merges):
        tokens = encode_word(word, merges)
        return [ALPHABET[ord(t)] if len(t) == 1 else t for t in tokens]

    return encoded(text, merges, special_tokens, spell=spell, join=join)


@exercise.misconception(
    "Your pairs are joined across the whole text, not within its pre-tokens.",
    "Within what may symbols be joined?",
    why="The first byte-pair encoders of a course, as minbpe's basic one, have no "
    "pre-tokenisation.",
)
def joined_across_pre_tokens(text, merges, special_tokens=()):
    return encoded(text, merges, special_tokens, cut=lambda part: [part])


@exercise.misconception(
    "Your token ids have no white space: the text is split at it, and it is lost.",
    "From which token ids should a decoder know where a space stood?",
    why="`text.split()` is how the words of the earlier exercises were made; "
    "dotnet/machinelearning pull request 7716 warns of the same loss.",
)
def split_at_white_space(text, merges, special_tokens=()):
    return encoded(text, merges, special_tokens, cut=str.split)


@exercise.misconception(
    "Your special tokens are split into tokens like other text.",
    "What does a special token stand for, wherever it occurs?",
    why="An encoder that knows only pre-tokens and pairs does it "
    "(gh-markt/cpp-tiktoken issue 5).",
)
def special_tokens_split(text, merges, special_tokens=()):
    return encode_bytes(text, merges)


@exercise.misconception(
    "Of two special tokens that fit, your code takes the one that is listed first.",
    "Which one should win where <a> and <a><b> both fit?",
    why="An alternative of a regular expression wins by its position in the list "
    "(stanford-cs336/assignment1-basics pull request 52, ggml-org/llama.cpp pull "
    "request 29102).",
)
def first_listed_special_token_wins(text, merges, special_tokens=()):
    pattern = "|".join(map(re.escape, special_tokens))
    return encoded_by_pattern(text, merges, special_tokens, pattern)


@exercise.misconception(
    "The ids of your special tokens come before those of the pairs.",
    "In which order does `byte_vocabulary` list bytes, pairs and special tokens?",
    why="Hugging Face's trainer numbers special tokens first.",
)
def special_tokens_before_pairs(text, merges, special_tokens=()):
    after = 256 + len(special_tokens)
    joined = range(after, after + len(merges))
    return renumbered(
        text, merges, special_tokens, [*range(256), *joined, *range(256, after)]
    )


@exercise.misconception(
    "Your special tokens are numbered by their length, the longest first.",
    "Which order do the token ids follow: that of searching, or that of the argument?",
    why="The list is sorted so that longer ones are found first, and then counted.",
)
def special_tokens_numbered_by_length(text, merges, special_tokens=()):
    return encode_bytes(
        text, merges, tuple(sorted(special_tokens, key=len, reverse=True))
    )


@exercise.misconception(
    "Signs in your special tokens act as a regular expression: | means `or`.",
    "What does the pattern `<|end|>` match?",
    why="The tokens are joined to a pattern without `re.escape`; minbpe and tiktoken "
    "call it for this reason.",
)
def special_tokens_not_escaped(text, merges, special_tokens=()):
    pattern = "|".join(sorted(special_tokens, key=len, reverse=True))
    return encoded_by_pattern(text, merges, special_tokens, pattern)


@exercise.misconception(
    "One of your special tokens has taken the id of a byte with the same symbol.",
    "What becomes of a key that stands in a dictionary twice?",
    why="One dictionary for all of `byte_vocabulary` is the shortest code, and wrong "
    "for a special token such as §.",
)
def special_token_hides_a_byte(text, merges, special_tokens=()):
    tokens = byte_vocabulary(merges, special_tokens)
    id_of = {token: token_id for token_id, token in enumerate(tokens)}
    return [id_of[tokens[n]] for n in encode_bytes(text, merges, special_tokens)]


@exercise.misconception(
    "Your token ids leave out the white space at the ends of the text.",
    "Is the text that one gets back the one that went in?",
    why="`.strip()` is a habit of cleaning text, before or after special tokens.",
)
def stripped(text, merges, special_tokens=()):
    return encoded(text, merges, special_tokens, tidy=str.strip)


@exercise.misconception(
    "Your token ids begin with a space that the text does not have.",
    "Would the decoded text be the one that went in?",
    why="Hugging Face's byte-level splitter adds a space by default "
    "(huggingface/tokenizers issues 608 and 1174).",
)
def space_put_before(text, merges, special_tokens=()):
    def tidy(part):
        return part if part.startswith(" ") or not part else " " + part

    return encoded(text, merges, special_tokens, tidy=tidy)


@exercise.misconception(
    "Your token ids are those of a text in which accents are composed.",
    "Do E followed by an accent and É have the same bytes?",
    why="Normalising to NFC is good advice for training data; here it changes text.",
)
def accents_composed(text, merges, special_tokens=()):
    def tidy(part):
        return unicodedata.normalize("NFC", part)

    return encoded(text, merges, special_tokens, tidy=tidy)


@exercise.misconception(
    "Your tokens are the longest known ones that fit, cut off from the left.",
    "Which pair of abc was learned first?",
    why="Looking for the longest token in the vocabulary is how WordPiece encodes.",
)
def longest_match(text, merges, special_tokens=()):
    known = {left + right for left, right in merges}

    def join(word, merges):
        return token_statistics.longest_match(word, known)

    return encoded(text, merges, special_tokens, join=join)


@exercise.misconception(
    "Your code gives a question mark for half a surrogate pair.",
    "Could the text be put together again from your token ids?",
    why="`.encode(errors='replace')` ends the error message, and loses the text.",
)
def surrogates_replaced(text, merges, special_tokens=()):
    return encode_bytes(text.encode(errors="replace").decode(), merges, special_tokens)
