import functools

import numpy as np
import torch

from tests.answers import Answers

answers = Answers("self_attention")


def projected(x, w_q, w_k, w_v):
    return (np.einsum("...b,bc->...c", x, w) for w in (w_q, w_k, w_v))


def scores_of(q, k):
    return np.einsum("...ic,...jc->...ij", q, k) / np.sqrt(q.shape[-1])


def shares(scores, axis=-1):
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def mix(weights, v):
    return np.einsum("...ij,...jd->...id", weights, v)


@answers.correct
def einsum_throughout(x, w_q, w_k, w_v):
    q, k, v = projected(x, w_q, w_k, w_v)
    weights = shares(scores_of(q, k))
    return mix(weights, v), weights


@answers.correct
def one_token_at_a_time(x, w_q, w_k, w_v):
    output = np.zeros((*x.shape[:-1], w_v.shape[1]))
    weights = np.zeros((*x.shape[:-1], x.shape[-2]))
    for *batch, i in np.ndindex(x.shape[:-1]):
        tokens = x[tuple(batch)]
        scores = (tokens @ w_k) @ (tokens[i] @ w_q) / w_q.shape[1] ** 0.5
        weights[*batch, i] = shares(scores)
        output[*batch, i] = weights[*batch, i] @ (tokens @ w_v)
    return output, weights


@answers.correct
def parameters_multiplied_first(x, w_q, w_k, w_v):
    """Score with x (w_q w_kᵀ) xᵀ: one matrix between two tokens."""
    between = w_q @ w_k.T / np.sqrt(w_k.shape[1])
    weights = shares(x @ between @ np.swapaxes(x, -1, -2))
    return weights @ x @ w_v, weights


@answers.correct
def by_logarithms(x, w_q, w_k, w_v):
    q, k, v = projected(x, w_q, w_k, w_v)
    scores = scores_of(q, k)
    weights = np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))
    return np.matmul(weights, v), weights


@answers.correct
def keys_scaled(x, w_q, w_k, w_v):
    q, k, v = projected(x, w_q, w_k, w_v)
    weights = shares(q @ np.moveaxis(k * k.shape[-1] ** -0.5, -1, -2))
    return weights @ v, weights


@answers.correct
def columns_first_in_memory(x, w_q, w_k, w_v):
    output, weights = einsum_throughout(x, w_q, w_k, w_v)
    return np.asfortranarray(output), np.asfortranarray(weights)


@answers.correct
def tensors_of_pytorch(x, w_q, w_k, w_v):
    x, w_q, w_k, w_v = (torch.tensor(a).double() for a in (x, w_q, w_k, w_v))
    scores = (x @ w_q) @ (x @ w_k).mT / w_q.shape[1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return (weights @ (x @ w_v)).numpy(), weights.numpy()


class SelfAttention:
    def __init__(self, power):
        self.power = power

    def __call__(self, x, w_q, w_k, w_v):
        q = x @ (w_q * float(w_q.shape[1]) ** self.power)
        weights = shares(q @ np.swapaxes(x @ w_k, -2, -1))
        return weights @ (x @ w_v), weights


answers.right["callable_object"] = SelfAttention(-0.5)
answers.right["partial"] = functools.partial(
    lambda count, *inputs: einsum_throughout(*inputs)[:count], 2
)


@answers.other
def tokens_set_to_zero(x, w_q, w_k, w_v):
    result = einsum_throughout(x, w_q, w_k, w_v)
    x *= 0
    return result


@answers.other
def everything_equally(x, w_q, w_k, w_v):
    weights = np.full((*x.shape[:-1], x.shape[-2]), 1 / x.shape[-2])
    return weights @ (x @ w_v), weights


@answers.other
def nearest_key(x, w_q, w_k, w_v):
    q, k, v = projected(x, w_q, w_k, w_v)
    distances = ((q[..., :, None, :] - k[..., None, :, :]) ** 2).sum(-1)
    weights = shares(-distances)
    return weights @ v, weights


@answers.other
def best_token_only(x, w_q, w_k, w_v):
    q, k, v = projected(x, w_q, w_k, w_v)
    scores = scores_of(q, k)
    weights = (scores == scores.max(axis=-1, keepdims=True)).astype(float)
    return weights @ v, weights


@answers.other
def softmax_applied_twice(x, w_q, w_k, w_v):
    q, k, v = projected(x, w_q, w_k, w_v)
    weights = shares(shares(scores_of(q, k)))
    return weights @ v, weights


@answers.other
def own_value_added(x, w_q, w_k, w_v):
    q, k, v = projected(x, w_q, w_k, w_v)
    weights = shares(scores_of(q, k))
    return weights @ v + v, weights
