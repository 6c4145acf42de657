"""The references of lesson 06 against facts by hand and what must hold for any text."""

import copy
import doctest
import os
import unicodedata
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib import bpe, byte_bpe, fast_bpe
from course_lib.bpe import (
    END_OF_WORD,
    decode,
    encode_word,
    merge_pair,
    pair_counts,
    spell,
    train_bpe,
    vocabulary,
    word_counts,
)
from course_lib.byte_bpe import (
    ALPHABET,
    byte_vocabulary,
    decode_bytes,
    encode_bytes,
    pre_token_counts,
    pre_tokens,
    spell_bytes,
)

TEXTS = int(os.environ.get("TEXTS", "2000"))  # ten thousand, now and then
exact = settings(max_examples=200, derandomize=True)
TOY = {"cat": 4, "mat": 5, "mats": 2, "mate": 3, "ate": 3, "eat": 2}
TOY_WORDS = {tuple(word): count for word, count in TOY.items()}
AT_MAT_CAT = [("a", "t"), ("m", "at"), ("c", "at")]


def few_letters(**sizes):
    return st.lists(st.sampled_from("abc"), **sizes).map(tuple)


corpora = st.dictionaries(few_letters(max_size=7), st.integers(1, 4), max_size=6)


def n_tokens(words, merges):
    return sum(n * len(encode_word(word, merges)) for word, n in words.items())


@pytest.mark.parametrize("module", [bpe, byte_bpe, fast_bpe])
def test_docstring_examples_hold(module):
    results = doctest.testmod(module)
    assert results.attempted >= 3 and not results.failed


# The toy corpus


def test_pair_counts_of_the_toy_corpus():
    assert pair_counts(TOY_WORDS) == {
        ("a", "t"): 19,
        ("m", "a"): 10,
        ("t", "e"): 6,
        ("c", "a"): 4,
        ("t", "s"): 2,
        ("e", "a"): 2,
    }


def test_train_bpe_on_the_toy_corpus_with_ties():
    merges = train_bpe(TOY_WORDS, 5)
    assert merges == [*AT_MAT_CAT, ("mat", "e"), ("at", "e")]
    words = TOY_WORDS
    best = []
    for pair in merges:
        counts = pair_counts(words)
        best.append((counts[pair], [p for p in counts if counts[p] == counts[pair]]))
        words = {merge_pair(word, pair): n for word, n in words.items()}
    assert [count for count, _ in best] == [19, 10, 4, 3, 3]
    assert [sorted(equals) for _, equals in best[3:]] == [
        [("at", "e"), ("mat", "e")],
        [("at", "e")],
    ]


def test_each_merge_shortens_the_toy_corpus():
    merges = train_bpe(TOY_WORDS, 5)
    sizes = [n_tokens(TOY_WORDS, merges[:n]) for n in range(6)]
    assert sizes == [62, 43, 33, 29, 26, 23]


def test_conventions_of_a_words_end_learn_different_merges():
    plain = train_bpe(TOY_WORDS, 5)
    apart = train_bpe({(*word, END_OF_WORD): n for word, n in TOY_WORDS.items()}, 5)
    joined = train_bpe({spell(word): n for word, n in TOY.items()}, 5)
    assert plain == [*AT_MAT_CAT, ("mat", "e"), ("at", "e")]
    assert apart == [
        ("a", "t"),
        ("at", "</w>"),
        ("e", "</w>"),
        ("at", "e</w>"),
        ("m", "at</w>"),
    ]
    assert joined == [
        ("a", "t</w>"),
        ("a", "t"),
        ("at", "e</w>"),
        ("m", "at</w>"),
        ("c", "at</w>"),
    ]


def test_word_counts_of_the_toy_corpus():
    text = " ".join(" ".join([word] * count) for word, count in TOY.items())
    words = {
        tuple("".join(w).removesuffix("</w>")): n for w, n in word_counts(text).items()
    }
    assert words == TOY_WORDS


# Training: each thing that is defined


def test_no_words_give_no_pairs_and_no_merges():
    assert word_counts("") == word_counts(" \n\t ") == {}
    assert pair_counts({}) == pair_counts({("a",): 3, (): 2}) == {}
    assert train_bpe({}, 5) == train_bpe({("a",): 3}, 5) == []
    assert train_bpe(TOY_WORDS, 0) == []


def test_training_ends_when_no_pair_occurs_twice():
    assert train_bpe({("a", "b", "c"): 1}, 5) == []
    assert train_bpe({("a", "b"): 2, ("c", "d"): 1}, 5) == [("a", "b")]
    all_merges = train_bpe(TOY_WORDS, 1000)
    assert train_bpe(TOY_WORDS, len(all_merges)) == all_merges
    assert len(all_merges) == 7


def test_tie_break_ignores_the_order_of_the_words():
    pairs = [("a", "z"), ("b", "a"), ("b", "c"), ("ä", "a"), ("B", "z")]
    for turn in range(5):
        words = dict.fromkeys(pairs[turn:] + pairs[:turn], 2)
        assert train_bpe(words, 5) == sorted(pairs, reverse=True)


