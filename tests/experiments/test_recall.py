"""The stories, and what a short training on them can and cannot learn."""

import numpy as np
import pytest
import torch

from course_lib.experiments import recall, record
from course_lib.lessons.stories import (
    COLOURS,
    D_MODEL,
    NOUNS,
    PRONOUNS,
    WORDS,
    draw,
    story_of,
)
from course_lib.lessons.stories import word_vectors as vectors_of


@pytest.fixture(scope="module")
def stories():
    return draw(np.random.default_rng(3), 500)


@pytest.fixture(scope="module")
def learned():
    return recall.train(1)  # the lesson's: with d_k = 2, seed 0 gets stuck at 0.94


def meant(stories):
    return [WORDS[w] for w in stories.words[np.arange(500), stories.target_index]]


def test_pronoun_asks_for_one_of_its_nouns(stories):
    for noun, word in zip(meant(stories), stories.words[:, -1], strict=True):
        assert noun in NOUNS[WORDS[word]]


def test_story_has_one_noun_for_each_pronoun(stories):
    for story in stories.words[:, :4]:
        groups = [next(p for p in PRONOUNS if WORDS[w] in NOUNS[p]) for w in story]
        assert sorted(groups) == sorted(PRONOUNS)


def test_noun_itself_can_ask():
    stories = draw(np.random.default_rng(3), 500, by_pronoun=False)
    assert meant(stories) == [WORDS[w] for w in stories.words[:, -1]]


def test_targets_are_equally_frequent(stories):
    assert np.bincount(stories.target_index, minlength=4).min() > 90


def test_only_the_asking_token_has_no_colour(stories):
    x = stories.embed(vectors_of(0))
    assert x.shape == (500, 5, D_MODEL)
    assert not x[:, -1, 16:].any()
    np.testing.assert_array_equal(x[:, :4, 16:].argmax(-1), stories.colours)
    np.testing.assert_array_equal(x[:, :4, 16:].sum(-1), 1)


def test_story_of_has_the_answer_of_its_target():
    story = story_of(["king", "car", "girl", "twins"], ["red", "blue"] * 2, "it")
    assert COLOURS[story.answers[0]] == "blue"


def test_learned_parameters_resolve_pronouns(learned):
    assert learned.accuracy > 0.9  # one noun lost of 16 would still be 0.94
    assert learned.weight_on_target > 0.9
    assert learned.losses[-1] < 0.3 < 1.5 < learned.losses[0]


def test_similarity_finds_nouns_but_no_pronouns():
    few = recall.STEPS // 2
    noun = recall.train(0, learn_queries_and_keys=False, by_pronoun=False, steps=few)
    pronoun = recall.train(0, learn_queries_and_keys=False, steps=few)
    assert noun.accuracy > 0.95 > 0.35 > pronoun.accuracy
    assert pronoun.own_largest == 1.0  # nothing resembles a word as much as itself
    np.testing.assert_array_equal(noun.w_q, np.eye(D_MODEL)[:, :16])  # nothing moved


def test_training_is_repeatable():
    one, two = recall.train(5, steps=20), recall.train(5, steps=20)
    np.testing.assert_array_equal(one.w_q, two.w_q)
    assert one.losses == two.losses


def test_training_leaves_the_number_of_threads():
    before = torch.get_num_threads()
    recall.train(0, steps=1)
    assert torch.get_num_threads() == before


def test_record_supports_the_lesson():
    results = record.read("recall")
    assert min(results.values("noun again, similarity")) > 0.98
    assert max(results.values("pronoun, similarity")) < 0.35
    assert min(results.values("pronoun, learned")) > 0.98
    assert min(results.values("weight on the target")) > 0.95
