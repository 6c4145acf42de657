"""Softmax and attention by blocks against PyTorch, and the memory that they need."""

import tracemalloc

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from course_lib.attention import attention, softmax
from course_lib.masks import sliding_window_mask
from course_lib.tiling import online_softmax, tiled_attention

exact = settings(max_examples=40, derandomize=True)
blocks = st.integers(1, 9)
# Sums of ten numbers, each rescaled up to ten times: some ten units of roundoff.
CLOSE = 1e-14
sdpa = torch.nn.functional.scaled_dot_product_attention
scores = hnp.arrays(
    np.float64,
    hnp.array_shapes(min_dims=1, max_dims=3, max_side=7),
    elements=st.floats(-1e4, 1e4),
)


@exact
@given(scores, blocks)
def test_online_softmax_matches_softmax_of_pytorch(x, block):
    theirs = torch.softmax(torch.from_numpy(x), dim=-1)
    np.testing.assert_allclose(online_softmax(x, block), theirs, rtol=0, atol=CLOSE)


@exact
@given(scores)
def test_online_softmax_of_one_block_is_softmax(x):
    np.testing.assert_array_equal(online_softmax(x, x.shape[-1]), softmax(x))


@pytest.mark.parametrize("block", [0, -1])
def test_online_softmax_refuses_empty_blocks(block):
    with pytest.raises(ValueError, match=rf"^block must be at least 1, got {block}$"):
        online_softmax(np.ones(3), block)


def queries_keys_values(*leading, n=5, m=7, dtype=np.float64):
    rng = np.random.default_rng(n * m)
    sizes = (n, 4), (m, 4), (m, 6)
    return [rng.normal(size=(*leading, *size)).astype(dtype) for size in sizes]


def peak(function, *arguments):
    """Return the most bytes that a call has allocated at any time."""
    tracemalloc.start()
    try:
        function(*arguments)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("block", [1, 2, 3, 7, 9])
@pytest.mark.parametrize("leading", [(), (2,), (2, 3), (0,)])
def test_tiled_attention_matches_attention_and_sdpa(leading, block):
    q, k, v = queries_keys_values(*leading)
    mine = tiled_attention(q, k, v, block)
    np.testing.assert_allclose(mine, attention(q, k, v)[0], rtol=0, atol=CLOSE)
    theirs = sdpa(*map(torch.from_numpy, (q, k, v)))
    np.testing.assert_allclose(mine, theirs, rtol=0, atol=CLOSE)


@pytest.mark.parametrize("block", [1, 3, 9])
@pytest.mark.parametrize("shape", [(2, 5, 7), (5, 7), (2, 1, 7), (7,)])
def test_tiled_attention_matches_sdpa_with_masks(shape, block):
    q, k, v = queries_keys_values(2)
    may_attend = np.random.default_rng(9).random(shape) < 0.4
    if len(shape) > 1:
        may_attend[..., -1, :] = False  # a query without keys
    mine = tiled_attention(q, k, v, block, may_attend)
    mask = torch.from_numpy(np.broadcast_to(may_attend, (2, 5, 7)).copy())
    theirs = sdpa(*map(torch.from_numpy, (q, k, v)), attn_mask=mask)
    np.testing.assert_allclose(mine, theirs, rtol=0, atol=CLOSE)
    assert len(shape) == 1 or not mine[:, -1].any()


@pytest.mark.parametrize("block", [1, 2, 4])
def test_tiled_attention_with_a_window_matches_sdpa(block):
    q, k, v = queries_keys_values(2, n=9, m=9)
    window = sliding_window_mask(9, 3)  # whole blocks before it are blocked
    theirs = sdpa(*map(torch.from_numpy, (q, k, v)), attn_mask=torch.tensor(window))
    mine = tiled_attention(q, k, v, block, window)
    np.testing.assert_allclose(mine, theirs, rtol=0, atol=CLOSE)


def test_tiled_attention_allocates_no_matrix_of_queries_by_keys():
    n, block = 1500, 50
    q, k, v = queries_keys_values(n=n, m=n)
    matrix = n * n * q.itemsize
    for may_attend in (None, np.arange(n) < n - 100):
        assert peak(tiled_attention, q, k, v, block, may_attend) < matrix / 2
    assert peak(tiled_attention, q, k, v, n) > matrix
    assert peak(attention, q, k, v) > matrix


def test_tiled_attention_refuses_empty_blocks_and_additive_masks():
    q, k, v = queries_keys_values()
    with pytest.raises(ValueError, match=r"^block must be at least 1, got 0$"):
        tiled_attention(q, k, v, 0)
    with pytest.raises(TypeError, match=r"^may_attend must be boolean, got float64"):
        tiled_attention(q, k, v, 2, np.zeros((5, 7)))
