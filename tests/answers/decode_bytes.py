import codecs
import functools
import io
import re
import unicodedata

from course_lib.byte_bpe import ALPHABET, BYTE_OF, byte_vocabulary
from tests.answers import Answers

answers = Answers("decode_bytes")


def parts_of(token_ids, merges, special_tokens=()):
    """Yield the bytes of each token."""
    made = [bytes(BYTE_OF[c] for c in left + right) for left, right in merges]
    table = [bytes([n]) for n in range(256)] + made
    table += [special.encode("utf-8") for special in special_tokens]
    for number in token_ids:
        if number not in range(len(table)):
            raise ValueError("unknown token id")
        yield table[number]


@answers.correct
def table_of_bytes(token_ids, merges, special_tokens=()):
    data = b"".join(parts_of(token_ids, merges, special_tokens))
    return str(data, "utf-8", "replace")


@answers.correct
def one_token_after_the_other(token_ids, merges, special_tokens=()):
    """Decode incrementally, as a program that shows text while it comes."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    text = ""
    for part in parts_of(token_ids, merges, special_tokens):
        text += decoder.decode(part)
    return text + decoder.decode(b"", final=True)


@answers.correct
def stream(token_ids, merges, special_tokens=()):
    data = io.BytesIO()
    data.writelines(parts_of(token_ids, merges, special_tokens))
    data.seek(0)
    return io.TextIOWrapper(data, "utf-8", "replace", newline="").read()


@answers.correct
def symbols_then_bytes(token_ids, merges, special_tokens=()):
    """Write all as symbols first, special tokens too."""
    tokens = byte_vocabulary(merges)
    for special in special_tokens:
        tokens.append("".join(ALPHABET[byte] for byte in special.encode()))
    if any(number < 0 or number >= len(tokens) for number in token_ids):
        raise ValueError(f"not all of {token_ids} are in the vocabulary")
    symbols = "".join(map(tokens.__getitem__, token_ids))
    return bytearray(map(BYTE_OF.get, symbols)).decode(errors="replace")


@answers.correct
def dictionary(token_ids, merges, special_tokens=()):
    table = {**dict(enumerate(parts_of(range(256), [])))}
    for left, right in merges:
        table[len(table)] = bytes(ALPHABET.index(c) for c in left + right)
    for special in special_tokens:
        table[len(table)] = special.encode()
    try:
        data = [table[number] for number in token_ids]
    except KeyError as missing:
        raise ValueError(f"no token has the id {missing}") from None
    return b"".join(data).decode("utf8", "replace")


@answers.correct
def letters_by_hand(token_ids, merges, special_tokens=()):
    """Cut off one letter at a time; what does not fit gives one sign."""
    data = b"".join(parts_of(token_ids, merges, special_tokens))
    text = ""
    while data:
        for length in (1, 2, 3, 4):
            try:
                text += data[:length].decode()
                break
            except UnicodeDecodeError as error:
                wrong = error
        else:
            length = wrong.end
            text += "\ufffd"
        data = data[length:]
    return text


@answers.correct
def between_special_tokens(token_ids, merges, special_tokens=()):
    """Decode what stands between special tokens, which are text already."""
    text, waiting = "", []
    for number, part in zip(
        token_ids, parts_of(token_ids, merges, special_tokens), strict=True
    ):
        if number < 256 + len(merges):
            waiting.append(part)
            continue
        text += b"".join(waiting).decode(errors="replace")
        text += special_tokens[number - 256 - len(merges)]
        waiting = []
    return text + b"".join(waiting).decode(errors="replace")


class Decoder:
    errors = "replace"

    def __call__(self, token_ids, merges, special_tokens=()):
        data = bytearray().join(parts_of(token_ids, merges, special_tokens))
        return codecs.decode(data, "utf-8", self.errors)


answers.right["callable_object"] = Decoder()
answers.right["partial"] = functools.partial(
    lambda decode, *arguments: decode(*arguments), symbols_then_bytes
)


def all_bytes(token_ids, merges, special_tokens):
    return functools.reduce(
        lambda a, b: a + b, parts_of(token_ids, merges, special_tokens), b""
    )


@answers.also("token_by_token")
def each_part_alone(token_ids, merges, special_tokens=()):
    text = ""
    for part in parts_of(token_ids, merges, special_tokens):
        text += part.decode("utf-8", "replace")
    return text


@answers.also("errors_ignored")
def wrong_bytes_cut_out(token_ids, merges, special_tokens=()):
    data, text = all_bytes(token_ids, merges, special_tokens), ""
    while True:
        try:
            return text + data.decode()
        except UnicodeDecodeError as error:
            text += data[: error.start].decode()
            data = data[error.end :]


@answers.also("errors_strict")
def without_a_word_on_errors(token_ids, merges, special_tokens=()):
    return str(all_bytes(token_ids, merges, special_tokens), "utf-8")


@answers.also("bytes_as_latin_1")
def character_of_each_byte(token_ids, merges, special_tokens=()):
    return "".join(map(chr, all_bytes(token_ids, merges, special_tokens)))


def tokens_of(token_ids, merges, special_tokens):
    list(parts_of(token_ids, merges, special_tokens))
    for number in token_ids:
        if number < 256:
            yield ALPHABET[number]
        elif number < 256 + len(merges):
            yield "".join(merges[number - 256])
        else:
            yield special_tokens[number - 256 - len(merges)]


@answers.also("symbols_shown")
def tokens_as_they_are(token_ids, merges, special_tokens=()):
    return "".join(tokens_of(token_ids, merges, special_tokens))


@answers.also("only_spaces_restored")
def split_at_the_space(token_ids, merges, special_tokens=()):
    text = "".join(tokens_of(token_ids, merges, special_tokens))
    return " ".join(text.split(ALPHABET[32]))


def a_sign_for_each_byte(error):
    return "\ufffd" * (error.end - error.start), error.end


codecs.register_error("sign for each byte", a_sign_for_each_byte)


@answers.also("one_sign_per_byte")
def handler_of_its_own(token_ids, merges, special_tokens=()):
    data = all_bytes(token_ids, merges, special_tokens)
    return data.decode(errors="sign for each byte")


@answers.also("one_sign_per_row")
def doubled_signs_removed(token_ids, merges, special_tokens=()):
    text = table_of_bytes(token_ids, merges, special_tokens)
    while "\ufffd\ufffd" in text:
        text = text.replace("\ufffd\ufffd", "\ufffd")
    return text


@answers.also("negative_numbers_accepted")
def upper_bound_only(token_ids, merges, special_tokens=()):
    size = len(byte_vocabulary(merges, special_tokens))
    if max(token_ids, default=0) >= size:
        raise ValueError("too large")
    return table_of_bytes([n % size for n in token_ids], merges, special_tokens)


@answers.also("numbers_not_checked")
def looked_up(token_ids, merges, special_tokens=()):
    size = 256 + len(merges) + len(special_tokens)
    table = [*parts_of(range(size), merges, special_tokens)]
    data = b""
    for number in token_ids:
        data += table[number]
    return data.decode(errors="replace")


@answers.also("unknown_numbers_skipped")
def only_what_is_known(token_ids, merges, special_tokens=()):
    data = b""
    for number in token_ids:
        try:
            data += b"".join(parts_of([number], merges, special_tokens))
        except ValueError:
            continue
    return data.decode(errors="replace")


@answers.also("special_tokens_left_out")
def text_alone(token_ids, merges, special_tokens=()):
    parts = parts_of(token_ids, merges, special_tokens)
    last = 255 + len(merges)
    parts_of_text = [
        part for n, part in zip(token_ids, parts, strict=True) if n <= last
    ]
    return b"".join(parts_of_text).decode(errors="replace")


@answers.also("special_tokens_through_the_alphabet")
def every_symbol_a_byte(token_ids, merges, special_tokens=()):
    data = bytearray()
    for symbol in "".join(tokens_of(token_ids, merges, special_tokens)):
        data.append(BYTE_OF[symbol])
    return data.decode(errors="replace")


@answers.also("symbols_taken_for_special_tokens")
def told_by_their_text(token_ids, merges, special_tokens=()):
    data = []
    for token in tokens_of(token_ids, merges, special_tokens):
        letters = token if token in special_tokens else ""
        data.append(letters.encode() or bytes(map(ALPHABET.index, token)))
    return b"".join(data).decode(errors="replace")


@answers.also("special_tokens_before_pairs")
def other_order(token_ids, merges, special_tokens=()):
    table = [bytes([n]) for n in range(256)]
    table += [special.encode() for special in special_tokens]
    table += [bytes(map(BYTE_OF.get, left + right)) for left, right in merges]
    if not set(token_ids) <= set(range(len(table))):
        raise ValueError("unknown token id")
    return b"".join(table[number] for number in token_ids).decode(errors="replace")


@answers.also("stripped")
def ends_cut_off(token_ids, merges, special_tokens=()):
    return table_of_bytes(token_ids, merges, special_tokens).lstrip().rstrip()


@answers.also("accents_composed")
def each_letter_composed(token_ids, merges, special_tokens=()):
    text = table_of_bytes(token_ids, merges, special_tokens)
    letters = re.findall(".[\u0300-\u036f]*", text, re.DOTALL)
    return "".join(unicodedata.normalize("NFC", letter) for letter in letters)


@answers.also("numbers_used_up")
def list_emptied(token_ids, merges, special_tokens=()):
    parts = []
    for _ in range(len(token_ids)):
        first = token_ids[0]
        del token_ids[0]
        parts += parts_of([first], merges, special_tokens)
    return b"".join(parts).decode(errors="replace")


@answers.other
def numbers_as_characters(token_ids, merges, special_tokens=()):
    list(parts_of(token_ids, merges, special_tokens))
    return "".join(map(chr, token_ids))


@answers.other
def space_between_tokens(token_ids, merges, special_tokens=()):
    parts = parts_of(token_ids, merges, special_tokens)
    return " ".join(part.decode(errors="replace") for part in parts)


@answers.other
def question_marks(token_ids, merges, special_tokens=()):
    return table_of_bytes(token_ids, merges, special_tokens).replace("\ufffd", "?")


@answers.other
def key_error(token_ids, merges, special_tokens=()):
    table = dict(enumerate(parts_of(range(256 + len(merges)), merges)))
    table |= {len(table) + i: s.encode() for i, s in enumerate(special_tokens)}
    return b"".join(table[number] for number in token_ids).decode(errors="replace")


@answers.other
def backslashes(token_ids, merges, special_tokens=()):
    data = all_bytes(token_ids, merges, special_tokens)
    return data.decode(errors="backslashreplace")
