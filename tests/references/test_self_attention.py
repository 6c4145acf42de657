"""The references of lesson 02 against PyTorch and against exact facts."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.attention import attention
from course_lib.self_attention import (
    cross_attention,
    equivariance_gap,
    project,
    self_attention,
    self_attention_gradients,
)
from tests.references.arrays import CLOSE, assert_same, normal, tensor

# Batch 2, 3 heads, n 5, m 7, d_model 12, d_memory 10, d_k 4, d_v 6: all differ.
LEADING = [(), (2,), (2, 3), (1,), (0,)]
DTYPES = [np.float64, np.float32]
# A sum of some ten products of numbers near 1 is off by some ten units of roundoff.

exact = settings(max_examples=40, derandomize=True)
seeds = st.integers(0, 10**6)


def parameters(d_model=12, d_memory=12, dtype=np.float64, seed=10):
    """Draw w_q, w_k and w_v that keep queries, keys and values near 1."""
    sizes = (d_model, 4), (d_memory, 4), (d_memory, 6)
    return [
        normal(*size, dtype=dtype, seed=seed + i) / np.sqrt(size[0]).astype(dtype)
        for i, size in enumerate(sizes)
    ]


def of_pytorch(x, memory, w_q, w_k, w_v):
    """Compute output and weights with linear layers and PyTorch's attention."""
    x, memory = tensor(x), tensor(memory)
    linear = torch.nn.functional.linear
    q = linear(x, tensor(w_q.T))
    k, v = linear(memory, tensor(w_k.T)), linear(memory, tensor(w_v.T))
    sdpa = torch.nn.functional.scaled_dot_product_attention
    weights = torch.softmax(q @ k.mT / math.sqrt(w_q.shape[1]), dim=-1)
    return sdpa(q, k, v), weights


# Against PyTorch


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("leading", LEADING)
def test_project_matches_linear_layers(leading, dtype):
    x, matrices = normal(*leading, 5, 12, dtype=dtype), parameters(dtype=dtype)
    for mine, w in zip(project(x, *matrices), matrices, strict=True):
        layer = torch.nn.Linear(12, w.shape[1], bias=False)
        layer.weight = torch.nn.Parameter(tensor(w.T))
        assert_same(mine, layer(tensor(x)), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("leading", LEADING)
def test_self_attention_matches_sdpa(leading, dtype):
    x, w = normal(*leading, 5, 12, dtype=dtype), parameters(dtype=dtype)
    for mine, theirs in zip(self_attention(x, *w), of_pytorch(x, x, *w), strict=True):
        assert_same(mine, theirs, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 5, 7, 9])
@pytest.mark.parametrize("leading", LEADING)
def test_cross_attention_matches_sdpa(leading, n, dtype):
    x = normal(*leading, n, 12, dtype=dtype)
    memory = normal(*leading, 7, 10, dtype=dtype, seed=1)
    w = parameters(d_memory=10, dtype=dtype)
    results, theirs = cross_attention(x, memory, *w), of_pytorch(x, memory, *w)
    for mine, other in zip(results, theirs, strict=True):
        assert_same(mine, other, dtype)


def test_self_attention_matches_pytorch_with_one_head():
    x = normal(2, 5, 4)
    w_q, w_k, w_v = (normal(4, 4, seed=i) for i in (1, 2, 3))
    layer = torch.nn.MultiheadAttention(4, 1, bias=False, batch_first=True).double()
    with torch.no_grad():
        layer.in_proj_weight.copy_(tensor(np.concatenate([w_q.T, w_k.T, w_v.T])))
        layer.out_proj.weight.copy_(torch.eye(4))
        theirs = layer(tensor(x), tensor(x), tensor(x))
    for mine, other in zip(self_attention(x, w_q, w_k, w_v), theirs, strict=True):
        assert_same(mine, other)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("n", "d_v"), [(1, 6), (5, 6), (4, 4), (7, 1)])
def test_gradients_match_autograd(n, d_v, dtype):
    x, grad_output = normal(n, 12, dtype=dtype), normal(n, d_v, dtype=dtype, seed=1)
    w_q, w_k, _ = parameters(dtype=dtype)
    w_v = normal(12, d_v, dtype=dtype, seed=2)
    arguments = [tensor(a).requires_grad_() for a in (x, w_q, w_k, w_v)]
    tokens, queries, keys, values = arguments
    sdpa = torch.nn.functional.scaled_dot_product_attention
    output = sdpa(
        *(a[None] for a in (tokens @ queries, tokens @ keys, tokens @ values))
    )
    theirs = torch.autograd.grad(output[0], arguments, tensor(grad_output))
    results = self_attention_gradients(x, w_q, w_k, w_v, grad_output)
    for mine, other in zip(results, theirs, strict=True):
        # Up to n · d_model products of numbers up to about 5 are summed here.
        assert mine.shape == tuple(other.shape) and mine.dtype == dtype
        np.testing.assert_allclose(mine, other.numpy(), rtol=0, atol=50 * CLOSE[dtype])


