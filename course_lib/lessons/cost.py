"""What a computation costs: operations (lesson 03), and those that wait (lesson 08).

Parameters are counted by ``course_lib.heads.count_parameters``.
"""

from typing import TYPE_CHECKING

from course_lib import arguments

if TYPE_CHECKING:
    import torch


def matmul_flops(d_model: int, n_heads: int, n: int) -> dict[str, int]:
    """Count the operations in the matrix products of multi-head self-attention.

    d_model : length of a token's vector; each head has d_model / n_heads numbers of it
    n_heads : number of heads
    n : number of tokens

    Returns the multiplications and additions of each part: "projections" (queries, keys
    and values), "scores", "mixing" (weights times values), "output projection" (w_o).
    Multiplying an (a, b) by a (b, c) matrix counts 2 · a · b · c, as is usual. Biases,
    scaling and softmax are left out.

    >>> matmul_flops(4, 2, 3)
    {'projections': 288, 'scores': 72, 'mixing': 72, 'output projection': 96}
    """
    arguments.whole("d_model ≥ 1, n_heads ≥ 1, n ≥ 0", d_model, n_heads, n)
    if d_model % n_heads:
        raise ValueError(f"d_model={d_model} is not divisible by n_heads={n_heads}")
    d_k = d_model // n_heads
    return {
        "projections": 3 * 2 * n * d_model * (n_heads * d_k),
        "scores": n_heads * 2 * n * d_k * n,
        "mixing": n_heads * 2 * n * n * d_k,
        "output projection": 2 * n * (n_heads * d_k) * d_model,
    }


def sequential_operations(result: "torch.Tensor") -> int:
    """Count the operations on the longest chain that leads to a result.

    Each operation on a chain needs the result of the one before it, so that no number
    of processors can do two of them at once (Vaswani et al. 2017, table 1). Counted is
    what PyTorch records for the gradient, so some input of the result must require one.

    >>> import torch
    >>> sequential_operations(torch.ones(2, requires_grad=True).exp().sum())
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
