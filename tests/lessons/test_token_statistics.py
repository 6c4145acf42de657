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

exact = settings(max_examples=300, deadline=None, derandomize=True)
words = st.lists(st.sampled_from("abc"), max_size=9).map(tuple)
letter_pairs = st.tuples(st.sampled_from(["a", "b", "c", "ab", "bc"]), st.just("c"))
merge_lists = st.lists(
    letter_pairs | st.tuples(st.sampled_from("abc"), st.sampled_from("abc")),
    max_size=6,
)
TEXT = "the cat sat on the mat and the rat ate the cat"


def leaves(tree):
    return [tree] if isinstance(tree, str) else [*leaves(tree[0]), *leaves(tree[1])]


def test_the_examples_are_what_python_prints():
    found = doctest.testmod(token_statistics)
    assert found.attempted >= 8 and not found.failed


@exact
@given(words, merge_lists)
def test_trees_have_the_tokens_of_encoding_and_the_symbols_of_the_word(word, merges):
    trees = merge_trees(word, merges)
    assert ["".join(leaves(tree)) for tree in trees] == encode_word(word, merges)
    assert [leaf for tree in trees for leaf in leaves(tree)] == [*word]


@exact
@given(words, merge_lists)
def test_each_node_of_a_tree_is_a_merge(word, merges):
    def check(tree):
        if not isinstance(tree, str):
            assert tuple("".join(leaves(part)) for part in tree) in merges
            for part in tree:
                check(part)

    for tree in merge_trees(word, merges):
        check(tree)


def test_a_pair_is_joined_at_each_place_from_the_left():
    assert merge_trees("aaaaa", [("a", "a")]) == [("a", "a"), ("a", "a"), "a"]


@exact
@given(words, st.sets(st.text("abc", min_size=1, max_size=4)))
def test_the_longest_match_takes_no_token_that_could_be_longer(word, tokens):
    found = longest_match(word, tokens)
    text = "".join(word)
    assert "".join(found) == text
    start = 0
    for token in found:
        assert token in tokens or len(token) == 1
        longer = [t for t in tokens if len(t) > len(token)]
        assert not any(text.startswith(t, start) for t in longer)
        start += len(token)


def test_the_longest_match_is_that_of_word_piece():
    from tokenizers import Tokenizer, models

    tokens = {*"abc", "ab", "bc", "cab", "bca"}
    inner = {f"##{token}" for token in tokens}
    numbered = {token: n for n, token in enumerate(["?", *sorted(tokens | inner)])}
    theirs = Tokenizer(models.WordPiece(numbered, unk_token="?"))
    for word in ("abc", "bcab", "ccabcab", "abab", "c"):
        found = [token.removeprefix("##") for token in theirs.encode(word).tokens]
        assert longest_match(word, tokens) == found


def test_the_three_rules_split_abc_in_greedy_and_beam():
    merges = [("b", "c"), ("a", "b")]
    assert encode_word(("a", "b", "c"), merges) == ["a", "bc"]
    assert longest_match("abc", {"ab", "bc"}) == ["ab", "c"]
    assert most_frequent_first("abc", merges, "ab ab abc") == ["ab", "c"]
    assert most_frequent_first("abc", merges, "bc bc abc") == ["a", "bc"]


def test_words_come_by_frequency_and_then_by_alphabet():
    assert most_frequent_words(TEXT)[:4] == ["the", "cat", "and", "ate"]
    assert most_frequent_words("") == []


def test_unknown_words_count_as_often_as_they_occur():
    assert share_out_of_vocabulary("a b b b", ["a"]) == 0.75
    assert share_out_of_vocabulary("a b", ["a", "b", "c"]) == 0
    assert share_out_of_vocabulary(" \n", ["a"]) == 0


def test_tokens_per_word_and_whole_words_follow_the_encoder():
    encode = word_encoder([("t", "h"), ("th", "e</w>")])
    assert tokens_per_word("the cat the", encode) == pytest.approx(5 / 3)
    assert share_whole(["the", "cat", "a"], encode) == pytest.approx(2 / 3)
    assert tokens_per_word("", encode) == share_whole([], encode) == 0


def test_seldom_tokens_are_counted_once_each():
    assert share_rare("a a b c", lambda word: [word], 2) == pytest.approx(2 / 3)
    assert share_rare("", list, 5) == 0


def test_more_merges_never_make_a_training_text_longer():
    merges = train_bpe_fast(word_counts(TEXT * 3), 12)
    lengths = [tokens_per_word(TEXT, word_encoder(merges[:n])) for n in range(13)]
    assert lengths == sorted(lengths, reverse=True) and lengths[-1] < lengths[0]
    known = set(vocabulary(word_counts(TEXT), merges))
    assert all(t in known for t in word_encoder(merges)(TEXT))
    assert longest_match(spell("cat"), known)
