"""``flash_attention`` equals attention in float64, forward and back, or says why not.

Without a GPU the kernels run in Triton's interpreter (``tests.nn.flash_runs``): that
tries every line of them, in small blocks, but neither compiling nor speed.
"""

import math
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch

import course_lib.nn
from course_lib.nn import flash
from course_lib.nn.flash import flash_attention
from tests.nn.flash_runs import (
    Configuration,
    differences,
    differences_of_changed,
    drawn,
    is_in_environment,
    is_installed,
    numerical_gradients,
    process_with_triton,
    shared_memory,
    words_about_second_derivatives,
)

FEW, MANY = 9, 200
HALF, BRAIN, SINGLE = torch.float16, torch.bfloat16, torch.float32
# Some times the largest differences of 200 configurations, 2e-6, 1.2e-3, 2.1e-2: a
# GPU's float32 has other sums. ``differences`` says what they are shares of.
CLOSE = {SINGLE: 1e-5, HALF: 3e-3, BRAIN: 5e-2}


def needs_triton(test):
    """Skip a test without Triton; leave it to ``make test-all`` if that installs it."""
    skip = pytest.mark.skipif(
        not is_installed(), reason="Triton is not installed: `make triton` does that"
    )
    return skip(test if is_in_environment() else pytest.mark.thorough(test))


@pytest.fixture(scope="module")
def interpreter():
    with process_with_triton(interpreted=True) as process:
        yield process


@pytest.fixture(scope="module")
def compiler():
    with process_with_triton(interpreted=False) as process:
        yield process


def worst(process, configuration):
    return max(process.submit(differences, configuration).result().values())


def seeds():
    few = range(FEW)
    return [
        *few,
        *(pytest.param(n, marks=pytest.mark.thorough) for n in range(FEW, MANY)),
    ]


@needs_triton
@pytest.mark.parametrize("seed", seeds())
def test_flash_matches_float64(interpreter, seed):
    configuration = drawn(seed)
    assert worst(interpreter, configuration) < CLOSE[configuration.dtype]


CASES = {
    "one query": Configuration(n=1, m=9),
    "one key": Configuration(n=9, m=1, causal=True),
    "one of each": Configuration(n=1, m=1, causal=True),
    "no query": Configuration(n=0, m=4),
    "no key": Configuration(n=4, m=0),
    "no key, causal": Configuration(n=4, m=0, causal=True),
    "no sequence": Configuration(batch=0),
    "more queries, causal": Configuration(n=41, m=19, causal=True, blocks=(16, 16)),
    "more keys, causal": Configuration(n=19, m=41, causal=True, blocks=(16, 16)),
    "whole blocks": Configuration(n=32, m=64, blocks=(16, 32)),
    "whole blocks, causal": Configuration(n=64, m=64, causal=True, blocks=(32, 16)),
    "groups": Configuration(batch=2, n_kv_heads=2, group=3, n=9, m=11, causal=True),
    "one head of keys": Configuration(group=4, n=20, m=20, causal=True),
    "columns": Configuration(batch=2, n_kv_heads=2, layouts=("columns",) * 4),
    "turned": Configuration(batch=2, n_kv_heads=2, layouts=("turned",) * 4),
}


@needs_triton
@pytest.mark.parametrize("name", CASES)
def test_flash_matches_float64_at_the_edges(interpreter, name):
    assert worst(interpreter, CASES[name]) < CLOSE[SINGLE]


@needs_triton
@pytest.mark.thorough
@pytest.mark.parametrize("d_k", [16, 32, 64, 128, 256])
@pytest.mark.parametrize("dtype", flash.DTYPES)
def test_flash_matches_float64_in_its_own_blocks(interpreter, dtype, d_k):
    configuration = Configuration(dtype, d_k=d_k, n=150, m=70, causal=True)
    assert worst(interpreter, configuration) < CLOSE[dtype]


