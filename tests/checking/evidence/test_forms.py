"""What form a result has: lists, texts, dictionaries."""

import pytest

from tests.checking.evidence.sentences import sentence_on


def words(text):
    return text.split()


def letters(text):
    return {each: text.count(each) + 1 for each in sorted({*text})}


def upper(text):
    return text.upper() + "!"


TEXTS = [("ab cd ba e", {}), ("x yz zy", {}), ("the cat eats the fish", {})]
OF_FORMS = {
    "the last entry missing": (
        words,
        lambda text: words(text)[:-1],
        "Your result lacks the last entry and is right otherwise.",
    ),
    "an entry too many": (
        words,
        lambda text: ["", *words(text)],
        "Your result has one entry too many at the front and is right otherwise.",
    ),
    "the beginning": (
        words,
        lambda text: words(text)[:1],
        "Your result is the beginning of the right one, and ends too early.",
    ),
    "too long": (
        words,
        lambda text: words(text) * 2,
        "Your result begins with the right one, and goes on after it.",
    ),
    "empty": (words, lambda text: [], "Your result is empty."),
    "reversed": (
        words,
        lambda text: words(text)[::-1],
        "Your result has the right entries in reverse order.",
    ),
    "another order": (
        words,
        lambda text: sorted(words(text), key=lambda word: word[::-1] + text)[::-1],
        "Your result has the right entries in another order.",
    ),
    "a tuple": (
        words,
        lambda text: tuple(words(text)),
        "Your result is a tuple where a list is asked for, with the right values.",
    ),
    "wrapped": (
        words,
        lambda text: [words(text)],
        "Your result is right, but lies in a list of length 1.",
    ),
    "joined": (
        words,
        lambda text: "".join(words(text)),
        "Your result is one text that joins the right pieces.",
    ),
    "capitals": (
        words,
        lambda text: words(text.title()),
        "Your result is right up to capitals.",
    ),
    "white space": (
        upper,
        lambda text: upper(text).replace(" ", ""),
        "Your result is right up to white space.",
    ),
    "a character missing": (
        upper,
        lambda text: upper(text)[:-1],
        "Your result lacks the last character and is right otherwise.",
    ),
    "the last entry": (
        words,
        lambda text: [*words(text)[:-1], "?"],
        "Your result is right except in the last entry.",
    ),
    "a key missing": (
        letters,
        lambda text: {key: n for key, n in letters(text).items() if key != " "},
        "Your result lacks one key and is right otherwise.",
    ),
    "keys too many": (
        letters,
        lambda text: letters(text) | {"?": 0},
        "Your result has one key too many and is right otherwise.",
    ),
    "values": (
        letters,
        lambda text: {key: n - 1 for key, n in letters(text).items()},
        "Your result has the right keys, but the values are smaller than the right "
        "ones by 1.",
    ),
}


@pytest.mark.parametrize("name", OF_FORMS)
def test_form_is_told(name):
    reference, answer, sentence = OF_FORMS[name]
    assert sentence_on(reference, answer, TEXTS) == sentence


@pytest.mark.parametrize("name", OF_FORMS)
def test_form_that_differs_in_one_call_is_not_told(name):
    reference, answer, sentence = OF_FORMS[name]

    other = {words: ["another"], upper: "another", letters: {"another": 0}}

    def nearly(text):
        return other[reference] if text[0] == "x" else answer(text)

    assert sentence_on(reference, nearly, TEXTS) != sentence


def test_keys_and_values_exchanged():
    def numbers(text):
        return {word: number for number, word in enumerate(text.split())}

    def turned(text):
        return dict(enumerate(text.split()))

    inputs = [TEXTS[0], TEXTS[1]]
    sentence = "Your result has keys and values exchanged."
    assert sentence_on(numbers, turned, inputs) == sentence
