"""The fast trainer and encoders give what the references give."""

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.bpe import (
    decode,
    encode_word,
    merge_pair,
    pair_counts,
    spell,
    train_bpe,
    word_counts,
)
from course_lib.byte_bpe import (
    byte_vocabulary,
    decode_bytes,
    encode_bytes,
    pre_token_counts,
)
from course_lib.fast_bpe import PairCounts, byte_encoder, train_bpe_fast, word_encoder
from tests.bpe.german import every, training_text

exact = settings(max_examples=400, derandomize=True)
# Symbols of several letters, beginnings of each other: pairs meet that look alike, and
# a merge may make a symbol that was there before.
symbols = st.sampled_from(["a", "b", "aa", "ab", "ba", "c</w>"])
corpora = st.dictionaries(
    st.lists(symbols, max_size=9).map(tuple), st.integers(1, 4), max_size=8
)
letters = st.text(alphabet="aabc ", max_size=80)


@exact
@given(corpora, st.integers(0, 30))
def test_merges_match_the_reference(words, n_merges):
    before = copy.deepcopy(words)
    assert train_bpe_fast(words, n_merges) == train_bpe(words, n_merges)
    assert words == before


@exact
@given(letters, st.integers(0, 40))
def test_merges_of_random_texts_match_the_reference(text, n_merges):
    for words in (word_counts(text), pre_token_counts(text)):
        assert train_bpe_fast(words, n_merges) == train_bpe(words, n_merges)


@exact
@given(st.text(), st.integers(0, 40))
def test_merges_of_any_unicode_match_the_reference(text, n_merges):
    for words in (word_counts(text * 2), pre_token_counts(text * 2)):
        assert train_bpe_fast(words, n_merges) == train_bpe(words, n_merges)


@pytest.mark.parametrize("count", [word_counts, pre_token_counts])
@pytest.mark.thorough
def test_merges_of_a_real_text_match_the_reference(count):
    words = count(every(8, training_text()))
    assert len(words) > 3000
    merges = train_bpe_fast(words, 100)
    assert merges == train_bpe(words, 100) and len(merges) == 100
    assert train_bpe_fast(words, 60) == merges[:60]


def test_training_ends_as_in_the_reference():
    for words in ({}, {(): 2}, {("a",): 3}, {("a", "b"): 1}, {tuple("aaa"): 1}):
        for rule in ("last", "oldest"):
            assert train_bpe_fast(words, 9, rule) == train_bpe(words, 9)
    assert train_bpe_fast({tuple("ab"): 2}, 0) == []
    assert word_encoder([])("") == byte_encoder([])("") == []


def test_repeated_merge_counts_at_its_first_index():
    merges = [("a", "b"), ("b", "c"), ("a", "b")]
    assert encode_word(("a", "b", "c"), merges) == ["ab", "c"]
    assert word_encoder(merges)("abcd") == ["ab", "c", "d</w>"]
    assert byte_encoder(merges)("abc") == ["ab", "c"]


@exact
@given(corpora, st.lists(st.tuples(symbols, symbols), max_size=6))
def test_pair_counts_match_counting_anew(words, merges):
    corpus = PairCounts(words)
    spelt = [(word, count) for word, count in words.items()]
    for pair in merges:
        grown = corpus.merge(pair)
        old = _count(spelt)
        spelt = [(merge_pair(word, pair), count) for word, count in spelt]
        new = _count(spelt)
        assert corpus.counts == new
        assert {each for each in new if new[each] > old.get(each, 0)} <= grown


def _count(spelt):
    counts = {}
    for word, count in spelt:
        for pair, pair_count in pair_counts({word: count}).items():
            counts[pair] = counts.get(pair, 0) + pair_count
    return counts


def _by_age(words, n_merges):
    """Train as ``train_bpe`` does, but of equal counts the oldest symbols win."""
    ages = {s: age for age, s in enumerate(sorted({s for word in words for s in word}))}
    spelt, merges = list(words.items()), []
    while len(merges) < n_merges:
        counts = _count(spelt)
        best = min(
            counts, key=lambda p: (-counts[p], ages[p[0]], ages[p[1]]), default=None
        )
        if best is None or counts[best] < 2:
            break
        merges.append(best)
        ages.setdefault("".join(best), len(ages))
        spelt = [(merge_pair(word, best), count) for word, count in spelt]
    return merges


@exact
@given(corpora, st.integers(0, 30))
def test_tie_break_oldest_takes_the_oldest_pair(words, n_merges):
    assert train_bpe_fast(words, n_merges, "oldest") == _by_age(words, n_merges)


def test_tie_break_is_checked_and_decides():
    words = {("a", "z"): 2, ("b", "c"): 2}
    assert train_bpe_fast(words, 1) == [("b", "c")]
    assert train_bpe_fast(words, 1, "oldest") == [("a", "z")]
    with pytest.raises(
        ValueError, match=r"^tie_break='first' is neither last, last bytes nor oldest"
    ):
        train_bpe_fast(words, 1, "first")


# Encoding


@exact
@given(letters, letters, st.integers(0, 40))
def test_encoders_match_the_references(trained_on, text, n_merges):
    merges = train_bpe_fast(word_counts(trained_on), n_merges)
    encode = word_encoder(merges)
    tokens = [t for word in text.split() for t in encode_word(spell(word), merges)]
    assert encode(text) == tokens == encode(text)
    merges = train_bpe_fast(pre_token_counts(trained_on), n_merges)
    table = byte_vocabulary(merges)
    numbers = encode_bytes(text, merges)
    assert byte_encoder(merges)(text) == [table[number] for number in numbers]


@exact
@given(st.lists(symbols, max_size=9), st.lists(st.tuples(symbols, symbols), max_size=6))
def test_encoders_match_on_untrained_merges(word, merges):
    text = "".join(word).replace("</w>", "")
    tokens = [t for w in text.split() for t in encode_word(spell(w), merges)]
    assert word_encoder(merges)(text) == tokens


def test_real_text_is_encoded_and_decoded_as_by_reference():
    text = every(8, training_text())
    merges = train_bpe_fast(word_counts(text), 1000)
    encode = word_encoder(merges)
    assert decode(encode(text)) == " ".join(text.split())
    for word in list(dict.fromkeys(text.split()))[::10]:
        assert encode(word) == encode_word(spell(word), merges)
    merges = train_bpe_fast(pre_token_counts(text), 1000)
    table, part = byte_vocabulary(merges), every(20, text)
    numbers = encode_bytes(part, merges)
    assert byte_encoder(merges)(part) == [table[number] for number in numbers]
    assert decode_bytes(numbers, merges) == part
    assert len(numbers) < len(part) / 2


def test_encoder_results_are_not_shared():
    encode = word_encoder([("a", "t</w>")])
    encode("at cat").clear()
    assert encode("at cat") == ["at</w>", "c", "at</w>"]


def test_pair_is_joined_wherever_it_occurs():
    words = {tuple("abab"): 2, tuple("ab"): 1}
    corpus = PairCounts(words)
    assert corpus.merge(("a", "b")) == {("ab", "ab")}
    assert corpus.counts == {("ab", "ab"): 2}
