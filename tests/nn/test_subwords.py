"""Word pieces of two languages: there and back, unknown characters, fingerprints."""

import json

import pytest

from course_lib.nn.training.subwords import (
    END,
    PADDING,
    REPLACEMENT,
    START,
    UNKNOWN,
    Subwords,
    learn_subwords,
)

TEXTS = ["the battery is low", "the battery is full", "der Akku ist leer"]


@pytest.fixture(scope="module")
def subwords():
    return learn_subwords(TEXTS, 60)


def test_a_text_comes_back_as_it_was(subwords):
    for text in [*TEXTS, "der battery full", "e"]:
        assert subwords.decode(subwords.encode(text)) == text


def test_there_are_as_many_tokens_as_asked_for():
    few, many = learn_subwords(TEXTS, 44), learn_subwords(TEXTS, 47)
    assert (len(few), len(many)) == (44, 47)
    assert few.tokens == many.tokens[:44]


def test_frequent_words_are_one_token(subwords):
    assert len(subwords.encode("battery")) == 1


def test_without_room_tokens_are_characters():
    letters = learn_subwords(TEXTS, 0)
    assert len(letters.encode("battery low")) == len("batterylow")
    assert letters.merges == ()


def test_an_unknown_character_is_one_unknown_token_and_shows(subwords):
    numbers = subwords.encode("low 電 battery")
    assert numbers.count(UNKNOWN) == 1
    assert subwords.decode(numbers).replace(" ", "") == f"low{REPLACEMENT}battery"


def test_a_character_seen_only_within_words_may_end_one(subwords):
    assert UNKNOWN not in subwords.encode("ha")


def test_special_tokens_leave_nothing_and_are_never_read(subwords):
    assert subwords.decode([START, *subwords.encode("low"), END, PADDING]) == "low"
    learned = learn_subwords(["<end> <end> <end>"] * 3, 100)
    assert END not in learned.encode("<end>")
    assert learned.decode(learned.encode("<end>")) == "<end>"


def test_an_empty_text_is_no_tokens(subwords):
    assert subwords.encode("  ") == []
    assert subwords.decode([]) == ""


def test_a_number_that_no_token_has_is_refused(subwords):
    with pytest.raises(IndexError):
        subwords.decode([len(subwords)])


def test_plain_data_makes_the_same_vocabulary(subwords):
    again = Subwords.from_data(json.loads(json.dumps(subwords.as_data())))
    assert again == subwords
    assert again.fingerprint == subwords.fingerprint


def test_fingerprints_differ_where_vocabularies_do(subwords):
    assert learn_subwords(TEXTS, 45).fingerprint != subwords.fingerprint
    assert learn_subwords([*TEXTS, "z"], 60).fingerprint != subwords.fingerprint