# Exact facts


def test_gradients_match_finite_differences():
    rng = np.random.default_rng(4)
    sizes = (5, 3), (3, 4), (3, 4), (3, 2)
    arguments = [rng.normal(size=size) for size in sizes]
    grad_output = rng.normal(size=(5, 2))
    results, step = self_attention_gradients(*arguments, grad_output), 1e-5
    for argument, derivative in enumerate(results):
        for index in np.ndindex(derivative.shape):
            losses = []
            for sign in (1, -1):
                moved = [a.copy() for a in arguments]
                moved[argument][index] += sign * step
                losses.append((self_attention(*moved)[0] * grad_output).sum())
            # A central difference of step h is off by about h² plus roundoff / h.
            slope = (losses[0] - losses[1]) / (2 * step)
            assert abs(slope - derivative[index]) < 1e-8


@exact
@given(seeds)
def test_step_against_the_gradients_lowers_the_loss(seed):
    rng = np.random.default_rng(seed)
    sizes = (5, 3), (3, 4), (3, 4), (3, 2)
    arguments = [rng.normal(size=size) for size in sizes]
    grad_output = rng.normal(size=(5, 2))
    steps = self_attention_gradients(*arguments, grad_output)
    moved = [a - 1e-5 * step for a, step in zip(arguments, steps, strict=True)]
    losses = [(self_attention(*a)[0] * grad_output).sum() for a in (arguments, moved)]
    assert losses[1] < losses[0]


def test_cross_attention_to_x_is_self_attention():
    x, w = normal(2, 5, 12), parameters()
    for one, other in zip(
        cross_attention(x, x, *w), self_attention(x, *w), strict=True
    ):
        np.testing.assert_array_equal(one, other)


def test_self_attention_matches_attention():
    x, w = normal(2, 5, 12), parameters()
    for one, other in zip(
        attention(*project(x, *w)), self_attention(x, *w), strict=True
    ):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("function", [project, self_attention])
def test_memory_layout_changes_nothing(function):
    x, w = normal(2, 5, 24)[..., ::2], [np.asfortranarray(a) for a in parameters()]
    plain = [np.ascontiguousarray(a) for a in (x, *w)]
    for one, other in zip(function(x, *w), function(*plain), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-14)


@exact
@given(seeds, st.permutations(range(5)), st.permutations(range(7)))
def test_cross_attention_ignores_the_memorys_order(seed, first, second):
    rng = np.random.default_rng(seed)
    x, memory, w = (
        rng.normal(size=(5, 12)),
        rng.normal(size=(7, 10)),
        parameters(12, 10),
    )
    output, weights = cross_attention(x, memory, *w)
    moved, moved_weights = cross_attention(x[list(first)], memory[list(second)], *w)
    np.testing.assert_allclose(moved, output[list(first)], atol=1e-14)
    both = weights[list(first)][:, list(second)]
    np.testing.assert_allclose(moved_weights, both, atol=1e-14)


@exact
@given(seeds, st.permutations(range(5)))
def test_self_attention_has_no_equivariance_gap(seed, permutation):
    x, w = np.random.default_rng(seed).normal(size=(5, 12)), parameters()

    def f(x):
        return self_attention(x, *w)[0]

    # Sums in another order differ by roundoff, numbers near 1 by some 1e-16.
    assert equivariance_gap(f, x, list(permutation)) < 1e-14


def test_equivariance_gap_of_added_positions_by_hand():
    x = np.zeros((3, 2))

    def add_positions(x):
        return x + np.array([[1.0], [2.0], [4.0]])

    # Row 0 gets 1 and belongs beside the row that got 2, and so on: 1, 2 and 3 apart.
    assert equivariance_gap(add_positions, x, [1, 2, 0]) == 3.0
    assert equivariance_gap(add_positions, x, [0, 1, 2]) == 0.0
    assert type(equivariance_gap(add_positions, x, [1, 2, 0])) is float


def test_equivariance_gap_uses_the_permutation_itself():
    x = np.array([[1.0], [2.0], [4.0]])
    assert equivariance_gap(lambda x: x.cumsum(axis=0), x, [1, 2, 0]) == 6.0
    assert equivariance_gap(lambda x: x.cumsum(axis=0), x, [2, 0, 1]) == 4.0


def test_whole_numbers_match_floats():
    rng = np.random.default_rng(3)
    x, memory = rng.integers(-2, 3, size=(5, 3)), rng.integers(-2, 3, size=(7, 3))
    w = [rng.integers(-2, 3, size=size) for size in ((3, 4), (3, 4), (3, 6))]
    floats = [a.astype(float) for a in w]
    for one, other in zip(
        (*project(x, *w), *self_attention(x, *w), *cross_attention(x, memory, *w)),
        (
            *project(x.astype(float), *floats),
            *self_attention(x.astype(float), *floats),
            *cross_attention(x.astype(float), memory.astype(float), *floats),
        ),
        strict=True,
    ):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-14)
