"""How long the core of a layer takes: attention, recurrence, convolution (lesson 14).

The times beside table 1 of Vaswani et al. (2017). Only what the operations of that
table are is timed, for one sequence: the projections of an attention and the biases and
activations of the others are left out, but for the tanh of the recurrence. The numbers
are random: the time does not depend on them.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from course_lib.lessons.environment import seeded
from course_lib.lessons.measuring import processor_seconds

LENGTHS = (32, 64, 128, 256, 512, 1024, 2048, 4096)
SIZES = (64, 256)  # d, for which the length grows
WIDTHS = (32, 64, 128, 256, 512, 1024)  # d that grows
FIXED_LENGTH = 512
KINDS = ("attention", "recurrence", "convolution, k = 3", "convolution, k = 9")


def full(
    seed: int,
    lengths: tuple[int, ...] = LENGTHS,
    sizes: tuple[int, ...] = SIZES,
    widths: tuple[int, ...] = WIDTHS,
    fixed_length: int = FIXED_LENGTH,
) -> dict[str, Any]:
    """Time all kinds over the length n and, at one n, over the width d.

    Returns "lengths", "widths" and "fixed length"; for each kind and d
    "attention, d = 64": microseconds for each length; and for each kind
    "attention, by d": microseconds for each width.
    """
    results: dict[str, Any] = {"lengths": [*lengths], "widths": [*widths]}
    results["fixed length"] = fixed_length
    with seeded(seed), torch.inference_mode():
        for d in sizes:
            for kind in KINDS:
                results[f"{kind}, d = {d}"] = [
                    microseconds(kind, n, d) for n in lengths
                ]
        for kind in KINDS:
            results[f"{kind}, by d"] = [
                microseconds(kind, fixed_length, d) for d in widths
            ]
    return results


def microseconds(kind: str, n: int, d: int) -> float:
    """Time one layer's core over n random tokens of d numbers, on this thread."""
    x = torch.randn(n, d)
    layer = core(kind, d)
    return round(1e6 * processor_seconds(lambda: layer(x)), 1)


def core(kind: str, d: int) -> Callable[[Tensor], Tensor]:
    """Return a function from (n, d) to (n, d), with random parameters where it has any.

    The recurrence is PyTorch's own, h = tanh(W_x x + W_h h'), whose loop is compiled;
    the convolution is the causal one, over k tokens.
    """
    if kind == "attention":
        return lambda x: (x @ x.T / math.sqrt(d)).softmax(dim=-1) @ x
    if kind == "recurrence":
        recurrence = nn.RNN(d, d, bias=False)
        return lambda x: recurrence(x)[0]
    k = int(kind.rpartition("= ")[2])
    kernel = torch.randn(d, d, k) / math.sqrt(k * d)
    return lambda x: functional.conv1d(functional.pad(x.T, (k - 1, 0)), kernel).T
