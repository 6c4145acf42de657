"""The field's forms of the exercises of lesson 06."""

import re
from collections import Counter, defaultdict
from itertools import pairwise

from course_lib.byte_bpe import (
    ALPHABET,
    BYTE_OF,
    byte_vocabulary,
    pre_tokens,
    split_special,
)
from tests.textbook import Forms

FORMS = Forms()


@FORMS("word_counts", "Sennrich et al.", before="full")
def words_of_the_vocabulary(text):
    counts = Counter(text.split())
    return {(*word[:-1], word[-1] + "</w>"): count for word, count in counts.items()}


@FORMS(
    "word_counts",
    "Hugging Face course 6.5",
    expected="refused: mark_missing",
    before="refused: mark_missing (0 of 5)",
)
def characters_of_each_word(text):
    counts = {}
    for word in text.split():
        counts[tuple(word)] = counts.get(tuple(word), 0) + 1
    return counts


@FORMS("pair_counts", "Sennrich et al.", before="full")
def get_stats(words):
    pairs = defaultdict(int)
    for symbols, frequency in words.items():
        for i in range(len(symbols) - 1):
            pairs[symbols[i], symbols[i + 1]] += frequency
    return dict(pairs)


@FORMS("pair_counts", "minbpe", before="full")
def zipped_with_itself(words):
    counts = {}
    for word, n in words.items():
        for pair in pairwise(word):
            counts[pair] = counts.get(pair, 0) + n
    return counts


@FORMS("merge_pair", "Sennrich et al.", before="refused, no name (18 of 19)")
def paper_with_a_pattern(symbols, pair):
    bigram = re.escape(" ".join(pair))
    pattern = re.compile(r"(?<!\S)" + bigram + r"(?!\S)")
    return tuple(pattern.sub("".join(pair), " ".join(symbols)).split())


@FORMS("merge_pair", "minbpe", before="full")
def position_by_position(symbols, pair):
    new, i = [], 0
    while i < len(symbols):
        fits = symbols[i] == pair[0] and i < len(symbols) - 1
        if fits and symbols[i + 1] == pair[1]:
            new.append(pair[0] + pair[1])
            i += 2
        else:
            new.append(symbols[i])
            i += 1
    return tuple(new)


@FORMS(
    "merge_pair",
    "minbpe",
    expected="refused: list_returned",
    before="refused: list_returned (0 of 19)",
)
def list_as_it_is(symbols, pair):
    return list(position_by_position(symbols, pair))


@FORMS("merge_pair", "Hugging Face course 6.5", before="full")
def split_list(symbols, pair):
    split, i = list(symbols), 0
    while i < len(split) - 1:
        if split[i] == pair[0] and split[i + 1] == pair[1]:
            split = [*split[:i], pair[0] + pair[1], *split[i + 2 :]]
        else:
            i += 1
    return tuple(split)


@FORMS("merge_pair", "GPT-2", before="full")
def index_of_the_first(symbols, pair):
    first, second = pair
    new, i = [], 0
    while i < len(symbols):
        try:
            j = symbols.index(first, i)
        except ValueError:
            new.extend(symbols[i:])
            break
        new.extend(symbols[i:j])
        if j < len(symbols) - 1 and symbols[j + 1] == second:
            new.append(first + second)
            i = j + 2
        else:
            new.append(symbols[j])
            i = j + 1
    return tuple(new)


@FORMS(
    "merge_pair",
    "tutorials",
    expected="refused: pattern_not_escaped_in_the_text",
    before="refused, no name (6 of 19)",
)
def unescaped_pattern(symbols, pair):
    return tuple(re.sub(" ".join(pair), "".join(pair), " ".join(symbols)).split())


@FORMS(
    "merge_pair",
    "tutorials",
    expected="refused: text_replaced",
    before="refused: text_replaced (7.25 of 19)",
)
def replaced_in_the_text(symbols, pair):
    return tuple(" ".join(symbols).replace(" ".join(pair), "".join(pair)).split())


def learned_by(words, n_merges, best_of, least=2):
    """Learn pairs as most programs do; best_of chooses one of the counts."""
    words, merges = dict(words), []
    for _ in range(n_merges):
        counts = get_stats(words)
        if not counts:
            break
        best = best_of(counts)
        if counts[best] < least:
            break
        merges.append(best)
        merged = {}
        for symbols, count in words.items():
            merged[position_by_position(symbols, best)] = count
        words = merged
    return merges


@FORMS(
    "train_bpe",
    "subword-nmt",
    expected="fine point open",
    before="refused: equal_words_overwritten (26.75 of 28)",
)
def program_of_the_paper(words, n_merges):
    return learned_by(words, n_merges, lambda c: max(c, key=lambda x: (c[x], x)))