@needs_triton
@pytest.mark.parametrize("causal", [False, True])
def test_extreme_logits_stay_finite(interpreter, causal):
    extreme = Configuration(n=40, m=40, causal=causal, scale=1e4, blocks=(16, 16))
    shares = interpreter.submit(differences, extreme).result()
    # Logits of 1e4 are known to 1e-3 in float32, and so are weights; dk is a sum of
    # numbers as large as q, 1e4.
    assert shares["output"] < 1e-3
    assert all(map(math.isfinite, shares.values()))


@needs_triton
@pytest.mark.parametrize("causal", [False, True])
def test_gradients_match_numerical_ones(interpreter, causal):
    small = Configuration(n_kv_heads=2, group=2, n=6, m=7, causal=causal)
    for numerical, ours in interpreter.submit(numerical_gradients, small).result():
        assert abs(ours) > 0.1
        assert numerical == pytest.approx(ours, abs=1e-2)


# What to change in the kernels, and into what; each leaves a function that runs.
WRONG = {
    "output is not rescaled": ("output * factor[:, None]", "output"),
    "sum is not rescaled": ("total * factor +", "total +"),
    "dq lacks the scale": ("dq_sum * scale", "dq_sum"),
    "dk lacks the scale": ("dk_sum * scale", "dk_sum"),
    "dq lacks delta": ("(dweights - d[:, None])", "dweights"),
    "dk lacks delta": ("(dweights - d[None, :])", "dweights"),
    "a query sees the next key": ("keys <= row +", "keys <= 1 + row +"),
    "a query sees a key too few": ("keys <= row +", "keys <= -1 + row +"),
    "zeros behind the last key count": ("keys < m", "keys < m + 1"),
    "diagonal blocks count as whole": ("cdiv(key + KEYS - 1,", "cdiv(key,"),
    "the first block of queries is skipped": (
        "key // QUERIES *",
        "(key // QUERIES + 1) *",
    ),
    "one head of keys serves all": ("batch, head // GROUP)", "batch, 0)"),
    "a group's first head alone counts": (
        "kv_head * GROUP + GROUP)",
        "kv_head * GROUP + 1)",
    ),
    "natural logarithm": ("tl.log2(", "tl.log("),
    "scale without log2 e": ("(scale * LOG2_E)", "scale"),
}
QUICK = ("output is not rescaled", "dq lacks the scale")


@needs_triton
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in QUICK else pytest.mark.thorough)
        for name in WRONG
    ],
)
def test_wrong_kernel_is_noticed(interpreter, tmp_path, name):
    sizes = {"n_kv_heads": 2, "group": 2, "n": 43, "m": 40}
    configuration = Configuration(**sizes, causal=True, blocks=(32, 16))
    changed = interpreter.submit(
        differences_of_changed, *WRONG[name], tmp_path / "changed.py", configuration
    )
    assert max(changed.result().values()) > 100 * CLOSE[SINGLE]


@needs_triton
def test_second_derivative_is_refused(interpreter):
    words = interpreter.submit(words_about_second_derivatives).result()
    assert words == (
        "flash_attention can be differentiated once: leave out create_graph, or use "
        "attention"
    )


# Bytes that a program may share: of GPUs like the RTX 3090 and 4090, the fewest from
# compute capability 8.0 on, and of the H100.
LIMITS = {86: 101_376, 90: 232_448}


@needs_triton
@pytest.mark.thorough
@pytest.mark.parametrize("capability", LIMITS)
@pytest.mark.parametrize("kernel", flash.KERNELS)
@pytest.mark.parametrize("d_k", [16, 32, 64, 128, 256])
@pytest.mark.parametrize("dtype", [BRAIN, SINGLE])
def test_kernel_compiles_within_shared_memory(compiler, dtype, d_k, kernel, capability):
    used = compiler.submit(shared_memory, kernel, d_k, dtype, capability).result()
    assert 0 < used <= LIMITS[capability]


# What is refused needs no Triton to be tried.


def fake_kernels(**kernels):
    """Return a module of kernels for GPUs, as far as checks need it."""
    triton = SimpleNamespace(OutOfResources=FakeOutOfResources)
    return SimpleNamespace(
        triton=triton, INTERPRETED=SimpleNamespace(value=False), **kernels
    )


