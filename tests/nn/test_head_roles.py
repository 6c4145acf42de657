"""Scores of heads: previous, next, same, separator, rarest token, and induction."""

import pytest
import torch
from torch.testing import assert_close

from course_lib.nn.head_roles import (
    ROLES,
    best_heads,
    head_role_scores,
    induction_score,
    mean_role_scores,
)

NO_SEPARATOR = torch.zeros(5, dtype=torch.bool)


def drawn(*shape):
    torch.manual_seed(0)
    return torch.rand(*shape, shape[-1], dtype=torch.float64).softmax(dim=-1)


def heads_that_attend_to(*keys):
    """Return a head for each list of keys, with all weight of query i on key i."""
    return torch.eye(len(keys[0]))[torch.tensor(keys)]


def test_a_head_of_a_role_scores_1_in_it():
    frequencies = torch.tensor([0.0, 5.0, 3.0, 8.0, 0.0])
    is_separator = torch.tensor([True, False, False, False, True])
    heads = heads_that_attend_to(
        [4, 0, 1, 2, 4],  # to the previous token, but for [CLS] and [SEP]
        [4, 2, 3, 4, 4],
        [4, 1, 2, 3, 4],
        [4, 0, 4, 0, 4],
        [4, 2, 2, 2, 4],
    )
    scores = head_role_scores(heads, is_separator, frequencies)
    assert tuple(scores) == ROLES
    for role, score in zip(ROLES, torch.eye(5), strict=True):
        own = ROLES.index(role)
        assert scores[role][own] == 1
        assert (scores[role][score == 0] < 1).all()


def test_uniform_weights_score_what_chance_gives():
    weights = torch.full((2, 3, 8, 8), 1 / 8)
    is_separator = torch.arange(8) % 3 == 0  # three of eight
    scores = head_role_scores(weights, is_separator, torch.arange(8.0))
    for role in ROLES:
        chance = 3 / 8 if role == "separator" else 1 / 8
        assert_close(scores[role], torch.full((2, 3), chance))


@pytest.mark.parametrize("leading", [(), (4,), (2, 3), (1, 1)])
def test_scores_of_many_heads_are_those_of_each(leading):
    weights, frequencies = drawn(*leading, 5), torch.arange(5.0).double()
    scores = head_role_scores(weights, NO_SEPARATOR, frequencies)
    for role in ROLES:
        assert scores[role].shape == leading
    heads = weights.reshape(-1, 5, 5)
    each = [head_role_scores(head, NO_SEPARATOR, frequencies) for head in heads]
    for role in ROLES:
        together = torch.stack([one[role] for one in each])
        assert_close(scores[role].flatten(), together)


def test_without_separators_their_score_is_0():
    scores = head_role_scores(drawn(3, 5), NO_SEPARATOR, torch.arange(5.0).double())
    assert_close(scores["separator"], torch.zeros(3, dtype=torch.float64))


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("is_separator must be boolean", lambda w, f: (w, torch.zeros(5), f)),
        (r"frequencies must have shape", lambda w, f: (w, NO_SEPARATOR, f[:4])),
        (r"weights must have shape", lambda w, f: (w[:, :4], NO_SEPARATOR, f)),
    ],
)
def test_head_role_scores_refuses_what_does_not_fit(words, call):
    arguments = call(drawn(3, 5), torch.arange(5.0).double())
    with pytest.raises((TypeError, ValueError), match=words):
        head_role_scores(*arguments)


@pytest.mark.parametrize("period", [1, 2, 7])
def test_a_head_that_goes_on_scores_1_and_its_neighbours_0(period):
    positions = torch.arange(2 * period)
    back = [(positions - period + 1 + shift).clamp_min(0) for shift in (0, 1, -1)]
    keys = [each.clamp_max(2 * period - 1).tolist() for each in back]
    scores = induction_score(heads_that_attend_to(*keys), period)
    if period == 1:
        assert scores[0] == 1
    else:
        assert scores.tolist() == [1, 0, 0]


def test_first_half_is_not_in_the_induction_score():
    weights = drawn(3, 8)
    other = weights.clone()
    other[:, :4] = 0
    assert_close(induction_score(weights, 4), induction_score(other, 4))


def test_induction_score_refuses_another_period():
    with pytest.raises(ValueError, match="n=6"):
        induction_score(drawn(3, 8), 3)


def test_best_heads_are_in_order():
    scores = torch.tensor([[0.1, 0.9, 0.3], [0.2, 0.5, 0.0]])
    best = best_heads(scores, 3)
    assert [(each.layer, each.head) for each in best] == [(0, 1), (1, 1), (0, 2)]


def test_sentences_count_the_same_in_the_mean():
    short, long = drawn(2, 3), drawn(2, 9)
    sentences = [
        (each, torch.zeros(len(each[0]), dtype=torch.bool), torch.ones(len(each[0])))
        for each in (short.float(), long.float())
    ]
    means = mean_role_scores(sentences)
    for role in ROLES:
        one, other = (head_role_scores(*each)[role] for each in sentences)
        assert_close(means[role], (one + other) / 2)


def test_ends_without_a_neighbour_do_not_count():
    heads = heads_that_attend_to([0, 0, 1, 2, 3], [1, 2, 3, 4, 4])
    scores = head_role_scores(heads, NO_SEPARATOR, torch.arange(5.0))
    assert scores["previous"].tolist() == [1, 0]
    assert scores["next"].tolist() == [0, 1]
