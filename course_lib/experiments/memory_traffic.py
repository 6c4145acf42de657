"""What an operation takes, by how many numbers must be moved for it (lesson 14)."""

import math
from functools import partial
from typing import Any

import torch

from course_lib.lessons.environment import seeded
from course_lib.lessons.measuring import processor_seconds

BATCHES = (1, 4, 16, 64, 256)
D = 2048  # (d, d) numbers of 4 bytes: more than the caches near the processor hold
N_ELEMENTS = 2**24
LENGTH, D_K = 4096, 64  # of the attention whose parts are timed


def full(
    seed: int,
    batches: tuple[int, ...] = BATCHES,
    d: int = D,
    n_elements: int = N_ELEMENTS,
    length: int = LENGTH,
) -> dict[str, Any]:
    """Time products, an addition and the parts of an attention.

    Returns "batches"; "product": for each batch b nanoseconds for 1,000 operations of
    the product of (b, d) with (d, d), which has 2 · b · d² of them; "addition": the
    same of adding n_elements numbers in pairs; and milliseconds of the parts of an
    attention over "length" tokens, each into memory that is there already: "scores",
    "scaling", "softmax", "weighted sum"; and of all of it as usual, "attention".
    """
    results: dict[str, Any] = {"batches": [*batches], "length": length}
    with seeded(seed), torch.inference_mode():
        matrix = torch.randn(d, d)
        results["product"] = []
        for b in batches:
            operands = torch.randn(b, d), matrix
            product = partial(torch.mm, *operands, out=torch.empty(b, d))
            seconds = processor_seconds(product)
            results["product"].append(round(1e12 * seconds / (2 * b * d**2), 2))
        x, output = torch.randn(n_elements), torch.empty(n_elements)
        seconds = processor_seconds(lambda: torch.add(x, x, out=output))
        results["addition"] = round(1e12 * seconds / n_elements, 2)
        results |= _parts_of_attention(length)
    return results


def _parts_of_attention(n: int) -> dict[str, float]:
    q, k, v = torch.randn(3, n, D_K)
    scores, weights = torch.empty(2, n, n)
    parts = {
        "scores": lambda: torch.mm(q, k.T, out=scores),
        "scaling": lambda: torch.div(scores, math.sqrt(D_K), out=weights),
        "softmax": lambda: torch.softmax(scores, dim=-1, out=weights),
        "weighted sum": lambda: torch.mm(weights, v),
        "attention": lambda: (q @ k.T / math.sqrt(D_K)).softmax(dim=-1) @ v,
    }
    return {
        name: round(1e3 * processor_seconds(part), 2) for name, part in parts.items()
    }