class FakeOutOfResources(Exception):
    """What Triton raises where a kernel needs more than a GPU has."""

    name, required, limit = "shared memory", 200_000, 101_376


class Failing:
    """A kernel that raises when it is started."""

    def __init__(self, error):
        self.error = error

    def __getitem__(self, grid):
        def start(*arguments, **options):
            raise self.error

        return start


def tensors(dtype=SINGLE, q=(2, 4, 5, 16), k=(2, 2, 7, 16), v=(2, 2, 7, 16)):
    return [torch.ones(*shape, dtype=dtype) for shape in (q, k, v)]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (
            {"q": (4, 5, 16)},
            "q must have shape (batch, n_heads, n, d_k), got (4, 5, 16)",
        ),
        ({"k": (3, 2, 7, 16)}, "with batch=2, got (3, 2, 7, 16)"),
        ({"k": (2, 2, 7, 32)}, "with d_k=16, got (2, 2, 7, 32)"),
        ({"v": (2, 2, 6, 16)}, "with m=7, got (2, 2, 6, 16)"),
        ({"v": (2, 1, 7, 16)}, "with n_kv_heads=2, got (2, 1, 7, 16)"),
        ({"q": (2, 3, 5, 16)}, "n_heads=3 is not divisible by n_kv_heads=2"),
        ({"q": (2, 0, 5, 16)}, "n_heads must be at least 1, got 0"),
        (
            {name: (2, 2, 7, 24) for name in "qkv"},
            "d_k must be 16, 32, 64, 128 or 256, got 24",
        ),
        (
            {name: (2, 2, 7, 512) for name in "qkv"},
            "d_k must be 16, 32, 64, 128 or 256, got 512",
        ),
    ],
)
def test_shapes_that_do_not_fit_are_refused(changed, words):
    with pytest.raises(ValueError) as caught:
        flash_attention(*tensors(**changed))
    assert words in str(caught.value)


def test_dtypes_that_do_not_fit_are_refused():
    q, k, v = tensors()
    with pytest.raises(TypeError, match="v must hold float32, as what it meets, got"):
        flash_attention(q, k, v.half())
    with (
        torch.autocast("cpu", BRAIN),
        pytest.raises(TypeError, match="v must hold float32, got float16"),
    ):
        flash_attention(q, k, v.half())
    names = "q must hold float16, bfloat16 or float32, got float64"
    with pytest.raises(TypeError, match=names):
        flash_attention(q.double(), k.double(), v.double())
    with pytest.raises(TypeError, match="q must hold floats, got int64"):
        flash_attention(q.long(), k, v)


def test_devices_that_do_not_fit_are_refused():
    q, k, v = tensors()
    with pytest.raises(
        ValueError, match="k must be on cpu, as what it meets, got meta"
    ):
        flash_attention(q, k.to("meta"), v)


def test_causal_that_is_no_boolean_is_refused():
    with pytest.raises(TypeError, match="causal must be True or False, got tensor"):
        flash_attention(*tensors(), torch.ones(5, 7, dtype=torch.bool))


def test_more_than_a_grid_holds_is_refused():
    x = torch.ones(1, 1, 1, 16).expand(65_536, 1, 1, 16)
    with pytest.raises(ValueError, match="at most 65535, got 65536 and 1"):
        flash_attention(x, x, x)


NEEDS_TRITON = (
    "flash_attention needs Triton, which is not installed: "
    "pip install 'attention-course[kernel]' does that on Linux"
)


def test_missing_triton_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "triton", None)
    monkeypatch.delitem(sys.modules, "course_lib.nn.flash_kernels", raising=False)
    monkeypatch.delattr(course_lib.nn, "flash_kernels", raising=False)
    with pytest.raises(ImportError) as caught:
        flash_attention(*tensors())
    assert str(caught.value) == NEEDS_TRITON


