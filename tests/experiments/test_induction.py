"""Induction heads form in two layers, and in one they cannot: model and record."""

import math

import pytest
import torch
from torch.testing import assert_close

from course_lib.experiments import induction, record
from course_lib.experiments.induction import (
    MODELS,
    N_POSITIONS,
    PERIOD,
    VOCAB_SIZE,
    AttentionOnlyModel,
    draw,
    losses,
    train,
)
from course_lib.lessons.environment import seeded


@pytest.fixture(scope="module")
def model():
    with seeded(0):
        return AttentionOnlyModel(2)


def test_drawn_sequences_repeat_with_their_period():
    with seeded(0):
        token_ids = draw(50, (7, 7))
    assert token_ids.shape == (50, N_POSITIONS)
    assert (token_ids[:, 7:] == token_ids[:, :-7]).all()
    assert (token_ids[:, 6:] == token_ids[:, :-6]).float().mean() < 0.1


def test_training_periods_differ_within_a_batch():
    with seeded(0):
        token_ids = draw(200)
    repeats = [
        (token_ids[:, period:] == token_ids[:, :-period]).all(-1).sum()
        for period in range(1, 17)
    ]
    assert all(count > 0 for count in repeats[4:])
    assert not any(repeats[:4])


def test_model_does_not_attend_forward(model):
    with seeded(1):
        token_ids = draw(3)
    weights = model.attention_weights(token_ids)
    assert weights.shape == (3, 2, 2, N_POSITIONS, N_POSITIONS)
    assert (weights.triu(diagonal=1) == 0).all()
    changed = token_ids.clone()
    changed[:, 20:] = 0
    with torch.no_grad():
        assert_close(model(token_ids)[:, :20], model(changed)[:, :20])


def test_last_row_of_vectors_gives_the_models_own_logits(model):
    with seeded(1):
        token_ids = draw(3)
    with torch.no_grad():
        assert_close(model.logits(model.vectors(token_ids)[-1]), model(token_ids))
        assert_close(model.vectors(token_ids)[0], model.embedding(token_ids))


def test_patch_changes_its_vector_and_what_reads_it(model):
    with seeded(1):
        token_ids, vector = draw(2), torch.randn(model.embedding.embedding_dim)
    own, patched = (model.vectors(token_ids, p) for p in ({}, {(1, 20): vector}))
    changed = (own != patched).any(dim=-1).any(dim=1)
    assert (patched[1, :, 20] == vector).all()
    assert changed[0].sum() == 0 and changed[1].nonzero().tolist() == [[20]]
    assert changed[2, 20:].all() and not changed[2, :20].any()


def test_all_heads_closed_leave_the_embedding(model):
    with seeded(1):
        token_ids = draw(3)
    with torch.no_grad():
        alone = model.unembedding(model.norms[-1](model.embedding(token_ids)))
        with (
            model.without_head(0, 0),
            model.without_head(0, 1),
            model.without_head(1, 0),
            model.without_head(1, 1),
        ):
            assert_close(model(token_ids), alone)
        assert not torch.allclose(model(token_ids), alone)


def test_training_is_the_same_for_the_same_seed():
    runs = [train(1, seed=3, steps=4, every=2)[1] for _ in range(2)]
    assert [each.step for each in runs[0]] == [0, 2, 4]
    assert [each.second for each in runs[0]] == [each.second for each in runs[1]]


def test_losses_are_of_the_next_token(model):
    with seeded(1):
        token_ids = draw(2)
    with torch.no_grad():
        log_p = model(token_ids).log_softmax(-1)
        expected = -log_p[1, 4, token_ids[1, 5]]
        assert_close(losses(model, token_ids)[1, 4], expected)


def test_recorded_induction_needs_two_layers():
    for run in record.read("induction").runs:
        for name in MODELS:
            score = run[f"{name}, induction"][-1]
            second = run[f"{name}, second"][-1]
            if name == "two layers":
                assert score > 0.75
                assert second < 0.15
                assert run["two layers, best"][0] == 1
            else:
                assert score < 0.12
                assert second > 0.9 * math.log(PERIOD)
            assert run[f"{name}, first"][-1] > math.log(VOCAB_SIZE)


def test_recorded_model_needs_its_previous_token_head():
    for run in record.read("induction").runs:
        previous = run["two layers, previous heads"][0]
        best = max(range(induction.N_HEADS), key=lambda head: previous[head])
        assert previous[best] > 0.4
        without = run["two layers, second without"][0]
        assert without[best] > run["two layers, second"][-1] + 1
