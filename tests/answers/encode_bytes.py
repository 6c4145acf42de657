import functools
import itertools
import re
import unicodedata

from course_lib.bpe import encode_word, merge_pair
from course_lib.byte_bpe import ALPHABET, BYTE_OF, pieces, spell_bytes, split_special
from tests.answers import Answers

answers = Answers("encode_bytes")


def as_bytes(symbols):
    return bytes(BYTE_OF[symbol] for symbol in symbols)


def join_bytes(data, merges):
    """Give the byte strings into which the pairs join some bytes."""
    ranks = {(as_bytes(a), as_bytes(b)): rank for rank, (a, b) in enumerate(merges)}
    parts = [data[i : i + 1] for i in range(len(data))]
    while True:
        places = range(len(parts) - 1)
        found = [(ranks.get((parts[i], parts[i + 1]), 10**9), i) for i in places]
        if not found or min(found)[0] == 10**9:
            return parts
        _, i = min(found)
        parts[i : i + 2] = [parts[i] + parts[i + 1]]


def numbers_of(data, merges):
    made = [as_bytes(left + right) for left, right in merges]
    for part in join_bytes(data, merges):
        yield part[0] if len(part) == 1 else 256 + made.index(part)


def cut_out(text, special_tokens):
    """Give (is special, part) from left to right."""
    start = 0
    while start < len(text):
        places = [(text.find(s, start), -len(s), s) for s in special_tokens]
        places = [found for found in places if found[0] >= 0]
        stop, _, special = min(places, default=(len(text), 0, ""))
        if start < stop:
            yield False, text[start:stop]
        if special:
            yield True, special
        start = stop + len(special)


def assembled(text, merges, special_tokens=(), between=None, refuses=True):
    if any(not special for special in special_tokens):
        raise ValueError("empty special token")
    if refuses and re.search("[\ud800-\udfff]", text):
        raise ValueError("half a surrogate pair")
    between = between or (
        lambda part: [n for p in pieces(part) for n in numbers_of(p.encode(), merges)]
    )
    numbers = []
    for special, part in cut_out(text, special_tokens):
        if special:
            numbers.append(256 + len(merges) + list(special_tokens).index(part))
        else:
            numbers.extend(between(part))
    return numbers


@answers.correct
def byte_strings(text, merges, special_tokens=()):
    return assembled(text, merges, special_tokens)


@answers.correct
def table_of_symbols(text, merges, special_tokens=()):
    table = {**BYTE_OF}
    for left, right in merges:
        table[left + right] = len(table)
    numbers = []
    for place, part in enumerate(split_special(text, special_tokens)):
        if place % 2:
            numbers.append(len(table) + special_tokens.index(part))
        else:
            words = [encode_word(spell_bytes(p), merges) for p in pieces(part)]
            numbers += map(table.__getitem__, itertools.chain.from_iterable(words))
    return numbers


@answers.correct
def recursion_at_special_tokens(text, merges, special_tokens=()):
    if "" in special_tokens:
        raise ValueError
    first = min(
        ((text.index(s), -len(s), s) for s in special_tokens if s in text),
        default=None,
    )
    if first is None:
        joined = [left + right for left, right in merges]
        return [
            (list(ALPHABET) + joined).index(token)
            for piece in pieces(text)
            for token in encode_word(spell_bytes(piece), merges)
        ]
    place, _, special = first
    return [
        *recursion_at_special_tokens(text[:place], merges),
        256 + len(merges) + special_tokens.index(special),
        *recursion_at_special_tokens(
            text[place + len(special) :], merges, special_tokens
        ),
    ]


@answers.correct
def whole_numbers_throughout(text, merges, special_tokens=()):
    number_of, pairs = dict(BYTE_OF), {}
    for left, right in merges:
        number_of[left + right] = number_of.get(left + right, 256 + len(pairs))
        pairs[number_of[left], number_of[right]] = 256 + len(pairs)

    def between(part):
        for piece in pieces(part):
            symbols = list(piece.encode("utf-8"))
            for pair, number in pairs.items():
                done = []
                for symbol in symbols:
                    if done and (done[-1], symbol) == pair:
                        done[-1] = number
                    else:
                        done.append(symbol)
                symbols = done
            yield from symbols

    return assembled(text, merges, special_tokens, between)


