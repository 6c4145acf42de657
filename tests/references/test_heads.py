"""The references of lesson 03 against PyTorch and against what must hold exactly."""

import numpy as np
import pytest
import torch

from course_lib.attention import attention
from course_lib.heads import (
    count_parameters,
    load_torch_parameters,
    merge_heads,
    multi_head_attention,
    split_heads,
)
from tests.references.arrays import CLOSE, normal, tensor

LEADING = [(), (2,), (2, 3), (1,), (0,)]
DTYPES = [np.float64, np.float32]
# A sum of some ten products of numbers near 1 is off by some ten units of roundoff.
NUMBERS = {np.float64: torch.float64, np.float32: torch.float32}


def assert_same(mine, theirs, dtype=np.float64):
    """Compare shape, dtype and values to the precision of a dtype."""
    theirs = np.asarray(theirs.detach() if torch.is_tensor(theirs) else theirs)
    assert mine.shape == theirs.shape
    assert mine.dtype == dtype
    np.testing.assert_allclose(mine, theirs, rtol=0, atol=CLOSE[dtype])


def layer(dtype, bias=False, seed=0):
    """Make PyTorch's layer with d_model 12 and 3 heads, biases not zero."""
    torch.manual_seed(seed)
    made = torch.nn.MultiheadAttention(
        12, 3, bias=bias, batch_first=True, dtype=NUMBERS[dtype]
    )
    if bias:  # PyTorch starts them at 0, which would hide whether they are used
        torch.nn.init.normal_(made.in_proj_bias)
        torch.nn.init.normal_(made.out_proj.bias)
    return made.eval()


def with_biases(x, memory, parameters, n_heads):
    """Attend with biases: each is one more row of parameters, for a number 1."""

    def one_more(table):
        return np.concatenate([table, np.ones((*table.shape[:-1], 1))], axis=-1)

    rows = [np.vstack([parameters[f"w_{p}"], parameters[f"b_{p}"]]) for p in "qkv"]
    output, weights = multi_head_attention(
        one_more(x), one_more(memory), *rows, parameters["w_o"], n_heads
    )
    return output + parameters["b_o"], weights


