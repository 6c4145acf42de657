"""Which texts are taken, and how their spelling is made even."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.corpora.pairs import Pair
from course_lib.corpora.translations import clean, nth_translations


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don’t  show\u00a0it", "Don't show it"),
        ("„Aus“ und “off”", '"Aus" und "off"'),
        ("Gru\u0308n ist gut", "Grün ist gut"),
        ("Wait a moment…", "Wait a moment..."),
        (" Nieder\u00adschlag heute ", "Niederschlag heute"),
        ("Non‑breaking hyphen", "Non-breaking hyphen"),
        ("Zone 12 is open", "Zone 12 is open"),
    ],
)
def test_clean_normalises_spelling(text, expected):
    assert clean(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Connect to {host}",
        "Could not find %s",
        "[%key:common::state::off%]",
        "Read <b>this</b> first",
        "Set `this` to that",
        "**Note** that it is off",
        "See https://example.org/x now",
        "Go to www.example.org today",
        "Ask at example.com for it",
        "Mail to me@home now",
        "Port 8123 is open",
        "One\ntwo three",
        "1 2",
        "",
        "a " * 15,
    ],
)
def test_clean_rejects_what_is_no_sentence(text):
    assert clean(text) is None


def test_clean_allows_fourteen_words():
    assert clean("Akkustand") == "Akkustand"
    assert clean("a " * 14) == ("a " * 14).strip()


def test_clean_allows_as_many_words_as_asked():
    assert clean("a " * 15, 15) == ("a " * 15).strip()
    assert clean("a b", 1) is None


def test_nth_translations_are_by_frequency_then_alphabet():
    pairs = [Pair("on", "an"), Pair("on", "ein"), Pair("on", "ein"), Pair("on", "on")]
    pairs += [Pair("off", "b"), Pair("off", "a")]
    assert nth_translations(pairs) == [Pair("off", "a"), Pair("on", "ein")]
    assert nth_translations(pairs, 2) == [Pair("off", "b"), Pair("on", "an")]
    assert nth_translations(pairs, 3) == []


@given(st.text())
def test_clean_is_idempotent(text):
    cleaned = clean(text)
    if cleaned is not None:
        assert clean(cleaned) == cleaned
        assert unicodedata.is_normalized("NFC", cleaned)
        assert 1 <= len(cleaned.split()) <= 14
