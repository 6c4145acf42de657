"""Cases and misconceptions of ``encode_bytes``."""

import re
import unicodedata
from functools import partial

from autograder import Exercise
from autograder.exercises import encode_word as encoding
from autograder.exercises.encode_word import exercise as encode_word_exercise
from course_lib.bpe import encode_word
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


TIDIED = {  # text between special tokens
    "not": str,
    "strip": str.strip,
    "space in front": lambda text: " " * (text[:1] not in ("", " ")) + text,
    "NFC": lambda text: unicodedata.normalize("NFC", text),
    "lower": str.lower,
    "one space": lambda text: re.sub(r"\s+", " ", text),
}
CUT = {
    "pre-tokens": pre_tokens,
    "not at all": lambda text: [text],
    "at white space": str.split,
    "white space apart": lambda text: re.findall(r"\s+|\S+", text),
    "punctuation not apart": lambda text: re.findall(r" ?\S+|\s+(?!\S)|\s+", text),
}
SPELT = {  # a pre-token as symbols
    "UTF-8": spell_bytes,
    "Latin-1": lambda text: [ALPHABET[b] for b in text.encode("latin-1", "replace")],
    "UTF-16": lambda text: [ALPHABET[b] for b in text.encode("utf-16-le")],
    "chr": lambda text: [chr(byte) for byte in text.encode()],
    "characters": lambda text: [
        ALPHABET[ord(c)] if ord(c) < 256 else "number " + c for c in text
    ],
}
SEARCHED = {  # the order in which special tokens are searched
    "longest": lambda special: sorted(special, key=len, reverse=True),
    "shortest": lambda special: sorted(special, key=len),
    "first listed": list,
    "last listed": lambda special: [*special][::-1],
}
NUMBERED = {  # token id i, where n tokens are bytes and pairs, and s are special
    "bytes, special, pairs": lambda i, n, s: (
        i if i < 256 else i + s if i < n else i - n + 256
    ),
    "special, bytes, pairs": lambda i, n, s: i + s if i < n else i - n,
    "pairs, bytes, special": lambda i, n, s: (
        i + n - 256 if i < 256 else i - 256 if i < n else i
    ),
    "bytes by symbol": lambda i, n, s: (
        sorted(ALPHABET).index(ALPHABET[i]) if i < 256 else i
    ),
    "pairs from 257": lambda i, n, s: i + (i >= 256),
    "special one later": lambda i, n, s: i + (i >= n),
    "special from 0": lambda i, n, s: i if i < n else i - n,
    "special with one id": lambda i, n, s: min(i, n),
}
RETURNS = {
    "list": lambda ids, tokens: [i for part in ids for i in part],
    "tuple": lambda ids, tokens: tuple(i for part in ids for i in part),
    "by pre-token": lambda ids, tokens: ids,
    "tokens": lambda ids, tokens: tokens,
    "None if empty": lambda ids, tokens: [i for part in ids for i in part] or None,
}


def split_by_pattern(text, special_tokens, searched, escape):
    if not special_tokens:
        return [text]
    pattern = "|".join(map(escape, SEARCHED[searched](special_tokens)))
    return re.split(f"({pattern})", text)


