"""Changes of attention next to what they must equal: other forms, and PyTorch's."""

import numpy as np
import pytest
import torch

from course_lib.attention import attention, scaled_scores
from course_lib.attention_changes import (
    latent_attention,
    qk_norm_scores,
    sink_attention,
)
from course_lib.linear_attention import delta_rule, linear_attention
from course_lib.positions import rotary, stretched_frequencies
from course_lib.routing import route

SEEDS = (0, 1, 2)


@pytest.mark.parametrize("seed", SEEDS)
def test_qk_norm_scores_are_scaled_scores_of_rms_norms(seed):
    rng = np.random.default_rng(seed)
    q, k = rng.normal(size=(2, 5, 8)), rng.normal(size=(2, 7, 8))
    gains = rng.uniform(0.5, 2, size=(2, 8))
    normed = [
        torch.nn.functional.rms_norm(
            torch.from_numpy(x), (8,), torch.from_numpy(gain), eps=0.0
        ).numpy()
        for x, gain in zip((q, k), gains, strict=True)
    ]
    np.testing.assert_allclose(qk_norm_scores(q, k, *gains), scaled_scores(*normed))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_sink_is_one_more_column_of_scores(seed):
    rng = np.random.default_rng(seed)
    q, k, v = rng.normal(size=(3, 4, 6, 8))
    sink = rng.normal(size=4)
    scores = np.concatenate(
        [scaled_scores(q, k), np.tile(sink[:, None, None], (1, 6, 1))], axis=-1
    )
    expected = torch.from_numpy(scores).softmax(-1).numpy()[..., :-1]
    output, weights = sink_attention(q, k, v, sink)
    np.testing.assert_allclose(weights, expected)
    np.testing.assert_allclose(output, expected @ v)


@pytest.mark.parametrize("seed", SEEDS)
def test_latent_attention_is_attention_with_keys_and_values(seed):
    rng = np.random.default_rng(seed)
    q, latents = rng.normal(size=(3, 2, 4)), rng.normal(size=(50, 6))
    w_k, w_v = rng.normal(size=(3, 6, 4)), rng.normal(size=(3, 6, 5))
    output, _ = latent_attention(q, latents, w_k, w_v)
    expected, _ = attention(q, latents @ w_k, latents @ w_v)
    np.testing.assert_allclose(output, expected, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_linear_attention_is_a_masked_product(seed):
    rng = np.random.default_rng(seed)
    q, k, v = rng.normal(size=(3, 2, 30, 4))
    back = np.arange(30)[:, None] - np.arange(30)
    fading = np.where(back >= 0, 0.9 ** np.maximum(back, 0), 0.0)
    output, _ = linear_attention(q, k, v, np.zeros((2, 4, 4)), 0.9)
    expected = (q @ k.swapaxes(1, 2) * fading) @ v
    np.testing.assert_allclose(output, expected, atol=1e-12)


def test_the_delta_rule_finds_what_was_written_last():
    rng = np.random.default_rng(0)
    keys = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    k, v = keys[[0, 1, 2, 0, 1]], rng.normal(size=(5, 3))
    _, state = delta_rule(k, k, v, np.zeros((6, 3)), np.ones(5))
    np.testing.assert_allclose(keys[:3] @ state, v[[3, 4, 2]], atol=1e-12)


def test_frequencies_with_factor_one_are_those_of_rotary():
    x = np.random.default_rng(0).normal(size=(1, 8))
    angle = 3 * stretched_frequencies(8, 1.0, 100)
    turned = rotary(x, [3]).reshape(4, 2)
    np.testing.assert_allclose(
        turned[:, 0], x[0, ::2] * np.cos(angle) - x[0, 1::2] * np.sin(angle)
    )


@pytest.mark.parametrize("k", (1, 2, 5))
def test_route_chooses_as_topk_does(k):
    logits = np.random.default_rng(k).normal(size=(20, 5))
    weights, load = route(logits, k)
    best = torch.from_numpy(logits).topk(k)
    expected = torch.zeros(20, 5, dtype=torch.float64)
    expected.scatter_(-1, best.indices, best.values.softmax(-1))
    np.testing.assert_allclose(weights, expected.numpy())
    assert load.sum() == pytest.approx(1)
    counts = np.bincount(best.indices.numpy().ravel(), minlength=5)
    np.testing.assert_allclose(load, counts / (20 * k))
