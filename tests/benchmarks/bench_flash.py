"""What ``flash_attention`` costs on a GPU beside the backends of PyTorch's SDPA.

In bfloat16, with 16,384 tokens in each batch, however long its sequences are, and heads
that make d_model 2048, as in the papers of FlashAttention. Times are medians of
Triton's ``do_bench``, which empties the cache between runs; memory is the largest that
was in use at a time, above the arguments. A backend that cannot do a length, for one
because its scores do not fit into memory, is named without a value.
"""

from collections.abc import Callable, Iterator
from itertools import product

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from autograder.course import Course
from course_lib.nn.flash import flash_attention
from tests.benchmarks.figure import Figure, against

TOKENS, D_MODEL = 16_384, 2048
LENGTHS = (512, 1024, 2048, 4096, 8192, 16_384)
HEAD_SIZES = (64, 128)
BACKENDS = {
    "flash": SDPBackend.FLASH_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
    "math": SDPBackend.MATH,
}
Attend = Callable[[Tensor, Tensor, Tensor], Tensor]
Runs = dict[str, Callable[[], object]]  # forward, forward and backward


def measure(course: Course, *, quick: bool = False) -> list[Figure]:
    if not torch.cuda.is_available():
        print("flash: it measures a GPU, and there is no CUDA device here")
        return []
    lengths, head_sizes = (
        (LENGTHS[:2], HEAD_SIZES[:1]) if quick else (LENGTHS, HEAD_SIZES)
    )
    return [
        figure
        for d_k, causal, n in product(head_sizes, (False, True), lengths)
        for figure in _compared(d_k, causal, n)
    ]


def _compared(d_k: int, causal: bool, n: int) -> Iterator[Figure]:
    shape = TOKENS // n, D_MODEL // d_k, n, d_k
    options = {"dtype": torch.bfloat16, "device": "cuda", "requires_grad": True}
    q, k, v = (torch.randn(shape, **options) for _ in range(3))
    doutput = torch.randn(shape, dtype=torch.bfloat16, device="cuda")
    ours = _runs(lambda q, k, v: flash_attention(q, k, v, causal), q, k, v, doutput)

    def theirs(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return scaled_dot_product_attention(q, k, v, is_causal=causal)

    kind = f"d_k {d_k}, n {n}{', causal' if causal else ''}"
    for mode, run in ours.items():
        time, memory = _milliseconds(run), _megabytes(run)
        for name, backend in BACKENDS.items():
            figures = f"{mode}, {kind}", f"memory of {mode}, {kind}"
            try:
                with sdpa_kernel(backend):
                    peer = _runs(theirs, q, k, v, doutput)[mode]
                    peer_time, peer_memory = _milliseconds(peer), _megabytes(peer)
            except RuntimeError:  # out of memory is one, and so is what it lacks
                yield Figure(figures[0], time, "ms", f"{name}: cannot")
                continue
            yield against(figures[0], time, "ms", name, peer_time)
            yield against(figures[1], memory, "MB", name, peer_memory)


def _runs(attend: Attend, q: Tensor, k: Tensor, v: Tensor, doutput: Tensor) -> Runs:
    def forward() -> Tensor:
        with torch.no_grad():
            return attend(q, k, v)

    def both() -> tuple[Tensor, ...]:
        return torch.autograd.grad(attend(q, k, v), (q, k, v), doutput)

    return {"forward": forward, "forward and backward": both}


def _milliseconds(run: Callable[[], object]) -> float:
    from triton.testing import do_bench  # where there is a GPU, PyTorch brings it

    return float(do_bench(run, return_mode="median"))


def _megabytes(run: Callable[[], object]) -> float:
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    run()
    return (torch.cuda.max_memory_allocated() - before) / 1e6
