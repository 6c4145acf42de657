"""The references of lesson 09 against PyTorch's layers and against exact facts."""

import numpy as np
import pytest
import torch
from torch import nn

from course_lib.nn.functional import (
    count_transformer,
    decoder_layer,
    embed,
    encoder_layer,
    feed_forward,
    layer_norm,
    multi_head_attention,
    shift_right,
)
from tests.references.tensors import normal

# Batch 2 (and 3), n 5, m 7, 3 heads of 4, d_ff 16: no two sizes are alike.
D_MODEL, D_FF, HEADS = 12, 16, 3
DTYPES = [torch.float64, torch.float32]
LEADING = [(), (2,), (2, 3)]
# A layer sums some dozens of products of numbers near 1, several times in a row.
CLOSE = {torch.float64: 1e-12, torch.float32: 1e-4}


def assert_same(mine, theirs):
    """Compare shape, dtype and values to the precision of the dtype."""
    assert mine.shape == theirs.shape
    assert mine.dtype == theirs.dtype
    torch.testing.assert_close(mine, theirs.detach(), rtol=0, atol=CLOSE[mine.dtype])


def some_blocked(*shape, seed=0):
    """Draw a mask in which every token may attend to at least one."""
    may_attend = np.random.default_rng(seed).random(size=shape) < 0.5
    may_attend[..., 0] = True
    return torch.from_numpy(may_attend)


def with_random_parameters(layer, seed=0):
    """Set a layer's norms and biases to other values than ones and zeros."""
    with torch.no_grad():
        for number, part in enumerate(layer.parameters()):
            size = 0.3 if part.ndim > 1 else 0.5
            part.add_(size * normal(*part.shape, dtype=part.dtype, seed=seed + number))
    return layer.eval()


def attention_parameters(theirs, names):
    """Return the matrices of an nn.MultiheadAttention, transposed, under our names."""
    matrices = [
        *theirs.in_proj_weight.detach().chunk(3),
        theirs.out_proj.weight.detach(),
    ]
    return {name: part.T for name, part in zip(names, matrices, strict=True)}


def parameters_of(layer, n_norms):
    """Return the parameters of PyTorch's layer under our names."""
    result = attention_parameters(layer.self_attn, ("w_q", "w_k", "w_v", "w_o"))
    if n_norms == 3:
        names = [f"cross_{letter}" for letter in "qkvo"]
        result |= attention_parameters(layer.multihead_attn, names)
    for number, linear in ((1, layer.linear1), (2, layer.linear2)):
        result[f"w_{number}"] = linear.weight.detach().T
        result[f"b_{number}"] = linear.bias.detach()
    for number in range(1, n_norms + 1):
        norm = getattr(layer, f"norm{number}")
        result[f"gain_{number}"] = norm.weight.detach()
        result[f"bias_{number}"] = norm.bias.detach()
    return result


def without_attention_biases(layer):
    """Set the biases to 0 that our projections do not have."""
    for part in (layer.self_attn, getattr(layer, "multihead_attn", layer.self_attn)):
        nn.init.zeros_(part.in_proj_bias)
        nn.init.zeros_(part.out_proj.bias)
    return layer


def torch_layer(kind, dtype, norm_first):
    made = kind(
        D_MODEL,
        HEADS,
        D_FF,
        dropout=0.0,
        batch_first=True,
        norm_first=norm_first,
        dtype=dtype,
    )
    return without_attention_biases(with_random_parameters(made))


# Against PyTorch


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("leading", [*LEADING, (0,)])
def test_layer_norm_matches_pytorch(leading, dtype):
    x = normal(*leading, 5, D_MODEL, dtype=dtype) * 3 + 1
    gain, bias = normal(2, D_MODEL, dtype=dtype, seed=1)
    for eps in (1e-5, 1e-3, 0.5):
        theirs = nn.LayerNorm(D_MODEL, eps=eps, dtype=dtype)
        theirs.load_state_dict({"weight": gain, "bias": bias})
        assert_same(layer_norm(x, gain, bias, eps), theirs(x))
    default = nn.functional.layer_norm(x, (D_MODEL,), gain, bias)
    assert_same(layer_norm(x, gain, bias), default)


