"""What the lesson on heads says they cost, against PyTorch's own count."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from course_lib.lessons.cost import matmul_flops


@pytest.mark.parametrize("n_heads", [1, 2, 4, 12])
def test_the_products_are_those_that_pytorch_counts(n_heads):
    layer = torch.nn.MultiheadAttention(12, n_heads, bias=False, batch_first=True)
    x = torch.zeros(1, 5, 12)
    with FlopCounterMode(display=False) as counter:
        layer(x, x, x)
    assert sum(matmul_flops(12, n_heads, 5).values()) == counter.get_total_flops()


def test_each_part_by_hand():
    # 3 tokens of 4 numbers, 2 heads of 2: each product 2 · rows · inner · columns.
    assert matmul_flops(4, 2, 3) == {
        "projections": 3 * 2 * 3 * 4 * 4,
        "scores": 2 * 2 * 3 * 2 * 3,
        "mixing": 2 * 2 * 3 * 3 * 2,
        "output projection": 2 * 3 * 4 * 4,
    }