@exercise.variants
def variants(
    text,
    merges,
    special_tokens=(),
    *,
    searched="longest",
    pattern="escaped",
    special="an id",
    special_order="as listed",
    tidied="not",
    cut="pre-tokens",
    spelt="UTF-8",
    joined=None,
    numbered="bytes, pairs, special",
    names="apart",
    returns="list",
    used_up="nothing",
):
    join = partial(encoding.variants, **joined) if joined else encode_word
    order = {"by length": SEARCHED["longest"](special_tokens)}
    order = order.get(special_order) or list(special_tokens)
    order = sorted(special_tokens) if special_order == "sorted" else order
    escape = re.escape if pattern == "escaped" else str
    parts = split_by_pattern(text, special_tokens, searched, escape)
    if special == "split":
        parts = [text]
    vocabulary = byte_vocabulary(merges)
    n = len(vocabulary)
    if numbered == "each text once":
        vocabulary = [*dict.fromkeys(vocabulary)]
    ids_of = {token: token_id for token_id, token in enumerate(vocabulary)}
    n = len(ids_of) if numbered in ("each text once", "special by texts") else n
    ids, tokens = [], []
    for part in parts:
        if part in special_tokens and special != "split":
            ids += [] if special == "left out" else [[n + order.index(part)]]
            tokens.append(part)
            continue
        for pre_token in CUT[cut](TIDIED[tidied](part)):
            word = join(tuple(SPELT[spelt](pre_token)), merges)
            tokens += word
            if spelt == "chr":
                word = [ALPHABET[ord(t)] if len(t) == 1 else t for t in word]
            ids.append([ids_of[t] if t in ids_of else ord(t[-1]) for t in word])
    if names == "together":
        every = [*vocabulary, *order]
        ids_of = {token: token_id for token_id, token in enumerate(every)}
        ids = [[ids_of[every[i]] for i in part] for part in ids]
    s = len(special_tokens)
    if numbered in NUMBERED:
        ids = [[NUMBERED[numbered](i, n, s) for i in part] for part in ids]
    if used_up == "merges":
        merges.clear()
    return RETURNS[returns](ids, tokens)