# Against PyTorch


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("leading", [(), (2,)])
def test_multi_head_attention_matches_pytorch(leading, dtype):
    theirs = layer(dtype)
    x = normal(*leading, 5, 12, dtype=dtype)
    memory = normal(*leading, 7, 12, dtype=dtype, seed=1)
    parameters = load_torch_parameters(theirs.state_dict())
    parameters = [parameters[name] for name in ("w_q", "w_k", "w_v", "w_o")]
    output, weights = multi_head_attention(x, memory, *parameters, 3)
    inputs = tensor(x), tensor(memory), tensor(memory)
    there, expected_weights = theirs(*inputs, average_attn_weights=False)
    assert_same(output, there, dtype)
    assert_same(weights, expected_weights, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_multi_head_attention_matches_pytorch_with_a_mask(dtype):
    theirs = layer(dtype)
    x, memory = normal(2, 5, 12, dtype=dtype), normal(2, 7, 12, dtype=dtype, seed=1)
    may_attend = np.random.default_rng(2).random((5, 7)) < 0.5
    may_attend[:, 0] = ~may_attend[:, 1]
    parameters = load_torch_parameters(theirs.state_dict())
    parameters = [parameters[name] for name in ("w_q", "w_k", "w_v", "w_o")]
    mine = multi_head_attention(x, memory, *parameters, 3, may_attend)
    there = theirs(
        tensor(x),
        tensor(memory),
        tensor(memory),
        attn_mask=tensor(~may_attend),  # this layer's True is "blocked"
        average_attn_weights=False,
    )
    for one, other in zip(mine, there, strict=True):
        assert_same(one, other, dtype)
    assert np.all((mine[1] == 0) == ~may_attend)


def test_loaded_biases_match_pytorch():
    theirs = layer(np.float64, bias=True)
    x, memory = normal(2, 5, 12), normal(2, 7, 12, seed=1)
    mine = with_biases(x, memory, load_torch_parameters(theirs.state_dict()), 3)
    inputs = tensor(x), tensor(memory), tensor(memory)
    there = theirs(*inputs, average_attn_weights=False)
    for one, other in zip(mine, there, strict=True):
        assert_same(one, other)


@pytest.mark.parametrize("leading", LEADING)
def test_heads_of_other_sizes_match_sdpa(leading):
    x, memory = normal(*leading, 5, 10), normal(*leading, 7, 9, seed=1)
    w_q, w_k = normal(10, 12, seed=2), normal(9, 12, seed=3)
    w_v, w_o = normal(9, 18, seed=4), normal(18, 8, seed=5)
    output, weights = multi_head_attention(x, memory, w_q, w_k, w_v, w_o, 3)
    q, k, v = (
        tensor(table).unflatten(-1, (3, -1)).transpose(-2, -3)
        for table in (x @ w_q, memory @ w_k, memory @ w_v)
    )
    there = torch.nn.functional.scaled_dot_product_attention(q, k, v)
    there = there.transpose(-2, -3).flatten(-2) @ tensor(w_o)
    # Values and w_o of size 1 make outputs of size 10: two digits fewer are exact.
    np.testing.assert_allclose(output, there.numpy(), rtol=0, atol=1e-11)
    assert weights.shape == (*leading, 3, 5, 7)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(("d_model", "n_heads"), [(12, 3), (512, 8), (5, 1), (7, 7)])
def test_count_parameters_matches_pytorch(d_model, n_heads, bias):
    there = torch.nn.MultiheadAttention(d_model, n_heads, bias=bias, device="meta")
    counted = sum(parameter.numel() for parameter in there.parameters())
    assert count_parameters(d_model, n_heads, bias) == counted
    assert type(count_parameters(d_model, n_heads, bias)) is int


@pytest.mark.parametrize("bias", [False, True])
def test_loaded_arrays_share_no_memory_with_the_layer(bias):
    theirs = layer(np.float32, bias)
    before = {name: part.clone() for name, part in theirs.state_dict().items()}
    parameters = load_torch_parameters(theirs.state_dict())
    assert set(parameters) == {
        f"{kind}_{p}" for kind in "wb"[: 1 + bias] for p in "qkvo"
    }
    for part in parameters.values():
        assert part.dtype == np.float32
        part[...] = 0
    for name, part in theirs.state_dict().items():
        assert torch.equal(part, before[name])


def test_parameters_that_need_gradients_are_loaded():
    theirs = dict(layer(np.float64).named_parameters())
    assert all(part.requires_grad for part in theirs.values())
    parameters = load_torch_parameters(theirs)
    assert_same(parameters["w_o"], theirs["out_proj.weight"].T)


# What must hold exactly


@pytest.mark.parametrize("dtype", [*DTYPES, np.int64])
@pytest.mark.parametrize("leading", LEADING)
def test_merge_heads_undoes_split_heads(leading, dtype):
    x = (100 * normal(*leading, 5, 12)).astype(dtype)
    for n_heads in (1, 2, 3, 4, 6, 12):
        heads = split_heads(x, n_heads)
        assert heads.shape == (*leading, n_heads, 5, 12 // n_heads)
        assert heads.dtype == dtype
        np.testing.assert_array_equal(merge_heads(heads), x)


@pytest.mark.parametrize("leading", LEADING)
def test_split_heads_matches_pytorch(leading):
    x = normal(*leading, 5, 12)
    there = tensor(x).unflatten(-1, (3, 4)).transpose(-2, -3)
    np.testing.assert_array_equal(split_heads(x, 3), there.numpy())
    np.testing.assert_array_equal(
        merge_heads(there.numpy()), there.transpose(-2, -3).flatten(-2).numpy()
    )


def test_memory_layout_changes_nothing():
    x, heads = normal(2, 5, 24), normal(2, 3, 5, 8, seed=1)
    for turned in (np.asfortranarray(x), x[..., ::-1, :], x[..., ::2]):
        assert not turned.flags.c_contiguous
        plain = np.ascontiguousarray(turned)
        np.testing.assert_array_equal(split_heads(turned, 3), split_heads(plain, 3))
    for turned in (np.asfortranarray(heads), heads.swapaxes(-2, -3), heads[..., ::2]):
        assert not turned.flags.c_contiguous
        plain = np.ascontiguousarray(turned)
        np.testing.assert_array_equal(merge_heads(turned), merge_heads(plain))


def test_split_heads_returns_a_copy():
    x = normal(5, 12)
    before = x.copy()
    split_heads(x, 3)[0] = 0
    np.testing.assert_array_equal(x, before)


def test_n_heads_must_divide_d_model():
    message = r"^d_model=10 is not divisible by n_heads=3$"
    with pytest.raises(ValueError, match=message):
        split_heads(normal(5, 10), 3)
    with pytest.raises(ValueError, match=message):
        count_parameters(10, 3, bias=True)
    w = normal(10, 10)
    message = r"^w_q must have shape \(d_model, n_heads·d_k\), got \(10, 10\): 10 is"
    with pytest.raises(ValueError, match=message):
        multi_head_attention(normal(5, 10), normal(7, 10), w, w, w, w, 3)


@pytest.mark.parametrize("leading", LEADING)
def test_one_head_matches_attention(leading):
    x, memory = normal(*leading, 5, 10), normal(*leading, 7, 9, seed=1)
    w_q, w_k = normal(10, 4, seed=2), normal(9, 4, seed=3)
    w_v, w_o = normal(9, 6, seed=4), normal(6, 8, seed=5)
    output, weights = multi_head_attention(x, memory, w_q, w_k, w_v, w_o, 1)
    single, expected_weights = attention(x @ w_q, memory @ w_k, memory @ w_v)
    np.testing.assert_array_equal(output, single @ w_o)
    np.testing.assert_array_equal(weights, expected_weights[..., np.newaxis, :, :])


def test_permuting_heads_with_their_rows_changes_nothing():
    x, w = normal(5, 12), normal(4, 12, 12, seed=1)
    before, weights = multi_head_attention(x, x, *w, 3)
    order = np.arange(12).reshape(3, 4)[[2, 0, 1]].ravel()
    columns = [part[:, order] for part in w[:3]]
    after, moved = multi_head_attention(x, x, *columns, w[3][order], 3)
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-12)
    np.testing.assert_allclose(moved, weights[[2, 0, 1]], rtol=0, atol=1e-14)


def test_one_mask_for_all_heads_is_repeated():
    x, w = normal(3, 5, 12), normal(4, 12, 12, seed=1)
    may_attend = np.tri(5, dtype=bool)
    one = multi_head_attention(x, x, *w, 3, may_attend)
    each = multi_head_attention(x, x, *w, 3, np.tile(may_attend, (3, 1, 1)))
    for mine, other in zip(one, each, strict=True):
        np.testing.assert_array_equal(mine, other)
    assert np.all(one[1][..., ~may_attend] == 0)
    np.testing.assert_allclose(one[1].sum(axis=-1), 1, rtol=1e-14)


def test_blocked_tokens_change_nothing():
    x, memory, w = normal(5, 12), normal(7, 12, seed=1), normal(4, 12, 12, seed=2)
    may_attend = np.arange(7) < np.array([[1], [2], [3], [4], [4]])
    before = multi_head_attention(x, memory, *w, 3, may_attend)
    memory[4:] = 1e6
    after = multi_head_attention(x, memory, *w, 3, may_attend)
    for one, other in zip(before, after, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)


def test_whole_numbers_give_floats():
    x, w = np.arange(8).reshape(2, 4) % 3, np.eye(4, dtype=int)
    output, weights = multi_head_attention(x, x, w, w, w, w, 2)
    assert output.dtype == weights.dtype == np.float64
    same = multi_head_attention(x * 1.0, x * 1.0, w, w, w, w, 2)
    np.testing.assert_array_equal(output, same[0])