@pytest.mark.parametrize(
    ("word", "merged"),
    [("aaa", "aa a"), ("aaaa", "aa aa"), ("baaab", "b aa a b"), ("aa", "aa")],
)
def test_merge_pair_joins_a_run_from_the_left(word, merged):
    assert merge_pair(tuple(word), ("a", "a")) == tuple(merged.split())


def test_overlapping_pairs_count_each_but_merge_once():
    assert pair_counts({tuple("aaa"): 1}) == {("a", "a"): 2}
    assert train_bpe({tuple("aaa"): 1}, 5) == [("a", "a")]
    assert train_bpe({tuple("aaa"): 2}, 5) == [("a", "a"), ("aa", "a")]


def test_merge_pair_compares_whole_symbols():
    assert merge_pair(("a", "bc"), ("a", "b")) == ("a", "bc")
    assert merge_pair(("xa", "b"), ("a", "b")) == ("xa", "b")
    assert merge_pair((), ("a", "b")) == ()


def test_words_that_become_one_are_counted_together():
    words = {("a", "b", "c"): 2, ("ab", "c"): 1, ("c", "c"): 1}
    assert train_bpe(words, 2) == [("b", "c"), ("a", "bc")]
    assert train_bpe({**words, ("a", "b"): 2}, 2) == [("a", "b"), ("ab", "c")]


@exact
@given(corpora, st.integers(0, 8))
def test_each_merge_is_the_most_frequent_pair(words, n_merges):
    before = copy.deepcopy(words)
    merges = train_bpe(words, n_merges)
    assert words == before
    spelt = [(list(word), count) for word, count in words.items()]
    for pair in merges:
        counts = Counter()
        for symbols, count in spelt:
            for at in range(len(symbols) - 1):
                counts[symbols[at], symbols[at + 1]] += count
        top = max(counts.values())
        assert top >= 2 and pair == max(p for p in counts if counts[p] == top)
        spelt = [(list(merge_pair(tuple(s), pair)), count) for s, count in spelt]


@exact
@given(corpora)
def test_more_merges_begin_with_the_fewer(words):
    merges = train_bpe(words, 100)
    assert all(train_bpe(words, n) == merges[:n] for n in range(len(merges)))


# Encoding and decoding words


def test_encode_word_applies_the_earliest_merge_first():
    assert encode_word(tuple("abc"), [("b", "c"), ("a", "b")]) == ["a", "bc"]
    assert encode_word(tuple("abc"), [("a", "b"), ("b", "c")]) == ["ab", "c"]
    longest = [("b", "c"), ("a", "b"), ("ab", "d"), ("bc", "d")]
    assert encode_word(tuple("abcd"), longest) == ["a", "bcd"]


def test_encode_word_keeps_unknown_symbols():
    assert encode_word((), AT_MAT_CAT) == []
    assert encode_word(tuple("🦜ät"), AT_MAT_CAT) == ["🦜", "ä", "t"]
    assert encode_word(tuple("cat"), []) == ["c", "a", "t"]
    assert decode(["no", "token", "🦜"]) == "notoken🦜"


@exact
@given(corpora)
def test_encode_word_matches_training(words):
    merges = train_bpe(words, 100)
    for word in words:
        trained = word
        for pair in merges:
            trained = merge_pair(trained, pair)
        assert encode_word(word, merges) == list(trained)
        assert set(trained) <= set(vocabulary(words, merges))


@exact
@given(st.text(), st.text(), st.integers(0, 40))
def test_decode_restores_all_but_white_space(text, trained_on, n_merges):
    text = text.replace(END_OF_WORD, "")
    merges = train_bpe(word_counts(trained_on), n_merges)
    tokens = [t for word in text.split() for t in encode_word(spell(word), merges)]
    assert decode(tokens) == " ".join(text.split())
    assert len(tokens) <= sum(map(len, text.split()))


def test_decode_loses_what_its_contract_names():
    def through(text):
        return decode([s for word in text.split() for s in spell(word)])

    assert through("  a \t b\u00a0c\n") == "a b c"
    assert through("") == decode([]) == ""
    assert through("a</w>b") == "a</w>b"  # as characters the mark is none
    merges = [("<", "/"), ("</", "w"), ("</w", ">")]
    assert decode(encode_word(spell("a</w>b"), merges)) == "a b"
    assert decode(["m", "at</w>", "s"]) == "mat s"
    assert decode(["a "]) == "a " and decode(["a </w>"]) == "a "  # a token's own space
    assert decode(["cat", "</w>", "mat", "</w>"]) == "cat mat"  # the mark apart


# Bytes


def test_alphabet_has_a_visible_character_for_each_byte():
    assert len(set(ALPHABET)) == len(ALPHABET) == 256
    assert not any(character.isspace() for character in ALPHABET)
    assert ALPHABET[ord("A")] == "A" and ALPHABET[ord(" ")] == "Ġ"
    assert ALPHABET[ord("\n")] == "Ċ" and ALPHABET[0] == "Ā"


