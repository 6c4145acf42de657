"""Gates close heads, in a function and in a translator; importance is measured."""

import pytest
import torch
from torch.testing import assert_close

from course_lib.nn.functional import multi_head_attention
from course_lib.nn.pruning import (
    KINDS,
    attentions_of,
    gated_heads,
    head_importance,
    open_gates,
    prune,
)
from course_lib.nn.transformer import Transformer, TransformerConfig


def drawn(*shape):
    return torch.randn(*shape, dtype=torch.float64)


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


@pytest.fixture
def model():
    config = TransformerConfig(17, d_model=12, n_heads=3, n_layers=2, d_ff=8)
    return Transformer(config, device="cpu", dtype=torch.float64).eval()


def test_open_gates_give_multi_head_attention():
    x, memory, matrices = drawn(2, 5, 12), drawn(2, 7, 12), drawn(4, 12, 12)
    may_attend = torch.rand(2, 5, 7) < 0.7
    expected = multi_head_attention(x, memory, *matrices, 3, may_attend)
    gates = torch.ones(3, dtype=torch.float64)
    assert_close(prune(x, memory, *matrices, gates, may_attend), expected)


def test_output_is_linear_in_the_gates():
    x, matrices, gates = drawn(5, 12), drawn(4, 12, 12), drawn(2, 3)
    outputs = [prune(x, x, *matrices, each) for each in (*gates, gates.sum(0))]
    assert_close(outputs[0] + outputs[1], outputs[2])


def test_prune_is_differentiable_in_the_gates():
    x, matrices = drawn(5, 12), drawn(4, 12, 12)
    gates = torch.ones(3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda g: prune(x, x, *matrices, g), gates)


def test_gates_of_another_number_of_heads_are_refused():
    x, matrices = drawn(5, 12), drawn(4, 12, 12)
    with pytest.raises(ValueError, match="not divisible by n_heads=5"):
        prune(x, x, *matrices, drawn(5))


def test_importance_of_a_linear_loss_is_its_slopes():
    slopes, gates = drawn(4, 2, 3), torch.ones(2, 3, dtype=torch.float64)
    by_gradient, by_ablation = head_importance(
        lambda gates, example: float((gates * slopes[example]).sum()),
        lambda gates, example: slopes[example].clone(),
        gates,
        range(4),
    )
    assert_close(by_gradient, slopes.abs().mean(0))
    assert_close(by_ablation, -slopes.mean(0))


def test_importance_without_examples_is_refused():
    with pytest.raises(ValueError, match="examples must hold at least one"):
        head_importance(lambda *_: 0.0, lambda g, _: g, torch.ones(2), [])


@pytest.mark.parametrize("kind", KINDS)
def test_closed_gate_equals_a_projection_without_that_head(model, kind):
    source, target = torch.randint(1, 17, (2, 6)), torch.randint(1, 17, (2, 5))
    gates = open_gates(model)[kind].double()
    gates[1, 2] = 0
    with gated_heads(model, {kind: gates}):
        gated = model(source, target)
        memory = model.encode(source)
        state = model.initial_state(memory)
        steps = []
        for token_ids in target.unbind(1):
            logits, state = model.step(token_ids, state)
            steps.append(logits)
    assert_close(torch.stack(steps, 1), gated)
    untouched = model(source, target)
    assert (untouched - gated).abs().max() > 1e-3
    with torch.no_grad():
        attentions_of(model)[kind][1].output.weight[:, 8:] = 0
    assert_close(model(source, target), gated)


def test_gradients_reach_the_gates_of_a_translator(model):
    gates = {k: g.double().requires_grad_() for k, g in open_gates(model).items()}
    source, target = torch.randint(1, 17, (2, 6)), torch.randint(1, 17, (2, 5))
    with gated_heads(model, gates):
        loss = model(source, target).logsumexp(-1).sum()
    loss.backward()
    for each in gates.values():
        assert each.grad is not None and (each.grad != 0).all()


def test_gates_of_an_unknown_kind_are_refused(model):
    with (
        pytest.raises(ValueError, match="encoder, decoder, cross"),
        gated_heads(model, {"all": torch.ones(2, 3)}),
    ):
        pass
