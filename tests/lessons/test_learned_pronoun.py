"""The two layers of lesson 02: what *it* means, learned from 120 sentences."""

import doctest

import numpy as np
import pytest

from course_lib.lessons import learned_pronoun, pronoun
from course_lib.lessons.learned_pronoun import IT, sentences, train, training_sentences
from course_lib.self_attention import self_attention


def weights_of_it(layers, words):
    x = layers.embed(words)
    notes = self_attention(x, *layers.first)[0]
    noted = np.concatenate([x, notes], axis=-1)
    return self_attention(noted, *layers.second)[1][IT]


def test_examples_in_docstrings():
    results = doctest.testmod(learned_pronoun)
    assert results.attempted >= 2 and not results.failed


@pytest.mark.parametrize("seed", range(10))
def test_it_attends_to_noun_that_is_meant(seed):
    *_, layers = train(seed)
    for last_word, meant in (("tired", "animal"), ("wide", "street")):
        words = pronoun.sentence(last_word)
        assert weights_of_it(layers, words)[words.index(meant)] > 0.9


def test_all_new_sentences_are_understood():
    *_, layers = train(0)
    new = [each for each in sentences() if each not in training_sentences()]
    assert len(new) == 8
    assert min(weights_of_it(layers, words)[meant] for words, meant in new) > 0.9


def test_untrained_layers_attend_to_all_words_nearly_alike():
    layers = next(train(0))
    assert layers.step == 0
    for last_word in pronoun.LAST_WORDS:
        weights = weights_of_it(layers, pronoun.sentence(last_word))
        assert np.abs(weights - 1 / 11).max() < 0.03


def test_training_does_not_know_the_sentence_of_lesson_01():
    known = [words for words, _ in training_sentences()]
    assert len(known) == 120 and len(sentences()) == 128
    for last_word in pronoun.LAST_WORDS:
        assert pronoun.sentence(last_word) not in known
        assert pronoun.sentence(last_word) in [words for words, _ in sentences()]


def test_sentences_mean_an_animal_or_a_street_equally_often():
    meant = [words[index] for words, index in sentences()]
    assert sorted({*meant}) == sorted(
        {*learned_pronoun.ANIMALS, *learned_pronoun.STREETS}
    )
    assert all(meant.count(noun) == 16 for noun in {*meant})


def test_steps_are_yielded_and_follow_from_the_seed():
    layers = [*train(1, steps=5, every=2)]
    assert [each.step for each in layers] == [0, 2, 4, 5]
    repeated = [*train(1, steps=5, every=2)]
    other = [*train(2, steps=5, every=2)]
    for one, same, another in zip(layers, repeated, other, strict=True):
        np.testing.assert_array_equal(one.second[0], same.second[0])
        assert np.abs(one.second[0] - another.second[0]).max() > 0.01
    assert np.abs(layers[0].first[0] - layers[-1].first[0]).max() > 0.01


def test_what_is_out_of_range_is_refused():
    with pytest.raises(ValueError, match=r"^steps=-1, every=10 are not"):
        next(train(0, steps=-1))
    with pytest.raises(ValueError, match=r"every=0"):
        next(train(0, every=0))
    with pytest.raises(ValueError, match=r"^'kangaroo' has no vector"):
        next(train(0)).embed(["The", "kangaroo"])
