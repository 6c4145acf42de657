"""Attention that never holds the n × m scores, forward and back, on a GPU.

``flash_attention`` is what ``course_lib.tiling.tiled_attention`` is in NumPy, with its
gradients. This module checks its arguments, chooses the size of the blocks, and joins
the kernels of ``course_lib.nn.flash_kernels`` into a function that PyTorch can
differentiate.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, NamedTuple

import torch
from torch import Tensor

from course_lib.nn import arguments
from course_lib.nn.modern_block import query_groups

DTYPES = (torch.float16, torch.bfloat16, torch.float32)
LARGEST_GRID = 65_535  # batches, and heads, that CUDA can start at once


class Sizes(NamedTuple):
    """Rows of a block; warps that share it; how many blocks are loaded at a time."""

    queries: int
    keys: int
    num_warps: int
    num_stages: int


# By bytes of a number and by d_k, for each of the kernels: the largest blocks of which
# Triton's compiler keeps all, or nearly all, in the registers of GPUs of compute
# capability 8.0 and 9.0, and that fit the shared memory of every GPU from 8.0 on.
KERNELS = ("forward", "backward_queries", "backward_keys")
BLOCKS = {
    (2, 32): ((128, 64, 4, 3), (64, 64, 4, 2), (64, 64, 4, 2)),
    (2, 64): ((128, 64, 4, 3), (128, 64, 8, 2), (64, 128, 8, 2)),
    (2, 128): ((128, 64, 8, 3), (64, 64, 4, 2), (32, 128, 8, 2)),
    (2, 256): ((64, 32, 8, 2), (32, 32, 4, 2), (32, 32, 4, 2)),
    (4, 32): ((32, 32, 4, 2), (32, 32, 4, 2), (32, 32, 4, 2)),
    (4, 64): ((32, 32, 4, 2), (32, 32, 4, 2), (32, 32, 4, 2)),
    (4, 128): ((32, 32, 4, 2), (32, 32, 8, 1), (32, 32, 8, 1)),
    (4, 256): ((16, 32, 8, 1), (16, 16, 8, 1), (16, 16, 8, 1)),
}


def flash_attention(q: Tensor, k: Tensor, v: Tensor, causal: bool = False) -> Tensor:
    """Compute attention, and its gradients, in memory that grows with n and not n².

    q : (batch, n_heads, n, d_k), one query per row; d_k is 16, 32, 64, 128 or 256
    k : (batch, n_kv_heads, m, d_k), one key per row; n_kv_heads divides n_heads
    v : (batch, n_kv_heads, m, d_k), one value per row
    causal : whether query i attends to keys 0 … i alone, also where n and m differ, as
        with ``causal_mask(n, m)`` and with ``is_causal`` of PyTorch's
        ``scaled_dot_product_attention``

    Returns the output (batch, n_heads, n, d_k): row i is the mean of the values,
    weighted for query i, as that of ``grouped_query_attention``. All three tensors hold
    float16, bfloat16 or float32, and so does the output; sums are float32. Queries
    without keys, m = 0, get zeros. The arguments are not modified. It can be
    differentiated once.

    It needs Triton (``pip install 'attention-course[kernel]'``, on Linux) and an NVIDIA
    GPU of compute capability 7.0, for bfloat16 8.0, or more; before 8.0 Triton does not
    use the tensor cores. With TRITON_INTERPRET=1 in the environment, before Triton is
    imported, it runs on any processor, slowly.
    Raises ``TypeError`` or ``ValueError`` for tensors that do not fit, ``ImportError``
    without Triton, and ``RuntimeError`` for a device that cannot do it.
    Source: Dao (2023), FlashAttention-2: Faster Attention with Better Parallelism and
    Work Partitioning, algorithms 1 and 2.

    >>> q = k = v = torch.ones(1, 4, 5, 16, device="cuda")  # doctest: +SKIP
    >>> flash_attention(q, k, v, causal=True).shape  # doctest: +SKIP
    torch.Size([1, 4, 5, 16])
    >>> q = k = v = torch.ones(1, 4, 5, 24)
    >>> flash_attention(q, k, v)
    Traceback (most recent call last):
    ValueError: d_k must be 16, 32, 64, 128 or 256, got 24
    """
    _check(q, k, v)
    if not isinstance(causal, bool):
        raise TypeError(f"causal must be True or False, got {causal!r}")
    require_device(q.device, q.dtype)
    with _in_words(q):
        # The kernels read rows whose numbers are neighbours; all else may be apart.
        q, k, v = (x if x.stride(-1) == 1 else x.contiguous() for x in (q, k, v))
        output: Tensor = _FlashAttention.apply(q, k, v, causal)
    return output


class _FlashAttention(torch.autograd.Function):
    """Attention for PyTorch's autograd; of each row it keeps the log-sum-exp."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
        output = torch.empty_like(q)
        log_sum_exp = q.new_empty(q.shape[:3], dtype=torch.float32)
        tensors = (*map(_rows, (q, k, v, output)), log_sum_exp)
        _launch("forward", q, k, causal, *tensors)
        ctx.save_for_backward(q, k, v, output, log_sum_exp)
        ctx.causal = causal
        return output

    @staticmethod
    def backward(ctx: Any, doutput: Tensor) -> tuple[Tensor | None, ...]:
        if torch.is_grad_enabled():  # else these gradients would count as constants
            raise RuntimeError(
                "flash_attention can be differentiated once: leave out create_graph, "
                "or use attention"
            )
        q, k, v, output, log_sum_exp = ctx.saved_tensors
        with _in_words(q):
            if doutput.stride(-1) != 1:
                doutput = doutput.contiguous()
            dq, dk, dv = (torch.empty_like(x) for x in (q, k, v))
            delta = torch.empty_like(log_sum_exp)
            inputs = (*map(_rows, (q, k, v, output)), log_sum_exp, _rows(doutput))
            _launch("backward_queries", q, k, ctx.causal, *inputs, _rows(dq), delta)
            inputs = (*map(_rows, (q, k, v)), log_sum_exp, _rows(doutput))
            results = _rows(dk), _rows(dv), delta
            _launch("backward_keys", q, k, ctx.causal, *inputs, *results)
        return dq, dk, dv, None


