import codecs
import functools
import io

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


@answers.other
def numbers_as_characters(token_ids, merges, special_tokens=()):
    list(parts_of(token_ids, merges, special_tokens))
    return "".join(map(chr, token_ids))


@answers.other
def tokens_with_bars(token_ids, merges, special_tokens=()):
    parts = parts_of(token_ids, merges, special_tokens)
    return "|".join(part.decode(errors="replace") for part in parts)


@answers.other
def capitals(token_ids, merges, special_tokens=()):
    return table_of_bytes(token_ids, merges, special_tokens).upper()
