"""The training loop: what is measured, what follows from the seed, what it learns."""

import math

import pytest
import torch

from course_lib.lessons.environment import one_thread
from course_lib.nn.losses import cross_entropy, label_smoothing
from course_lib.nn.training.batches import examples
from course_lib.nn.training.loop import (
    Recipe,
    Training,
    draw,
    initial,
    rate_at,
    total_loss,
)
from course_lib.nn.training.subwords import PADDING, learn_subwords
from course_lib.nn.training.tasks import SYSTEMS, copies

CPU = torch.device("cpu")
PAIRS = copies(60, seed=0)
SUBWORDS = learn_subwords([pair.source for pair in PAIRS], 0)
EXAMPLES = examples(PAIRS, SUBWORDS)


@pytest.fixture(autouse=True)
def alone():
    """Use one thread: on a busy machine two would wait for each other."""
    with one_thread():
        yield


def training(system="transformer", steps=8, seed=0, **options):
    sizes = {"vocab_size": len(SUBWORDS)} | SYSTEMS[system].sizes_of(16, dropout=0.1)
    recipe = Recipe(steps, batch_tokens=60, warmup=4, seed=seed, **options)
    model = initial(lambda: SYSTEMS[system].make(sizes, CPU), seed)
    return Training(model, EXAMPLES, recipe)


def parameters(model):
    return torch.cat([each.detach().flatten() for each in model.parameters()])


def test_the_loss_is_that_of_lesson_nine():
    torch.manual_seed(0)
    logits, target = torch.randn(2, 3, 7), torch.tensor([[4, 5, 0], [6, 4, 5]])
    count = (target != PADDING).sum()
    plain = total_loss(logits, target, 0.0) / count
    torch.testing.assert_close(plain, cross_entropy(logits, target, PADDING))
    even = label_smoothing(target, 7, 0.1)
    by_hand = -(even * logits.log_softmax(-1)).sum(-1)[target != PADDING].sum()
    torch.testing.assert_close(total_loss(logits, target, 0.1), by_hand)


def test_the_rate_rises_to_its_top_and_falls_to_almost_nothing():
    recipe = Recipe(steps=100, rate=2.0, warmup=10)
    rates = [rate_at(step, recipe) for step in range(100)]
    assert rates.index(max(rates)) in (9, 10)
    assert max(rates) == 2.0
    assert rates[:10] == sorted(rates[:10])
    assert rates[10:] == sorted(rates[10:], reverse=True)
    assert 0 < rates[-1] < 0.03


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_system_learns(system):
    made = training(system, steps=30, rate=1e-2)
    while made.step < 30:
        made.update()
    assert made.losses[0] == pytest.approx(math.log(len(SUBWORDS)), rel=0.15)
    assert sum(made.losses[-5:]) / 5 < made.losses[0] - 0.3


def test_the_same_seed_gives_the_same_parameters_another_seed_others():
    ends = []
    for seed in (3, 3, 4):
        made = training(seed=seed)
        while made.step < 8:
            made.update()
        ends.append(parameters(made.model))
    assert torch.equal(ends[0], ends[1])
    assert not torch.equal(ends[0], ends[2])


def test_what_was_drawn_outside_changes_nothing():
    one, two = training(), training()
    one.update()
    torch.rand(17)
    two.update()
    assert torch.equal(parameters(one.model), parameters(two.model))


def test_a_model_is_made_without_touching_other_random_numbers():
    torch.manual_seed(0)
    before = torch.get_rng_state()
    training()
    assert torch.equal(before, torch.get_rng_state())


def test_purposes_of_one_seed_are_drawn_apart():
    drawn = []
    with torch.random.fork_rng():
        for which in ((0,), (0, 1), (1, 0), (0, 0, 0)):
            draw(*which)
            drawn.append(float(torch.rand(1)))
    assert len(set(drawn)) == 4


def test_a_training_goes_on_from_its_state_bit_for_bit():
    whole, first, second = training(), training(), training()
    while whole.step < 8:
        whole.update()
    while first.step < 5:
        first.update()
    second.load_state(first.state())
    while second.step < 8:
        second.update()
    assert second.losses == whole.losses
    assert torch.equal(parameters(second.model), parameters(whole.model))


def test_nothing_to_train_on_is_refused():
    model = training().model
    with pytest.raises(ValueError, match="no examples"):
        Training(model, [], Recipe(3))