exercise.option(
    "numbers_of_characters",
    "Your token ids are the numbers of the characters, not those of their bytes.",
    "How many bytes has ä, and how many token ids did your code give for it?",
    why="`ord(character)` is right for every English text; minbpe encodes to UTF-8 "
    "first.",
    spelt="characters",
)
exercise.option(
    "latin_1",
    "Your bytes are those of Latin-1: one for ä, and a question mark for 猫.",
    "Which encoding has room for every character?",
    why="Latin-1 gives one byte for each European letter, so small tests pass.",
    spelt="Latin-1",
)
exercise.option(
    "utf_16",
    "Your bytes are those of UTF-16: two for each letter at least.",
    "Which encoding does the alphabet's text speak of: how many bytes has a?",
    why="Windows and Java write texts in UTF-16.",
    spelt="UTF-16",
)
exercise.option(
    "alphabet_missing",
    "Your token ids have no pair joined that holds a space or another invisible byte.",
    "With which symbol do the pairs write a space?",
    why="`chr(byte)` seems to be the alphabet, and differs for 68 bytes; the space is "
    "one of them.",
    spelt="chr",
)
exercise.option(
    "bytes_numbered_by_symbol",
    "Your bytes are numbered in the order of their symbols: `!` is 0.",
    "Which number has the byte of the letter a?",
    why="GPT-2's vocabulary starts with `!`, since its program lists the bytes that "
    "one can see first.",
    numbered="bytes by symbol",
)
exercise.option(
    "pairs_before_bytes",
    "Your pairs have the first token ids, before the bytes.",
    "In which order does `byte_vocabulary` list bytes, pairs and special tokens?",
    why="Pairs are numbered by their rank, which begins at 0.",
    numbered="pairs, bytes, special",
)
exercise.option(
    "pairs_from_257",
    "Your token ids of pairs and special tokens are larger by 1.",
    "Which id has the last of the 256 bytes?",
    why="There are 256 bytes, so 256 is taken for the last one.",
    numbered="pairs from 257",
)
exercise.option(
    "special_tokens_after_different_texts",
    "The ids of your special tokens are too small where two pairs give the same text.",
    "How many tokens do the pairs (a, bc) and (ab, c) add to the vocabulary, and how "
    "many entries to a dictionary by text?",
    why="`len(ids)` of a dictionary from texts to ids counts each text once.",
    numbered="special by texts",
)
exercise.option(
    "pairs_of_one_text_share_an_id",
    "Your pairs that give the same text share one id, and all later ids are too small.",
    "What does the docstring say of how many token ids the pairs have?",
    why="`if token not in ids: ids[token] = len(ids)` numbers each text once.",
    numbered="each text once",
)
exercise.option(
    "special_tokens_before_pairs",
    "The ids of your special tokens come before those of the pairs.",
    "In which order does `byte_vocabulary` list bytes, pairs and special tokens?",
    why="Hugging Face's trainer numbers special tokens first.",
    numbered="bytes, special, pairs",
)
exercise.option(
    "special_tokens_before_bytes",
    "The ids of your special tokens come before those of the bytes.",
    "In which order does `byte_vocabulary` list bytes, pairs and special tokens?",
    why="Vocabularies of words begin with <pad> and <unk>.",
    numbered="special, bytes, pairs",
)
exercise.option(
    "special_tokens_from_0",
    "The ids of your special tokens are their indices among the special tokens.",
    "How many tokens stand in the vocabulary before the first special one?",
    why="`special_tokens.index(part)` is a number, and passes for an id.",
    numbered="special from 0",
)
exercise.option(
    "special_tokens_one_later",
    "The ids of your special tokens are larger by 1.",
    "Which id has the last pair, and which one comes next?",
    why="The count of all tokens is taken for the last one's id.",
    numbered="special one later",
)
exercise.option(
    "special_tokens_share_an_id",
    "Your special tokens all have the same id.",
    "How should a decoder tell two special tokens apart?",
    why="With one special token, as GPT-2 has, its index is never asked for.",
    numbered="special with one id",
)
exercise.option(
    "special_tokens_numbered_by_length",
    "Your special tokens are numbered by their length, the longest first.",
    "Which order do the token ids follow: that of searching, or that of the argument?",
    why="The list is sorted so that longer ones are found first, and then counted.",
    special_order="by length",
)
exercise.option(
    "special_tokens_numbered_in_order",
    "Your special tokens are numbered in Python's order of texts.",
    "Which order do the token ids follow?",
    why="A set of special tokens is sorted so that it has an order at all.",
    special_order="sorted",
)
exercise.option(
    "special_token_hides_a_byte",
    "A special token and a byte with the same symbol have the same id in your result.",
    "What becomes of a key that stands in a dictionary twice?",
    why="One dictionary for all of `byte_vocabulary` is the shortest code, and wrong "
    "for a special token such as §.",
    names="together",
)
exercise.option(
    "special_tokens_split",
    "Your special tokens are split into tokens like other text.",
    "What does a special token stand for, wherever it occurs?",
    why="An encoder that knows only pre-tokens and pairs does it "
    "(gh-markt/cpp-tiktoken issue 5).",
    special="split",
)
exercise.option(
    "special_tokens_left_out",
    "Your token ids leave out the special tokens.",
    "From which token id should a model know that the text ends?",
    why="`skip_special_tokens` is common, and the text is cut at them anyway.",
    special="left out",
)
exercise.option(
    "first_listed_special_token_wins",
    "Of two special tokens that fit, your token ids have the one that is listed first.",
    "Which one should win where <a> and <a><b> both fit?",
    why="An alternative of a regular expression wins by its position in the list "
    "(stanford-cs336/assignment1-basics pull request 52, ggml-org/llama.cpp pull "
    "request 29102).",
    searched="first listed",
)
exercise.option(
    "last_listed_special_token_wins",
    "Of two special tokens that fit, your token ids have the one that is listed last.",
    "Which one should win where <a> and <a><b> both fit?",
    why="A loop over the special tokens overwrites what it has chosen before.",
    searched="last listed",
)
exercise.option(
    "shortest_special_token_wins",
    "Of two special tokens that fit, your token ids have the shorter one.",
    "Which one should win where <a> and <a><b> both fit?",
    why="`sorted(…, key=len)` begins with the shortest.",
    searched="shortest",
)
exercise.option(
    "special_tokens_not_escaped",
    "Signs in your special tokens act as a regular expression: | means `or`.",
    "What does the pattern `<|end|>` match?",
    why="The tokens are joined to a pattern without `re.escape`; minbpe and tiktoken "
    "call it for this reason.",
    pattern="as it is",
)
exercise.option(
    "joined_across_pre_tokens",
    "Your pairs are joined across the whole text, not within its pre-tokens.",
    "Within what may symbols be joined?",
    why="The first byte-pair encoders of a course, as minbpe's basic one, have no "
    "pre-tokenisation.",
    cut="not at all",
)
exercise.option(
    "split_at_white_space",
    "Your token ids have no white space: the text is split at it, and it is lost.",
    "From which token ids should a decoder know where a space stood?",
    why="`text.split()` is how the words of the earlier exercises were made; "
    "dotnet/machinelearning pull request 7716 warns of the same loss.",
    cut="at white space",
)
exercise.option(
    "white_space_apart",
    "Your pairs never join a space with the word after it.",
    "To which pre-token belongs the space in front of a word?",
    why="Words and white space are cut apart, as in most programs for text.",
    cut="white space apart",
)
exercise.option(
    "punctuation_not_apart",
    "Your pairs are joined across letters and other signs, as in cat!.",
    "How many pre-tokens has `cat!`?",
    why="Words end at white space in the earlier exercises.",
    cut="punctuation not apart",
)
exercise.option(
    "stripped",
    "Your token ids leave out the white space at the ends of the text, or of its "
    "parts.",
    "Is the text that one gets back the one that went in?",
    why="`.strip()` is a habit of cleaning text, before or after special tokens.",
    tidied="strip",
)
exercise.option(
    "white_space_unified",
    "Your token ids have one space for any white space.",
    "Is the text that one gets back the one that went in?",
    why="`' '.join(text.split())` is a habit of cleaning text.",
    tidied="one space",
)
exercise.option(
    "space_put_before",
    "Your token ids begin with a space that the text does not have.",
    "Would the decoded text be the one that went in?",
    why="Hugging Face's byte-level splitter adds a space by default "
    "(huggingface/tokenizers issues 608 and 1174).",
    tidied="space in front",
)
exercise.option(
    "accents_composed",
    "Your token ids are those of a text in which accents are composed.",
    "Do E followed by an accent and É have the same bytes?",
    why="Normalising to NFC is good advice for training data; here it changes text.",
    tidied="NFC",
)
exercise.option(
    "lower_cased",
    "Your token ids are those of a text in small letters.",
    "Is the text that one gets back the one that went in?",
    why="Many introductions to text start with text.lower().",
    tidied="lower",
)
exercise.option(
    "longest_match",
    "Your tokens are the longest known ones that fit, cut off from the left.",
    "Which pair of abc was learned first?",
    why="Searching for the longest token in the vocabulary is how WordPiece encodes.",
    joined={"algorithm": "longest match"},
)
exercise.option(
    "passes_from_left_to_right",
    "Your known pairs are joined from left to right, whatever their ranks.",
    "Which pair of abc was learned first?",
    why="A loop over the word that joins what it knows is the shortest code.",
    joined={"algorithm": "passes"},
)
exercise.option(
    "latest_pair_first",
    "Your pair that was learned last is joined first.",
    "Which pair of abc was learned first?",
    why="`max` over the ranks, or a list of pairs read from its end.",
    joined={"pick": "latest"},
)
exercise.option(
    "nothing_joined",
    "Your token ids are all bytes: no pair is joined.",
    "Which id has the token that the first merge made?",
    why="`list(text.encode())` gives token ids that decode to the text, too.",
    joined={"joined": {"which": "none"}},
)
exercise.option(
    "one_joining_only",
    "Your token ids have one joining in each pre-token, and no other after it.",
    "After two symbols have been joined, can the new one be part of a known pair?",
    why="`return` stands inside the loop, or there is no loop.",
    joined={"repeated": "never"},
)
exercise.option(
    "tokens_returned",
    "Your result is a list of tokens, not of their ids.",
    "Which type has each entry of the result in the docstring's example?",
    why="`encode_word` gives tokens, and they are returned as they are.",
    returns="tokens",
)
exercise.option(
    "list_for_each_pre_token",
    "Your result has a list of token ids for each pre-token and special token.",
    "What does the docstring's example hold: numbers, or lists?",
    why="`append` where the ids of a pre-token had to be added one by one.",
    returns="by pre-token",
)
exercise.option(
    "tuple_returned",
    "Your token ids come in a tuple.",
    "Which type has the result in the docstring's example?",
    why="Words are tuples, so the result becomes one too.",
    returns="tuple",
)
exercise.option(
    "none_without_text",
    "Your result is None where there are no token ids.",
    "What are the token ids of an empty text?",
    why="`if not text: return` leaves out what to return.",
    returns="None if empty",
)
exercise.options_of(encode_word_exercise, "merges_used_up")
