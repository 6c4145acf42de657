"""Merges and tokens against subword-nmt and Hugging Face's tokenizers, on real German.

The text is the German of the training data, and 3,000 merges are learned from it; what
is encoded is German that training did not see.
"""

import pytest
import regex
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from course_lib.bpe import decode, encode_word, pair_counts, spell, word_counts
from course_lib.byte_bpe import ALPHABET, pre_token_counts, pre_tokens, spell_bytes
from course_lib.fast_bpe import PairCounts, byte_encoder, train_bpe_fast, word_encoder
from course_lib.merges_file import load_merges, save_merges
from tests.bpe.german import every, held_out_text, training_text
from tests.bpe.peers import (
    byte_tokenizer,
    file_of_subword_nmt,
    marked,
    merges_in_file,
    merges_of_tokenizer,
    pre_tokenizers,
    subword_nmt_encoder,
    tokens_of,
    word_tokenizer,
)

pytestmark = pytest.mark.thorough

exact = settings(max_examples=300, derandomize=True)
N_MERGES = 3000  # the benchmark compares 8,000
NO_LIMIT = 10**6
few_letters = st.lists(st.sampled_from("aaabc "), max_size=60).map("".join)


@pytest.fixture(scope="module")
def word_merges():
    return train_bpe_fast(word_counts(training_text()), N_MERGES)


# subword-nmt: words


def test_merges_and_file_match_subword_nmt(word_merges, tmp_path):
    theirs = file_of_subword_nmt(training_text(), N_MERGES)
    assert word_merges == merges_in_file(theirs) and len(word_merges) == N_MERGES
    save_merges(tmp_path / "merges.txt", word_merges)
    assert (tmp_path / "merges.txt").read_text(encoding="utf-8") == theirs
    (tmp_path / "theirs.txt").write_text(theirs, encoding="utf-8")
    assert load_merges(tmp_path / "theirs.txt") == word_merges


def test_word_tokens_match_subword_nmt_and_tokenizers(word_merges):
    text = held_out_text()
    theirs = subword_nmt_encoder(word_merges)
    encode = word_encoder(word_merges)
    encoded = [encode(line) for line in text.splitlines()]
    assert [decode(tokens) for tokens in encoded] == text.splitlines()
    segmented = [theirs.segment_tokens(line.split()) for line in text.splitlines()]
    assert encoded == marked(segmented)
    # tokenizers leaves out what is not in its table, so it is given every character.
    known_forms = {form for c in text + training_text() for form in (c, *spell(c))}
    table = sorted({*known_forms, *(left + right for left, right in word_merges)})
    tokenizer = word_tokenizer(word_merges, table)
    assert encoded == tokens_of(tokenizer.encode_batch(text.splitlines()))
    for word in list(dict.fromkeys(text.split()))[::20]:
        assert encode(word) == encode_word(spell(word), word_merges)


@exact
@given(few_letters)
def test_merges_of_random_words_match_subword_nmt(text):
    assume(pair_counts(word_counts(text)))  # subword-nmt fails where there are none
    theirs = file_of_subword_nmt(" ".join(text.split()), 20)
    assert train_bpe_fast(word_counts(text), 20) == merges_in_file(theirs)


# tokenizers: bytes


@exact
@given(st.text(st.characters(exclude_categories=["Cs", "Cn"])))
def test_pre_tokens_and_bytes_match_tokenizers(text):
    splitter = pre_tokenizers.ByteLevel(add_prefix_space=False)
    theirs = [pre_token for pre_token, _ in splitter.pre_tokenize_str(text)]
    assert ["".join(spell_bytes(pre_token)) for pre_token in pre_tokens(text)] == theirs


@exact
@given(st.text())
def test_pre_tokens_match_the_pattern_of_tiktoken(text):
    # As tiktoken writes GPT-2's pattern: without backtracking, and with a case for
    # white space at the end.
    theirs = regex.compile(
        r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++"
        r"|\s++$|\s+(?!\S)|\s"
    )
    assert pre_tokens(text) == theirs.findall(text)


def test_alphabet_matches_tokenizers():
    assert set(ALPHABET) == set(pre_tokenizers.ByteLevel.alphabet())


def test_merges_match_tokenizers_by_its_tie_break():
    tokenizer = byte_tokenizer(training_text(), N_MERGES)
    merges = train_bpe_fast(pre_token_counts(training_text()), N_MERGES, "oldest")
    assert merges == merges_of_tokenizer(tokenizer) and len(merges) == N_MERGES
    text = held_out_text() + "\n\n  日本語 🦜\t"
    assert byte_encoder(merges)(text) == tokenizer.encode(text).tokens


def test_first_differing_merge_is_as_frequent_as_theirs():
    words = pre_token_counts(training_text())
    theirs = merges_of_tokenizer(byte_tokenizer(training_text(), N_MERGES))
    merges = train_bpe_fast(words, N_MERGES)
    first = next(n for n in range(N_MERGES) if merges[n] != theirs[n])
    corpus = PairCounts(words)
    for pair in merges[:first]:
        corpus.merge(pair)
    assert first > 20
    assert corpus.counts[merges[first]] == corpus.counts[theirs[first]] > 1
    assert corpus.counts[merges[first]] == max(corpus.counts.values())


@exact
@given(few_letters)
def test_merges_of_random_words_match_tokenizers(text):
    theirs = merges_of_tokenizer(byte_tokenizer(text, 20))
    assert train_bpe_fast(pre_token_counts(text), 20, "oldest") == theirs


# Fewer pairs than merges


def test_all_libraries_end_where_no_pair_occurs_twice():
    text = every(60, training_text())
    of_words = train_bpe_fast(word_counts(text), NO_LIMIT)
    assert of_words == merges_in_file(file_of_subword_nmt(text, NO_LIMIT))
    of_bytes = train_bpe_fast(pre_token_counts(text), NO_LIMIT, "oldest")
    assert of_bytes == merges_of_tokenizer(byte_tokenizer(text, NO_LIMIT))
    assert 500 < min(len(of_words), len(of_bytes)) < N_MERGES
