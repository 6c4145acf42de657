"""The field's forms of the exercises of lesson 02."""

import math

import numpy as np

from course_lib.attention import softmax as stable
from tests.textbook import Forms

FORMS = Forms()


@FORMS("project", "d2l 11.5", before="full")
def three_products(x, w_q, w_k, w_v):
    return np.matmul(x, w_q), np.matmul(x, w_k), np.matmul(x, w_v)


@FORMS("project", "nanoGPT", before="full")
def one_product_cut_in_three(x, w_q, w_k, w_v):
    d_k = w_q.shape[1]
    together = x @ np.concatenate([w_q, w_k, w_v], axis=1)
    return tuple(np.split(together, [d_k, 2 * d_k], axis=-1))


@FORMS(
    "project",
    "PyTorch, nn.Linear",
    expected="refused: parameters_as_linear_keeps_them",
    before="refused: parameters_as_linear_keeps_them (0 of 5)",
)
def out_features_first(x, w_q, w_k, w_v):
    return x @ w_q.T, x @ w_k.T, x @ w_v.T


@FORMS("self_attention", "Raschka ch. 3", before="full")
def from_scratch(x, w_q, w_k, w_v):
    keys, queries, values = x @ w_k, x @ w_q, x @ w_v
    scores = queries @ keys.swapaxes(-2, -1)
    weights = stable(scores / keys.shape[-1] ** 0.5, axis=-1)
    return weights @ values, weights


@FORMS("self_attention", "NumPy Transformers", before="refused, no name (1.75 of 12)")
def layer_in_float32(x, w_q, w_k, w_v):
    x, w_q, w_k, w_v = (a.astype(np.float32) for a in (x, w_q, w_k, w_v))
    q, k = x @ w_q, x @ w_k
    weights = stable(q @ k.swapaxes(-2, -1) / np.sqrt(np.float32(q.shape[-1])))
    return weights @ (x @ w_v), weights


@FORMS(
    "self_attention",
    "NumPy write-ups",
    expected="refused: all_axes_turned",
    before="refused: all_axes_turned (5.25 of 12)",
)
def keys_by_dot_t(x, w_q, w_k, w_v):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    weights = stable(q @ k.T / np.sqrt(k.shape[-1]))
    return weights @ v, weights


@FORMS(
    "self_attention",
    "NumPy write-ups",
    expected="refused: exponentials_overflow",
    before="refused: exponentials_overflow (10.5 of 12)",
)
def exponentials_as_they_are(x, w_q, w_k, w_v):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    powers = np.exp(q @ k.swapaxes(-2, -1) / np.sqrt(k.shape[-1]))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return weights @ v, weights


@FORMS("cross_attention", "Raschka ch. 3", before="full")
def queries_from_the_first(x, memory, w_q, w_k, w_v):
    queries, keys, values = x @ w_q, memory @ w_k, memory @ w_v
    scores = queries @ keys.swapaxes(-2, -1)
    weights = stable(scores / queries.shape[-1] ** 0.5)
    return weights @ values, weights


@FORMS("cross_attention", "lucidrains", before="full")
def by_einsum_with_scaled_queries(x, memory, w_q, w_k, w_v):
    q = np.einsum("...nd,dk->...nk", x, w_q) * w_q.shape[1] ** -0.5
    k, v = memory @ w_k, memory @ w_v
    weights = stable(np.einsum("...ik,...jk->...ij", q, k))
    return np.einsum("...ij,...jd->...id", weights, v), weights


@FORMS("equivariance_gap", "Lee et al. 2019, property 1", before="full")
def both_sides_compared(f, x, permutation):
    return float(np.max(np.abs(f(x[permutation]) - f(x)[permutation])))


@FORMS("equivariance_gap", "NumPy write-ups", before="full")
def infinity_norm(f, x, permutation):
    difference = f(x[permutation]) - f(x)[permutation]
    return np.linalg.norm(difference.ravel(), ord=np.inf)


@FORMS("self_attention_gradients", "llm.c", before="full")
def softmax_backward_in_loops(x, w_q, w_k, w_v, grad_output):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    scale = 1.0 / math.sqrt(q.shape[-1])
    weights = stable(q @ k.T * scale)
    d_weights, d_v = grad_output @ v.T, weights.T @ grad_output
    d_scores = np.zeros_like(weights)
    for t in range(len(x)):
        for i in range(len(x)):
            for j in range(len(x)):
                local = weights[t, i] * ((i == j) - weights[t, j])
                d_scores[t, j] += local * d_weights[t, i] * scale
    d_q, d_k = d_scores @ k, d_scores.T @ q
    return (
        d_q @ w_q.T + d_k @ w_k.T + d_v @ w_v.T,
        x.T @ d_q,
        x.T @ d_k,
        x.T @ d_v,
    )


@FORMS("self_attention_gradients", "FlashAttention, appendix B.2", before="full")
def row_sums_from_the_output(x, w_q, w_k, w_v, grad_output):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    weights = stable(q @ k.T / math.sqrt(q.shape[-1]))
    delta = (grad_output * (weights @ v)).sum(axis=1)
    d_scores = weights * (grad_output @ v.T - delta[:, None])
    d_q = d_scores @ k / math.sqrt(q.shape[-1])
    d_k = d_scores.T @ q / math.sqrt(q.shape[-1])
    d_v = weights.T @ grad_output
    d_x = d_q @ w_q.T + d_k @ w_k.T + d_v @ w_v.T
    return d_x, x.T @ d_q, x.T @ d_k, x.T @ d_v
