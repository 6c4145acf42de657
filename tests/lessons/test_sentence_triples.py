"""Triples of sentences: their loss, its gradient, and what it takes to be right."""

import math

import pytest
import torch

from course_lib.lessons import sentence_triples
from course_lib.lessons.sentence_triples import TRIPLES

OPEN = torch.ones(6, 12)


def test_loss_is_that_of_a_choice_between_two():
    both = sentence_triples.cosines(OPEN, TRIPLES[0]).tolist()
    expected = math.log1p(math.exp(20 * (both[1] - both[0])))
    assert sentence_triples.loss_of(OPEN, TRIPLES[0]) == pytest.approx(expected, 1e-4)


def test_equal_sentences_cost_ln_2():
    assert sentence_triples.loss_of(OPEN, ("A", "B", "B")) == pytest.approx(math.log(2))


def test_gradient_is_the_slope_of_the_loss():
    triple, step = TRIPLES[2], 0.05
    shift = torch.zeros(6, 12)
    shift[5, 8] = step
    up = sentence_triples.loss_of(OPEN + shift, triple)
    down = sentence_triples.loss_of(OPEN - shift, triple)
    slope = sentence_triples.gradient_of(OPEN, triple)[5, 8].item()
    assert slope == pytest.approx((up - down) / (2 * step), rel=0.05, abs=1e-3)


def test_mean_loss_and_count_are_over_the_triples():
    two = TRIPLES[:2]
    losses = [sentence_triples.loss_of(OPEN, triple) for triple in two]
    assert sentence_triples.mean_loss(OPEN, two) == pytest.approx(sum(losses) / 2)
    right = [loss < math.log(2) for loss in losses]
    assert sentence_triples.count_right(OPEN, two) == sum(right)
