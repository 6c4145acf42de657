"""Sampling: the limits of temperature, ties, p that is crossed, and shares of draws."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_lib.nn.sampling import (
    apply_temperature,
    sample,
    top_k_filter,
    top_p_filter,
)

ROWS = st.lists(st.integers(0, 9), min_size=1, max_size=12).filter(any)


def distribution(counts):
    return torch.tensor(counts, dtype=torch.float64) / sum(counts)


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.5])
def test_temperature_is_a_softmax_of_divided_logits(temperature):
    logits = torch.randn(3, 7, dtype=torch.float64)
    logits[1, 2] = -torch.inf
    expected = (logits / temperature).softmax(dim=-1)
    torch.testing.assert_close(apply_temperature(logits, temperature), expected)


def test_temperature_has_its_limits():
    logits = torch.tensor([[1.0, 3.0, 3.0, -torch.inf], [1e4, 0.0, -1e4, 0.0]])
    first = torch.tensor([[0.0, 1, 0, 0], [1, 0, 0, 0]])
    assert torch.equal(apply_temperature(logits, 0), first)
    ties = torch.tensor([[0.0, 0.5, 0.5, 0], [1, 0, 0, 0]])
    assert torch.equal(apply_temperature(logits, 1e-30), ties)
    flat = torch.tensor([[1 / 3, 1 / 3, 1 / 3, 0], [0.25] * 4])
    torch.testing.assert_close(apply_temperature(logits, math.inf), flat)
    torch.testing.assert_close(apply_temperature(logits, 1e30), flat)


@given(ROWS, st.integers(1, 13))
def test_top_k_lets_the_largest_stay(counts, k):
    probabilities = distribution(counts)
    order = sorted(range(len(counts)), key=lambda i: (-counts[i], i))[:k]
    total = sum(counts[i] for i in order)
    expected = [counts[i] / total if i in order else 0.0 for i in range(len(counts))]
    assert top_k_filter(probabilities, k).tolist() == pytest.approx(expected)


@given(ROWS, st.integers(1, 100))
def test_top_p_lets_the_token_that_crosses_p_stay(counts, percent):
    order = sorted(range(len(counts)), key=lambda i: (-counts[i], i))
    stays, so_far = [], 0
    for i in order:
        stays.append(i)
        so_far += counts[i]
        if 100 * so_far >= percent * sum(counts):
            break
    expected = [counts[i] / so_far if i in stays else 0.0 for i in range(len(counts))]
    # A p a little below the sum of some tokens: floats must not decide.
    filtered = top_p_filter(distribution(counts), percent / 100 - 1e-9)
    assert filtered.tolist() == pytest.approx(expected)


def test_top_p_of_one_changes_nothing():
    probabilities = torch.randn(50, 1000).mul(20).softmax(dim=-1)
    assert torch.equal(top_p_filter(probabilities, 1), probabilities)


def test_each_row_is_filtered_alone():
    rows = torch.rand(4, 3, 9, dtype=torch.float64).softmax(dim=-1)
    for filtered in (lambda x: top_k_filter(x, 3), lambda x: top_p_filter(x, 0.7)):
        together = filtered(rows)
        for i in range(4):
            for j in range(3):
                torch.testing.assert_close(together[i, j], filtered(rows[i, j]))


@given(ROWS)
def test_a_token_is_drawn_for_its_share_of_u(counts):
    probabilities = distribution(counts)
    u = (torch.arange(sum(counts), dtype=torch.float64) + 0.5) / sum(counts)
    drawn = sample(probabilities.expand(len(u), -1), u)
    assert torch.bincount(drawn, minlength=len(counts)).tolist() == counts


def test_the_largest_u_draws_a_token_that_can_come():
    probabilities = torch.tensor([0.1] * 10 + [0.0, 0.0])
    u = torch.tensor(1 - 2**-24)
    assert sample(probabilities, u) == 9
    assert sample(torch.tensor([0.0, 1.0]), torch.tensor(0.0)) == 1
    thirds = torch.tensor([0.333333] * 3 + [0.0])  # sum to a millionth less than 1
    assert sample(thirds, torch.tensor(0.9999995)) == 2


GOOD = torch.tensor([0.5, 0.5])
REFUSED = [
    (lambda: apply_temperature(torch.tensor([0.0, math.nan]), 1), "logits must hold"),
    (lambda: apply_temperature(torch.tensor([0.0, math.inf]), 1), "largest is inf"),
    (lambda: apply_temperature(torch.tensor([-math.inf]), 1), "largest is -inf"),
    (lambda: apply_temperature(GOOD, -0.5), "temperature must be"),
    (lambda: apply_temperature(GOOD, math.nan), "temperature must be"),
    (lambda: top_k_filter(GOOD, 0), "k must be at least 1"),
    (lambda: top_k_filter(torch.tensor([0.5, 0.2]), 1), "must sum to 1.*got 0.7"),
    (lambda: top_p_filter(GOOD, 0), "p must be above 0, got 0"),
    (lambda: top_p_filter(torch.tensor([1.5, -0.5]), 0.5), "numbers from 0 to 1"),
    (lambda: top_p_filter(torch.tensor([math.nan, 1]), 0.5), "numbers from 0 to 1"),
    (lambda: sample(GOOD, torch.tensor(1.0)), "from 0 to below 1"),
    (lambda: sample(GOOD, torch.tensor([0.5])), r"shape \(\)"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_bad_input_is_refused_in_a_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()
