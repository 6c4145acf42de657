"""What lesson 06 measures: by hand, and against the encoders that it talks about."""

import doctest

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.bpe import encode_word, spell, vocabulary, word_counts
from course_lib.fast_bpe import train_bpe_fast, word_encoder
from course_lib.lessons import token_statistics
from course_lib.lessons.token_statistics import (
    longest_match,
    merge_trees,
    most_frequent_first,
    most_frequent_words,
    share_out_of_vocabulary,
    share_rare,
    share_whole,
    tokens_per_word,
)

exact = settings(max_examples=300, derandomize=True)
words = st.lists(st.sampled_from("abc"), max_size=9).map(tuple)
letter_pairs = st.tuples(st.sampled_from(["a", "b", "c", "ab", "bc"]), st.just("c"))
merge_lists = st.lists(
    letter_pairs | st.tuples(st.sampled_from("abc"), st.sampled_from("abc")),
    max_size=6,
)
TEXT = "the cat sat on the mat and the rat ate the cat"


def leaves(tree):
    return [tree] if isinstance(tree, str) else [*leaves(tree[0]), *leaves(tree[1])]


def test_examples_in_docstrings():
    results = doctest.testmod(token_statistics)
    assert results.attempted >= 8 and not results.failed


@exact
@given(words, merge_lists)
def test_merge_trees_have_tokens_of_encode_word(word, merges):
    trees = merge_trees(word, merges)
    assert ["".join(leaves(tree)) for tree in trees] == encode_word(word, merges)
    assert [leaf for tree in trees for leaf in leaves(tree)] == [*word]


@exact
@given(words, merge_lists)
def test_nodes_of_merge_trees_are_merges(word, merges):
    def check(tree):
        if not isinstance(tree, str):
            assert tuple("".join(leaves(part)) for part in tree) in merges
            for part in tree:
                check(part)

    for tree in merge_trees(word, merges):
        check(tree)


def test_merge_trees_join_pairs_from_the_left():
    assert merge_trees("aaaaa", [("a", "a")]) == [("a", "a"), ("a", "a"), "a"]


@exact
@given(words, st.sets(st.text("abc", min_size=1, max_size=4)))
def test_longest_match_takes_the_longest_tokens(word, tokens):
    tokens_of_word = longest_match(word, tokens)
    text = "".join(word)
    assert "".join(tokens_of_word) == text
    start = 0
    for token in tokens_of_word:
        assert token in tokens or len(token) == 1
        longer = [t for t in tokens if len(t) > len(token)]
        assert not any(text.startswith(t, start) for t in longer)
        start += len(token)


def test_longest_match_matches_word_piece():
    from tokenizers import Tokenizer, models

    tokens = {*"abc", "ab", "bc", "cab", "bca"}
    inner = {f"##{token}" for token in tokens}
    numbered = {token: n for n, token in enumerate(["?", *sorted(tokens | inner)])}
    theirs = Tokenizer(models.WordPiece(numbered, unk_token="?"))
    for word in ("abc", "bcab", "ccabcab", "abab", "c"):
        expected = [token.removeprefix("##") for token in theirs.encode(word).tokens]
        assert longest_match(word, tokens) == expected


def test_three_rules_split_abc_in_two_ways():
    merges = [("b", "c"), ("a", "b")]
    assert encode_word(("a", "b", "c"), merges) == ["a", "bc"]
    assert longest_match("abc", {"ab", "bc"}) == ["ab", "c"]
    assert most_frequent_first("abc", merges, "ab ab abc") == ["ab", "c"]
    assert most_frequent_first("abc", merges, "bc bc abc") == ["a", "bc"]


def test_words_are_sorted_by_frequency_then_alphabet():
    assert most_frequent_words(TEXT)[:4] == ["the", "cat", "and", "ate"]
    assert most_frequent_words("") == []


def test_unknown_words_count_as_often_as_they_occur():
    assert share_out_of_vocabulary("a b b b", ["a"]) == 0.75
    assert share_out_of_vocabulary("a b", ["a", "b", "c"]) == 0
    assert share_out_of_vocabulary(" \n", ["a"]) == 0


def test_tokens_per_word_and_share_whole_by_hand():
    encode = word_encoder([("t", "h"), ("th", "e</w>")])
    assert tokens_per_word("the cat the", encode) == pytest.approx(5 / 3)
    assert share_whole(["the", "cat", "a"], encode) == pytest.approx(2 / 3)
    assert tokens_per_word("", encode) == share_whole([], encode) == 0


def test_rare_tokens_are_counted_once_each():
    assert share_rare("a a b c", lambda word: [word], 2) == pytest.approx(2 / 3)
    assert share_rare("", list, 5) == 0


def test_more_merges_never_need_more_tokens():
    merges = train_bpe_fast(word_counts(TEXT * 3), 12)
    lengths = [tokens_per_word(TEXT, word_encoder(merges[:n])) for n in range(13)]
    assert lengths == sorted(lengths, reverse=True) and lengths[-1] < lengths[0]
    known = set(vocabulary(word_counts(TEXT), merges))
    assert all(t in known for t in word_encoder(merges)(TEXT))
    assert longest_match(spell("cat"), known)