def test_layer_norm_of_odd_rows_matches_pytorch():
    gain, bias = normal(2, 3, seed=1)
    for x in (normal(5, 3) / 1000, torch.ones(5, 3).double() * 7, normal(3, 5).T):
        theirs = nn.functional.layer_norm(x, (3,), gain, bias)
        assert_same(layer_norm(x, gain, bias), theirs)


def test_layer_norm_of_large_numbers_keeps_float32_digits():
    x = torch.tensor([[1.0, 2.0, 4.0, 5.0]])
    gain, bias = torch.ones(4), torch.zeros(4)
    assert_same(layer_norm(x + 1e6, gain, bias), layer_norm(x, gain, bias))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("leading", [*LEADING, (0,)])
def test_feed_forward_matches_linear_layers(leading, dtype):
    x = normal(*leading, 5, D_MODEL, dtype=dtype)
    theirs = nn.Sequential(
        nn.Linear(D_MODEL, D_FF, dtype=dtype),
        nn.ReLU(),
        nn.Linear(D_FF, D_MODEL, dtype=dtype),
    )
    first, second = theirs[0].requires_grad_(False), theirs[2].requires_grad_(False)
    mine = feed_forward(x, first.weight.T, first.bias, second.weight.T, second.bias)
    assert_same(mine, theirs(x))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("leading", LEADING)
def test_embed_matches_nn_embedding(leading, dtype):
    tokens = torch.from_numpy(np.random.default_rng(0).integers(0, 11, (*leading, 5)))
    embedding = normal(11, D_MODEL, dtype=dtype)
    encoding = normal(13, D_MODEL, dtype=dtype, seed=1)
    theirs = nn.Embedding.from_pretrained(embedding)(tokens) * D_MODEL**0.5
    assert_same(embed(tokens, embedding, encoding), theirs + encoding[:5])


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("masked", [False, True])
def test_encoder_layer_matches_pytorch(masked, dtype, norm_first):
    theirs = torch_layer(nn.TransformerEncoderLayer, dtype, norm_first)
    x = normal(2, 5, D_MODEL, dtype=dtype, seed=50) * 2 + 1
    may_attend = some_blocked(5, 5) if masked else None
    blocked = ~may_attend if masked else None
    mine = encoder_layer(x, parameters_of(theirs, 2), HEADS, may_attend, norm_first)
    assert_same(mine, theirs(x, src_mask=blocked))


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_encoder_layer_with_padding_matches_pytorch(dtype, norm_first):
    theirs = torch_layer(nn.TransformerEncoderLayer, dtype, norm_first)
    x = normal(2, 5, D_MODEL, dtype=dtype, seed=50)
    real = torch.arange(5) < torch.tensor([[3], [5]])
    arguments = parameters_of(theirs, 2), HEADS, real.unsqueeze(-2), norm_first
    expected = theirs(x, src_key_padding_mask=~real)
    mine = encoder_layer(x, *arguments)
    assert_same(mine[real], expected[real])


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("masked", [False, True])
def test_decoder_layer_matches_pytorch(masked, dtype, norm_first):
    theirs = torch_layer(nn.TransformerDecoderLayer, dtype, norm_first)
    y = normal(2, 5, D_MODEL, dtype=dtype, seed=50) * 2 + 1
    memory = normal(2, 7, D_MODEL, dtype=dtype, seed=51) * 3 - 1
    masks = (
        (torch.ones(5, 5).tril().bool(), some_blocked(5, 7)) if masked else (None,) * 2
    )
    blocked = [mask if mask is None else ~mask for mask in masks]
    mine = decoder_layer(y, memory, parameters_of(theirs, 3), HEADS, *masks, norm_first)
    assert_same(mine, theirs(y, memory, tgt_mask=blocked[0], memory_mask=blocked[1]))


@pytest.mark.parametrize(
    ("n_layers", "d_model", "d_ff"), [(6, 512, 2048), (1, 12, 16), (2, 12, 5)]
)
def test_count_transformer_matches_nn_transformer(n_layers, d_model, d_ff):
    sizes = d_model, 4, n_layers, n_layers, d_ff
    theirs = nn.Transformer(*sizes, batch_first=True, device="meta")
    expected = sum(part.numel() for part in theirs.parameters())
    assert count_transformer(n_layers, d_model, d_ff) == expected
    assert count_transformer(n_layers, d_model, d_ff, 37) == expected + 37 * d_model


