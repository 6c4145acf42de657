"""Deep stacks: what comes through them, what learns, and what the record says."""

import math

import pytest
import torch

from course_lib.experiments import norms, record
from course_lib.lessons import deep_stack
from course_lib.lessons.deep_stack import KINDS, Stack, StackLayer, propagate
from course_lib.nn.functional import encoder_layer


@pytest.mark.parametrize("kind", ["post-norm", "pre-norm"])
def test_stack_layer_matches_encoder_layer(kind):
    torch.manual_seed(0)
    layer, x = StackLayer(kind, 0.0), torch.randn(2, 5, deep_stack.D_MODEL)
    w_q, w_k, w_v = (part.T for part in layer.qkv.weight.chunk(3))
    parameters = {
        "w_q": w_q,
        "w_k": w_k,
        "w_v": w_v,
        "w_o": layer.out_projection.weight.T,
    }
    parameters |= {"w_1": layer.linear_1.weight.T, "b_1": layer.linear_1.bias}
    parameters |= {"w_2": layer.linear_2.weight.T, "b_2": layer.linear_2.bias}
    for number, norm in enumerate(layer.norms, start=1):
        parameters |= {f"gain_{number}": norm.weight, f"bias_{number}": norm.bias}
    same = encoder_layer(x, parameters, 1, norm_first=kind == "pre-norm")
    torch.testing.assert_close(layer(x), same, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_stack_layer_follows_the_formula_of_its_kind(kind):
    layer, x = StackLayer(kind, 0.0), torch.randn(3, deep_stack.D_MODEL)
    for linear in (layer.out_projection, layer.linear_2):  # both sublayers output zeros
        torch.nn.init.zeros_(linear.weight)
    torch.nn.init.zeros_(layer.linear_2.bias)
    expected = x if KINDS[kind].startswith("x") else layer.norms[0](x)
    if "x +" not in KINDS[kind]:
        expected = torch.zeros_like(x)
    torch.testing.assert_close(layer(x), expected, atol=1e-4, rtol=1e-4)


def test_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="kind='middle' is none of neither, norm"):
        Stack("middle", 1)


def test_tokens_become_alike_without_residuals():
    alone, first = propagate("norm only", 8), propagate("pre-norm", 8)
    assert alone.token_variation[8] < 1e-5 < 0.3 < first.token_variation[8]
    assert (
        len(first.rms) == len(first.token_variation) == len(first.gradient_norms) == 9
    )


def test_gradient_vanishes_without_norms_and_residuals():
    norms_by_layer = propagate("neither", 16).gradient_norms
    assert norms_by_layer[0] < 1e-4 * norms_by_layer[16]


def test_first_loss_of_pre_norm_is_near_chance():
    assert abs(norms.train("pre-norm", 0.01, steps=1)[0] - norms.CHANCE) < 2


def test_training_is_repeatable():
    assert norms.train("post-norm", 0.01, steps=3) == norms.train(
        "post-norm", 0.01, steps=3
    )


def test_warmup_starts_with_small_steps():
    cold = norms.train("pre-norm", 0.1, steps=3)
    warm = norms.train("pre-norm", 0.1, steps=3, warmup_steps=10_000)
    assert cold[0] == warm[0] and abs(warm[2] - warm[0]) < abs(cold[2] - cold[0])


def test_diverged_training_ends_in_infinities():
    losses = norms.train("residual only", 1e30, steps=6)
    assert len(losses) == 6 and losses[-1] == math.inf


def test_training_leaves_pytorch_unchanged():
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    norms.steps_to_memorise("pre-norm", max_steps=2)
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.get_rng_state(), state)


def test_record_supports_the_lesson():
    for run in record.read("norms").runs:
        assert run["learning rates"] == list(norms.LEARNING_RATES)
        assert max(run["pre-norm"]) < 0.5
        assert max(run["post-norm"][:2]) < 0.1 and min(run["post-norm"][2:]) > 2
        assert run["post-norm, warm-up"][2] < 0.5
        assert min(run["norm only"]) > 1.7
        assert run["residual only"][3] == "above 100"


def test_median_losses_are_of_each_learning_rate():
    runs = [[1.0, "above 100"], [0.25, 2.0], [0.5, "above 100"]]
    assert norms.median_losses(runs) == [0.5, 100.0]


def test_input_shift_is_of_training_alone():
    shift, loss = norms.input_shift("post-norm", 0.003, steps=0)
    assert shift == loss == 0.0
    assert norms.input_shift("post-norm", 0.0, steps=2)[0] == 0.0
    assert norms.input_shift("post-norm", 0.01, steps=2)[0] > 0.0


def test_last_input_is_what_the_feed_forward_network_reads():
    torch.manual_seed(0)
    stack, token_ids = Stack("pre-norm", 1), torch.randint(8, (64, 8))
    before = norms._last_input(stack, token_ids)
    with torch.no_grad():
        stack.layers[0].norms[1].bias[5] += 3
    moved = norms._last_input(stack, token_ids) - before
    assert moved.shape == (64 * 8, deep_stack.D_MODEL)
    torch.testing.assert_close(moved[:, 5], torch.full_like(moved[:, 5], 3.0))
    assert moved.count_nonzero() == 64 * 8
