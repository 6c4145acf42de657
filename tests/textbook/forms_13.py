"""The field's forms of the exercises of lesson 13."""

import math

import torch

from tests.textbook import Forms

FORMS = Forms()


def heads_of(x, n_heads):
    return x.unflatten(-1, (n_heads, -1)).transpose(-2, -3)


@FORMS("prune", "Hugging Face head_mask", before="full")
def gates_on_the_weights(x, memory, w_q, w_k, w_v, w_o, gates, may_attend=None):
    n_heads = len(gates)
    q, k, v = (heads_of(y, n_heads) for y in (x @ w_q, memory @ w_k, memory @ w_v))
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.size(-1))
    if may_attend is not None:
        scores = scores.masked_fill(~may_attend.unsqueeze(-3), float("-inf"))
    weights = scores.softmax(dim=-1) * gates[:, None, None]
    return (weights @ v).transpose(-2, -3).flatten(-2) @ w_o


@FORMS("induction_score", "TransformerLens", before="full")
def diagonal_of_the_pattern(weights, period):
    return weights.diagonal(1 - period, dim1=-2, dim2=-1)[..., 1:].mean(-1)


@FORMS(
    "induction_score",
    "TransformerLens, whole diagonal",
    expected="refused: whole_diagonal",
    before="refused: whole_diagonal (0 of 14)",
)
def mean_of_the_diagonal(weights, period):
    return weights.diagonal(1 - period, dim1=-2, dim2=-1).mean(-1)


@FORMS("patching_effects", "TransformerLens, normalised metric", before="full")
def recovered_share(run, clean, corrupted):
    clean_metric, cache = run(clean, {})
    baseline = run(corrupted, {})[0]
    results = torch.zeros(cache.shape[0], cache.shape[1], dtype=cache.dtype)
    for layer in range(cache.shape[0]):
        for position in range(cache.shape[1]):
            metric = run(corrupted, {(layer, position): cache[layer, position, :]})[0]
            results[layer, position] = (metric - baseline) / (clean_metric - baseline)
    return results


@FORMS(
    "patching_effects",
    "noising",
    expected="refused: corrupted_vectors_into_the_clean_run",
    before="refused: corrupted_vectors_into_the_clean_run (0 of 14)",
)
def noise_in_the_clean_run(run, clean, corrupted):
    clean_metric, cache = run(clean, {})
    baseline, noise = run(corrupted, {})
    results = torch.zeros_like(cache[..., 0])
    for layer in range(cache.shape[0]):
        for position in range(cache.shape[1]):
            metric = run(clean, {(layer, position): noise[layer, position]})[0]
            results[layer, position] = (clean_metric - metric) / (
                clean_metric - baseline
            )
    return results
