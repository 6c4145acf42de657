"""What the tests of ``flash_attention`` run, where there need be no GPU.

Triton's interpreter runs a kernel block by block in NumPy. It must be asked for before
a kernel is defined, so all of it happens in a process of its own, and no other test
meets it. The interpreter rounds to bfloat16 by cutting bits off, which a GPU does not:
differences in bfloat16 are larger here.
"""

import importlib.util
import math
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from autograder.course import Course
from course_lib.masks import causal_mask
from course_lib.nn import flash
from course_lib.nn.modern_block import grouped_query_attention

# Which Triton: the interpreters of 3.4 and 3.6 fail with today's NumPy. A PyTorch for
# GPUs brings a version of its own, so `make triton` puts the pinned one beside it.
PINNED = Path(__file__).with_name("requirements-triton.txt").read_text().split()[-1]
BUILD = Course.here().root / "build"
FOLDER = BUILD / "triton"


def is_in_environment() -> bool:
    """Decide whether the environment has Triton in the version that is pinned."""
    try:
        return f"triton=={metadata.version('triton')}" == PINNED
    except metadata.PackageNotFoundError:
        return False


def is_installed() -> bool:
    """Decide whether the tests have that version, from wherever."""
    return is_in_environment() or (FOLDER / "triton").is_dir()


RESULTS = ("output", "dq", "dk", "dv")


@contextmanager
def process_with_triton(*, interpreted: bool) -> Iterator[ProcessPoolExecutor]:
    """Start a process that can import Triton, with or without its interpreter."""
    context = get_context("spawn")
    with ProcessPoolExecutor(1, context, _prepare, (interpreted,)) as pool:
        yield pool


def _prepare(interpreted: bool) -> None:
    torch.set_num_threads(1)
    os.environ["TRITON_INTERPRET"] = "1" if interpreted else "0"
    os.environ["TRITON_CACHE_DIR"] = str(BUILD / "triton-cache")
    if not is_in_environment():
        sys.path.insert(0, str(FOLDER))


@dataclass(frozen=True)
class Configuration:
    """Sizes, dtype and memory layout of one call, and what its numbers are like."""

    dtype: torch.dtype = torch.float32
    batch: int = 1
    n_kv_heads: int = 1
    group: int = 1
    n: int = 5
    m: int = 7
    d_k: int = 16
    causal: bool = False
    layouts: tuple[str, str, str, str] = ("rows",) * 4  # of q, k, v, doutput
    scale: float = 1.0  # of q: logits grow with it
    blocks: tuple[int, int] | None = None  # queries and keys; None: the kernels' own
    seed: int = 0


def drawn(seed: int, *, own_blocks: bool = False) -> Configuration:
    """Draw a configuration, of small blocks if not the kernels' own."""
    rng = np.random.default_rng(seed)

    def one(*choices: Any) -> Any:
        return choices[int(rng.integers(len(choices)))]

    d_k = one(16, 16, 16, 32, 32, 64, 128, 256)
    few = (1,) if d_k > 32 else (1, 1, 2)  # the interpreter is slow
    return Configuration(
        dtype=flash.DTYPES[seed % 3],
        batch=one(*few),
        n_kv_heads=one(*few),
        group=one(1, 2, 3),
        n=int(rng.integers(1, 51)),
        m=int(rng.integers(1, 51)),
        d_k=d_k,
        causal=one(False, True),
        layouts=tuple(one(*LAYOUTS) for _ in range(4)),
        scale=one(0.1, 1.0, 1.0, 3.0),
        blocks=None if own_blocks else (one(16, 32, 64), one(16, 32, 64)),
        seed=seed,
    )


# How (batch, n_heads, n, d_k) can lie in memory.
LAYOUTS = ("rows", "heads inside", "columns", "every other", "turned", "expanded")


