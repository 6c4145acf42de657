"""What layers cost, against counts that walk the work, and against PyTorch's."""

import math
from itertools import product

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch.utils.flop_counter import FlopCounterMode

from course_lib.costs import flops, kv_cache_bytes, path_length, sequential_steps
from course_lib.lessons.cost import matmul_flops, sequential_operations
from course_lib.nn.language_model import LanguageModel, LanguageModelConfig

KINDS = ("attention", "window", "recurrence", "convolution")
SIZES = [(1, 1, 1), (7, 5, 3), (5, 7, 2), (3, 2, 5), (4, 4, 4), (11, 3, 1), (2, 13, 3)]


# Operations


class Counter:
    """Multiplies matrices, lists of rows, and counts multiplications and additions."""

    def __init__(self):
        self.operations = 0

    def product(self, left, right):
        result = []
        for row in left:
            result.append([])
            for column in zip(*right, strict=True):
                total = 0
                for one, other in zip(row, column, strict=True):
                    total += one * other
                    self.operations += 2
                result[-1].append(total)
        return result


def rows(n, d):
    return [[1] * d for _ in range(n)]


def columns(matrix):
    return [*map(list, zip(*matrix, strict=True))]


def walk(kind, n, d, k, counter):
    """Do the products of a layer; those near the ends with zeros."""
    x, w = rows(n, d), rows(d, d)
    if kind == "recurrence":
        hidden = [[0] * d]
        for position in range(n):
            from_x = counter.product([x[position]], w)
            from_hidden = counter.product(hidden, w)
            hidden = [np.add(from_x, from_hidden)[0].tolist()]
        return
    width = n if kind == "attention" else k if kind == "convolution" else min(k, n)
    padded = rows(width, d) + x
    for position in range(n):
        read = x if kind == "attention" else padded[position + 1 :][:width]
        if kind == "convolution":
            for each in read:
                counter.product([each], w)
        else:
            weights = counter.product([x[position]], columns(read))
            counter.product(weights, read)