def test_pre_tokens_match_gpt_2():
    cut = pre_tokens("It's  12½² Ⅷ mice,\n\n they'll\x1c say¿ \t")
    assert cut == [
        *("It", "'s", " ", " 12½²", " Ⅷ", " mice", ",", "\n\n", " they", "'ll"),
        *("\x1c", " say", "¿", " \t"),
    ]


@exact
@given(st.text())
def test_pre_tokens_join_to_the_text(text):
    assert "".join(pre_tokens(text)) == text
    counted = sum(len(word) * n for word, n in pre_token_counts(text).items())
    assert counted == len(text.encode())


@pytest.fixture(scope="module")
def byte_merges():
    text = (
        "Größe und Maß, 12 Äpfel über Äpfel; the cat's mat 🦜🦜 日本語の日本 \n\n" * 3
    )
    return train_bpe(pre_token_counts(text), 60)


# Any text, and between it parts that have been learned, so that symbols are joined.
learned = st.sampled_from([" Äpfel", "Größe", " 12", " 🦜🦜", "日本", "<end>", "0"])
any_text = st.lists(st.text() | learned, max_size=4).map("".join)


@settings(max_examples=TEXTS, derandomize=True)
@given(text=any_text)
def test_decode_bytes_restores_random_texts(text, byte_merges):
    special = ("<end>", "0")
    numbers = encode_bytes(text, byte_merges, special)
    assert decode_bytes(numbers, byte_merges, special) == text
    assert len(numbers) <= len(text.encode())


@pytest.mark.parametrize(
    "text",
    ["", " ", "   ", "\n \n", "\0", "Äpfel 🦜", "a\u0308", "'", "\U0010ffff", "\x85"],
)
def test_decode_bytes_restores_odd_texts(text, byte_merges):
    numbers = encode_bytes(text, byte_merges)
    assert decode_bytes(numbers, byte_merges) == text


def test_token_ids_are_bytes_merges_special_tokens():
    merges, special = [("a", "t"), ("Ġ", "at")], ("<end>", "<e")
    assert byte_vocabulary(merges, special)[256:] == ["at", "Ġat", "<end>", "<e"]
    assert encode_bytes("at at", merges, special) == [256, 257]
    assert encode_bytes("<end>at<e", merges, special) == [258, 256, 259]
    assert encode_bytes("<end>", merges, special[::-1]) == [259]  # the longer fits
    assert encode_bytes("<end>", merges) == list(b"<end>")


def test_special_tokens_are_neither_joined_nor_counted():
    merges = train_bpe(pre_token_counts("<e><e>ab<e>ab", ("<e>",)), 9)
    assert merges == [("a", "b")]
    assert pre_token_counts("<e>", ("<e>",)) == {}
    special = ("ü", "Ã¼")  # the second is how the bytes of the first are written
    numbers = encode_bytes("üÃ¼ ü", [("Ã", "¼")], special)
    assert numbers == [257, 258, 32, 257]
    assert decode_bytes(numbers, [("Ã", "¼")], special) == "üÃ¼ ü"


def test_decode_bytes_refuses_unknown_token_ids():
    for number in (258, -1, 10**9):
        with pytest.raises(
            ValueError, match=rf"^token id {number} is not in the vocabulary of 258$"
        ):
            decode_bytes([97, number], [("a", "t")], ("<end>",))
    assert decode_bytes([], []) == ""


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ([0xC3], "�"),
        ([0xC3, 0x41], "�A"),
        ([0x80, 0x80], "��"),
        ([0xF0, 0x9F, 0xA6], "�"),
        ([0xF0, 0x9F, 0xA6, 0x41], "�A"),
        ([0xC0, 0xAF], "��"),
        ([0xED, 0xA0, 0x80], "���"),
        ([0xFF, 0x61], "�a"),
    ],
)
def test_decode_bytes_replaces_invalid_utf_8(numbers, text):
    assert decode_bytes(numbers, []) == text


def test_surrogates_and_empty_special_tokens_are_refused():
    for function in (
        spell_bytes,
        pre_token_counts,
        lambda text: encode_bytes(text, []),
    ):
        with pytest.raises(ValueError, match=r"^text has '\\ud800', half a surr"):
            function("a\ud800")
    for function in (
        pre_token_counts,
        lambda text, special: encode_bytes(text, [], special),
    ):
        with pytest.raises(ValueError, match=r"^special_tokens has an empty text"):
            function("a", ("",))


def test_every_character_is_in_one_kind_of_pre_token():
    for character in map(chr, [*range(0xD800), *range(0xE000, 0x30000)]):
        kind = unicodedata.category(character)[0]
        if kind == "C":  # perhaps assigned since this Python
            continue
        joined = pre_tokens(f"x{character}x")
        assert (len(joined) == 1) == (kind == "L"), hex(ord(character))
        assert (pre_tokens(f"1{character}1") == [f"1{character}1"]) == (kind == "N")


@pytest.mark.parametrize("letter", "\U00013460\U0002ebf0\U00031350")
def test_letters_newer_than_python_are_letters(letter):
    # Of Unicode 16, 15.1 and 15; Python 3.11 has those of 14.
    assert pre_tokens(f"a{letter}1 {letter}!") == [f"a{letter}", "1", f" {letter}", "!"]