def in_layout(x: Tensor, layout: str) -> Tensor:
    """Return the same numbers in this layout; expanded: one head's stand for all.

    >>> in_layout(torch.ones(2, 3, 5, 16), "heads inside").stride()
    (240, 16, 48, 1)
    """
    if layout == "heads inside":  # as split_heads makes them
        return x.transpose(1, 2).contiguous().transpose(1, 2)
    if layout == "columns":
        return x.transpose(2, 3).contiguous().transpose(2, 3)
    if layout == "every other":
        return torch.stack([x, torch.full_like(x, torch.nan)], dim=-1)[..., 0]
    if layout == "turned":
        return x.permute(3, 2, 1, 0).contiguous().permute(3, 2, 1, 0)
    if layout == "expanded":
        return x[:, :1].expand_as(x)
    return x.contiguous()


def inputs(c: Configuration, device: str = "cpu") -> list[Tensor]:
    """Draw q, k, v and the gradient of the output, in their layouts."""
    rng = np.random.default_rng(c.seed)
    of_queries = (c.batch, c.n_kv_heads * c.group, c.n, c.d_k)
    of_keys = (c.batch, c.n_kv_heads, c.m, c.d_k)
    made = []
    for shape, layout in zip(
        (of_queries, of_keys, of_keys, of_queries), c.layouts, strict=True
    ):
        numbers = torch.tensor(rng.normal(size=shape)).to(device, c.dtype)
        made.append(in_layout(numbers, layout))
    made[0] = in_layout(made[0] * c.scale, c.layouts[0])
    return made


def results(q: Tensor, k: Tensor, v: Tensor, doutput: Tensor, attend: Any) -> list:
    """Return the output of attend(q, k, v) and the gradients of q, k and v."""
    leaves = [x.detach().requires_grad_() for x in (q, k, v)]
    output = attend(*leaves)
    return [output.detach(), *torch.autograd.grad(output, leaves, doutput)]