@FORMS(
    "train_bpe",
    "Hugging Face course 6.5",
    expected="refused: first_seen_wins & equal_words_overwritten",
    before="refused: first_seen_wins & equal_words_overwritten (8.75 of 28)",
)
def first_of_the_most_frequent(words, n_merges):
    return learned_by(words, n_merges, lambda c: max(c, key=c.get))


@FORMS(
    "train_bpe",
    "Sennrich et al., algorithm 1",
    expected=(
        "refused: first_seen_wins & pairs_that_occur_once & equal_words_overwritten"
    ),
    before="refused, no name (7.25 of 28)",
)
def printed_in_the_paper(words, n_merges):
    return learned_by(words, n_merges, lambda c: max(c, key=c.get), least=1)


@FORMS(
    "train_bpe",
    "CS336",
    expected="refused: equal_words_overwritten & pairs_that_occur_once",
    before="refused: equal_words_overwritten & pairs_that_occur_once (11.5 of 28)",
)
def greater_pair_without_an_early_end(words, n_merges):
    return learned_by(
        words, n_merges, lambda c: max(c, key=lambda pair: (c[pair], pair)), least=1
    )


@FORMS("encode_word", "GPT-2 and minbpe", before="full")
def lowest_rank_again_and_again(word, merges):
    ranks = {tuple(pair): rank for rank, pair in enumerate(merges)}
    word = tuple(word)
    while len(word) >= 2:
        pairs = set(pairwise(word))
        best = min(pairs, key=lambda pair: ranks.get(pair, float("inf")))
        if best not in ranks:
            break
        word = position_by_position(word, best)
    return list(word)


@FORMS("encode_word", "Hugging Face course 6.5", before="full")
def each_merge_in_its_turn(word, merges):
    for pair in merges:
        word = split_list(word, pair)
    return list(word)


@FORMS(
    "decode",
    "Sennrich et al.",
    expected="fine point open",
    before="refused, no name (3.75 of 8)",
)
def marks_replaced_in_the_text(tokens):
    return "".join(tokens).replace("</w>", " ").strip()


@FORMS(
    "decode",
    "Sennrich et al.",
    expected="fine point open",
    before="refused, no name (3.75 of 8)",
)
def marks_replaced_at_the_end(tokens):
    return "".join(tokens).replace("</w>", " ").rstrip()


@FORMS("encode_bytes", "GPT-2", before="full")
def bytes_as_symbols(text, merges, special_tokens=()):
    vocabulary = {token: i for i, token in enumerate(byte_vocabulary(merges))}
    ids = []
    for part in split_special(text, special_tokens):
        if part in special_tokens:
            ids.append(len(byte_vocabulary(merges)) + special_tokens.index(part))
            continue
        for chunk in pre_tokens(part):
            symbols = [ALPHABET[byte] for byte in chunk.encode("utf-8")]
            tokens = lowest_rank_again_and_again(symbols, merges)
            ids.extend(vocabulary[token] for token in tokens)
    return ids


@FORMS("encode_bytes", "minbpe", before="refused, no name (27 of 28)")
def special_tokens_by_a_pattern(text, merges, special_tokens=()):
    size = 256 + len(merges)
    special = {token: size + i for i, token in enumerate(special_tokens)}
    parts = [text]
    if special:
        longest = sorted(special, key=len, reverse=True)
        parts = re.split("(" + "|".join(map(re.escape, longest)) + ")", text)
    ids = []
    for part in parts:
        ids += [special[part]] if part in special else bytes_as_symbols(part, merges)
    return ids


@FORMS("decode_bytes", "minbpe", before="refused: key_error (17.5 of 19)")
def bytes_joined(token_ids, merges, special_tokens=()):
    vocabulary = {i: bytes([i]) for i in range(256)}
    for i, (left, right) in enumerate(merges, start=256):
        vocabulary[i] = bytes(BYTE_OF[c] for c in left + right)
    for i, special in enumerate(special_tokens, start=256 + len(merges)):
        vocabulary[i] = special.encode("utf-8")
    return b"".join(vocabulary[i] for i in token_ids).decode("utf-8", errors="replace")


@FORMS(
    "decode_bytes",
    "GPT-2",
    expected="fine point open",
    before="refused: numbers_not_checked (17.5 of 19)",
)
def list_of_bytes_by_position(token_ids, merges, special_tokens=()):
    table = [bytes([i]) for i in range(256)]
    table += [bytes(BYTE_OF[c] for c in left + right) for left, right in merges]
    table += [special.encode() for special in special_tokens]
    return b"".join(table[i] for i in token_ids).decode(errors="replace")
