"""Heads that follow the syntax: where the words stand, and what is recorded."""

import pytest
import torch

from course_lib.experiments import record, syntax_heads
from course_lib.experiments.syntax_heads import (
    RELATIONS,
    WORDS,
    best_distance,
    hits,
    sentences,
)
from course_lib.nn.pretrained import SentenceEncoder


class OneHead:
    """One head, each word of which attends to the word ``distance`` behind it."""

    def __init__(self, distance):
        self.distance = distance

    def tokens(self, text):
        return ["[CLS]", *text.lower().removesuffix(".").split(), ".", "[SEP]"]

    def weights(self, text):
        n = len(self.tokens(text))
        weights = torch.zeros(1, 1, n, n)
        weights[..., 0] = 0.5  # a separator has no share in it
        for i in range(n):
            weights[0, 0, i, min(n - 1, max(0, i + self.distance))] = 0.4
        return weights


@pytest.fixture(scope="module")
def encoder():
    return SentenceEncoder.load()


def test_each_word_is_one_token_and_stands_once(encoder):
    for text, words in sentences(WORDS):
        tokens = encoder.tokens(text)
        for word in vars(words).values():
            assert tokens.count(word) == 1, text


def test_one_distance_finds_a_third_or_a_quarter():
    # 0, 1 or 2 adjectives; 0, 1, 3 or 4 words behind the subject.
    for distance, relation, share in (
        (2, "verb to object", 1 / 3),
        (3, "verb to object", 1 / 3),
        (-4, "object to verb", 1 / 3),
        (-1, "verb to subject", 1 / 4),
        (5, "subject to verb", 1 / 4),
        (-3, "verb to subject", 0),
    ):
        rows = hits(OneHead(distance), WORDS)[relation]
        assert rows.shape == (96, 1, 1)
        assert rows.float().mean().item() == pytest.approx(share)
    for relation, share in zip(RELATIONS, (1 / 3, 1 / 3, 1 / 4, 1 / 4), strict=True):
        assert best_distance(OneHead(1), relation) == pytest.approx(share)


def test_record_is_what_comes_out_today():
    recorded = record.read("syntax_heads").runs[0]
    assert {"seed": 0, **syntax_heads.full(0)} == recorded


def test_head_is_chosen_on_other_words_than_it_is_tried_on(monkeypatch):
    asked = []

    def remember(encoder, words):
        asked.append(words)
        return hits(OneHead(2), words)

    monkeypatch.setattr(syntax_heads, "hits", remember)
    syntax_heads.full(0)
    even, odd = asked
    assert not {*even} & {*odd} and {*even, *odd} == {*WORDS}
