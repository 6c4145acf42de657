"""The Transformer's layers: equal to PyTorch's, and to the course's functions."""

import pytest
import torch
from torch import nn

from course_lib.nn import functional
from course_lib.nn.layers import DecoderLayer, EncoderLayer
from tests.nn.test_attention import WHERE, close, normal, some_mask

D_MODEL, N_HEADS, D_FF = 12, 3, 10
THEIRS = {EncoderLayer: nn.TransformerEncoderLayer}
THEIRS[DecoderLayer] = nn.TransformerDecoderLayer


def theirs_and_ours(kind, device="cpu", dtype=torch.float64, **options):
    torch.manual_seed(0)
    theirs = THEIRS[kind](D_MODEL, N_HEADS, D_FF, batch_first=True, **options)
    for parameter in theirs.parameters():  # its biases start at zero: hide nothing
        nn.init.normal_(parameter, std=0.3)
    theirs = theirs.to(device, dtype).eval()
    return theirs, kind.from_torch(theirs)


def padding(*lengths, device="cpu"):
    """Return a mask (batch, 1, the greatest length), True at tokens."""
    positions = torch.arange(max(lengths))
    return (positions < torch.tensor(lengths)[:, None]).unsqueeze(1).to(device)


def causal(n, device="cpu"):
    return torch.ones(n, n, dtype=torch.bool, device=device).tril()


@pytest.mark.parametrize(("device", "dtype"), WHERE)
@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_encoder_layer_matches_pytorch(device, dtype, norm_first, bias):
    theirs, ours = theirs_and_ours(
        EncoderLayer, device, dtype, norm_first=norm_first, bias=bias
    )
    x = normal(2, 7, D_MODEL, device=device, dtype=dtype)
    memory_mask = padding(7, 4, device=device)
    # With gradients, so that theirs does not take its shortcut through nested tensors.
    close(ours(x), theirs(x))
    expected = theirs(x, src_key_padding_mask=~memory_mask.squeeze(1))
    close(ours(x, memory_mask), expected)
    close(ours(x, causal(7, device)), theirs(x, src_mask=~causal(7, device)))
    assert not torch.allclose(ours(x, memory_mask), ours(x))


@pytest.mark.parametrize(("device", "dtype"), WHERE)
@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_decoder_layer_matches_pytorch(device, dtype, norm_first, bias):
    theirs, ours = theirs_and_ours(
        DecoderLayer, device, dtype, norm_first=norm_first, bias=bias
    )
    y = normal(2, 5, D_MODEL, device=device, dtype=dtype)
    memory = normal(2, 7, D_MODEL, device=device, dtype=dtype, seed=1)
    memory_mask, back = padding(7, 4, device=device), causal(5, device)
    close(ours(y, memory), theirs(y, memory))
    expected = theirs(y, memory, ~back, memory_key_padding_mask=~memory_mask.squeeze(1))
    close(ours(y, memory, back, memory_mask), expected)
    close(ours(y, memory, None, memory_mask, causal=True), expected)
    close(ours.forward_with_weights(y, memory, memory_mask)[0], expected)


@pytest.mark.parametrize("kind", [EncoderLayer, DecoderLayer])
@pytest.mark.parametrize("norm_first", [False, True])
def test_gradients_match_pytorch(kind, norm_first):
    both = theirs_and_ours(kind, norm_first=norm_first)
    grads = []
    for layer in both:
        x, memory = normal(2, 5, D_MODEL), normal(2, 7, D_MODEL, seed=1)
        inputs = [x] if kind is EncoderLayer else [x, memory]
        for each in inputs:
            each.requires_grad_()
        layer(*inputs).square().sum().backward()
        linear = layer.linear1 if layer is both[0] else layer.linear_1
        grads.append([each.grad for each in inputs] + [linear.weight.grad])
    for theirs, ours in zip(*grads, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-10)


def test_from_torch_copies_epsilon_mode_and_dropout():
    theirs, ours = theirs_and_ours(EncoderLayer, layer_norm_eps=0.5, dropout=0.25)
    x = normal(2, 5, D_MODEL)
    close(ours(x), theirs(x))
    assert ours.dropout.p == 0.25
    assert not ours.training
    assert EncoderLayer.from_torch(theirs.train()).training


def test_from_torch_copies_parameters():
    theirs, ours = theirs_and_ours(DecoderLayer)
    before = {name: each.clone() for name, each in ours.state_dict().items()}
    for parameter in theirs.parameters():
        parameter.data.zero_()
    for name, each in ours.state_dict().items():
        assert each.abs().sum() > 0, name
        close(each, before[name])


@pytest.mark.parametrize("kind", [EncoderLayer, DecoderLayer])
@pytest.mark.parametrize("activation", ["gelu", torch.tanh, nn.GELU()])
def test_from_torch_refuses_other_activations(kind, activation):
    theirs = THEIRS[kind](12, 3, 10, batch_first=True, activation=activation)
    with pytest.raises(
        ValueError, match=r"activation='(gelu|tanh|GELU)': .* have relu"
    ):
        kind.from_torch(theirs)


