"""Softmax and attention by blocks against PyTorch, and the memory that they need."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from course_lib.attention import softmax
from course_lib.tiling import online_softmax

exact = settings(max_examples=40, deadline=None, derandomize=True)
blocks = st.integers(1, 9)
# Sums of ten numbers, each rescaled up to ten times: some ten units of roundoff.
CLOSE = 1e-14
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
