"""Subwords of two languages: there and back, unknown characters, fingerprints."""

import json

import pytest

from course_lib.nn.training.subwords import (
    END_ID,
    PADDING_ID,
    REPLACEMENT,
    START_ID,
    UNKNOWN_ID,
    SubwordTokenizer,
    train_tokenizer,
)

TEXTS = ["the battery is low", "the battery is full", "der Akku ist leer"]


@pytest.fixture(scope="module")
def tokenizer():
    return train_tokenizer(TEXTS, 60)


def test_decode_undoes_encode(tokenizer):
    for text in [*TEXTS, "der battery full", "e"]:
        assert tokenizer.decode(tokenizer.encode(text)) == text


def test_vocab_size_is_the_number_of_tokens():
    few, many = train_tokenizer(TEXTS, 44), train_tokenizer(TEXTS, 47)
    assert (len(few), len(many)) == (44, 47)
    assert few.vocabulary == many.vocabulary[:44]


def test_frequent_words_are_one_token(tokenizer):
    assert len(tokenizer.encode("battery")) == 1


def test_vocab_size_0_gives_characters():
    letters = train_tokenizer(TEXTS, 0)
    assert len(letters.encode("battery low")) == len("batterylow")
    assert letters.merges == ()


def test_unknown_character_becomes_one_unknown_token(tokenizer):
    token_ids = tokenizer.encode("low 電 battery")
    assert token_ids.count(UNKNOWN_ID) == 1
    assert tokenizer.decode(token_ids).replace(" ", "") == f"low{REPLACEMENT}battery"


def test_character_from_within_words_may_end_one(tokenizer):
    assert UNKNOWN_ID not in tokenizer.encode("ha")


def test_special_tokens_are_neither_decoded_nor_encoded(tokenizer):
    assert (
        tokenizer.decode([START_ID, *tokenizer.encode("low"), END_ID, PADDING_ID])
        == "low"
    )
    learned = train_tokenizer(["<end> <end> <end>"] * 3, 100)
    assert END_ID not in learned.encode("<end>")
    assert learned.decode(learned.encode("<end>")) == "<end>"


def test_empty_text_has_no_tokens(tokenizer):
    assert tokenizer.encode("  ") == []
    assert tokenizer.decode([]) == ""


def test_decode_refuses_ids_beyond_the_vocabulary(tokenizer):
    with pytest.raises(IndexError):
        tokenizer.decode([len(tokenizer)])


def test_plain_data_restores_the_tokenizer(tokenizer):
    restored = SubwordTokenizer.from_data(json.loads(json.dumps(tokenizer.as_data())))
    assert restored == tokenizer
    assert restored.fingerprint == tokenizer.fingerprint


def test_fingerprint_differs_between_vocabularies(tokenizer):
    assert train_tokenizer(TEXTS, 45).fingerprint != tokenizer.fingerprint
    assert train_tokenizer([*TEXTS, "z"], 60).fingerprint != tokenizer.fingerprint