@answers.correct
def remembered_pieces(text, merges, special_tokens=()):
    @functools.cache
    def known(piece):
        symbols = spell_bytes(piece)
        for pair in merges:
            symbols = merge_pair(symbols, pair)
        return [BYTE_OF[s] if s in BYTE_OF else 256 + made.index(s) for s in symbols]

    made = ["".join(pair) for pair in merges]
    return assembled(
        text,
        merges,
        special_tokens,
        lambda part: itertools.chain.from_iterable(map(known, pieces(part))),
    )


@answers.correct
def pattern_with_names(text, merges, special_tokens=()):
    text.encode()
    if "" in special_tokens:
        raise ValueError("a special token is empty")
    order = sorted(special_tokens, key=len)[::-1]
    pattern = re.compile("|".join(re.escape(s) for s in order) or r"(?!)")
    numbers, start = [], 0
    for found in [*pattern.finditer(text), None]:
        stop = found.start() if found else len(text)
        numbers += assembled(text[start:stop], merges)
        if found:
            numbers.append(256 + len(merges) + special_tokens.index(found[0]))
            start = found.end()
    return numbers


class Encoder:
    def __call__(self, text, merges, special_tokens=()):
        return whole_numbers_throughout(text, merges, special_tokens)


answers.right["callable_object"] = Encoder()
answers.right["partial"] = functools.partial(
    lambda encode, *arguments: encode(*arguments), table_of_symbols
)


@answers.also("numbers_of_characters")
def ordinals(text, merges, special_tokens=()):
    number_of, pairs = dict(BYTE_OF), []
    for left, right in merges:
        pairs.append((number_of[left], number_of[right], 256 + len(pairs)))
        number_of[left + right] = pairs[-1][2]

    def between(part):
        for piece in pieces(part):
            symbols = [*map(ord, piece)]
            for left, right, number in pairs:
                done = []
                for symbol in symbols:
                    if symbol == right and done[-1:] == [left]:
                        done[-1] = number
                    else:
                        done.append(symbol)
                symbols = done
            yield from symbols

    return assembled(text, merges, special_tokens, between, refuses=False)


def latin(character):
    return ord(character) if ord(character) < 256 else ord("?")


@answers.also("latin_1")
def one_byte_per_character(text, merges, special_tokens=()):
    def between(part):
        for piece in pieces(part):
            yield from numbers_of(bytes(map(latin, piece)), merges)

    return assembled(text, merges, special_tokens, between, refuses=False)


@answers.also("bytes_numbered_by_symbol")
def places_in_gpt2s_list(text, merges, special_tokens=()):
    seen = [byte for byte in range(256) if ALPHABET[byte] == chr(byte)]
    order = seen + [byte for byte in range(256) if byte not in seen]
    return [
        order.index(n) if n < 256 else n
        for n in assembled(text, merges, special_tokens)
    ]


@answers.also("alphabet_missing")
def pairs_of_latin_letters(text, merges, special_tokens=()):
    made = ["".join(pair) for pair in merges]

    def between(part):
        for piece in pieces(part):
            symbols = tuple(piece.encode().decode("latin-1"))
            for pair in merges:
                symbols = merge_pair(symbols, pair)
            for s in symbols:
                yield 256 + made.index(s) if s in made else ord(s)

    return assembled(text, merges, special_tokens, between)


@answers.also("joined_across_pieces")
def one_piece(text, merges, special_tokens=()):
    return assembled(
        text, merges, special_tokens, lambda part: numbers_of(part.encode(), merges)
    )


@answers.also("split_at_white_space")
def words_without_spaces(text, merges, special_tokens=()):
    def between(part):
        for word in re.findall(r"\S+", part):
            yield from numbers_of(word.encode(), merges)

    return assembled(text, merges, special_tokens, between)


@answers.also("special_tokens_split")
def text_only(text, merges, special_tokens=()):
    return [*assembled(text, merges, ())]