def test_from_torch_takes_relu_as_a_module():
    theirs, ours = theirs_and_ours(EncoderLayer, activation=nn.ReLU())
    x = normal(2, 5, D_MODEL)
    close(ours(x), theirs(x))


@pytest.mark.parametrize("kind", [EncoderLayer, DecoderLayer])
def test_from_torch_refuses_layers_not_batch_first(kind):
    with pytest.raises(ValueError, match=r"batch_first=False: .* n, d_model"):
        kind.from_torch(THEIRS[kind](12, 3, 10))


def functional_parameters(layer):
    """Return a layer's parameters by the names of the course's functions."""
    output = {"w_1": layer.linear_1.weight.T, "b_1": layer.linear_1.bias}
    output |= {"w_2": layer.linear_2.weight.T, "b_2": layer.linear_2.bias}
    for number, norm in enumerate(layer.norms, start=1):
        output |= {f"gain_{number}": norm.weight, f"bias_{number}": norm.bias}
    attentions = {"w": layer.self_attention}
    if isinstance(layer, DecoderLayer):
        attentions["cross"] = layer.cross_attention
    for prefix, part in attentions.items():
        for letter, name in zip("qkvo", part._modules, strict=True):
            getattr(part, name).bias.data.zero_()  # the functions have none here
            output[f"{prefix}_{letter}"] = getattr(part, name).weight.T
    return output


@pytest.mark.parametrize("norm_first", [False, True])
def test_layers_match_the_functions_of_the_course(norm_first):
    x, memory = normal(2, 5, D_MODEL), normal(2, 7, D_MODEL, seed=1)
    memory_mask, own = padding(7, 4), padding(5, 2)
    ours = theirs_and_ours(EncoderLayer, norm_first=norm_first)[1]
    parameters = functional_parameters(ours)
    expected = functional.encoder_layer(
        x, parameters, n_heads=N_HEADS, may_attend=own, norm_first=norm_first
    )
    close(ours(x, own), expected)
    ours = theirs_and_ours(DecoderLayer, norm_first=norm_first)[1]
    parameters = functional_parameters(ours)
    expected = functional.decoder_layer(
        x,
        memory,
        parameters,
        n_heads=N_HEADS,
        may_attend=causal(5),
        memory_may_attend=memory_mask,
        norm_first=norm_first,
    )
    close(ours(x, memory, None, memory_mask, causal=True), expected)


@pytest.mark.parametrize(("device", "dtype"), WHERE)
def test_attend_matches_forward_with_weights(device, dtype):
    part = theirs_and_ours(EncoderLayer, device, dtype)[1].self_attention
    x = normal(2, 5, D_MODEL, device=device, dtype=dtype)
    memory = normal(2, 7, D_MODEL, device=device, dtype=dtype, seed=1)
    may_attend = some_mask(device).squeeze(1)
    assert not may_attend[1, 2].any()
    output = part.attend(x, *part.keys_and_values(memory), may_attend)
    close(output, part(x, memory, may_attend)[0])
    output = part.attend(x, *part.keys_and_values(x), causal=True)
    close(output, part(x, x, causal(5, device))[0])


@pytest.mark.parametrize(("device", "dtype"), WHERE)
def test_attend_to_nothing_gives_zeros_and_zero_gradients(device, dtype):
    part = theirs_and_ours(EncoderLayer, device, dtype)[1].self_attention
    x = normal(2, 5, D_MODEL, device=device, dtype=dtype).requires_grad_()
    memory = normal(2, 7, D_MODEL, device=device, dtype=dtype, seed=1).requires_grad_()
    nowhere = torch.ones(2, 5, 7, dtype=torch.bool, device=device)
    nowhere[1] = False
    output = part.attend(x, *part.keys_and_values(memory), nowhere)
    close(output[1], part.output.bias.expand(5, -1))
    output.square().sum().backward()
    for each in (x.grad, memory.grad):
        assert torch.isfinite(each).all()
        assert (each[1] == 0).all()
        assert (each[0] != 0).any()


@pytest.mark.parametrize("norm_first", [False, True])
def test_steps_with_a_cache_match_forward(norm_first):
    layer = theirs_and_ours(DecoderLayer, norm_first=norm_first)[1]
    y, memory, memory_mask = normal(2, 5, 12), normal(2, 7, 12, seed=1), padding(7, 4)
    cache, rows = layer.initial_cache(memory), []
    for row in y.split(1, dim=1):
        output, cache = layer.step(row, cache, memory_mask)
        rows.append(output)
    close(torch.cat(rows, dim=1), layer(y, memory, None, memory_mask, causal=True))
    assert cache.keys.shape == (2, N_HEADS, 5, D_MODEL // N_HEADS)


def test_dropout_acts_in_training_only():
    torch.manual_seed(0)
    layer = EncoderLayer(12, 3, 10, dropout=0.5, device="cpu")
    x = torch.ones(1, 5, 12)
    assert not torch.equal(layer(x), layer(x))
    layer.eval()
    assert torch.equal(layer(x), layer(x))
