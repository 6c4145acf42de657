import functools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("self_attention_gradients")


def shares(scores, axis=-1):
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def weights_of(x, w_q, w_k):
    return shares((x @ w_q) @ (x @ w_k).T / w_q.shape[1] ** 0.5)


def slopes(p):
    """Return the Jacobian of each row of weights: (n, n, n)."""
    return np.einsum("ij,jl->ijl", p, np.eye(p.shape[1])) - np.einsum(
        "ij,il->ijl", p, p
    )


def from_scores(x, w_q, w_k, w_v, d_scores, d_v):
    """Finish from the derivatives by the scaled scores and by the values."""
    d_products = d_scores * w_q.shape[1] ** -0.5
    between = x.T @ d_products @ x  # (d_model, d_model): one table for both
    d_x = d_products @ x @ w_k @ w_q.T + d_products.T @ x @ w_q @ w_k.T + d_v @ w_v.T
    return d_x, between @ w_k, between.T @ w_q, x.T @ d_v


@answers.correct
def jacobians_of_the_rows(x, w_q, w_k, w_v, grad_output):
    weights = weights_of(x, w_q, w_k)
    d_weights = np.einsum("id,jd->ij", grad_output, x @ w_v)
    d_scores = np.einsum("ij,ijl->il", d_weights, slopes(weights))
    return from_scores(x, w_q, w_k, w_v, d_scores, weights.T @ grad_output)


@answers.correct
def row_sum_from_the_output(x, w_q, w_k, w_v, grad_output):
    """Compute the mean of d_weights from the output, as FlashAttention does."""
    weights, v = weights_of(x, w_q, w_k), x @ w_v
    means = (grad_output * (weights @ v)).sum(axis=-1, keepdims=True)
    d_scores = weights * (grad_output @ v.T - means)
    return from_scores(x, w_q, w_k, w_v, d_scores, weights.T @ grad_output)


@answers.correct
def one_score_at_a_time(x, w_q, w_k, w_v, grad_output):
    n, root = len(x), w_q.shape[1] ** 0.5
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    d_q, d_k, d_v = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
    for i in range(n):
        p = shares(k @ q[i] / root)
        d_p = v @ grad_output[i]
        for j in range(n):
            d_score = p[j] * (d_p[j] - p @ d_p) / root
            d_q[i] += d_score * k[j]
            d_k[j] += d_score * q[i]
            d_v[j] += p[j] * grad_output[i]
    d_x = np.zeros(x.shape)
    for d, w in ((d_q, w_q), (d_k, w_k), (d_v, w_v)):
        d_x += d @ w.T
    return d_x, x.T @ d_q, x.T @ d_k, x.T @ d_v


@answers.correct
def pytorch_differentiates(x, w_q, w_k, w_v, grad_output):
    inputs = [torch.tensor(a, requires_grad=True) for a in (x, w_q, w_k, w_v)]
    tokens, queries, keys, values = inputs
    scores = (tokens @ queries) @ (tokens @ keys).T / queries.shape[1] ** 0.5
    output = torch.softmax(scores, dim=-1) @ (tokens @ values)
    derivatives = torch.autograd.grad(output, inputs, torch.tensor(grad_output))
    return tuple(part.numpy() for part in derivatives)


@answers.correct
def whole_jacobian_of_the_softmax(x, w_q, w_k, w_v, grad_output):
    """Go through the softmax of all rows at once, one matrix (n², n²)."""
    weights, n = weights_of(x, w_q, w_k), len(x)
    jacobian = np.zeros((n * n, n * n))
    for i, p in enumerate(weights):
        rows = slice(i * n, (i + 1) * n)
        jacobian[rows, rows] = np.diag(p) - np.outer(p, p)
    d_weights = grad_output @ (x @ w_v).T
    d_scores = (jacobian @ d_weights.ravel()).reshape(n, n)
    return from_scores(x, w_q, w_k, w_v, d_scores, weights.T @ grad_output)


@answers.correct
def columns_first_in_memory(x, w_q, w_k, w_v, grad_output):
    derivatives = row_sum_from_the_output(x, w_q, w_k, w_v, grad_output)
    return tuple(np.asfortranarray(part) for part in derivatives)


class Gradients:
    def __init__(self, back):
        self.back = back

    def __call__(self, x, w_q, w_k, w_v, grad_output):
        return self.back(x, w_q, w_k, w_v, grad_output)


answers.right["callable_object"] = Gradients(jacobians_of_the_rows)
answers.right["partial"] = functools.partial(
    lambda back, *inputs: back(*inputs), one_score_at_a_time
)


@answers.other
def derivatives_of_one_row(x, w_q, w_k, w_v, grad_output):
    first = np.zeros_like(grad_output)
    first[0] = grad_output[0]
    return one_score_at_a_time(x, w_q, w_k, w_v, first)


@answers.other
def all_moves_alike(x, w_q, w_k, w_v, grad_output):
    return tuple(np.ones_like(part) for part in (x, w_q, w_k, w_v))


@answers.other
def d_output_set_to_zero(x, w_q, w_k, w_v, grad_output):
    derivatives = one_score_at_a_time(x, w_q, w_k, w_v, grad_output)
    grad_output *= 0
    return derivatives
