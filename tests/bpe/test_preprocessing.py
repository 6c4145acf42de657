"""Punctuation apart and case made even: undone without a loss, or counted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.bpe import word_counts
from course_lib.corpora.translations import translation_pairs
from course_lib.fast_bpe import train_bpe_fast, word_encoder
from course_lib.lessons.token_statistics import share_out_of_vocabulary
from course_lib.nn.training.subwords import (
    REPLACEMENT,
    SubwordTokenizer,
    train_pair_tokenizer,
)
from course_lib.preprocessing import (
    JOINER,
    STAND_IN,
    Preprocessing,
    Truecaser,
    first_words,
    join_punctuation,
    separate_punctuation,
)

PAIRS = [
    ("The fan is on.", "Der Lüfter ist an."),
    ("Turn the USB fan on", "Den USB-Lüfter anschalten"),
    ("Is the fan on?", "Ist der Lüfter an?"),
    ("Turn on the pH meter", "Wo der pH-Wert ist und den Lüfter"),
]


@pytest.fixture(scope="module")
def learned():
    return Preprocessing.learn(PAIRS)


@pytest.fixture(scope="module")
def tokenizer():
    return train_pair_tokenizer(PAIRS, 200)


def round_trip(preprocessing, text):
    return preprocessing.restore_target(preprocessing.prepare_target(text))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Tür.", "Tür ￭."),
        ("dB-Wert", "dB ￭-￭ Wert"),
        ('"Aus" (jetzt)', '"￭ Aus ￭" (￭ jetzt ￭)'),
        ("Wait...", "Wait ￭..."),
        ("a - b", "a - b"),
        ("don't 'off'", "don ￭'t '￭ off ￭'"),
        ("3.5 °C", "3 ￭.￭ 5 °￭ C"),
        ('Stop?!"', 'Stop ￭? ￭! ￭"'),
        ("?!", "? ￭!"),
        ("  ", ""),
    ],
)
def test_separate_punctuation_marks_where_there_was_no_space(text, tokens):
    assert separate_punctuation(text) == tokens
    assert join_punctuation(tokens) == " ".join(text.split())


@given(st.text(alphabet=st.characters(exclude_characters=JOINER)))
def test_join_punctuation_undoes_separate_punctuation(text):
    assert join_punctuation(separate_punctuation(text)) == " ".join(text.split())


@given(st.text(alphabet=f"aB.-' {JOINER}"))
def test_no_joiner_is_left_whatever_a_model_writes(text):
    assert JOINER not in join_punctuation(text)
    assert JOINER not in join_punctuation(separate_punctuation(text))


def test_joiner_in_a_text_becomes_another_sign():
    assert separate_punctuation(f"a{JOINER}b") == f"a {JOINER}{STAND_IN}{JOINER} b"
    assert join_punctuation(separate_punctuation(f"a{JOINER}b")) == f"a{STAND_IN}b"


def test_first_words_are_behind_ends_of_sentences():
    tokens = separate_punctuation("'Off'. It is. z. B. at example.com! Now").split()
    assert [tokens[i] for i in first_words(tokens)] == ["Off", "It", "z", "Now"]


def test_first_word_gets_the_case_that_it_has_elsewhere(learned):
    assert learned.prepare_target("Der Lüfter") == "der Lüfter"
    assert learned.prepare_target("Lüfter an. Ist der an") == "Lüfter an ￭. ist der an"
    assert learned.prepare_target("Unbekannt") == "Unbekannt"


def test_each_language_has_its_own_case(learned):
    assert learned.prepare_source("Fan on") == "fan on"
    assert learned.prepare_target("Fan on") == "Fan on"


@pytest.mark.parametrize(
    "text", ["pH-Wert", "dB-Wert", "Der USB-Lüfter. Ist der an?", "USB", "?!", "", "2"]
)
def test_restore_target_gives_back(learned, text):
    assert round_trip(learned, text) == text


@pytest.mark.parametrize(
    ("text", "other"),
    [("devolo ist an", "Devolo ist an"), ("ca. zwei", "Ca. Zwei")],
)
def test_small_letters_that_begin_a_sentence_are_the_exception(learned, text, other):
    assert round_trip(learned, text) == other


def test_capitals_throughout_are_read_as_small_letters(learned):
    assert learned.prepare_source("TURN THE USB FAN ON!") == "turn the USB fan on ￭!"
    assert learned.prepare_source("USB") == "USB"
    # A target is given back, so it stays.
    assert round_trip(learned, "USB LÜFTER AN") == "USB LÜFTER AN"


def test_truecaser_keeps_the_more_frequent_spelling():
    truecaser = Truecaser.learn(["x Low", "x low", "x low", "Off", "x USB", "x usb"])
    assert "low" in truecaser.lower and "off" not in truecaser.lower
    assert truecaser.upper == frozenset()  # as often in small letters


def test_tokenizer_applies_and_undoes_preprocessing(tokenizer):
    for _, target in PAIRS:
        assert tokenizer.decode(tokenizer.encode_target(target)) == target
    assert tokenizer.encode("Fan") == tokenizer.encode("fan")
    assert tokenizer.encode_target("Der") == tokenizer.encode_target("der")


def test_plain_data_restores_preprocessing(tokenizer):
    restored = SubwordTokenizer.from_data(tokenizer.as_data())
    assert restored == tokenizer and restored.fingerprint == tokenizer.fingerprint
    plain = SubwordTokenizer(tokenizer.symbols, tokenizer.merges)
    assert plain.fingerprint != tokenizer.fingerprint


@pytest.mark.parametrize(
    ("text", "result"),
    [
        (f"fan{JOINER}on", f"Fan{REPLACEMENT}on"),
        ("電池", REPLACEMENT * 2),
        ("on?", "On?"),
    ],
)
def test_characters_that_are_not_known_are_replaced(tokenizer, text, result):
    assert tokenizer.decode(tokenizer.encode(text)).replace(" ", "") == result


def test_a_word_of_200_letters_is_round_trip(tokenizer):
    assert tokenizer.decode(tokenizer.encode_target("a" * 200)) == "A" + "a" * 199


@pytest.mark.thorough
def test_real_targets_survive_but_for_small_first_letters():
    parts = translation_pairs()
    learned = Preprocessing.learn(parts.train)
    exceptions = {}
    for name, pairs in vars(parts).items():
        texts = [pair.target for pair in pairs]
        wrong = [text for text in texts if round_trip(learned, text) != text]
        exceptions[name] = len(wrong)
        # Nothing but a capital too many.
        for text in wrong:
            assert round_trip(learned, text).lower() == text.lower()
    assert exceptions == {"train": 31, "validation": 2, "test": 2}


@pytest.mark.thorough
def test_preprocessing_makes_words_known_and_tokens_no_fewer():
    """Pin what lesson 06 says of its table, in 100 held-out texts."""
    parts = translation_pairs()
    rows = []
    for way in (str, Preprocessing.learn(parts.train).prepare_target):
        train, test = (
            " ".join(way(pair.target) for pair in part)
            for part in (parts.train, parts.test)
        )
        encode = word_encoder(train_bpe_fast(word_counts(train), 4000))
        words = test.split()
        unknown = len(words) * share_out_of_vocabulary(test, train.split())
        totals = (unknown, len(words), len(encode(test)))
        rows.append([round(100 * total / len(parts.test)) for total in totals])
    assert rows == [[57, 371, 746], [33, 499, 761]]
