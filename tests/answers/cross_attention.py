import functools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("cross_attention")


def rows_times(x, w):
    return np.einsum("...b,bc->...c", x, w)


def scores_of(q, k):
    return np.einsum("...ic,...jc->...ij", q, k) / np.sqrt(q.shape[-1])


def shares(scores, axis=-1):
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def mix(weights, v):
    return np.einsum("...ij,...jd->...id", weights, v)


@answers.correct
def einsum_throughout(x, memory, w_q, w_k, w_v):
    weights = shares(scores_of(rows_times(x, w_q), rows_times(memory, w_k)))
    return mix(weights, rows_times(memory, w_v)), weights


@answers.correct
def one_token_at_a_time(x, memory, w_q, w_k, w_v):
    output = np.zeros((*x.shape[:-1], w_v.shape[1]))
    weights = np.zeros((*x.shape[:-1], memory.shape[-2]))
    for *batch, i in np.ndindex(x.shape[:-1]):
        tokens = memory[tuple(batch)]
        scores = (tokens @ w_k) @ (x[*batch, i] @ w_q) / w_q.shape[1] ** 0.5
        weights[*batch, i] = shares(scores)
        output[*batch, i] = weights[*batch, i] @ (tokens @ w_v)
    return output, weights


@answers.correct
def one_token_of_the_memory_at_a_time(x, memory, w_q, w_k, w_v):
    """Go over the memory once, with a running maximum, as fast kernels do."""
    q, k, v = x @ w_q / w_q.shape[1] ** 0.5, memory @ w_k, memory @ w_v
    highest = np.full((*q.shape[:-1], 1), -np.inf)
    total, output = np.zeros_like(highest), np.zeros((*q.shape[:-1], v.shape[-1]))
    for j in range(k.shape[-2]):
        score = (q * k[..., j : j + 1, :]).sum(axis=-1, keepdims=True)
        higher = np.maximum(highest, score)
        before, now = np.exp(highest - higher), np.exp(score - higher)
        total = total * before + now
        output = output * before + now * v[..., j : j + 1, :]
        highest = higher
    return output / total, np.exp(q @ np.swapaxes(k, -1, -2) - highest) / total


@answers.correct
def parameters_multiplied_first(x, memory, w_q, w_k, w_v):
    """Score with x (w_q w_kᵀ) memoryᵀ: one matrix between two tokens."""
    between = w_q @ w_k.T / np.sqrt(w_k.shape[1])
    weights = shares(x @ between @ np.swapaxes(memory, -1, -2))
    return weights @ memory @ w_v, weights


@answers.correct
def by_logarithms(x, memory, w_q, w_k, w_v):
    scores = scores_of(x @ w_q, memory @ w_k)
    weights = np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))
    return np.matmul(weights, memory @ w_v), weights


@answers.correct
def columns_first_in_memory(x, memory, w_q, w_k, w_v):
    output, weights = einsum_throughout(x, memory, w_q, w_k, w_v)
    return np.asfortranarray(output), np.asfortranarray(weights)


@answers.correct
def tensors_of_pytorch(x, memory, w_q, w_k, w_v):
    tensors = (torch.tensor(a).double() for a in (x, memory, w_q, w_k, w_v))
    x, memory, w_q, w_k, w_v = tensors
    scores = (x @ w_q) @ (memory @ w_k).mT / w_q.shape[1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return (weights @ (memory @ w_v)).numpy(), weights.numpy()


class CrossAttention:
    def __init__(self, power):
        self.power = power

    def __call__(self, x, memory, w_q, w_k, w_v):
        q = x @ (w_q * float(w_q.shape[1]) ** self.power)
        weights = shares(q @ np.swapaxes(memory @ w_k, -2, -1))
        return weights @ (memory @ w_v), weights


answers.right["callable_object"] = CrossAttention(-0.5)
answers.right["partial"] = functools.partial(
    lambda count, *inputs: einsum_throughout(*inputs)[:count], 2
)


@answers.other
def memory_set_to_zero(x, memory, w_q, w_k, w_v):
    result = einsum_throughout(x, memory, w_q, w_k, w_v)
    memory *= 0
    return result


@answers.other
def everything_equally(x, memory, w_q, w_k, w_v):
    weights = np.full((*x.shape[:-1], memory.shape[-2]), 1 / memory.shape[-2])
    return weights @ (memory @ w_v), weights


@answers.other
def memory_backwards(x, memory, w_q, w_k, w_v):
    output, weights = einsum_throughout(x, memory, w_q, w_k, w_v)
    return output, weights[..., ::-1]


@answers.other
def best_token_only(x, memory, w_q, w_k, w_v):
    scores = scores_of(x @ w_q, memory @ w_k)
    weights = (scores == scores.max(axis=-1, keepdims=True)).astype(float)
    return weights @ (memory @ w_v), weights


@answers.other
def softmax_applied_twice(x, memory, w_q, w_k, w_v):
    weights = shares(shares(scores_of(x @ w_q, memory @ w_k)))
    return weights @ (memory @ w_v), weights


@answers.other
def cosines_for_products(x, memory, w_q, w_k, w_v):
    q, k = x @ w_q, memory @ w_k
    q = q / (np.linalg.norm(q, axis=-1, keepdims=True) + 1e-9)
    k = k / (np.linalg.norm(k, axis=-1, keepdims=True) + 1e-9)
    weights = shares(q @ np.swapaxes(k, -1, -2))
    return weights @ (memory @ w_v), weights
