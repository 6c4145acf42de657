"""Families of near copies, the split that keeps them together, and its measure."""

import pytest

from course_lib.corpora.more_pairs import sentences, shares_sentence
from course_lib.corpora.overlap import near_copies, overlap
from course_lib.corpora.pairs import (
    Pair,
    group_by_skeleton,
    hash_fraction,
    skeleton,
    split,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Zone 1", "Zone 27"),
        ("Phase A voltage", "phase B Voltage"),
        ("Turn on!", "turn on"),
        ("Wi-Fi name", "Wi Fi name"),
        ("STRASSE", "straße"),
        ("It's open", "It’s open"),
        ("Zone 1", "Zone 1 2"),
        ("The door is open", "Is the door open?"),
        ("CO2 level", "CO level 2"),
    ],
)
def test_skeleton_ignores_numbers_letters_case_and_order(one, other):
    assert skeleton(one) == skeleton(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("Turn on", "Turn off"), ("on on", "on"), ("Tür", "Tur")],
)
def test_skeleton_differs_for_other_words(one, other):
    assert skeleton(one) != skeleton(other)


def test_groups_link_by_either_side_and_by_chains():
    pairs = [
        Pair("Zone 1", "Bereich 1"),
        Pair("Switch", "Schalter"),
        Pair("Area 5", "Bereich 5"),  # the target of the first
        Pair("Area 6", "Gebiet 6"),  # the source of the third
    ]
    assert group_by_skeleton(pairs) == [[0, 2, 3], [1]]


def test_groups_keep_the_two_languages_apart():
    assert group_by_skeleton([Pair("Name", "Titel"), Pair("Heading", "Name")]) == [
        [0],
        [1],
    ]


def test_split_of_a_group_depends_on_its_texts_only():
    pairs = [
        Pair(f"text {word}x", f"Wort {word}y") for word in map(chr, range(97, 123))
    ]
    assert split(pairs).test == [p for p in split(pairs[::-1]).test[::-1]]
    fewer = split(pairs[5:])
    assert set(fewer.train) <= set(split(pairs).train)
    assert 0 <= hash_fraction(["a", "b"]) < 1


def test_split_keeps_groups_whole():
    pairs = [Pair(f"Item {i % 97}q {i}", f"Ding {i % 89}w {i}") for i in range(900)]
    parts = split(pairs)
    assert len(parts.train) + len(parts.validation) + len(parts.test) == len(pairs)
    assert overlap(parts.train, parts.test).near == 0


def test_overlap_counts_copies_and_near_copies():
    training = [Pair("The door is open now", "Die Tür ist jetzt offen")]
    copy = Pair("The door is open now", "anders")
    near = Pair("the door is open: now 2", "anders")
    changed = Pair("The window is open now", "anders")
    other = Pair("Restart the whole device", "Gerät neu starten")
    shares = overlap(training, [copy, near, changed, other])
    assert (shares.exact, shares.near, shares.one_word) == (0.25, 0.5, 0.75)


def test_near_copies_differ_in_one_word():
    training = [Pair("The door is open now", "Die Tür ist jetzt offen")]
    test = [
        Pair("Now the door is not open", "anders"),
        Pair("Window", "Die Tür ist jetzt zu"),
        Pair("The door is shut today", "anders"),
        Pair("Open door", "Offene Tür"),
    ]
    assert near_copies(training, test) == [True, True, False, False]
    assert near_copies([], test) == [False] * 4


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Try again. Or not", ["Try again.", "Or not"]),
        ("Off!\nOn", ["Off!", "On"]),
        ('Press "OK." Then wait', ['Press "OK."', "Then wait"]),
        ("It is off (yet). (Or not)", ["It is off (yet).", "(Or not)"]),
        ("Tür z. B. Bad", ["Tür z. B. Bad"]),
        ("2. Stock", ["2. Stock"]),
        ("e.g. this", ["e.g. this"]),
        ("Fertig? Überall. Ändern", ["Fertig?", "Überall.", "Ändern"]),
        ("", []),
    ],
)
def test_sentences_end_behind_words(text, parts):
    assert sentences(text) == parts


def test_shares_sentence_compares_skeletons_of_both_sides():
    held_out = [Pair("It is off. Try again", "Es ist aus"), Pair("1.", "Eins")]
    training = [
        Pair("Now what? Please try!", "Bitte"),
        Pair("Wait. Again: try 2!", "Warten"),
        Pair("Whatever", "Ja. Aus ist es."),
        Pair("1. 2", "2"),
    ]
    assert shares_sentence(training, held_out) == [False, True, True, False]


def test_overlap_measures_both_sides():
    training = [Pair("Door", "Die Tür ist offen")]
    assert overlap(training, [Pair("Gate", "Die Tür ist offen")]).exact == 1


def test_overlap_of_nothing_is_zero():
    assert overlap([], []).exact == 0