def _rows(x: Tensor) -> tuple[Tensor, int, int, int]:
    """Return a tensor as kernels take it: how far apart its rows are comes along."""
    return x, x.stride(0), x.stride(1), x.stride(2)


def _launch(kernel: str, q: Tensor, k: Tensor, causal: bool, *tensors: Any) -> None:
    """Start one program of a kernel for each block of rows, head and sequence."""
    batch, n_heads, n, d_k = q.shape
    _, n_kv_heads, m, _ = k.shape
    # Triton uses tensor cores from capability 8.0 on; without, blocks must be small.
    old = q.is_cuda and torch.cuda.get_device_capability(q.device) < (8, 0)
    sizes = block_sizes(kernel, d_k, 4 if old else q.itemsize)
    if kernel == "backward_keys":
        grid = math.ceil(m / sizes.keys), n_kv_heads, batch
    else:
        grid = math.ceil(n / sizes.queries), n_heads, batch
    getattr(kernels(), kernel)[grid](
        *tensors,
        *(n, m, d_k**-0.5),
        GROUP=n_heads // n_kv_heads,
        D_K=d_k,
        QUERIES=sizes.queries,
        KEYS=sizes.keys,
        CAUSAL=causal,
        # Tensor cores have 10 bits of a float32's 23: three products make up for it.
        PRECISION="ieee" if old else "tf32x3",
        num_warps=sizes.num_warps,
        num_stages=sizes.num_stages,
        enable_fp_fusion=True,
    )


def block_sizes(kernel: str, d_k: int, n_bytes: int) -> Sizes:
    """Return the blocks of a kernel.

    kernel : "forward", or one of the two backward ones
    d_k : how long a query is
    n_bytes : how many bytes a number has

    >>> block_sizes("forward", 64, 2)
    Sizes(queries=128, keys=64, num_warps=4, num_stages=3)
    """
    return Sizes(*BLOCKS[n_bytes, max(d_k, 32)][KERNELS.index(kernel)])


def kernels() -> ModuleType:
    """Return the module of the kernels; importing it needs Triton."""
    try:
        from course_lib.nn import flash_kernels
    except ModuleNotFoundError as missing:
        if missing.name != "triton":
            raise
        raise ImportError(
            "flash_attention needs Triton, which is not installed: "
            "pip install 'attention-course[kernel]' does that on Linux"
        ) from None
    return flash_kernels


def require_device(device: torch.device, dtype: torch.dtype) -> None:
    """Refuse a device that cannot run the kernels with numbers of this dtype."""
    if kernels().INTERPRETED.value:
        return
    if device.type != "cuda":
        raise RuntimeError(
            f"flash_attention needs an NVIDIA GPU, and q is on {device}: move q, k and "
            "v to cuda, or set TRITON_INTERPRET=1 before Python starts, to try it "
            "slowly"
        )
    capability = torch.cuda.get_device_capability(device)
    least = (8, 0) if dtype == torch.bfloat16 else (7, 0)
    if capability < least:
        has, needs = (".".join(map(str, each)) for each in (capability, least))
        raise RuntimeError(
            f"flash_attention in {_name(dtype)} needs a GPU of compute capability "
            f"{needs} or more, and {device} has {has}: use attention instead"
        )


def _check(q: Tensor, k: Tensor, v: Tensor) -> None:
    arguments.tensors(
        "q (batch, n_heads, n, d_k), k (batch, n_kv_heads, m, d_k), "
        "v (batch, n_kv_heads, m, d_k)",
        *(q, k, v),
    )
    query_groups(q.shape[1], k.shape[1])
    for name, x in (("q", q), ("k", k), ("v", v)):  # under autocast they may differ
        if x.dtype not in DTYPES or x.dtype != q.dtype:
            names = "float16, bfloat16 or float32"
            expected = _name(q.dtype) if q.dtype in DTYPES else names
            raise TypeError(f"{name} must hold {expected}, got {_name(x.dtype)}")
    if q.shape[-1] not in (16, 32, 64, 128, 256):
        raise ValueError(f"d_k must be 16, 32, 64, 128 or 256, got {q.shape[-1]}")
    if max(q.shape[:2]) > LARGEST_GRID:
        raise ValueError(
            f"batch and n_heads must be at most {LARGEST_GRID}, got {q.shape[0]} and "
            f"{q.shape[1]}"
        )


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


@contextmanager
def _in_words(q: Tensor) -> Iterator[None]:
    """Run on the device of q, and say in a sentence if its memory is too small."""
    out_of_resources: Any = kernels().triton.OutOfResources
    shape = f"q {tuple(q.shape)} in {_name(q.dtype)}"
    try:
        with torch.cuda.device_of(q):
            yield
    except out_of_resources as error:
        raise RuntimeError(
            f"flash_attention of {shape} needs more {error.name} than {q.device} has, "
            f"{error.required} of {error.limit}: use float16 or bfloat16, a smaller "
            "d_k, or attention instead"
        ) from None
    except torch.OutOfMemoryError:
        raise RuntimeError(
            f"flash_attention of {shape} needs more memory than {q.device} has left: "
            "use a smaller batch or shorter sequences"
        ) from None
