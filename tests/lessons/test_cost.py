"""What a computation costs, against PyTorch's own count and by hand."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from course_lib.lessons.cost import matmul_flops, sequential_operations


@pytest.mark.parametrize("n_heads", [1, 2, 4, 12])
def test_matmul_flops_match_pytorch(n_heads):
    layer = torch.nn.MultiheadAttention(12, n_heads, bias=False, batch_first=True)
    x = torch.zeros(1, 5, 12)
    with FlopCounterMode(display=False) as counter:
        layer(x, x, x)
    assert sum(matmul_flops(12, n_heads, 5).values()) == counter.get_total_flops()


def test_matmul_flops_by_hand():
    # 3 tokens of 4 numbers, 2 heads of 2: each product 2 · rows · inner · columns.
    assert matmul_flops(4, 2, 3) == {
        "projections": 3 * 2 * 3 * 4 * 4,
        "scores": 2 * 2 * 3 * 2 * 3,
        "mixing": 2 * 2 * 3 * 3 * 2,
        "output projection": 2 * 3 * 4 * 4,
    }


def test_sequential_operations_count_a_chain():
    x = torch.ones(2, requires_grad=True)
    assert sequential_operations(x.exp()) == 1
    assert sequential_operations(x.exp().sin().sum()) == 3


def test_sequential_operations_take_the_longest_branch():
    x = torch.ones(2, requires_grad=True)
    assert sequential_operations(x.exp() + x.sin()) == 2
    assert sequential_operations(x.exp().cos() + x.sin()) == 3


def test_sequential_operations_count_a_long_loop():
    x = torch.ones(2, requires_grad=True)
    y = x
    for _ in range(5000):  # deeper than Python's recursion may be
        y = y.sin()
    assert sequential_operations(y) == 5000
