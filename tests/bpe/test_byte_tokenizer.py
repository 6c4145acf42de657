"""The tokenizer as an object gives what the functions give; tokenizers opens it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from course_lib.byte_bpe import (
    byte_vocabulary,
    decode_bytes,
    encode_bytes,
    pre_token_counts,
)
from course_lib.byte_tokenizer import ByteTokenizer
from course_lib.fast_bpe import train_bpe_fast

exact = settings(max_examples=100, derandomize=True)
SPECIAL = ("<end>", "<end>!", "<pad>")
few = st.lists(st.sampled_from(["a", "b", " ", "é", "🐈", "<end>", "!", "<pad>"]))
texts = few.map("".join) | st.text(st.characters(exclude_categories=["Cs"]))


@exact
@given(texts, texts)
def test_token_ids_match_the_functions(trained_on, text):
    tokenizer = ByteTokenizer.train(trained_on, 300, SPECIAL)
    token_ids = encode_bytes(text, tokenizer.merges, SPECIAL)
    assert tokenizer.encode(text) == token_ids
    assert tokenizer.vocabulary == byte_vocabulary(tokenizer.merges, SPECIAL)
    assert tokenizer.decode(token_ids) == decode_bytes(
        token_ids, tokenizer.merges, SPECIAL
    )
    assert tokenizer.decode(token_ids) == text


@exact
@given(st.lists(texts, max_size=4))
def test_several_texts_train_like_their_counts(several):
    counts = {}
    for text in several:
        for word, count in pre_token_counts(text, SPECIAL).items():
            counts[word] = counts.get(word, 0) + count
    tokenizer = ByteTokenizer.train(iter(several), 256 + 3 + 9, SPECIAL)
    assert tokenizer.merges == train_bpe_fast(counts, 9, "last bytes")


def test_ties_compare_bytes_or_characters():
    words = {("Ġ", "b"): 2, ("z", "b"): 2}  # as a byte the space is 32, Ġ is 288
    assert train_bpe_fast(words, 1) == [("Ġ", "b")]
    assert train_bpe_fast(words, 1, "last bytes") == [("z", "b")]
    with pytest.raises(ValueError, match=r"^words have '中', which is not in ALPHABET"):
        train_bpe_fast({("中", "a"): 2}, 1, "last bytes")


@pytest.mark.parametrize("special", [(), SPECIAL])
def test_file_is_read_back_and_opened_by_tokenizers(tmp_path, special):
    text = "the cat sat on the mat, the rat ate the hat <end> 日本 日本 🐈🐈" * 2
    tokenizer = ByteTokenizer.train(text, 290, special)
    tokenizer.save(tmp_path / "tokenizer.json")
    loaded = ByteTokenizer.load(tmp_path / "tokenizer.json")
    assert loaded.merges == tokenizer.merges
    assert loaded.special_tokens == tokenizer.special_tokens
    theirs = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for each in (text, "a<end>! the<pad>\n\n x  'll 12", ""):
        token_ids = tokenizer.encode(each)
        assert theirs.encode(each).ids == token_ids
        assert theirs.decode(token_ids, skip_special_tokens=False) == each


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"model": {"merges": [["a"]]}}'])
def test_other_files_are_refused(tmp_path, content):
    (tmp_path / "other.json").write_text(content)
    with pytest.raises(ValueError, match=r"is not a file that ByteTokenizer"):
        ByteTokenizer.load(tmp_path / "other.json")


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: ByteTokenizer([], "<end>"),
            TypeError,
            "^special_tokens must be a seq",
        ),
        (lambda: ByteTokenizer([], ("",)), ValueError, "^special_tokens has an empty"),
        (lambda: ByteTokenizer(["ab"]), TypeError, "^each of merges must be a pair"),
        (lambda: ByteTokenizer([("中", "a")]), ValueError, "^merges have '中', which"),
        (lambda: ByteTokenizer.train("a", 10), ValueError, "^vocab_size must be at"),
        (lambda: ByteTokenizer([]).decode([256]), ValueError, "^token_ids have 256"),
        (lambda: ByteTokenizer([]).encode(b"a"), TypeError, r"^text must be a text"),
    ],
)
def test_wrong_arguments_are_named(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


def test_bytes_that_are_no_text_become_replacement_characters():
    assert ByteTokenizer([]).decode([97, 195]) == decode_bytes([97, 195], []) == "a�"
