"""The references of lesson 04 against PyTorch and against exact facts."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from torch.nn.utils.rnn import pad_sequence

from course_lib.attention import scaled_scores, softmax
from course_lib.heads import load_torch_parameters, multi_head_attention
from course_lib.masks import (
    causal_mask,
    combine_masks,
    convert_mask,
    leak,
    masked_softmax,
    padding_mask,
    sliding_window_mask,
)
from tests.references.arrays import assert_same, normal, tensor

# Batch 2, 3 heads, n 5, m 7, d_k 4, d_v 6: no two sizes are alike.
LEADING = [(), (2,), (2, 3), (1,), (0,)]
DTYPES = [np.float64, np.float32]
# A sum of some ten products of numbers near 1 is off by some ten units of roundoff.

exact = settings(max_examples=40, derandomize=True)
sdpa = torch.nn.functional.scaled_dot_product_attention
triangle = torch.nn.Transformer.generate_square_subsequent_mask


def queries_keys_values(leading=(), dtype=np.float64):
    sizes = (5, 4), (7, 4), (7, 6)
    return [normal(*leading, *s, dtype=dtype, seed=i) for i, s in enumerate(sizes)]


def random_mask(*shape, seed=9):
    """Draw a mask whose row 3 is blocked throughout."""
    may_attend = np.random.default_rng(seed).random(shape) < 0.5
    may_attend[..., 3, :] = False
    return may_attend


def masked(q, k, v, may_attend):
    return masked_softmax(scaled_scores(q, k), may_attend) @ v


# Against PyTorch


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("leading", LEADING)
@pytest.mark.parametrize("to", ["scaled_dot_product_attention", "additive"])
def test_masked_softmax_matches_sdpa_with_blocked_rows(leading, dtype, to):
    q, k, v = queries_keys_values(leading, dtype)
    may_attend = random_mask(*leading, 5, 7)
    mask = convert_mask(may_attend, to)
    mask = mask.astype(dtype) if to == "additive" else mask
    theirs = sdpa(tensor(q), tensor(k), tensor(v), attn_mask=tensor(mask))
    mine = masked(q, k, v, may_attend)
    assert_same(mine, theirs, dtype)
    assert not mine[..., 3, :].any()


@pytest.mark.parametrize("dtype", DTYPES)
def test_float32_scores_give_float32_weights(dtype):
    scores = normal(2, 5, 7, dtype=dtype)
    assert masked_softmax(scores, random_mask(5, 7)).dtype == dtype


def test_memory_layout_changes_nothing():
    q, k, _ = queries_keys_values((2,))
    scores, may_attend = scaled_scores(q, k), random_mask(2, 5, 7)
    turned = np.asfortranarray(scores), np.asfortranarray(may_attend)
    assert_same(masked_softmax(*turned), masked_softmax(scores, may_attend))
    twice = np.repeat(scores, 2, axis=-1)[..., ::2]
    assert_same(masked_softmax(twice, may_attend), masked_softmax(scores, may_attend))
    for to in ("scaled_dot_product_attention", "MultiheadAttention", "additive"):
        result = convert_mask(turned[1], to)
        np.testing.assert_array_equal(result, convert_mask(may_attend, to))
        assert not np.shares_memory(result, turned[1])


@pytest.mark.parametrize(("n", "m"), [(5, 5), (5, 7), (7, 5), (1, 4), (4, 1)])
def test_causal_mask_matches_is_causal(n, m):
    q, k, v = normal(n, 4), normal(m, 4, seed=1), normal(m, 6, seed=2)
    theirs = sdpa(tensor(q), tensor(k), tensor(v), is_causal=True)
    assert_same(masked(q, k, v, causal_mask(n, m)), theirs)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_causal_mask_matches_nn_transformer(n):
    theirs = triangle(n, dtype=torch.float64)
    np.testing.assert_array_equal(convert_mask(causal_mask(n), "additive"), theirs)


@pytest.mark.parametrize(("n", "offset"), [(1, 0), (1, 4), (3, 2), (5, 1)])
def test_offset_gives_the_last_rows_of_the_square(n, offset):
    square = causal_mask(n + offset)
    np.testing.assert_array_equal(causal_mask(n, offset=offset), square[offset:])
    size = n + offset
    q, k, v = normal(size, 4), normal(size, 4, seed=1), normal(size, 6, seed=2)
    whole = sdpa(tensor(q), tensor(k), tensor(v), is_causal=True)
    result = masked(q[offset:], k, v, causal_mask(n, offset=offset))
    assert_same(result, whole[offset:])


def test_padding_mask_matches_pad_sequence():
    lengths = [3, 7, 0, 5]
    sequences = [torch.ones(length) for length in lengths]
    is_padding = pad_sequence(sequences, batch_first=True) == 1
    np.testing.assert_array_equal(padding_mask(lengths, 7)[:, 0], is_padding)


@pytest.mark.parametrize("width", [1, 3, 5, 9])
def test_sliding_window_mask_matches_a_band_of_pytorch(width):
    q, k, v = (normal(5, 4, seed=seed) for seed in range(3))
    band = torch.ones(5, 5, dtype=torch.bool).tril().triu(1 - width)
    mine = sliding_window_mask(5, width)
    np.testing.assert_array_equal(mine, band)
    theirs = sdpa(tensor(q), tensor(k), tensor(v), attn_mask=band)
    assert_same(masked(q, k, v, mine), theirs)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("to", ["MultiheadAttention", "additive"])
def test_combine_masks_matches_nn_multihead_attention(dtype, to):
    x, causal, lengths = normal(2, 5, 12, dtype=dtype), causal_mask(5), [2, 5]
    padding = padding_mask(lengths, 5)
    layer = torch.nn.MultiheadAttention(
        12, 3, bias=False, batch_first=True, dtype=tensor(x).dtype
    )
    masks = [tensor(convert_mask(part, to)) for part in (causal, padding[:, 0])]
    attn_mask, key_padding_mask = (
        part.to(tensor(x).dtype) if to == "additive" else part for part in masks
    )
    output, weights = layer(
        *[tensor(x)] * 3,
        attn_mask=attn_mask,
        key_padding_mask=key_padding_mask,
        average_attn_weights=False,
    )
    named = load_torch_parameters(layer.state_dict())
    parameters = [named[name] for name in ("w_q", "w_k", "w_v", "w_o")]
    mine = multi_head_attention(x, x, *parameters, 3, combine_masks(causal, padding))
    assert_same(mine[0], output, dtype)
    assert_same(mine[1], weights, dtype)


def test_module_and_function_disagree_on_true():
    x = normal(1, 5, 12)
    torch.manual_seed(0)
    layer = torch.nn.MultiheadAttention(
        12, 3, bias=False, batch_first=True, dtype=torch.float64
    )
    # Turned round, the last query would have no key at all; the first has four.
    named = "MultiheadAttention", "scaled_dot_product_attention"
    first, second = (
        layer(*[tensor(x)] * 3, attn_mask=tensor(convert_mask(causal_mask(5), to)))[0]
        for to in named
    )
    assert float((first - second).detach()[0, 0].abs().max()) > 0.01


# Numbers by hand and exact facts


def test_masks_by_hand():
    assert causal_mask(2, 4, 1).tolist() == [
        [True, True, False, False],
        [True, True, True, False],
    ]
    assert padding_mask(np.array(2), 3).tolist() == [[True, True, False]]
    assert padding_mask([[0, 3]], 3).shape == (1, 2, 1, 3)
    first, second = np.array([[True, True], [False, True]]), np.array([False, True])
    assert combine_masks(first, second).tolist() == [[False, True], [False, True]]


def test_combine_masks_copies_a_single_mask():
    mask = causal_mask(3)
    assert combine_masks(mask).tolist() == mask.tolist()
    assert not np.shares_memory(combine_masks(mask), mask)


def test_convert_mask_refuses_unknown_conventions():
    with pytest.raises(ValueError, match=r"^to='float' is none of scaled_dot_"):
        convert_mask(causal_mask(2), "float")


def test_blocked_keys_get_no_weight_for_any_scores():
    for least in (-1e4, -1e9, -1e39, -1e300):
        weights = masked_softmax(np.array([[least, 0.0]]), np.array([[True, False]]))
        assert weights.tolist() == [[1.0, 0.0]]


tables = hnp.arrays(np.float64, (2, 3, 4), elements=st.floats(-1e300, 1e300))
masks = hnp.arrays(np.bool_, (2, 3, 4))


@exact
@given(tables, masks)
def test_weights_sum_to_1_over_the_open_keys(scores, may_attend):
    weights = masked_softmax(scores, may_attend)
    assert not weights[~may_attend].any()
    some = may_attend.any(axis=-1)
    np.testing.assert_allclose(weights.sum(axis=-1), some, rtol=1e-14)


@exact
@given(tables, masks)
def test_weights_ignore_blocked_keys(scores, may_attend):
    weights = masked_softmax(scores, may_attend)
    for index in zip(*np.nonzero(may_attend.any(axis=-1)), strict=True):
        open_keys = may_attend[index]
        np.testing.assert_allclose(
            weights[index][open_keys], softmax(scores[index][open_keys])
        )


@exact
@given(tables)
def test_open_mask_matches_softmax(scores):
    everything = np.ones((1, 4), dtype=bool)
    np.testing.assert_allclose(masked_softmax(scores, everything), softmax(scores))


@exact
@given(masks, hnp.arrays(np.bool_, (3, 4)), hnp.arrays(np.bool_, (2, 1, 4)))
def test_masks_combine_in_any_order_like_additive_ones(one, two, three):
    both = combine_masks(one, two, three)
    np.testing.assert_array_equal(both, combine_masks(three, combine_masks(two, one)))
    added = sum(convert_mask(mask, "additive") for mask in (one, two, three))
    np.testing.assert_array_equal(convert_mask(both, "additive"), added)


# Leaks


def attend(x, may_attend):
    return masked_softmax(scaled_scores(x, x), may_attend) @ x


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("t", range(5))
def test_causal_attention_does_not_leak(t, dtype):
    x = normal(5, 4, dtype=dtype)
    assert leak(lambda x: attend(x, causal_mask(5)), x, t) == 0.0
    result = leak(lambda x: attend(x, np.array([[True]])), x, t)
    assert result > 0.01 if t < 4 else result == 0.0


@pytest.mark.parametrize("t", range(4))
def test_mask_off_by_one_leaks(t):
    one_too_many = causal_mask(5, 5, offset=1)
    assert leak(lambda x: attend(x, one_too_many), normal(5, 4), t) > 0.01


@pytest.mark.parametrize("t", range(5))
def test_leak_of_a_linear_function_by_hand(t):
    mixing, x = normal(5, 5), normal(5, 4, seed=1)
    moved = mixing[: t + 1, t + 1 :] @ (1 - 3 * x[t + 1 :])  # 1 − 2z is z + (1 − 3z)
    result = leak(lambda x: mixing @ x, x, t)
    assert result == pytest.approx(np.abs(moved).max(), abs=1e-13)


@pytest.mark.parametrize("t", range(4))
def test_leak_agrees_with_gradients(t):
    x = tensor(normal(5, 4))

    def gradient(f):
        jacobian = torch.autograd.functional.jacobian(f, x)  # (n, d, n, d)
        return float(jacobian[: t + 1, :, t + 1 :].abs().max())

    for is_causal in (True, False):

        def f(x, is_causal=is_causal):
            return sdpa(x, x, x, is_causal=is_causal)

        result = leak(lambda x, f=f: f(tensor(x)).numpy(), x.numpy(), t)
        assert (result == 0) == (gradient(f) == 0) == is_causal


def test_leak_of_whole_numbers_is_exact():
    x = np.array([[1, 2], [3, 4], [5, 6]])
    assert leak(lambda x: x + x.sum(axis=0), x, 1) == 17.0  # 6 becomes −11
    assert x.tolist() == [[1, 2], [3, 4], [5, 6]]
