"""Arguments that change the right result, and not the learner's, are told."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from autograder.checking.call import Call, local_runner
from autograder.checking.evidence import ignored_arguments
from autograder.checking.exercise import Exercise
from autograder.checking.judging import judge
from autograder.checking.registry import load
from autograder.in_notebook.check import local_runner_factory
from tests.checking.evidence.sentences import RNG


def scaled(x, parameters, power, kind="plain"):
    """Return numbers times a gain to a power."""
    numbers = parameters["gain"] * x
    return numbers**power if kind == "plain" else -(numbers**power)


CALLS = [
    (RNG.uniform(1, 2, 4), {"gain": RNG.uniform(1, 2, 4)}, power, kind)
    for power, kind in [(1, "plain"), (2, "plain"), (3, "turned"), (2, "turned")]
]


def sentence(answer):
    exercise = Exercise(scaled, lesson="none", minutes=1, difficulty=1)
    runner = local_runner(answer)
    calls = [Call(each, {}, runner(each, {})) for each in CALLS]
    return ignored_arguments(exercise, calls, runner)


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        (lambda x, parameters, power, kind: x**power, 'parameters["gain"]'),
        (lambda x, parameters, power, kind: parameters["gain"] + 1.0, "x"),
        (lambda x, parameters, power, kind: x * parameters["gain"] + 1, "power"),
        (lambda x, parameters, power, kind: x * parameters["gain"] + power, "kind"),
    ],
)
def test_argument_without_effect_is_told(answer, name):
    text = sentence(answer)
    assert f"`{name}`" in text
    assert "alone, your result stays the same, in all " in text


def test_arguments_that_have_an_effect_are_not_told():
    text = sentence(lambda x, parameters, power, kind: x**power)
    assert text.startswith('With another `parameters["gain"]` or `kind` alone')
    assert "`x`" not in text and "`power`" not in text

    def uses_all(x, parameters, power, kind):
        return x + parameters["gain"] + power + len(kind)

    assert sentence(uses_all) == ""


def test_argument_with_an_effect_in_one_call_is_not_told():
    def uses_gain_once(x, parameters, power, kind):
        numbers = parameters["gain"] * x if power == 3 else x
        return numbers**power + len(kind)

    assert sentence(uses_gain_once) == ""


def test_u_that_a_sampler_ignores_is_told():
    def sample(probabilities, u):
        seeded = torch.Generator().manual_seed(0)
        rows = probabilities.reshape(-1, probabilities.shape[-1])
        return torch.multinomial(rows, 1, generator=seeded).reshape(u.shape)

    result = judge(load("sample"), local_runner_factory(sample))
    assert not result.diagnosis
    assert result.evidence.startswith("With another `u` alone, your result stays")


def test_number_that_only_ends_a_list_earlier_is_not_told():
    def train_bpe(words, n_merges):
        pairs = sorted(pair for word in words for pair in pairwise(word))
        return pairs[: min(n_merges, 1)]

    result = judge(load("train_bpe"), local_runner_factory(train_bpe))
    assert "With another" not in result.evidence


def test_copies_are_changed():
    gain = np.array(CALLS[0][1]["gain"])
    sentence(lambda x, parameters, power, kind: x**power)
    assert (CALLS[0][1]["gain"] == gain).all()
