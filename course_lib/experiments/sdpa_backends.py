"""Which of PyTorch's backends computes an attention, and what it costs (lesson 14).

On a CPU, ``scaled_dot_product_attention`` has two: "flash", by tiles, and "math", with
the whole table of weights.
"""

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.profiler import ProfilerActivity, profile

from course_lib.lessons.environment import seeded
from course_lib.lessons.measuring import processor_seconds, torch_peak

LENGTH = 2048
N_HEADS, D_K = 8, 64
BACKENDS = {
    "flash": SDPBackend.FLASH_ATTENTION,
    "math": SDPBackend.MATH,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
}
CASES = ("plain", "causal", "boolean mask", "float mask", "dropout", "grouped queries")


def full(seed: int, n: int = LENGTH) -> dict[str, Any]:
    """Try each kind of call with each backend, and time those that run.

    Returns "length"; for each case its "default, plain", the backend that PyTorch takes
    when it is not told; for each case and backend "flash, plain": milliseconds and MiB
    held at most, or None if that backend refuses; and the same of
    ``nn.MultiheadAttention`` "with weights" and "without weights".
    """
    results: dict[str, Any] = {"length": n}
    with seeded(seed), torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # each refusal comes with one
        for case in CASES:
            call = _call(case, n)
            results[f"default, {case}"] = backend_of(call)
            for name, backend in BACKENDS.items():
                results[f"{name}, {case}"] = _cost(call, backend)
        layer = nn.MultiheadAttention(N_HEADS * D_K, N_HEADS, batch_first=True)
        x = torch.randn(1, n, N_HEADS * D_K)
        for name, need in {"with weights": True, "without weights": False}.items():
            results[name] = _cost(partial(layer, x, x, x, need_weights=need))
    return results


def backend_of(call: Callable[[], object]) -> str:
    """Return which backend a call of PyTorch's attention runs: "flash" or "math".

    >>> q = torch.ones(1, 1, 3, 4)
    >>> backend_of(lambda: functional.scaled_dot_product_attention(q, q, q))
    'flash'
    """
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        call()
    names = " ".join(event.key for event in profiled.key_averages())
    return "flash" if "_flash_attention" in names else "math"


def runs_with(call: Callable[[], object], backend: SDPBackend) -> bool:
    """Try whether a backend can do a call of PyTorch's attention on this machine."""
    try:
        with warnings.catch_warnings(), sdpa_kernel(backend):
            warnings.simplefilter("ignore")
            call()
    except RuntimeError:
        return False
    return True


def _call(case: str, n: int) -> Callable[[], Tensor]:
    q, k, v = torch.randn(3, 1, N_HEADS, n, D_K)
    options: dict[str, Any] = {}
    if case == "causal":
        options["is_causal"] = True
    elif case == "boolean mask":
        options["attn_mask"] = (torch.rand(n, n) < 0.5).fill_diagonal_(True)
    elif case == "float mask":
        options["attn_mask"] = torch.randn(n, n)
    elif case == "dropout":
        options["dropout_p"] = 0.1
    elif case == "grouped queries":
        k, v = k[:, : N_HEADS // 4], v[:, : N_HEADS // 4]
        options["enable_gqa"] = True
    return lambda: functional.scaled_dot_product_attention(q, k, v, **options)


def _cost(
    call: Callable[[], object], backend: SDPBackend | None = None
) -> dict[str, float] | None:
    if backend is not None and not runs_with(call, backend):
        return None
    with nullcontext() if backend is None else sdpa_kernel(backend):
        seconds = processor_seconds(call, n_repeats=3)
        peak = torch_peak(call)
    return {"milliseconds": round(1e3 * seconds, 1), "MiB": round(peak / 2**20, 1)}
