"""The broken models of lesson 16: each symptom is there, and goes with its cause."""

import inspect

import numpy as np
import pytest
import torch

from autograder.checking.registry import load
from course_lib.lessons.patients import broken, parts, probes, symptoms, training
from course_lib.lessons.patients.verdicts import parts_to_blame

SEEDS = (0, 1, 2)
# The parts that keep the contract of an exercise.
EXERCISES = (
    *("shift_right", "add_positions", "causal_mask", "padding_mask"),
    *("split_heads", "layer_norm", "warmup_rate"),
)


def test_each_broken_part_has_a_healthy_one_with_its_signature():
    assert {*training.BROKEN_PARTS.values()} <= {*training.PART_NAMES}
    for name in training.BROKEN_PARTS.values():
        wrong, right = getattr(broken, name), getattr(parts, name)
        assert inspect.signature(wrong) == inspect.signature(right)


@pytest.mark.parametrize("name", EXERCISES)
def test_healthy_parts_keep_the_contract_of_their_exercise(name):
    from autograder.checking.judging import judge
    from autograder.in_notebook.check import local_runner_factory

    exercise = load(name)
    cases = [case for case in exercise.cases if case.visible]
    results = {
        module: judge(
            exercise, local_runner_factory(getattr(module, name)), cases=cases
        )
        for module in (parts, broken)
    }
    assert not results[broken].passed
    assert results[parts].passed


@pytest.mark.thorough
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("letter", training.BROKEN)
def test_symptom_is_there_and_points_to_its_part(letter, seed):
    run = training.run(letter, seed=seed)
    symptom = symptoms.SYMPTOMS[letter]
    assert not symptom.is_healthy(symptom.measure(run))
    measured = symptoms.measured(run)
    assert parts_to_blame([measured]) == [training.BROKEN_PARTS[letter]]


@pytest.mark.thorough
@pytest.mark.parametrize("seed", SEEDS)
def test_healthy_model_has_no_symptom(seed):
    run = training.run("C", seed=seed)
    for symptom in symptoms.SYMPTOMS.values():
        assert symptom.is_healthy(symptom.measure(run)), symptom.label
    assert parts_to_blame([symptoms.measured(run)]) == ["healthy"]


@pytest.mark.parametrize("letter", training.BROKEN)
def test_mended_model_is_the_healthy_one(letter):
    name = training.BROKEN_PARTS[letter]
    mended = training.run(letter, steps=3, **{name: getattr(parts, name)})
    assert mended.losses == training.run("C", steps=3).losses
    assert mended.parts == parts.Parts()


def test_treated_model_keeps_its_parameters():
    before = training.run("N", steps=3)
    after = training.treated(before, evaluate=parts.evaluate)
    pairs = zip(before.model.parameters(), after.model.parameters(), strict=True)
    assert all(torch.equal(*pair) for pair in pairs)
    assert probes.repeat_gap(before) > 0.01
    assert probes.repeat_gap(after) == 0


def test_untrained_healthy_model_passes_the_probes():
    run = training.run("C", steps=2)
    assert probes.leak(run) < 1e-4
    assert probes.leak_of_mask(run) == 0
    assert probes.batch_gap(run) < 1e-4
    assert probes.cache_gap(run, 5) == 0
    assert 0 < probes.padding_share(run) < 0.5
    assert np.allclose(probes.own_weights(run).sum(axis=-1), 1)


def test_compare_says_whether_the_symptom_is_gone(capsys):
    healthy, ill = training.run("C", steps=2), training.run("B", steps=2)
    symptoms.compare("B", {"healthy": healthy, "mended": ill})
    assert "still there" in capsys.readouterr().out
    symptoms.compare("B", {"model B": ill, "mended": healthy})
    assert "is gone" in capsys.readouterr().out


def test_unknown_models_and_parts_are_refused():
    with pytest.raises(ValueError, match="there are A … O"):
        training.run("P")
    with pytest.raises(ValueError, match="'mask' is none of"):
        training.run("B", mask=parts.causal_mask)
    with pytest.raises(ValueError, match="'mask' is none of"):
        training.source("B", "mask")
    assert "k=1 + offset" in training.source("D", "causal_mask")