@pytest.mark.parametrize(("n", "d", "k"), SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_flops_match_a_walk_through_the_products(kind, n, d, k):
    counter = Counter()
    walk(kind, n, d, k, counter)
    assert flops(kind, n, d, k) == counter.operations


def attention_in_torch(n, d, k):
    q = torch.zeros(n, d)
    return (q @ q.T).softmax(-1) @ q


def window_in_torch(n, d, k):
    k = min(n, k)
    padded = F.pad(torch.zeros(n, d), (0, 0, k - 1, 0))
    read = padded.unfold(0, k, 1)  # (n, d, k)
    scores = torch.zeros(n, 1, d) @ read
    return scores.softmax(-1) @ read.mT


def recurrence_in_torch(n, d, k):
    cell = torch.nn.RNNCell(d, d, bias=False)
    hidden = torch.zeros(1, d)
    for row in torch.zeros(n, 1, d):
        hidden = cell(row, hidden)
    return hidden


def convolution_in_torch(n, d, k):
    x = F.pad(torch.zeros(1, d, n), (k - 1, 0))
    return F.conv1d(x, torch.zeros(d, d, k))


IN_TORCH = dict(
    zip(
        KINDS,
        (
            attention_in_torch,
            window_in_torch,
            recurrence_in_torch,
            convolution_in_torch,
        ),
        strict=True,
    )
)


@pytest.mark.parametrize(("n", "d", "k"), SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_flops_match_pytorch(kind, n, d, k):
    with FlopCounterMode(display=False) as counter:
        IN_TORCH[kind](n, d, k)
    assert flops(kind, n, d, k) == counter.get_total_flops()


@pytest.mark.parametrize("n_heads", [1, 3])
def test_flops_of_attention_are_those_of_all_heads(n_heads):
    parts = matmul_flops(12, n_heads, 7)
    assert flops("attention", 7, 12) == parts["scores"] + parts["mixing"]


# The way, and what waits


def positions_read(kind, n, k):
    """Return (n, n), True where a position, in one step, reads another or itself."""
    behind = np.subtract.outer(np.arange(n), np.arange(n))
    width = {"attention": None, "recurrence": 2}.get(kind, k)
    return behind == behind if width is None else (behind >= 0) & (behind < width)


@pytest.mark.parametrize("kind", KINDS)
def test_path_length_matches_a_walk_from_layer_to_layer(kind):
    for n, k in product(range(1, 15), range(2, 9)):
        reads = positions_read(kind, n, k)
        reached, steps = np.arange(n) == n - 1, 0
        while not reached[0]:
            reached, steps = reads[reached].any(axis=0), steps + 1
        assert path_length(kind, n, k) == steps, (n, k)


@pytest.mark.parametrize(("n", "k"), [(9, 3), (10, 3), (11, 6), (12, 6), (7, 2)])
def test_path_length_is_how_deep_gradients_have_to_go(n, k):
    x = torch.ones(1, 1, n, dtype=torch.float64, requires_grad=True)
    kernel = torch.ones(1, 1, k, dtype=torch.float64)
    layers, y = 0, x
    while True:
        (gradient,) = torch.autograd.grad(y[0, 0, -1], x, retain_graph=True)
        if gradient[0, 0, 0]:
            break
        layers, y = layers + 1, F.conv1d(F.pad(y, (k - 1, 0)), kernel)
    assert path_length("convolution", n, k) == path_length("window", n, k) == layers


@pytest.mark.parametrize("kind", KINDS)
def test_sequential_steps_grow_as_the_longest_chain_in_pytorch(kind):
    def chain(n):
        w = torch.ones(2, 2, requires_grad=True)
        if kind == "recurrence":
            hidden = torch.zeros(1, 2)
            for row in torch.ones(n, 1, 2):
                hidden = row + hidden @ w
            return sequential_operations(hidden)
        if kind == "convolution":
            kernel = torch.ones(2, 2, 3, requires_grad=True)
            return sequential_operations(F.conv1d(torch.ones(1, 2, n), kernel))
        q = torch.ones(n, 2) @ w
        may_attend = torch.from_numpy(positions_read(kind, n, 3))
        scores = (q @ q.T).masked_fill(~may_attend, -math.inf)
        return sequential_operations(scores.softmax(-1) @ q)

    per_step = chain(5) - chain(4) or chain(4)  # of a position, or of all at once
    for n in (4, 7, 12):
        waits = sequential_steps(kind, n) - sequential_steps(kind, 4)
        assert chain(n) - chain(4) == per_step * waits


# The cache


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_kv_cache_bytes_match_the_cache_of_a_language_model(dtype):
    config = LanguageModelConfig(11, d_model=24, n_layers=2, n_heads=6, n_kv_heads=3)
    model = LanguageModel(config, device="cpu", dtype=dtype)
    _, state = model.read(torch.zeros(5, 7, dtype=torch.long))
    held = sum(
        part.numel() * part.element_size()
        for cache in state.caches
        for part in (cache.keys, cache.values)
    )
    assert kv_cache_bytes(7, 2, 3, 4, dtype.itemsize, batch=5) == held


def test_kv_cache_bytes_of_published_models():
    # Brown et al. (2020), table 2.1; Touvron et al. (2023), Llama 2, section 2.2 and
    # appendix A.2.1, with the layers and heads of LLaMA's largest model.
    assert kv_cache_bytes(2048, 96, 96, 128) == 9 * 2**30  # GPT-3, 175 billion
    assert kv_cache_bytes(4096, 80, 8, 128) == 5 * 2**28  # Llama 2, 70 billion
    assert kv_cache_bytes(4096, 80, 64, 128) == 10 * 2**30  # without groups


# What is refused


NO_SIZES = [0, -3, 2.5, 2.0, True, None, "3", math.nan, np.int64(3)]


@pytest.mark.parametrize("wrong", NO_SIZES, ids=repr)
def test_costs_refuse_what_is_no_size_by_name(wrong):
    for kind in KINDS:
        for count in (path_length, sequential_steps):
            with pytest.raises(ValueError, match=r"\bn\b"):
                count(kind, wrong, 3)
        for sizes in ((wrong, 5), (5, wrong)):
            with pytest.raises(ValueError, match=r"\bn, d and k\b"):
                flops(kind, *sizes, 3)
    for kind in ("window", "convolution"):
        with pytest.raises(ValueError, match=r"\bn, d and k\b"):
            flops(kind, 5, 7, wrong)
        for no_k in (wrong, 1):
            with pytest.raises(ValueError, match=r"\bk\b"):
                path_length(kind, 5, no_k)
    for position in range(6):
        sizes = [5] * 6
        sizes[position] = wrong
        with pytest.raises(ValueError, match=r"\bbatch\b"):
            kv_cache_bytes(*sizes)


@pytest.mark.parametrize("wrong", ["pooling", "Attention", "", None, ["attention"], 3])
def test_costs_refuse_another_kind_by_name(wrong):
    for count in (path_length, sequential_steps):
        with pytest.raises(ValueError, match=r"\bkind\b"):
            count(wrong, 5, 3)
    with pytest.raises(ValueError, match=r"\bkind\b"):
        flops(wrong, 5, 7, 3)


def test_k_is_ignored_where_no_kind_needs_it():
    for k in (None, 0, -2, 2.5, "wide"):
        assert flops("attention", 3, 2, k) == 72
        assert flops("recurrence", 3, 2, k) == 48
        assert path_length("attention", 3, k) == 1
        assert path_length("recurrence", 3, k) == 2
        assert sequential_steps("window", 3, k) == 1


def test_costs_are_exact_beyond_64_bits():
    n = 10**30 + 1
    assert flops("attention", n, n) == flops("recurrence", n, n) == 4 * n**3
    assert path_length("window", n, 4) == (n - 1) // 3 + 1
    assert kv_cache_bytes(n, n, n, n, n, n) == 2 * n**6
