"""The training loop: what is measured, what follows from the seed, what it learns."""

import math

import pytest
import torch

from course_lib.lessons.environment import one_thread
from course_lib.nn.losses import cross_entropy, label_smoothing
from course_lib.nn.training.batches import PairData, encode_pairs
from course_lib.nn.training.loop import (
    Trainer,
    TrainingConfig,
    learning_rate_at,
    seed_torch,
    seeded_model,
    total_loss,
)
from course_lib.nn.training.subwords import PADDING_ID, train_tokenizer
from course_lib.nn.training.tasks import SYSTEMS, copies

CPU = torch.device("cpu")
PAIRS = copies(60, seed=0)
TOKENIZER = train_tokenizer([pair.source for pair in PAIRS], 0)
EXAMPLES = encode_pairs(PAIRS, TOKENIZER)


@pytest.fixture(autouse=True)
def alone():
    """Use one thread: on a busy machine two would wait for each other."""
    with one_thread():
        yield


def make_trainer(system="transformer", steps=8, seed=0, **options):
    config_options = {"vocab_size": len(TOKENIZER)} | SYSTEMS[system].config_options(
        16, dropout=0.1
    )
    config = TrainingConfig(
        steps, batch_tokens=60, warmup_steps=4, seed=seed, **options
    )
    model = seeded_model(lambda: SYSTEMS[system].make(config_options, CPU), seed)
    return Trainer(model, PairData(EXAMPLES), config)


def parameters(model):
    return torch.cat([each.detach().flatten() for each in model.parameters()])


def test_total_loss_matches_lesson_09():
    torch.manual_seed(0)
    logits, target = torch.randn(2, 3, 7), torch.tensor([[4, 5, 0], [6, 4, 5]])
    count = (target != PADDING_ID).sum()
    plain = total_loss(logits, target, 0.0) / count
    torch.testing.assert_close(plain, cross_entropy(logits, target, PADDING_ID))
    even = label_smoothing(target, 7, 0.1)
    by_hand = -(even * logits.log_softmax(-1)).sum(-1)[target != PADDING_ID].sum()
    torch.testing.assert_close(total_loss(logits, target, 0.1), by_hand)


def test_learning_rate_rises_then_falls_to_almost_0():
    config = TrainingConfig(steps=100, learning_rate=2.0, warmup_steps=10)
    learning_rates = [learning_rate_at(step, config) for step in range(100)]
    assert learning_rates.index(max(learning_rates)) in (9, 10)
    assert max(learning_rates) == 2.0
    assert learning_rates[:10] == sorted(learning_rates[:10])
    assert learning_rates[10:] == sorted(learning_rates[10:], reverse=True)
    assert 0 < learning_rates[-1] < 0.03


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_system_learns(system):
    trainer = make_trainer(system, steps=30, learning_rate=1e-2)
    while trainer.step < 30:
        trainer.train_step()
    assert trainer.losses[0] == pytest.approx(math.log(len(TOKENIZER)), rel=0.15)
    assert sum(trainer.losses[-5:]) / 5 < trainer.losses[0] - 0.3


def test_parameters_follow_from_the_seed():
    ends = []
    for seed in (3, 3, 4):
        trainer = make_trainer(seed=seed)
        while trainer.step < 8:
            trainer.train_step()
        ends.append(parameters(trainer.model))
    assert torch.equal(ends[0], ends[1])
    assert not torch.equal(ends[0], ends[2])


def test_other_random_numbers_change_nothing():
    one, two = make_trainer(), make_trainer()
    one.train_step()
    torch.rand(17)
    two.train_step()
    assert torch.equal(parameters(one.model), parameters(two.model))


def test_seeded_model_restores_the_random_state():
    torch.manual_seed(0)
    before = torch.get_rng_state()
    make_trainer()
    assert torch.equal(before, torch.get_rng_state())


def test_purposes_of_a_seed_draw_differently():
    numbers = []
    with torch.random.fork_rng():
        for which in ((0,), (0, 1), (1, 0), (0, 0, 0)):
            seed_torch(*which)
            numbers.append(float(torch.rand(1)))
    assert len(set(numbers)) == 4


def test_load_state_dict_resumes_bit_for_bit():
    whole, first, second = make_trainer(), make_trainer(), make_trainer()
    while whole.step < 8:
        whole.train_step()
    while first.step < 5:
        first.train_step()
    second.load_state_dict(first.state_dict())
    while second.step < 8:
        second.train_step()
    assert second.losses == whole.losses
    assert torch.equal(parameters(second.model), parameters(whole.model))


def test_dropout_begins_with_its_epoch():
    always, never, later = (
        make_trainer(dropout_from=epoch) for epoch in (0.0, 1e9, 0.5)
    )
    for trainer in (always, never, later):
        while trainer.epoch < 0.5:
            trainer.train_step()
    assert later.losses == never.losses != always.losses
    for trainer in (never, later):
        trainer.train_step()
    assert later.losses[-1] != never.losses[-1]


def test_pair_data_refuses_no_examples():
    with pytest.raises(ValueError, match="no examples"):
        PairData([])
