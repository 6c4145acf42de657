"""How many computations of a result must wait for each other."""

import torch
from torch import Tensor


def longest_chain(result: Tensor) -> int:
    """Count the operations on the longest chain that leads to a result.

    Each operation on a chain needs what the one before it gave, so that no number of
    processors can do two of them at once. Counted is what PyTorch keeps for the
    gradient, so something that the result comes from must require one.

    >>> longest_chain(torch.ones(2, requires_grad=True).exp().sum())
    2
    """
    lengths: dict[torch.autograd.graph.Node, int] = {}
    waiting = [result.grad_fn]
    while waiting:
        node = waiting[-1]
        if node is None or node in lengths:
            waiting.pop()
            continue
        before = [each for each, _ in node.next_functions if each is not None]
        missing = [each for each in before if each not in lengths]
        if missing:
            waiting += missing
        else:
            # A node with nothing before it stands for a tensor, not for an operation.
            lengths[node] = 1 + max(map(lengths.__getitem__, before)) if before else 0
    return max(lengths.values(), default=0)
