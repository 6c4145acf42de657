"""Chains of operations: branches count once, the longest way counts."""

import torch

from course_lib.lessons.cost import sequential_operations


def test_a_chain_is_as_long_as_its_operations():
    x = torch.ones(2, requires_grad=True)
    assert sequential_operations(x.exp()) == 1
    assert sequential_operations(x.exp().sin().sum()) == 3


def test_branches_do_not_wait_for_each_other():
    x = torch.ones(2, requires_grad=True)
    assert sequential_operations(x.exp() + x.sin()) == 2
    assert sequential_operations(x.exp().cos() + x.sin()) == 3


def test_a_loop_is_as_long_as_its_rounds():
    x = torch.ones(2, requires_grad=True)
    y = x
    for _ in range(5000):  # deeper than Python's recursion may be
        y = y.sin()
    assert sequential_operations(y) == 5000
