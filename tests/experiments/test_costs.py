"""The experiments of lesson 14: small versions of each, and what they measure."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.nn.attention import SDPBackend

from course_lib.attention import attention
from course_lib.experiments import (
    attention_memory,
    layer_costs,
    memory_traffic,
    sdpa_backends,
    token_times,
)


@pytest.mark.thorough
def test_layer_costs_have_a_number_for_each_length_and_width():
    results = layer_costs.full(0, (4, 8), (16,), (8, 16), 4)
    for kind in layer_costs.KINDS:
        for values in (results[f"{kind}, d = 16"], results[f"{kind}, by d"]):
            assert len(values) == 2 and min(values) > 0


@pytest.mark.parametrize("k", [3, 9])
def test_convolution_is_causal_and_reaches_k_positions(k):
    torch.manual_seed(0)
    layer, x = layer_costs.core(f"convolution, k = {k}", 8), torch.randn(12, 8)
    x.requires_grad_()
    (gradient,) = torch.autograd.grad(layer(x)[10].sum(), x)
    reached = gradient.abs().sum(dim=1).nonzero().flatten().tolist()
    assert reached == [*range(max(0, 11 - k), 11)]


def test_cores_are_attention_and_recurrence():
    torch.manual_seed(0)
    x = torch.randn(6, 8)
    right = torch.tensor(attention(*(3 * [x.numpy()]))[0])
    torch.testing.assert_close(layer_costs.core("attention", 8)(x), right)
    torch.manual_seed(1)
    parameters = [*nn.RNN(8, 8, bias=False).parameters()]
    torch.manual_seed(1)
    output, h = layer_costs.core("recurrence", 8)(x), torch.zeros(8)
    for t in range(6):
        h = torch.tanh(parameters[0] @ x[t] + parameters[1] @ h)
        torch.testing.assert_close(output[t], h)


def test_plain_and_tiled_attention_are_equal():
    rng = np.random.default_rng(0)
    q, k = rng.normal(size=(300, 4)), rng.normal(size=(200, 4))
    v = rng.normal(size=(200, 5))
    right = attention(q, k, v)[0]
    ways = attention_memory
    for attend in (ways.plain_attention, ways.in_blocks, ways.in_tiles):
        np.testing.assert_allclose(attend(q, k, v), right, rtol=1e-12, atol=1e-12)


def test_attention_memory_is_that_of_the_formula():
    results = attention_memory.full(0, (512, 1024))
    table, output = 4 * 1024**2, 4 * 1024 * attention_memory.D_K
    assert table + output < results["plain"][1] < 1.1 * (table + output)
    assert results["tiles"][1] < results["blocks of keys"][1]


def test_memory_traffic_has_all_parts():
    results = memory_traffic.full(0, (1, 2), 16, 1024, 32)
    assert len(results["product"]) == 2 and results["addition"] > 0
    assert {"scores", "scaling", "softmax", "weighted sum", "attention"} <= {*results}


def test_caches_have_the_bytes_of_their_heads():
    results = token_times.full(0, (4, 8))
    one = 2 * 4 * 32 * 4  # keys and values of four layers, 32 numbers of 4 bytes
    assert results["1 heads, bytes"] == [4 * one, 8 * one]
    assert results["8 heads, bytes"] == [32 * one, 64 * one]
    assert min(results["2 heads"]) > 0
    assert len(results["2 heads, attending"]) == 2
    assert 0 < results["8 heads, attending"][1] < results["8 heads"][1]


def test_backends_are_named_and_tried():
    results = sdpa_backends.full(0, 32)
    assert (
        results["default, plain"] == "flash" and results["default, dropout"] == "math"
    )
    assert results["flash, dropout"] is None
    assert results["math, causal"]["milliseconds"] > 0
    assert {*results["with weights"]} == {"milliseconds", "MiB"}


def test_backend_that_cannot_is_no_error():
    q = torch.ones(1, 1, 3, 4)

    def call(**options):
        return lambda: functional.scaled_dot_product_attention(q, q, q, **options)

    assert sdpa_backends.runs_with(call(), SDPBackend.FLASH_ATTENTION)
    drops = call(dropout_p=0.5)
    assert not sdpa_backends.runs_with(drops, SDPBackend.FLASH_ATTENTION)
    assert sdpa_backends.runs_with(drops, SDPBackend.MATH)