# Exact facts


def drawn_parameters(n_norms, dtype=torch.float64):
    kind = nn.TransformerEncoderLayer if n_norms == 2 else nn.TransformerDecoderLayer
    return parameters_of(torch_layer(kind, dtype, norm_first=False), n_norms)


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("leading", LEADING)
def test_layers_work_sequence_by_sequence(leading, norm_first):
    x, memory = normal(*leading, 5, D_MODEL), normal(*leading, 7, D_MODEL, seed=1)
    own, there = some_blocked(*leading, 5, 5), some_blocked(*leading, 5, 7, seed=1)
    encoder, decoder = drawn_parameters(2), drawn_parameters(3)
    encoded = encoder_layer(x, encoder, HEADS, own, norm_first)
    decoded = decoder_layer(x, memory, decoder, HEADS, own, there, norm_first)
    for index in np.ndindex(*leading):
        alone = encoder_layer(x[index], encoder, HEADS, own[index], norm_first)
        assert_same(encoded[index], alone)
        arguments = x[index], memory[index], decoder, HEADS, own[index], there[index]
        assert_same(decoded[index], decoder_layer(*arguments, norm_first))


def test_parameters_of_0_leave_x_or_its_norm():
    x, memory = normal(5, D_MODEL) * 4 + 2, normal(7, D_MODEL)
    for n_norms in (2, 3):
        silent = drawn_parameters(n_norms)
        for name in {"w_o", "cross_o", "w_2", "b_2"} & set(silent):
            silent[name] = torch.zeros_like(silent[name])
        arguments = (x, silent) if n_norms == 2 else (x, memory, silent)
        layer = encoder_layer if n_norms == 2 else decoder_layer
        assert torch.equal(layer(*arguments, HEADS, norm_first=True), x)
        expected = x
        for number in range(1, n_norms + 1):
            gain, bias = silent[f"gain_{number}"], silent[f"bias_{number}"]
            expected = layer_norm(expected, gain, bias)
        assert_same(layer(*arguments, HEADS), expected)


def test_decoder_layer_ignores_later_tokens():
    y, memory = normal(5, D_MODEL), normal(7, D_MODEL, seed=1)
    causal, there = torch.ones(5, 5).tril().bool(), torch.ones(5, 7).bool()
    there[:, 5:] = False
    parameters = drawn_parameters(3)
    before = decoder_layer(y, memory, parameters, HEADS, causal, there)
    y[3:] += 100
    memory[5:] += 100
    after = decoder_layer(y, memory, parameters, HEADS, causal, there)
    assert torch.equal(after[:3], before[:3])
    assert not torch.allclose(after[3:], before[3:])


def test_token_that_may_attend_to_nothing_gets_zeros():
    x, w = normal(3, D_MODEL, dtype=torch.float32), torch.eye(D_MODEL)
    may_attend = torch.tensor([[True, True, True], [False] * 3, [True, False, False]])
    result = multi_head_attention(x, x, w, w, w, w, HEADS, may_attend)
    assert torch.equal(result[1], torch.zeros(D_MODEL))
    assert_same(result[2], x[0])


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
@pytest.mark.parametrize("leading", [*LEADING, (0,)])
def test_shift_right_drops_the_last_target(leading, dtype):
    targets = torch.arange(int(np.prod(leading)) * 5, dtype=dtype).reshape(*leading, 5)
    result = shift_right(targets, -1)
    assert result.dtype == dtype
    assert torch.equal(result[..., 1:], targets[..., :-1])
    assert torch.all(result[..., 0] == -1)
    assert torch.equal(
        shift_right(targets[..., :1], 9), torch.full_like(targets[..., :1], 9)
    )


def test_layers_leave_arguments_and_pass_gradients():
    y, memory = normal(5, D_MODEL), normal(7, D_MODEL, seed=1)
    parameters = {k: v.clone().requires_grad_() for k, v in drawn_parameters(3).items()}
    before = {name: part.detach().clone() for name, part in parameters.items()}
    decoder_layer(y, memory, parameters, HEADS).square().sum().backward()
    assert torch.equal(y, normal(5, D_MODEL))
    for name, part in parameters.items():
        assert torch.equal(part, before[name])
        assert part.grad is not None and torch.any(part.grad != 0), name