def expected(c: Configuration, tensors: list[Tensor]) -> list[Tensor]:
    """Compute output and gradients in float64, by the course's and PyTorch's functions.

    Both compute the same: that is checked, too.
    """
    mask = torch.from_numpy(causal_mask(c.n, c.m)) if c.causal else None
    tensors = [x.double() for x in tensors]
    mask = None if mask is None else mask.to(tensors[0].device)

    def ours(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return grouped_query_attention(q, k, v, mask)

    def theirs(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return scaled_dot_product_attention(
            q, k, v, is_causal=c.causal, enable_gqa=True
        )

    first, second = results(*tensors, ours), results(*tensors, theirs)
    for one, other in zip(first, second, strict=True):
        # Logits near 1e4 are known to 1e-12 in float64.
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)
    return first


def differences(c: Configuration, device: str = "cpu") -> dict[str, float]:
    """Return how far ``flash_attention`` and its gradients are from float64's.

    Each is the largest difference, or its share of the largest number if that is above
    1; ``math.inf`` if a number is not finite. The arguments must stay as they are, and
    results have their dtype and shape.
    """
    tensors = inputs(c, device)
    copies = [x.clone() for x in tensors]
    q, k, v, doutput = tensors
    with _blocks(c.blocks):
        actual = results(q, k, v, doutput, _flash(c))
    for x, copy in zip(tensors, copies, strict=True):
        torch.testing.assert_close(x, copy, rtol=0, atol=0, equal_nan=True)
    shares = {}
    wanted = expected(c, tensors)
    for name, like, mine, right in zip(
        RESULTS, (q, q, k, v), actual, wanted, strict=True
    ):
        assert mine.shape == like.shape
        assert mine.dtype == c.dtype
        if right.numel() == 0:
            shares[name] = 0.0
        elif not mine.isfinite().all():
            shares[name] = math.inf
        else:
            largest = max(1.0, right.abs().max().item())
            shares[name] = (mine.double() - right).abs().max().item() / largest
    return shares


@contextmanager
def _blocks(sizes: tuple[int, int] | None) -> Iterator[None]:
    """Let the kernels use blocks of these sizes."""
    original = flash.block_sizes
    if sizes is not None:
        flash.block_sizes = lambda *_: flash.Sizes(*sizes, 4, 1)
    try:
        yield
    finally:
        flash.block_sizes = original


def differences_of_changed(
    line: str, becomes: str, path: Path, c: Configuration
) -> dict[str, float]:
    """Compare as ``differences`` does, with a line of the kernels changed."""
    text = Path(flash.kernels().__file__).read_text(encoding="utf-8")
    assert text.count(line) >= 1, line
    path.write_text(text.replace(line, becomes), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    changed = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(changed)
    original, flash.kernels = flash.kernels, lambda: changed
    try:
        return differences(c)
    finally:
        flash.kernels = original


def numerical_gradients(c: Configuration) -> list[tuple[float, float]]:
    """Return slopes along drawn directions: by differences of outputs, by gradients."""
    *leaves, doutput = inputs(c)
    rng = np.random.default_rng(c.seed + 1)
    step, slopes = 0.03, []
    _, *gradients = results(*leaves, doutput, _flash(c))
    for i, gradient in enumerate(gradients):
        direction = torch.tensor(rng.normal(size=gradient.shape)).to(c.dtype)
        ends = []
        for sign in (1, -1):
            moved = [*leaves]
            moved[i] = leaves[i] + sign * step * direction
            ends.append((_flash(c)(*moved).double() * doutput).sum().item())
        by_gradient = (gradient.double() * direction).sum().item()
        slopes.append(((ends[0] - ends[1]) / (2 * step), by_gradient))
    return slopes


def _flash(c: Configuration) -> Any:
    return lambda q, k, v: flash.flash_attention(q, k, v, causal=c.causal)


def words_about_second_derivatives() -> str:
    """Return what is said about them; a kernel runs before."""
    q = torch.ones(1, 2, 3, 16, requires_grad=True)
    output = flash.flash_attention(q, q, q)
    try:
        torch.autograd.grad(output.sum(), q, create_graph=True)
    except RuntimeError as error:
        return str(error)
    return "no error"


def shared_memory(kernel: str, d_k: int, dtype: torch.dtype, capability: int) -> int:
    """Compile a kernel for a GPU, which need not be there; return the bytes it shares.

    This is what the kernel needs of the fast memory that the threads of a block share.
    """
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    queries, keys, num_warps, num_stages = flash.block_sizes(
        kernel, d_k, dtype.itemsize
    )
    capitals = {
        **{"GROUP": 2, "D_K": d_k, "QUERIES": queries, "KEYS": keys, "CAUSAL": True},
        "PRECISION": "tf32x3",
    }
    types = {torch.bfloat16: "*bf16", torch.float16: "*fp16", torch.float32: "*fp32"}
    known = {
        **{"n": "i32", "m": "i32", "scale": "fp32"},
        **{"log_sum_exp": "*fp32", "delta": "*fp32"},
        **dict.fromkeys(capitals, "constexpr"),
    }
    function = getattr(flash.kernels(), kernel)
    rows = (types[dtype], "i32", "i32", "i32")
    signature = {name: known.get(name, rows) for name in function.arg_names}
    by_16 = [
        ["tt.divisibility", 16]
    ]  # addresses and distances, as PyTorch's mostly are
    attributes: dict[tuple[int, ...], Any] = {}
    constants: dict[tuple[int, ...], Any] = {}
    for i, name in enumerate(function.arg_names):
        if name in capitals:
            constants[(i,)] = capitals[name]
        elif signature[name] == rows:
            attributes |= {(i, part): by_16 for part in range(4)}
        elif name != "scale":
            attributes[(i,)] = by_16
    compiled = triton.compile(
        ASTSource(function, signature, constants, attributes),
        target=GPUTarget("cuda", capability, 32),
        options={
            **{"num_warps": num_warps, "num_stages": num_stages},
            "enable_fp_fusion": True,
        },
    )
    return int(compiled.metadata.shared)