@pytest.mark.thorough
def test_course_lib_nn_imports_no_triton():
    code = (
        "import sys, course_lib.nn, course_lib.nn.flash; print('triton' in sys.modules)"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_processor_without_interpreter_is_refused(monkeypatch):
    monkeypatch.setattr(flash, "kernels", fake_kernels)
    with pytest.raises(RuntimeError) as caught:
        flash_attention(*tensors())
    assert str(caught.value) == (
        "flash_attention needs an NVIDIA GPU, and q is on cpu: move q, k and v to "
        "cuda, or set TRITON_INTERPRET=1 before Python starts, to try it slowly"
    )


@pytest.mark.parametrize(
    ("capability", "dtype", "words"),
    [
        ((6, 1), SINGLE, "in float32 needs a GPU of compute capability 7.0 or more"),
        ((6, 1), BRAIN, "in bfloat16 needs a GPU of compute capability 8.0 or more"),
        ((7, 5), BRAIN, "in bfloat16 needs a GPU of compute capability 8.0 or more"),
        ((7, 0), HALF, ""),
        ((8, 0), BRAIN, ""),
        ((12, 0), BRAIN, ""),
    ],
)
def test_old_gpu_is_refused(monkeypatch, capability, dtype, words):
    monkeypatch.setattr(flash, "kernels", fake_kernels)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: capability)
    device = torch.device("cuda:1")
    if not words:
        flash.require_device(device, dtype)
        return
    has = f"{words}, and cuda:1 has {capability[0]}.{capability[1]}: use attention"
    with pytest.raises(RuntimeError, match=has):
        flash.require_device(device, dtype)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            FakeOutOfResources(),
            "flash_attention of q (2, 4, 5, 16) in float32 needs more shared memory "
            "than cpu has, 200000 of 101376: use float16 or bfloat16, a smaller d_k, "
            "or attention instead",
        ),
        (
            torch.OutOfMemoryError("CUDA out of memory."),
            "flash_attention of q (2, 4, 5, 16) in float32 needs more memory than cpu "
            "has left: use a smaller batch or shorter sequences",
        ),
    ],
)
def test_too_little_memory_is_said_in_a_sentence(monkeypatch, error, words):
    module = fake_kernels(forward=Failing(error))
    monkeypatch.setattr(flash, "kernels", lambda: module)
    monkeypatch.setattr(flash, "require_device", lambda *_: None)
    with pytest.raises(RuntimeError) as caught:
        flash_attention(*tensors())
    assert str(caught.value) == words


on_a_gpu = pytest.mark.skipif(
    not torch.cuda.is_available(), reason="no CUDA device here"
)


@pytest.mark.gpu
@on_a_gpu
@pytest.mark.parametrize(
    "d_k",
    [64, *(pytest.param(d, marks=pytest.mark.thorough) for d in (16, 32, 128, 256))],
)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", flash.DTYPES)
def test_flash_matches_float64_on_a_gpu(dtype, causal, d_k):
    sizes = {"batch": 2, "n_kv_heads": 2, "group": 2, "n": 500, "m": 777, "d_k": d_k}
    for layout in ("rows", "heads inside", "columns"):
        configuration = Configuration(
            dtype, **sizes, causal=causal, layouts=(layout,) * 4
        )
        assert max(differences(configuration, "cuda").values()) < CLOSE[dtype]


@pytest.mark.gpu
@on_a_gpu
@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(MANY))
def test_random_configurations_match_on_a_gpu(seed):
    configuration = drawn(seed, own_blocks=True)
    assert max(differences(configuration, "cuda").values()) < CLOSE[configuration.dtype]


@pytest.mark.gpu
@on_a_gpu
def test_memory_grows_with_n_and_not_with_its_square():
    n, d_k = 16_384, 64
    x = torch.ones(1, 4, n, d_k, dtype=HALF, device="cuda", requires_grad=True)
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    flash_attention(x, x, x, causal=True).sum().backward()
    # The scores alone are 4 n² numbers; here are some ten tensors like x.
    assert torch.cuda.max_memory_allocated() - before < 20 * x.numel() * 2