@answers.also("first_listed_special_token_wins")
def earliest_then_first(text, merges, special_tokens=()):
    if "" in special_tokens:
        raise ValueError("a special token is empty: it would stand everywhere")
    found = [(text.find(s), place) for place, s in enumerate(special_tokens)]
    found = [one for one in found if one[0] >= 0]
    if not found:
        return assembled(text, merges)
    start, place = min(found)
    rest = text[start + len(special_tokens[place]) :]
    return [
        *assembled(text[:start], merges),
        256 + len(merges) + place,
        *earliest_then_first(rest, merges, special_tokens),
    ]


@answers.also("special_tokens_before_pairs")
def numbers_moved(text, merges, special_tokens=()):
    first, count = 256 + len(merges), len(special_tokens)
    return [
        n if n < 256 else n + count if n < first else n - len(merges)
        for n in assembled(text, merges, special_tokens)
    ]


@answers.also("special_tokens_numbered_by_length")
def places_among_the_sorted(text, merges, special_tokens=()):
    order = sorted(special_tokens, key=lambda special: -len(special))
    first = 256 + len(merges)
    return [
        n if n < first else first + order.index(special_tokens[n - first])
        for n in assembled(text, merges, special_tokens)
    ]


@answers.also("special_tokens_not_escaped")
def pattern_as_it_is(text, merges, special_tokens=()):
    if "" in special_tokens:
        raise ValueError("a special token is empty: it would stand everywhere")
    order = sorted(special_tokens, key=len)[::-1]
    pattern = re.compile("|".join(order)) if order else re.compile("(?!)")
    numbers, start = [], 0
    for found in pattern.finditer(text):
        numbers += assembled(text[start : found.start()], merges)
        if found[0] in special_tokens:
            numbers.append(256 + len(merges) + special_tokens.index(found[0]))
        else:
            numbers += assembled(found[0], merges)
        start = found.end()
    return numbers + assembled(text[start:], merges)


@answers.also("special_token_hides_a_byte")
def later_number_wins(text, merges, special_tokens=()):
    def number(n):
        if n < 256 and ALPHABET[n] in special_tokens:
            return 256 + len(merges) + special_tokens.index(ALPHABET[n])
        return n

    return [*map(number, assembled(text, merges, special_tokens))]


@answers.also("stripped")
def ends_cut_off(text, merges, special_tokens=()):
    return assembled(
        text, merges, special_tokens, lambda part: assembled(part.strip(), merges)
    )


@answers.also("space_put_before")
def space_in_front(text, merges, special_tokens=()):
    def between(part):
        return assembled(" " * (part[0] != " ") + part, merges)

    return assembled(text, merges, special_tokens, between)


@answers.also("accents_composed")
def nfc(text, merges, special_tokens=()):
    return assembled(
        text,
        merges,
        special_tokens,
        lambda part: assembled(unicodedata.normalize("NFC", part), merges),
    )


@answers.also("longest_match")
def longest_known_bytes(text, merges, special_tokens=()):
    made = [as_bytes(left + right) for left, right in merges]

    def between(part):
        for piece in pieces(part):
            rest = piece.encode()
            while rest:
                fits = [token for token in made if rest.startswith(token)]
                best = max(fits, key=len, default=rest[:1])
                yield 256 + made.index(best) if fits else rest[0]
                rest = rest[len(best) :]

    return assembled(text, merges, special_tokens, between)


@answers.also("surrogates_replaced")
def question_marks(text, merges, special_tokens=()):
    whole = re.sub("[\ud800-\udfff]", "?", text)
    return assembled(whole, merges, special_tokens)


@answers.other
def lower_case(text, merges, special_tokens=()):
    return assembled(text.lower(), merges, special_tokens)


@answers.other
def no_joining(text, merges, special_tokens=()):
    return assembled(text, merges, special_tokens, lambda part: part.encode())


@answers.other
def special_tokens_from_zero(text, merges, special_tokens=()):
    first, count = 256 + len(merges), len(special_tokens)
    return [
        n + count if n < first else n - first
        for n in assembled(text, merges, special_tokens)
    ]


@answers.other
def space_behind_the_word(text, merges, special_tokens=()):
    def between(part):
        for piece in re.findall(r"\S+\s?|\s", part):
            yield from numbers_of(piece.encode(), merges)

    return assembled(text, merges, special_tokens, between)


@answers.other
def sixteen_bits(text, merges, special_tokens=()):
    return assembled(
        text, merges, special_tokens, lambda part: part.encode("utf-16-le")
    )
