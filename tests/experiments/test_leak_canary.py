"""Training on a fair die, and on days without the shift: a leak shows in the loss."""

import numpy as np
import pytest
import torch

from course_lib.experiments import leak_canary, no_shift, record
from course_lib.lessons.environment import seeded
from course_lib.lessons.tiny_decoder import TinyDecoder, mask_for_torch
from course_lib.masks import causal_mask

LN_10 = np.log(10)
SMALL = {"steps": 100}  # of 6 positions: enough to show a leak, in less than a second


def test_causal_mask_keeps_loss_at_the_entropy():
    loss = leak_canary.train(causal_mask(6), **SMALL).loss
    assert LN_10 - 0.01 < loss < LN_10 + 0.05  # 6,000 throws: noise of about 0.002


@pytest.mark.parametrize(
    "mask", [np.ones((6, 6), dtype=bool), causal_mask(6, 6, offset=1)]
)
def test_leak_leaves_loss_at_the_last_position_only(mask):
    canary = leak_canary.train(mask, **SMALL)
    assert canary.loss < LN_10 / 2
    assert canary.loss_by_position[-1] > LN_10 - 0.05
    assert canary.loss_by_position[:-1].max() < 1.0


def test_forgotten_shift_gives_a_small_loss():
    assert leak_canary.train(causal_mask(6), shift=False, **SMALL).loss < 0.1


def test_weights_respect_the_mask_and_sum_to_one():
    canary = leak_canary.train(causal_mask(4), steps=3)
    assert (canary.weights[~causal_mask(4)] == 0).all()
    np.testing.assert_allclose(canary.weights.sum(axis=-1), 1, atol=1e-5)  # float32


def test_training_is_repeatable_and_leaves_pytorch_unchanged():
    threads = torch.get_num_threads()
    torch.manual_seed(7)
    first = leak_canary.train(causal_mask(4), steps=11, seed=3)
    after = torch.rand(1)
    second = leak_canary.train(causal_mask(4), steps=11, seed=3)
    assert first.losses == second.losses
    assert first.losses != leak_canary.train(causal_mask(4), steps=11, seed=4).losses
    torch.manual_seed(7)
    assert torch.rand(1) == after
    assert torch.get_num_threads() == threads


def test_seeded_restores_threads_after_an_error():
    threads = torch.get_num_threads()
    with pytest.raises(RuntimeError), seeded(0):
        raise RuntimeError
    assert torch.get_num_threads() == threads


def test_unusable_masks_are_refused():
    with pytest.raises(TypeError, match="may_attend must be boolean, got float64"):
        leak_canary.train(causal_mask(4).astype(float))
    with pytest.raises(ValueError, match="may_attend has a row without True"):
        leak_canary.train(np.zeros((4, 4), dtype=bool))


def test_sentences_differ_and_keep_their_step():
    days = no_shift.sentences()
    assert days.shape == (49, 8) and len({*map(tuple, days.tolist())}) == 49
    assert (np.diff(np.diff(days, axis=1) % 7, axis=1) == 0).all()


def test_forgotten_shift_generates_at_chance():
    shifted = no_shift.train(shift=True, steps=120)
    forgotten = no_shift.train(shift=False, steps=60)
    assert forgotten.loss < 0.05 < no_shift.ENTROPY < shifted.loss
    assert forgotten.accuracy() == pytest.approx(1 / 7)
    assert shifted.accuracy() > 0.8


def test_generate_depends_on_earlier_days_only():
    model = no_shift.WeekdayModel(TinyDecoder(7, no_shift.N), [], [], 0.0)
    prompts = no_shift.sentences()[:, :2]
    days = model.generate(prompts)
    assert days.shape == (49, 8)
    np.testing.assert_array_equal(days[:, :2], prompts)
    np.testing.assert_array_equal(model.generate(days[:, :5]), days)


def test_logits_of_embeddings_match_the_model():
    model = no_shift.WeekdayModel(TinyDecoder(7, no_shift.N), [], [], 0.0)
    days = no_shift.sentences()[9, :7]
    with torch.no_grad():
        logits = model.model(torch.tensor(days)[None], mask_for_torch(causal_mask(7)))
    actual = model.logits(model.embed(days))
    np.testing.assert_allclose(actual, logits[0].numpy(), atol=1e-5)  # float32


def test_records_support_the_lesson():
    canary, shift = record.read("leak_canary"), record.read("no_shift")
    assert all(abs(loss - LN_10) < 0.02 for loss in canary.values("causal"))
    for name in ("none", "off_by_one"):
        assert all(abs(x - LN_10 / 16) < 0.01 for x in canary.values(name))
    assert max(shift.values("unshifted_loss")) < 0.001
    assert min(shift.values("shifted_right")) == 1.0
    assert all(abs(x - 1 / 7) < 0.001 for x in shift.values("unshifted_right"))
