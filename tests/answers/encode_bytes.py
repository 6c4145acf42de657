import functools
import itertools
import re

from course_lib.bpe import encode_word, merge_pair
from course_lib.byte_bpe import (
    ALPHABET,
    BYTE_OF,
    pre_tokens,
    spell_bytes,
    split_special,
)
from tests.answers import Answers

answers = Answers("encode_bytes")


def as_bytes(symbols):
    return bytes(BYTE_OF[symbol] for symbol in symbols)


def join_bytes(data, merges):
    """Return the byte strings into which the pairs join some bytes."""
    ranks = {(as_bytes(a), as_bytes(b)): rank for rank, (a, b) in enumerate(merges)}
    parts = [data[i : i + 1] for i in range(len(data))]
    while True:
        positions = range(len(parts) - 1)
        ranked = [(ranks.get((parts[i], parts[i + 1]), 10**9), i) for i in positions]
        if not ranked or min(ranked)[0] == 10**9:
            return parts
        _, i = min(ranked)
        parts[i : i + 2] = [parts[i] + parts[i + 1]]


def token_ids_of(data, merges):
    made = [as_bytes(left + right) for left, right in merges]
    for part in join_bytes(data, merges):
        yield part[0] if len(part) == 1 else 256 + made.index(part)


def cut_out(text, special_tokens):
    """Return (is special, part) from left to right."""
    start = 0
    while start < len(text):
        positions = [(text.find(s, start), -len(s), s) for s in special_tokens]
        positions = [match for match in positions if match[0] >= 0]
        stop, _, special = min(positions, default=(len(text), 0, ""))
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
        lambda part: [
            n for p in pre_tokens(part) for n in token_ids_of(p.encode(), merges)
        ]
    )
    token_ids = []
    for special, part in cut_out(text, special_tokens):
        if special:
            token_ids.append(256 + len(merges) + list(special_tokens).index(part))
        else:
            token_ids.extend(between(part))
    return token_ids


@answers.correct
def byte_strings(text, merges, special_tokens=()):
    return assembled(text, merges, special_tokens)


@answers.correct
def table_of_symbols(text, merges, special_tokens=()):
    table = {**BYTE_OF}
    for token_id, (left, right) in enumerate(merges, start=256):
        table[left + right] = token_id
    token_ids = []
    for position, part in enumerate(split_special(text, special_tokens)):
        if position % 2:
            token_ids.append(256 + len(merges) + special_tokens.index(part))
        else:
            words = [encode_word(spell_bytes(p), merges) for p in pre_tokens(part)]
            token_ids += map(table.__getitem__, itertools.chain.from_iterable(words))
    return token_ids


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
            for pre_token in pre_tokens(text)
            for token in encode_word(spell_bytes(pre_token), merges)
        ]
    position, _, special = first
    return [
        *recursion_at_special_tokens(text[:position], merges),
        256 + len(merges) + special_tokens.index(special),
        *recursion_at_special_tokens(
            text[position + len(special) :], merges, special_tokens
        ),
    ]


@answers.correct
def whole_numbers_throughout(text, merges, special_tokens=()):
    id_of, pairs = dict(BYTE_OF), {}
    for left, right in merges:
        id_of[left + right] = id_of.get(left + right, 256 + len(pairs))
        pairs[id_of[left], id_of[right]] = 256 + len(pairs)

    def between(part):
        for pre_token in pre_tokens(part):
            symbols = list(pre_token.encode("utf-8"))
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
def remembered_pre_tokens(text, merges, special_tokens=()):
    @functools.cache
    def known(pre_token):
        symbols = spell_bytes(pre_token)
        for pair in merges:
            symbols = merge_pair(symbols, pair)
        return [BYTE_OF[s] if s in BYTE_OF else 256 + made.index(s) for s in symbols]

    made = ["".join(pair) for pair in merges]
    return assembled(
        text,
        merges,
        special_tokens,
        lambda part: itertools.chain.from_iterable(map(known, pre_tokens(part))),
    )


@answers.correct
def pattern_with_names(text, merges, special_tokens=()):
    text.encode()
    if "" in special_tokens:
        raise ValueError("a special token is empty")
    order = sorted(special_tokens, key=len)[::-1]
    pattern = re.compile("|".join(re.escape(s) for s in order) or r"(?!)")
    token_ids, start = [], 0
    for match in [*pattern.finditer(text), None]:
        stop = match.start() if match else len(text)
        token_ids += assembled(text[start:stop], merges)
        if match:
            token_ids.append(256 + len(merges) + special_tokens.index(match[0]))
            start = match.end()
    return token_ids


class Encoder:
    def __call__(self, text, merges, special_tokens=()):
        return whole_numbers_throughout(text, merges, special_tokens)


answers.right["callable_object"] = Encoder()
answers.right["partial"] = functools.partial(
    lambda encode, *arguments: encode(*arguments), table_of_symbols
)


@answers.other
def space_behind_the_word(text, merges, special_tokens=()):
    def between(part):
        for pre_token in re.findall(r"\S+\s?|\s", part):
            yield from token_ids_of(pre_token.encode(), merges)

    return assembled(text, merges, special_tokens, between)


@answers.other
def sixteen_bits(text, merges, special_tokens=()):
    return assembled(text, merges, special_tokens, lambda part: part.encode("utf-16"))


@answers.other
def capitals(text, merges, special_tokens=()):
    return assembled(text.upper(), merges, special_tokens)
